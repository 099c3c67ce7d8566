//! Compares the totals that a report states (`execution_cycle_totals`) with the sums of its steps.
//!
//! The columns of the table are told apart by what kinds do ([`Activity`]); syncs take all that is none of the
//! others, as waiting is what is left of a tile's time.

use super::{Executed, recorded_cycles};
use crate::analysis::program::kinds::Activity;
use crate::store::execution::StatedCycles;

/// Where the figure beside the one that is stated comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummedOf {
    /// The first and the last cycle that are recorded of the run.
    Run,
    /// The steps of the run.
    Steps,
}

/// Tile cycles of a run by what they were spent on: as the report states them and as its steps add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedAndSummed {
    /// What is counted: the activity of kinds, or the whole of the run.
    pub activity: Option<Activity>,
    /// What the report states.
    pub stated: u64,
    /// What its steps add up to; of the whole of a run whose ends are recorded, what these say.
    pub summed: u64,
    /// Which of both.
    pub of: SummedOf,
}

const COLUMNS: [Activity; 7] = [
    Activity::Compute,
    Activity::InternalExchange,
    Activity::GlobalExchange,
    Activity::StreamCopy,
    Activity::StreamCopyBegin,
    Activity::StreamCopyEnd,
    Activity::Sync,
];

fn column(activity: Activity) -> usize {
    COLUMNS.iter().position(|other| *other == activity).unwrap_or(COLUMNS.len() - 1)
}

/// Of each run: cycles, then tile cycles by activity. `None` of a run that states nothing, and where steps are not
/// known by run or by tile.
pub fn stated_and_summed(executed: Executed<'_>) -> Vec<Option<Vec<StatedAndSummed>>> {
    let trace = executed.trace;
    let none = || vec![None; trace.runs.len()];
    if trace.runs.iter().all(|run| run.stated.is_none()) {
        return none();
    }
    let Some(rows) = trace.steps_of_runs() else { return none() };
    let activities = executed.activities();
    let mut sums = vec![Some([0_u64; COLUMNS.len()]); rows.len()];
    for span in 0..trace.spans.len() {
        let step = executed.step_of(span);
        let run = rows.partition_point(|steps| steps.end <= step);
        let place = column(activities.of_span(span));
        let Some(of_run) = sums.get_mut(run) else { continue };
        match (trace.tile_cycles(span), of_run.as_mut().and_then(|sums| sums.get_mut(place))) {
            (Some(cycles), Some(sum)) => *sum = sum.saturating_add(cycles),
            _ => *of_run = None,
        }
    }
    let cycles = executed.cycles_of_runs();
    let of_run = |(run, sums): (usize, Option<[u64; COLUMNS.len()]>)| {
        let recorded = trace.runs.get(run)?;
        let stated = recorded.stated?;
        let cycles = cycles.get(run)?.as_ref()?;
        let StatedCycles { cycles: all, .. } = stated;
        let is_recorded = recorded_cycles(recorded).is_some();
        let whole = StatedAndSummed {
            activity: None,
            stated: all,
            summed: cycles.end - cycles.start,
            of: if is_recorded { SummedOf::Run } else { SummedOf::Steps },
        };
        let by_activity = COLUMNS.into_iter().zip(by_column(&stated)).zip(sums?);
        let of = |((activity, stated), summed)| StatedAndSummed {
            activity: Some(activity),
            stated,
            summed,
            of: SummedOf::Steps,
        };
        Some(std::iter::once(whole).chain(by_activity.map(of)).collect())
    };
    sums.into_iter().enumerate().map(of_run).collect()
}

fn by_column(stated: &StatedCycles) -> [u64; COLUMNS.len()] {
    [
        stated.compute,
        stated.internal_exchange,
        stated.global_exchange,
        stated.stream_copy,
        stated.stream_copy_begin,
        stated.stream_copy_end,
        stated.sync,
    ]
}
