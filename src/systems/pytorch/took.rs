//! The memory that a run took on one of its devices (formats/pytorch.md 8), with what PyTorch itself states of it.

use super::allocator::claims::{claimed_device, may_be_of};
use super::allocator::free_pieces::{reserved_after, segment_for};
use super::allocator::insights::out_of_memory::left_for;
use super::allocator::phases::PhaseMoments;
use super::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use super::allocator::run_end::{Ended, Recorded};
use super::allocator::stated_failure::StatedFailure;
use crate::run::StatedRoom;
use crate::store::snapshot::RankDevice;
use crate::text::words;

words! {
    /// Where the largest bytes of a run are from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PeakFrom by as_str {
        /// PyTorch's own statistics beside the snapshot.
        MemoryStats = "memory_stats",
        /// The events.
        Replay = "replay",
        /// The events, of which the first or the last are cut off, or of which there are none: it may have been more.
        AtLeast = "replay, at least",
    }
}

/// What a run took from a caching allocator, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnapshotTook {
    /// What became of the run.
    pub ending: Ended,
    /// Whether its file ends before its contents do: then its figures are of what could be read, and of no whole run.
    pub is_cut: bool,
    /// The rank and device that its figures are of, in a run of several ranks.
    pub rank: Option<RankDevice>,
    /// How much of it was recorded.
    pub recorded: Recorded,
    /// Whether it is recorded from its begin, and trains one step: the second has the optimizer's state as well.
    pub is_one_step: bool,
    /// Whether its events contradict its blocks, or more was in use than was reserved, which cannot be.
    pub is_contradictory: bool,
    /// What the device must have for it at least.
    pub needed_bytes: u64,
    /// What something beside it states of the device; an error text rounds it to hundredths of a unit.
    pub stated: StatedRoom,
    /// Handed out at the end.
    pub allocated_bytes: u64,
    /// The most that was handed out.
    pub max_allocated_bytes: u64,
    pub max_allocated_from: PeakFrom,
    /// Taken from the device at the end.
    pub reserved_bytes: u64,
    /// The most that was.
    pub max_reserved_bytes: u64,
    pub max_reserved_from: PeakFrom,
    /// The most that was asked for at once.
    pub requested_peak_bytes: u64,
    /// The request at which it ended on this device.
    pub failed_request_bytes: Option<u64>,
    /// What the process could still have had of the device then.
    pub left_bytes: Option<u64>,
}

impl SnapshotTook {
    /// Of the device of a number, or of the one that failed or else had most, with its place among the devices; `None`
    /// where there is none. What PyTorch itself states is taken where it is of that device.
    pub fn of_run(run: &AllocatorRun, device: Option<i64>) -> Option<(usize, Self)> {
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
        let recorded = replayed.recorded(place);
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
        let is_failed = ended.ending == Ended::OutOfMemory;
        let failed = replayed.ended_by(place).filter(|_| is_failed);
        let reserved_then = failed.map(|failed| {
            (failed, reserved_after(snapshot, device, replay, failed.event.into()).bytes())
        });
        let needed_bytes = reserved_then.map_or(max_reserved_bytes, |(failed, reserved)| {
            reserved.saturating_add(segment_for(failed.bytes)).max(max_reserved_bytes)
        });
        let left_bytes = reserved_then
            .and_then(|(failed, reserved)| left_for(failed, run.stated_capacity(place), reserved));
        let stated = ended.said_by.filter(|text| text.may_be_of(device.number));
        let stated = stated.and_then(|text| text.requested_bytes);
        let took = Self {
            ending: ended.ending,
            is_cut: run.is_cut,
            rank: device.rank,
            recorded,
            is_one_step: recorded == Recorded::Whole
                && replayed.moments(place).is_some_and(PhaseMoments::are_of_one_step),
            is_contradictory: !replay.is_consistent() || replay.in_use_beyond_reserved() > 0,
            needed_bytes,
            stated: stated_room(run, replayed, place),
            allocated_bytes: end.allocated_bytes,
            max_allocated_bytes,
            max_allocated_from,
            reserved_bytes: end.reserved_bytes,
            max_reserved_bytes,
            max_reserved_from,
            requested_peak_bytes: replay.requested_peak.bytes,
            failed_request_bytes: failed.map(|failed| failed.bytes).or(stated),
            left_bytes,
        };
        Some((place, took))
    }

    /// Whether it ran to its end, as far as its file says so.
    pub fn has_ended(&self) -> bool {
        self.ending == Ended::Ran
    }

    /// Whether more may have been handed out.
    pub fn max_allocated_is_at_least(&self) -> bool {
        self.max_allocated_from == PeakFrom::AtLeast
    }

    /// Whether more may have been taken from the device.
    pub fn max_reserved_is_at_least(&self) -> bool {
        self.max_reserved_from == PeakFrom::AtLeast
    }

    /// Whether more may have been asked for at once.
    pub fn requested_peak_is_at_least(&self) -> bool {
        self.recorded != Recorded::Whole
    }

    /// Whether the device may have to have more.
    pub fn needed_is_at_least(&self) -> bool {
        !self.has_ended() || self.is_one_step || self.max_reserved_is_at_least()
    }
}

/// What error texts beside a snapshot state of the device at a place.
pub fn stated_room(run: &AllocatorRun, replayed: &ReplayedSnapshot, place: usize) -> StatedRoom {
    let text = run.stated_capacity(place);
    StatedRoom {
        capacity_bytes: text.and_then(|text| text.capacity_bytes),
        other_bytes: text.and_then(|text| stated_others(text, replayed, place)),
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
