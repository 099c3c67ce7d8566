//! Steps: what a step does, and the filter over steps.
//!
//! The name of a step is its program's, or for an `OnTileExecute` its compute set's; empty is none.
//! The filter is a case-insensitive part of the program's name or kind, its compute set's name, or
//! its operation's kind or name (definitions.md).

use crate::store::Report;
use crate::store::debug_info::DebugInfo;
use crate::store::exchange::ExchangeId;
use crate::store::{ComputeSetId, ProgramId, StepId};

use crate::analysis::program::operations::{Operation, operation_of_program};

/// A step with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFacts {
    /// The step.
    pub step: StepId,
    /// Its program.
    pub program: ProgramId,
    /// The program's kind; `None` when the file does not name it.
    pub kind: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// The operation that it belongs to.
    pub operation: Option<Operation>,
}

/// What is known of the step at a position.
pub fn facts(report: &Report, step: usize) -> Option<StepFacts> {
    let steps = report.steps.get()?;
    let (id, program) = (steps.ids.get(step)?, *steps.programs.get(step)?);
    let place = report
        .programs
        .get()
        .and_then(|programs| Some((programs, programs.ids.position(program)?)));
    Some(StepFacts {
        step: id,
        program,
        kind: place.and_then(|(programs, row)| programs.kind(row)).map(str::to_owned),
        name: name(report, step).map(str::to_owned),
        operation: place
            .and_then(|(programs, row)| operation_of_program(report.debug.get(), programs, row)),
    })
}

/// The name of the step at a position.
pub fn name(report: &Report, step: usize) -> Option<&str> {
    compute_set_name(report, step).or_else(|| program_name(report, step))
}

fn program_row(report: &Report, step: usize) -> Option<usize> {
    report.programs.get()?.ids.position(*report.steps.get()?.programs.get(step)?)
}

fn program_name(report: &Report, step: usize) -> Option<&str> {
    let row = program_row(report, step)?;
    report.programs.get()?.names.at(row).filter(|name| !name.is_empty())
}

/// The compute set that the step at a position runs.
pub fn compute_set(report: &Report, step: usize) -> Option<ComputeSetId> {
    *report.programs.get()?.compute_sets.get(program_row(report, step)?)?
}

/// The exchange that the step at a position runs.
pub fn exchange(report: &Report, step: usize) -> Option<ExchangeId> {
    *report.programs.get()?.exchanges.get(program_row(report, step)?)?
}

fn compute_set_name(report: &Report, step: usize) -> Option<&str> {
    let compute_set = compute_set(report, step)?;
    let compute_sets = report.compute_sets.get()?;
    compute_sets.names.at(compute_sets.ids.position(compute_set)?).filter(|name| !name.is_empty())
}

/// The field of a step that a filter found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedField {
    /// The program's name.
    Name,
    /// The program's kind.
    Kind,
    /// The compute set's name.
    ComputeSet,
    /// The operation's kind.
    OperationKind,
    /// The operation's name.
    OperationName,
}

/// A text to look for, in lower case.
#[derive(Clone, Debug)]
pub struct Filter(String);

impl Filter {
    /// Looks for `text`, whatever its case.
    pub fn new(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    /// Whether a text has the filter's text in it.
    pub fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.0)
    }

    /// The first field of the step at a position that matches.
    pub fn matches(&self, report: &Report, step: usize) -> Option<MatchedField> {
        let found = |text: Option<&str>| text.is_some_and(|text| self.is_in(text));
        let row = program_row(report, step);
        if found(program_name(report, step)) {
            return Some(MatchedField::Name);
        }
        if found(row.and_then(|row| report.programs.get()?.kind(row))) {
            return Some(MatchedField::Kind);
        }
        if found(compute_set_name(report, step)) {
            return Some(MatchedField::ComputeSet);
        }
        let debug: &DebugInfo = report.debug.get()?;
        let operation = operation_of_program(Some(debug), report.programs.get()?, row?)?;
        if found(operation.kind.as_deref()) {
            return Some(MatchedField::OperationKind);
        }
        found(operation.name.as_deref()).then_some(MatchedField::OperationName)
    }
}
/// How many steps are looked at before it is asked whether to stop.
const STEPS_PER_LOOK: usize = 1024;

/// The positions of the steps that match, ascending; cancelled, those found by then.
pub fn matching_steps(
    report: &Report,
    filter: &Filter,
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<u32> {
    let steps = report.steps.get().map_or(0, |steps| steps.ids.len());
    let mut found = Vec::new();
    for step in 0..steps {
        if step % STEPS_PER_LOOK == 0 && is_cancelled() {
            break;
        }
        if filter.matches(report, step).is_some() {
            found.extend(u32::try_from(step).ok());
        }
    }
    found
}
