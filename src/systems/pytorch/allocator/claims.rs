//! The figures that PyTorch states of a run, each beside the one from its snapshot, and where the two contradict each
//! other. The replayed peak is that of the recorded window, so it may be below the stated one.

use super::device_facts::DeviceFacts;
use super::replayed::ReplayedSnapshot;
use crate::store::snapshot::{AllocatorClaims, ClaimedBytes, SnapshotDevice};

/// A figure as it is stated and as it comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ComparedClaim {
    /// Its name in PyTorch.
    pub name: &'static str,
    /// As PyTorch states it.
    pub claimed_bytes: u64,
    /// As it comes out of the snapshot.
    pub bytes: u64,
    /// Whether both can be right.
    pub agrees: bool,
}

/// The device that totals are of, by the bytes of segments that each has at the end: PyTorch states those of the device
/// that was current, and does not say which. Of a single device they are in any case. Those of a rank are of one of its devices.
/// Its place.
pub fn claimed_device(claims: &AllocatorClaims, replayed: &ReplayedSnapshot) -> Option<usize> {
    let devices = replayed.snapshot.devices.iter().enumerate();
    let places = devices.filter(|(_, device)| may_be_of(claims, device)).map(|(place, _)| place);
    let places: Vec<usize> = places.collect();
    let reserved = places.iter().map(|place| replayed.end_state(*place).reserved_bytes);
    places.get(claimed_place(claims, &reserved.collect::<Vec<u64>>())?).copied()
}

/// Whether totals can be of a device, by their ranks.
pub fn may_be_of(claims: &AllocatorClaims, device: &SnapshotDevice) -> bool {
    claims.rank.is_none_or(|rank| device.rank.is_some_and(|of| of.rank == rank))
}

fn claimed_place(claims: &AllocatorClaims, reserved_bytes: &[u64]) -> Option<usize> {
    let stated = reserved_bytes.iter().position(|bytes| claims.reserved.current == Some(*bytes));
    stated.or_else(|| (reserved_bytes.len() == 1).then_some(0))
}

/// The figures that PyTorch states of a device.
pub fn compared_claims(claims: &AllocatorClaims, facts: &DeviceFacts) -> Vec<ComparedClaim> {
    let AllocatorClaims { requested, allocated, active, reserved, .. } = claims;
    let DeviceFacts { end, .. } = facts;
    let peaks = [
        facts.requested_peak.bytes,
        facts.allocated_peak.bytes,
        facts.active_peak_bytes,
        facts.reserved_peak_bytes,
    ];
    let is_exact = [true, facts.allocated_peak.exact, facts.allocated_peak.exact, true];
    let currents = [end.requested_bytes, end.allocated_bytes, end.active_bytes, end.reserved_bytes];
    let mut compared = Vec::new();
    let claims = [requested, allocated, active, reserved];
    for (row, ClaimedBytes { current, peak }) in claims.into_iter().enumerate() {
        let (current_name, peak_name) = NAMES[row];
        if let Some(claimed_bytes) = *current {
            let bytes = currents[row];
            let agrees = claimed_bytes == bytes;
            compared.push(ComparedClaim { name: current_name, claimed_bytes, bytes, agrees });
        }
        if let Some(claimed_bytes) = *peak {
            let bytes = peaks[row];
            let is_least = !facts.history_complete || !is_exact[row];
            let agrees = claimed_bytes == bytes || (is_least && claimed_bytes > bytes);
            compared.push(ComparedClaim { name: peak_name, claimed_bytes, bytes, agrees });
        }
    }
    compared
}

const NAMES: [(&str, &str); 4] = [
    ("requested_bytes.all.current", "requested_bytes.all.peak"),
    ("allocated_bytes.all.current", "allocated_bytes.all.peak"),
    ("active_bytes.all.current", "active_bytes.all.peak"),
    ("reserved_bytes.all.current", "reserved_bytes.all.peak"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_of_the_device_that_has_as_much_or_of_the_only_one() {
        let reserved = ClaimedBytes { current: Some(40), peak: None };
        let claims = AllocatorClaims { reserved, ..AllocatorClaims::default() };
        assert_eq!(claimed_place(&claims, &[20, 40]), Some(1));
        assert_eq!(claimed_place(&claims, &[20, 30]), None, "of neither");
        assert_eq!(claimed_place(&claims, &[20]), Some(0));
        assert_eq!(claimed_place(&claims, &[]), None);
        assert_eq!(claimed_place(&AllocatorClaims::default(), &[20, 40]), None);
    }
}
