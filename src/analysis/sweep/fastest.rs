//! Which run is the best: the fastest that fits.
//!
//! The highest throughput counts; where it is known of no run that fits, the fewest cycles a run of
//! the program. Of equals the first.

use std::cmp::Ordering;

use super::SweepRun;

/// By what runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedMeasure {
    /// Samples per second.
    Throughput,
    /// Cycles a run of the program.
    Cycles,
}

impl SpeedMeasure {
    /// How fast a run is by this measure; more is faster.
    fn of(self, run: &SweepRun) -> Option<f64> {
        match self {
            Self::Throughput => run.throughput_samples_per_second,
            Self::Cycles => run.cycles_per_run().map(|cycles| -cycles),
        }
    }
}

/// The fastest run that fits, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FastestThatFits {
    /// A run, a position in [`super::Sweep::runs`], and what it was chosen by.
    Run { run: usize, by: SpeedMeasure },
    /// Of no run it is known that it fits.
    NoneFits,
    /// Some fit; how fast they are is known of none.
    SpeedUnknown,
}

impl FastestThatFits {
    pub(super) fn among(runs: &[SweepRun]) -> Self {
        let all = runs.iter().enumerate();
        let fitting: Vec<_> = all.filter(|(_, run)| run.fits == Some(true)).collect();
        let Some(by) = measure(&fitting) else {
            return if fitting.is_empty() { Self::NoneFits } else { Self::SpeedUnknown };
        };
        match fitting.into_iter().max_by(|a, b| compare(by, *a, *b)) {
            Some((run, _)) => Self::Run { run, by },
            None => Self::NoneFits,
        }
    }

    pub fn run(self) -> Option<usize> {
        match self {
            Self::Run { run, .. } => Some(run),
            Self::NoneFits | Self::SpeedUnknown => None,
        }
    }
}

/// By what some runs are compared; `None` when the speed of none is known.
fn measure(runs: &[(usize, &SweepRun)]) -> Option<SpeedMeasure> {
    let is_known = |by: &SpeedMeasure| runs.iter().any(|(_, run)| by.of(run).is_some());
    [SpeedMeasure::Throughput, SpeedMeasure::Cycles].into_iter().find(is_known)
}

/// The best of some runs, by their positions: one that fits before one that does not, then the faster,
/// then the one whose fullest tile has fewer bytes, then the first.
pub(super) fn best_of(runs: &[SweepRun], positions: &[usize]) -> Option<usize> {
    let some: Vec<(usize, &SweepRun)> =
        positions.iter().filter_map(|place| Some((*place, runs.get(*place)?))).collect();
    let by = measure(&some).unwrap_or(SpeedMeasure::Cycles);
    some.into_iter().max_by(|a, b| compare(by, *a, *b)).map(|(place, _)| place)
}

/// The better run is the greater.
fn compare(by: SpeedMeasure, a: (usize, &SweepRun), b: (usize, &SweepRun)) -> Ordering {
    let speed = |run: &SweepRun| by.of(run).unwrap_or(f64::NEG_INFINITY);
    let room = |run: &SweepRun| {
        let bytes = run.fullest_tile.and_then(|tile| tile.including_gaps_bytes);
        std::cmp::Reverse(bytes.unwrap_or(u64::MAX))
    };
    let fits = |run: &SweepRun| run.fits == Some(true);
    fits(a.1)
        .cmp(&fits(b.1))
        .then_with(|| speed(a.1).total_cmp(&speed(b.1)))
        .then_with(|| room(a.1).cmp(&room(b.1)))
        .then_with(|| b.0.cmp(&a.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(fits: bool, throughput: Option<f64>, cycles: Option<u64>) -> SweepRun {
        SweepRun {
            fits: Some(fits),
            throughput_samples_per_second: throughput,
            cycles,
            recorded_runs: Some(2),
            ..SweepRun::default()
        }
    }

    #[test]
    fn throughput_comes_before_cycles_and_the_first_of_equals_counts() {
        let fast = |run| FastestThatFits::Run { run, by: SpeedMeasure::Throughput };
        let few = |run| FastestThatFits::Run { run, by: SpeedMeasure::Cycles };
        let among = FastestThatFits::among;
        let runs = [
            run(true, None, Some(1)),
            run(true, Some(5.0), Some(9)),
            run(true, Some(5.0), Some(8)),
            run(false, Some(9.0), Some(7)),
        ];
        assert_eq!(among(&runs), fast(1));
        assert_eq!(best_of(&runs, &[0, 3]), Some(0), "only one fits");
        assert_eq!(best_of(&runs, &[3, 2, 0]), Some(2));
        assert_eq!(best_of(&runs, &[]), None);
        let runs = [run(true, None, Some(9)), run(true, None, Some(8)), run(true, None, None)];
        assert_eq!(among(&runs), few(1));
        let more_runs = SweepRun { recorded_runs: Some(4), ..run(true, None, Some(12)) };
        assert_eq!(among(&[runs[1].clone(), more_runs]), few(1), "3 cycles a run against 4");
        assert_eq!(among(&[run(true, None, None)]), FastestThatFits::SpeedUnknown);
        assert_eq!(among(&[run(false, Some(1.0), Some(1))]), FastestThatFits::NoneFits);
        assert_eq!(among(&[SweepRun::default()]), FastestThatFits::NoneFits);
        assert_eq!(among(&[]).run(), None);
    }
}
