//! The peaks of the curves of several runs on the axis that their steps share.
//!
//! A peak is a run of equal values higher than those on both sides (definitions.md, Liveness). Its slot
//! is that of its first step which shares a slot with a step of another run, else that of its first
//! step. The bytes of a run are those at its step in the slot; a run without a step there has none.
//! Those with the most bytes in any run come first, then by step.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::step_axis::StepAxis;
use crate::analysis::liveness::peaks::{Peak, peaks};

/// A peak of one run or of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPeak {
    /// Its slot.
    pub slot: usize,
    /// For each run its step in the slot.
    pub steps: Vec<Option<usize>>,
    /// For each run its bytes at that step.
    pub bytes: Vec<Option<u64>>,
}

/// The peaks of the curves of all runs, in the order of the axis; an empty curve has none.
pub fn slot_peaks(curves: &[&[u64]], axis: &StepAxis) -> Vec<SlotPeak> {
    let mut seen = HashSet::new();
    let mut found: Vec<SlotPeak> = Vec::new();
    for (run, curve) in curves.iter().enumerate() {
        for peak in peaks(curve) {
            let Some(slot) = slot_of(&peak, run, axis).filter(|slot| seen.insert(*slot)) else {
                continue;
            };
            let steps: Vec<_> = (0..curves.len()).map(|run| axis.step(run, slot)).collect();
            let bytes = curves.iter().zip(&steps);
            let bytes = bytes.map(|(curve, step)| curve.get((*step)?).copied()).collect();
            found.push(SlotPeak { slot, steps, bytes });
        }
    }
    found
        .sort_by_cached_key(|peak| (Reverse(peak.bytes.iter().copied().max()), peak.steps.clone()));
    found
}

fn slot_of(peak: &Peak, run: usize, axis: &StepAxis) -> Option<usize> {
    let is_shared = |slot: &usize| {
        (0..axis.runs()).any(|other| other != run && axis.step(other, *slot).is_some())
    };
    let mut slots =
        (peak.step..peak.step.saturating_add(peak.steps)).filter_map(|step| axis.slot(run, step));
    slots.clone().find(is_shared).or_else(|| slots.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::{Pairs, Sureness};
    use crate::analysis::comparison::spikes::spikes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn of_two_runs_they_are_the_spikes(
            source in proptest::collection::vec(0..4_u64, 0..14),
            target in proptest::collection::vec(0..4_u64, 0..14),
            wanted in proptest::collection::vec((0..14_usize, 0..14_usize), 0..8),
        ) {
            let mut pairs = Pairs::new(source.len(), target.len());
            let (mut from, mut to) = (0, 0);
            for (before, after) in wanted {
                // An alignment: pairs do not cross.
                if before >= from && after >= to && pairs.pair(before, after, Sureness::Exact) {
                    (from, to) = (before + 1, after + 1);
                }
            }
            let axis = StepAxis::by_matching(source.len(), &[(&pairs, target.len())]);
            let found: Vec<_> = slot_peaks(&[&source, &target], &axis)
                .into_iter()
                .map(|peak| (peak.steps, peak.bytes))
                .collect();
            let unsigned = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok());
            let expected: Vec<_> = spikes(&source, &target, &axis.pairs(0, 1), usize::MAX)
                .into_iter()
                .map(|spike| {
                    let bytes = vec![unsigned(spike.bytes.source), unsigned(spike.bytes.target)];
                    (vec![spike.source_step, spike.target_step], bytes)
                })
                .collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn of_one_run_they_are_its_peaks(curve in proptest::collection::vec(0..4_u64, 0..30)) {
            let axis = StepAxis::of_one(curve.len());
            let found: Vec<_> =
                slot_peaks(&[&curve], &axis).into_iter().map(|peak| (peak.slot, peak.bytes)).collect();
            let expected: Vec<_> =
                peaks(&curve).into_iter().map(|peak| (peak.step, vec![Some(peak.bytes)])).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
