//! The request at which a run ended: what was asked, where in the program, what was free on the device and within
//! segments, and what would have had to go. The capacity of the device and the memory of others are in an error text
//! beside the snapshot, if anywhere; the text belongs to the request whose size it rounds.

use serde::Serialize;

use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};
use crate::systems::pytorch::allocator::block_size::SMALL_BYTES;
use crate::systems::pytorch::allocator::failed_requests::FailedRequest;
use crate::systems::pytorch::allocator::free_pieces::{
    AllocatorState, FreePiece, SMALL_SEGMENT, segment_for,
};
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stated_failure::{StatedFailure, text_of};
use crate::systems::pytorch::allocator::user_frame::user_frame_title;
use crate::text::{bytes, counted, grouped, words};

words! {
    /// Why a request failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Shortage by key {
        /// Too little was free, wherever.
        TooLittle = "too_little",
        /// Enough was free in segments that it could use, but in no single piece.
        NoPieceLargeEnough = "no_piece_large_enough",
        /// Enough was free in segments, but of other sizes, streams or pools, as far as that is recorded.
        OfOtherPools = "of_other_pools",
        /// What was free in segments and on the device would have been enough together.
        Scattered = "scattered",
        /// The device had enough free, and gave none: a limit of the process, or of somebody else.
        Refused = "refused",
    }
}

/// The request at which a run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutOfMemory {
    pub event: u32,
    /// Bytes that were asked for, rounded up.
    pub requested_bytes: u64,
    /// The user frame that asked.
    pub frame: Option<String>,
    pub phase: Option<PhaseOfEvent>,
    pub device_free_bytes: Option<u64>,
    /// What of that the process could have had: where it may have only a share of the device, what was left of it.
    #[serde(skip)]
    pub left_bytes: Option<u64>,
    /// The segment that PyTorch takes from the device for such a request.
    pub segment_bytes: u64,
    /// What would have had to go for it, at least.
    pub short_bytes: Option<u64>,
    /// Why it failed.
    pub cause: Shortage,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Of these, in use.
    pub active_bytes: u64,
    /// Bytes that were free within segments.
    pub free_bytes: u64,
    pub pieces: usize,
    pub largest_piece_bytes: u64,
    /// Of what was free, what the request could have used: of its size, stream and pool.
    pub usable_bytes: u64,
    /// The largest piece of that.
    pub largest_usable_bytes: u64,
    /// Segments that PyTorch gave back to the device just before it gave up.
    pub given_back_bytes: u64,
    /// The error text that is about this request.
    pub stated_by: Option<String>,
    /// What the device has, as the error text states it.
    pub capacity_bytes: Option<u64>,
    /// Whether that is what the process may have of it.
    pub capacity_is_share: bool,
    /// What others had of the device: other processes, the CUDA context, libraries. Capacity less what was free and
    /// reserved, so it is as exact as the capacity.
    pub other_bytes: Option<u64>,
}

impl OutOfMemory {
    /// The request at which the run of the device at a place ended.
    pub fn at_end(
        replayed: &ReplayedSnapshot,
        place: usize,
        stated: &[StatedFailure],
    ) -> Option<Self> {
        let (device, replay) = replayed.device(place)?;
        let event = replayed.ended_by(place)?.event;
        let state = AllocatorState::after(&replayed.snapshot, device, replay, event.into());
        Self::of(replayed, place, &state, stated)
    }

    /// The same with the state of the allocator after it.
    pub fn of(
        replayed: &ReplayedSnapshot,
        place: usize,
        state: &AllocatorState,
        stated: &[StatedFailure],
    ) -> Option<Self> {
        let (snapshot, (device, _)) = (&replayed.snapshot, replayed.device(place)?);
        let failed = replayed.ended_by(place)?;
        let row = device.events.start.saturating_add(failed.event as usize);
        let stack = snapshot.events.stacks.get(row);
        let usable = Usable::of(state, failed);
        let segment_bytes = segment_for(failed.bytes);
        let text = text_of(stated, device.number, &failed);
        let capacity = text.and_then(|text| text.capacity_bytes);
        let is_share = text.is_some_and(|text| text.is_share && text.capacity_bytes.is_some());
        let free = failed.device_free;
        let left = left_for(failed, text, state.reserved_bytes);
        let others = capacity.zip(free).filter(|_| !is_share);
        let others = others.and_then(|(capacity, free)| {
            capacity.checked_sub(free)?.checked_sub(state.reserved_bytes)
        });
        Some(Self {
            event: failed.event,
            requested_bytes: failed.bytes,
            frame: stack.and_then(|stack| user_frame_title(snapshot, *stack)),
            phase: PhaseOfEvent::of(replayed, place, failed.event.into()),
            device_free_bytes: free,
            left_bytes: left,
            segment_bytes,
            short_bytes: left.map(|left| segment_bytes.saturating_sub(left)),
            cause: cause(state, usable, failed, left),
            reserved_bytes: state.reserved_bytes,
            active_bytes: state.active_bytes,
            free_bytes: state.free_bytes(),
            pieces: state.pieces.len(),
            largest_piece_bytes: state.largest_piece().map_or(0, |piece| piece.bytes),
            usable_bytes: usable.bytes,
            largest_usable_bytes: usable.largest_bytes,
            given_back_bytes: given_back(snapshot, device, row),
            stated_by: text.map(|text| text.file.clone()),
            capacity_bytes: capacity,
            capacity_is_share: is_share,
            other_bytes: others,
        })
    }

    /// What the bytes are that it could have had from the device.
    pub fn left_title(&self) -> &'static str {
        if self.capacity_is_share { "Left to the process" } else { "Free on the device" }
    }

    /// Why it failed, in a sentence.
    pub fn why(&self) -> String {
        let pieces = counted(self.pieces as u64, "piece");
        let (free, largest) = (bytes(self.free_bytes), bytes(self.largest_piece_bytes));
        match self.cause {
            Shortage::NoPieceLargeEnough => format!(
                "Enough was reserved and free, {free} in {pieces}, but no piece was large enough: the largest that it \
                 could use has {}",
                bytes(self.largest_usable_bytes)
            ),
            Shortage::OfOtherPools if self.largest_usable_bytes >= self.requested_bytes => format!(
                "Enough was reserved and free, {free} in {pieces}, even in one piece of {}, but \
                 in another pool (events of failed requests do not name their pool)",
                bytes(self.largest_usable_bytes)
            ),
            Shortage::OfOtherPools => format!(
                "Enough was reserved and free, {free} in {pieces}, but {} of it in segments of another size, stream \
                 or pool, or in pieces that are too small",
                bytes(self.free_bytes.saturating_sub(self.usable_bytes))
            ),
            Shortage::Scattered => format!(
                "Together enough was free, {} on the device and {free} in {pieces} within segments, but nowhere in one \
                 piece: the largest has {largest}",
                bytes(self.left_bytes.unwrap_or(0))
            ),
            Shortage::Refused => "The device had enough free and gave none: the process may have \
                               only a share of it, or another process took it at that moment"
                .to_owned(),
            Shortage::TooLittle if self.free_bytes == 0 => {
                "Nothing was free within segments".to_owned()
            }
            Shortage::TooLittle => format!(
                "Too little was free: within segments {free} in {pieces}, the largest of {largest}"
            ),
        }
    }

    /// What failed, in a sentence.
    pub fn what(&self) -> String {
        let mut text = format!("A request of {}", bytes(self.requested_bytes));
        if let Some(frame) = &self.frame {
            text += &format!(" at {}", crate::text::clean(frame));
        }
        text += &format!(" failed at event {}", grouped(self.event.into()));
        if let Some(phase) =
            self.phase.as_ref().map(PhaseOfEvent::text).filter(|text| !text.is_empty())
        {
            text += &format!(", in {phase}");
        }
        // More than what large segments are rounded up to.
        if self.segment_bytes > self.requested_bytes.saturating_add(SMALL_SEGMENT) {
            text += &format!("; it takes a segment of {}", bytes(self.segment_bytes));
        }
        match (self.capacity_bytes.filter(|_| self.capacity_is_share), self.left_bytes) {
            (Some(allowed), Some(left)) => {
                text += &format!(
                    "; {} were left of the {} that the process may have",
                    bytes(left),
                    bytes(allowed)
                );
            }
            (_, Some(free)) => text += &format!("; {} were free on the device", bytes(free)),
            (_, None) => {}
        }
        text
    }
}

/// What of the free pieces a request could use.
#[derive(Clone, Copy, Default)]
struct Usable {
    bytes: u64,
    largest_bytes: u64,
}

impl Usable {
    fn of(state: &AllocatorState, failed: FailedRequest) -> Self {
        let is_small = failed.bytes <= SMALL_BYTES;
        let wanted = failed.stream.unwrap_or(0);
        // Which pool asked is not recorded of a request that fails: most are of the common one.
        let can_use = |piece: &&FreePiece| {
            piece.is_small == is_small
                && piece.pool == (0, 0)
                && piece.stream.is_none_or(|stream| stream == wanted)
        };
        let mut usable = Self::default();
        for piece in state.pieces.iter().filter(can_use) {
            usable.bytes = usable.bytes.saturating_add(piece.bytes);
            usable.largest_bytes = usable.largest_bytes.max(piece.bytes);
        }
        usable
    }
}

/// Bytes that the process could still have had from the device when a request failed; `reserved_bytes` are its own then. The
/// text about the request says where it may have only a share.
pub fn left_for(
    failed: FailedRequest,
    text: Option<&StatedFailure>,
    reserved_bytes: u64,
) -> Option<u64> {
    let share = text.filter(|text| text.is_share).and_then(|text| text.capacity_bytes);
    let left = share.map(|share| share.saturating_sub(reserved_bytes));
    failed.device_free.into_iter().chain(left).min()
}

fn cause(
    state: &AllocatorState,
    usable: Usable,
    failed: FailedRequest,
    left_bytes: Option<u64>,
) -> Shortage {
    let segment = segment_for(failed.bytes);
    let (free, device_free) = (state.free_bytes(), left_bytes);
    if device_free.is_some_and(|device| device >= segment) {
        Shortage::Refused
    } else if usable.bytes >= failed.bytes && usable.largest_bytes < failed.bytes {
        Shortage::NoPieceLargeEnough
    } else if free >= failed.bytes {
        Shortage::OfOtherPools
    } else if device_free.is_some_and(|device| device.saturating_add(free) >= segment) {
        Shortage::Scattered
    } else {
        Shortage::TooLittle
    }
}

/// Bytes of segments that were given back between a request that failed, a row of the events, and the last allocation
/// before it.
fn given_back(snapshot: &Snapshot, device: &SnapshotDevice, failed: usize) -> u64 {
    let events = &snapshot.events;
    let before = (device.events.start..failed).rev();
    let of_device = before.map_while(|row| {
        let (action, size) = (events.actions.get(row)?, events.sizes.get(row)?);
        matches!(action, Action::SegmentFree | Action::SegmentUnmap).then_some(*size)
    });
    of_device.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_share_of_the_device_what_is_left_of_it_counts() {
        let failed = FailedRequest { event: 1, bytes: 50, device_free: Some(1000), stream: None };
        let text = |is_share, capacity| StatedFailure {
            is_share,
            capacity_bytes: Some(capacity),
            ..StatedFailure::default()
        };
        assert_eq!(left_for(failed, None, 80), Some(1000));
        assert_eq!(left_for(failed, Some(&text(false, 100)), 80), Some(1000));
        assert_eq!(left_for(failed, Some(&text(true, 100)), 80), Some(20));
        assert_eq!(left_for(failed, Some(&text(true, 100)), 800), Some(0));
        assert_eq!(left_for(failed, Some(&text(true, 5000)), 800), Some(1000));
    }
}
