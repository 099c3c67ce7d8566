//! Insights of a snapshot, each with its evidence: whether the run ended well, who owns the peak, what lies free in
//! pieces, what failed and why, and what to try. All of it is about the recorded events: if the beginning of the
//! history is cut off, the peak is that of the recorded window. Nothing is said of what is not known.

pub mod advice;
pub(crate) mod conclusions;
pub(crate) mod context;
pub(crate) mod differing_parts;
pub(crate) mod fragmentation;
pub(crate) mod growth;
pub(crate) mod out_of_memory;
pub(crate) mod peak;
#[cfg(test)]
mod tests;
pub(crate) mod unfinished_step;
pub(crate) mod verdict;
pub(crate) mod what_if;

use rayon::prelude::*;
use serde::Serialize;

use self::conclusions::conclusions;
use self::context::DeviceContext;
use self::fragmentation::Fragmentation;
use self::growth::GrowingFrame;
use self::out_of_memory::OutOfMemory;
use self::peak::PeakInsights;
use self::verdict::{SnapshotVerdict, VerdictFacts};
use super::failed_requests::FailedRequest;
use super::replay::EventPeak;
use super::replayed::ReplayedSnapshot;
use super::run_end::Recorded;
use super::stated_failure::StatedFailure;
use crate::run::Insights;
use crate::store::snapshot::{RankDevice, device_title};

/// What a snapshot says at first sight. What is serialized is what other systems do not have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotInsights {
    /// What every system says.
    #[serde(skip)]
    pub found: Insights,
    /// What only a snapshot says of how its run ended.
    pub verdict: VerdictFacts,
    /// Each device, in the order of the snapshot.
    pub devices: Vec<DeviceInsights>,
}

/// What is said of one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceInsights {
    /// Its number.
    pub device: i64,
    /// Which device of which rank it is, in a run of several.
    #[serde(flatten)]
    pub rank: Option<RankDevice>,
    /// Number of its events.
    pub events: usize,
    /// How much of the run its events are.
    pub recorded: Recorded,
    /// Whether the events are all that ever happened; else peaks are those of the recorded window.
    pub history_complete: bool,
    /// The peak of the allocated curve.
    pub allocated_peak: EventPeak,
    /// Whether the sizes of all blocks are known; else that peak is at least what it is.
    pub is_exact: bool,
    /// The peak of the reserved curve.
    pub reserved_peak: EventPeak,
    /// Who owns the peak of the requested curve.
    pub peak: PeakInsights,
    /// What lies free within segments.
    pub fragmentation: Fragmentation,
    /// The request at which the run ended.
    pub out_of_memory: Option<OutOfMemory>,
    /// Requests that failed and after which the run went on, the last ones.
    pub caught: Vec<FailedRequest>,
    /// Frames that have more at the same point of each step.
    pub growth: Vec<GrowingFrame>,
}

impl SnapshotInsights {
    /// Of a snapshot that was replayed, with what error texts beside it say, and whether its file is cut.
    pub fn of(replayed: &ReplayedSnapshot, stated: &[StatedFailure], is_cut: bool) -> Self {
        let places = (0..replayed.snapshot.devices.len()).into_par_iter();
        let contexts = places.filter_map(|place| DeviceContext::of(replayed, place, stated));
        let contexts: Vec<DeviceContext<'_>> = contexts.collect();
        let devices = contexts.par_iter().map(|context| DeviceInsights::of(context, stated));
        let devices: Vec<DeviceInsights> = devices.collect();
        let SnapshotVerdict { verdict, facts } = SnapshotVerdict::of(replayed, stated, is_cut);
        let (advice, not_advised) = advice::advised(&contexts, &devices);
        let conclusions = conclusions(&contexts, &devices, facts.device);
        let found = Insights { verdict: Some(verdict), conclusions, advice, not_advised };
        Self { found, verdict: facts, devices }
    }
}

impl DeviceInsights {
    fn of(context: &DeviceContext<'_>, stated: &[StatedFailure]) -> Self {
        let DeviceContext { device, replay, .. } = *context;
        let ended_by = context.ended_by;
        let (peak, (fragmentation, growth)) = rayon::join(
            || PeakInsights::of(context),
            || rayon::join(|| Fragmentation::of(context), || growth::growing_frames(context)),
        );
        let went_on = |failed: &FailedRequest| ended_by.is_none_or(|end| end.event != failed.event);
        Self {
            device: device.number,
            rank: device.rank,
            events: device.events.len(),
            recorded: context.replayed.recorded(context.place),
            history_complete: replay.is_complete,
            allocated_peak: replay.allocated_peak,
            is_exact: replay.is_exact,
            reserved_peak: replay.reserved_peak,
            peak,
            fragmentation,
            out_of_memory: (context.at_failure.as_ref())
                .and_then(|state| OutOfMemory::of(context.replayed, context.place, state, stated)),
            caught: context.failed.iter().filter(|failed| went_on(failed)).copied().collect(),
            growth,
        }
    }

    /// What it is called.
    pub fn title(&self) -> String {
        device_title(self.device, self.rank)
    }
}
