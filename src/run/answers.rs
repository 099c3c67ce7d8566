//! The answers of a run: the trait that each system implements.

use std::fmt::Debug;

use serde_json::{Map, Value};

use super::claim::Claim;
use super::evidence::Place;
use super::insights::Insights;
use super::peak::{MemoryTotals, PeakOfRun};
use super::section::Section;
use super::verdict::Verdict;
use crate::analysis::derived::Derived;
use crate::progress::Progress;
use crate::store::StepId;
use crate::store::placed::ReadError;

/// What a run answers. Every method has a default that answers nothing, so a system implements what it has.
///
/// All of them may take long and belong on a thread beside the window; [`Derived`] keeps what was worked out.
pub trait Answers: Debug + Send + Sync {
    /// Whether the run fits, or how it ended; `None` where nothing in it says so.
    fn verdict(&self, derived: &Derived) -> Option<Verdict> {
        let _ = derived;
        None
    }

    /// The verdict with what follows and what to try next.
    ///
    /// # Errors
    /// When files behind the run cannot be read any more.
    fn insights(&self, derived: &Derived, progress: &Progress) -> Result<Insights, ReadError> {
        let _ = progress;
        Ok(Insights { verdict: self.verdict(derived), ..Insights::default() })
    }

    /// The memory that the run takes.
    fn memory(&self, derived: &Derived) -> MemoryTotals {
        let _ = derived;
        MemoryTotals::default()
    }

    /// The steps of the run; `None` where it has none.
    fn steps(&self, derived: &Derived) -> Option<u64> {
        derived.report().steps.get().map(|steps| steps.ids.len() as u64)
    }

    /// The peak and who owns it; `None` where the run does not say.
    fn peak(&self, derived: &Derived) -> Option<PeakOfRun> {
        let _ = derived;
        None
    }

    /// What the producer states beside what comes out here.
    fn claims(&self, derived: &Derived) -> Vec<Claim> {
        let _ = derived;
        Vec::new()
    }

    /// The form of the files, and who wrote them: `memory snapshot`, `PyTorch 2.9`.
    fn format(&self, derived: &Derived) -> SourceFormat {
        let _ = derived;
        SourceFormat::default()
    }

    /// What only this system says, for people: sections of the terminal's summary, in their order.
    fn sections(&self, derived: &Derived, insights: &Insights) -> Vec<Section> {
        let _ = (derived, insights);
        Vec::new()
    }

    /// What only this system says, for programs: the section of the JSON document that is named after the system.
    fn own_json(&self, derived: &Derived, progress: &Progress) -> Map<String, Value> {
        let _ = (derived, progress);
        Map::new()
    }

    /// The position of a place's step among the steps of the report; `None` where it names none that is there.
    fn step_position(&self, derived: &Derived, place: &Place) -> Option<usize> {
        let step = u32::try_from(place.step?).ok()?;
        derived.report().steps.get()?.ids.position(StepId(step))
    }

    /// Things beside the report that a look at all of them goes through, which says how long that takes.
    fn things_beside_report(&self) -> usize {
        0
    }
}

/// The form of a run's files, and who wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFormat {
    /// What the files are: `memory snapshot`, `HLO module`, `3.8.0`.
    pub format: Option<String>,
    /// Who wrote them, with the version.
    pub producer: Option<String>,
    /// When, as text.
    pub captured_at: Option<String>,
}
