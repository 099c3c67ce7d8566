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
    /// Where parts begin, and behind the last its end; within a part each step has one slot or several.
    Stretched(Vec<Corner>),
}

/// Where a part of a run begins on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Corner {
    slot: usize,
    step: usize,
}

impl Corner {
    /// The part that has a slot or a step, by what corners are searched by.
    fn part(corners: &[Self], is_until: impl Fn(&Self) -> bool) -> Option<[Self; 2]> {
        let first = corners.partition_point(is_until).checked_sub(1)?;
        Some([*corners.get(first)?, *corners.get(first.checked_add(1)?)?])
    }
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

    /// Runs of so many steps meet at landmarks, for each of which `landmarks` has the step in each run, ascending in every
    /// run. A part between two is as long as the run needs that has the most steps there, and steps of the others are
    /// stretched; what lies before the first and after the last is not.
    pub fn by_landmarks(lens: &[usize], landmarks: &[Vec<u32>]) -> Self {
        let step = |mark: usize, run: usize| {
            landmarks.get(mark).and_then(|steps| steps.get(run)).map_or(0, |step| *step as usize)
        };
        let longest = |of: &dyn Fn(usize) -> usize| (0..lens.len()).map(of).max().unwrap_or(0);
        let mut slot = longest(&|run| step(0, run));
        let mut slots = vec![slot];
        for mark in 1..landmarks.len() {
            slot += longest(&|run| step(mark, run).saturating_sub(step(mark - 1, run)));
            slots.push(slot);
        }
        let corners = |(run, len): (usize, &usize)| {
            let first = slots.first().map_or(0, |slot| slot.saturating_sub(step(0, run)));
            let mut corners = vec![Corner { slot: first, step: 0 }];
            corners.extend(
                (0..landmarks.len())
                    .zip(&slots)
                    .map(|(mark, slot)| Corner { slot: *slot, step: step(mark, run) }),
            );
            corners.dedup_by_key(|corner| corner.step);
            if let Some(Corner { slot, step }) = corners.last().copied().filter(|at| at.step < *len)
            {
                corners.push(Corner { slot: slot + (len - step), step: *len });
            }
            RunSteps::Stretched(corners)
        };
        let runs: Vec<RunSteps> = lens.iter().enumerate().map(corners).collect();
        let mut axis = Self { runs, len: 0 };
        axis.len = longest(&|run| axis.end(run));
        axis
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
            RunSteps::Stretched(corners) => {
                let [from, to] = Corner::part(corners, |corner| corner.slot <= slot)?;
                let along = (slot - from.slot) * (to.step - from.step) / (to.slot - from.slot);
                Some(from.step + along)
            }
        }
    }

    /// The step of a run in a slot; where it has none there, the one before.
    pub fn step_at_or_before(&self, run: usize, slot: usize) -> Option<usize> {
        match self.runs.get(run)? {
            RunSteps::Same(len) => len.checked_sub(1).map(|last| slot.min(last)),
            RunSteps::Placed { slots, .. } => {
                slots.partition_point(|at| *at as usize <= slot).checked_sub(1)
            }
            RunSteps::Stretched(corners) => {
                let last = corners.last().filter(|end| end.slot <= slot);
                last.map_or_else(|| self.step(run, slot), |end| end.step.checked_sub(1))
            }
        }
    }

    /// As [`Self::step_at_or_before`], but `None` behind its last step, where its curve ends.
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
            Some(RunSteps::Stretched(corners)) => corners.last().map_or(0, |end| end.slot),
        }
    }

    /// The slot of a step; behind the last step of a run its end.
    pub fn slot_or_end(&self, run: usize, step: usize) -> usize {
        self.slot(run, step).unwrap_or(self.end(run))
    }

    /// The slot of a step, the first where it has several.
    pub fn slot(&self, run: usize, step: usize) -> Option<usize> {
        match self.runs.get(run)? {
            RunSteps::Same(len) => (step < *len).then_some(step),
            RunSteps::Placed { slots, .. } => at(slots, step),
            RunSteps::Stretched(corners) => {
                let [from, to] = Corner::part(corners, |corner| corner.step <= step)?;
                let along = (step - from.step) * (to.slot - from.slot);
                Some(from.slot + along.div_ceil(to.step - from.step))
            }
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

    #[test]
    fn between_landmarks_the_shorter_run_is_stretched() {
        // Heads end together; tails begin together and are not stretched.
        let axis = StepAxis::by_landmarks(&[7, 9], &[vec![1, 2], vec![3, 6]]);
        let expected = [
            [None, Some(0)],
            [Some(0), Some(1)],
            [Some(1), Some(2)],
            [Some(1), Some(3)],
            [Some(2), Some(4)],
            [Some(2), Some(5)],
            [Some(3), Some(6)],
            [Some(4), Some(7)],
            [Some(5), Some(8)],
            [Some(6), None],
        ];
        assert_eq!(slots(&axis), expected);
        assert_eq!((axis.end(1), axis.step_until_end(1, 9), axis.slot(0, 2)), (9, None, Some(4)));
        assert_eq!((axis.step_at_or_before(1, 9), axis.step_at_or_before(0, 0)), (Some(8), None));
    }

    proptest! {
        #[test]
        fn landmarks_meet_and_every_step_has_a_slot(
            parts in proptest::collection::vec((1..9_usize, 1..9_usize), 1..6),
            heads in (0..4_usize, 0..4_usize),
        ) {
            let mut at = [heads.0, heads.1];
            let mut landmarks = vec![at.map(|step| step as u32).to_vec()];
            for part in &parts {
                at = [at[0] + part.0, at[1] + part.1];
                landmarks.push(at.map(|step| step as u32).to_vec());
            }
            let lens = [at[0] + 3, at[1] + 1];
            let axis = StepAxis::by_landmarks(&lens, &landmarks);
            for mark in &landmarks {
                prop_assert_eq!(axis.slot(0, mark[0] as usize), axis.slot(1, mark[1] as usize));
            }
            for (run, len) in lens.into_iter().enumerate() {
                let mut seen: Vec<usize> =
                    (0..axis.len()).filter_map(|slot| axis.step(run, slot)).collect();
                prop_assert!(seen.is_sorted());
                seen.dedup();
                prop_assert_eq!(seen, (0..len).collect::<Vec<_>>());
                for step in 0..len {
                    let slot = axis.slot(run, step).expect("a slot");
                    prop_assert_eq!(axis.step(run, slot), Some(step));
                    prop_assert!(slot == 0 || axis.step(run, slot - 1) != Some(step));
                }
                prop_assert_eq!(axis.slot(run, len), None);
            }
        }

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
