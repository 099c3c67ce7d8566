//! A common axis for the steps of two reports: slots in order, each with a step of the source, one of
//! the target, or both. A gap between two pairs has the source's steps first, then the target's.

use super::pairs::{Pairs, Sureness};

/// Stands where a slot has no step, or a step no slot.
const NONE: u32 = u32::MAX;

/// The slots. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedSteps {
    /// For each slot its step of the source.
    sources: Vec<u32>,
    /// For each slot its step of the target.
    targets: Vec<u32>,
    /// For each step of the source its slot.
    slots_of_source: Vec<u32>,
    /// For each step of the target its slot.
    slots_of_target: Vec<u32>,
}

impl AlignedSteps {
    /// Steps that are a pair share a slot. Pairs that would turn the order around do not.
    pub fn by_matching(steps: &Pairs, source_len: usize, target_len: usize) -> Self {
        let mut slots = Self::default();
        for (source, target) in
            steps.iter().filter(|pair| pair.0 < source_len && pair.1 < target_len)
        {
            if target >= slots.slots_of_target.len() {
                slots.advance(source, target);
                slots.push(true, true);
            }
        }
        slots.advance(source_len, target_len);
        slots
    }

    /// The first step of one with the first of the other, and so on.
    pub fn by_index(source_len: usize, target_len: usize) -> Self {
        let mut slots = Self::default();
        let both = source_len.min(target_len);
        (0..both).for_each(|_| slots.push(true, true));
        slots.advance(source_len, target_len);
        slots
    }

    /// Gives the steps before these slots of their own.
    fn advance(&mut self, source: usize, target: usize) {
        (self.slots_of_source.len()..source).for_each(|_| self.push(true, false));
        (self.slots_of_target.len()..target).for_each(|_| self.push(false, true));
    }

    /// A slot with the next step of the sides that have one.
    fn push(&mut self, source: bool, target: bool) {
        let number = |place: usize| u32::try_from(place).unwrap_or(NONE);
        let slot = number(self.sources.len());
        let (of_source, of_target) = (&mut self.slots_of_source, &mut self.slots_of_target);
        self.sources.push(if source { number(of_source.len()) } else { NONE });
        self.targets.push(if target { number(of_target.len()) } else { NONE });
        of_source.extend(source.then_some(slot));
        of_target.extend(target.then_some(slot));
    }

    /// The steps that share a slot.
    pub fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::new(self.slots_of_source.len(), self.slots_of_target.len());
        for slot in 0..self.len() {
            if let (Some(source), Some(target)) = (self.source_at(slot), self.target_at(slot)) {
                pairs.pair(source, target, Sureness::Exact);
            }
        }
        pairs
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The step of the source in a slot.
    pub fn source_at(&self, slot: usize) -> Option<usize> {
        at(&self.sources, slot)
    }

    /// The step of the target in a slot.
    pub fn target_at(&self, slot: usize) -> Option<usize> {
        at(&self.targets, slot)
    }

    /// The step of the source in a slot; where it has none there, the one before.
    pub fn source_at_or_before(&self, slot: usize) -> Option<usize> {
        self.slots_of_source.partition_point(|at| *at as usize <= slot).checked_sub(1)
    }

    /// The step of the target in a slot; where it has none there, the one before.
    pub fn target_at_or_before(&self, slot: usize) -> Option<usize> {
        self.slots_of_target.partition_point(|at| *at as usize <= slot).checked_sub(1)
    }

    /// The slot of a step of the source.
    pub fn slot_of_source(&self, step: usize) -> Option<usize> {
        at(&self.slots_of_source, step)
    }

    /// The slot of a step of the target.
    pub fn slot_of_target(&self, step: usize) -> Option<usize> {
        at(&self.slots_of_target, step)
    }
}

fn at(column: &[u32], row: usize) -> Option<usize> {
    column.get(row).filter(|value| **value != NONE).map(|value| *value as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(aligned: &AlignedSteps) -> Vec<(Option<usize>, Option<usize>)> {
        (0..aligned.len()).map(|slot| (aligned.source_at(slot), aligned.target_at(slot))).collect()
    }

    #[test]
    fn pairs_share_a_slot() {
        let mut pairs = Pairs::new(3, 4);
        assert!(pairs.pair(0, 1, Sureness::Exact) && pairs.pair(2, 2, Sureness::Weak));
        let aligned = AlignedSteps::by_matching(&pairs, 3, 4);
        let expected = [
            (None, Some(0)),
            (Some(0), Some(1)),
            (Some(1), None),
            (Some(2), Some(2)),
            (None, Some(3)),
        ];
        assert_eq!(slots(&aligned), expected);
        assert_eq!(aligned.pairs().iter().collect::<Vec<_>>(), [(0, 1), (2, 2)]);
        assert_eq!((aligned.slot_of_source(2), aligned.slot_of_target(3)), (Some(3), Some(4)));
        assert_eq!((aligned.slot_of_source(3), aligned.source_at(9)), (None, None));
        let expected = [(Some(0), Some(0)), (Some(1), None)];
        assert_eq!(slots(&AlignedSteps::by_index(2, 1)), expected);
        assert!(AlignedSteps::by_index(0, 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_step_has_one_slot_in_order(
            wanted in proptest::collection::vec((0..12_usize, 0..12_usize), 0..12),
            (source_len, target_len) in (0..12_usize, 0..12_usize),
        ) {
            // Pairs may cross and lie beyond the end: the slots come out in order all the same.
            let mut pairs = Pairs::new(12, 12);
            for (source, target) in wanted {
                pairs.pair(source, target, Sureness::Exact);
            }
            let aligned = AlignedSteps::by_matching(&pairs, source_len, target_len);
            let slots = slots(&aligned);
            prop_assert!(slots.iter().all(|slot| slot.0.is_some() || slot.1.is_some()));
            let sources: Vec<usize> = slots.iter().filter_map(|slot| slot.0).collect();
            let targets: Vec<usize> = slots.iter().filter_map(|slot| slot.1).collect();
            prop_assert_eq!(sources, (0..source_len).collect::<Vec<_>>());
            prop_assert_eq!(targets, (0..target_len).collect::<Vec<_>>());
            for (place, (source, target)) in slots.iter().enumerate() {
                if let Some(source) = *source {
                    prop_assert_eq!(aligned.slot_of_source(source), Some(place));
                }
                if let Some(target) = *target {
                    prop_assert_eq!(aligned.slot_of_target(target), Some(place));
                }
            }
        }
    }
}
