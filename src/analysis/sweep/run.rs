//! The facts of one report that a sweep compares.
//!
//! - The peak is always live + not always live at the step where that is most.
//! - Code is the bytes of the categories whose name ends in `Code` (control, vertex, internal, host
//!   and global exchange code), overlapped or not; all of it is always live.
//! - Batch size and samples per second are those of [`crate::analysis::throughput`].

use crate::analysis::liveness;
use crate::analysis::liveness::scope_curve::peak_of_everything;
use crate::analysis::memory::{self, FullestTile};
use crate::analysis::program::report_options::{OptionKind, OptionValue, ReportOption, options};
use crate::analysis::throughput::{batch_size, throughput};
use crate::store::{Report, Warning};
use crate::systems::poplar::insights::logs::warnings_at_minimum;

/// One report of a sweep. What it does not say is `None`, and so is everything of a report that
/// could not be read.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SweepRun {
    /// What the report is opened by.
    pub path: String,
    /// The path as seen from the folder of the sweep.
    pub name: String,
    /// Why it could not be read.
    pub error: Option<RunError>,
    /// Whether it left no report: then only its options are known.
    pub no_report: bool,
    /// Whether no tile is over.
    pub fits: Option<bool>,
    pub tiles_over_limit: Option<u64>,
    pub fullest_tile: Option<FullestTile>,
    /// Bytes that a tile has.
    pub bytes_per_tile: Option<u64>,
    /// By how much the fullest tile is over, bytes; 0 where it is not.
    pub over_limit_bytes: Option<u64>,
    /// Bytes of all tiles, gaps excluded.
    pub total_bytes: Option<u64>,
    /// With gaps.
    pub including_gaps_bytes: Option<u64>,
    /// Bytes of variables that live as long as the program.
    pub always_live_bytes: Option<u64>,
    /// Always live + not always live at the peak, bytes.
    pub peak_bytes: Option<u64>,
    pub code_bytes: Option<u64>,
    /// Samples at a time, as `app.json` has it.
    pub batch_size: Option<u64>,
    /// Runs of the program that were recorded.
    pub recorded_runs: Option<u64>,
    /// Cycles of all of them.
    pub cycles: Option<u64>,
    /// By cycles.
    pub throughput_samples_per_second: Option<f64>,
    /// By elapsed time.
    pub throughput_by_elapsed_time_samples_per_second: Option<f64>,
    /// How often the planner warns in the logs that it is at the minimum of memory; `None` without a log.
    pub planner_at_minimum: Option<u64>,
    /// Whether no other run beats it in memory and in throughput ([`super::pareto`]).
    pub pareto: bool,
    /// Its numbers of `app.json`, by position in [`super::Sweep::measures`].
    #[serde(skip)]
    pub measured: Vec<Option<f64>>,
    /// All options, by kind and name.
    #[serde(skip)]
    pub options: Vec<ReportOption>,
    /// The kinds of options of which the report says something.
    #[serde(skip)]
    pub kinds: Vec<OptionKind>,
    /// What to say beside its figures of liveness.
    #[serde(skip)]
    pub note: Option<&'static str>,
    /// What is damaged or absent in the report.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Why a report could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RunError {
    /// The kind of error (definitions.md, "Error kinds").
    pub kind: String,
    /// Table, row or offset in the file.
    pub at: Option<String>,
    /// What was expected and what was found.
    pub message: String,
}

impl SweepRun {
    /// The facts of a report whose small tables and debug contexts are read.
    pub fn of(path: String, name: String, report: &Report) -> Self {
        let memory = report.memory.get();
        let target = report.target.get();
        let totals = memory.map(|memory| memory::totals(memory, target)).unwrap_or_default();
        let execution = report.execution.get();
        let throughput = throughput(report);
        let mut options = options(report);
        let mut kinds: Vec<OptionKind> = options.iter().map(|option| option.kind).collect();
        // Contexts without the option say that it is not set.
        if report.debug.get().is_some() {
            kinds.push(OptionKind::AvailableMemoryProportion);
        }
        kinds.sort();
        kinds.dedup();
        options.push(ReportOption {
            kind: OptionKind::Directory,
            name: "directory".to_owned(),
            value: OptionValue::Text(name.clone()),
        });
        let fullest_tile =
            memory.zip(totals.fullest).and_then(|(memory, row)| FullestTile::of(memory, row));
        Self {
            path,
            name,
            error: None,
            no_report: false,
            fits: totals.fits,
            tiles_over_limit: totals.tiles_over_limit,
            fullest_tile,
            bytes_per_tile: report.bytes_per_tile(),
            over_limit_bytes: memory
                .zip(totals.fullest)
                .and_then(|(memory, row)| memory::over_limit_bytes(memory, target, row)),
            total_bytes: totals.total_bytes,
            including_gaps_bytes: totals.including_gaps_bytes,
            always_live_bytes: totals.always_live_bytes,
            peak_bytes: peak_of_everything(report).map(|(_, bytes)| bytes),
            code_bytes: memory.and_then(memory::code_bytes),
            batch_size: batch_size(report),
            recorded_runs: execution.map(|totals| totals.runs),
            cycles: execution.and_then(|totals| totals.cycles),
            throughput_samples_per_second: throughput.by_cycles,
            throughput_by_elapsed_time_samples_per_second: throughput.by_elapsed_time,
            planner_at_minimum: warnings_at_minimum(report),
            pareto: false,
            measured: Vec::new(),
            options,
            kinds,
            note: liveness::replica_note(target),
            warnings: report.warnings.list(),
        }
    }

    /// A run that left no report; `side_files` has what its side files say.
    pub fn without_report(path: String, name: String, side_files: &Report) -> Self {
        let run = Self::of(path, name, side_files);
        Self { no_report: true, ..run }
    }

    pub fn unreadable(path: String, name: String, error: RunError) -> Self {
        Self { path, name, error: Some(error), ..Self::default() }
    }

    /// The value of an option; `None` where the report does not have it.
    pub fn option(&self, kind: OptionKind, name: &str) -> Option<&OptionValue> {
        let key = |option: &ReportOption| (option.kind, option.name.as_str()).cmp(&(kind, name));
        let place = self.options.binary_search_by(key).ok()?;
        Some(&self.options.get(place)?.value)
    }

    pub fn cycles_per_run(&self) -> Option<f64> {
        Some(self.cycles? as f64 / self.recorded_runs.unwrap_or(1).max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn an_empty_report_has_no_facts() {
        let run = SweepRun::of("a/b".to_owned(), "b".to_owned(), &Report::default());
        let nothing =
            SweepRun { path: "a/b".to_owned(), name: "b".to_owned(), ..SweepRun::default() };
        assert_eq!(SweepRun { options: Vec::new(), ..run.clone() }, nothing);
        assert_eq!(
            run.option(OptionKind::Directory, "directory"),
            Some(&OptionValue::Text("b".into()))
        );
        assert_eq!(run.option(OptionKind::App, "batch"), None);
    }
}
