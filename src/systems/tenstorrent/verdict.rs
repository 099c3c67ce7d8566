//! Whether a run went well, by the errors of its report, and how full the cores were.

use super::memory::errors::decisive_error;
use super::memory::facts::RankView;
use super::memory::scratch_facts::fullest;
use super::recorded::BufferSpace;
use crate::diagnose::tenstorrent::in_plain_words;
use crate::run::need::AtLeast;
use crate::run::{DeviceVerdict, Outcome, Verdict};
use crate::text::{clean, exact_bytes};

/// Of a run in which an operation did not come to its end, for whatever reason.
pub const BROKE_OFF: AtLeast =
    AtLeast::of("not-recorded", "an operation did not come to its end, so it may be more");

/// Of a run of which a part is not in the report.
pub const INCOMPLETE: AtLeast = AtLeast::of(
    "unfinished",
    "buffers are missing in the report, or could not be read, so it may be more",
);

/// The place of the rank that decides the verdict: the first that did not come to its end, else the first that is not known
/// in full, else the fullest.
pub fn decisive_rank(views: &[RankView<'_>]) -> Option<usize> {
    let failed = views.iter().position(|view| !view.rank.errors.is_empty());
    let failed = failed.or_else(|| views.iter().position(|view| view.rank.may_lack_buffers()));
    failed.or_else(|| (0..views.len()).max_by_key(|place| views.get(*place).map(used_bytes)))
}

/// The verdict of a run.
pub fn verdict(views: &[RankView<'_>]) -> Verdict {
    let ranks: Vec<RankVerdict> =
        (0_i64..).zip(views).map(|(place, view)| RankVerdict::of(place, view)).collect();
    let decisive = decisive_rank(views).and_then(|place| ranks.get(place));
    let Some(decisive) = decisive else { return Verdict::default() };
    let devices = ranks.iter().map(|rank| rank.device.clone()).collect();
    let of_device = Verdict::of_device(&decisive.device);
    Verdict {
        text: decisive.text(),
        used_of: Some("the fullest core"),
        capacity_from: decisive.device.capacity_bytes.map(|_| "the report".to_owned()),
        devices,
        ..of_device
    }
}

/// What is said of one rank.
struct RankVerdict {
    device: DeviceVerdict,
    /// Why it did not come to its end.
    why: Option<String>,
}

impl RankVerdict {
    fn of(place: i64, view: &RankView<'_>) -> Self {
        let (used, capacity) = (used_bytes(view), capacity_bytes(view));
        let over = used.zip(capacity).map(|(used, capacity)| used.saturating_sub(capacity));
        let (outcome, cause, why, missing) = match decisive_error(view) {
            None if view.rank.may_lack_buffers() => {
                let text = "buffers are missing in the report, or could not be read".to_owned();
                (Outcome::Unknown, Some(INCOMPLETE.cause), Some(text), over)
            }
            None => (Outcome::Ran, None, None, over),
            Some((error, Some(said))) => {
                let words = in_plain_words(&said);
                let text =
                    format!("{} failed. {}", clean(&error.name), words.trim_end_matches('.'));
                (Outcome::OutOfMemory, Some("request-failed"), Some(text), said.missing_bytes)
            }
            Some((error, None)) => {
                let text = format!(
                    "{} did not come to its end, and the report does not say that memory was the reason",
                    clean(&error.name)
                );
                (Outcome::Unknown, Some(BROKE_OFF.cause), Some(text), over)
            }
        };
        let peak = view.memory.peak(BufferSpace::L1);
        Self {
            device: DeviceVerdict {
                device: place,
                name: format!("Chip of rank {}", view.rank.rank),
                outcome,
                cause,
                used_bytes: used,
                capacity_bytes: capacity,
                over_bytes: missing,
                peak_bytes: Some(peak.map_or(0, |at| view.memory.level(BufferSpace::L1, at))),
                peak_step: peak.and_then(|at| i64::try_from(view.rank.operations.id(at)).ok()),
            },
            why,
        }
    }

    fn text(&self) -> String {
        let taken = match (self.device.used_bytes, self.device.capacity_bytes) {
            (Some(used), Some(capacity)) => format!(
                "buffers and known circular buffers took {} of the {} of the fullest core",
                exact_bytes(used),
                exact_bytes(capacity)
            ),
            _ => "the report does not say how much L1 cores have".to_owned(),
        };
        match &self.why {
            Some(why) => format!("{why}; {taken}"),
            None => taken,
        }
    }
}

/// The most that buffers and known scratch take of a core.
fn used_bytes(view: &RankView<'_>) -> Option<u64> {
    let within = view.memory.transient.map(|peak| peak.bytes);
    within.max(fullest(view).map(|known| known.in_use_bytes()))
}

/// What they can take: all of L1 behind its reserved part.
pub(super) fn capacity_bytes(view: &RankView<'_>) -> Option<u64> {
    let device = view.rank.machine.device?;
    Some(device.worker_l1_bytes.saturating_sub(device.floor_address)).filter(|bytes| *bytes > 0)
}
