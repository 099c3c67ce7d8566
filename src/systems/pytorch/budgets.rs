//! The figures of a PyTorch snapshot that budgets limit.
//!
//! The total is the reserved peak, because that is what the device must have. The peak is the requested one, that of
//! summary, liveness and compare: it is exact for every file, and does not depend on the rounding of the allocator.
//! Both are of the device that failed, else of the one that had most, or of the one that is named.

use super::allocator::replayed::AllocatorRun;
use super::allocator::run_end::{Ended, Recorded};
use super::took::SnapshotTook;
use crate::run::{BudgetFacts, BudgetFigure, BudgetedFigure, FitFacts, NeededBytes, Room};

/// Of the device of a number, or the one that failed or had most; `None` where there is none.
pub(super) fn budgets(run: &AllocatorRun, device: Option<i64>, room: Room) -> Option<BudgetFacts> {
    let (place, took) = SnapshotTook::of_run(run, device)?;
    let (device, _) = run.snapshot()?.device(place)?;
    let is_window = took.recorded == Recorded::Window;
    let figure = |figure, subject, bytes, is_at_least| BudgetedFigure {
        is_of_window: is_window && is_at_least,
        ..BudgetedFigure::of(figure, [subject, "is"], Some(bytes), "")
    };
    let why_at_least = why_at_least(&took);
    let needed = NeededBytes {
        verb: "needs",
        bytes: took.needed_bytes,
        is_at_least: took.needed_is_at_least(),
        why_not: why_at_least,
        is_of_window: is_window && took.needed_is_at_least(),
        stated_by: "the error text beside it states",
    };
    Some(BudgetFacts {
        device: Some(device.number),
        title: device.title(),
        figures: vec![
            figure(
                BudgetFigure::Total,
                "the reserved peak",
                took.max_reserved_bytes,
                took.max_reserved_is_at_least(),
            ),
            figure(
                BudgetFigure::Peak,
                "the requested peak",
                took.requested_peak_bytes,
                took.requested_peak_is_at_least(),
            ),
        ],
        why_at_least,
        fit: FitFacts::of_room(needed, room.or_stated(took.stated)),
    })
}

/// Why figures are no more than a lower bound; a budget that they are within is then not known to be kept.
fn why_at_least(took: &SnapshotTook) -> Option<&'static str> {
    if took.is_cut {
        return Some("the file ends before its contents do, so it may be more");
    }
    match (took.ending, took.recorded) {
        (Ended::OutOfMemory, _) => {
            Some("the run ran out of memory, so what it needs in full is not known")
        }
        (_, Recorded::Nothing) => {
            Some("no events were recorded, so it may have been more before the snapshot was taken")
        }
        _ => None,
    }
}
