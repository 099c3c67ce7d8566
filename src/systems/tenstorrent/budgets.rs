//! The figures of a report that budgets limit.
//!
//! The total is that of the fullest core: L1 and L1_SMALL with known circular buffers. The peak has the buffers of L1 at the end
//! of an operation. Of another space that is named, both count a bank of it.

use super::memory::facts::RankView;
use super::recorded::BufferSpace;
use super::run::MemoryOfRank;
use super::verdict::{BROKE_OFF, INCOMPLETE};
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Need};

const UNKNOWN_SCRATCH: AtLeast = AtLeast::of(
    "not-recorded",
    "the report does not have the circular buffers of all programs, so it may be more",
);

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
    let figures =
        vec![total, figure(BudgetFigure::Peak, "a bank at the peak", Some(peak), missing)];
    BudgetFacts { figures, need, own: String::new() }
}
