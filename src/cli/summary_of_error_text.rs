//! `tilescope summary` of the text of an out-of-memory error of XLA: a partial capture.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::output::{Answer, CsvAnswer, aligned, name_cell, wrapped};
use super::summary::{pairs, sections_text, summary_csv};
use crate::analysis::diagnose::{Allocation, Finding, Part, XlaCapture};
use crate::opened::ErrorText;
use crate::store::report::{FileStatus, ReportFile};
use crate::systems::pytorch::allocator::insights::conclusions::Conclusion;
use crate::text::{bytes, clean};

/// What makes XLA write all of it.
pub const DUMP_FLAGS: &str =
    "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_as_proto\"";

/// `tilescope.summary/1` of such a text.
#[derive(Debug, Serialize)]
pub struct ErrorTextSummary {
    source: Source,
    memory: MemoryFacts,
    liveness: Value,
    insights: InsightFacts,
    /// What the text states: keys of formats/xla.md.
    xla: Section,
}

#[derive(Debug, Serialize)]
struct Source {
    path: String,
    system: &'static str,
    format: &'static str,
    /// That it has a part of what a dump has.
    is_partial: bool,
    files: Vec<ReportFile>,
}

#[derive(Debug, Serialize)]
struct MemoryFacts {
    total_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    fits: Option<bool>,
    /// Of the allocations that the text lists.
    listed_bytes: Option<u64>,
    /// Of the program, what is in none of them.
    not_listed_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct InsightFacts {
    conclusions: Vec<Conclusion>,
    advice: Vec<Cow<'static, str>>,
}

#[derive(Debug, Serialize)]
struct Section {
    file: String,
    module: Option<String>,
    #[serde(flatten, serialize_with = "XlaCapture::serialize_of")]
    finding: Finding,
    requested_bytes: Option<u64>,
    free_bytes: Option<u64>,
    /// The dump that has the rest.
    dump: Option<String>,
}

impl ErrorTextSummary {
    /// Sums up a text.
    pub fn of(text: &ErrorText) -> Self {
        let (capture, finding) = (text.capture(), &text.finding);
        let has_list = !capture.entries.is_empty() && capture.is_of_program();
        Self {
            source: Source {
                path: text.path.display().to_string(),
                system: "xla",
                format: "text of an out-of-memory error",
                is_partial: true,
                files: vec![ReportFile {
                    name: text.file(),
                    bytes: Some(text.bytes),
                    status: FileStatus::Ok,
                }],
            },
            memory: MemoryFacts {
                total_bytes: capture.total_usage_bytes.or(capture.used_bytes),
                capacity_bytes: capture.capacity_bytes,
                fits: states_want(text).then_some(false),
                listed_bytes: has_list.then(|| capture.listed_bytes()),
                not_listed_bytes: capture.not_listed_bytes().filter(|_| has_list),
            },
            liveness: Value::Null,
            insights: InsightFacts {
                conclusions: conclusions(text),
                advice: finding.advice.clone(),
            },
            xla: Section {
                file: text.file(),
                module: None,
                finding: finding.clone(),
                requested_bytes: finding.requested_bytes,
                free_bytes: finding.free_bytes,
                dump: text.dump.as_ref().map(|path| path.display().to_string()),
            },
        }
    }
}

fn conclusions(text: &ErrorText) -> Vec<Conclusion> {
    let (capture, finding) = (text.capture(), &text.finding);
    let mut said = Vec::new();
    let mut say = |id, text: String| said.push(Conclusion { id, text });
    say("partial-capture", partial_text(text));
    if states_want(text) {
        let over = capture.exceeded_bytes.map(|over| format!("{} too many", bytes(over)));
        let capacity = capture.capacity_bytes.map(|of| format!(" of the {}", bytes(of)));
        let capacity = capacity.unwrap_or_default();
        let used = capture.used_bytes.map(|used| format!("{}{capacity}", bytes(used)));
        let both: Vec<String> = used.into_iter().chain(over).collect();
        say("does-not-fit", format!("Does not fit: {}", both.join(", ")));
    }
    if let (Some(requested), Some(free)) = (finding.requested_bytes, finding.free_bytes) {
        let (requested_text, free_text) = (bytes(requested), bytes(free));
        if free >= requested {
            let text = format!(
                "Fragmented: {free_text} are free, more than the {requested_text} that were asked for, but not in one piece"
            );
            say("fragmented", text);
        } else {
            let text = format!(
                "Too little is free: {free_text} of the {requested_text} that were asked for; what else is there holds the rest"
            );
            say("too-little-free", text);
        }
        let text = "What tpu_log_allocations_on_oom prints is for reading, its format is not public; what the program \
                    itself needs is in a dump";
        say("log-of-allocations", text.to_owned());
    }
    if let Some(not_listed) = capture.not_listed_bytes().filter(|_| !capture.entries.is_empty()) {
        let text = format!(
            "Of the program's {} the {} largest allocations have {}; {} are not listed",
            bytes(capture.program_bytes().unwrap_or(0)),
            capture.entries.len(),
            bytes(capture.listed_bytes()),
            bytes(not_listed)
        );
        say("listed", text);
    }
    said
}

/// Whether it says of a program that it takes too much, and not only that a request failed while one ran.
fn states_want(text: &ErrorText) -> bool {
    let capture = text.capture();
    let is_too_much = capture.exceeded_bytes.is_some() && text.finding.free_bytes.is_none();
    capture.is_of_program() || is_too_much
}

/// That it is a part, and where the whole is.
fn partial_text(text: &ErrorText) -> String {
    let has = match text.capture().entries.len() {
        0 => "no allocation of the program".to_owned(),
        1 => "1 of an unknown number of allocations".to_owned(),
        count => format!("{count} of an unknown number of allocations"),
    };
    let whole = match &text.dump {
        Some(dump) => {
            format!("The dump has all: tilescope summary {}", clean(&dump.display().to_string()))
        }
        None => {
            format!("All of it is in what {DUMP_FLAGS} dumps, also of a program that does not fit")
        }
    };
    format!("A part of a capture: the text of an error has {has}. {whole}")
}

/// Figures that XLA states.
pub fn stated_text(capture: XlaCapture<'_>) -> String {
    let mut rows = Vec::new();
    let mut add = |name, amount: Option<u64>| {
        rows.extend(amount.map(|amount| (name, bytes(amount))));
    };
    add("Total", capture.total_usage_bytes);
    add("Used", capture.used_bytes);
    add("Capacity", capture.capacity_bytes);
    add("Exceeded by", capture.exceeded_bytes);
    let packing = capture.hlo_temp.unwrap_or_default();
    add("Padded", packing.padded_bytes);
    add("Unpadded", packing.unpadded_bytes);
    let mut text = pairs(rows);
    if let Some(fragmentation) = packing.fragmentation_bytes {
        let percent = packing.fragmentation_percent;
        let percent = percent.map_or_else(String::new, |percent| format!(", {percent}"));
        let of = "of XLA's own moment, not what is lost to packing";
        let row = format!("{}{percent} ({of})", bytes(fragmentation));
        text += &pairs([("Fragmentation", row)]);
    }
    let parts = |parts: &[Part]| {
        let rows = parts.iter().map(|part| vec![name_cell(&part.name), bytes(part.bytes)]);
        rows.collect::<Vec<_>>()
    };
    for (title, list) in [("<Made of", capture.usage), ("<Program", capture.program)] {
        if !list.is_empty() {
            text.push('\n');
            text += &aligned(&[title, "bytes"], parts(list));
        }
    }
    text
}

/// The allocations, and what is not listed.
fn entries_text(capture: XlaCapture<'_>) -> String {
    let amount = |bytes_of: Option<u64>| bytes_of.map(bytes).unwrap_or_default();
    let name = |text: Option<&str>| name_cell(text.unwrap_or_default());
    let row = |one: &Allocation| {
        vec![
            bytes(one.bytes),
            amount(one.padding_bytes),
            name(one.shape.as_deref()),
            name(one.operation().or(one.label.as_deref())),
            name(one.source().as_deref()),
            name(one.allocation_type.as_deref()),
        ]
    };
    let mut rows: Vec<Vec<String>> = capture.entries.iter().map(row).collect();
    if let Some(not_listed) = capture.not_listed_bytes() {
        let mut rest = vec![bytes(not_listed), String::new(), "not listed".to_owned()];
        rest.resize(6, String::new());
        rows.push(rest);
    }
    aligned(&["bytes", "padding", "<Shape", "<Operation", "<Source", "<Kind"], rows)
}

impl Answer for ErrorTextSummary {
    const SCHEMA: &'static str = "tilescope.summary/1";

    fn text(&self) -> String {
        let conclusions = self.insights.conclusions.iter();
        let lines = conclusions.map(|conclusion| wrapped("  ", &conclusion.text)).collect();
        let stated = pairs([("Path", clean(&self.source.path).into_owned())]);
        let capture = XlaCapture::of_xla(&self.xla.finding);
        let mut sections = vec![
            ("Partial capture".to_owned(), lines),
            ("What the text states".to_owned(), stated + &stated_text(capture)),
        ];
        if !capture.entries.is_empty() {
            sections.push(("Largest allocations of the program".to_owned(), entries_text(capture)));
        }
        let advice = (1..).zip(&self.insights.advice);
        let advice = advice.map(|(number, said)| wrapped(&format!("  {number}. "), &clean(said)));
        sections.push(("What to do".to_owned(), advice.collect()));
        sections_text(&sections)
    }
}

impl CsvAnswer for ErrorTextSummary {
    fn csv(&self) -> String {
        summary_csv(self)
    }
}
