//! The peaks of two reports, and whether the peak has moved: whether the two are at steps that are not matched
//! with each other.
//!
//! A peak that has moved is explained at matched steps: what changed where the source had its peak, and what changed
//! where the target has it. The two peaks themselves are of different operations, so most of what one operation lost
//! there and another gained says only that the steps are different ones. If several steps are equally high, the peak
//! has not moved if one of them is matched with that of the other report.

use super::both;
use super::moment::{AliveAt, ScopeStep};
use crate::analysis::comparison::matching::Pairs;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::ScopeCurve;

/// The peaks of source and target.
#[derive(Clone, Copy, Debug)]
pub struct PeaksOfTwo {
    pub peaks: [AliveAt; 2],
    /// Where it has moved.
    pub moved: Option<MovedPeak>,
}

/// What is alive at matched steps where a peak has moved. `None` where a peak's step has no partner.
#[derive(Clone, Copy, Debug)]
pub struct MovedPeak {
    /// The source's peak, and the target at the step that is matched with it.
    pub at_source: Option<[AliveAt; 2]>,
    /// The source at the step that is matched with the target's peak, and that peak.
    pub at_target: Option<[AliveAt; 2]>,
}

/// The peaks of the curves of a scope, whose steps these pairs align; `None` where one is not known.
pub fn peaks_of_two(curves: [&ScopeCurve; 2], scope: Scope, steps: &Pairs) -> Option<PeaksOfTwo> {
    let peaks = both(curves.map(|curve| ScopeStep::peak(curve, scope)))?;
    let [source, target] = peaks;
    let partner_of_source = steps.target_of(source.moment.step);
    if partner_of_source == Some(target.moment.step) {
        return Some(PeaksOfTwo { peaks, moved: None });
    }
    let partner_of_target = steps.source_of(target.moment.step);
    let in_target = partner_of_source.and_then(|step| ScopeStep::alive(curves[1], scope, step));
    let in_source = partner_of_target.and_then(|step| ScopeStep::alive(curves[0], scope, step));
    if let Some(equal) = in_target.filter(|alive| alive.bytes.sum() == target.bytes.sum()) {
        return Some(PeaksOfTwo { peaks: [source, equal], moved: None });
    }
    if let Some(equal) = in_source.filter(|alive| alive.bytes.sum() == source.bytes.sum()) {
        return Some(PeaksOfTwo { peaks: [equal, target], moved: None });
    }
    let moved = MovedPeak {
        at_source: in_target.map(|there| [source, there]),
        at_target: in_source.map(|there| [there, target]),
    };
    Some(PeaksOfTwo { peaks, moved: Some(moved) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::Sureness;
    use crate::analysis::liveness::scope_curve::AlwaysLive;

    fn curve(bytes: &[u64]) -> ScopeCurve {
        ScopeCurve {
            always_live: AlwaysLive::Level(5),
            not_always_live: bytes.to_vec(),
            limit: None,
            worst_arenas: None,
        }
    }

    fn found(source: &[u64], target: &[u64], wanted: &[(usize, usize)]) -> PeaksOfTwo {
        let mut pairs = Pairs::new(source.len(), target.len());
        for (from, to) in wanted {
            assert!(pairs.pair(*from, *to, Sureness::Exact));
        }
        let curves = [curve(source), curve(target)];
        peaks_of_two(curves.each_ref(), Scope::Everything, &pairs).expect("peaks")
    }

    fn steps(alive: [AliveAt; 2]) -> [usize; 2] {
        alive.map(|alive| alive.moment.step)
    }

    #[test]
    fn a_peak_has_moved_where_its_step_is_matched_with_another() {
        // The step with 9 falls to 4, that with 6 stays: the peak of the target.
        let of_two = found(&[1, 9, 6], &[1, 0, 4, 6], &[(0, 0), (1, 2), (2, 3)]);
        let moved = of_two.moved.expect("moved");
        assert_eq!(steps(of_two.peaks), [1, 3]);
        assert_eq!(moved.at_source.map(steps), Some([1, 2]));
        assert_eq!(moved.at_target.map(steps), Some([2, 3]));
        let change = |alive: [AliveAt; 2]| alive[1].bytes.sum() - alive[0].bytes.sum();
        assert_eq!((moved.at_source.map(change), moved.at_target.map(change)), (Some(-5), Some(0)));
    }

    #[test]
    fn a_peak_that_is_matched_has_not_moved_whatever_its_number() {
        let of_two = found(&[1, 9, 6], &[1, 0, 8, 6], &[(0, 0), (1, 2), (2, 3)]);
        assert!(of_two.moved.is_none());
        assert_eq!(steps(of_two.peaks), [1, 2]);
    }

    #[test]
    fn of_equally_high_steps_the_matched_ones_are_the_peaks() {
        let of_two = found(&[7, 1, 7], &[2, 1, 7], &[(0, 0), (1, 1), (2, 2)]);
        assert!(of_two.moved.is_none());
        assert_eq!(steps(of_two.peaks), [2, 2]);
        let of_two = found(&[2, 1, 7], &[7, 1, 7], &[(0, 0), (1, 1), (2, 2)]);
        assert_eq!(steps(of_two.peaks), [2, 2]);
    }

    #[test]
    fn a_peak_without_a_partner_is_not_explained_there() {
        let of_two = found(&[1, 9], &[8, 1], &[]);
        let moved = of_two.moved.expect("not matched");
        assert!(moved.at_source.is_none() && moved.at_target.is_none());
    }
}
