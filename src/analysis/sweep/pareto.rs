//! Memory against throughput: the runs that no other beats in both.
//!
//! Memory is what decides whether a run fits: of a tile with its gaps, or of the device. A run beats another when it
//! is better in one of the two and not worse in the other. Runs that do not fit, or of which one of the two is
//! not known, or the memory only by a bound, neither beat nor are among the best.

use super::SweepRun;

/// Bytes that are needed and samples per second, where both are known.
pub fn memory_and_throughput(run: &SweepRun) -> Option<(u64, f64)> {
    Some((run.needed_bytes()?, run.throughput()?))
}

/// Marks the runs that no other beats in both.
pub(super) fn mark(runs: &mut [SweepRun]) {
    let of = |run: &SweepRun| {
        let is_known = run.fits() == Some(true) && run.facts.need.at_least.is_none();
        memory_and_throughput(run).filter(|_| is_known)
    };
    let all: Vec<(u64, f64)> = runs.iter().filter_map(of).collect();
    for run in runs {
        let own = of(run);
        run.pareto = own.is_some_and(|(bytes, speed)| {
            let is_better = |(other_bytes, other_speed): &(u64, f64)| {
                let is_as_good = *other_bytes <= bytes && *other_speed >= speed;
                is_as_good && (*other_bytes < bytes || *other_speed > speed)
            };
            !all.iter().any(is_better)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sweep::{NEEDED, SweepFacts, SweepFigure, THROUGHPUT};
    use crate::run::{Outcome, Verdict};

    #[test]
    fn the_runs_that_no_other_beats_in_memory_and_throughput_are_marked() {
        let run = |fits: bool, bytes: Option<u64>, speed: Option<f64>| SweepRun {
            verdict: Verdict {
                outcome: if fits { Outcome::Fits } else { Outcome::DoesNotFit },
                ..Verdict::default()
            },
            facts: SweepFacts {
                figures: vec![
                    SweepFigure::count(&NEEDED, bytes),
                    SweepFigure::rate(&THROUGHPUT, speed),
                ],
                ..SweepFacts::default()
            },
            ..SweepRun::default()
        };
        let fits = |bytes, speed| run(true, Some(bytes), Some(speed));
        let mut runs = vec![
            fits(10, 5.0),
            fits(12, 9.0),
            fits(12, 8.0),
            fits(11, 5.0),
            fits(10, 5.0),
            run(false, Some(1), Some(99.0)),
            run(true, None, Some(99.0)),
            run(true, Some(1), None),
            SweepRun::default(),
        ];
        mark(&mut runs);
        let marked: Vec<usize> =
            (0..).zip(&runs).filter(|(_, run)| run.pareto).map(|(place, _)| place).collect();
        assert_eq!(marked, [0, 1, 4], "equals do not beat each other");
    }
}
