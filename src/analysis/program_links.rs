//! Links from the programs of a compilation step: their operations, and the steps that visit them.
//!
//! The operation of a program is that of its debug context ([`crate::analysis::program::operations`]). Steps are
//! visits to programs of the final compilation step. The highest visit of a program is the step with the most bytes
//! alive there that are not always live, of the whole system, the first of equals.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::comparison::owners::Owners;
use super::derived::Derived;
use super::liveness::Scope;
use super::liveness::timeline::Timeline;
use super::program::compiled_programs::CompiledPrograms;
use super::program::operations::Operation;
use super::program::step_operations::FoundOperations;
use super::program::tree::TreeShape;
use crate::store::list_at;
use crate::store::names::NameId;

/// Stands for no step.
const NONE: u32 = u32::MAX;
/// Programs or steps that are gone through before it is asked whether to stop.
const PROGRAMS_PER_LOOK: usize = 8192;

/// What all programs of a compilation step lead to; worked out once.
#[derive(Debug)]
pub struct ProgramLinks {
    /// Where they lie in the tree.
    pub shape: TreeShape,
    /// [`CompiledPrograms::tree_hash`].
    pub tree_hash: u64,
    /// What belongs to operations in the final compilation step.
    pub owners: Arc<Owners>,
    timeline: Option<Arc<Timeline>>,
    /// Of an earlier compilation step all operations, and for each program its own.
    of_earlier: Option<(Vec<Operation>, Vec<Option<u32>>)>,
    steps: Vec<u32>,
    step_ends: Vec<usize>,
    /// For each program its highest visit; [`NONE`] of one that no step visits.
    highest_visits: Vec<u32>,
    /// The kinds of the programs, rows of [`crate::store::program::Programs::kind_names`], with how many there are of
    /// each, most first; `None` is a kind that the file does not name.
    pub kinds: Vec<(Option<NameId>, usize)>,
}

impl ProgramLinks {
    /// Those of a compilation step of a run; `None` where it has no programs there, or nobody waits for it any more.
    pub fn of(
        derived: &Derived,
        compilation_step: usize,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let report = derived.report();
        let compiled = CompiledPrograms::at(report, compilation_step)?;
        let shape = TreeShape::of(compiled.programs, compiled.tree, is_cancelled)?;
        let owners = derived.owners();
        let of_earlier = match report.debug.get() {
            Some(debug) if !compiled.is_final() => {
                let mut found = FoundOperations::new(debug, owners.operations(), None);
                let mut of_program = Vec::new();
                for ids in compiled.programs.debug_ids.chunks(PROGRAMS_PER_LOOK) {
                    if is_cancelled() {
                        return None;
                    }
                    of_program.extend(ids.iter().map(|id| found.of_context(*id)));
                }
                Some((found.operations, of_program))
            }
            _ => None,
        };
        let (steps, step_ends) = steps_by_program(&compiled, is_cancelled)?;
        let timeline = derived.timeline(Scope::Everything, is_cancelled);
        let mut counts: BTreeMap<Option<NameId>, usize> = BTreeMap::new();
        for kind in &compiled.programs.kinds {
            let count = counts.entry(*kind).or_default();
            *count = count.saturating_add(1);
        }
        let mut kinds: Vec<_> = counts.into_iter().collect();
        kinds.sort_by_key(|(_, count)| Reverse(*count));
        let mut links = Self {
            shape,
            tree_hash: compiled.tree_hash(),
            owners,
            timeline,
            of_earlier,
            steps,
            step_ends,
            kinds,
            highest_visits: Vec::new(),
        };
        for program in 0..compiled.programs.ids.len() {
            if program.is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
                return None;
            }
            links.highest_visits.push(links.find_highest(program));
        }
        (!is_cancelled()).then_some(links)
    }

    /// The operation of a program, with its number.
    pub fn operation(&self, program: usize) -> Option<(u32, &Operation)> {
        let number = self.number_of(program)?;
        let operations = self.of_earlier.as_ref().map(|(operations, _)| &**operations);
        Some((number, operations.unwrap_or(self.owners.operations()).get(number as usize)?))
    }

    fn number_of(&self, program: usize) -> Option<u32> {
        match &self.of_earlier {
            Some((_, of_program)) => *of_program.get(program)?,
            None => self.owners.of_program(program),
        }
    }

    /// Whether a program is of an operation.
    pub fn is_of(&self, program: usize, operation: u32) -> bool {
        self.number_of(program) == Some(operation)
    }

    /// The programs of an operation, in the order of their first places.
    pub fn programs_of(&self, operation: u32) -> Vec<u32> {
        let all = self.shape.order().iter().copied();
        all.filter(|program| self.is_of(*program as usize, operation)).collect()
    }

    /// The steps that visit a program, ascending.
    pub fn steps_of(&self, program: usize) -> &[u32] {
        list_at(&self.steps, &self.step_ends, program)
    }

    /// The bytes at a step that are not always live; `None` where the report has no curve.
    pub fn alive_at(&self, step: usize) -> Option<u64> {
        Some(self.timeline.as_ref()?.not_always_live_at(step))
    }

    /// The most of them at any step.
    pub fn highest(&self) -> Option<u64> {
        Some(self.timeline.as_ref()?.highest)
    }

    fn find_highest(&self, program: usize) -> u32 {
        let visits = self.steps_of(program).iter();
        let visits = visits.map(|step| (*step, self.alive_at(*step as usize)));
        let highest =
            visits.reduce(|highest, visit| if visit.1 > highest.1 { visit } else { highest });
        highest.map_or(NONE, |(step, _)| step)
    }

    /// The highest visit of a program, with its bytes where they are known.
    pub fn highest_visit(&self, program: usize) -> Option<(usize, Option<u64>)> {
        let step = *self.highest_visits.get(program).filter(|step| **step != NONE)? as usize;
        Some((step, self.alive_at(step)))
    }

    /// Of some programs that with the highest visit, and its step.
    pub fn highest_of(&self, programs: &[u32]) -> Option<(usize, usize)> {
        let visits = programs.iter().filter_map(|program| {
            let (step, bytes) = self.highest_visit(*program as usize)?;
            Some((*program as usize, step, bytes?))
        });
        let highest = visits.reduce(|highest, visit| {
            let is_higher = (visit.2, highest.1) > (highest.2, visit.1);
            if is_higher { visit } else { highest }
        });
        highest.map(|(program, step, _)| (program, step))
    }
}

/// The steps sorted by program, and where each program's end.
fn steps_by_program(
    compiled: &CompiledPrograms<'_>,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<(Vec<u32>, Vec<usize>)> {
    let mut ends = vec![0_usize; compiled.programs.ids.len()];
    let steps = compiled.report.steps.get().filter(|_| compiled.is_final());
    let visits = || steps.into_iter().flat_map(|steps| &steps.programs);
    let row = |program| compiled.programs.ids.position(program);
    for (place, program) in visits().enumerate() {
        if place.is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
            return None;
        }
        if let Some(count) = row(*program).and_then(|row| ends.get_mut(row)) {
            *count = count.saturating_add(1);
        }
    }
    let mut all = 0_usize;
    for end in &mut ends {
        all = all.saturating_add(std::mem::replace(end, all));
    }
    let mut sorted = vec![0; all];
    for (step, program) in (0_u32..).zip(visits()) {
        if (step as usize).is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
            return None;
        }
        if let Some(next) = row(*program).and_then(|row| ends.get_mut(row))
            && let Some(place) = sorted.get_mut(*next)
        {
            *place = step;
            *next = next.saturating_add(1);
        }
    }
    // Each start has moved up to its end.
    Some((sorted, ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::analysis::fixture;
    use crate::analysis::program::tree::tests::{programs, tree};
    use crate::store::liveness::{Deltas, Liveness};
    use crate::store::program::ProgramTrees;
    use crate::store::{ProgramId, Report};

    #[test]
    fn programs_lead_to_operations_and_to_their_highest_visit() {
        let report = Report::default();
        let mut list = programs(&[vec![1, 2], vec![], vec![]]);
        list.debug_ids = vec![0, 1, 2];
        let mut steps = fixture::steps(5);
        steps.programs = [0, 2, 1, 2, 9].map(ProgramId).to_vec();
        let everything = vec![(1, 5), (2, 7), (3, -2)];
        report.steps.fill(Some(steps));
        report.deltas.fill(Some(Deltas { everything, ..Deltas::default() }));
        report.liveness.fill(Some(Liveness::default()));
        report.debug.fill(Some(fixture::contexts([("convolution", "a"), ("matMul", "b")])));
        report.programs.fill(Some(list));
        report.program_trees.fill(Some(ProgramTrees { steps: vec![tree(&[0], &[])] }));
        let derived = Derived::new(Arc::new(report));
        let links = ProgramLinks::of(&derived, 0, &|| false).expect("programs");
        let of_program: Vec<&[u32]> = (0..4).map(|program| links.steps_of(program)).collect();
        assert_eq!(of_program, [&[0][..], &[2], &[1, 3], &[]]);
        assert_eq!(links.highest_visit(2), Some((3, Some(10))));
        assert_eq!(links.highest_of(&[0, 2, 1]), Some((1, 2)));
        assert_eq!((links.highest(), links.highest_visit(3)), (Some(12), None));
        let (number, operation) = links.operation(1).expect("an operation");
        assert_eq!(operation.kind.as_deref(), Some("convolution"));
        assert_eq!((links.programs_of(number), links.operation(0)), (vec![1], None));
        assert!(ProgramLinks::of(&derived, 1, &|| false).is_none());
        assert!(ProgramLinks::of(&derived, 0, &|| true).is_none());
    }
}
