//! The figures that an error text states of a failed request (formats/pytorch.md 7) and that no snapshot has, above all
//! the capacity of the device. Sizes in the text are rounded to hundredths of a unit.

use std::ops::RangeInclusive;

use super::block_size::SMALL_BYTES;
use super::failed_requests::FailedRequest;
use super::free_pieces::{MIDDLE_SEGMENT, SMALL_SEGMENT, segment_for};

/// What an error text says. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct StatedFailure {
    pub file: String,
    /// The number of the device.
    pub device: Option<i64>,
    /// Bytes that PyTorch tried to take: those of the segment that the request needs, which may be more than it asked for.
    pub requested_bytes: Option<u64>,
    /// Bytes that the device has, or those of it that the process may have.
    pub capacity_bytes: Option<u64>,
    /// Whether that is a share of the process.
    pub is_share: bool,
    /// Bytes that were free on the device.
    pub free_bytes: Option<u64>,
    /// Bytes that PyTorch held without using them.
    pub unallocated_bytes: Option<u64>,
    /// Bytes of other processes, where the text lists them.
    pub other_processes_bytes: Option<u64>,
    /// The rank beside whose file it lies, where that could not be read: then it is about no device that is there.
    pub rank_not_there: Option<u32>,
}

impl StatedFailure {
    /// Whether it may be about a device: it names it, or none.
    pub fn may_be_of(&self, device: i64) -> bool {
        self.rank_not_there.is_none() && self.device.is_none_or(|number| number == device)
    }

    /// The last request that it is about, among those of a device by their bytes.
    pub fn request_among(&self, by_size: &[FailedRequest]) -> Option<FailedRequest> {
        let sizes = sizes_that_may_be(self.requested_bytes?);
        let of_sizes = |sizes: RangeInclusive<u64>| {
            let first = by_size.partition_point(|one| one.bytes < *sizes.start());
            let from = by_size.get(first..).unwrap_or_default().iter();
            from.take_while(move |one| one.bytes <= *sizes.end())
        };
        let near = sizes.into_iter().flatten().flat_map(of_sizes);
        near.filter(|one| self.is_of(one)).max_by_key(|one| one.event).copied()
    }

    /// Whether it is about a request of a snapshot: the sizes are the same as far as the text gives them. PyTorch prints
    /// the segment that it tried to take and records what was asked for.
    pub fn is_of(&self, failed: &FailedRequest) -> bool {
        let agrees = |stated: Option<u64>, bytes: u64| {
            stated.is_none_or(|stated| is_rounded_from(stated, bytes))
        };
        let is_size = |stated: u64| {
            is_rounded_from(stated, failed.bytes)
                || is_rounded_from(stated, segment_for(failed.bytes))
        };
        self.requested_bytes.is_some_and(is_size)
            && failed.device_free.is_none_or(|free| agrees(self.free_bytes, free))
    }
}

/// The text among some that is about a request that failed on a device: the last that fits and names no other device.
pub fn text_of<'a>(
    stated: &'a [StatedFailure],
    device: i64,
    failed: &FailedRequest,
) -> Option<&'a StatedFailure> {
    let fits = |one: &&StatedFailure| one.may_be_of(device) && one.is_of(failed);
    stated.iter().rev().find(fits)
}

/// The text that says what a device has, among so many devices: that of the request at which the run ended there, else
/// the last that is about the device: it names it, or names none where there is only one.
pub fn capacity_text<'a>(
    stated: &'a [StatedFailure],
    device: i64,
    devices: usize,
    ended_by: Option<&FailedRequest>,
) -> Option<&'a StatedFailure> {
    let of_failure = || text_of(stated, device, ended_by?);
    let has_capacity = |text: &&StatedFailure| text.capacity_bytes.is_some();
    let is_about =
        |text: &&StatedFailure| text.may_be_of(device) && (text.device.is_some() || devices == 1);
    let about = || stated.iter().rev().find(|text| is_about(text) && has_capacity(text));
    of_failure().filter(has_capacity).or_else(about)
}

/// What may have been asked for where a text has a size: about as much, less than its segment, and, of the segments of
/// small and middle requests, all of those; each from its least to its most.
fn sizes_that_may_be(stated: u64) -> [Option<RangeInclusive<u64>>; 3] {
    // Far enough for every unit.
    let slack = stated / 100 + 2;
    let least = stated.saturating_sub(slack).saturating_sub(SMALL_SEGMENT);
    let small = 0..=SMALL_BYTES;
    let middle = SMALL_BYTES.saturating_add(1)..=MIDDLE_SEGMENT / 2;
    [
        Some(least..=stated.saturating_add(slack)),
        is_rounded_from(stated, SMALL_SEGMENT).then_some(small),
        is_rounded_from(stated, MIDDLE_SEGMENT).then_some(middle),
    ]
}

/// Whether a size is another one as a text gives it: with two decimals of its unit.
fn is_rounded_from(stated: u64, bytes: u64) -> bool {
    // One that rounds up to the next unit may stand in either.
    let unit = match stated.max(bytes) {
        0x4000_0000.. => 1_u64 << 30,
        0x10_0000.. => 1 << 20,
        0x400.. => 1 << 10,
        _ => return stated == bytes,
    };
    stated.abs_diff(bytes) <= unit / 200 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_belongs_to_the_request_that_it_rounds() {
        let failed =
            |bytes, free| FailedRequest { event: 3, bytes, device_free: free, stream: None };
        let text = |device, requested, free| StatedFailure {
            device,
            requested_bytes: Some(requested),
            free_bytes: free,
            ..StatedFailure::default()
        };
        let mib = 1_u64 << 20;
        let texts = [text(Some(0), 288 * mib, Some(34 * mib)), text(Some(1), 288 * mib, None)];
        let of = |device, request: FailedRequest| {
            text_of(&texts, device, &request).map(|one| one.device)
        };
        assert_eq!(of(0, failed(301_989_888, Some(35_651_584))), Some(Some(0)));
        assert_eq!(of(0, failed(301_989_888, Some(mib))), None, "another moment");
        assert_eq!(of(1, failed(301_989_888 + 5000, None)), Some(Some(1)), "hundredths of a MiB");
        assert_eq!(of(1, failed(301_989_888 + 6000, None)), None);
        assert_eq!(of(2, failed(301_989_888, None)), None, "of another device");
        assert!(is_rounded_from(500, 500) && !is_rounded_from(500, 512));
    }

    #[test]
    fn a_text_has_the_segment_that_a_request_needs() {
        let mib = 1_u64 << 20;
        let failed =
            |event, bytes| FailedRequest { event, bytes, device_free: Some(5 * mib), stream: None };
        let text = |requested| StatedFailure {
            requested_bytes: Some(requested),
            free_bytes: Some(5 * mib),
            ..StatedFailure::default()
        };
        assert!(text(20 * mib).is_of(&failed(1, 5 * mib)));
        assert!(text(32 * mib).is_of(&failed(1, 31 * mib)));
        assert!(text(2 * mib).is_of(&failed(1, 512)));
        assert!(!text(2 * mib).is_of(&failed(1, 3 * mib)), "that needs 20 MiB");
        assert!(!text(32 * mib).is_of(&failed(1, 30 * mib)));
        let sizes = [512, mib, 5 * mib, 31 * mib, 100 * mib];
        let by_size: Vec<FailedRequest> =
            (0..).zip(sizes).map(|(event, bytes)| failed(event, bytes)).collect();
        let found =
            |requested| text(requested).request_among(&by_size).map(|request| request.bytes);
        assert_eq!(found(2 * mib), Some(mib), "the last of them");
        assert_eq!(found(20 * mib), Some(5 * mib));
        assert_eq!(found(32 * mib), Some(31 * mib));
        assert_eq!(found(100 * mib), Some(100 * mib));
        assert_eq!(found(34 * mib), None);
    }

    #[test]
    fn what_a_device_has_is_said_by_the_text_of_its_failure_else_by_one_about_it() {
        let text = |device, requested_bytes, capacity_bytes| StatedFailure {
            device,
            requested_bytes,
            capacity_bytes,
            ..StatedFailure::default()
        };
        let texts = [
            text(Some(0), Some(512), Some(10)),
            text(Some(1), Some(512), Some(20)),
            text(Some(0), Some(1024), Some(30)),
            text(None, Some(2048), Some(40)),
            text(Some(0), Some(4096), None),
        ];
        let failed = |bytes| FailedRequest { event: 3, bytes, device_free: None, stream: None };
        let of = |device, devices, ended_by: Option<u64>| {
            let ended_by = ended_by.map(failed);
            capacity_text(&texts, device, devices, ended_by.as_ref())?.capacity_bytes
        };
        assert_eq!(of(0, 2, Some(512)), Some(10), "its own failure");
        assert_eq!(of(0, 2, None), Some(30), "the last that names it");
        assert_eq!(of(1, 2, None), Some(20));
        assert_eq!(of(0, 1, None), Some(40), "one that names none is of the only one");
        assert_eq!(of(0, 2, Some(4096)), Some(30), "its own does not say it");
        assert_eq!(of(2, 3, None), None, "nothing is taken from another device");
    }
}
