//! `tilescope liveness`: memory at every step, the peaks, and what is alive there.

mod text;

use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use serde::{Serialize, Serializer};

use super::Input;
use super::compare::By;
use super::output::{self, name_cell};
use super::scope::{ScopeArguments, scope_name, scope_of};
use crate::analysis::comparison::contribution::Contribution;
use crate::analysis::comparison::moment::Moment;
use crate::analysis::consists::{consists_of, rows_of_one};
use crate::analysis::liveness::peaks;
use crate::analysis::liveness::{self, NamedBytes, Scope};
use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps::{self, Filter, MatchedField};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunFiles, files_of_module};
use crate::store::liveness::VariableBytes;
use crate::store::{IdColumn, Report, StepId, System};
use crate::systems::poplar::files::OpenReport;

/// How many peaks the text lists when it is not told.
const PEAKS_IN_TEXT: usize = 10;

/// Reads the bytes by variable and class of a range of tiles.
type RowsOf<'a> = dyn Fn(RangeInclusive<u32>) -> Result<Option<Vec<VariableBytes>>, Error> + 'a;

/// Answers for whatever system the run is of.
pub fn run(arguments: &LivenessArguments) -> ExitCode {
    let input = &arguments.input;
    match files_of_module(&input.path, arguments.module.as_deref(), &Progress::default()) {
        Ok(RunFiles::Poplar(found)) => {
            output::answer_of_found(input, arguments.csv, &found, |open, progress| {
                LivenessReport::of(open, arguments, progress)
            })
        }
        Ok(other) => {
            let (json, csv) = (input.json, arguments.csv);
            output::answer_of_found_run(other.found(), json, csv, |run, progress| {
                run.fill_report(progress);
                LivenessReport::of_filled(run.derived().report(), arguments)
            })
        }
        Err(error) => output::fail(&error, input.json),
    }
}

/// Arguments of `tilescope liveness`.
#[derive(Debug, Args)]
pub struct LivenessArguments {
    /// The report.
    #[command(flatten)]
    pub input: Input,
    /// List the variables alive at this step, or at the peak.
    #[arg(long, value_name = "N|peak")]
    pub step: Option<StepChoice>,
    /// Only the tiles of this IPU.
    #[arg(long, value_name = "N", conflicts_with = "tile")]
    pub ipu: Option<u32>,
    /// Only this tile.
    #[arg(long, value_name = "N")]
    pub tile: Option<u32>,
    /// The module of a dump of XLA that is meant: a part of its name or of its file's.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Only this device, of a memory snapshot (-1 is pinned memory of the host), or this memory space (color) of a program
    /// of XLA.
    #[arg(long, value_name = "N", conflicts_with_all = ["tile", "ipu"], allow_negative_numbers = true)]
    pub device: Option<i64>,
    /// Only steps whose program, kind, compute set or operation has this text in its name.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Say what is alive at the step by this, adding up to the whole.
    #[arg(long, requires = "step")]
    pub by: Option<By>,
    /// List this many peaks, largest first.
    #[arg(long, value_name = "K")]
    pub peaks: Option<usize>,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line for each
    /// step; with --step for each variable that is alive there, with --by for each part.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A step by its number, or the peak of the scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepChoice {
    /// This step.
    Step(u32),
    /// The step of the largest value.
    Peak,
}

impl FromStr for StepChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "peak" {
            return Ok(Self::Peak);
        }
        text.parse().map(Self::Step).map_err(|_| format!("`{text}` is neither a step nor `peak`"))
    }
}

/// `tilescope.liveness/1` (cli.md).
#[derive(Debug, Serialize)]
pub struct LivenessReport {
    scope: String,
    limit_bytes: Option<u64>,
    always_live_bytes: Option<u64>,
    steps: Steps,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<Vec<NamedBytes>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    always_live_variables: Option<Vec<NamedBytes>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consists_of: Option<ConsistsOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peaks: Option<Vec<Step>>,
    /// For the text, which lists peaks also when it is not asked for them.
    #[serde(skip)]
    text_peaks: Vec<Step>,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    step_count: usize,
    #[serde(skip)]
    note: Option<&'static str>,
}

/// What is alive at the step, largest first; the rows add up to the whole.
#[derive(Debug, Serialize)]
struct ConsistsOf {
    whole_bytes: i64,
    /// `None` where the report lacks the tables that say it, or does not name operations.
    rows: Option<Vec<Part>>,
}

#[derive(Debug, Serialize)]
struct Part {
    name: String,
    /// Below 0 where more is attributed than there is: code that several operations share.
    bytes: i64,
    percent: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Step {
    step: u32,
    program: u32,
    kind: Option<String>,
    name: Option<String>,
    operation: Option<Operation>,
    not_always_live_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<MatchedField>,
}

/// The rows of the steps that are listed, each made when it is written: a snapshot has millions.
#[derive(Debug)]
struct Steps {
    report: Arc<Report>,
    curve: Vec<u64>,
    /// Those in which the filter found something; `None` where there is no filter.
    matched: Option<Vec<(usize, MatchedField)>>,
}

impl Steps {
    fn rows(&self) -> impl Iterator<Item = Step> {
        let found = self.matched.iter().flatten().map(|(step, field)| (*step, Some(*field)));
        let count = if self.matched.is_some() { 0 } else { self.curve.len() };
        let all = (0..count).map(|step| (step, None));
        found
            .chain(all)
            .filter_map(|(step, matched)| step_row(&self.report, &self.curve, step, matched))
    }
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl LivenessReport {
    /// The curve of the scope that the arguments name.
    ///
    /// # Errors
    /// `damaged` when the report has no liveness, `usage` for a step, tile or IPU that is not there.
    pub fn of(
        open: &OpenReport,
        arguments: &LivenessArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        open.read_debug_info(progress);
        let rows_of = |tiles| open.read_variable_bytes(tiles, progress);
        let consists_of = |scope, step, by| consists(open, (scope, step), by, progress);
        Self::of_report(&open.report, arguments, &rows_of, &consists_of)
    }

    /// The same of a run of another system, all of which is read.
    ///
    /// # Errors
    /// `usage` for a step or device that is not there, and for what only tiles have.
    pub fn of_filled(report: &Arc<Report>, arguments: &LivenessArguments) -> Result<Self, Error> {
        let none = |_| Ok(None);
        let no_parts = |_, _, _| {
            let message =
                "--by is of reports of Poplar; what is alive at a step of this run is listed only";
            let error = Error::new(ErrorKind::Usage, message);
            Err(error.hint("Leave --by out; tilescope summary has the peak by category."))
        };
        Self::of_report(report, arguments, &none, &no_parts)
    }

    fn of_report(
        report: &Arc<Report>,
        arguments: &LivenessArguments,
        rows_of: &RowsOf<'_>,
        consists: &dyn Fn(Scope, usize, By) -> Result<ConsistsOf, Error>,
    ) -> Result<Self, Error> {
        let &LivenessArguments { tile, ipu, device, .. } = arguments;
        if let Some(absence) = report.liveness.absence().filter(|absence| absence.is_explained()) {
            // What another system does not have is no damage.
            if report.system != System::POPLAR {
                let error = Error::new(ErrorKind::NotAReport, absence.what.clone());
                return Err(error.in_file(&report.path).hint(absence.hint.clone()));
            }
        }
        let scope = scope_of(report, ScopeArguments { tile, ipu, device })?;
        let absent = |table: &str| {
            Error::new(ErrorKind::Damaged, "the liveness of this report cannot be read")
                .at(format!("table {table}"))
                .hint("The warnings say what is wrong; the engine option autoReport.outputLoweredVars brings it.")
        };
        let steps = report.steps.get().ok_or_else(|| absent("depth_first_steps"))?;
        let liveness = report.liveness.get().ok_or_else(|| absent("eq_classes"))?;
        // Without changes from step to step a curve is added up from variables.
        let is_of_rows = liveness::needs_bytes_by_tile(report, scope);
        let needs_rows = arguments.step.is_some() || is_of_rows;
        let rows_of_scope = match scope.tiles(report.target.get()) {
            Some(tiles) if needs_rows => rows_of(tiles)?,
            _ => None,
        };
        let rows: Option<&[VariableBytes]> = match scope {
            Scope::Everything => liveness.variable_bytes.as_deref(),
            Scope::Device(device) => liveness
                .variable_bytes_of_devices
                .get(&device)
                .map(Vec::as_slice)
                .or(rows_of_scope.as_deref()),
            _ => rows_of_scope.as_deref(),
        };
        let count = steps.ids.len();
        let curve = match rows {
            Some(rows) if is_of_rows => {
                Some(liveness::curve_of_variables(rows, &liveness.classes, count))
            }
            _ => liveness::curve(liveness, scope, count),
        };
        let curve = curve.ok_or_else(|| {
            absent(match scope {
                Scope::Arena(_) => "var_bytes_by_eq_class",
                _ => "memory_not_always_live_by_step_and_ipu",
            })
        })?;
        let filter = arguments.filter.as_deref().map(Filter::new);
        let matched = |step: usize| match &filter {
            Some(filter) => filter.matches(report, step).map(Some),
            None => Some(None),
        };
        let row = |position: usize| {
            let matched = matched(position)?;
            step_row(report, &curve, position, matched)
        };
        let peaks_wanted = arguments.peaks.unwrap_or(PEAKS_IN_TEXT);
        let found = peaks::peaks(&curve);
        let peaks: Vec<Step> =
            found.iter().filter_map(|peak| row(peak.step)).take(peaks_wanted).collect();
        let chosen =
            arguments.step.map(|choice| chosen_step(report, &curve, choice)).transpose()?;
        let consists_of = match (arguments.by, chosen) {
            (Some(by), Some(step)) => Some(consists(scope, step, by)?),
            _ => None,
        };
        let at_step = chosen.zip(rows);
        let arenas = report.arenas.get();
        Ok(Self {
            scope: scope_name(report, scope),
            limit_bytes: arenas.and_then(|arenas| liveness::limit_bytes(scope, arenas)),
            always_live_bytes: arenas.and_then(|arenas| liveness::always_live_bytes(scope, arenas)),
            step: chosen.and_then(|step| step_row(report, &curve, step, None)),
            steps: Steps {
                report: Arc::clone(report),
                matched: filter.as_ref().map(|_| {
                    let matched = |step| Some((step, matched(step)??));
                    (0..count).filter_map(matched).collect()
                }),
                curve,
            },
            variables: at_step.map(|(step, rows)| liveness::variables_at(rows, liveness, step)),
            always_live_variables: at_step
                .map(|(_, rows)| liveness::always_live_variables(rows, liveness)),
            consists_of,
            peaks: arguments.peaks.map(|_| peaks.clone()),
            text_peaks: peaks,
            is_filtered: filter.is_some(),
            step_count: count,
            note: liveness::replica_note(report.target.get()),
        })
    }
}

fn consists(
    open: &OpenReport,
    (scope, step): (Scope, usize),
    by: By,
    progress: &Progress,
) -> Result<ConsistsOf, Error> {
    let by = by.grouped().ok_or_else(|| {
        let message = "what is alive at a step is of no fullest tile";
        Error::new(ErrorKind::Usage, message).hint("--tile N --step N --by category")
    })?;
    open.read_tile_variable_bytes(progress);
    open.read_compute(progress);
    open.read_variables(progress);
    let derived = open.derived();
    let timeline = derived.timeline(scope, &|| false);
    let alive = timeline.and_then(|timeline| Moment::alive(&timeline.curve, scope, step));
    let alive = alive.ok_or_else(|| {
        Error::new(ErrorKind::Damaged, "what is always live in this report cannot be read")
            .at("table memory_by_tile")
    })?;
    let found = consists_of(&derived, alive);
    let whole_bytes = alive.bytes.sum();
    let part = |(row, bytes): (&Contribution, i64)| Part {
        name: row.contributor.title(),
        bytes,
        percent: bytes as f64 * 100.0 / whole_bytes.max(1) as f64,
    };
    let rows =
        found.grouping(by).map(|grouping| rows_of_one(grouping).into_iter().map(part).collect());
    Ok(ConsistsOf { whole_bytes, rows })
}

fn chosen_step(report: &Report, curve: &[u64], choice: StepChoice) -> Result<usize, Error> {
    let steps = report.steps.get().map(|steps| &steps.ids);
    let found = match choice {
        StepChoice::Peak => liveness::peak(curve),
        StepChoice::Step(step) => steps.and_then(|ids| ids.position(StepId(step))),
    };
    found.ok_or_else(|| {
        let range = steps.map(IdColumn::as_slice).and_then(|ids| ids.first().zip(ids.last()));
        let range = range.map_or_else(
            || "it has no steps".to_owned(),
            |(first, last)| format!("its steps are {first} to {last}"),
        );
        let wanted = match choice {
            StepChoice::Peak => "no peak".to_owned(),
            StepChoice::Step(step) => format!("no step {step}"),
        };
        Error::new(ErrorKind::Usage, format!("this report has {wanted}: {range}"))
    })
}

fn step_row(
    report: &Report,
    curve: &[u64],
    position: usize,
    matched: Option<MatchedField>,
) -> Option<Step> {
    let facts = steps::facts(report, position)?;
    Some(Step {
        step: facts.step.0,
        program: facts.program.0,
        kind: facts.kind,
        name: facts.name,
        operation: facts.operation,
        not_always_live_bytes: curve.get(position).copied()?,
        matched,
    })
}

/// An operation on one line.
pub fn operation_text(operation: &Operation) -> String {
    let mut parts = vec![name_cell(operation.kind.as_deref().unwrap_or("not known"))];
    parts.extend(operation.name.as_deref().map(name_cell));
    parts.push(format!("({})", name_cell(&operation.layer)));
    if let Some(value) = operation.available_memory_proportion {
        parts.push(format!("availableMemoryProportion {value}"));
    }
    parts.extend(
        operation.location.as_deref().map(|location| format!("at {}", name_cell(location))),
    );
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::explanation::GroupedBy;
    use crate::analysis::consists::rows_of_moments;
    use crate::analysis::derived::Derived;
    use crate::store::{ArenaId, DeviceId};
    use crate::synth::story::{PROPORTIONS, directory_name, write_story};
    use rayon::prelude::*;

    /// What is alive at any step of the story consists of rows that add up to what the curve says.
    #[test]
    fn what_every_step_consists_of_adds_up() {
        let directory = tempfile::tempdir().expect("a directory");
        let progress = Progress::default();
        write_story(directory.path(), &progress).expect("the story");
        let checked: usize = PROPORTIONS
            .into_par_iter()
            .map(|proportion| {
                let path = directory.path().join(directory_name(proportion));
                let open = OpenReport::open(&path, &progress).expect("a report");
                open.read_all(&progress, |_| Vec::new()).expect("all of it");
                let derived = open.derived();
                let scopes = [
                    Scope::Everything,
                    Scope::Device(DeviceId(0)),
                    Scope::Arena(ArenaId(3)),
                    Scope::WorstArena,
                ];
                // On one tile every step; of all tiles some, for the time that it takes.
                let each = |scope: Scope| if scope.needs_arenas() { 1 } else { 320 };
                let check = |scope| check_steps(&derived, scope, each(scope));
                scopes.into_iter().map(check).sum::<usize>()
            })
            .sum();
        assert!(checked > 11_000, "{checked}");
    }

    fn check_steps(derived: &Derived, scope: Scope, each: usize) -> usize {
        let timeline = derived.timeline(scope, &|| false).expect("a curve");
        let curve = &timeline.curve;
        let steps = curve.not_always_live.len();
        for step in (0..steps).step_by(each) {
            let alive = Moment::alive(curve, scope, step).expect("bytes");
            let whole = curve.always_live.at(step).expect("bytes") + curve.not_always_live[step];
            let found = [Some(consists_of(derived, alive))];
            for by in
                [GroupedBy::Category, GroupedBy::Operation, GroupedBy::Module, GroupedBy::Variable]
            {
                let rows = rows_of_moments(&found, by).expect("rows");
                let sum: i64 = rows.iter().filter_map(|(_, bytes)| bytes[0]).sum();
                assert_eq!(u64::try_from(sum).ok(), Some(whole), "{scope:?} {step} {by:?}");
                assert!(rows.len() > 1, "{scope:?} {step} {by:?}");
            }
        }
        steps.div_ceil(each)
    }
}
