//! Every block that was handed out, with its address, its bytes and its life: columns, a row for each.
//!
//! A life is half-open, from the event of the allocation to the event that completes the free. Events are numbered
//! within their device.

use crate::store::column::Column;
use crate::store::snapshot::StackId;

/// Columns of blocks: first those that lived before the first event, by address, then by their allocation.
#[derive(Clone, Debug, Default)]
pub struct BlockLives {
    /// The first byte of each.
    pub addresses: Column<u64>,
    /// Bytes that were asked for.
    pub requested: Column<u64>,
    /// Bytes that it takes.
    pub bytes: Column<u64>,
    /// The event that handed it out; [`Self::BEFORE`] if it lived before the first.
    pub allocated_at: Column<u32>,
    /// The event that gave it back; [`Self::OPEN`] if there is none, 0 or later.
    pub requested_free_at: Column<u32>,
    /// The event since which it can be used again; [`Self::OPEN`] if it is there at the end.
    pub freed_at: Column<u32>,
    pub stacks: Column<StackId>,
}

impl BlockLives {
    /// Where an allocation is before the first event.
    pub const BEFORE: u32 = u32::MAX;
    /// Where a free is that did not come.
    pub const OPEN: u32 = u32::MAX;
    /// What is freed by an event that frees none; a row.
    pub const NO_BLOCK: u32 = u32::MAX;

    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The event that handed a block out; `None` if it lived before the first.
    pub fn allocation(&self, row: usize) -> Option<u32> {
        self.allocated_at.get(row).copied().filter(|event| *event != Self::BEFORE)
    }

    /// The first row of a block that an event or a later one handed out.
    pub fn first_from(&self, event: u32) -> usize {
        self.allocated_at.partition_point(|of| *of == Self::BEFORE || *of < event)
    }

    /// The block that each of so many events frees, or [`Self::NO_BLOCK`]: an event completes one free at most, as the replay
    /// does it.
    pub fn freed_by(&self, events: usize) -> Vec<u32> {
        let mut freed = vec![Self::NO_BLOCK; events];
        for (row, event) in (0..).zip(&self.freed_at) {
            if let Some(block) = freed.get_mut(*event as usize) {
                *block = row;
            }
        }
        freed
    }

    /// Whether a block lives after an event; −1 is before the first.
    pub fn is_live_after(&self, row: usize, event: i64) -> bool {
        let from = self.allocation(row).map_or(-1, i64::from);
        let until = self.freed_at.get(row).copied().unwrap_or(0);
        from <= event && event < i64::from(until)
    }

    /// The blocks that live after an event, in the order of the rows.
    pub fn live_after(&self, event: i64) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |row| self.is_live_after(*row, event))
    }

    /// Whether a block lives from before the first event to behind the last.
    pub fn is_always_live(&self, row: usize) -> bool {
        self.allocated_at.get(row) == Some(&Self::BEFORE)
            && self.freed_at.get(row) == Some(&Self::OPEN)
    }

    /// The rows of blocks that live from before the first event to behind the last.
    pub fn always_live(&self) -> impl Iterator<Item = usize> {
        // They come first.
        (0..self.first_from(0)).filter(|row| self.is_always_live(*row))
    }

    /// Bytes that they asked for.
    pub fn always_live_bytes(&self) -> u64 {
        self.always_live().fold(0, |sum, row| sum.saturating_add(self.requested[row]))
    }

    pub(super) fn reserve(&mut self, blocks: usize) {
        self.addresses.reserve_exact(blocks);
        self.requested.reserve_exact(blocks);
        self.bytes.reserve_exact(blocks);
        self.allocated_at.reserve_exact(blocks);
        self.requested_free_at.reserve_exact(blocks);
        self.freed_at.reserve_exact(blocks);
        self.stacks.reserve_exact(blocks);
    }

    /// Adds a block that was handed out at an event, or before all of them.
    #[inline]
    pub(super) fn push(
        &mut self,
        allocated_at: u32,
        address: u64,
        requested: u64,
        bytes: u64,
        stack: StackId,
    ) -> u32 {
        let row = self.addresses.len() as u32;
        self.addresses.push(address);
        self.requested.push(requested);
        self.bytes.push(bytes);
        self.allocated_at.push(allocated_at);
        self.requested_free_at.push(Self::OPEN);
        self.freed_at.push(Self::OPEN);
        self.stacks.push(stack);
        row
    }
}
