//! Insights: what follows from a run and what to try next.

use serde::Serialize;

use super::advice::{Advice, NotAdvised};
use super::conclusion::Conclusion;
use super::room::Room;
use super::verdict::{Outcome, Verdict};
use crate::text::bytes;

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
        let stated = self.verdict.and_then(|own| own.capacity_bytes);
        if let Some(stated) = stated.filter(|_| room.is_said() && verdict.used_of.is_some()) {
            let text = format!(
                "Only the verdict goes by the capacity that the user says; what else is said goes by \
                 the {} that the run states",
                bytes(stated)
            );
            conclusions.insert(0, Conclusion::new("stated-capacity", text));
        }
        if room.is_said() && verdict.used_of.is_none() {
            for one in &mut advice {
                one.makes_it_fit = one.fits_where(verdict);
            }
        }
        Self { verdict: Some(verdict.clone()), conclusions, advice, not_advised: self.not_advised }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_by_the_capacity_that_a_run_of_tiles_states_says_so() {
        let verdict = |used_of| Verdict {
            outcome: Outcome::Fits,
            used_of,
            capacity_bytes: Some(1024),
            ..Verdict::default()
        };
        let said = Room { capacity_bytes: Some(2048), ..Room::default() };
        let conclusions = |used_of, room| {
            let own = Insights { verdict: Some(verdict(used_of)), ..Insights::default() };
            own.with_verdict(&verdict(used_of), room).conclusions
        };
        let tiles = Some("the fullest tile");
        assert!(
            conclusions(None, said).is_empty() && conclusions(tiles, Room::default()).is_empty()
        );
        let found = conclusions(tiles, said);
        assert!(found[0].text.ends_with("goes by the 1.00 KiB that the run states"), "{found:?}");
    }
}
