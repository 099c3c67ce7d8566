//! Spikes: the peaks of both curves, each beside the step of the other report that it is matched to.
//!
//! A peak is a run of equal values higher than those on both sides (definitions.md, Liveness). It is
//! matched through the first step of the run that has a partner, and the bytes are those at that step
//! and at its partner. A peak whose steps all lack a partner stands alone. Where the peaks of both
//! reports are matched to each other they are one spike.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::analysis::comparison::matching::{Pairs, Sureness};
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::liveness::peaks::{Peak, peaks};

/// A peak of a curve and its partner. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// The step of the source.
    pub source_step: Option<usize>,
    /// The step of the target.
    pub target_step: Option<usize>,
    /// Bytes at the steps; not known where there is no partner.
    pub bytes: Difference,
    /// How sure it is that the steps belong together.
    pub sureness: Option<Sureness>,
}

/// The spikes of two curves: of each report the `most` largest peaks; those with the most bytes in
/// either report first, then by step.
pub fn spikes(source: &[u64], target: &[u64], steps: &Pairs, most: usize) -> Vec<Spike> {
    let spike = |source_step: Option<usize>, target_step: Option<usize>| {
        let bytes = |curve: &[u64], step: Option<usize>| curve.get(step?).copied();
        Spike {
            source_step,
            target_step,
            bytes: Difference::of(bytes(source, source_step), bytes(target, target_step)),
            sureness: source_step
                .and_then(|step| steps.sureness(step))
                .filter(|_| target_step.is_some()),
        }
    };
    let of_source = peaks(source).into_iter().take(most).map(|peak| {
        match partner(&peak, Side::Source, steps) {
            Some((step, target)) => spike(Some(step), Some(target)),
            None => spike(Some(peak.step), None),
        }
    });
    let of_target = peaks(target).into_iter().take(most).map(|peak| {
        match partner(&peak, Side::Target, steps) {
            Some((step, source)) => spike(Some(source), Some(step)),
            None => spike(None, Some(peak.step)),
        }
    });
    let mut seen = HashSet::new();
    let mut found: Vec<Spike> = of_source
        .chain(of_target)
        .filter(|spike| seen.insert((spike.source_step, spike.target_step)))
        .collect();
    found.sort_by_key(|spike| {
        let most = spike.bytes.source.max(spike.bytes.target);
        (Reverse(most), spike.source_step, spike.target_step)
    });
    found
}

/// The first step of a peak that has a partner, and the partner.
fn partner(peak: &Peak, side: Side, steps: &Pairs) -> Option<(usize, usize)> {
    (peak.step..peak.step.saturating_add(peak.steps)).find_map(|step| {
        let partner = match side {
            Side::Source => steps.target_of(step),
            Side::Target => steps.source_of(step),
        };
        Some((step, partner?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let found = spikes(&source, &target, &pairs(7, 8, &[(1, 2), (4, 5)]), 9);
        let found: Vec<_> = found
            .iter()
            .map(|spike| {
                (spike.source_step, spike.target_step, spike.bytes.source, spike.bytes.target)
            })
            .collect();
        let expected = [
            (Some(1), Some(2), Some(9), Some(6)),
            (Some(4), Some(5), Some(5), Some(8)),
            (Some(6), None, Some(7), None),
            (None, Some(7), None, Some(2)),
        ];
        assert_eq!(found, expected);
        let most = spikes(&source, &target, &pairs(7, 8, &[(1, 2), (4, 5)]), 1);
        assert_eq!(most.len(), 2, "the largest of each report");
    }

    proptest! {
        #[test]
        fn a_curve_has_the_spikes_of_itself(curve in proptest::collection::vec(0..9_u64, 1..40)) {
            let all: Vec<_> = (0..curve.len()).map(|step| (step, step)).collect();
            let found = spikes(&curve, &curve, &pairs(curve.len(), curve.len(), &all), usize::MAX);
            prop_assert_eq!(found.len(), peaks(&curve).len());
            for spike in found {
                prop_assert_eq!(spike.source_step, spike.target_step);
                prop_assert_eq!(spike.bytes.change(), Some(0));
            }
        }
    }
}
