//! The state of an allocator after an event: bytes of segments and blocks, rounding, and the free pieces within
//! segments (formats/pytorch.md 4.5 at any step). A piece is what is free between two blocks, or between a block and
//! the end of its segment.

use super::block_size::SMALL_BYTES;
use super::replay::Replay;
use super::reserved::Reserved;
use crate::store::snapshot::{Action, Segment, Snapshot, SnapshotDevice};

/// Segments that small requests get, bytes; no other has this size.
pub const SMALL_SEGMENT: u64 = 2 << 20;
/// What a request below ten MiB, but above one, takes a segment of.
pub const MIDDLE_SEGMENT: u64 = 20 << 20;

/// The segment that a request takes from the device (formats/pytorch.md 8.2).
pub fn segment_for(request_bytes: u64) -> u64 {
    if request_bytes <= SMALL_BYTES {
        SMALL_SEGMENT
    } else if request_bytes < MIDDLE_SEGMENT / 2 {
        MIDDLE_SEGMENT
    } else {
        request_bytes.checked_next_multiple_of(SMALL_SEGMENT).unwrap_or(u64::MAX)
    }
}

/// A part of a segment that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreePiece {
    /// Its first byte.
    pub address: u64,
    pub bytes: u64,
    /// The first byte of its segment.
    pub segment: u64,
    pub is_whole_segment: bool,
    /// Whether the segment is for requests of at most 1 MiB.
    pub is_small: bool,
    /// The pool of the segment as far as it is known: (0, 0) is the common one.
    pub pool: (u64, u64),
    /// The stream of the segment, where it is known.
    pub stream: Option<u64>,
}

/// What an allocator has after an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatorState {
    /// The event; −1 is before the first.
    pub event: i64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Bytes of blocks that are handed out or wait for another stream.
    pub active_bytes: u64,
    /// Of these, what blocks have more than was asked for.
    pub rounding_bytes: u64,
    /// What is free within segments, by address.
    pub pieces: Vec<FreePiece>,
}

impl AllocatorState {
    /// After an event of a device that was replayed.
    pub fn after(
        snapshot: &Snapshot,
        device: &SnapshotDevice,
        replay: &Replay,
        event: i64,
    ) -> Self {
        let reserved = reserved_after(snapshot, device, replay, event);
        let lives = &replay.lives;
        let mut state = Self { event, reserved_bytes: reserved.bytes(), ..Self::default() };
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for row in lives.live_after(event) {
            let bytes = lives.bytes[row];
            state.active_bytes = state.active_bytes.saturating_add(bytes);
            let lost = bytes.saturating_sub(lives.requested[row]);
            state.rounding_bytes = state.rounding_bytes.saturating_add(lost);
            blocks.push((lives.addresses[row], bytes));
        }
        blocks.sort_unstable();
        let mut blocks = blocks.into_iter().peekable();
        let at_end = EndSegments::of(snapshot, device);
        for held in reserved.iter() {
            while blocks.next_if(|(address, _)| *address < held.start).is_some() {}
            let of_end = at_end.at(held.start, held.end);
            let is_small = match of_end {
                Some(segment) => segment.is_small,
                None => !held.is_expandable && held.end - held.start == SMALL_SEGMENT,
            };
            let mut add = |start: u64, end: u64| {
                if start < end {
                    state.pieces.push(FreePiece {
                        address: start,
                        bytes: end - start,
                        segment: held.start,
                        is_whole_segment: (start, end) == (held.start, held.end),
                        is_small,
                        pool: of_end.map_or((0, 0), |segment| segment.pool),
                        stream: of_end.map(|segment| segment.stream),
                    });
                }
            };
            let mut free_from = held.start;
            while let Some((address, bytes)) = blocks.next_if(|(address, _)| *address < held.end) {
                add(free_from, address);
                free_from = free_from.max(address.saturating_add(bytes));
            }
            add(free_from, held.end);
        }
        state
    }

    pub fn free_bytes(&self) -> u64 {
        self.pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.bytes))
    }

    /// The largest piece, the first of equals.
    pub fn largest_piece(&self) -> Option<&FreePiece> {
        self.pieces.iter().rev().max_by_key(|piece| piece.bytes)
    }
}

/// What was reserved after an event.
pub(crate) fn reserved_after(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    replay: &Replay,
    event: i64,
) -> Reserved {
    let mut reserved = Reserved::default();
    for held in &replay.start_ranges {
        reserved.add(held.start, held.end - held.start, held.is_expandable);
    }
    let events = &snapshot.events;
    let count = usize::try_from(event.saturating_add(1)).unwrap_or(0);
    for row in device.events.clone().take(count) {
        let Some(action) = events.actions.get(row) else { break };
        let is_expandable = matches!(action, Action::SegmentMap | Action::SegmentUnmap);
        let (address, bytes) = (events.addresses[row], events.sizes[row]);
        match action {
            Action::SegmentAlloc | Action::SegmentMap => {
                reserved.add(address, bytes, is_expandable);
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                reserved.remove(address, bytes, is_expandable);
            }
            _ => {}
        }
    }
    reserved
}

/// The segments of the end, of which the file says pool and stream, by address.
struct EndSegments<'a>(Vec<&'a Segment>);

impl<'a> EndSegments<'a> {
    fn of(snapshot: &'a Snapshot, device: &SnapshotDevice) -> Self {
        let mut segments: Vec<&Segment> = snapshot.segments_of(device).iter().collect();
        segments.sort_by_key(|segment| segment.address);
        Self(segments)
    }

    /// The first that lies within a range of addresses.
    fn at(&self, start: u64, end: u64) -> Option<&'a Segment> {
        let first = self.0.partition_point(|segment| segment.end() <= start);
        self.0.get(first).copied().filter(|segment| segment.address < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::BlockState::{Allocated, Inactive};
    use crate::store::snapshot::StackId;
    use crate::systems::pytorch::allocator::replay::replay;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_request_needs_a_segment_of_its_kind() {
        assert_eq!(segment_for(1), SMALL_SEGMENT);
        assert_eq!(segment_for(MIB), SMALL_SEGMENT);
        assert_eq!(segment_for(MIB + 1), MIDDLE_SEGMENT);
        assert_eq!(segment_for(10 * MIB), 10 * MIB);
        assert_eq!(segment_for(11 * MIB), 12 * MIB);
        assert_eq!(segment_for(u64::MAX), u64::MAX);
    }

    #[test]
    fn pieces_are_what_blocks_leave_of_their_segments() {
        let mut snapshot = Snapshot::default();
        let events = [
            (Action::SegmentAlloc, 0, 40 * MIB),
            (Action::Alloc, 0, 10 * MIB),
            (Action::Alloc, 10 * MIB, 20 * MIB),
            (Action::SegmentAlloc, 100 * MIB, 2 * MIB),
            (Action::Alloc, 100 * MIB, 1000),
            (Action::FreeCompleted, 0, 10 * MIB),
            (Action::FreeCompleted, 100 * MIB, 1000),
            (Action::SegmentFree, 100 * MIB, 2 * MIB),
        ];
        for (action, address, bytes) in events {
            snapshot.push_event(action, address, bytes, StackId::NONE);
        }
        // The state at the end, so that the replay begins with nothing.
        let block = |address, bytes, state| crate::store::snapshot::Block {
            address,
            bytes,
            requested_bytes: bytes,
            state,
            stack: StackId::NONE,
        };
        snapshot.blocks = vec![
            block(0, 10 * MIB, Inactive),
            block(10 * MIB, 20 * MIB, Allocated),
            block(30 * MIB, 10 * MIB, Inactive),
        ];
        snapshot.segments.push(Segment {
            address: 0,
            bytes: 40 * MIB,
            allocated_bytes: 20 * MIB,
            active_bytes: 20 * MIB,
            stream: 0,
            is_small: false,
            pool: (0, 0),
            is_expandable: false,
            stack: StackId::NONE,
            blocks: 0..3,
        });
        let device = SnapshotDevice { segments: 0..1, events: 0..8, ..Default::default() };
        snapshot.devices.push(device.clone());
        let replay = replay(&snapshot, &device);
        assert_eq!((replay.mismatches, replay.is_complete), (0, true));
        let state = |event| AllocatorState::after(&snapshot, &device, &replay, event);
        assert_eq!(state(-1), AllocatorState { event: -1, ..AllocatorState::default() });
        let pieces = |event| -> Vec<(u64, u64, bool, bool)> {
            let state = state(event);
            assert_eq!(state.reserved_bytes - state.active_bytes, state.free_bytes(), "{event}");
            let pieces = state.pieces.iter();
            pieces.map(|p| (p.address, p.bytes, p.is_small, p.is_whole_segment)).collect()
        };
        assert_eq!(pieces(2), [(30 * MIB, 10 * MIB, false, false)]);
        let small = (100 * MIB + 1024, 2 * MIB - 1024, true, false);
        assert_eq!(pieces(4), [(30 * MIB, 10 * MIB, false, false), small]);
        assert_eq!(state(4).rounding_bytes, 24);
        let both = [(0, 10 * MIB, false, false), (30 * MIB, 10 * MIB, false, false)];
        assert_eq!(pieces(6), [both[0], both[1], (100 * MIB, 2 * MIB, true, true)]);
        assert_eq!(pieces(7), both);
        assert_eq!(state(7).largest_piece().map(|piece| piece.address), Some(0));
    }
}
