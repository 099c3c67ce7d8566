//! The operation of every step: that of the step's program ([`crate::analysis::program::operations`]). Operations of the
//! same layer, kind and name count as one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::store::Report;
use crate::store::debug_info::DebugInfo;
use crate::store::list_at;

use crate::analysis::program::operations::{
    Operation, OperationName, debug_name, naming_context_of, operation_of,
};

/// The operations of all steps, by step and by operation. Steps are positions in
/// [`crate::store::program::Steps`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOperations {
    /// For each step its operation, a position in `operations`; `None` where it belongs to none.
    pub of_step: Vec<Option<u32>>,
    /// The operations in the order in which they first come. Detail, option and location are those
    /// of the first step of each.
    pub operations: Vec<Operation>,
    /// The steps of all operations, end to end, ascending within each.
    steps: Vec<u32>,
    /// Where each operation's steps end in `steps`.
    ends: Vec<usize>,
    /// The layer whose operations they are; `None` of the layer that names each best.
    pub layer: Option<Arc<str>>,
}

impl StepOperations {
    /// Of each step a position in `operations`, which all are below their number.
    pub(crate) fn new(of_step: Vec<Option<u32>>, operations: Vec<Operation>) -> Self {
        let (steps, ends) = by_operation(&of_step, operations.len());
        Self { of_step, operations, steps, ends, layer: None }
    }

    /// The operation of a step.
    pub fn at(&self, step: usize) -> Option<&Operation> {
        self.operations.get((*self.of_step.get(step)?)? as usize)
    }

    /// The operations of a name, positions in `operations`.
    pub fn named(&self, wanted: &OperationName) -> Vec<usize> {
        let operations = self.operations.iter().enumerate();
        let is_wanted = |(_, operation): &(usize, &Operation)| wanted.is_of(operation);
        operations.filter(is_wanted).map(|(place, _)| place).collect()
    }

    /// The steps of an operation, ascending.
    pub fn steps_of(&self, operation: u32) -> &[u32] {
        list_at(&self.steps, &self.ends, operation as usize)
    }
}

/// The operations of all steps; `None` where steps, programs or debug contexts are absent.
pub fn step_operations(report: &Report) -> Option<StepOperations> {
    step_operations_of(report, None)
}

/// The same of one layer.
pub fn step_operations_of(report: &Report, layer: Option<&Arc<str>>) -> Option<StepOperations> {
    let (steps, programs) = (report.steps.get()?, report.programs.get()?);
    let mut found = FoundOperations::new(report.debug.get()?, &[], layer);
    let of_step: Vec<Option<u32>> = steps
        .programs
        .iter()
        .map(|program| {
            let row = programs.ids.position(*program)?;
            found.of_context(*programs.debug_ids.get(row)?)
        })
        .collect();
    let operations = StepOperations::new(of_step, found.operations);
    Some(StepOperations { layer: layer.cloned(), ..operations })
}

pub(crate) struct FoundOperations<'a> {
    debug: &'a DebugInfo,
    layer: Option<&'a str>,
    /// By debug context id: each is looked up once, however many steps it has.
    of_context: HashMap<u64, Option<u32>>,
    /// By layer, kind and name.
    by_key: HashMap<(&'a str, Option<&'a str>, Option<&'a str>), u32>,
    pub(crate) operations: Vec<Operation>,
}

impl<'a> FoundOperations<'a> {
    /// Goes on from operations that are known already.
    pub(crate) fn new(
        debug: &'a DebugInfo,
        known: &'a [Operation],
        layer: Option<&'a Arc<str>>,
    ) -> Self {
        let key = |operation: &'a Operation| {
            (&*operation.layer, operation.kind.as_deref(), operation.name.as_deref())
        };
        let by_key = known.iter().map(key).zip(0..).collect();
        let layer = layer.map(|layer| &**layer);
        Self { debug, layer, of_context: HashMap::new(), by_key, operations: known.to_vec() }
    }

    /// The operation of a debug context, by its id; 0 is no context.
    pub(crate) fn of_context(&mut self, id: u64) -> Option<u32> {
        if id == 0 {
            return None;
        }
        if let Some(known) = self.of_context.get(&id) {
            return *known;
        }
        let operation = self.look_up(id);
        self.of_context.insert(id, operation);
        operation
    }

    fn look_up(&mut self, id: u64) -> Option<u32> {
        let debug = self.debug;
        let context = debug.position(id)?;
        let named_by = naming_context_of(debug, context, self.layer)?;
        let name = debug_name(debug, context, named_by, self.layer);
        let key = (debug.layer(named_by), debug.kind(named_by), name);
        if let Some(known) = self.by_key.get(&key) {
            return Some(*known);
        }
        let new = u32::try_from(self.operations.len()).ok()?;
        self.operations.push(operation_of(debug, context, self.layer)?);
        self.by_key.insert(key, new);
        Some(new)
    }
}

/// The steps sorted by operation, and where each operation's end.
fn by_operation(of_step: &[Option<u32>], operations: usize) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0_usize; operations];
    for operation in of_step.iter().flatten() {
        if let Some(count) = starts.get_mut(*operation as usize) {
            *count += 1;
        }
    }
    let mut all = 0;
    for start in &mut starts {
        all += std::mem::replace(start, all);
    }
    let mut steps = vec![0; all];
    for (step, operation) in (0_u32..).zip(of_step) {
        let next = operation.and_then(|operation| starts.get_mut(operation as usize));
        if let Some(next) = next
            && let Some(place) = steps.get_mut(*next)
        {
            *place = step;
            *next += 1;
        }
    }
    // Each start has moved up to its end.
    (steps, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture;
    use crate::store::ProgramId;
    use crate::store::program::Programs;

    /// Contexts 1, 2, 3 … without parents, each a PopLibs call or, without a kind, Poplar's own;
    /// programs 0, 1, 2 … with contexts, and steps with programs.
    fn report(contexts: &[(&str, &str)], programs: &[u64], visits: &[u32]) -> Report {
        let mut list = Programs::default();
        for (program, id) in (0..).zip(programs) {
            assert!(list.ids.push(ProgramId(program)));
            list.debug_ids.push(*id);
        }
        let mut steps = fixture::steps(visits.len() as u32);
        steps.programs = visits.iter().copied().map(ProgramId).collect();
        let report = Report::default();
        report.debug.fill(Some(fixture::contexts(contexts.iter().copied())));
        report.programs.fill(Some(list));
        report.steps.fill(Some(steps));
        report
    }

    #[test]
    fn operations_of_one_kind_and_name_are_one() {
        let contexts = [("matMul", "fc"), ("", "code"), ("matMul", "fc"), ("matMul", "fc2")];
        let report = report(&contexts, &[1, 2, 3, 4, 0, 99], &[0, 2, 3, 1, 4, 5, 9, 0]);
        let found = step_operations(&report).expect("operations");
        let of_step = [Some(0), Some(0), Some(1), None, None, None, None, Some(0)];
        assert_eq!(found.of_step, of_step);
        assert_eq!(found.steps_of(0), [0, 1, 7]);
        assert_eq!(found.steps_of(1), [2]);
        assert!(found.steps_of(2).is_empty() && found.at(3).is_none());
        let name = found.at(2).and_then(|operation| operation.name.as_deref());
        assert_eq!((found.operations.len(), name), (2, Some("fc2")));
        assert_eq!(step_operations(&Report::default()), None);
    }

    proptest! {
        #[test]
        fn every_step_is_where_it_belongs(
            contexts in proptest::collection::vec(
                (proptest::sample::select(vec!["", "matMul", "cast"]),
                 proptest::sample::select(vec!["a", "b"])), 0..6),
            programs in proptest::collection::vec(0..8_u64, 1..6),
            visits in proptest::collection::vec(0..7_u32, 0..40),
        ) {
            let report = report(&contexts, &programs, &visits);
            let found = step_operations(&report).expect("operations");
            prop_assert_eq!(found.of_step.len(), visits.len());
            let mut seen = 0;
            for operation in 0..found.operations.len() as u32 {
                let steps = found.steps_of(operation);
                prop_assert!(!steps.is_empty() && steps.is_sorted());
                for step in steps {
                    prop_assert_eq!(found.of_step[*step as usize], Some(operation));
                }
                seen += steps.len();
            }
            prop_assert_eq!(seen, found.of_step.iter().flatten().count());
            for step in 0..visits.len() {
                let facts = super::super::steps::facts(&report, None, step).expect("facts");
                let named = |operation: &Operation| (operation.kind.clone(), operation.name.clone());
                prop_assert_eq!(facts.operation.as_ref().map(named), found.at(step).map(named));
            }
        }
    }
}
