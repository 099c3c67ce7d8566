//! Insights: what follows from a run and what to try next.

use serde::Serialize;

use super::advice::{Advice, NotAdvised};
use super::conclusion::Conclusion;
use super::room::Room;
use super::verdict::{Outcome, Verdict};

/// What a run says at first sight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Insights {
    /// Whether it fits, or how it ended; `None` where the run has nothing that would say so.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
    /// What follows from the figures.
    pub conclusions: Vec<Conclusion>,
    /// What to try next, what helps most first.
    pub advice: Vec<Advice>,
    /// Techniques that come to mind and do not help here.
    pub not_advised: Vec<NotAdvised>,
}

impl Insights {
    /// The same by another verdict. Where the user says what the device has, whether advice makes the run fit goes by
    /// that: what it lacks is bytes, and their saving is too.
    #[must_use]
    pub fn with_verdict(self, verdict: &Verdict, room: Room) -> Self {
        let Self { mut conclusions, mut advice, .. } = self;
        // Any other verdict of a lower bound says so itself.
        if let Some(bound) = verdict.at_least.filter(|_| verdict.outcome == Outcome::Ran) {
            let text = format!("What the run needs is known only as a lower bound: {}", bound.why);
            conclusions.insert(0, Conclusion::new("lower-bound", text));
        }
        if room.is_said() && verdict.used_of.is_none() {
            for one in &mut advice {
                one.makes_it_fit = one.fits_where(verdict);
            }
        }
        Self { verdict: Some(verdict.clone()), conclusions, advice, not_advised: self.not_advised }
    }
}
