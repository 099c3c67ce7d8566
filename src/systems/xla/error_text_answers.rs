//! The answers of an XLA out-of-memory error text by itself: a partial capture.

use serde::Serialize;

use super::buffer_assignment::insights::REFUSED;
use super::run::ErrorText;
use crate::analysis::derived::Derived;
use crate::diagnose::{Finding, ListedAllocation, UsedPart, XlaCapture};
use crate::format::Error;
use crate::progress::Progress;
use crate::run::answers::SourceFormat;
use crate::run::section::keys_of;
use crate::run::{
    Answers, Cell, Conclusion, Ending, Insights, MemoryTotals, Need, Outcome, OwnFacts, Section,
    SectionBody, Verdict,
};
use crate::store::placed::ReadError;
use crate::text::bytes;

/// What makes XLA write all of it.
pub const DUMP_FLAGS: &str =
    "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_as_proto\"";

#[derive(Debug)]
pub struct ErrorTextAnswers(pub ErrorText);

/// The section `xla` of such a text.
#[derive(Serialize)]
struct ErrorTextSection<'a> {
    file: String,
    module: Option<String>,
    /// That it has a part of what a dump has.
    is_partial: bool,
    #[serde(flatten, serialize_with = "XlaCapture::serialize_of")]
    finding: &'a Finding,
    requested_bytes: Option<u64>,
    free_bytes: Option<u64>,
    /// Of the allocations that the text lists.
    listed_bytes: Option<u64>,
    /// Of the program, what is in none of them.
    not_listed_bytes: Option<u64>,
    /// The dump that has the rest.
    dump: Option<String>,
    /// What to do.
    advice: &'a [std::borrow::Cow<'static, str>],
}

impl Answers for ErrorTextAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        let (capture, finding) = (self.0.capture(), &self.0.finding);
        let is_refused = self.states_want();
        let is_failed = finding.requested_bytes.is_some() && finding.free_bytes.is_some();
        let (outcome, cause) = match () {
            () if is_refused => (Outcome::DoesNotFit, Some("refused")),
            () if is_failed => (Outcome::OutOfMemory, Some("request-failed")),
            () => (Outcome::Unknown, None),
        };
        let used = capture.used_bytes.or(capture.total_usage_bytes);
        let lacked = finding.requested_bytes.zip(finding.free_bytes);
        let lacked = lacked.map(|(requested, free)| requested.saturating_sub(free));
        Some(Verdict {
            outcome,
            cause,
            short: outcome.word().to_owned(),
            text: if is_refused { self.want_text() } else { self.partial_text() },
            used_bytes: used,
            capacity_bytes: capture.capacity_bytes,
            capacity_from: capture.capacity_bytes.map(|_| self.0.file()),
            over_bytes: capture.exceeded_bytes.or(lacked.filter(|_| is_failed)),
            ..Verdict::default()
        })
    }

    fn need(&self, derived: &Derived, _: Option<i64>) -> Result<Need, Error> {
        let verdict = self.verdict(derived).unwrap_or_default();
        let need = Need::of_verdict(&verdict);
        // Its figures are rounded, and may be equal where it says that they are not.
        let is_refused = verdict.outcome == Outcome::DoesNotFit;
        let ending = if is_refused { Ending::Refused } else { need.ending };
        Ok(Need { ending, refusal: REFUSED, ..need })
    }

    fn insights(&self, derived: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        let conclusions = self.conclusions();
        Ok(Insights { verdict: self.verdict(derived), conclusions, ..Insights::default() })
    }

    fn memory(&self, _: &Derived) -> MemoryTotals {
        let capture = self.0.capture();
        let total_bytes = capture.total_usage_bytes.or(capture.used_bytes);
        MemoryTotals { total_bytes, ..MemoryTotals::default() }
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        let format = Some("text of an out-of-memory error".to_owned());
        SourceFormat { format, ..SourceFormat::default() }
    }

    fn sections(&self, _: &Derived, _: &Insights) -> Vec<Section> {
        let capture = self.0.capture();
        let mut sections = stated_sections("What the text states", capture);
        sections.extend(entries(capture));
        let advice = self.0.finding.advice.iter().map(|said| said.clone().into_owned());
        let body = SectionBody::Sentences(advice.collect());
        sections.push(Section { title: "What to do".to_owned(), body });
        sections
    }

    fn own_json<'a>(&'a self, _: &'a Derived) -> Option<OwnFacts<'a>> {
        let (text, finding) = (&self.0, &self.0.finding);
        let capture = text.capture();
        let has_list = !capture.entries.is_empty() && capture.is_of_program();
        let facts = ErrorTextSection {
            file: text.file(),
            module: None,
            is_partial: true,
            finding,
            requested_bytes: finding.requested_bytes,
            free_bytes: finding.free_bytes,
            listed_bytes: has_list.then(|| capture.listed_bytes()),
            not_listed_bytes: capture.not_listed_bytes().filter(|_| has_list),
            dump: text.dump.as_ref().map(|path| path.display().to_string()),
            advice: &finding.advice,
        };
        Some(Box::new(keys_of(&facts)))
    }
}

impl ErrorTextAnswers {
    /// Whether it says of a program that it takes too much, and not only that a request failed while one ran.
    fn states_want(&self) -> bool {
        let capture = self.0.capture();
        let is_too_much = capture.exceeded_bytes.is_some() && self.0.finding.free_bytes.is_none();
        capture.is_of_program() || is_too_much
    }

    fn want_text(&self) -> String {
        let capture = self.0.capture();
        let over = capture.exceeded_bytes.map(|over| format!("{} too many", bytes(over)));
        let capacity = capture.capacity_bytes.map(|of| format!(" of the {}", bytes(of)));
        let capacity = capacity.unwrap_or_default();
        let used = capture.used_bytes.map(|used| format!("{}{capacity}", bytes(used)));
        let both: Vec<String> = used.into_iter().chain(over).collect();
        format!("Does not fit: {}", both.join(", "))
    }

    /// That it is a part, and where the whole is.
    fn partial_text(&self) -> String {
        let has = match self.0.capture().entries.len() {
            0 => "no allocation of the module".to_owned(),
            1 => "1 of an unknown number of allocations".to_owned(),
            count => format!("{count} of an unknown number of allocations"),
        };
        let whole = match &self.0.dump {
            Some(dump) => format!("The dump has all: tilescope summary {}", dump.display()),
            None => {
                format!("{DUMP_FLAGS} dumps all of it, also for a module that does not fit")
            }
        };
        format!("This is only a part of a capture: the text of an error has {has}. {whole}")
    }

    fn conclusions(&self) -> Vec<Conclusion> {
        let (capture, finding) = (self.0.capture(), &self.0.finding);
        let mut said = vec![Conclusion::new("partial-capture", self.partial_text())];
        let mut say = |id, text: String| said.push(Conclusion::new(id, text));
        if self.states_want() {
            say("does-not-fit", self.want_text());
        }
        if let (Some(requested), Some(free)) = (finding.requested_bytes, finding.free_bytes) {
            let (requested_text, free_text) = (bytes(requested), bytes(free));
            if free >= requested {
                let text = format!(
                    "Fragmented: {free_text} are free, more than the {requested_text} that were asked for, but not in \
                     one piece"
                );
                say("fragmented", text);
            } else {
                let text = format!(
                    "Too little is free: {free_text} of the {requested_text} that were asked for; something else \
                     holds the rest"
                );
                say("too-little-free", text);
            }
            let text = "tpu_log_allocations_on_oom prints a list for people to read (its format \
                        is not public); a dump says what the module itself needs";
            say("log-of-allocations", text.to_owned());
        }
        if let Some(not_listed) = capture.not_listed_bytes().filter(|_| !capture.entries.is_empty())
        {
            let text = format!(
                "The {} largest allocations have {} of the module's {}; {} are not listed",
                capture.entries.len(),
                bytes(capture.listed_bytes()),
                bytes(capture.program_bytes().unwrap_or(0)),
                bytes(not_listed)
            );
            say("listed", text);
        }
        said
    }
}

pub(super) fn stated_sections(title: &str, capture: XlaCapture<'_>) -> Vec<Section> {
    let packing = capture.hlo_temp.unwrap_or_default();
    let figures = [
        ("Total", capture.total_usage_bytes),
        ("Used", capture.used_bytes),
        ("Capacity", capture.capacity_bytes),
        ("Exceeded by", capture.exceeded_bytes),
        ("Padded", packing.padded_bytes),
        ("Unpadded", packing.unpadded_bytes),
    ];
    let known = figures.into_iter().filter_map(|(name, amount)| Some((name, Cell::Bytes(amount?))));
    let mut facts: Vec<(&str, Cell)> = known.collect();
    if let Some(fragmentation) = packing.fragmentation_bytes {
        let percent = packing.fragmentation_percent;
        let percent = percent.map_or_else(String::new, |percent| format!(", {percent}"));
        let of = "at XLA's own moment, not the bytes lost to packing";
        let said = format!("{}{percent} ({of})", bytes(fragmentation));
        facts.push(("Fragmentation", Cell::Text(said)));
    }
    let mut sections = vec![Section::facts(title, facts)];
    for (title, parts) in [("Made of", capture.usage), ("The module", capture.program)] {
        let row = |part: &UsedPart| vec![Cell::Text(part.name.clone()), Cell::Bytes(part.bytes)];
        if !parts.is_empty() {
            let rows = parts.iter().map(row).collect();
            sections.push(Section::table(title, &["Part", "bytes"], rows));
        }
    }
    sections
}

/// The allocations, and what is not listed.
fn entries(capture: XlaCapture<'_>) -> Option<Section> {
    let text = |said: Option<&str>| said.map_or(Cell::Empty, |said| Cell::Text(said.to_owned()));
    let row = |one: &ListedAllocation| {
        vec![
            text(one.operation().or(one.label.as_deref())),
            Cell::Bytes(one.bytes),
            Cell::from(one.padding_bytes),
            text(one.shape.as_deref()),
            text(one.source().as_deref()),
            text(one.allocation_type.as_deref()),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = capture.entries.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    if let Some(not_listed) = capture.not_listed_bytes() {
        let mut rest = vec![Cell::Text("not listed".to_owned()), Cell::Bytes(not_listed)];
        rest.resize(6, Cell::Empty);
        rows.push(rest);
    }
    let columns = ["Operation", "bytes", "padding", "Shape", "Source", "Kind"];
    Some(Section::table("Largest allocations of the module", &columns, rows))
}
