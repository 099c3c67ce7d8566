//! Peaks of a curve: runs of equal values that are higher than the value on both sides (outside
//! counts as lower), reported at their first step, largest first, then by step (definitions.md).

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
    peaks.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then(a.step.cmp(&b.step)));
    peaks
}

/// All peaks, by step.
pub fn unsorted_peaks(curve: &[u64]) -> Vec<Peak> {
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

    proptest! {
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
