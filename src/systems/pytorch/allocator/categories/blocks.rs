//! What is asked of a block before it has a category: its stack, who let go of it, and until when it was there.

use std::ops::Range;

use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::stack_signs::{AllSigns, StackPhase, StackSigns};

/// Who let go of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo {
    /// Nobody: it is there at the end.
    Never,
    /// Autograd, once its backward pass did not need it any more.
    ByAutograd,
    ByZeroGrad,
    /// Autocast, at its end.
    ByAutocast,
    /// Other code of Python: what held it was a variable.
    ByCode,
    /// Stacks of frees were not recorded.
    NotRecorded,
}

/// Bytes that cuBLAS keeps for each thread that multiplies.
pub const WORKSPACE: u64 = 8_519_680;
/// The same and what cuBLASLt keeps: by default, and on Hopper.
pub const WORKSPACES: [u64; 4] = [WORKSPACE, 1 << 20, 32 << 20, (32 << 20) + (128 << 10)];

/// The blocks of a device.
pub struct BlockEvidence<'a> {
    pub lives: &'a BlockLives,
    pub signs: &'a AllSigns,
    /// Of the events of the device.
    stacks: &'a [StackId],
    /// Whether frees have stacks.
    knows_frees: bool,
    /// Events of requests that failed.
    pub failed: Vec<u32>,
    /// Addresses of segments in private pools.
    private: Vec<Range<u64>>,
    /// The first and the last allocation of the last pass.
    pub last_begins: u32,
    pub over: u32,
}

impl<'a> BlockEvidence<'a> {
    pub fn of(
        snapshot: &'a Snapshot,
        device: &SnapshotDevice,
        lives: &'a BlockLives,
        signs: &'a AllSigns,
    ) -> Self {
        let events = &snapshot.events;
        let actions = events.actions.get(device.events.clone()).unwrap_or_default();
        let stacks = events.stacks.get(device.events.clone()).unwrap_or_default();
        let failed = (0_u32..).zip(actions).filter(|(_, action)| **action == Action::OutOfMemory);
        let segments = snapshot.segments_of(device).iter();
        let private = segments.filter(|segment| segment.pool != (0, 0));
        let mut private: Vec<_> = private.map(|one| one.address..one.end()).collect();
        private.sort_unstable_by_key(|range| range.start);
        let failed = failed.map(|(event, _)| event).collect();
        let over = BlockLives::OPEN - 1;
        let knows_frees = false;
        let mut all =
            Self { lives, signs, stacks, knows_frees, failed, private, last_begins: 0, over };
        all.knows_frees = all.find_stacks_of_frees();
        all
    }

    /// Whether frees have stacks of their own: where only those of allocations are recorded, each has that of its block.
    fn find_stacks_of_frees(&self) -> bool {
        let own = |row: usize| {
            let stack = self.stacks.get(self.until(row) as usize).copied()?;
            Some(self.signs.of_stack(stack).has_python && stack != self.lives.stacks[row])
        };
        let mut recorded = (self.first_recorded()..self.len()).filter_map(own).peekable();
        match recorded.peek() {
            Some(_) => recorded.any(|is_own| is_own),
            None => (0..self.first_recorded()).filter_map(own).any(|is_own| is_own),
        }
    }

    pub fn len(&self) -> usize {
        self.lives.len()
    }

    /// The first row of a block that an event handed out.
    pub fn first_recorded(&self) -> usize {
        self.lives.first_from(0)
    }

    /// Whether allocations have stacks of Python.
    pub fn have_stacks(&self) -> bool {
        (self.first_recorded()..self.len()).any(|row| self.signs(row).has_python)
    }

    /// What its stack says.
    #[inline]
    pub fn signs(&self, row: usize) -> StackSigns {
        self.signs.of_stack(self.lives.stacks[row])
    }

    pub fn phase(&self, row: usize) -> StackPhase {
        self.signs(row).phase
    }

    /// The event that handed it out.
    pub fn event(&self, row: usize) -> u32 {
        self.lives.allocated_at[row]
    }

    /// The event at which it was let go of.
    #[inline]
    pub fn until(&self, row: usize) -> u32 {
        self.lives.requested_free_at[row].min(self.lives.freed_at[row])
    }

    pub fn is_kept(&self, row: usize) -> bool {
        self.until(row) == BlockLives::OPEN
    }

    /// Whether it outlives the last pass: a program that returns lets go of all.
    pub fn is_lasting(&self, row: usize) -> bool {
        self.until(row) > self.over
    }

    /// Whether it is as large as a workspace, and kept; what only the last pass had says nothing.
    pub fn may_be_workspace(&self, row: usize) -> bool {
        let lasts = || self.is_lasting(row) && self.event(row) < self.last_begins;
        WORKSPACES.contains(&self.bytes(row)) && (self.is_kept(row) || lasts())
    }

    /// Bytes that were asked for.
    pub fn bytes(&self, row: usize) -> u64 {
        self.lives.requested[row]
    }

    pub fn let_go(&self, row: usize) -> LetGo {
        let event = self.until(row);
        if event == BlockLives::OPEN {
            return LetGo::Never;
        }
        if !self.knows_frees {
            return LetGo::NotRecorded;
        }
        let stack = self.stacks.get(event as usize).copied().unwrap_or(StackId::NONE);
        let signs = self.signs.of_stack(stack);
        match () {
            () if signs.is_zero_grad => LetGo::ByZeroGrad,
            () if signs.is_autocast_exit => LetGo::ByAutocast,
            () if signs.phase == StackPhase::Backward => LetGo::ByAutograd,
            () => LetGo::ByCode,
        }
    }

    /// Whether it lies in a pool of its own, as blocks of a CUDA graph do.
    fn is_private(&self, row: usize) -> bool {
        let address = self.lives.addresses[row];
        let after = self.private.partition_point(|range| range.start <= address);
        let before = after.checked_sub(1).and_then(|place| self.private.get(place));
        before.is_some_and(|range| range.contains(&address))
    }

    /// Whether distributed training or a CUDA graph asked for it, of which nothing is known.
    pub fn is_beyond(&self, row: usize) -> bool {
        self.signs(row).is_distributed || self.is_private(row)
    }

    /// The first failed request from one event to before another.
    pub fn failed_within(&self, events: Range<u32>) -> Option<u32> {
        let first = self.failed.partition_point(|event| *event < events.start);
        self.failed.get(first).copied().filter(|event| *event < events.end)
    }
}
