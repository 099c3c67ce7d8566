//! Speed: samples per second, and cycles of the recorded runs.
//!
//! Fewer cycles are better only for the same work: where the batch, the runs and the clock are known to be the
//! same. Else samples per second decide, and where these are not known nothing is said to be better or worse.
//! Neither is it where samples per second went one way by cycles and the other by elapsed time.

use super::{ChangeEvidence, ChangeInsight, ChangeKind};
use crate::analysis::comparison::figures::{BY_CYCLES_KEY, BY_ELAPSED_TIME_KEY, Unit};
use crate::analysis::figures::difference::{Difference, RateDifference};
use crate::analysis::throughput::{BY_CYCLES, BY_ELAPSED_TIME, Throughput, batch_size, throughput};
use crate::store::Report;

/// Samples per second, then cycles.
pub fn speed(reports: [&Report; 2]) -> impl Iterator<Item = ChangeInsight> {
    let work = RunWork::of(reports);
    [samples_per_second(&work), cycles(reports, &work)].into_iter().flatten()
}

/// What the recorded runs did.
struct RunWork {
    batch: Difference,
    runs: Difference,
    rates: [Throughput; 2],
    /// Whether both did the same on the same clock, as far as both say so.
    is_same: bool,
}

impl RunWork {
    fn of(reports: [&Report; 2]) -> Self {
        let batch = Difference::of(reports.map(batch_size));
        let runs = Difference::of(reports.map(|report| Some(report.execution.get()?.runs)));
        let clocks = reports.map(|report| report.target.get()?.clock_hz);
        let is_same_clock = clocks[0].is_some() && clocks[0] == clocks[1];
        let is_same = batch.change() == Some(0) && runs.change() == Some(0) && is_same_clock;
        Self { batch, runs, rates: reports.map(throughput), is_same }
    }

    fn evidence(&self) -> [ChangeEvidence; 2] {
        [("batch_size", self.batch), ("runs", self.runs)]
            .map(|(name, figure)| ChangeEvidence::number(name, Unit::Count, figure))
    }

    /// That the batch is another one, as a part of a sentence.
    fn other_batch(&self) -> String {
        match (self.batch.source, self.batch.target) {
            (Some(before), Some(after)) if before != after => {
                format!(", with a batch of {after} instead of {before}")
            }
            _ => String::new(),
        }
    }
}

fn samples_per_second(work: &RunWork) -> Option<ChangeInsight> {
    let [source, target] = &work.rates;
    let by_cycles = RateDifference { source: source.by_cycles, target: target.by_cycles };
    let by_time = RateDifference { source: source.by_elapsed_time, target: target.by_elapsed_time };
    // What is the same to one decimal of a percent has not changed.
    let change = |rate: RateDifference| rate.percent().filter(|percent| *percent != 0.0);
    let what = match (change(by_cycles), change(by_time)) {
        (None, None) => return None,
        (Some(cycles), Some(time)) if (cycles < 0.0) != (time < 0.0) => (
            if cycles < 0.0 {
                "By cycles there are fewer samples per second, by elapsed time more"
            } else {
                "By cycles there are more samples per second, by elapsed time fewer"
            },
            None,
        ),
        (Some(percent), _) | (None, Some(percent)) if percent < 0.0 => {
            ("It is slower: there are fewer samples per second", Some(false))
        }
        _ => ("It is faster: there are more samples per second", Some(true)),
    };
    let (what, is_better) = (format!("{}{}", what.0, work.other_batch()), what.1);
    let evidence = [
        ChangeEvidence::rate(BY_CYCLES_KEY, by_cycles).titled(BY_CYCLES),
        ChangeEvidence::rate(BY_ELAPSED_TIME_KEY, by_time).titled(BY_ELAPSED_TIME),
    ];
    let insight = ChangeInsight::new(ChangeKind::Throughput, what, is_better);
    Some(insight.with(evidence).with(work.evidence()))
}

fn cycles(reports: [&Report; 2], work: &RunWork) -> Option<ChangeInsight> {
    let cycles = Difference::of(reports.map(|report| report.execution.get()?.cycles));
    let change = cycles.change().filter(|change| *change != 0)?;
    let fewer = if change < 0 { "fewer" } else { "more" };
    let knows_throughput = work.rates.iter().all(|rate| rate.by_cycles.is_some())
        || work.rates.iter().all(|rate| rate.by_elapsed_time.is_some());
    let why_not = match (work.batch.change(), work.runs.change()) {
        _ if work.is_same => "",
        (Some(0), Some(0)) if knows_throughput => {
            ", but not on the same clock, as far as is known: samples per second say which is faster"
        }
        _ if knows_throughput => {
            ", but not for the same work: samples per second say which is faster"
        }
        (None, _) => ". The batch size of both is not known, so this is neither better nor worse",
        (Some(0), Some(0)) => {
            ". The clocks are not known to be the same, so this is neither better nor worse"
        }
        _ => {
            ". The work is not the same, and samples per second are not known, so this is neither \
            better nor worse"
        }
    };
    let what = format!("The recorded runs take {fewer} cycles{}{why_not}", work.other_batch());
    let is_better = work.is_same.then_some(change < 0);
    let evidence = ChangeEvidence::number("cycles", Unit::Cycles, cycles).titled("Cycles");
    let insight = ChangeInsight::new(ChangeKind::Cycles, what, is_better);
    Some(insight.with([evidence]).with(work.evidence()))
}
