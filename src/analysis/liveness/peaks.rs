//! Peaks of a curve: runs of equal values that are higher than the value on both sides (outside
//! counts as lower), reported at their first step, largest first, then by step (definitions.md).

use std::cmp::Reverse;
use std::ops::Range;

use rayon::slice::ParallelSliceMut as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The first step position of the run.
    pub step: usize,
    /// Steps in the run.
    pub steps: usize,
    /// Not-always-live bytes.
    pub bytes: u64,
}

/// All peaks, largest first.
pub fn peaks(curve: &[u64]) -> Vec<Peak> {
    let mut peaks = unsorted_peaks(curve);
    peaks.par_sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then(a.step.cmp(&b.step)));
    peaks
}

/// Steps of which the highest peak is kept while the highest of all are looked for.
const BLOCK: usize = 4096;

/// The highest peaks with their bytes, the first the highest; of those that are no more than `apart` steps from a higher
/// one none. All peaks of a curve with millions are not listed for that.
pub fn distinct_peaks(curve: &[u64], apart: usize, most: usize) -> Vec<(usize, u64)> {
    let mut found: Vec<(usize, u64)> = Vec::new();
    let steps_of = |block: usize| block * BLOCK..(block + 1).saturating_mul(BLOCK).min(curve.len());
    let highest = |block: usize| highest_peak(curve, steps_of(block), |_| true);
    let mut of_blocks: Vec<_> = (0..curve.len().div_ceil(BLOCK)).map(highest).collect();
    while found.len() < most
        && let Some((step, bytes)) =
            of_blocks.iter().flatten().copied().max_by_key(|(step, bytes)| (*bytes, Reverse(*step)))
    {
        found.push((step, bytes));
        let is_far = |step: usize| found.iter().all(|(other, _)| other.abs_diff(step) > apart);
        let (first, last) = (step.saturating_sub(apart), step.saturating_add(apart));
        for (block, peak) in of_blocks.iter_mut().enumerate().skip(first / BLOCK) {
            let steps = steps_of(block);
            if steps.start > last {
                break;
            }
            // Of most blocks all steps are too near.
            let is_within = first <= steps.start && steps.end <= last;
            *peak = if is_within { None } else { highest_peak(curve, steps, is_far) };
        }
    }
    found
}

/// Numbered peaks are no closer than this part of the curve.
const FAR: usize = 40;

/// The highest peaks with their bytes, the first the highest; of those that lie close together the highest.
pub fn far_peaks(curve: &[u64], most: usize) -> Vec<(usize, u64)> {
    distinct_peaks(curve, curve.len() / FAR, most)
}

/// The highest of the peaks that begin in a range and are wanted, the first of equals.
fn highest_peak(
    curve: &[u64],
    steps: Range<usize>,
    is_wanted: impl Fn(usize) -> bool,
) -> Option<(usize, u64)> {
    let mut highest: Option<(usize, u64)> = None;
    let mut before = steps.start.checked_sub(1).and_then(|step| curve.get(step)).copied();
    for (step, bytes) in steps.clone().zip(curve.get(steps).unwrap_or_default()) {
        let rises = before.is_none_or(|before| before < *bytes);
        before = Some(*bytes);
        if !rises || highest.is_some_and(|(_, most)| *bytes <= most) {
            continue;
        }
        let mut after = curve.get(step..).unwrap_or_default().iter();
        let falls = after.find(|other| *other != bytes).is_none_or(|after| after < bytes);
        if falls && is_wanted(step) {
            highest = Some((step, *bytes));
        }
    }
    highest
}

/// All peaks, by step.
fn unsorted_peaks(curve: &[u64]) -> Vec<Peak> {
    let mut peaks = Vec::new();
    let mut before: Option<u64> = None;
    let mut start = 0;
    for run in curve.chunk_by(|a, b| a == b) {
        let Some(bytes) = run.first().copied() else { continue };
        let after = curve.get(start + run.len()).copied();
        if before.is_none_or(|before| before < bytes) && after.is_none_or(|after| after < bytes) {
            peaks.push(Peak { step: start, steps: run.len(), bytes });
        }
        before = Some(bytes);
        start += run.len();
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_count_once_and_the_ends_can_be_peaks() {
        let found: Vec<_> =
            peaks(&[5, 3, 7, 7, 2, 2, 4]).into_iter().map(|peak| (peak.step, peak.bytes)).collect();
        assert_eq!(found, [(2, 7), (0, 5), (6, 4)]);
        assert_eq!(peaks(&[0, 0]).len(), 1, "a flat curve is one peak");
        assert!(peaks(&[]).is_empty());
    }

    /// What comes out where all peaks are listed.
    fn distinct_of_all(curve: &[u64], apart: usize, most: usize) -> Vec<(usize, u64)> {
        let mut found: Vec<(usize, u64)> = Vec::new();
        for peak in peaks(curve) {
            let is_far = found.iter().all(|(other, _)| other.abs_diff(peak.step) > apart);
            if is_far && found.len() < most {
                found.push((peak.step, peak.bytes));
            }
        }
        found
    }

    #[test]
    fn distinct_peaks_of_long_curves_cross_blocks() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        for len in [BLOCK - 1, BLOCK, 3 * BLOCK + 7] {
            for highest in [3, 1000, u64::from(u32::MAX)] {
                let curve: Vec<u64> = (0..len).map(|_| next() % highest).collect();
                for apart in [0, 1, 100, BLOCK, 2 * BLOCK, len] {
                    let found = distinct_peaks(&curve, apart, 9);
                    assert_eq!(found, distinct_of_all(&curve, apart, 9), "{len} {highest} {apart}");
                }
            }
        }
        let flat = vec![4; 2 * BLOCK];
        assert_eq!(distinct_peaks(&flat, 10, 9), [(0, 4)]);
    }

    proptest! {
        #[test]
        fn distinct_peaks_are_those_of_all(
            curve in proptest::collection::vec(0..9_u64, 0..60),
            apart in 0..70_usize,
            most in 0..6_usize,
        ) {
            prop_assert_eq!(distinct_peaks(&curve, apart, most), distinct_of_all(&curve, apart, most));
        }

        #[test]
        fn the_first_peak_is_the_highest_step(curve in proptest::collection::vec(0..9_u64, 1..60)) {
            let found = peaks(&curve);
            prop_assert_eq!(
                found.first().map(|peak| peak.step),
                crate::analysis::liveness::peak(&curve)
            );
            for peak in &found {
                let end = peak.step + peak.steps;
                prop_assert!(curve[peak.step..end].iter().all(|bytes| *bytes == peak.bytes));
                prop_assert!(peak.step == 0 || curve[peak.step - 1] < peak.bytes);
                prop_assert!(end == curve.len() || curve[end] < peak.bytes);
            }
        }
    }
}
