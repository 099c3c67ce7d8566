//! `tilescope liveness`: memory at every step, the peaks, and what is alive there.

mod text;
mod variables;

use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Serialize, Serializer};
use serde_json::Value;

use self::variables::VariablesToWrite;
use super::Input;
use super::output::arrow::{ArrowArgument, PrintedAs};
use super::output::{self, name_cell};
use super::scope::{ScopeArguments, scope_name, scope_of};
use super::summary::text::exact_cell_text;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::peaks::peaks;
use crate::analysis::liveness::timeline::Timeline;
use crate::analysis::liveness::{self, Scope, needs_bytes_by_tile};
use crate::analysis::program::operations::{Operation, OperationName};
use crate::analysis::program::steps::{self, Filter, MatchedField};
use crate::format::{Error, ErrorKind, Progress};
use crate::run::beside_curve::StepSaid;
use crate::run::{AliveBy, AliveVariables, Cell, DetailedVariable, GroupBytes, StepBytes};
use crate::store::{DeviceId, Report, StepId, System};
use crate::systems::system::{LatePart, OpenRun};

/// How many peaks the text lists when it is not told.
const PEAKS_IN_TEXT: usize = 10;

/// Answers for whatever system the run is of.
pub fn run(arguments: &LivenessArguments) -> ExitCode {
    let LivenessArguments { input, module, csv, arrow, .. } = arguments;
    let answer =
        |run: &dyn OpenRun, progress: &Progress| LivenessReport::of(run, arguments, progress);
    let printed = PrintedAs::of(*csv, arrow);
    output::answer_of_run(input, module.as_deref(), printed, answer, |_| None)
}

/// Arguments of `tilescope liveness`.
#[derive(Debug, Args)]
pub struct LivenessArguments {
    /// The run.
    #[command(flatten)]
    pub input: Input,
    /// List what is alive at this step, or at the peak. Steps are program steps, allocator events or positions in the
    /// schedule, numbered as in the answer.
    #[arg(long, value_name = "N|peak")]
    pub step: Option<StepChoice>,
    /// The part of the machine.
    #[command(flatten)]
    pub scope: ScopeArguments,
    /// The module to read where a run has several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Only steps whose kind, name or operation contains this text.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Group what is alive at --step by this. The groups add up to the bytes of the step.
    #[arg(long, requires = "step", value_name = "GROUP", value_parser = groupings())]
    pub by: Option<AliveBy>,
    /// List this many peaks, largest first.
    #[arg(long, value_name = "K")]
    pub peaks: Option<usize>,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line for each
    /// step; with --step for each variable that is alive there, with --by for each group.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print an Arrow stream instead.
    #[command(flatten)]
    pub arrow: ArrowArgument,
}

fn groupings() -> impl TypedValueParser<Value = AliveBy> {
    let of_key = |key: String| AliveBy::ALL.into_iter().find(|by| by.key() == key);
    // It takes no other keys.
    PossibleValuesParser::new(AliveBy::ALL.map(AliveBy::key))
        .map(move |key| of_key(key).unwrap_or(AliveBy::Variable))
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

/// `tilescope.liveness/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct LivenessReport {
    scope: String,
    limit_bytes: Option<u64>,
    always_live_bytes: Option<u64>,
    #[schemars(with = "Vec<StepRow>")]
    steps: StepsToWrite,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<StepRow>,
    /// What the step did, as far as only its system says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<SaidOfStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<DetailedVariable<'_>>>")]
    variables: Option<VariablesToWrite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<DetailedVariable<'_>>>")]
    always_live_variables: Option<VariablesToWrite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Groups>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peaks: Option<Vec<StepRow>>,
    /// For the text, which lists peaks also when it is not asked for them.
    #[serde(skip)]
    text_peaks: Vec<StepRow>,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    words: System,
    #[serde(skip)]
    note: Option<&'static str>,
}

/// What a step did, by names of its system.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct SaidOfStep {
    /// In a few words: `allocation`.
    title: String,
    /// The bytes that it was about.
    bytes: Option<u64>,
    /// Names with what they say.
    facts: Vec<SaidFact>,
    /// The calls that led there, the innermost first.
    stack: Vec<String>,
    #[serde(skip)]
    stack_title: &'static str,
}

/// A name with what it says: bytes and numbers as numbers, all else as text.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct SaidFact {
    name: &'static str,
    value: Value,
    #[serde(skip)]
    text: String,
}

impl SaidOfStep {
    fn of(said: StepSaid) -> Self {
        let fact = |(name, cell): (&'static str, Cell)| SaidFact {
            name,
            value: cell.to_json(),
            text: exact_cell_text(&cell),
        };
        Self {
            title: said.title,
            bytes: said.bytes,
            facts: said.facts.into_iter().map(fact).collect(),
            stack: said.stack.into_iter().map(|frame| frame.title).collect(),
            stack_title: said.stack_title,
        }
    }
}

/// What is alive at the step by groups, largest first; the rows add up to the bytes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Groups {
    group: AliveBy,
    bytes: u64,
    rows: Vec<GroupBytes>,
}

impl Groups {
    /// The rows with what each is of all, percent.
    fn percents(&self) -> impl Iterator<Item = (&GroupBytes, f64)> {
        let whole = self.bytes.max(1) as f64;
        self.rows.iter().map(move |row| (row, row.bytes as f64 * 100.0 / whole))
    }
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
struct StepRow {
    step: u32,
    program: u32,
    kind: Option<String>,
    name: Option<String>,
    /// The operation in words.
    operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_facts: Option<Operation>,
    bytes: u64,
    not_always_live_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<MatchedField>,
}

/// The rows of the steps that are listed, each made when it is written: a run may have millions.
#[derive(Debug)]
struct StepsToWrite {
    report: Arc<Report>,
    device: Option<DeviceId>,
    timeline: Arc<Timeline>,
    /// Those in which the filter found something; `None` where there is no filter.
    matched: Option<Vec<(usize, MatchedField)>>,
}

impl StepsToWrite {
    fn rows(&self) -> impl Iterator<Item = StepRow> + Clone {
        let found = self.matched.iter().flatten().map(|(step, field)| (*step, Some(*field)));
        let count = if self.matched.is_some() { 0 } else { self.timeline.len() };
        let all = (0..count).map(|step| (step, None));
        found.chain(all).filter_map(|(step, matched)| {
            step_row((&self.report, self.device), &self.timeline, step, matched)
        })
    }
}

impl Serialize for StepsToWrite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl LivenessReport {
    /// The curve of the scope that the arguments name.
    ///
    /// # Errors
    /// When the run has no liveness, `usage` for a step, device, arena or grouping that is not there.
    pub fn of(
        run: &dyn OpenRun,
        arguments: &LivenessArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        run.fill_report(progress);
        run.read_parts(&[LatePart::Operations], progress);
        let derived = run.derived();
        let report = derived.report();
        let scope = scope_of(derived, arguments.scope)?;
        let device = scope.device(report);
        let is_of_arenas = matches!(scope, Scope::Device(_) | Scope::Arena(_));
        if needs_bytes_by_tile(report, scope) || arguments.step.is_some() && is_of_arenas {
            run.read_parts(&[LatePart::ArenaVariables], progress);
        }
        let timeline = derived.timeline(scope, &|| progress.is_cancelled());
        let timeline = timeline.ok_or_else(|| no_curve(report, scope))?;
        let filter = arguments.filter.as_deref().map(Filter::new);
        let matched = |step: usize| match &filter {
            Some(filter) => filter.matches(report, device, step).map(Some),
            None => Some(None),
        };
        let row =
            |position: usize| step_row((report, device), &timeline, position, matched(position)?);
        let peaks_wanted = arguments.peaks.unwrap_or(PEAKS_IN_TEXT);
        let peaks = peaks(timeline.peak_curve());
        let peaks = peaks.iter().filter_map(|peak| row(peak.step));
        let peaks: Vec<StepRow> = peaks.take(peaks_wanted).collect();
        let chosen = arguments.step.map(|choice| chosen_step(report, &timeline, choice));
        let chosen = chosen.transpose()?;
        let at = chosen.map(|step| StepBytes {
            scope,
            step,
            always_live_bytes: timeline.always_live_at(step).unwrap_or(0),
            not_always_live_bytes: timeline.not_always_live_at(step),
        });
        let alive = at.map(|at| at.variables(derived.answers().alive(derived, &at)));
        let by = match (arguments.by, &at, &alive) {
            (Some(by), Some(at), Some(alive)) => {
                check_grouping(derived, scope, by)?;
                let late = [LatePart::ArenaVariables, LatePart::Compute, LatePart::PlacedVariables];
                run.read_parts(&late, progress);
                let rows = match by {
                    AliveBy::Variable => alive.rows(),
                    _ => derived.answers().alive_rows(derived, at, by),
                };
                Some(Groups { group: by, bytes: at.bytes(), rows: at.rows(rows) })
            }
            _ => None,
        };
        let (not_always_live, always_live) = alive
            .map(|AliveVariables { not_always_live, always_live }| {
                let to_write = |list| VariablesToWrite { derived: Arc::clone(derived), list };
                (to_write(not_always_live), to_write(always_live))
            })
            .unzip();
        let count = timeline.len();
        Ok(Self {
            scope: scope_name(report, scope),
            limit_bytes: derived.limit_bytes(scope),
            always_live_bytes: timeline.always_live_at(0),
            step: chosen.and_then(|step| step_row((report, device), &timeline, step, None)),
            steps: StepsToWrite {
                report: Arc::clone(report),
                device,
                matched: filter.as_ref().map(|_| {
                    let matched = |step| Some((step, matched(step)??));
                    (0..count).filter_map(matched).collect()
                }),
                timeline,
            },
            said: at
                .and_then(|at| derived.answers().step_said(derived, scope, at.step))
                .map(SaidOfStep::of),
            variables: not_always_live,
            always_live_variables: always_live,
            by,
            peaks: arguments.peaks.map(|_| peaks.clone()),
            text_peaks: peaks,
            is_filtered: filter.is_some(),
            words: report.system,
            note: liveness::replica_note(report.target.get()),
        })
    }
}

/// Why a scope has no curve.
fn no_curve(report: &Report, scope: Scope) -> Error {
    let why = liveness::why_no_curve(report, scope).filter(|absence| absence.is_explained());
    match why {
        Some(absence) => {
            let error = Error::new(ErrorKind::NotAReport, absence.what.clone());
            error.in_file(&report.path).hint(absence.hint.clone())
        }
        None => {
            let message = format!("the liveness of {} cannot be read", scope_name(report, scope));
            let hint = "The warnings say what is wrong; tilescope summary has what is known.";
            Error::new(ErrorKind::Damaged, message).in_file(&report.path).hint(hint)
        }
    }
}

/// Refuses a grouping that runs of the system do not have, with those that they have.
fn check_grouping(derived: &Derived, scope: Scope, by: AliveBy) -> Result<(), Error> {
    let all = derived.answers().alive_groupings(derived, scope);
    if all.contains(&by) {
        return Ok(());
    }
    let known: Vec<&str> = all.into_iter().map(AliveBy::key).collect();
    let message = format!("what is alive in this run cannot be grouped by {}", by.key());
    Err(Error::new(ErrorKind::Usage, message)
        .hint(format!("It can be grouped by: {}.", known.join(", "))))
}

fn chosen_step(report: &Report, timeline: &Timeline, choice: StepChoice) -> Result<usize, Error> {
    let steps = report.steps.get().and_then(|steps| steps.ids.as_slice().get(..timeline.len()));
    let found = match choice {
        StepChoice::Peak => timeline.peak,
        StepChoice::Step(step) => steps.and_then(|ids| ids.binary_search(&StepId(step)).ok()),
    };
    found.ok_or_else(|| {
        let System { step_in_text, steps: plural, .. } = report.system;
        let range = steps.and_then(|ids| ids.first().zip(ids.last()));
        let range = range.map_or_else(
            || format!("it has no {plural}"),
            |(first, last)| format!("its {plural} are {first} to {last}"),
        );
        let wanted = match choice {
            StepChoice::Peak => "no peak".to_owned(),
            StepChoice::Step(step) => format!("no {step_in_text} {step}"),
        };
        Error::new(ErrorKind::Usage, format!("this run has {wanted}: {range}"))
    })
}

fn step_row(
    (report, device): (&Report, Option<DeviceId>),
    timeline: &Timeline,
    position: usize,
    matched: Option<MatchedField>,
) -> Option<StepRow> {
    let facts = steps::facts(report, device, position)?;
    let words = |operation: &Operation| match (&operation.kind, &operation.name) {
        (None, Some(name)) => name.clone(),
        _ => OperationName::of(operation).in_words(),
    };
    Some(StepRow {
        step: facts.step.0,
        program: facts.program.0,
        kind: facts.kind,
        name: facts.name,
        operation: facts.operation.as_ref().map(words),
        operation_facts: facts.operation,
        bytes: timeline.alive_at(position),
        not_always_live_bytes: timeline.not_always_live_at(position),
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
