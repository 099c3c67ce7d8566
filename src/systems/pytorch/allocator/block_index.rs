//! Finds the block of an event, and how often its address had been handed out by then: an address comes back many
//! times, and `0x7f00…#3` is the third block there.

use std::collections::HashMap;

use super::replay::Replay;
use crate::store::snapshot::SnapshotDevice;

/// The blocks of a device by event, and their numbers.
#[derive(Clone, Debug, Default)]
pub struct BlockIndex {
    /// By event the row of the block; [`Self::NONE`] of other events.
    rows: Vec<u32>,
    /// By row how many blocks there were at its address up to it, from 1.
    numbers: Vec<u32>,
}

impl BlockIndex {
    const NONE: u32 = u32::MAX;

    pub fn of(device: &SnapshotDevice, replay: &Replay) -> Self {
        let lives = &replay.lives;
        let mut rows = vec![Self::NONE; device.events.len()];
        let mut numbers = Vec::with_capacity(lives.len());
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for row in 0..lives.len() {
            let number = counts.entry(lives.addresses[row]).or_default();
            *number = number.saturating_add(1);
            numbers.push(*number);
            for event in
                [lives.allocated_at[row], lives.requested_free_at[row], lives.freed_at[row]]
            {
                // The marks of what has no event lie behind all of them.
                if let Some(of) = rows.get_mut(event as usize) {
                    *of = row as u32;
                }
            }
        }
        Self { rows, numbers }
    }

    /// The row of the block that an event of the device is about.
    pub fn row(&self, event: u32) -> Option<usize> {
        self.rows
            .get(event as usize)
            .copied()
            .filter(|row| *row != Self::NONE)
            .map(|row| row as usize)
    }

    /// The number of a block among those at its address.
    pub fn number(&self, row: usize) -> u32 {
        self.numbers.get(row).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::{Action, Events, Snapshot, StackId};
    use crate::systems::pytorch::allocator::replay::replay;

    #[test]
    fn blocks_at_one_address_are_counted() {
        let events = Events {
            actions: vec![
                Action::SegmentAlloc,
                Action::Alloc,
                Action::FreeCompleted,
                Action::Alloc,
                Action::FreeCompleted,
            ],
            addresses: vec![4096; 5].into(),
            sizes: vec![2 << 20, 512, 512, 512, 512].into(),
            streams: vec![0; 5].into(),
            times: vec![Events::NO_TIME; 5].into(),
            stacks: vec![StackId::NONE; 5].into(),
            texts: Vec::new(),
        };
        let device = SnapshotDevice { events: 0..5, ..Default::default() };
        let mut snapshot = Snapshot { events, ..Snapshot::default() };
        snapshot.devices.push(device.clone());
        let replay = replay(&snapshot, &device);
        let index = BlockIndex::of(&device, &replay);
        let rows: Vec<_> = (0..5).map(|event| index.row(event)).collect();
        assert_eq!(rows, [None, Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!((index.number(0), index.number(1)), (1, 2));
    }
}
