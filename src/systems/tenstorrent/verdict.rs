//! Whether a run went well, by the errors of its report, and how full the cores were.

use super::memory::facts::RankView;
use super::memory::scratch_facts::fullest;
use super::recorded::BufferSpace;
use crate::run::{DeviceVerdict, Outcome, Verdict};
use crate::text::{exact_bytes, grouped};

/// The verdict of a run.
pub fn verdict(views: &[RankView<'_>]) -> Verdict {
    let devices: Vec<DeviceVerdict> =
        (0_i64..).zip(views).map(|(place, view)| of_rank(place, view)).collect();
    let error = views.iter().flat_map(|view| &view.rank.errors).next();
    let most = devices.iter().max_by_key(|device| device.used_bytes).cloned().unwrap_or_default();
    let (used, capacity) = (most.used_bytes, most.capacity_bytes);
    let taken = match (used, capacity) {
        (Some(used), Some(capacity)) => format!(
            "buffers and known scratch took {} of the {} of a core",
            exact_bytes(used),
            exact_bytes(capacity)
        ),
        _ => "the report does not say how much L1 cores have".to_owned(),
    };
    let (outcome, cause, text) = match error {
        None => (Outcome::Ran, None, taken),
        Some(error) => (
            Outcome::Unknown,
            Some("not-recorded"),
            format!(
                "{} did not come to its end, and the report does not say why; {taken}",
                error.name
            ),
        ),
    };
    Verdict {
        outcome,
        cause,
        short: outcome.word().to_owned(),
        text,
        used_bytes: used,
        used_of: Some("the fullest core"),
        capacity_bytes: capacity,
        capacity_from: capacity.map(|_| "the report".to_owned()),
        over_bytes: used.zip(capacity).map(|(used, capacity)| used.saturating_sub(capacity)),
        devices,
        ..Verdict::default()
    }
}

/// Of one rank: the most that buffers and known scratch take of a core, of what is behind its reserved part.
fn of_rank(place: i64, view: &RankView<'_>) -> DeviceVerdict {
    let transient = view.memory.transient.map(|peak| peak.bytes);
    let with_scratch = fullest(view).map(|known| known.in_use_bytes());
    let capacity = view
        .rank
        .machine
        .device
        .map(|device| device.worker_l1_bytes.saturating_sub(device.floor_address));
    let used = transient.max(with_scratch);
    let has_error = !view.rank.errors.is_empty();
    let peak = view.memory.peak(BufferSpace::L1);
    let outcome = if has_error { Outcome::Unknown } else { Outcome::Ran };
    DeviceVerdict {
        device: place,
        name: format!("Chip {}", grouped(view.rank.rank)),
        outcome,
        cause: has_error.then_some("not-recorded"),
        used_bytes: used,
        capacity_bytes: capacity,
        over_bytes: used.zip(capacity).map(|(used, capacity)| used.saturating_sub(capacity)),
        peak_bytes: Some(peak.map_or(0, |at| view.memory.level(BufferSpace::L1, at))),
        peak_step: peak.and_then(|at| i64::try_from(view.rank.operations.id(at)).ok()),
    }
}
