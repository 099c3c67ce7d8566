//! Steps: what a step does, and the filter over steps.
//!
//! The name of a step is its program's, or for an `OnTileExecute` its compute set's; empty is none.
//! Where each device has steps of its own, they are those of the device that is named.
//! The filter is a case-insensitive part of the program's name or kind, its compute set's name, or
//! its operation's kind or name (definitions.md).

use crate::store::Report;
use crate::store::debug_info::DebugInfo;
use crate::store::exchange::ExchangeId;
use crate::store::{ComputeSetId, DeviceId, ProgramId, StepId};

use crate::analysis::program::operations::{Operation, PROPORTION, operation_of_program};
use crate::analysis::program::step_operations::StepOperations;

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
    /// Whether operations are known, or known not to be there; `None` where the run lists none.
    pub has_operations: Option<bool>,
}

/// The name of the fact that says what a step belongs to.
pub const OPERATION: &str = "Operation";

/// Something that is known of a step, for people: which facts there are depends on the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFact {
    /// Name, operation, an option of it …; the same for all steps of a system.
    pub name: &'static str,
    /// In words.
    pub value: String,
    /// What tells equal words apart where there is room for it: the layer of an operation.
    pub detail: Option<String>,
}

impl StepFacts {
    /// What is known besides number and kind, in the order in which people read it. A fact that the
    /// step does not have is left out, but for its operation where the run lists operations.
    pub fn list(&self) -> Vec<StepFact> {
        let operation = self.operation.as_ref();
        let words = match (operation, self.has_operations) {
            (Some(operation), _) => Some(operation.title().to_owned()),
            (None, Some(true)) => Some("None known".to_owned()),
            (None, Some(false)) => Some("Debug information is being read".to_owned()),
            (None, None) => None,
        };
        let named = operation.filter(|operation| operation.kind.is_some());
        let layer = named.map(|operation| operation.layer.clone());
        let proportion = operation.and_then(|operation| operation.available_memory_proportion);
        [
            ("Name", self.name.clone()),
            (OPERATION, words),
            ("Operation name", operation.and_then(|operation| operation.name.clone())),
            (PROPORTION, proportion.map(|value| value.to_string())),
            ("Line of code", operation.and_then(|operation| operation.location.clone())),
        ]
        .into_iter()
        .filter_map(|(name, value)| {
            let detail = layer.clone().filter(|_| name == OPERATION);
            Some(StepFact { name, value: value?, detail })
        })
        .collect()
    }
}

/// The names of the facts of several steps, each once, in the order of the lists.
pub fn fact_names(lists: &[Vec<StepFact>]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for list in lists {
        let mut next = 0;
        for StepFact { name, .. } in list {
            match names.iter().position(|known| known == name) {
                Some(place) => next = place + 1,
                None => {
                    names.insert(next, name);
                    next += 1;
                }
            }
        }
    }
    names
}

/// What is known of the step at a position.
pub fn facts(report: &Report, of: Option<DeviceId>, step: usize) -> Option<StepFacts> {
    let (id, program) = (report.steps.get()?.ids.get(step)?, program(report, of, step)?);
    let place = report
        .programs
        .get()
        .and_then(|programs| Some((programs, programs.ids.position(program)?)));
    Some(StepFacts {
        step: id,
        program,
        kind: place.and_then(|(programs, row)| programs.kind(row)).map(str::to_owned),
        name: name(report, of, step).map(str::to_owned),
        operation: place
            .and_then(|(programs, row)| operation_of_program(report.debug.get(), programs, row)),
        has_operations: match report.debug.get() {
            Some(debug) if debug.ids.is_empty() => None,
            _ => Some(report.debug.is_settled()),
        },
    })
}

/// The name of the step at a position.
pub fn name(report: &Report, of: Option<DeviceId>, step: usize) -> Option<&str> {
    compute_set_name(report, step).or_else(|| program_name(report, of, step))
}

/// What people know the step at a position by: the name of its operation, else its own; empty without one.
pub fn title(
    report: &Report,
    operations: Option<&StepOperations>,
    of: Option<DeviceId>,
    step: usize,
) -> String {
    let operation = operations.and_then(|all| all.at(step)?.name.clone());
    let name = operation.or_else(|| name(report, of, step).map(str::to_owned));
    name.unwrap_or_default()
}

fn program(report: &Report, of: Option<DeviceId>, step: usize) -> Option<ProgramId> {
    report.steps.get()?.programs_of(of).get(step).copied()
}

fn program_row(report: &Report, of: Option<DeviceId>, step: usize) -> Option<usize> {
    report.programs.get()?.ids.position(program(report, of, step)?)
}

fn program_name(report: &Report, of: Option<DeviceId>, step: usize) -> Option<&str> {
    let row = program_row(report, of, step)?;
    report.programs.get()?.names.at(row).filter(|name| !name.is_empty())
}

/// The compute set that the step at a position runs.
pub fn compute_set(report: &Report, step: usize) -> Option<ComputeSetId> {
    *report.programs.get()?.compute_sets.get(program_row(report, None, step)?)?
}

/// The exchange that the step at a position runs.
pub fn exchange(report: &Report, step: usize) -> Option<ExchangeId> {
    *report.programs.get()?.exchanges.get(program_row(report, None, step)?)?
}

fn compute_set_name(report: &Report, step: usize) -> Option<&str> {
    let compute_set = compute_set(report, step)?;
    let compute_sets = report.compute_sets.get()?;
    compute_sets.names.at(compute_sets.ids.position(compute_set)?).filter(|name| !name.is_empty())
}

/// The field of a step that a filter found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchedField {
    Name,
    Kind,
    ComputeSet,
    OperationKind,
    OperationName,
}

/// A text to look for, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Filter(String);

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
    pub fn matches(
        &self,
        report: &Report,
        of: Option<DeviceId>,
        step: usize,
    ) -> Option<MatchedField> {
        let found = |text: Option<&str>| text.is_some_and(|text| self.is_in(text));
        let row = program_row(report, of, step);
        if found(program_name(report, of, step)) {
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

/// The positions of the steps that match, ascending; canceled, those found by then.
pub(crate) fn matching_steps(
    report: &Report,
    of: Option<DeviceId>,
    filter: &Filter,
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<u32> {
    let steps = report.steps.get().map_or(0, |steps| steps.count_of(of));
    let mut found = Vec::new();
    for step in 0..steps {
        if step % STEPS_PER_LOOK == 0 && is_cancelled() {
            break;
        }
        if filter.matches(report, of, step).is_some() {
            found.extend(u32::try_from(step).ok());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_several_steps_keep_their_order() {
        let operation = Operation {
            kind: Some("convolution".to_owned()),
            layer: "poplibs".to_owned(),
            available_memory_proportion: Some(0.6),
            location: Some("model.py:7".to_owned()),
            ..Operation::default()
        };
        let facts = |name: Option<&str>, operation| StepFacts {
            step: StepId(3),
            program: ProgramId(4),
            kind: None,
            name: name.map(str::to_owned),
            operation,
            has_operations: Some(true),
        };
        let lists = [facts(None, None).list(), facts(Some("a"), Some(operation)).list()];
        assert_eq!(
            lists[0],
            [StepFact { name: OPERATION, value: "None known".to_owned(), detail: None }]
        );
        let values: Vec<&str> = lists[1].iter().map(|fact| &*fact.value).collect();
        assert_eq!(values, ["a", "convolution", "0.6", "model.py:7"]);
        assert_eq!(lists[1][1].detail.as_deref(), Some("poplibs"));
        let names = ["Name", "Operation", "availableMemoryProportion", "Line of code"];
        assert_eq!(fact_names(&lists), names);
    }
}
