//! Picks the best run of a sweep. Runs count that fit or ran, or whose device has an unknown capacity. The best is the
//! fastest; if no speed is known and all runs are of one system, it is the one that needs least.
//!
//! The highest throughput counts; where it is known of none that fits, the fewest cycles a run of the program. Among
//! equals the first is the best. A run that does not fit, has failed, or is not known to have ended well is never the
//! best.

use std::cmp::Ordering;

use super::SweepRun;
use super::figure::{CYCLES, FigureKind, NEEDED, THROUGHPUT};
use crate::text::words;

words! {
    /// Why no run is the best.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NoBest by key {
        /// Of no run it is known that it fits or ran.
        NoneFits = "none-fits",
        /// Some do, and none says how fast it is or what it needs.
        NothingKnown = "nothing-known",
        /// Bytes of several systems do not compare.
        SeveralSystems = "several-systems",
    }
}

/// By what runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestBy {
    /// Most samples per second.
    Throughput,
    /// Fewest cycles a run of the program.
    Cycles,
    /// Fewest bytes that the device must have; a lower bound says nothing of that.
    Needed,
}

impl BestBy {
    const ALL: [Self; 3] = [Self::Throughput, Self::Cycles, Self::Needed];

    /// The figure that it goes by.
    pub fn figure(self) -> &'static FigureKind {
        match self {
            Self::Throughput => &THROUGHPUT,
            Self::Cycles => &CYCLES,
            Self::Needed => &NEEDED,
        }
    }

    /// How good a run is; more is better.
    fn of(self, run: &SweepRun) -> Option<f64> {
        match self {
            Self::Throughput => run.throughput(),
            Self::Cycles => run.cycles_per_run().map(|cycles| -cycles),
            Self::Needed => {
                let is_exact = run.facts.need.at_least.is_none();
                run.needed_bytes().filter(|_| is_exact).map(|bytes| -(bytes as f64))
            }
        }
    }
}

/// The best run, a position in [`super::Sweep::runs`], and what it is the best at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The run.
    pub run: usize,
    /// What it is the best at.
    pub by: BestBy,
}

impl Best {
    pub(super) fn among(runs: &[SweepRun]) -> Result<Self, NoBest> {
        let all = runs.iter().enumerate();
        let fitting: Vec<_> = all.filter(|(_, run)| run.goes_well()).collect();
        let why_not = if fitting.is_empty() { NoBest::NoneFits } else { NoBest::NothingKnown };
        let by = measure(&fitting).ok_or(why_not)?;
        let system = fitting.first().map(|(_, run)| run.system);
        if by == BestBy::Needed && fitting.iter().any(|(_, run)| Some(run.system) != system) {
            return Err(NoBest::SeveralSystems);
        }
        let best = fitting.into_iter().max_by(|a, b| compare(by, *a, *b));
        best.map(|(run, _)| Self { run, by }).ok_or(why_not)
    }
}

/// By what some runs are compared; `None` where nothing is known of any.
fn measure(runs: &[(usize, &SweepRun)]) -> Option<BestBy> {
    let is_known = |by: &BestBy| runs.iter().any(|(_, run)| by.of(run).is_some());
    BestBy::ALL.into_iter().find(is_known)
}

/// The best of some runs, by their positions: one that fits before one that does not, then the faster, then the one
/// that needs fewer bytes, then the first.
pub(super) fn best_of(runs: &[SweepRun], positions: &[usize]) -> Option<usize> {
    let some: Vec<(usize, &SweepRun)> =
        positions.iter().filter_map(|place| Some((*place, runs.get(*place)?))).collect();
    let by = measure(&some).unwrap_or(BestBy::Needed);
    some.into_iter().max_by(|a, b| compare(by, *a, *b)).map(|(place, _)| place)
}

/// The better run is the greater.
fn compare(by: BestBy, a: (usize, &SweepRun), b: (usize, &SweepRun)) -> Ordering {
    let rate = |by: BestBy, run: &SweepRun| by.of(run).unwrap_or(f64::NEG_INFINITY);
    let fits = |run: &SweepRun| run.goes_well();
    fits(a.1)
        .cmp(&fits(b.1))
        .then_with(|| rate(by, a.1).total_cmp(&rate(by, b.1)))
        .then_with(|| rate(BestBy::Needed, a.1).total_cmp(&rate(BestBy::Needed, b.1)))
        .then_with(|| b.0.cmp(&a.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sweep::{SweepFacts, SweepFigure};
    use crate::run::{Outcome, Verdict};

    fn run(outcome: Outcome, throughput: Option<f64>, cycles: Option<u64>) -> SweepRun {
        SweepRun {
            system: "one",
            verdict: Verdict { outcome, ..Verdict::default() },
            facts: SweepFacts {
                figures: vec![
                    SweepFigure::rate(&THROUGHPUT, throughput),
                    SweepFigure::count(&CYCLES, cycles),
                ],
                recorded_runs: Some(2),
                ..SweepFacts::default()
            },
            ..SweepRun::default()
        }
    }

    fn needs(outcome: Outcome, bytes: u64) -> SweepRun {
        let mut run = run(outcome, None, None);
        run.facts.figures = vec![SweepFigure::count(&NEEDED, Some(bytes))];
        run
    }

    #[test]
    fn throughput_comes_before_cycles_and_the_first_of_equals_counts() {
        use Outcome::{DoesNotFit, Fits};
        let fast = |run| Ok(Best { run, by: BestBy::Throughput });
        let few = |run| Ok(Best { run, by: BestBy::Cycles });
        let among = Best::among;
        let runs = [
            run(Fits, None, Some(1)),
            run(Fits, Some(5.0), Some(9)),
            run(Fits, Some(5.0), Some(8)),
            run(DoesNotFit, Some(9.0), Some(7)),
        ];
        assert_eq!(among(&runs), fast(1));
        assert_eq!(best_of(&runs, &[0, 3]), Some(0), "only one fits");
        assert_eq!(best_of(&runs, &[3, 2, 0]), Some(2));
        assert_eq!(best_of(&runs, &[]), None);
        let runs = [run(Fits, None, Some(9)), run(Fits, None, Some(8)), run(Fits, None, None)];
        assert_eq!(among(&runs), few(1));
        let mut more_runs = run(Fits, None, Some(12));
        more_runs.facts.recorded_runs = Some(4);
        assert_eq!(among(&[runs[1].clone(), more_runs]), few(1), "3 cycles a run against 4");
        assert_eq!(among(&[run(DoesNotFit, Some(1.0), Some(1))]), Err(NoBest::NoneFits));
        assert_eq!(among(&[SweepRun::default()]), Err(NoBest::NoneFits));
        assert_eq!(among(&[]), Err(NoBest::NoneFits));
    }

    #[test]
    fn without_a_speed_the_least_that_went_well_counts_within_one_system() {
        use Outcome::{OutOfMemory, Ran, Unknown};
        let runs = [needs(OutOfMemory, 1), needs(Ran, 30), needs(Ran, 20), needs(Unknown, 10)];
        assert_eq!(Best::among(&runs), Ok(Best { run: 2, by: BestBy::Needed }));
        let other = SweepRun { system: "other", ..needs(Ran, 5) };
        let both = [runs[1].clone(), other.clone()];
        assert_eq!(Best::among(&both), Err(NoBest::SeveralSystems));
        // A speed is one of any system.
        let fast = run(Outcome::Fits, Some(7.0), None);
        assert_eq!(Best::among(&[other, fast]), Ok(Best { run: 1, by: BestBy::Throughput }));
    }
}
