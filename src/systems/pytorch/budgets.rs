//! The figures of a PyTorch snapshot that budgets limit.
//!
//! The total is the reserved peak, because that is what the device must have. The peak is the requested one, that of
//! summary, liveness and compare: it is exact for every file, and does not depend on the rounding of the allocator.
//! Both are of the device that failed, else of the one that had most, or of the one that is named.

use super::allocator::replayed::AllocatorRun;
use super::allocator::run_end::{Ended, Recorded};
use super::took::SnapshotTook;
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Ending, FailedAsk, Need};
use crate::text::grouped;

const NOT_RECORDED: AtLeast = AtLeast::of(
    "not-recorded",
    "no events were recorded, so it may have been more before the snapshot was taken",
);
const RANK_NOT_RECORDED: AtLeast =
    AtLeast::of("not-recorded", "a rank has no events, so what the run needs in full is not known");
const WINDOW: AtLeast = AtLeast::of(
    "recorded-window",
    "the first events are cut off, and it may have been more before",
);
const CONTRADICTORY: AtLeast = AtLeast {
    cause: "contradictory",
    short: "contradicts itself",
    why: "the snapshot contradicts itself, so its figures are doubtful",
};
const ONE_STEP: AtLeast =
    AtLeast::of("one-step", "only one step was recorded, and the second needs more: record two");

/// Of the device of a number, or of the one that failed or had most; `None` where there is none.
pub(super) fn need(run: &AllocatorRun, device: Option<i64>) -> Option<Need> {
    let (place, took) = SnapshotTook::of_run(run, device)?;
    need_of(run, place, &took)
}

/// The same of what a device took.
pub(super) fn need_of(run: &AllocatorRun, place: usize, took: &SnapshotTook) -> Option<Need> {
    let replayed = run.snapshot()?;
    let (device, _) = replayed.device(place)?;
    let failed = replayed.ended_by(place).filter(|_| took.ending == Ended::OutOfMemory);
    let failed = match (failed, took.failed_request_bytes) {
        (Some(failed), _) => Some(FailedAsk {
            bytes: failed.bytes,
            free_bytes: took.left_bytes,
            at: format!(" at event {}", grouped(u64::from(failed.event))),
        }),
        (None, Some(bytes)) => Some(FailedAsk {
            bytes,
            free_bytes: None,
            at: ", as the error text beside it says,".to_owned(),
        }),
        (None, None) => None,
    };
    Some(Need {
        device: Some(device.number),
        title: device.title(),
        verb: "needs",
        bytes: Some(took.needed_bytes),
        at_least: why_at_least(took, took.max_reserved_is_at_least()),
        ending: match took.ending {
            Ended::Ran => Ending::Ran,
            Ended::OutOfMemory => Ending::Failed,
            Ended::Cut | Ended::NotRecorded => Ending::NotKnown,
        },
        failed,
        stated: took.stated,
        stated_by: "the error text beside it states",
        ..Need::default()
    })
}

/// Of the device of a number, or the one that failed or had most; `None` where there is none.
pub(super) fn budgets(run: &AllocatorRun, device: Option<i64>) -> Option<BudgetFacts> {
    let (place, took) = SnapshotTook::of_run(run, device)?;
    let figure = |figure, subject, bytes, is_at_least| BudgetedFigure {
        at_least: why_at_least(&took, is_at_least),
        ..BudgetedFigure::of(figure, [subject, "is"], Some(bytes), "")
    };
    Some(BudgetFacts {
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
        need: need_of(run, place, &took)?,
        own: String::new(),
    })
}

/// Why a figure may be more; `is_at_least` says whether the events that it goes by are not all.
fn why_at_least(took: &SnapshotTook, is_at_least: bool) -> Option<AtLeast> {
    if took.is_cut && took.ending != Ended::OutOfMemory {
        return Some(AtLeast::CUT);
    }
    match (took.ending, took.recorded) {
        (Ended::OutOfMemory, _) => Some(AtLeast::FAILED),
        (_, Recorded::Nothing) => Some(NOT_RECORDED),
        (Ended::NotRecorded, _) => Some(RANK_NOT_RECORDED),
        (Ended::Cut, _) | (_, Recorded::Cut) => Some(AtLeast::CUT),
        (_, Recorded::Window) if is_at_least => Some(WINDOW),
        _ if took.is_contradictory => Some(CONTRADICTORY),
        _ if took.is_one_step => Some(ONE_STEP),
        _ => None,
    }
}
