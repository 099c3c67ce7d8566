//! A common axis for the steps of several runs: slots in order, each with a step of one run or of several. For one run
//! it is the identity.
//!
//! Steps are matched with those of the first run, the reference: what is matched with a step of the
//! reference lies in its slot. Steps that are matched with none have slots of their own, those of the
//! reference first, then those of the other runs in their order, before the next common slot.

use super::matching::Pairs;

/// Stands where a slot has no step, or a step no slot.
const NONE: u32 = u32::MAX;

/// The slots. Steps are positions in [`crate::store::program::Steps`], runs positions in the list that
/// the axis was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepAxis {
    runs: Vec<RunSteps>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RunSteps {
    /// Step and slot have the same number, as far as there are steps.
    Same(usize),
    /// For each slot its step, and for each step its slot.
    Placed { steps: Vec<u32>, slots: Vec<u32> },
}

impl StepAxis {
    /// The first step of each run together, then the second, and so on.
    pub fn by_index(lens: &[usize]) -> Self {
        let len = lens.iter().copied().max().unwrap_or(0);
        Self { runs: lens.iter().map(|len| RunSteps::Same(*len)).collect(), len }
    }

    /// Steps that are a pair with the same step of the reference share a slot. Pairs that would turn
    /// the order around do not. `others` are the runs after the reference, each with the pairs of the
    /// reference's steps and its own, and its number of steps.
    pub fn by_matching(reference_len: usize, others: &[(&Pairs, usize)]) -> Self {
        let mut axis = Builder::new(others.len().saturating_add(1));
        for step in 0..reference_len {
            let partner = |(run, (pairs, len)): (usize, &(&Pairs, usize))| {
                let partner = pairs.target_of(step).filter(|partner| partner < len)?;
                (partner >= axis.slots.get(run.saturating_add(1))?.len()).then_some(partner)
            };
            let partners: Vec<_> = others.iter().enumerate().map(partner).collect();
            for (run, partner) in (1..).zip(&partners) {
                if let Some(partner) = partner {
                    axis.advance(run, *partner);
                }
            }
            let has_step = |run: usize| {
                run.checked_sub(1).is_none_or(|run| partners.get(run).is_some_and(Option::is_some))
            };
            axis.push(has_step);
        }
        for (run, (_, len)) in (1..).zip(others) {
            axis.advance(run, *len);
        }
        axis.finish()
    }

    /// Of one run, the step that stands for each slot and the slot that each step lies in; both ascending.
    pub fn of_slots(steps: Vec<u32>, slots: Vec<u32>) -> Self {
        let len = steps.len();
        Self { runs: vec![RunSteps::Placed { steps, slots }], len }
    }

    /// Whether slots and steps of the only run are the same.
    pub fn is_identity(&self) -> bool {
        matches!(&*self.runs, [RunSteps::Same(_)])
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The step of a run in a slot.
    pub fn step(&self, run: usize, slot: usize) -> Option<usize> {
        match self.runs.get(run)? {
            RunSteps::Same(len) => (slot < *len).then_some(slot),
            RunSteps::Placed { steps, .. } => at(steps, slot),
        }
    }

    /// The step of a run in a slot; where it has none there, the one before.
    pub fn step_at_or_before(&self, run: usize, slot: usize) -> Option<usize> {
        match self.runs.get(run)? {
            RunSteps::Same(len) => len.checked_sub(1).map(|last| slot.min(last)),
            RunSteps::Placed { slots, .. } => {
                slots.partition_point(|at| *at as usize <= slot).checked_sub(1)
            }
        }
    }

    /// The same; `None` behind its last step, where its curve ends.
    pub fn step_until_end(&self, run: usize, slot: usize) -> Option<usize> {
        self.step_at_or_before(run, slot).filter(|_| slot < self.end(run))
    }

    /// The slot behind the last step of a run.
    pub fn end(&self, run: usize) -> usize {
        match self.runs.get(run) {
            None => 0,
            Some(RunSteps::Same(len)) => *len,
            Some(RunSteps::Placed { slots, .. }) => {
                slots.last().map_or(0, |slot| (*slot as usize).saturating_add(1))
            }
        }
    }

    /// The slot of a step; behind the last step of a run its end.
    pub fn slot_or_end(&self, run: usize, step: usize) -> usize {
        self.slot(run, step).unwrap_or(self.end(run))
    }

    pub fn slot(&self, run: usize, step: usize) -> Option<usize> {
        match self.runs.get(run)? {
            RunSteps::Same(len) => (step < *len).then_some(step),
            RunSteps::Placed { slots, .. } => at(slots, step),
        }
    }
}

/// An axis that grows slot by slot.
struct Builder {
    /// For each run and slot its step.
    steps: Vec<Vec<u32>>,
    /// For each run and step its slot.
    slots: Vec<Vec<u32>>,
    len: usize,
}

impl Builder {
    fn new(runs: usize) -> Self {
        Self { steps: vec![Vec::new(); runs], slots: vec![Vec::new(); runs], len: 0 }
    }

    /// Gives the steps of a run before `end` slots of their own.
    fn advance(&mut self, run: usize, end: usize) {
        let done = self.slots.get(run).map_or(end, Vec::len);
        (done..end).for_each(|_| self.push(|other| other == run));
    }

    /// A slot with the next step of the runs that have one.
    fn push(&mut self, has_step: impl Fn(usize) -> bool) {
        let number = |place: usize| u32::try_from(place).unwrap_or(NONE);
        for (run, (steps, slots)) in self.steps.iter_mut().zip(&mut self.slots).enumerate() {
            if has_step(run) {
                steps.push(number(slots.len()));
                slots.push(number(self.len));
            } else {
                steps.push(NONE);
            }
        }
        self.len = self.len.saturating_add(1);
    }

    fn finish(self) -> StepAxis {
        let placed = |(steps, slots)| RunSteps::Placed { steps, slots };
        let runs = self.steps.into_iter().zip(self.slots).map(placed).collect();
        StepAxis { runs, len: self.len }
    }
}

fn at(column: &[u32], row: usize) -> Option<usize> {
    column.get(row).filter(|value| **value != NONE).map(|value| *value as usize)
}

#[cfg(test)]
mod tests {
    use super::super::matching::Sureness;
    use super::*;
    use proptest::prelude::*;

    fn slots(axis: &StepAxis) -> Vec<Vec<Option<usize>>> {
        let of_slot = |slot| (0..axis.runs()).map(|run| axis.step(run, slot)).collect();
        (0..axis.len()).map(of_slot).collect()
    }

    #[test]
    fn pairs_share_a_slot() {
        let mut pairs = Pairs::new(3, 4);
        assert!(pairs.pair(0, 1, Sureness::Exact) && pairs.pair(2, 2, Sureness::Weak));
        let axis = StepAxis::by_matching(3, &[(&pairs, 4)]);
        let expected = [
            [None, Some(0)],
            [Some(0), Some(1)],
            [Some(1), None],
            [Some(2), Some(2)],
            [None, Some(3)],
        ];
        assert_eq!(slots(&axis), expected);
        assert_eq!((axis.slot(0, 2), axis.slot(1, 3)), (Some(3), Some(4)));
        assert_eq!((axis.slot(0, 3), axis.step(0, 9)), (None, None));
        assert_eq!((axis.step_at_or_before(0, 0), axis.step_at_or_before(0, 2)), (None, Some(1)));
        let expected = [vec![Some(0), Some(0)], vec![Some(1), None]];
        assert_eq!(slots(&StepAxis::by_index(&[2, 1])), expected);
        assert_eq!(StepAxis::by_index(&[0, 0]).len(), 0);
    }

    #[test]
    fn three_runs_meet_where_the_reference_has_a_partner() {
        let (mut first, mut second) = (Pairs::new(2, 3), Pairs::new(2, 2));
        assert!(first.pair(0, 1, Sureness::Exact) && first.pair(1, 2, Sureness::Exact));
        assert!(second.pair(1, 0, Sureness::Exact));
        let axis = StepAxis::by_matching(2, &[(&first, 3), (&second, 2)]);
        let expected = [
            [None, Some(0), None],
            [Some(0), Some(1), None],
            [Some(1), Some(2), Some(0)],
            [None, None, Some(1)],
        ];
        assert_eq!(slots(&axis), expected);
    }

    #[test]
    fn of_one_run_step_and_slot_are_the_same() {
        let axis = StepAxis::by_index(&[3]);
        assert_eq!((axis.len(), axis.step(0, 2), axis.slot(0, 2)), (3, Some(2), Some(2)));
        assert_eq!((axis.step(0, 3), axis.step_at_or_before(0, 7)), (None, Some(2)));
    }

    proptest! {
        #[test]
        fn every_step_has_one_slot_in_order(
            wanted in proptest::collection::vec((0..12_usize, 0..12_usize), 0..12),
            also in proptest::collection::vec((0..12_usize, 0..12_usize), 0..12),
            lens in (0..12_usize, 0..12_usize, 0..12_usize),
        ) {
            // Pairs may cross and lie beyond the end: the slots come out in order all the same.
            let pairs = [wanted, also].map(|wanted| {
                let mut pairs = Pairs::new(12, 12);
                for (source, target) in wanted {
                    pairs.pair(source, target, Sureness::Exact);
                }
                pairs
            });
            let [first, second] = &pairs;
            let axis = StepAxis::by_matching(lens.0, &[(first, lens.1), (second, lens.2)]);
            let slots = slots(&axis);
            prop_assert!(slots.iter().all(|slot| slot.iter().any(Option::is_some)));
            for (run, len) in [lens.0, lens.1, lens.2].into_iter().enumerate() {
                let steps: Vec<usize> = slots.iter().filter_map(|slot| slot[run]).collect();
                prop_assert_eq!(steps, (0..len).collect::<Vec<_>>());
                for (slot, steps) in slots.iter().enumerate() {
                    if let Some(step) = steps[run] {
                        prop_assert_eq!(axis.slot(run, step), Some(slot));
                    }
                }
            }
        }
    }
}
