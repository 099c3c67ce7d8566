//! What follows from a report, and what to try next (docs/user/advice.md, TT-NN).

pub mod advice;
mod conclusions;
mod decisive;
mod places;

pub use decisive::DecisiveMoment;

use super::memory::facts::RankView;
use crate::run::{Insights, Verdict};

/// Conclusions and advice of the rank that decides the verdict, by its place.
pub fn insights(view: &RankView<'_>, place: usize, verdict: Verdict) -> Insights {
    let moment = DecisiveMoment::of(view, place);
    Insights {
        conclusions: conclusions::conclusions(view, &moment),
        advice: advice::advice(view, &moment, &verdict),
        not_advised: Vec::new(),
        verdict: Some(verdict),
    }
}
