//! A run of a sweep: what its system brings into a table of many, and whether it fits where the user says what the
//! device has.

use std::collections::BTreeMap;

use super::figure::{CYCLES, FigureKind, FigureValue, NEEDED, SweepFigure, THROUGHPUT};
use crate::analysis::program::report_options::{OptionKind, OptionValue, ReportOption};
use crate::run::{Need, Room, Verdict};
use crate::store::Warning;

/// Why a run cannot be what others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReference {
    /// Its figures are of no whole run.
    NotWhole,
    /// Nobody knows what it took at most.
    NotRecorded,
}

/// What a run brings into a table of many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepFacts {
    /// Whether it fits, or how it ended, by what its files say.
    pub verdict: Verdict,
    /// What it needs.
    pub need: Need,
    /// Its figures.
    pub figures: Vec<SweepFigure>,
    /// What it was made with, by kind and name.
    pub options: Vec<ReportOption>,
    /// The kinds of options of which it says something.
    pub kinds: Vec<OptionKind>,
    /// What has memory, by number.
    pub devices: BTreeMap<i64, String>,
    /// Of which of several its figures are.
    pub of: Option<String>,
    /// How much of it was recorded, by a key, where it is not all.
    pub recorded: Option<&'static str>,
    /// Why it cannot be what others are compared with.
    pub why_no_reference: Option<NoReference>,
    /// Whether its figures are of a run that is whole, so that a percent of them says something.
    pub is_whole: bool,
    /// What has to be said beside its figures.
    pub notes: Vec<&'static str>,
    /// Recorded runs of the program, and samples at a time.
    pub recorded_runs: Option<u64>,
}

/// A run of a sweep. What it does not say is `None`, and so is everything of one that could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepRun {
    /// What it is opened by.
    pub path: String,
    /// What it is called.
    pub name: String,
    /// Its system, by its key.
    pub system: &'static str,
    /// Why it could not be read.
    pub error: Option<RunError>,
    /// Whether it left no report: then only its options are known.
    pub no_report: bool,
    /// What it brings.
    pub facts: SweepFacts,
    /// The verdict where the user says what the device has, else its own.
    pub verdict: Verdict,
    /// Bytes of the device without what others have: what it needs is held against these.
    pub limit_bytes: Option<u64>,
    /// Whether no other run beats it in memory and in throughput ([`super::pareto`]).
    pub pareto: bool,
    /// Its numbers of `app.json`, by position in [`super::Sweep::measures`].
    pub measured: Vec<Option<f64>>,
    /// What is damaged or absent in it.
    pub warnings: Vec<Warning>,
}

/// Why a run could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RunError {
    /// The kind of error (definitions.md, "Error kinds").
    pub kind: String,
    /// Table, row or offset in the file.
    pub at: Option<String>,
    /// What was expected and what was found.
    pub message: String,
}

impl SweepRun {
    /// Whether it fits, or ran; `None` where nobody knows.
    pub fn fits(&self) -> Option<bool> {
        self.verdict.outcome.went_well()
    }

    /// Whether it went well as far as anybody can know: it fits or ran, or it is whole, and nobody says what its device
    /// has.
    pub fn goes_well(&self) -> bool {
        let is_unknown = self.verdict.cause == Some("capacity-not-known");
        self.fits() == Some(true) || (self.facts.is_whole && is_unknown)
    }

    /// Whether it went well, and its figures are no lower bounds: what others can be compared with.
    pub fn can_be_reference(&self) -> bool {
        self.facts.is_whole && self.goes_well() && self.facts.need.at_least.is_none()
    }

    /// A figure of it.
    pub fn figure(&self, kind: &FigureKind) -> Option<&SweepFigure> {
        self.facts.figures.iter().find(|figure| figure.kind.key == kind.key)
    }

    /// What the device must have, or the part of it that decides.
    pub fn needed_bytes(&self) -> Option<u64> {
        let needed = self.figure(&NEEDED).and_then(|figure| figure.value?.count());
        needed.or(self.facts.verdict.used_bytes)
    }

    /// Samples per second, by cycles.
    pub fn throughput(&self) -> Option<f64> {
        self.figure(&THROUGHPUT)?.value.map(FigureValue::as_f64)
    }

    /// Cycles of a run of the program.
    pub fn cycles_per_run(&self) -> Option<f64> {
        let cycles = self.figure(&CYCLES)?.value?.as_f64();
        Some(cycles / self.facts.recorded_runs.unwrap_or(1).max(1) as f64)
    }

    /// The value of an option; `None` where it does not have it.
    pub fn option(&self, kind: OptionKind, name: &str) -> Option<&OptionValue> {
        let key = |option: &ReportOption| (option.kind, option.name.as_str()).cmp(&(kind, name));
        let options = &self.facts.options;
        Some(&options.get(options.binary_search_by(key).ok()?)?.value)
    }

    /// Adds where it lies to its options.
    pub fn add_directory(&mut self) {
        self.add_option(ReportOption {
            kind: OptionKind::Directory,
            name: "directory".to_owned(),
            value: OptionValue::Text(self.name.clone()),
        });
    }

    /// Adds an option that follows from others.
    pub fn add_option(&mut self, option: ReportOption) {
        self.facts.options.push(option);
        self.facts.options.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    }

    /// Whether it can be read and has a report.
    pub fn is_read(&self) -> bool {
        self.error.is_none() && !self.no_report
    }

    /// Takes what the user says of the device for its capacity.
    pub fn judge(&mut self, room: Room) {
        self.verdict = self.facts.verdict.clone().in_room(&self.facts.need, room);
        self.limit_bytes = self.facts.need.judge(room).limit_bytes;
    }

    /// Whether the user can say what the device has: where what is used is a part of it, the run knows that part.
    pub fn takes_capacity(&self) -> bool {
        self.error.is_none() && !self.no_report && self.facts.verdict.used_of.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_which_nothing_is_said_has_no_figures() {
        let run = SweepRun::default();
        assert_eq!((run.fits(), run.needed_bytes(), run.cycles_per_run()), (None, None, None));
        assert_eq!(run.option(OptionKind::App, "batch"), None);
    }
}
