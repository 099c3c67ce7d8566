//! Curves and peaks of two reports on the axis that their steps share ([`AlignedSteps`]).
//!
//! - Curve: in a slot without a step of the report it keeps the value of the step before; before the
//!   first step it is 0.
//! - Peaks of both: a peak of the source and one of the target ([`super::peaks`]) are one where both
//!   last in a slot that has a step of each; of several the largest, and the first such slot. A peak
//!   without such a partner stands beside the bytes of the other report in the first slot of the
//!   peak that has a step of both, else alone, in its first slot. Largest first, by the larger of
//!   both figures, then by slot.

use std::cmp::Reverse;
use std::ops::Range;

use super::matching::AlignedSteps;
use super::peaks::Peak;

/// A curve by slot; `step_in` is the step of the report in a slot.
pub fn in_slots(slots: usize, step_in: impl Fn(usize) -> Option<usize>, curve: &[u64]) -> Vec<u64> {
    let mut now = 0;
    (0..slots)
        .map(|slot| {
            if let Some(bytes) = step_in(slot).and_then(|step| curve.get(step)) {
                now = *bytes;
            }
            now
        })
        .collect()
}

/// The slots that are wanted, as ranges.
pub fn slots_where(slots: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for slot in (0..slots).filter(|slot| is_wanted(*slot)) {
        let Ok(slot) = u32::try_from(slot) else { break };
        match ranges.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => ranges.push(slot..slot + 1),
        }
    }
    ranges
}

/// A peak of one report or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotPeak {
    /// Its slot.
    pub slot: usize,
    /// Bytes of the source; `None` where it has no step there.
    pub source: Option<u64>,
    /// Bytes of the target; `None` where it has no step there.
    pub target: Option<u64>,
}

impl SlotPeak {
    /// The larger of both figures.
    pub fn most(&self) -> u64 {
        self.source.max(self.target).unwrap_or(0)
    }
}

/// The peaks of both reports; curves and peaks are those of the source and of the target, by step.
pub fn slot_peaks(
    axis: &AlignedSteps,
    curves: [&[u64]; 2],
    [sources, targets]: [&[Peak]; 2],
) -> Vec<SlotPeak> {
    let last_of = |peak: &Peak| (peak.step + peak.steps).saturating_sub(1);
    let of_source = sources.iter().filter_map(|peak| {
        Some(axis.slot_of_source(peak.step)?..axis.slot_of_source(last_of(peak))? + 1)
    });
    let of_target = targets.iter().filter_map(|peak| {
        let slots = axis.slot_of_target(peak.step)?..axis.slot_of_target(last_of(peak))? + 1;
        Some(Place { slots, bytes: peak.bytes, is_taken: false })
    });
    let mut of_target: Vec<Place> = of_target.collect();
    of_target.sort_unstable_by_key(|place| place.slots.start);
    let mut found: Vec<usize> = Vec::with_capacity(sources.len() + targets.len());
    for slots in of_source {
        let first = of_target.partition_point(|place| place.slots.end <= slots.start);
        let near = of_target.get_mut(first..).unwrap_or(&mut []);
        let near = near.iter_mut().take_while(|place| place.slots.start < slots.end);
        let shared = near.filter(|place| !place.is_taken).filter_map(|place| {
            let both = place.slots.start.max(slots.start)..place.slots.end.min(slots.end);
            Some((first_of_both(axis, both)?, place))
        });
        let partner = shared.max_by_key(|(slot, place)| (place.bytes, Reverse(*slot)));
        found.push(match partner {
            Some((slot, place)) => {
                place.is_taken = true;
                slot
            }
            None => first_of_both(axis, slots.clone()).unwrap_or(slots.start),
        });
    }
    let alone = of_target.iter().filter(|place| !place.is_taken);
    found.extend(
        alone.map(|place| first_of_both(axis, place.slots.clone()).unwrap_or(place.slots.start)),
    );
    let [source, target] = curves;
    let bytes = |curve: &[u64], step: Option<usize>| curve.get(step?).copied();
    let mut peaks: Vec<SlotPeak> = found
        .into_iter()
        .map(|slot| SlotPeak {
            slot,
            source: bytes(source, axis.source_at(slot)),
            target: bytes(target, axis.target_at(slot)),
        })
        .collect();
    peaks.sort_unstable_by_key(|peak| (Reverse(peak.most()), peak.slot));
    peaks
}

/// A peak of the target on the axis.
struct Place {
    slots: Range<usize>,
    bytes: u64,
    is_taken: bool,
}

/// The first slot of a range that has a step of both.
fn first_of_both(axis: &AlignedSteps, mut slots: Range<usize>) -> Option<usize> {
    slots.find(|slot| axis.source_at(*slot).is_some() && axis.target_at(*slot).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::matching::{Pairs, Sureness};
    use crate::analysis::peaks::peaks;

    fn axis(pairs: &[(usize, usize)], lens: [usize; 2]) -> AlignedSteps {
        let mut matched = Pairs::new(lens[0], lens[1]);
        for (source, target) in pairs {
            assert!(matched.pair(*source, *target, Sureness::Exact));
        }
        AlignedSteps::by_matching(&matched, lens[0], lens[1])
    }

    fn both(axis: &AlignedSteps, source: &[u64], target: &[u64]) -> Vec<SlotPeak> {
        slot_peaks(axis, [source, target], [&peaks(source), &peaks(target)])
    }

    #[test]
    fn peaks_of_matched_steps_are_one_though_the_numbers_differ() {
        // Slots: 0 both, 1 and 2 target only, 3 both (the spike), 4 source only, 5 both.
        let axis = axis(&[(0, 0), (1, 3), (3, 4)], [4, 5]);
        let (source, target) = ([1, 90, 5, 2], [1, 7, 1, 60, 3]);
        let only_target = slots_where(axis.len(), |slot| axis.source_at(slot).is_none());
        assert_eq!(only_target, [1..3]);
        let in_source = in_slots(axis.len(), |slot| axis.source_at(slot), &source);
        assert_eq!(in_source, [1, 1, 1, 90, 5, 2]);
        let expected = [
            SlotPeak { slot: 3, source: Some(90), target: Some(60) },
            SlotPeak { slot: 1, source: None, target: Some(7) },
        ];
        assert_eq!(both(&axis, &source, &target), expected);
    }

    #[test]
    fn a_long_peak_belongs_to_the_largest_of_the_others() {
        let axis = axis(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)], [5, 5]);
        let expected = [
            SlotPeak { slot: 3, source: Some(9), target: Some(8) },
            SlotPeak { slot: 1, source: Some(9), target: Some(4) },
        ];
        assert_eq!(both(&axis, &[9, 9, 9, 9, 0], &[1, 4, 1, 8, 1]), expected);
    }

    proptest! {
        #[test]
        fn no_peak_is_lost_and_none_comes_twice(
            source in proptest::collection::vec(0..6_u64, 1..24),
            target in proptest::collection::vec(0..6_u64, 1..24),
            wanted in proptest::collection::vec((0..24_usize, 0..24_usize), 0..24),
        ) {
            let mut pairs = Pairs::new(source.len(), target.len());
            for (of_source, of_target) in wanted {
                pairs.pair(of_source, of_target, Sureness::Weak);
            }
            let axis = AlignedSteps::by_matching(&pairs, source.len(), target.len());
            let (of_source, of_target) = (peaks(&source), peaks(&target));
            let found = slot_peaks(&axis, [&source, &target], [&of_source, &of_target]);
            let has = |peak: &Peak, step: Option<usize>| {
                step.is_some_and(|step| (peak.step..peak.step + peak.steps).contains(&step))
            };
            for peak in &of_source {
                let hits = found.iter().filter(|row| has(peak, axis.source_at(row.slot)));
                prop_assert!(hits.count() >= 1);
            }
            for peak in &of_target {
                let hits = found.iter().filter(|row| has(peak, axis.target_at(row.slot)));
                prop_assert!(hits.count() >= 1);
            }
            prop_assert!(found.len() <= of_source.len() + of_target.len());
            let mut slots: Vec<usize> = found.iter().map(|row| row.slot).collect();
            slots.sort_unstable();
            slots.dedup();
            prop_assert_eq!(slots.len(), found.len(), "each slot once");
            let order: Vec<_> = found.iter().map(|row| (Reverse(row.most()), row.slot)).collect();
            prop_assert!(order.is_sorted());
        }
    }
}
