//! The replay of the events of a device (formats/pytorch.md 4.1 to 4.4): backwards from the state at the end to what
//! was there before the first event, unless that is nothing, then forwards, with the size of every block and the peaks
//! of the four curves.
//!
//! requested: bytes that were asked for, of blocks until their free is completed. allocated: bytes of blocks until
//! they are given back. active: the same until their free is completed. reserved: bytes of segments. The value after
//! event i is that of step i; step −1 is before the first.

mod ahead;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

use serde::{Deserialize, Serialize};

pub use self::ahead::{ReplayAhead, replay_after};

use super::block_size::{block_bytes, rounded};
use super::live_blocks::{Live, LiveBlocks};
use super::lives::BlockLives;
use super::reserved::{Held, Reserved};
use crate::store::snapshot::{
    Action, AllocatorSettings, BlockState, Snapshot, SnapshotDevice, StackId,
};

/// The largest value of a curve, at the first step that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPeak {
    pub bytes: u64,
    /// The event; −1 if nothing is above what was there before the first.
    pub event: i64,
}

impl Replay {
    /// Whether events and the end contradict each other nowhere.
    pub fn is_consistent(&self) -> bool {
        self.mismatches == 0 && self.end_mismatches == 0
    }

    /// By how many bytes more was in use at the peak than was ever reserved, which cannot be; of what was recorded from its
    /// begin.
    pub fn in_use_beyond_reserved(&self) -> u64 {
        let is_known = self.is_complete && self.is_exact;
        let beyond = self.allocated_peak.bytes.saturating_sub(self.reserved_peak.bytes);
        if is_known { beyond } else { 0 }
    }
}

impl EventPeak {
    fn at_start(bytes: u64) -> Self {
        Self { bytes, event: -1 }
    }

    #[inline]
    fn look(&mut self, bytes: u64, event: u32) {
        if bytes > self.bytes {
            *self = Self { bytes, event: i64::from(event) };
        }
    }
}

/// What was there before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartState {
    /// Blocks that were not free.
    pub live_blocks: u64,
    /// Bytes that had been asked for.
    pub requested_bytes: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replay {
    /// Every block with its life; in an index its columns stand for themselves.
    #[serde(skip)]
    pub lives: BlockLives,
    /// What was there before the first event.
    pub start: StartState,
    /// The segments that were there before the first event.
    pub start_ranges: Vec<Held>,
    /// Whether nothing was: the events are all that ever happened.
    pub is_complete: bool,
    pub requested_peak: EventPeak,
    pub allocated_peak: EventPeak,
    pub active_peak: EventPeak,
    pub reserved_peak: EventPeak,
    /// Whether the sizes of all blocks are known; else the allocated and active curves are at least what they are.
    pub is_exact: bool,
    /// Events that contradict the state before or after them; 0 of every good file.
    pub mismatches: u64,
    /// Blocks and segments of the end that contradict each other, or what the events lead to; 0 of every good file.
    pub end_mismatches: u64,
    /// Blocks of the end whose size is not what the events say.
    pub other_sizes: u64,
}

/// Addresses are spread well by one multiplication, and nobody who writes a file knows where to.
#[derive(Clone, Copy)]
struct AddressHasher(u64);

/// Makes hashers that begin with a number of this run of the program.
#[derive(Clone, Copy)]
struct AddressHashers(u64);

impl BuildHasher for AddressHashers {
    type Hasher = AddressHasher;

    fn build_hasher(&self) -> AddressHasher {
        AddressHasher(self.0)
    }
}

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

type AddressMap<T> = HashMap<u64, T, AddressHashers>;

/// A block of the state before the first event, as far as it is known yet.
#[derive(Clone, Copy)]
struct Early {
    requested: u64,
    bytes: Option<u64>,
    is_pending: bool,
    stack: StackId,
}

pub fn replay(snapshot: &Snapshot, device: &SnapshotDevice) -> Replay {
    let events = EventColumns::of(snapshot, device);
    let mut end = ReplayState::at_end(snapshot, device);
    // A history that begins with a segment is mostly complete: where it leads from nothing to the state at the end, each
    // event in accordance with the one before, the way back would lead to nothing.
    if events.begin_with_segment() && end.mismatches == 0 {
        let mut forward =
            Forward::from(&[], Reserved::default(), &snapshot.settings, events.allocations());
        let is_good = (0..events.len() as u32).all(|event| forward.step_of(event, &events));
        let (at_end, other_sizes) = forward.compared_with_end(snapshot, device);
        if is_good && at_end == 0 {
            return forward.replay(Vec::new(), true, Mismatches::default(), other_sizes);
        }
    }
    let (early, reserved, mut is_bad) = end.backwards(&events);
    let start_ranges: Vec<Held> = reserved.iter().collect();
    let is_exact = early.iter().all(|(_, block)| block.bytes.is_some());
    let mut forward = Forward::from(&early, reserved, &snapshot.settings, events.allocations());
    for event in 0..events.len() as u32 {
        if !forward.step_of(event, &events) {
            is_bad.insert(event);
        }
    }
    let (at_end, other_sizes) = forward.compared_with_end(snapshot, device);
    let mismatches =
        Mismatches { events: is_bad.len() as u64, at_end: end.mismatches.saturating_add(at_end) };
    forward.replay(start_ranges, is_exact, mismatches, other_sizes)
}

/// What contradicts something else.
#[derive(Clone, Copy, Debug, Default)]
struct Mismatches {
    events: u64,
    at_end: u64,
}

/// Whether the first event that changes anything takes a segment from the device; `None` where none changes anything.
fn begin_with_segment(actions: &[Action]) -> Option<bool> {
    let changes = |action: &&Action| {
        let changes_nothing =
            [Action::OutOfMemory, Action::Annotate, Action::Snapshot, Action::Unknown];
        !changes_nothing.contains(*action)
    };
    let first = actions.iter().find(changes)?;
    Some(matches!(first, Action::SegmentAlloc | Action::SegmentMap))
}

/// The columns of the events of a device.
struct EventColumns<'a> {
    actions: &'a [Action],
    addresses: &'a [u64],
    sizes: &'a [u64],
    stacks: &'a [StackId],
    /// Whether any of them gives a block back before its free is completed.
    has_requests: bool,
}

impl<'a> EventColumns<'a> {
    fn of(snapshot: &'a Snapshot, device: &SnapshotDevice) -> Self {
        fn part<'a, T>(column: &'a [T], device: &SnapshotDevice) -> &'a [T] {
            column.get(device.events.clone()).unwrap_or_default()
        }
        let events = &snapshot.events;
        let actions = part(&events.actions, device);
        Self {
            actions,
            addresses: part(&events.addresses, device),
            sizes: part(&events.sizes, device),
            stacks: part(&events.stacks, device),
            has_requests: actions.contains(&Action::FreeRequested),
        }
    }

    fn len(&self) -> usize {
        self.actions.len()
    }

    /// Number of blocks that are handed out.
    fn allocations(&self) -> usize {
        self.actions.iter().filter(|action| **action == Action::Alloc).count()
    }

    /// Whether the first event that changes anything takes a segment from the device.
    fn begin_with_segment(&self) -> bool {
        begin_with_segment(self.actions) == Some(true)
    }

    #[inline]
    fn get(&self, event: usize) -> (Action, u64, u64) {
        let action = self.actions.get(event).copied().unwrap_or(Action::Unknown);
        let address = self.addresses.get(event).copied().unwrap_or(0);
        (action, address, self.sizes.get(event).copied().unwrap_or(0))
    }
}

/// What is there at an event, on the way back from the end.
struct ReplayState {
    live: AddressMap<Early>,
    reserved: Reserved,
    /// How much of the end contradicts itself.
    mismatches: u64,
}

impl ReplayState {
    fn at_end(snapshot: &Snapshot, device: &SnapshotDevice) -> Self {
        let hashers = AddressHashers(RandomState::new().build_hasher().finish());
        let mut live: AddressMap<Early> = HashMap::with_hasher(hashers);
        let mut reserved = Reserved::default();
        let mut mismatches = 0_u64;
        for segment in snapshot.segments_of(device) {
            let is_new = reserved.add(segment.address, segment.bytes, segment.is_expandable);
            mismatches = mismatches.saturating_add(u64::from(!is_new));
        }
        for block in snapshot.blocks_of(device).filter(|block| block.is_active()) {
            let early = Early {
                requested: block.requested_bytes,
                bytes: Some(block.bytes),
                is_pending: block.state == BlockState::Pending,
                stack: block.stack,
            };
            let other = live.insert(block.address, early);
            mismatches = mismatches.saturating_add(u64::from(other.is_some()));
        }
        Self { live, reserved, mismatches }
    }

    /// Goes back to what was there before the first event: blocks by address, and segments. The events that contradict what
    /// is there after them come with it.
    fn backwards(
        &mut self,
        events: &EventColumns<'_>,
    ) -> (Vec<(u64, Early)>, Reserved, HashSet<u32>) {
        let Self { live, reserved, .. } = self;
        let mut is_bad = HashSet::new();
        for event in (0..events.len()).rev() {
            let (action, address, bytes) = events.get(event);
            let is_good = match action {
                Action::Alloc => live.remove(&address).is_some(),
                Action::FreeCompleted => {
                    let is_pending = events.has_requests;
                    let early =
                        Early { requested: bytes, bytes: None, is_pending, stack: StackId::NONE };
                    live.insert(address, early).is_none()
                }
                Action::FreeRequested => match live.get_mut(&address) {
                    Some(block) => std::mem::replace(&mut block.is_pending, false),
                    None => false,
                },
                Action::SegmentAlloc => reserved.remove(address, bytes, false),
                Action::SegmentMap => reserved.remove(address, bytes, true),
                Action::SegmentFree => reserved.add(address, bytes, false),
                Action::SegmentUnmap => reserved.add(address, bytes, true),
                _ => true,
            };
            if !is_good {
                is_bad.insert(event as u32);
            }
        }
        let mut early: Vec<(u64, Early)> = live.drain().collect();
        early.sort_unstable_by_key(|(address, _)| *address);
        (early, std::mem::take(reserved), is_bad)
    }
}

/// A curve on its way.
#[derive(Clone, Copy, Debug)]
struct Running {
    now: u64,
    peak: EventPeak,
}

impl Running {
    fn from(bytes: u64) -> Self {
        Self { now: bytes, peak: EventPeak::at_start(bytes) }
    }

    #[inline]
    fn add(&mut self, bytes: u64, event: u32) {
        self.now = self.now.saturating_add(bytes);
        self.peak.look(self.now, event);
    }

    #[inline]
    fn subtract(&mut self, bytes: u64) {
        self.now = self.now.saturating_sub(bytes);
    }
}

#[derive(Debug)]
struct Forward {
    settings: AllocatorSettings,
    lives: BlockLives,
    live: LiveBlocks,
    reserved: Reserved,
    /// The range in which the last block was handed out, while segments stay as they are.
    held: Option<Held>,
    start: StartState,
    requested: Running,
    allocated: Running,
    active: Running,
    reserved_peak: EventPeak,
}

impl Forward {
    fn from(
        early: &[(u64, Early)],
        reserved: Reserved,
        settings: &AllocatorSettings,
        allocations: usize,
    ) -> Self {
        let mut lives = BlockLives::default();
        lives.reserve(early.len().saturating_add(allocations));
        let mut live = LiveBlocks::default();
        let (mut requested, mut allocated, mut active) = (0_u64, 0_u64, 0_u64);
        for (address, block) in early {
            let bytes = block.bytes.unwrap_or_else(|| rounded(block.requested, settings));
            let row = lives.push(BlockLives::BEFORE, *address, block.requested, bytes, block.stack);
            let is_pending = block.is_pending;
            let of = Live { requested: block.requested, bytes, row, is_pending };
            live.insert(live.place(*address), *address, of);
            requested = requested.saturating_add(block.requested);
            active = active.saturating_add(bytes);
            if !block.is_pending {
                allocated = allocated.saturating_add(bytes);
            }
        }
        let start = StartState {
            live_blocks: early.len() as u64,
            requested_bytes: requested,
            reserved_bytes: reserved.bytes(),
        };
        Self {
            settings: settings.clone(),
            lives,
            live,
            start,
            requested: Running::from(requested),
            allocated: Running::from(allocated),
            active: Running::from(active),
            reserved_peak: EventPeak::at_start(reserved.bytes()),
            reserved,
            held: None,
        }
    }

    /// Goes on by an event of a device; whether it is in accordance with what was there.
    #[inline]
    fn step_of(&mut self, event: u32, events: &EventColumns<'_>) -> bool {
        let stack = events.stacks.get(event as usize).copied().unwrap_or(StackId::NONE);
        let (action, address, bytes) = events.get(event as usize);
        self.step(event, action, address, bytes, stack)
    }

    /// The same of what it did, to how many bytes at which address, and its stack.
    #[inline]
    fn step(
        &mut self,
        event: u32,
        action: Action,
        address: u64,
        bytes: u64,
        stack: StackId,
    ) -> bool {
        match action {
            Action::Alloc => self.allocate(event, address, bytes, stack),
            Action::FreeRequested => self.request_free(event, address),
            Action::FreeCompleted => self.complete_free(event, address),
            Action::SegmentAlloc | Action::SegmentMap => {
                self.held = None;
                let is_new = self.reserved.add(address, bytes, action == Action::SegmentMap);
                self.reserved_peak.look(self.reserved.bytes(), event);
                is_new
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.held = None;
                self.reserved.remove(address, bytes, action == Action::SegmentUnmap)
            }
            _ => true,
        }
    }

    fn allocate(&mut self, event: u32, address: u64, requested: u64, stack: StackId) -> bool {
        let wanted = rounded(requested, &self.settings);
        let place = self.live.place(address);
        let next = self.live.next(place);
        if next == Some(address) {
            // Two at one place: what was there is given up, so that every block has one end.
            self.complete_free(event, address);
            self.allocate(event, address, requested, stack);
            return false;
        }
        let holds = |held: &Held| held.start <= address && address < held.end;
        if !self.held.as_ref().is_some_and(holds) {
            self.held = self.reserved.at(address);
        }
        let bytes = match self.held {
            Some(held) => {
                let free = next.map_or(held.end, |next| next.min(held.end)) - address;
                block_bytes(wanted, free, held.is_expandable, &self.settings)
            }
            None => wanted,
        };
        let row = self.lives.push(event, address, requested, bytes, stack);
        self.live.insert(place, address, Live { requested, bytes, row, is_pending: false });
        self.requested.add(requested, event);
        self.allocated.add(bytes, event);
        self.active.add(bytes, event);
        true
    }

    fn request_free(&mut self, event: u32, address: u64) -> bool {
        let Some(block) = self.live.get_mut(address).filter(|block| !block.is_pending) else {
            return false;
        };
        block.is_pending = true;
        if let Some(at) = self.lives.requested_free_at.get_mut(block.row as usize) {
            *at = event;
        }
        self.allocated.subtract(block.bytes);
        true
    }

    fn complete_free(&mut self, event: u32, address: u64) -> bool {
        let Some(block) = self.live.remove(address) else { return false };
        if let Some(at) = self.lives.freed_at.get_mut(block.row as usize) {
            *at = event;
        }
        if !block.is_pending {
            self.allocated.subtract(block.bytes);
        }
        self.active.subtract(block.bytes);
        self.requested.subtract(block.requested);
        true
    }

    /// What came out, from the segments that were there at first, and whether the sizes of all blocks of then are known.
    fn replay(
        self,
        start_ranges: Vec<Held>,
        is_exact: bool,
        mismatches: Mismatches,
        other_sizes: u64,
    ) -> Replay {
        Replay {
            start: self.start,
            start_ranges,
            is_complete: self.start.live_blocks == 0 && self.start.reserved_bytes == 0,
            requested_peak: self.requested.peak,
            allocated_peak: self.allocated.peak,
            active_peak: self.active.peak,
            reserved_peak: self.reserved_peak,
            is_exact: is_exact && other_sizes == 0,
            mismatches: mismatches.events,
            end_mismatches: mismatches.at_end,
            other_sizes,
            lives: self.lives,
        }
    }

    /// How many blocks and segments differ from the state at the end, and how many blocks by their size alone.
    fn compared_with_end(&self, snapshot: &Snapshot, device: &SnapshotDevice) -> (u64, u64) {
        let (mut seen, mut mismatches, mut other_sizes) = (0_u64, 0_u64, 0_u64);
        for block in snapshot.blocks_of(device).filter(|block| block.is_active()) {
            seen = seen.saturating_add(1);
            match self.live.get(block.address) {
                Some(live) if live.is_pending == (block.state == BlockState::Pending) => {
                    other_sizes = other_sizes.saturating_add(u64::from(live.bytes != block.bytes));
                }
                _ => mismatches = mismatches.saturating_add(1),
            }
        }
        mismatches = mismatches.saturating_add((self.live.len() as u64).saturating_sub(seen));
        let mut reserved = Reserved::default();
        for segment in snapshot.segments_of(device) {
            reserved.add(segment.address, segment.bytes, segment.is_expandable);
        }
        (mismatches.saturating_add(u64::from(reserved != self.reserved)), other_sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::Events as AllEvents;

    /// The replay of a device with nothing left at the end.
    fn replayed(events: &[(Action, u64, u64)]) -> Replay {
        let count = events.len();
        let events = AllEvents {
            actions: events.iter().map(|event| event.0).collect(),
            addresses: events.iter().map(|event| event.1).collect(),
            sizes: events.iter().map(|event| event.2).collect(),
            streams: vec![0; count].into(),
            times: vec![AllEvents::NO_TIME; count].into(),
            stacks: vec![StackId::NONE; count].into(),
            texts: Vec::new(),
        };
        let device = SnapshotDevice { events: 0..count, ..Default::default() };
        let mut snapshot = Snapshot { events, ..Snapshot::default() };
        snapshot.devices.push(device.clone());
        replay(&snapshot, &device)
    }

    #[test]
    fn an_event_counts_once_that_contradicts_what_is_before_and_after_it() {
        // Two of them have no place, and none has the end that it leads to.
        let found = replayed(&[(Action::Alloc, 1 << 40, 512); 3]);
        assert_eq!((found.mismatches, found.end_mismatches), (3, 1));
        assert!(!found.is_consistent());
    }

    #[test]
    fn a_history_that_begins_with_a_segment_may_still_have_something_before_it() {
        let complete = [
            (Action::Snapshot, 0, 0),
            (Action::SegmentAlloc, 4096, 2 << 20),
            (Action::Alloc, 4096, 600),
            (Action::FreeCompleted, 4096, 600),
            (Action::SegmentFree, 4096, 2 << 20),
        ];
        let found = replayed(&complete);
        assert!(found.is_complete && found.mismatches == 0 && found.is_exact);
        assert_eq!((found.lives.len(), found.allocated_peak.bytes), (1, 1024));
        // A block that is freed and was never handed out, and a segment likewise.
        let freed = (Action::FreeCompleted, 1 << 30, 512);
        let found = replayed(&[&complete[..], &[freed]].concat());
        assert_eq!((found.is_complete, found.start.live_blocks, found.mismatches), (false, 1, 0));
        assert_eq!((found.lives.len(), found.requested_peak.bytes), (2, 1112));
        let given_back = (Action::SegmentFree, 1 << 30, 2 << 20);
        let found = replayed(&[&complete[..], &[given_back]].concat());
        assert_eq!((found.is_complete, found.start.reserved_bytes), (false, 2 << 20));
        assert_eq!((found.reserved_peak.bytes, found.mismatches), (4 << 20, 0));
        assert_eq!(found.start_ranges.len(), 1);
    }
}
