//! Operations of both reports that are computed in another way: those whose plan has changed.
//!
//! A plan has changed where both reports have whole debug information and the steps of an operation differ in
//! number, vertices or kinds (definitions.md); steps of different kinds are never matched. Where one of them lacks
//! debug information, or has a part of it, nothing is known: then steps lack names, not plans.

use std::cmp::Reverse;

use super::attribution::Attribution;
use super::contribution::OperationName;
use super::owners::{Owned, Owners};
use crate::analysis::comparison::matching::Matching;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::step_operations::StepOperations;
use crate::store::Report;

/// An operation of both reports. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is called in the source.
    pub name: OperationName,
    /// Number of its steps.
    pub steps: Difference,
    /// Pairs of its steps.
    pub matched_steps: u64,
    /// Its steps at which most is not always live, the first of equals.
    pub peak_steps: [Option<usize>; 2],
    /// Not-always-live bytes of everything there.
    pub peak: Difference,
    /// Code of its internal exchanges, bytes.
    pub exchange_code: Difference,
    /// Its control code, bytes.
    pub control_code: Difference,
    pub vertices: Difference,
    /// Its `availableMemoryProportion` in the source and in the target.
    pub proportions: [Option<f64>; 2],
}

impl Plan {
    /// Steps of the source without a partner among those of the target's operation.
    pub fn only_source(&self) -> u64 {
        self.left(self.steps.source)
    }

    /// Steps of the target without a partner.
    pub fn only_target(&self) -> u64 {
        self.left(self.steps.target)
    }

    fn left(&self, steps: Option<i64>) -> u64 {
        let steps = steps.and_then(|steps| u64::try_from(steps).ok()).unwrap_or(0);
        steps.saturating_sub(self.matched_steps)
    }

    /// Whether it is computed in another way.
    pub fn has_changed(&self) -> bool {
        let differs = self.vertices.change().is_some_and(|change| change != 0);
        self.only_source() > 0 || self.only_target() > 0 || differs
    }

    /// Whether it is known that it is the same to the last byte of its code.
    fn is_same(&self) -> bool {
        let is_same = |figure: &Difference| figure.change() == Some(0);
        // Not every compiler says how much control code a program has.
        let has_same_code = is_same(&self.exchange_code) && self.control_code.is_equal();
        !self.has_changed() && is_same(&self.vertices) && has_same_code
    }
}

/// The plans of two reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plans {
    /// Operations that are computed in another way, largest change of their peak first, then in the order of
    /// the source.
    pub changed: Vec<Plan>,
    /// Operations that both reports have.
    pub operations: usize,
    /// Whether both have the same operations, each with the same steps, vertices and code.
    pub are_equal: bool,
}

/// The plans of two reports; `None` where one of them lacks debug information or has a part of it. The curves
/// are the not-always-live bytes at each step.
pub fn plans(
    reports: [&Report; 2],
    curves: [&[u64]; 2],
    attribution: &Attribution,
    matching: &Matching,
) -> Option<Plans> {
    if !reports.iter().all(|report| report.has_whole_debug_info()) {
        return None;
    }
    let sides = Side::BOTH.map(|side| {
        let operations = side.of(matching.step_operations.each_ref());
        PlanSide::of(side.of(reports), side.of(curves), attribution.owners(side), operations)
    });
    let plan = |pair: (usize, usize)| plan(pair, &sides, matching);
    let all: Vec<Plan> = matching.operations.iter().filter_map(plan).collect();
    let counts = matching.operations.counts();
    let are_same_operations = counts.only_source == 0 && counts.only_target == 0;
    let operations = all.len();
    let are_equal = operations > 0 && are_same_operations && all.iter().all(Plan::is_same);
    let mut changed: Vec<Plan> = all.into_iter().filter(Plan::has_changed).collect();
    changed.sort_by_key(|plan| Reverse(plan.peak.magnitude()));
    Some(Plans { changed, operations, are_equal })
}

/// What one report has of its operations, by position.
struct PlanSide<'a> {
    operations: &'a StepOperations,
    curve: &'a [u64],
    exchange_code: Option<Vec<u64>>,
    control_code: Option<Vec<u64>>,
    vertices: Option<Vec<u64>>,
}

impl<'a> PlanSide<'a> {
    fn of(
        report: &Report,
        curve: &'a [u64],
        owners: &Owners,
        operations: &'a StepOperations,
    ) -> Self {
        let by_operation = |rows: Vec<Owned>| {
            let mut sums = vec![0_u64; operations.operations.len()];
            for (owner, amount) in rows {
                let cell = owner.and_then(|owner| sums.get_mut(owner as usize));
                if let (Some(cell), Some(amount)) = (cell, amount) {
                    *cell = cell.saturating_add(amount);
                }
            }
            sums
        };
        let everywhere = TileSelection::default();
        let exchange_code = owners.exchange_code(report, &everywhere).map(by_operation);
        let control_code = owners.control_code(report, &everywhere).map(by_operation);
        let vertices = report.compute_sets.get().map(|sets| {
            let of_sets = owners.compute_sets.iter().copied().zip(sets.vertices.iter().copied());
            by_operation(of_sets.collect())
        });
        Self { operations, curve, exchange_code, control_code, vertices }
    }

    /// The step of an operation at which most is alive, and the bytes.
    fn peak(&self, operation: u32) -> Option<(usize, u64)> {
        let steps = self.operations.steps_of(operation).iter().map(|step| *step as usize);
        let alive = steps.filter_map(|step| Some((*self.curve.get(step)?, Reverse(step))));
        alive.max().map(|(bytes, Reverse(step))| (step, bytes))
    }

    fn proportion(&self, operation: u32) -> Option<f64> {
        self.operations.operations.get(operation as usize)?.available_memory_proportion
    }
}

fn plan(pair: (usize, usize), sides: &[PlanSide<'_>; 2], matching: &Matching) -> Option<Plan> {
    let [source, target] = sides;
    let (s, t) = (u32::try_from(pair.0).ok()?, u32::try_from(pair.1).ok()?);
    let of_source = source.operations.steps_of(s);
    let count = |steps: &[u32]| Some(steps.len() as u64);
    let is_matched = |step: &&u32| {
        let partner = matching.steps.target_of(**step as usize);
        partner.is_some_and(|partner| target.operations.of_step.get(partner) == Some(&Some(t)))
    };
    let peaks = [source.peak(s), target.peak(t)];
    let of = |column: &Option<Vec<u64>>, operation: u32| {
        column.as_ref().and_then(|cells| cells.get(operation as usize).copied())
    };
    Some(Plan {
        name: OperationName::of(source.operations.operations.get(pair.0)?),
        steps: Difference::of([count(of_source), count(target.operations.steps_of(t))]),
        matched_steps: of_source.iter().filter(is_matched).count() as u64,
        peak_steps: peaks.map(|peak| peak.map(|(step, _)| step)),
        peak: Difference::of(peaks.map(|peak| peak.map(|(_, bytes)| bytes))),
        exchange_code: Difference::of([of(&source.exchange_code, s), of(&target.exchange_code, t)]),
        control_code: Difference::of([of(&source.control_code, s), of(&target.control_code, t)]),
        vertices: Difference::of([of(&source.vertices, s), of(&target.vertices, t)]),
        proportions: [source.proportion(s), target.proportion(t)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::fixture::{Content, matching, report};
    use crate::store::report::Part;

    /// Operations fc and, from step 3 on, conv.
    fn content() -> Content {
        Content {
            contexts: vec!["fc", "conv"],
            variables: vec![(1, 0)],
            classes: vec![(1, 3), (4, 5)],
            cells: vec![(0, 0, 2, 0, 8, 0), (1, 0, 3, 0, 50, 0)],
            steps: vec![1, 1, 1, 2, 2, 0],
            code: vec![[4, 0, 0, 0]; 4],
            state: vec![[1, 0, 0, 0]; 3],
            control: Vec::new(),
            surplus: 0,
        }
    }

    fn changed(source: &Content, target: &Content) -> Vec<Plan> {
        found([report(source), report(target)]).expect("whole debug information").changed
    }

    fn found([source, target]: [Report; 2]) -> Option<Plans> {
        let matching = matching(&source, &target, &[(0, 0), (1, 1)]);
        let attribution = Attribution::of([&source, &target], &matching);
        let curves: [&[u64]; 2] = [&[0, 8, 8, 0, 50, 0], &[0, 8, 9, 0, 90, 0]];
        plans([&source, &target], curves, &attribution, &matching)
    }

    #[test]
    fn steps_and_vertices_tell_that_a_plan_has_changed_and_code_that_it_is_equal() {
        let source = content();
        assert!(changed(&source, &source).is_empty(), "other bytes alone are no other plan");
        let mut target = content();
        target.steps = vec![1, 1, 2, 2, 2, 0];
        let found = changed(&source, &target);
        let names: Vec<_> = found.iter().map(|plan| plan.name.name.as_deref()).collect();
        assert_eq!(names, [Some("conv"), Some("fc")], "the largest change of the peak first");
        let (conv, fc) = (&found[0], &found[1]);
        assert_eq!((fc.steps.source, fc.steps.target, fc.matched_steps), (Some(3), Some(2), 2));
        assert_eq!((fc.only_source(), fc.only_target()), (1, 0));
        assert_eq!((conv.only_source(), conv.only_target()), (0, 1));
        assert_eq!((conv.peak_steps, conv.peak.change()), ([Some(4), Some(4)], Some(40)));
        assert_eq!((fc.peak_steps, fc.peak.change()), ([Some(1), Some(1)], Some(0)));
        let mut target = content();
        target.code[3] = [4, 5, 0, 0];
        let are_equal = |source: &Content, target: &Content| {
            super::tests::found([report(source), report(target)]).expect("known").are_equal
        };
        assert!(changed(&source, &target).is_empty(), "the same steps with other code");
        assert!(are_equal(&source, &source) && !are_equal(&source, &target));
        let mut target = content();
        target.control = vec![[0; 4], [0, 0, 9, 0]];
        assert!(changed(&source, &target).is_empty() && !are_equal(&source, &target));
        let mut target = content();
        target.state[1] = [3, 0, 0, 0];
        let found = changed(&source, &target);
        assert_eq!((found.len(), found[0].vertices.change()), (1, Some(2)));
    }

    #[test]
    fn where_debug_information_of_one_is_cut_or_absent_plans_are_not_known() {
        for is_absent in [true, false] {
            let mut lacking = report(&content());
            let mut debug = lacking.debug.get().cloned().expect("debug information");
            debug.is_cut = true;
            lacking.debug = Part::default();
            lacking.debug.fill((!is_absent).then_some(debug));
            assert_eq!(found([report(&content()), lacking]), None);
        }
    }
}
