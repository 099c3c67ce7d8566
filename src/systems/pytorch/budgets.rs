//! What a memory snapshot has of the figures that budgets limit.
//!
//! The total is what is taken from the device at most (reserved), for that is what the device must have. The peak is
//! what is asked for at most (requested), the peak of summary, liveness and compare: it is exact of every file, and does
//! not move with the rounding of the allocator. Both are of the device that failed, else of the one that had
//! most, or of the one that is named.

use std::path::PathBuf;

use super::allocator::replayed::AllocatorRun;
use super::allocator::run_end::{Outcome, Recorded};
use crate::analysis::variants::{Variant, VariantColumn};
use crate::run::{BudgetFacts, BudgetFigure, BudgetedFigure, FitFacts, NeededBytes, Room};

/// Of the device of a number, or the one that failed or had most; `None` where there is none.
pub(super) fn budgets(run: &AllocatorRun, device: Option<i64>, room: Room) -> Option<BudgetFacts> {
    let (place, variant) = Variant::of_run((String::new(), PathBuf::new()), run, device)?;
    let (took, (device, _)) = (*variant.snapshot()?, run.snapshot()?.device(place)?);
    let is_window = took.recorded == Recorded::Window;
    let figure = |figure, subject, bytes, of: VariantColumn| BudgetedFigure {
        figure,
        subject: [subject, "is"],
        bytes: Some(bytes),
        why_unknown: "",
        arena: None,
        is_of_window: is_window && of.is_at_least(&variant),
    };
    let why_at_least = why_at_least(&variant, took.recorded);
    let needed = NeededBytes {
        verb: "needs",
        bytes: variant.needed_bytes,
        is_at_least: VariantColumn::Needed.is_at_least(&variant),
        why_not: why_at_least,
        is_of_window: is_window && VariantColumn::Needed.is_at_least(&variant),
        stated_by: "the error text beside it states",
    };
    Some(BudgetFacts {
        device: Some(device.number),
        title: device.title(),
        figures: vec![
            figure(
                BudgetFigure::Total,
                "what is taken from the device at most",
                took.max_reserved_bytes,
                VariantColumn::MaxReserved,
            ),
            figure(
                BudgetFigure::Peak,
                "what is asked for at most",
                took.requested_peak_bytes,
                VariantColumn::RequestedPeak,
            ),
        ],
        why_at_least,
        fit: FitFacts::of_room(needed, room.or_stated(variant.stated())),
    })
}

/// Why figures are no more than a lower bound; a budget that they are within is then not known to be kept.
fn why_at_least(variant: &Variant, recorded: Recorded) -> Option<&'static str> {
    if variant.is_cut {
        return Some("the file ends before its contents do, so it may be more");
    }
    match (variant.outcome, recorded) {
        (Outcome::OutOfMemory, _) => {
            Some("the run ran out of memory, and nobody knows what it would have come to")
        }
        (_, Recorded::Nothing) => {
            Some("no events were recorded, so it may have been more before the snapshot was taken")
        }
        _ => None,
    }
}
