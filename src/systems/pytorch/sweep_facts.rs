//! The facts of a snapshot for a sweep: the memory that the run took on a device.

use super::allocator::run_end::{Ended, Recorded};
use super::compared::SnapshotFigure;
use super::took::SnapshotTook;
use crate::analysis::program::report_options::{OptionKind, ReportOption};
use crate::analysis::sweep::{FigureKind, NEEDED, NoReference, Percents, SweepFacts, SweepFigure};

/// A figure as a comparison calls it: its name as an argument, and what stands above its column.
const fn kind(
    figure: SnapshotFigure,
    [word, column]: [&'static str; 2],
    percents: Percents,
    rank: u8,
) -> FigureKind {
    let bytes = FigureKind::bytes([figure.key(), word], [figure.title(), column], Some(rank));
    FigureKind { percents, ..bytes }
}

static FAILED_REQUEST: FigureKind = FigureKind::bytes(
    ["oom_request_bytes", "failed-request"],
    ["Failed request", "failed request"],
    Some(3),
);
static MAX_ALLOCATED: FigureKind =
    kind(SnapshotFigure::MaxAllocated, ["max-allocated", "max allocated"], Percents::OfBoth, 4);
static MAX_RESERVED: FigureKind =
    kind(SnapshotFigure::MaxReserved, ["max-reserved", "max reserved"], Percents::OfBoth, 5);
static REQUESTED_PEAK: FigureKind =
    kind(SnapshotFigure::RequestedPeak, ["requested-peak", "requested peak"], Percents::OfBoth, 6);
static ALLOCATED: FigureKind =
    kind(SnapshotFigure::Allocated, ["allocated", "allocated"], Percents::No, 7);
static RESERVED: FigureKind =
    kind(SnapshotFigure::Reserved, ["reserved", "reserved"], Percents::No, 8);

/// The facts of a run on a device.
pub(super) fn sweep_facts(took: &SnapshotTook, settings: &[(String, String)]) -> SweepFacts {
    let bytes = |kind, bytes: u64| SweepFigure::count(kind, Some(bytes));
    let options = ReportOption::settings(settings);
    SweepFacts {
        kinds: options.first().map(|_| OptionKind::Setting).into_iter().collect(),
        options,
        figures: vec![
            bytes(&NEEDED, took.needed_bytes).at_least(took.needed_is_at_least()),
            SweepFigure::count(&FAILED_REQUEST, took.failed_request_bytes),
            bytes(&MAX_ALLOCATED, took.max_allocated_bytes)
                .at_least(took.max_allocated_is_at_least())
                .from(took.max_allocated_from.as_str()),
            bytes(&MAX_RESERVED, took.max_reserved_bytes)
                .at_least(took.max_reserved_is_at_least())
                .from(took.max_reserved_from.as_str()),
            bytes(&REQUESTED_PEAK, took.requested_peak_bytes)
                .at_least(took.requested_peak_is_at_least()),
            bytes(&ALLOCATED, took.allocated_bytes),
            bytes(&RESERVED, took.reserved_bytes),
        ],
        is_whole: took.has_ended(),
        recorded: (took.recorded != Recorded::Whole).then(|| took.recorded.key()),
        why_no_reference: match (took.is_cut, took.ending, took.recorded) {
            (true, ..) => Some(NoReference::NotWhole),
            (_, Ended::NotRecorded, _) | (.., Recorded::Nothing) => Some(NoReference::NotRecorded),
            _ => None,
        },
        notes: notes(took),
        ..SweepFacts::default()
    }
}

/// What has to be said of a run whose figures are not all that it took.
fn notes(took: &SnapshotTook) -> Vec<&'static str> {
    let recorded = took.recorded;
    let notes = [
        (took.is_cut, "A cut file shows the run only up to the cut, not all that the run took."),
        (
            took.ending == Ended::OutOfMemory,
            "A run that ran out of memory needs at least what it had and the segment for the \
             failed request; what would have come after is not known.",
        ),
        (
            recorded == Recorded::Nothing && !took.is_cut,
            "A snapshot without events shows the state when it was taken, not the peak of the run.",
        ),
        (
            took.ending == Ended::NotRecorded && recorded != Recorded::Nothing,
            "If a rank has no events, neither its end nor its peak is known.",
        ),
        (
            took.is_one_step,
            "The second step of a training needs more than the first, such as the state of the \
             optimizer: record two.",
        ),
        (
            recorded == Recorded::Window,
            "A recording that starts in the middle of a run misses what came before, which may \
             have had higher peaks.",
        ),
    ];
    notes.into_iter().filter_map(|(applies, note)| applies.then_some(note)).collect()
}
