//! The figures of a run that budgets limit.

use super::need::{AtLeast, Need};
use crate::analysis::derived::Derived;
use crate::text::words;

words! {
    /// A figure that has a budget.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BudgetFigure by key, option {
        /// Bytes of the fullest arena where each has a memory of its own, gaps included.
        FullestArena = "fullest_tile" | "max-tile-bytes",
        /// What the device must have.
        Total = "total" | "max-total-bytes",
        /// What is alive at the peak, always live or not.
        Peak = "peak" | "max-peak-bytes",
        /// The least room between what grows from both ends of a memory.
        Headroom = "headroom" | "min-headroom-bytes",
    }
}

impl BudgetFigure {
    /// Whether its budget is the least that it may be, not the most.
    pub fn has_least(self) -> bool {
        self == Self::Headroom
    }
}

/// What budgets are held against: the figures of a run, or of one of its devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetFacts {
    /// The figures that such a run has.
    pub figures: Vec<BudgetedFigure>,
    /// What it needs, of the same device.
    pub need: Need,
    /// What its system says beside that of whether it fits, in a few words: "16 tiles over".
    pub own: String,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetedFigure {
    /// Which.
    pub figure: BudgetFigure,
    /// What it is of, and its verb: `["the fullest tile", "has"]`.
    pub subject: [&'static str; 2],
    /// Its bytes; `None` where they are not known.
    pub bytes: Option<u64>,
    /// Why they are not.
    pub why_unknown: &'static str,
    /// The arena that it is of, with its title.
    pub arena: Option<(u32, String)>,
    /// Why it may be more, or less where [`BudgetFigure::has_least`]; a budget that such a bound is within is not known to be kept.
    pub at_least: Option<AtLeast>,
}

impl BudgetedFigure {
    /// A figure of what something is or has: its subject with its verb; exact, and of no arena.
    pub fn of(
        figure: BudgetFigure,
        subject: [&'static str; 2],
        bytes: Option<u64>,
        why_unknown: &'static str,
    ) -> Self {
        Self { figure, subject, bytes, why_unknown, arena: None, at_least: None }
    }
}

impl BudgetFacts {
    /// What is needed as a whole, by what the run answers elsewhere.
    pub fn of_answers(derived: &Derived, need: Need) -> Self {
        let figure = |figure, subject, bytes| BudgetedFigure {
            at_least: need.at_least,
            ..BudgetedFigure::of(figure, [subject, "has"], bytes, "the run does not state it")
        };
        let answers = derived.answers();
        let total = answers.memory(derived).total_bytes;
        let peak = answers.peak_size(derived).map(|peak| peak.bytes);
        let figures = vec![
            figure(BudgetFigure::Total, "the run", total),
            figure(BudgetFigure::Peak, "the peak", peak),
        ];
        Self { figures, need, own: String::new() }
    }
}
