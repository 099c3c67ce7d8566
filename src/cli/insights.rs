//! The insights of `tilescope summary`: what they need is read, and shown as text.

use std::path::PathBuf;

use super::output::{aligned, name_cell, or_unknown, wrapped};
use crate::files;
use crate::format::{Error, Progress};
use crate::run::{Advice, Evidence};
use crate::systems::poplar::files::OpenReport;
use crate::systems::poplar::insights::advice::operation_title;
use crate::systems::poplar::insights::logs::log_messages;
use crate::systems::poplar::insights::must_go::MustGo;
use crate::systems::poplar::insights::sentences::{
    ipu_verdict_word, verdict_sentences, verdict_title,
};
use crate::systems::poplar::insights::verdict::{IpuVerdict, TilesVerdict};
use crate::systems::poplar::insights::{Insights, insights_with_tiles};
use crate::text::{bytes, clean, grouped};

const MOST_ADVICE: usize = 6;
const MOST_VARIABLES: usize = 6;

/// Works out the insights. Of a report that does not fit what is needed of the tiles that are over is read as
/// well. `logs` count as those beside the profile.
///
/// # Errors
/// When the profile cannot be opened again, or one of the logs cannot be opened.
pub fn of(open: &OpenReport, logs: &[PathBuf], progress: &Progress) -> Result<Insights, Error> {
    for log in logs {
        files::open(log).map_err(|error| Error::io(log, &error))?;
    }
    open.read_logs(logs, progress, log_messages);
    Ok(insights_with_tiles(&open.derived(), progress)?)
}

pub fn text(insights: &Insights) -> String {
    let mut text = String::new();
    if let Some(verdict) = &insights.verdict {
        verdict_text(&mut text, verdict);
    }
    for conclusion in &insights.conclusions {
        text += &wrapped("  ", &clean(&conclusion.text));
    }
    text += &ipus_text(&insights.ipus);
    if let Some(worst) = insights.must_go.first() {
        text += &must_go_text(worst);
    }
    for (number, advice) in (1..=MOST_ADVICE).zip(&insights.advice) {
        text += &advice_text(number, advice);
    }
    for not_advised in &insights.not_advised {
        text += &wrapped("  Not: ", &clean(&not_advised.why));
        if let Some(evidence) = not_advised.evidence.first() {
            text += &wrapped("       ", &evidence_text(evidence));
        }
    }
    text
}

fn verdict_text(text: &mut String, verdict: &TilesVerdict) {
    *text += &wrapped("  ", &verdict_title(verdict));
    for sentence in verdict_sentences(verdict, &bytes) {
        *text += &wrapped("  ", &sentence);
    }
}

/// Each IPU, where there are several.
fn ipus_text(ipus: &[IpuVerdict]) -> String {
    if ipus.len() < 2 {
        return String::new();
    }
    let rows = ipus.iter().map(|ipu| {
        let fullest = ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes);
        vec![
            ipu.ipu.to_string(),
            ipu_verdict_word(ipu).to_owned(),
            grouped(ipu.tiles_over),
            or_unknown(fullest, bytes),
            or_unknown(ipu.peak_bytes, bytes),
            bytes(ipu.limit_bytes),
            or_unknown(ipu.always_live_bytes, bytes),
            or_unknown(ipu.gap_bytes, bytes),
        ]
    });
    let header =
        ["IPU", "<verdict", "tiles over", "fullest tile", "peak", "memory", "always live", "gaps"];
    format!("\n{}", aligned(&header, rows))
}

fn must_go_text(worst: &MustGo) -> String {
    let place = worst.tile.map_or("all tiles".to_owned(), |tile| format!("tile {tile}"));
    let step = worst.step.map_or_else(String::new, |step| format!(" (step {step})"));
    let mut text = format!("\n  What must go to fit, on {place}{step}\n");
    let rows = worst.variables.iter().take(MOST_VARIABLES).map(|variable| {
        let operation = variable.operation.as_ref().map(operation_title);
        let operation = operation.as_deref().map(name_cell).unwrap_or_default();
        vec![name_cell(&variable.name), bytes(variable.bytes), operation]
    });
    text += &aligned(&["<Variable", "bytes", "<of operation"], rows);
    if let Some(more @ 1..) = worst.variables.len().checked_sub(MOST_VARIABLES) {
        text += &format!("  … and {} more\n", grouped(more as u64));
    }
    text
}

fn advice_text(number: usize, advice: &Advice) -> String {
    let mut text = String::from(if number == 1 { "\n" } else { "" });
    let saving = advice
        .saving
        .as_ref()
        .map_or_else(String::new, |saving| format!(". {}", saving.sentence(&bytes)));
    text += &wrapped(&format!("  {number}. "), &format!("{}{saving}", clean(&advice.text)));
    if let Some(evidence) = advice.evidence.first() {
        text += &wrapped("     ", &evidence_text(evidence));
    }
    text
}

fn evidence_text(evidence: &Evidence) -> String {
    let mut text = clean(&evidence.text).into_owned();
    let place = evidence.place.clone().unwrap_or_default();
    if let Some(count) = evidence.bytes {
        text += &format!(": {}", bytes(count));
    }
    // A list of many tiles says nothing on a line.
    if let Some(tiles) = place.arena.as_ref().filter(|tiles| tiles.len() <= 12) {
        let word = if tiles.parse::<u32>().is_ok() { "tile" } else { "tiles" };
        text += &format!(" on {word} {tiles}");
    }
    if let Some(step) = place.step {
        text += &format!(", step {step}");
    }
    text
}
