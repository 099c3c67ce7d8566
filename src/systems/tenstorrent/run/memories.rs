//! The memories of a run, each a device of the shared report with one bank: L1 of a core, and the other spaces of a rank.
//!
//! All banks of a space have the same buffers at the same addresses, so one stands for all of them. The L1 of the rank `n` is
//! the device `n`, of which most is said; the other spaces follow.

use std::cmp::Reverse;

use crate::store::{ArenaId, DeviceId};
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::systems::tenstorrent::memory::{BufferLife, SpaceBytes};
use crate::systems::tenstorrent::recorded::BufferSpace;

/// A space of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOfRank {
    /// The place of the rank.
    pub rank: usize,
    /// The space.
    pub space: BufferSpace,
    /// Its number as a device and as a bank.
    number: u32,
}

impl MemoryOfRank {
    /// The device that it is.
    pub fn device(&self) -> DeviceId {
        DeviceId(self.number)
    }

    /// The bank that stands for all of them.
    pub fn arena(&self) -> ArenaId {
        ArenaId(self.number)
    }

    /// What it is called: `Rank 0, L1 of a core`.
    pub fn title(&self, view: &RankView<'_>) -> String {
        let part = if self.space.is_of_core() { "of a core" } else { "of a bank" };
        let rank = view.rank.rank;
        format!("Rank {rank}, {} {part}", self.space.word())
    }

    /// The first address of a bank that buffers can have.
    pub fn base(&self, view: &RankView<'_>) -> u64 {
        match self.space {
            BufferSpace::L1 => view.device().floor_address,
            BufferSpace::L1Small => view.device().l1_end(),
            _ => 0,
        }
    }

    /// Bytes that buffers can take of a bank, where the report says so.
    pub fn capacity_bytes(&self, view: &RankView<'_>) -> Option<u64> {
        let device = view.rank.machine.device?;
        match self.space {
            BufferSpace::L1 => Some(device.l1_bank_bytes),
            BufferSpace::L1Small => Some(device.l1_small_bytes()),
            _ => None,
        }
    }

    /// Its bytes at the ends of operations.
    pub fn levels<'a>(&self, view: &RankView<'a>) -> impl Iterator<Item = u64> + use<'a> {
        let place = self.space as usize;
        let levels = view.memory.levels.iter();
        levels.map(move |levels: &SpaceBytes| levels.get(place).copied().unwrap_or(0))
    }
}

/// Whether a buffer is there from the first operation to the last.
pub fn is_throughout(life: &BufferLife) -> bool {
    life.first == 0 && life.freed.is_none()
}

/// The memories of a run: L1 of each rank, and each other space that has buffers.
pub fn memories(views: &[RankView<'_>]) -> Vec<MemoryOfRank> {
    let of_l1 = (0..views.len()).map(|rank| (rank, BufferSpace::L1));
    let others = views.iter().enumerate().flat_map(|(rank, view)| {
        let rows = view.rank.rows_of_spaces;
        let spaces = BufferSpace::OF_CHIP.into_iter();
        let has_rows = move |space: &BufferSpace| {
            *space != BufferSpace::L1 && rows.get(*space as usize).is_some_and(|rows| *rows > 0)
        };
        spaces.filter(has_rows).map(move |space| (rank, space))
    });
    let all = (0..).zip(of_l1.chain(others));
    all.map(|(number, (rank, space))| MemoryOfRank { rank, space, number }).collect()
}

/// The memory that a run is about: L1 of the rank where most of it is taken.
pub fn main_memory(views: &[RankView<'_>]) -> Option<MemoryOfRank> {
    let peak = |memory: &MemoryOfRank| {
        let view = views.get(memory.rank)?;
        memory.levels(view).max()
    };
    let of_l1 = memories(views).into_iter().filter(|memory| memory.space == BufferSpace::L1);
    of_l1.max_by_key(|memory| (peak(memory), Reverse(memory.rank)))
}

/// The rank that a run is about: that of its main memory.
pub fn main_view<'a, 'b>(views: &'b [RankView<'a>]) -> Option<&'b RankView<'a>> {
    views.get(main_memory(views)?.rank)
}
