//! A replay that goes on while events are still being read.

use super::{Forward, Mismatches, Replay, ReplayState, Reserved, begin_with_segment, replay};
use crate::store::snapshot::{AllocatorSettings, EventPart, Snapshot, SnapshotDevice, StackId};

/// Bytes of a block in all columns of lives, and of one that lives or of a segment besides.
const LIFE_BYTES: usize = 40;
const LIVE_BYTES: usize = 48;

/// Bytes of an event in the curve.
const STEP_BYTES: usize = 8;

/// A replay from nothing, some events after the others. It takes for granted that they are those of one device, that
/// nothing was there before the first, and that blocks are split and rounded as they are unless the allocator is told
/// otherwise: what it was told stands behind the events. In the end it is seen whether that was so.
#[derive(Debug)]
pub struct ReplayAhead {
    forward: Forward,
    /// Bytes that were asked for, of blocks until their free is completed, after each event.
    requested: Vec<u64>,
    events: usize,
    /// `None` until an event changes anything.
    begins_with_segment: Option<bool>,
    is_good: bool,
}

impl Default for ReplayAhead {
    fn default() -> Self {
        Self {
            forward: Forward::from(&[], Reserved::default(), &AllocatorSettings::default(), 0),
            requested: Vec::new(),
            events: 0,
            begins_with_segment: None,
            is_good: true,
        }
    }
}

impl ReplayAhead {
    /// Goes on by some events; whether it is of use until now.
    pub fn add(&mut self, part: &EventPart) -> bool {
        let first = self.events;
        self.events = first.saturating_add(part.actions.len());
        if self.begins_with_segment.is_none() {
            self.begins_with_segment = begin_with_segment(&part.actions);
        }
        self.is_good &= self.begins_with_segment != Some(false);
        let events = part.actions.iter().zip(&part.addresses).zip(&part.sizes);
        for (event, ((action, address), bytes)) in (first as u32..).zip(events) {
            if !self.is_good {
                break;
            }
            self.is_good = self.forward.step(event, *action, *address, *bytes, StackId::NONE);
            self.requested.push(self.forward.requested.now);
        }
        self.is_good
    }

    /// Bytes of memory that it takes, about.
    pub fn bytes(&self) -> u64 {
        let Forward { lives, live, reserved, .. } = &self.forward;
        let of_blocks = lives.len().saturating_mul(LIFE_BYTES);
        let of_live = live.len().saturating_add(reserved.len()).saturating_mul(LIVE_BYTES);
        let of_curve = self.requested.capacity().saturating_mul(STEP_BYTES);
        of_blocks.saturating_add(of_live).saturating_add(of_curve) as u64
    }

    /// What [`replay`] makes of a device, if that is the one and all was as it was taken for granted, and the curve of
    /// what was asked for after each event.
    fn replay_of(
        mut self,
        snapshot: &Snapshot,
        device: &SnapshotDevice,
    ) -> Option<(Replay, Option<Vec<u64>>)> {
        let (was_told, is) = (&self.forward.settings, &snapshot.settings);
        let is_as_told = was_told.most_split_bytes == is.most_split_bytes
            && was_told.roundup_divisions == is.roundup_divisions;
        let is_of_device = device.events == (0..self.events);
        let is_good = self.is_good && self.begins_with_segment == Some(true);
        if !(is_good && is_as_told && is_of_device) {
            return None;
        }
        if ReplayState::at_end(snapshot, device).mismatches > 0 {
            return None;
        }
        let (at_end, other_sizes) = self.forward.compared_with_end(snapshot, device);
        if at_end > 0 {
            return None;
        }
        let lives = &mut self.forward.lives;
        for (stack, event) in lives.stacks.iter_mut().zip(lives.allocated_at.iter()) {
            *stack = snapshot.events.stacks.get(*event as usize).copied().unwrap_or(StackId::NONE);
        }
        // More than that is of a file that is made to do harm, and sums did not add all of it.
        let is_sum = i64::try_from(self.forward.requested.peak.bytes).is_ok();
        let requested = is_sum.then_some(self.requested);
        Some((self.forward.replay(Vec::new(), true, Mismatches::default(), other_sizes), requested))
    }
}

/// Replays a device, of whose events some replay was made ahead. Where that is of use, it leaves the requested curve as
/// well: the bytes after each event.
pub fn replay_after(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    ahead: Option<ReplayAhead>,
) -> (Replay, Option<Vec<u64>>) {
    let replayed = ahead.and_then(|ahead| ahead.replay_of(snapshot, device));
    replayed.unwrap_or_else(|| (replay(snapshot, device), None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::snapshot::{Action, Block, BlockState, Events, Segment};
    use crate::systems::pytorch::allocator::curves::{BlockCurve, Devices, block_curve};
    use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;

    const MIB: u64 = 1 << 20;

    /// A device with these events, and with what is left of them in a segment of 64 MiB, each block with the bytes that a
    /// replay gives it.
    fn snapshot(events: &[(Action, u64, u64)], settings: AllocatorSettings) -> Snapshot {
        let count = events.len();
        let events = Events {
            actions: events.iter().map(|event| event.0).collect(),
            addresses: events.iter().map(|event| event.1).collect(),
            sizes: events.iter().map(|event| event.2).collect(),
            streams: vec![0; count].into(),
            times: vec![Events::NO_TIME; count].into(),
            stacks: (0..count as u32).map(StackId).collect(),
            texts: Vec::new(),
        };
        let device = SnapshotDevice { events: 0..count, ..SnapshotDevice::default() };
        let mut snapshot =
            Snapshot { events, settings, devices: vec![device.clone()], ..Snapshot::default() };
        let lives = replay(&snapshot, &device).lives;
        let left = lives.live_after(i64::from(u32::MAX - 1));
        snapshot.blocks = left
            .map(|row| Block {
                address: lives.addresses[row],
                bytes: lives.bytes[row],
                requested_bytes: lives.requested[row],
                state: BlockState::Allocated,
                stack: StackId::NONE,
            })
            .collect();
        let blocks = 0..snapshot.blocks.len();
        snapshot.segments = vec![Segment {
            address: 64 * MIB,
            bytes: 64 * MIB,
            allocated_bytes: 0,
            active_bytes: 0,
            stream: 0,
            is_small: false,
            pool: (0, 0),
            is_expandable: false,
            stack: StackId::NONE,
            blocks,
        }];
        snapshot.devices = vec![SnapshotDevice { segments: 0..1, ..device }];
        snapshot
    }

    /// A replay of the events, some at a time.
    fn ahead_of(events: &[(Action, u64, u64)], at_a_time: usize) -> (ReplayAhead, bool) {
        let mut ahead = ReplayAhead::default();
        let mut is_of_use = true;
        for part in events.chunks(at_a_time) {
            is_of_use = ahead.add(&EventPart {
                actions: part.iter().map(|event| event.0).collect(),
                addresses: part.iter().map(|event| event.1).collect(),
                sizes: part.iter().map(|event| event.2).collect(),
            });
        }
        (ahead, is_of_use)
    }

    /// A segment, and blocks of it that come and go: a place of the 64 is given back where it is taken.
    fn run(places: &[(u64, u64)]) -> Vec<(Action, u64, u64)> {
        let mut events = vec![(Action::SegmentAlloc, 64 * MIB, 64 * MIB)];
        let mut live: Vec<Option<u64>> = vec![None; 64];
        for (place, bytes) in places {
            let address = (64 + place) * MIB;
            match live[*place as usize].take() {
                Some(bytes) => {
                    events.push((Action::FreeRequested, address, bytes));
                    events.push((Action::FreeCompleted, address, bytes));
                }
                None => {
                    events.push((Action::Alloc, address, *bytes));
                    live[*place as usize] = Some(*bytes);
                }
            }
        }
        events
    }

    proptest! {
        #[test]
        fn what_is_replayed_ahead_is_what_is_replayed_after(
            places in proptest::collection::vec((0_u64..64, 1_u64..MIB), 0..200),
            at_a_time in 1_usize..50,
            most_split in proptest::option::of(Just(MIB)),
        ) {
            let events = run(&places);
            let settings =
                AllocatorSettings { most_split_bytes: most_split, ..AllocatorSettings::default() };
            let snapshot = snapshot(&events, settings);
            let (ahead, is_of_use) = ahead_of(&events, at_a_time);
            prop_assert!(is_of_use);
            let device = &snapshot.devices[0];
            let expected = replay(&snapshot, device);
            let replayed = ahead.replay_of(&snapshot, device);
            prop_assert_eq!(replayed.is_some(), most_split.is_none());
            if let Some((replayed, requested)) = replayed {
                prop_assert_eq!(format!("{replayed:?}"), format!("{expected:?}"));
                let all = ReplayedSnapshot::of(snapshot.clone());
                let curve = block_curve(&all, Devices::At(0), BlockCurve::Requested);
                prop_assert_eq!(requested, Some(curve));
            }
        }
    }

    #[test]
    fn what_does_not_hold_is_not_taken() {
        let events = run(&[(0, 4096), (1, 4096), (0, 1)]);
        let good = snapshot(&events, AllocatorSettings::default());
        let of = |ahead: ReplayAhead, snapshot: &Snapshot| {
            ahead.replay_of(snapshot, &snapshot.devices[0]).is_some()
        };
        assert!(of(ahead_of(&events, 2).0, &good));
        // Events that are no longer all, or of a device among others.
        assert!(!of(ahead_of(&events[..3], 2).0, &good));
        let mut moved = good.clone();
        moved.devices[0].events = 0..3;
        assert!(!of(ahead_of(&events, 2).0, &moved));
        // Another end.
        let mut other = good.clone();
        other.blocks[0].address += 512;
        assert!(!of(ahead_of(&events, 2).0, &other));
        // What begins with a block, or frees what nobody had, had something before.
        for bad in [&events[1..], &[&events[..], &[(Action::FreeCompleted, 1, 512)]].concat()] {
            assert!(!ahead_of(bad, 2).1);
        }
        // Nothing that changes anything says nothing.
        let nothing = [(Action::Snapshot, 0, 0)];
        assert!(!of(ahead_of(&nothing, 1).0, &snapshot(&nothing, AllocatorSettings::default())));
    }
}
