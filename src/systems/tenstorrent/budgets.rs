//! The figures of a report that budgets limit.
//!
//! The total is that of the fullest core: L1 and L1_SMALL with known circular buffers. The peak has the buffers of L1 at the end
//! of an operation. Of another space that is named, both count a bank of it.

use super::memory::facts::RankView;
use super::memory::scratch_facts::closest;
use super::recorded::BufferSpace;
use super::run::MemoryOfRank;
use super::verdict::{BROKE_OFF, INCOMPLETE};
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Need};

const UNKNOWN_SCRATCH: AtLeast = AtLeast::of(
    "not-recorded",
    "the report does not have the circular buffers of all programs, so it may be more",
);

/// Why the least headroom may be less.
const UNKNOWN_HEADROOM: AtLeast = AtLeast::of(
    "not-recorded",
    "the report does not have the circular buffers of all programs, so it may be less",
);
const HEADROOM_BROKE_OFF: AtLeast =
    AtLeast::of(BROKE_OFF.cause, "an operation did not come to its end, so it may be less");
const HEADROOM_INCOMPLETE: AtLeast = AtLeast::of(
    INCOMPLETE.cause,
    "buffers are missing in the report, or could not be read, so it may be less",
);

/// The least room between known circular buffers and the lowest buffer; 0 where they overlap.
fn headroom(view: &RankView<'_>) -> BudgetedFigure {
    let least = closest(view).map(|known| u64::try_from(known.headroom_bytes()).unwrap_or(0));
    let missing = (!view.rank.errors.is_empty()).then_some(HEADROOM_BROKE_OFF);
    let missing = missing.or(view.rank.may_lack_buffers().then_some(HEADROOM_INCOMPLETE));
    let is_unknown = view.memory.unknown_programs() > 0;
    let why = "the report does not have the circular buffers of any program";
    BudgetedFigure {
        at_least: missing.or(is_unknown.then_some(UNKNOWN_HEADROOM)),
        ..BudgetedFigure::of(BudgetFigure::Headroom, ["the least headroom", "is"], least, why)
    }
}

/// Of a space of a rank, with what is needed of it.
pub(super) fn budgets(view: &RankView<'_>, memory: &MemoryOfRank, need: Need) -> BudgetFacts {
    let missing = (!view.rank.errors.is_empty()).then_some(BROKE_OFF);
    let missing = missing.or(view.rank.may_lack_buffers().then_some(INCOMPLETE));
    let peak = memory.levels(view).max().unwrap_or(0);
    let figure = |figure, subject, bytes, at_least| BudgetedFigure {
        at_least,
        ..BudgetedFigure::of(figure, [subject, "has"], bytes, "the report does not say it")
    };
    let total = if memory.space == BufferSpace::L1 {
        let is_unknown = view.memory.unknown_programs() > 0;
        let at_least = missing.or(is_unknown.then_some(UNKNOWN_SCRATCH));
        figure(BudgetFigure::Total, "the fullest core", need.bytes, at_least)
    } else {
        figure(BudgetFigure::Total, "a bank at the peak", Some(peak), missing)
    };
    let mut figures =
        vec![total, figure(BudgetFigure::Peak, "a bank at the peak", Some(peak), missing)];
    if memory.space == BufferSpace::L1 {
        figures.push(headroom(view));
    }
    BudgetFacts { figures, need, own: String::new() }
}
