//! The summary of a run as text for people.

use std::borrow::Cow;

use super::Summary;
use crate::cli::output::{aligned, name_cell, wrapped};
use crate::run::{
    Advice, Cell, Conclusion, DeviceVerdict, NotAdvised, Outcome, PeakOfRun, PeakRow, Section,
    SectionBody, Verdict,
};
use crate::store::System;
use crate::store::report::{FileStatus, ReportFile};
use crate::text::{bytes, capitalised, clean, exact_bytes, grouped};

/// Pieces of advice, and rows of what each is based on.
const MOST_ADVICE: usize = 6;
const MOST_EVIDENCE: usize = 2;
/// Rows of a group of the peak; JSON has all.
const MOST_ROWS: usize = 10;
/// Calls of the user's code around the innermost one.
pub(in crate::cli) const MOST_CALLS: usize = 8;

impl Summary {
    pub(super) fn text_for_people(&self) -> String {
        let mut sections = vec![("Run".to_owned(), self.run_text()), self.memory_section()];
        let insights = self.insights_text();
        if !insights.is_empty() {
            sections.push(("Insights".to_owned(), insights));
        }
        if let Some(peak) = &self.liveness.peak {
            let devices = self.verdict.as_ref().map_or(&[][..], |verdict| &verdict.devices);
            sections.push(("Peak".to_owned(), peak_text(peak, devices, &self.words)));
        }
        for section in self.own.sections(&self.insights) {
            let text = section_text(&section);
            sections.push((section.title, text));
        }
        if !self.claims.is_empty() {
            let rows = self.claims.iter().map(|claim| {
                let agrees = if claim.agrees { "" } else { "differs" };
                vec![
                    name_cell(&claim.name),
                    bytes(claim.stated),
                    bytes(claim.ours),
                    agrees.to_owned(),
                    name_cell(&claim.file),
                ]
            });
            let header = ["<Figure", "stated", "here", "<", "<by"];
            sections.push(("Stated beside the run".to_owned(), aligned(&header, rows)));
        }
        sections_text(&sections)
    }

    fn run_text(&self) -> String {
        let source = &self.source;
        let said = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
        let mut rows = vec![("Path", clean(&source.path).into_owned())];
        rows.push(("Files", files_text(&source.files)));
        rows.extend(said(&source.format).map(|format| ("Format", format)));
        rows.extend(said(&source.producer).map(|producer| ("Written by", producer)));
        rows.extend(said(&source.captured_at).map(|at| ("Captured", at)));
        let title = capitalised(self.words.steps);
        let steps = self.liveness.steps;
        rows.extend(steps.map(|steps| (&*title, grouped(steps))));
        pairs(rows)
    }

    fn memory_section(&self) -> (String, String) {
        let memory = &self.memory;
        let outcome = self.verdict.as_ref().map(|verdict| verdict.outcome.title());
        let mut rows = vec![("Verdict", outcome.unwrap_or(Outcome::Unknown.title()).to_owned())];
        rows.extend((!memory.moment.is_empty()).then(|| ("As of", memory.moment.to_owned())));
        for (title, amount) in [
            ("Total", memory.total_bytes),
            ("Including gaps", memory.including_gaps_bytes),
            ("Gaps", memory.gap_bytes),
            (self.words.always_live, memory.always_live_bytes),
        ] {
            rows.extend(amount.map(|amount| (title, exact_bytes(amount))));
        }
        if let Some(verdict) = &self.verdict {
            let from = verdict.capacity_from.as_deref().map(clean);
            let from =
                from.map_or_else(String::new, |from| format!("; the capacity is from {from}"));
            let of = verdict.used_of.map_or_else(String::new, |of| format!(" on {of}"));
            let both = verdict.used_bytes.zip(verdict.capacity_bytes);
            rows.extend(both.map(|(used, capacity)| {
                let least = if verdict.at_least.is_some() { "at least " } else { "" };
                ("Used", format!("{least}{} of {}{of}{from}", bytes(used), bytes(capacity)))
            }));
            let over = verdict.over_bytes.filter(|over| *over > 0);
            rows.extend(over.map(|over| ("Too many", exact_bytes(over))));
        }
        ("Memory".to_owned(), pairs(rows))
    }

    fn insights_text(&self) -> String {
        let insights = &self.insights;
        let mut text = insights.verdict.as_ref().map(verdict_text).unwrap_or_default();
        let is_said = |one: &&Conclusion| {
            let verdict = insights.verdict.as_ref();
            verdict.is_some_and(|verdict| one.text.ends_with(&verdict.text))
        };
        for conclusion in insights.conclusions.iter().filter(|one| !is_said(one)) {
            text += &wrapped("  ", &clean(&conclusion.text));
        }
        for (number, advice) in (1..=MOST_ADVICE).zip(&insights.advice) {
            text += &advice_text(number, advice, &self.words);
        }
        if insights.advice.len() > MOST_ADVICE {
            let more = insights.advice.iter().skip(MOST_ADVICE);
            let more: Vec<String> = more.map(more_advice).collect();
            text += &wrapped("  ", &format!("More in --json and in Insights: {}", more.join("; ")));
        }
        for not_advised in &insights.not_advised {
            text += &not_advised_text(not_advised, &self.words);
        }
        text
    }
}

fn verdict_text(verdict: &Verdict) -> String {
    let title = verdict.outcome.title();
    let mut text = if verdict.text.starts_with(title) {
        wrapped("  ", &clean(&verdict.text))
    } else {
        wrapped("  ", &format!("{title}: {}", clean(&verdict.text)))
    };
    for detail in &verdict.details {
        text += &wrapped("  ", &clean(detail));
    }
    if verdict.devices.len() > 1 {
        text.push('\n');
        text += &devices_text(&verdict.devices);
    }
    text
}

fn devices_text(devices: &[DeviceVerdict]) -> String {
    let known = |amount: Option<u64>| amount.map(bytes).unwrap_or_default();
    let rows = devices.iter().map(|device| {
        vec![
            name_cell(&device.name),
            device.outcome.word().to_owned(),
            known(device.used_bytes),
            known(device.capacity_bytes),
            known(device.over_bytes.filter(|over| *over > 0)),
            known(device.peak_bytes),
        ]
    });
    aligned(&["<Device", "<verdict", "used", "capacity", "too many", "peak"], rows)
}

/// A piece of advice that there is no room for: `Use expandable segments (about 22.0 MiB)`.
fn more_advice(advice: &Advice) -> String {
    let saving = advice.saving.as_ref();
    let amount = saving.and_then(|saving| match saving.expected_bytes {
        Some(expected) => Some(format!(" (about {})", bytes(expected))),
        None => saving.at_most_bytes.map(|most| format!(" (at most {})", bytes(most))),
    });
    format!("{}{}", advice.title, amount.unwrap_or_default())
}

fn advice_text(number: usize, advice: &Advice, words: &System) -> String {
    let mut text = String::from(if number == 1 { "\n" } else { "" });
    let saving = advice.sentences_of_saving(&bytes);
    let of = advice.device_name.as_deref().map_or_else(String::new, |name| format!(" ({name})"));
    // A text that begins with the title needs no title before it.
    let title = if advice.text.starts_with(advice.title) && of.is_empty() {
        String::new()
    } else {
        format!("{}{of}: ", advice.title)
    };
    let what = format!("{title}{}{saving}", clean(&advice.text));
    text += &wrapped(&format!("  {number}. "), &what);
    if !advice.caution.is_empty() {
        text += &wrapped("     Cost: ", advice.caution);
    }
    for evidence in advice.evidence.iter().take(MOST_EVIDENCE) {
        text += &wrapped("     ", &clean(&evidence.sentence(words, &bytes)));
    }
    let how = advice.how.first();
    for line in how.iter().flat_map(|how| how.text.lines().chain(how.code.lines())) {
        text += &format!("       {}\n", clean(line));
    }
    text
}

fn not_advised_text(not_advised: &NotAdvised, words: &System) -> String {
    let mut text = wrapped("  Not: ", &clean(&not_advised.why));
    if let Some(evidence) = not_advised.evidence.first() {
        text += &wrapped("       ", &clean(&evidence.sentence(words, &bytes)));
    }
    text
}

/// The peak; its device is named where there are several.
fn peak_text(peak: &PeakOfRun, devices: &[DeviceVerdict], words: &System) -> String {
    let of = devices.iter().find(|device| peak.device == Some(device.device));
    let of = of.filter(|_| devices.len() > 1).map(|device| ("Of", name_cell(&device.name)));
    let mut rows: Vec<_> = of.into_iter().collect();
    rows.push(("Alive", exact_bytes(peak.bytes)));
    let always_live = peak.always_live_bytes.map(|bytes| (words.always_live, exact_bytes(bytes)));
    rows.extend(always_live);
    // The name of a step may be the line that it is on.
    let line = peak.stack.first().map(String::as_str);
    let name = peak.name.as_deref().filter(|name| Some(*name) != line);
    // Where steps are of one kind they are called by it.
    let kind = peak.kind.as_deref().filter(|kind| *kind != words.step_in_text);
    let what: Vec<String> = [kind, name].into_iter().flatten().map(name_cell).collect();
    let step = peak.step.map(|step| match u64::try_from(step) {
        Ok(step) => format!("{} {}", words.step_in_text, grouped(step)),
        Err(_) => format!("before the first {}", words.step_in_text),
    });
    let place: Vec<String> = step.into_iter().chain(what).collect();
    if !place.is_empty() {
        rows.push(("At", place.join(", ")));
    }
    let operation = peak.operation.as_ref().filter(|operation| Some(operation.as_str()) != name);
    if let Some(operation) = operation {
        let by = if peak.operation_by_operand { " (by operand)" } else { "" };
        rows.push(("Operation", format!("{}{by}", clean(operation))));
    }
    let mut title = "Line";
    for call in peak.stack.iter().take(MOST_CALLS) {
        rows.push((title, clean(call).into_owned()));
        title = "called from";
    }
    let mut text = pairs(rows);
    text += &group_text("<Category", &peak.by_category, |key| capitalised(&key.replace('_', " ")));
    for (title, rows) in
        [("<Operation", &peak.by_operation), ("<Module", &peak.by_module), ("<Line", &peak.by_line)]
    {
        text += &group_text(title, rows, str::to_owned);
    }
    // The variables of some systems are the lines that allocate.
    let lines = peak.by_line.iter().map(|line| &line.name);
    let are_lines = lines.eq(peak.largest.iter().map(|variable| &variable.name));
    if !peak.largest.is_empty() && !are_lines {
        let rows = peak.largest.iter().take(MOST_ROWS);
        let has_operations = rows.clone().any(|one| one.operation.is_some());
        let rows = rows.map(|one| {
            let operation = has_operations
                .then(|| one.operation.as_deref().map_or_else(String::new, name_cell));
            [name_cell(&one.name), exact_bytes(one.bytes)].into_iter().chain(operation).collect()
        });
        let titles = ["<Largest", "bytes", "<Operation"];
        let shown = if has_operations { &titles[..] } else { &titles[..2] };
        text.push('\n');
        text += &aligned(shown, rows);
    }
    text
}

/// The rows of a group, whose names are written by `named`.
fn group_text(title: &str, rows: &[PeakRow], named: impl Fn(&str) -> String) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = rows.iter().take(MOST_ROWS);
    let mut lines: Vec<Vec<String>> =
        shown.map(|row| vec![name_cell(&named(&row.name)), exact_bytes(row.bytes)]).collect();
    let rest = rows.get(MOST_ROWS..).unwrap_or_default();
    if !rest.is_empty() {
        let left = rest.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        lines.push(vec![format!("{} more", grouped(rest.len() as u64)), exact_bytes(left)]);
    }
    format!("\n{}", aligned(&[title, "bytes"], lines))
}

fn section_text(section: &Section) -> String {
    match &section.body {
        SectionBody::Facts(facts) => {
            pairs(facts.iter().map(|(name, cell)| (name.as_str(), exact_cell_text(cell))))
        }
        SectionBody::Table { columns, rows } => {
            let is_words =
                |place: usize| rows.iter().any(|row| matches!(row.get(place), Some(Cell::Text(_))));
            let title = |(place, title): (usize, &String)| {
                if is_words(place) { format!("<{title}") } else { title.clone() }
            };
            let header: Vec<String> = columns.iter().enumerate().map(title).collect();
            aligned(&header, rows.iter().map(|row| row.iter().map(cell_text).collect()))
        }
        SectionBody::Sentences(sentences) => {
            sentences.iter().map(|sentence| wrapped("  ", &clean(sentence))).collect()
        }
    }
}

/// What a cell says, of bytes all digits.
pub(in crate::cli) fn exact_cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Bytes(amount) => exact_bytes(*amount),
        cell => cell_text(cell),
    }
}

/// What a cell says.
pub(in crate::cli) fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => name_cell(text),
        Cell::Bytes(amount) => bytes(*amount),
        Cell::Count(count) => grouped(*count),
        Cell::Empty => String::new(),
    }
}

/// The files of a run, with what is wrong with them.
pub(in crate::cli) fn files_text(files: &[ReportFile]) -> String {
    let files = files.iter().filter(|file| file.bytes.is_some()).map(|file| match file.status {
        FileStatus::Ok => file.name.clone(),
        status => format!("{} ({})", file.name, status.as_str()),
    });
    clean(&files.collect::<Vec<_>>().join(", ")).into_owned()
}

/// Sections one below the other, with their titles.
pub(in crate::cli) fn sections_text(sections: &[(String, String)]) -> String {
    let sections = sections.iter().map(|(title, body)| format!("{}\n{body}", clean(title)));
    sections.collect::<Vec<_>>().join("\n")
}

/// Width of the names of facts, where none is longer.
const NAMES: usize = 16;

/// Names with what they say, one pair a line. Both may be texts of a file.
pub(in crate::cli) fn pairs<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows = rows.into_iter().map(|(name, value)| (clean(name), clean(&value).into_owned()));
    let rows: Vec<(Cow<'_, str>, String)> = rows.collect();
    let longest = rows.iter().map(|(name, _)| name.chars().count().saturating_add(1)).max();
    let width = longest.unwrap_or(0).max(NAMES);
    rows.into_iter().map(|(name, value)| format!("  {name:<width$}{value}\n")).collect()
}
