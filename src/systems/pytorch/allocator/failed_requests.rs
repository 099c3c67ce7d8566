//! Requests that failed, and whether the run went on: an `oom` is the end of it only if nothing as large was handed
//! out after it (formats/pytorch.md 9.11). A request is recorded as it was made, an `oom` rounded up, so both are
//! compared rounded up.

use super::block_size::rounded;
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};

/// Requests that failed and are listed.
const MOST_FAILED: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FailedRequest {
    pub event: u32,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Bytes that were free on the device, where the file says it.
    pub device_free: Option<u64>,
    /// The stream that asked, where the file says it.
    #[serde(skip)]
    pub stream: Option<u64>,
}

/// All requests that failed on a device, the last one first.
fn all_failed(snapshot: &Snapshot, device: &SnapshotDevice) -> impl Iterator<Item = FailedRequest> {
    let actions = snapshot.events.actions.get(device.events.clone()).unwrap_or_default();
    let failed = actions.iter().enumerate().rev();
    let failed = failed.filter(|(_, action)| **action == Action::OutOfMemory);
    failed.map(|(event, _)| failed_at(snapshot, device, event as u32))
}

/// The last requests that failed on a device, in their order.
pub fn failed_requests(snapshot: &Snapshot, device: &SnapshotDevice) -> Vec<FailedRequest> {
    let mut failed: Vec<FailedRequest> = all_failed(snapshot, device).take(MOST_FAILED).collect();
    failed.reverse();
    failed
}

/// The requests that failed on a device by their bytes, for texts that say how many those were; of those that were alike
/// the last.
pub fn failed_by_size(snapshot: &Snapshot, device: &SnapshotDevice) -> Vec<FailedRequest> {
    let mut failed: Vec<FailedRequest> = all_failed(snapshot, device).collect();
    failed.sort_by_key(|one| (one.bytes, one.device_free));
    failed.dedup_by_key(|one| (one.bytes, one.device_free));
    failed
}

/// The last request that failed on a device, if nothing as large was handed out after it.
pub fn last_failed(snapshot: &Snapshot, device: &SnapshotDevice) -> Option<FailedRequest> {
    let events = &snapshot.events;
    let actions = events.actions.get(device.events.clone()).unwrap_or_default();
    // Most runs have none, and millions of other events.
    let last = actions.iter().rposition(|action| *action == Action::OutOfMemory)?;
    let sizes = events.sizes.get(device.events.clone()).unwrap_or_default();
    let bytes = |size: &u64| rounded(*size, &snapshot.settings);
    let wanted = bytes(sizes.get(last)?);
    let mut later = actions.iter().zip(sizes).skip(last);
    let is_granted = later.any(|(action, size)| *action == Action::Alloc && bytes(size) >= wanted);
    (!is_granted).then(|| failed_at(snapshot, device, last as u32))
}

fn failed_at(snapshot: &Snapshot, device: &SnapshotDevice, event: u32) -> FailedRequest {
    let (events, row) = (&snapshot.events, device.events.start.saturating_add(event as usize));
    FailedRequest {
        event,
        bytes: events.sizes.get(row).copied().unwrap_or(0),
        device_free: events.device_free(row),
        stream: events
            .streams
            .get(row)
            .and_then(|stream| snapshot.streams.get(*stream as usize))
            .copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(events: &[(Action, u64)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (action, bytes) in events {
            snapshot.events.actions.push(*action);
            snapshot.events.sizes.push(*bytes);
            snapshot.events.addresses.push(7);
        }
        let events = 0..events.len();
        snapshot.devices.push(SnapshotDevice { events, ..SnapshotDevice::default() });
        snapshot
    }

    #[test]
    fn a_request_that_was_granted_later_is_no_end() {
        let last = |events: &[(Action, u64)]| {
            let snapshot = snapshot(events);
            let last = last_failed(&snapshot, &snapshot.devices[0]);
            last.map(|failed| failed.event)
        };
        let (alloc, failed) = (Action::Alloc, Action::OutOfMemory);
        assert_eq!(last(&[(alloc, 4096)]), None);
        assert_eq!(last(&[(alloc, 4096), (failed, 4096)]), Some(1));
        assert_eq!(last(&[(failed, 4096), (alloc, 4096)]), None);
        assert_eq!(last(&[(failed, 4096), (alloc, 3584)]), Some(0));
        assert_eq!(
            last(&[(failed, 4096), (alloc, 4000)]),
            None,
            "4,000 B were 4,096 B when they failed"
        );
        assert_eq!(
            last(&[(failed, 512), (alloc, 512), (failed, 1024)]),
            Some(2),
            "only the last counts"
        );
    }

    #[test]
    fn of_many_the_last_are_listed() {
        let events: Vec<_> =
            (0..MOST_FAILED as u64 + 5).map(|number| (Action::OutOfMemory, 512 * number)).collect();
        let snapshot = snapshot(&events);
        let failed = failed_requests(&snapshot, &snapshot.devices[0]);
        assert_eq!(failed.len(), MOST_FAILED);
        assert_eq!((failed[0].event, failed[0].device_free), (5, Some(7)));
        assert_eq!(failed.last().map(|failed| failed.event), Some(MOST_FAILED as u32 + 4));
    }
}
