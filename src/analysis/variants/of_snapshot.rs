//! The figures of a variant, of one device of its snapshot.

use std::path::PathBuf;

use super::{AllocatedFrom, Variant};
use crate::analysis::allocator::claims::claimed_device;
use crate::analysis::allocator::device_facts::end_state;
use crate::analysis::allocator::failed_requests::last_failed;
use crate::analysis::allocator::free_pieces::segment_for;
use crate::analysis::allocator::peak::largest_device;
use crate::analysis::allocator::replay::Replay;
use crate::analysis::allocator::replayed::AllocatorRun;
use crate::store::snapshot::{Action, AllocatorClaims, Snapshot, SnapshotDevice};

impl Variant {
    /// Of the device of a number, or of the one that had most, with its place among the devices; `None` where there is
    /// none. `claims` are taken where they are of that device.
    pub fn of_run(
        named: (String, PathBuf),
        run: &AllocatorRun,
        device: Option<i64>,
    ) -> Option<(usize, Self)> {
        let replayed = run.snapshot()?;
        let snapshot = &replayed.snapshot;
        let place = match device {
            Some(number) => snapshot.devices.iter().position(|device| device.number == number)?,
            None => largest_device(replayed.replays.get(..snapshot.devices.len())?)?,
        };
        let of = (snapshot.devices.get(place)?, replayed.replays.get(place)?);
        let segments = |device| snapshot.segments_of(device).iter().map(|segment| segment.bytes);
        let reserved = |device| segments(device).fold(0, u64::saturating_add);
        let reserved: Vec<u64> = snapshot.devices.iter().map(reserved).collect();
        let is_of = |claims: &&AllocatorClaims| claimed_device(claims, &reserved) == Some(place);
        let variant = Self::of(named, snapshot, of, run.claims.as_ref().filter(is_of));
        let stated = run.stated_capacity(place).and_then(|text| text.capacity_bytes);
        Some((place, Self { is_cut: run.is_cut, stated_capacity_bytes: stated, ..variant }))
    }

    /// Of a device that was replayed. `claims` are PyTorch's own statistics of it. The run is finished if no device of
    /// it has a request at last that failed.
    pub fn of(
        (name, path): (String, PathBuf),
        snapshot: &Snapshot,
        (device, replay): (&SnapshotDevice, &Replay),
        claims: Option<&AllocatorClaims>,
    ) -> Self {
        let end = end_state(snapshot, device);
        let failed = last_failed(snapshot, device);
        let claimed = claims.and_then(|claims| claims.allocated.peak);
        let from_events =
            if replay.is_exact { AllocatedFrom::Replay } else { AllocatedFrom::AtLeast };
        let (max_allocated_bytes, max_allocated_from) = match claimed {
            Some(bytes) => (bytes, AllocatedFrom::MemoryStats),
            None => (replay.allocated_peak.bytes, from_events),
        };
        let max_reserved_bytes = replay.reserved_peak.bytes;
        let needed_bytes = failed.map_or(max_reserved_bytes, |failed| {
            let reserved = reserved_after(snapshot, device, end.reserved_bytes, failed.event);
            reserved.saturating_add(segment_for(failed.bytes)).max(max_reserved_bytes)
        });
        let of_others = || snapshot.devices.iter().find_map(|device| last_failed(snapshot, device));
        let ended_by = failed.or_else(of_others);
        Self {
            name,
            path,
            devices: snapshot.devices.iter().map(|device| device.number).collect(),
            is_finished: ended_by.is_none(),
            is_cut: false,
            allocated_bytes: end.allocated_bytes,
            max_allocated_bytes,
            max_allocated_from,
            reserved_bytes: end.reserved_bytes,
            max_reserved_bytes,
            requested_peak_bytes: replay.requested_peak.bytes,
            failed_request_bytes: ended_by.map(|failed| failed.bytes),
            needed_bytes,
            smi_bytes: None,
            stated_capacity_bytes: None,
        }
    }
}

/// What was reserved after an event, from what is at the end.
fn reserved_after(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    at_end_bytes: u64,
    event: u32,
) -> u64 {
    let events = &snapshot.events;
    let row = device.events.start.saturating_add(event as usize);
    let later = row.saturating_add(1)..device.events.end;
    later.fold(at_end_bytes, |reserved, row| {
        let bytes = events.sizes.get(row).copied().unwrap_or(0);
        match events.actions.get(row) {
            Some(Action::SegmentAlloc | Action::SegmentMap) => reserved.saturating_sub(bytes),
            Some(Action::SegmentFree | Action::SegmentUnmap) => reserved.saturating_add(bytes),
            _ => reserved,
        }
    })
}
