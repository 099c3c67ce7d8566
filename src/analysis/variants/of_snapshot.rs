//! The figures of a variant, of one device of its snapshot.

use std::path::PathBuf;

use super::{PeakFrom, SnapshotTook, Took, Variant};
use crate::systems::pytorch::allocator::claims::{claimed_device, may_be_of};
use crate::systems::pytorch::allocator::free_pieces::{reserved_after, segment_for};
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::systems::pytorch::allocator::stated_failure::StatedFailure;

impl Variant {
    /// Of the device of a number, or of the one that failed or else had most, with its place among the devices; `None`
    /// where there is none. What PyTorch itself states is taken where it is of that device.
    pub fn of_run(
        (name, path): (String, PathBuf),
        run: &AllocatorRun,
        device: Option<i64>,
    ) -> Option<(usize, Self)> {
        let (replayed, ended) = (run.snapshot()?, run.end()?);
        let snapshot = &replayed.snapshot;
        let place = match device {
            Some(number) => snapshot.devices.iter().position(|device| device.number == number)?,
            None => ended.device?,
        };
        let (device, replay) = replayed.device(place)?;
        let end = replayed.end_state(place);
        // A run of many ranks has claims of each.
        let mut claims = run.claims.iter().filter(|claims| may_be_of(claims, device));
        let claimed = claims.find(|claims| claimed_device(claims, replayed) == Some(place));
        let recorded = Recorded::of(replayed, place);
        let from_events = match recorded {
            Recorded::Whole if replay.is_exact => PeakFrom::Replay,
            _ => PeakFrom::AtLeast,
        };
        let (max_allocated_bytes, max_allocated_from) =
            match claimed.and_then(|claims| claims.allocated.peak) {
                Some(bytes) => (bytes, PeakFrom::MemoryStats),
                None => (replay.allocated_peak.bytes, from_events),
            };
        // What was taken before the first event only PyTorch itself can say.
        let replayed_bytes = replay.reserved_peak.bytes;
        let (max_reserved_bytes, max_reserved_from) =
            match (recorded, claimed.and_then(|claims| claims.reserved.peak)) {
                (Recorded::Whole, _) => (replayed_bytes, PeakFrom::Replay),
                (_, Some(bytes)) => (bytes.max(replayed_bytes), PeakFrom::MemoryStats),
                (_, None) => (replayed_bytes, PeakFrom::AtLeast),
            };
        let is_failed = ended.outcome == Outcome::OutOfMemory;
        let failed = replayed.ended_by(place).filter(|_| is_failed);
        let needed_bytes = failed.map_or(max_reserved_bytes, |failed| {
            let reserved = reserved_after(snapshot, device, replay, failed.event.into()).bytes();
            reserved.saturating_add(segment_for(failed.bytes)).max(max_reserved_bytes)
        });
        let stated = ended.said_by.filter(|text| text.may_be_of(device.number));
        let stated = stated.and_then(|text| text.requested_bytes);
        let capacity = run.stated_capacity(place);
        let variant = Self {
            name,
            path,
            devices: snapshot.devices.iter().map(|of| (of.number, of.rank)).collect(),
            rank: device.rank,
            outcome: ended.outcome,
            is_cut: run.is_cut,
            is_refused: false,
            needed_bytes,
            smi_bytes: None,
            stated_capacity_bytes: capacity.and_then(|text| text.capacity_bytes),
            stated_other_bytes: capacity.and_then(|text| stated_others(text, replayed, place)),
            took: Took::Snapshot(SnapshotTook {
                recorded,
                allocated_bytes: end.allocated_bytes,
                max_allocated_bytes,
                max_allocated_from,
                reserved_bytes: end.reserved_bytes,
                max_reserved_bytes,
                max_reserved_from,
                requested_peak_bytes: replay.requested_peak.bytes,
                failed_request_bytes: failed.map(|failed| failed.bytes).or(stated),
            }),
        };
        Some((place, variant))
    }
}

/// What others had of a device when the request failed that a text is about: what the device has, less what was free and
/// what was reserved then. Of a share of the process nobody knows it.
fn stated_others(text: &StatedFailure, replayed: &ReplayedSnapshot, place: usize) -> Option<u64> {
    let capacity = text.capacity_bytes.filter(|_| !text.is_share)?;
    let ended_by = replayed.ended_by(place).filter(|failed| text.is_of(failed));
    let failed = ended_by.or_else(|| text.request_among(replayed.failed_by_size(place)))?;
    let free = failed.device_free.or(text.free_bytes)?;
    let (device, replay) = replayed.device(place)?;
    let reserved = reserved_after(&replayed.snapshot, device, replay, failed.event.into());
    capacity.checked_sub(free)?.checked_sub(reserved.bytes())
}
