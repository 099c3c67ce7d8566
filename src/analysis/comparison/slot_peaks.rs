//! The peaks of the curves of several runs on the axis that their steps share.
//!
//! A peak is a run of equal values higher than those on both sides (definitions.md, Liveness). Its slot
//! is that of its first step which shares a slot with a step of another run, else that of its first
//! step. The bytes of a run are those at its step in the slot; a run without a step there has none.
//! Those with the most bytes in any run come first, then by step. Those of two runs are spikes: each peak
//! beside the step of the other report that it is matched to, and two that are matched to each other are one.

use rayon::slice::ParallelSliceMut as _;

use super::matching::{Pairs, Sureness};
use super::step_axis::StepAxis;
use crate::analysis::figures::difference::Difference;
use crate::analysis::liveness::peaks::{Peak, peaks};

/// The slots of the `most` largest peaks of each run's curve; an empty curve has none.
pub fn slot_peaks(curves: &[&[u64]], axis: &StepAxis, most: usize) -> Vec<usize> {
    let steps = |slot: usize| (0..curves.len()).map(move |run| axis.step(run, slot));
    let mut is_found = vec![false; axis.len()];
    // Each with the most bytes of any run.
    let mut found: Vec<(u64, usize)> = Vec::new();
    for (run, curve) in curves.iter().enumerate() {
        for peak in peaks(curve).into_iter().take(most) {
            let Some(slot) = slot_of(&peak, run, axis) else { continue };
            if is_found.get_mut(slot).is_some_and(|is_found| !std::mem::replace(is_found, true)) {
                let bytes = curves.iter().zip(steps(slot));
                let bytes = bytes.filter_map(|(curve, step)| curve.get(step?).copied());
                found.push((bytes.max().unwrap_or(0), slot));
            }
        }
    }
    found.par_sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| steps(a.1).cmp(steps(b.1))));
    found.into_iter().map(|(_, slot)| slot).collect()
}

fn slot_of(peak: &Peak, run: usize, axis: &StepAxis) -> Option<usize> {
    let is_shared = |slot: &usize| {
        (0..axis.runs()).any(|other| other != run && axis.step(other, *slot).is_some())
    };
    let mut slots =
        (peak.step..peak.step.saturating_add(peak.steps)).filter_map(|step| axis.slot(run, step));
    slots.clone().find(is_shared).or_else(|| slots.next())
}

/// A peak of one of two reports, or of both. Steps are positions in
/// [`crate::store::program::Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// The steps of source and target.
    pub steps: [Option<usize>; 2],
    /// Bytes at the steps; not known where there is no partner.
    pub bytes: Difference,
    /// How sure it is that the steps belong together.
    pub sureness: Option<Sureness>,
}

/// The spikes of two curves, whose steps these pairs align: of each report the `most` largest peaks.
pub fn spikes(curves: [&[u64]; 2], steps: &Pairs, most: usize) -> Vec<Spike> {
    let axis = StepAxis::by_matching(curves[0].len(), &[(steps, curves[1].len())]);
    let spike = |slot: usize| {
        let at = [0, 1].map(|run| axis.step(run, slot));
        let bytes = |run: usize| curves.get(run)?.get((*at.get(run)?)?).copied();
        let bytes = Difference::of([0, 1].map(bytes));
        let sureness = at[0].zip(at[1]).and_then(|(step, _)| steps.sureness(step));
        Spike { steps: at, bytes, sureness }
    };
    slot_peaks(&curves, &axis, most).into_iter().map(spike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::HashSet;

    fn pairs(source: usize, target: usize, wanted: &[(usize, usize)]) -> Pairs {
        let mut pairs = Pairs::new(source, target);
        for (source, target) in wanted {
            assert!(pairs.pair(*source, *target, Sureness::Exact));
        }
        pairs
    }

    #[test]
    fn peaks_are_matched_whatever_their_steps() {
        let source = [1, 9, 1, 5, 5, 1, 7];
        let target = [1, 1, 6, 1, 1, 8, 1, 2];
        let steps = pairs(7, 8, &[(1, 2), (4, 5)]);
        let found: Vec<_> = spikes([&source, &target], &steps, 9)
            .iter()
            .map(|spike| (spike.steps, spike.bytes.source, spike.bytes.target))
            .collect();
        let expected = [
            ([Some(1), Some(2)], Some(9), Some(6)),
            ([Some(4), Some(5)], Some(5), Some(8)),
            ([Some(6), None], Some(7), None),
            ([None, Some(7)], None, Some(2)),
        ];
        assert_eq!(found, expected);
        let most = spikes([&source, &target], &steps, 1);
        assert_eq!(most.len(), 2, "the largest of each report");
        assert!(most.iter().all(|spike| spike.sureness == Some(Sureness::Exact)));
    }

    proptest! {
        #[test]
        fn every_peak_of_two_runs_is_found_once_beside_its_partner(
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
            let found = spikes([&source, &target], &pairs, usize::MAX);
            let mut expected = HashSet::new();
            let own = |peak: &Peak| peak.step..peak.step + peak.steps;
            for peak in peaks(&source) {
                let partner = own(&peak).find_map(|step| Some([Some(step), Some(pairs.target_of(step)?)]));
                expected.insert(partner.unwrap_or([Some(peak.step), None]));
            }
            for peak in peaks(&target) {
                let partner = own(&peak).find_map(|step| Some([Some(pairs.source_of(step)?), Some(step)]));
                expected.insert(partner.unwrap_or([None, Some(peak.step)]));
            }
            prop_assert_eq!(found.len(), expected.len());
            for spike in &found {
                prop_assert!(expected.contains(&spike.steps));
                let at = |curve: &[u64], step: Option<usize>| Some(curve[step?]);
                let bytes = Difference::of([at(&source, spike.steps[0]), at(&target, spike.steps[1])]);
                prop_assert_eq!(spike.bytes, bytes);
                let is_matched = spike.steps.iter().all(Option::is_some);
                prop_assert_eq!(spike.sureness, is_matched.then_some(Sureness::Exact));
            }
            let order = |spike: &Spike| {
                let most = spike.bytes.source.max(spike.bytes.target);
                (Reverse(most), spike.steps)
            };
            prop_assert!(found.is_sorted_by_key(order));
        }

        #[test]
        fn of_one_run_they_are_its_peaks(curve in proptest::collection::vec(0..4_u64, 0..30)) {
            let axis = StepAxis::by_index(&[curve.len()]);
            let found = slot_peaks(&[&curve], &axis, usize::MAX);
            let found: Vec<_> = found.into_iter().map(|slot| (slot, curve[slot])).collect();
            let expected: Vec<_> =
                peaks(&curve).into_iter().map(|peak| (peak.step, peak.bytes)).collect();
            prop_assert_eq!(found, expected);
            let all: Vec<_> = (0..curve.len()).map(|step| (step, step)).collect();
            let beside_itself = pairs(curve.len(), curve.len(), &all);
            let found = spikes([&curve; 2], &beside_itself, usize::MAX);
            prop_assert_eq!(found.len(), peaks(&curve).len());
            for spike in found {
                prop_assert_eq!(spike.steps[0], spike.steps[1]);
                prop_assert_eq!(spike.bytes.change(), Some(0));
            }
        }
    }
}
