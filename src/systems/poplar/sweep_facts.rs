//! The facts of a report for a sweep.
//!
//! - The peak is always live + not always live at the step where that is most.
//! - Code is the bytes of the categories whose name ends in `Code` (control, vertex, internal, host
//!   and global exchange code), overlapped or not; all of it is always live.
//! - Batch size and samples per second are those of [`crate::analysis::throughput`].

use super::insights::logs::warnings_at_minimum;
use crate::analysis::liveness;
use crate::analysis::liveness::scope_curve::peak_of_everything;
use crate::analysis::memory::{self, FullestTile};
use crate::analysis::program::report_options::{OptionKind, options};
use crate::analysis::sweep::{
    CYCLES, FigureKind, FigureUnit, PEAK, SweepFacts, SweepFigure, THROUGHPUT, TOTAL,
};
use crate::analysis::throughput::{self, batch_size, throughput};
use crate::store::Report;

static FULLEST_TILE: FigureKind = FigureKind::bytes(
    ["fullest_tile_including_gaps_bytes", "fullest-tile"],
    ["Fullest tile, including gaps", "fullest tile"],
    Some(1),
);
static FULLEST_TILE_NUMBER: FigureKind = FigureKind {
    unit: FigureUnit::Place,
    ..FigureKind::bytes(
        ["fullest_tile", "fullest-tile-number"],
        ["Number of the fullest tile", "on tile"],
        Some(2),
    )
};
static TILES_OVER: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(
        ["tiles_over_limit", "tiles-over-limit"],
        ["Tiles over the limit", "tiles over"],
        Some(3),
    )
};
static INCLUDING_GAPS: FigureKind = FigureKind::bytes(
    ["including_gaps_bytes", "including-gaps"],
    ["Total, including gaps", "with gaps"],
    Some(11),
);
static ALWAYS_LIVE: FigureKind = FigureKind::bytes(
    ["always_live_bytes", "always-live"],
    ["Always live", "always live"],
    Some(12),
);
static CODE: FigureKind = FigureKind::bytes(["code_bytes", "code"], ["Code", "code"], Some(14));
/// That of the fullest tile, which has a column of its own.
static NEEDED_OF_TILE: FigureKind =
    FigureKind::bytes(["needed_bytes", "needed"], ["Needed", "needed"], None);
static THROUGHPUT_BY_TIME: FigureKind = FigureKind {
    unit: FigureUnit::SamplesPerSecond,
    ..FigureKind::bytes(
        ["throughput_by_elapsed_time_samples_per_second", "throughput-by-elapsed-time"],
        [throughput::BY_ELAPSED_TIME, "by elapsed time"],
        Some(31),
    )
};
static PLANNER_AT_MINIMUM: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(
        ["planner_at_minimum", "planner-at-minimum"],
        ["Planner at minimum memory", "at minimum"],
        Some(32),
    )
};

static BATCH_SIZE: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(["batch_size", "batch-size"], ["Samples at a time", "batch"], None)
};
static RUNS: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(["recorded_runs", "recorded-runs"], ["Recorded runs", "runs"], None)
};
static ELAPSED: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(["elapsed_microseconds", "elapsed"], ["Elapsed time, µs", "elapsed"], None)
};

/// The facts of a report whose small tables and debug contexts are read.
pub(super) fn sweep_facts(report: &Report) -> SweepFacts {
    let (memory, target) = (report.memory.get(), report.target.get());
    let totals = memory.map(|memory| memory::totals(memory, target)).unwrap_or_default();
    let execution = report.execution.get();
    let throughput = throughput(report);
    let fullest = memory.zip(totals.fullest).and_then(|(memory, row)| FullestTile::of(memory, row));
    let of_tile = fullest.and_then(|tile| tile.including_gaps_bytes);
    let options = options(report);
    let mut kinds: Vec<OptionKind> = options.iter().map(|option| option.kind).collect();
    // Contexts without the option say that it is not set.
    if report.debug.get().is_some() {
        kinds.push(OptionKind::AvailableMemoryProportion);
    }
    kinds.sort();
    kinds.dedup();
    let count = SweepFigure::count;
    SweepFacts {
        is_whole: memory.is_some(),
        figures: vec![
            SweepFigure::rate(&THROUGHPUT, throughput.by_cycles),
            count(&NEEDED_OF_TILE, of_tile),
            count(&FULLEST_TILE, of_tile),
            count(&FULLEST_TILE_NUMBER, fullest.map(|tile| tile.tile.into())),
            count(&TILES_OVER, totals.tiles_over_limit),
            count(&TOTAL, totals.total_bytes),
            count(&INCLUDING_GAPS, totals.including_gaps_bytes),
            count(&ALWAYS_LIVE, totals.always_live_bytes),
            count(&PEAK, peak_of_everything(report).map(|(_, bytes)| bytes)),
            count(&CODE, memory.and_then(memory::code_bytes)),
            count(&CYCLES, execution.and_then(|totals| totals.cycles)),
            SweepFigure::rate(&THROUGHPUT_BY_TIME, throughput.by_elapsed_time),
            count(&PLANNER_AT_MINIMUM, warnings_at_minimum(report)),
            count(&BATCH_SIZE, batch_size(report)),
            count(&RUNS, execution.map(|totals| totals.runs)),
            count(&ELAPSED, execution.and_then(|totals| totals.elapsed_microseconds)),
        ],
        recorded_runs: execution.map(|totals| totals.runs),
        notes: liveness::replica_note(target).into_iter().collect(),
        options,
        kinds,
        ..SweepFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_report_has_no_facts() {
        let facts = sweep_facts(&Report::default());
        assert!(facts.figures.iter().all(|figure| figure.value.is_none()), "{facts:?}");
        assert_eq!((facts.options.len(), facts.is_whole), (0, false));
    }
}
