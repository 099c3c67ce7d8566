//! The sections that only an XLA module has in a summary.

use std::collections::BTreeMap;

use super::answers::XlaAnswers;
use super::buffer_assignment::facts::{ModuleFacts, TemporaryFacts};
use super::buffer_assignment::program::AnalysedModule;
use super::error_text_answers::stated_sections;
use super::record::allocators_section;
use super::run::{AgreedFigure, ModuleTotals};
use crate::diagnose::{Finding, XlaCapture};
use crate::run::{Cell, Section};
use crate::store::hlo::ListedModule;
use crate::text::{bytes, grouped};

/// Rows of a table; JSON has all.
const MOST_ROWS: usize = 40;

/// The module, its memory spaces and temporary allocations, what an error text beside it states, and the other modules.
pub(super) fn sections(answers: &XlaAnswers) -> Vec<Section> {
    let program = &*answers.program;
    let facts = ModuleFacts::of(&program.analysed, program.platform);
    let mut sections = vec![module(answers, &facts), spaces(answers, &facts)];
    sections.extend(temporary(answers, &facts));
    if let Some(moment) = program.claims.moment {
        let said = format!("position {}, not the peak of memory", grouped(u64::from(moment)));
        sections.push(Section::facts("Stated by XLA", [("XLA's moment", Cell::Text(said))]));
    }
    if let Some(text) = &answers.error_text {
        let title = format!("What XLA states ({}), not in the figures above", text.file());
        sections.extend(stated_sections(&title, XlaCapture::of_xla(&text.finding)));
        sections.extend(left_out(program, &text.finding));
    }
    sections.extend(allocators_section(program.beside.allocators(), MOST_ROWS));
    if program.modules.len() > 1 {
        sections.push(modules(&program.modules));
    }
    sections
}

/// What a message about a program does not count: then it says less to be too many than the program's allocations do.
fn left_out(program: &AnalysedModule, finding: &Finding) -> Option<Section> {
    let totals = ModuleTotals::of(program);
    let agreed = totals.agreement(finding)?;
    let is_of_temporaries = agreed.by == AgreedFigure::Temporaries
        && XlaCapture::of_xla(finding).used_bytes == Some(agreed.stated_bytes);
    let rest = totals.figures.total_bytes.checked_sub(agreed.bytes)?;
    let facts = [("Arguments, results and constants", Cell::Bytes(rest))];
    (is_of_temporaries && rest > 0)
        .then(|| Section::facts("XLA counts the temporary values alone here, not", facts))
}

fn module(answers: &XlaAnswers, facts: &ModuleFacts) -> Section {
    let program = &*answers.program;
    let listed = program.modules.first();
    let mut rows: Vec<(&str, String)> = Vec::new();
    let name = listed.and_then(|one| one.module.clone());
    rows.push(("Module", name.unwrap_or_else(|| "not named".to_owned())));
    rows.extend(facts.platform.map(|platform| ("Compiled for", platform.to_uppercase())));
    rows.extend(program.beside.device.clone().map(|device| ("Device", device)));
    rows.extend(
        facts.steps.map(|steps| ("Schedule", format!("{} steps", grouped(u64::from(steps))))),
    );
    let (allocations, values) = (facts.allocations as u64, facts.values as u64);
    rows.push(("Allocations", format!("{}, {} values", grouped(allocations), grouped(values))));
    let donated = bytes(facts.parameters.donated_bytes);
    let parameters = bytes(facts.parameters.bytes);
    rows.push(("Parameters", format!("{parameters}, {donated} of them donated")));
    let donatable = facts.donatable_bytes.filter(|bytes| *bytes > 0);
    rows.extend(donatable.map(|donatable| ("Donatable", bytes(donatable))));
    let flags = program.beside.flags.iter().map(|(name, value)| format!("{name}={value}"));
    let flags = flags.collect::<Vec<_>>().join(" ");
    if !flags.is_empty() {
        rows.push(("Flags", flags));
    }
    Section::facts("Module", rows.into_iter().map(|(name, said)| (name, Cell::Text(said))))
}

fn spaces(answers: &XlaAnswers, facts: &ModuleFacts) -> Section {
    let of = |by: Option<&BTreeMap<i64, u64>>, color: &i64| {
        Cell::from(by.and_then(|by| by.get(color)).copied())
    };
    let (largest, more) = largest(facts.bytes_by_color.iter(), |(_, total)| **total);
    let mut rows: Vec<Vec<Cell>> = (largest.into_iter())
        .map(|(color, total)| {
            let in_use = facts.in_use.as_ref().and_then(|by| by.get(color));
            vec![
                Cell::Text(answers.program.color_title(*color)),
                Cell::Bytes(*total),
                of(facts.reserved_throughout_by_color.as_ref(), color),
                Cell::from(in_use.map(|in_use| in_use.peak_bytes)),
            ]
        })
        .collect();
    rows.extend(more_row(more, 4));
    Section::table("Memory spaces", &["Memory", "reserved", "throughout", "most in use"], rows)
}

fn temporary(answers: &XlaAnswers, facts: &ModuleFacts) -> Option<Section> {
    let (largest, more) = largest(facts.temp.iter(), |one| one.bytes);
    let row = |one: &TemporaryFacts| {
        let peak = one.peak.as_ref();
        vec![
            Cell::Text(format!("{} in {}", one.allocation, answers.program.color_title(one.color))),
            Cell::Bytes(one.bytes),
            Cell::from(peak.map(|peak| peak.bytes)),
            Cell::from(peak.map(|peak| peak.lost_bytes)),
            peak.map_or(Cell::Empty, |peak| Cell::Text(positions(&peak.positions))),
            peak.map_or(Cell::Empty, |peak| Cell::Count(peak.live_values as u64)),
            Cell::from(peak.map(|peak| peak.padding_bytes)),
            Cell::from(one.heap_trace.as_ref().map(|trace| trace.peak_bytes)),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = largest.into_iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    rows.extend(more_row(more, 8));
    let columns =
        ["Allocation", "bytes", "peak", "lost", "at", "live values", "padding", "XLA's simulation"];
    Some(Section::table("Temporary allocations", &columns, rows))
}

/// The module that is meant is first, the others by size.
fn modules(modules: &[ListedModule]) -> Section {
    let row = |(place, one): (usize, &ListedModule)| {
        let text = |said: &str| Cell::Text(said.to_owned());
        vec![
            text(if place == 0 { "this" } else { "" }),
            text(one.module.as_deref().unwrap_or("not named")),
            Cell::Bytes(one.total_bytes),
            Cell::Bytes(one.temp_bytes),
            Cell::Count(one.allocations as u64),
            text(&one.key),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = modules.iter().take(MOST_ROWS).enumerate().map(row).collect();
    rows.extend(more_row(modules.len().saturating_sub(MOST_ROWS), 6));
    Section::table("Modules", &["", "Module", "total", "temporary", "allocations", "File"], rows)
}

/// The largest of a table in their order, and how many others there are.
fn largest<T: Copy>(rows: impl Iterator<Item = T>, bytes: impl Fn(&T) -> u64) -> (Vec<T>, usize) {
    let mut rows: Vec<(usize, T)> = rows.enumerate().collect();
    let more = rows.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(bytes(row)));
        rows.truncate(MOST_ROWS);
        rows.sort_by_key(|(place, _)| *place);
    }
    (rows.into_iter().map(|(_, row)| row).collect(), more)
}

/// A row that says how many are not shown.
fn more_row(more: usize, columns: usize) -> Option<Vec<Cell>> {
    (more > 0).then(|| {
        let mut row = vec![Cell::Text(format!("{} more", grouped(more as u64)))];
        row.resize(columns, Cell::Empty);
        row
    })
}

/// Positions as ranges: `153–158`.
fn positions(ranges: &[(u32, u32)]) -> String {
    let written = ranges.iter().take(3).map(|(first, last)| match last {
        last if first == last => first.to_string(),
        last => format!("{first}–{last}"),
    });
    let more = if ranges.len() > 3 { ", …" } else { "" };
    format!("{}{more}", written.collect::<Vec<_>>().join(", "))
}
