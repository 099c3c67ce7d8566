//! Cycles and floating point operations at steps, as the compiler estimates them.
//!
//! A step that runs a compute set has the estimates of that compute set, which the report has only
//! with the engine option `profiler.includeCycleEstimates`; a step that runs an exchange has its cycles:
//! exact for internal exchanges, which the compiler schedules, estimates for others. Cycles of a step
//! are those of the busiest tile (`most`); the sum is over tiles that work at the same time. A figure
//! is of one visit to the program, however often a loop runs it.

use std::fmt;
use std::ops::RangeInclusive;

use crate::store::compute::ComputeSetTiles;
use crate::store::exchange::ExchangeId;
use crate::store::report::Part;
use crate::store::tile_list::TileList;
use crate::store::{ComputeSetId, Report};

use crate::analysis::memory::over_tiles::{OverTiles, over_tiles};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::steps;

/// Why there is no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEstimate {
    /// The step runs nothing that could have one.
    DoesNotApply,
    /// What runs has none in the report, or it cannot be read (then a warning says so).
    NotInReport,
    /// It is still to be read.
    NotRead,
    /// Reading was canceled before.
    Cancelled,
}

impl fmt::Display for NoEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DoesNotApply => "The step computes and exchanges nothing",
            Self::NotInReport => {
                "The report has no estimate: the engine option profiler.includeCycleEstimates \
                 adds those of compute sets"
            }
            Self::NotRead => "Still to be read",
            Self::Cancelled => "Reading was canceled; Reload reads again",
        })
    }
}

/// The figures of a step on some tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepEstimate {
    /// Cycles.
    pub cycles: Result<OverTiles, NoEstimate>,
    /// Floating point operations, of compute sets only.
    pub flops: Result<OverTiles, NoEstimate>,
}

/// The figures of `steps` (step positions) on `tiles`, or on all of them, in the same order.
pub fn at_steps(
    report: &Report,
    tiles: Option<RangeInclusive<u32>>,
    steps: &[usize],
) -> Vec<StepEstimate> {
    let tiles = TileSelection::of_scope(tiles);
    steps.iter().map(|step| at_step(report, &tiles, *step)).collect()
}

fn at_step(report: &Report, tiles: &TileSelection, step: usize) -> StepEstimate {
    let none = Err(NoEstimate::DoesNotApply);
    let Some(work) = StepWork::of_step(report, step) else {
        return StepEstimate { cycles: none, flops: none };
    };
    let over = |list: Result<&TileList, NoEstimate>| list.map(|list| over_tiles(list, tiles));
    let flops = match work {
        StepWork::ComputeSet(set) => over(of_set(report, set, |tiles| &tiles.flops)),
        StepWork::Exchange(_) => none,
    };
    StepEstimate { cycles: over(work.cycles(report)), flops }
}

/// What a step runs that has cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StepWork {
    ComputeSet(ComputeSetId),
    Exchange(ExchangeId),
}

impl StepWork {
    /// Of a step, a position; `None` where it computes and exchanges nothing.
    pub fn of_step(report: &Report, step: usize) -> Option<Self> {
        let set = steps::compute_set(report, step).map(Self::ComputeSet);
        set.or_else(|| steps::exchange(report, step).map(Self::Exchange))
    }

    /// Its cycles by tile, of one visit.
    pub fn cycles(self, report: &Report) -> Result<&TileList, NoEstimate> {
        match self {
            Self::ComputeSet(set) => of_set(report, set, |tiles| &tiles.cycles),
            Self::Exchange(exchange) => {
                let exchanges = known(&report.exchanges)?;
                let row = exchanges.position(exchange);
                let list = row.and_then(|row| exchanges.cycles.get(row)?.as_ref());
                list.ok_or(NoEstimate::NotInReport)
            }
        }
    }
}

fn of_set(
    report: &Report,
    set: ComputeSetId,
    column: fn(&ComputeSetTiles) -> &[Option<TileList>],
) -> Result<&TileList, NoEstimate> {
    let column = column(known(&report.compute_set_tiles)?);
    let row = report.compute_sets.get().and_then(|sets| sets.ids.position(set));
    row.and_then(|row| column.get(row)?.as_ref()).ok_or(NoEstimate::NotInReport)
}

fn known<T>(part: &Part<T>) -> Result<&T, NoEstimate> {
    part.get().ok_or(match part.absence() {
        None => NoEstimate::NotRead,
        Some(absence) if absence.is_cancelled() => NoEstimate::Cancelled,
        Some(_) => NoEstimate::NotInReport,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::fixture::report;

    #[test]
    fn steps_have_the_figures_of_what_they_run() {
        let report = report();
        let all = at_steps(&report, None, &[0, 1, 2, 4, 99]);
        let over = |sum, most| Ok(OverTiles { sum, most });
        assert_eq!((all[0].cycles, all[0].flops), (over(130, 60), over(10, 4)));
        assert_eq!((all[1].cycles, all[1].flops), (over(126, 33), Err(NoEstimate::DoesNotApply)));
        assert_eq!(all[2].cycles, Err(NoEstimate::NotInReport));
        assert_eq!((all[3].cycles, all[4].cycles), (all[2].cycles, all[1].flops));
        let some = at_steps(&report, Some(2..=3), &[0, 1]);
        assert_eq!((some[0].cycles, some[1].cycles), (over(20, 20), over(65, 33)));
    }

    #[test]
    fn what_is_not_there_has_a_reason() {
        let cycles = |report: &Report| at_steps(report, None, &[0])[0].cycles;
        assert_eq!(cycles(&Report::default()), Err(NoEstimate::DoesNotApply));
        let mut unread = report();
        unread.compute_set_tiles = Part::default();
        assert_eq!(cycles(&unread), Err(NoEstimate::NotRead));
        unread.compute_set_tiles.fill(None);
        assert_eq!(cycles(&unread), Err(NoEstimate::NotInReport));
        let option = "profiler.includeCycleEstimates";
        assert!(NoEstimate::NotInReport.to_string().contains(option));
    }
}
