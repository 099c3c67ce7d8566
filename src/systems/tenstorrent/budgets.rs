//! The figures of a report that budgets limit.
//!
//! The fullest core counts L1 and L1_SMALL with known circular buffers, the peak the buffers of L1 of a core at the end of an
//! operation, the total what these reserve on all cores of a chip. Of another space that is named, peak and total count its
//! banks.

use super::memory::ProgramState;
use super::memory::facts::RankView;
use super::recorded::BufferSpace;
use super::run::MemoryOfRank;
use super::verdict::BROKE_OFF;
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Need};

const UNKNOWN_SCRATCH: AtLeast = AtLeast::of(
    "not-recorded",
    "the report does not have the circular buffers of all programs, so it may be more",
);

/// Of a space of a rank, with what is needed of it.
pub(super) fn budgets(view: &RankView<'_>, memory: &MemoryOfRank, need: Need) -> BudgetFacts {
    let broke_off = (!view.rank.errors.is_empty()).then_some(BROKE_OFF);
    let peak = memory.levels(view).max().unwrap_or(0);
    let on_chip = peak.saturating_mul(view.banks(memory.space));
    let figure = |figure, subject, bytes, at_least| BudgetedFigure {
        at_least,
        ..BudgetedFigure::of(figure, [subject, "has"], bytes, "the report does not say it")
    };
    let mut figures = Vec::new();
    if memory.space == BufferSpace::L1 {
        let mut programs = view.memory.programs.iter();
        let is_unknown = programs.any(|program| program.state == ProgramState::Unknown);
        let at_least = broke_off.or(is_unknown.then_some(UNKNOWN_SCRATCH));
        figures.push(BudgetedFigure {
            arena: Some((memory.arena().0, memory.title(view))),
            ..figure(BudgetFigure::FullestArena, "the fullest core", need.bytes, at_least)
        });
    }
    figures.push(figure(BudgetFigure::Total, "a chip at the peak", Some(on_chip), broke_off));
    figures.push(figure(BudgetFigure::Peak, "a bank at the peak", Some(peak), broke_off));
    BudgetFacts { figures, need, own: String::new() }
}
