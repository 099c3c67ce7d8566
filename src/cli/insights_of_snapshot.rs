//! The insights of `tilescope summary` of a memory snapshot, as text.

use super::output::{aligned, name_cell, wrapped};
use crate::systems::pytorch::allocator::insights::advice::{Advice, Evidence};
use crate::systems::pytorch::allocator::insights::conclusions::Conclusion;
use crate::systems::pytorch::allocator::insights::fragmentation::Fragmentation;
use crate::systems::pytorch::allocator::insights::{DeviceInsights, SnapshotInsights};
use crate::text::{bytes, clean, grouped};

const MOST_ADVICE: usize = 6;
const MOST_EVIDENCE: usize = 2;

/// All of them.
pub fn text(insights: &SnapshotInsights) -> String {
    let verdict = &insights.verdict;
    let mut text =
        wrapped("  ", &format!("{}: {}", verdict.outcome.title(), clean(&verdict.reason)));
    let figures = verdict.figures(&bytes).into_iter();
    let figures: Vec<_> = figures.map(|(title, value)| format!("{title} {value}")).collect();
    text += &wrapped("  ", &figures.join(", "));
    if let Some(file) = &verdict.capacity_from {
        text += &wrapped("  ", &format!("What the device has is stated by {}", clean(file)));
    }
    // The verdict has said why it ended.
    let is_said =
        |one: &&Conclusion| one.id == "out-of-memory" && one.text.ends_with(&verdict.reason);
    for conclusion in insights.conclusions.iter().filter(|one| !is_said(one)) {
        text += &wrapped("  ", &clean(&conclusion.text));
    }
    for device in &insights.devices {
        text += &fragmentation_text(device, &device.fragmentation);
    }
    for (number, advice) in (1..=MOST_ADVICE).zip(&insights.advice) {
        text += &advice_text(number, advice);
    }
    for not_advised in &insights.not_advised {
        text += &wrapped("  Not: ", &clean(&not_advised.why));
    }
    text
}

/// What is reserved and free at each moment.
fn fragmentation_text(device: &DeviceInsights, found: &Fragmentation) -> String {
    let rows = found.moments.iter().map(|at| {
        let event = u64::try_from(at.event).map_or("–".to_owned(), grouped);
        vec![
            at.title(),
            event,
            bytes(at.reserved_bytes),
            bytes(at.active_bytes),
            bytes(at.free_bytes),
            grouped(at.pieces as u64),
            bytes(at.largest_piece_bytes),
            bytes(at.rounding_bytes),
        ]
    });
    let title = format!("<{}", device.title());
    let columns = ["event", "reserved", "in use", "free", "in pieces", "the largest", "rounding"];
    let header: Vec<&str> = std::iter::once(title.as_str()).chain(columns).collect();
    let expandable = match found.expandable_segments {
        Some(true) => "  Expandable segments are on\n",
        Some(false) => "  Expandable segments are off\n",
        None => "",
    };
    format!("\n{}{expandable}", aligned(&header, rows))
}

fn advice_text(number: usize, advice: &Advice) -> String {
    let mut text = String::from(if number == 1 { "\n" } else { "" });
    let saving = advice.saving.as_ref();
    let saving = saving.map_or_else(String::new, |saving| format!(". {}", saving.sentence(&bytes)));
    let what = format!("{}: {}{saving}", advice.id.title(), clean(&advice.what));
    text += &wrapped(&format!("  {number}. "), &what);
    for evidence in advice.evidence.iter().take(MOST_EVIDENCE) {
        text += &wrapped("     ", &evidence_text(evidence));
    }
    for line in advice.how.lines() {
        text += &format!("       {line}\n");
    }
    text
}

fn evidence_text(evidence: &Evidence) -> String {
    let mut text = name_cell(&evidence.what);
    if let Some(count) = evidence.bytes {
        text += &format!(": {}", bytes(count));
    }
    if let Some(event) = evidence.event.and_then(|event| u64::try_from(event).ok()) {
        text += &format!(", event {}", grouped(event));
    }
    text
}
