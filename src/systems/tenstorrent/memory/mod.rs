//! What follows from a report: lives of buffers, peaks, scratch of programs, and what is kept.
//!
//! The end of each operation is known by its rows in `buffers`, and what happened within it by its graph. So the graph is
//! walked backwards from the end to the start, and forwards again. Nothing is carried from one operation to the next but
//! lives: what happened between them is in no graph.

pub mod errors;
pub mod facts;
mod lives;
pub mod purposes;
mod replay;
pub mod scratch;
pub mod scratch_facts;
pub mod spaces;

pub use lives::{BufferLife, FreedBy, LifeReads};
pub use replay::RankReplay;
pub use scratch::{ProgramMoment, ProgramState, ProgramUse, ScratchCounts};

use super::recorded::{BufferKey, BufferSpace, ScratchBuffer};

/// Bytes in each space, as [`BufferSpace`] numbers them.
pub type SpaceBytes = [u64; BufferSpace::COUNT];

/// What the operations of a rank did to memory.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RankMemory {
    /// Lives of buffers, in the order in which they began.
    pub lives: Vec<BufferLife>,
    /// Who reads the tensors of each life.
    pub reads: Vec<LifeReads>,
    /// Occupied bytes on a bank of each space at the end of each operation.
    pub levels: Vec<SpaceBytes>,
    /// The most within operations; `None` without operations.
    pub transient: Option<TransientPeak>,
    /// The programs that ran, in their order.
    pub programs: Vec<ProgramUse>,
    /// Lists of scratch that programs have; [`ProgramUse::scratch`] is a place here.
    pub scratch: Vec<Vec<ScratchBuffer>>,
    /// Nodes of scratch.
    pub scratch_counts: ScratchCounts,
    /// Where graphs and `buffers` contradict each other.
    pub mismatches: u64,
    /// Buffers that were freed between operations.
    pub freed_between: u64,
    /// The fullest moments of operations that failed, by position.
    pub failures: Vec<(u32, FullestMoment)>,
}

/// The most that is in L1 and L1_SMALL of a core within an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TransientPeak {
    /// The first operation with it.
    pub operation: u32,
    /// Occupied bytes.
    pub bytes: u64,
    /// The most without rounding, bytes, at whichever operation that is.
    pub unrounded_bytes: u64,
}

/// What was alive at the last moment of an operation at which most of L1 and L1_SMALL was taken.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FullestMoment {
    /// Bytes of L1 and L1_SMALL.
    pub bytes: u64,
    /// Buffers by space and address, with their lives.
    pub alive: Vec<(BufferKey, u32)>,
}

impl RankMemory {
    /// Lives of a space that are there at the end of an operation, with their places.
    pub fn alive_at(
        &self,
        space: BufferSpace,
        operation: u32,
    ) -> impl Iterator<Item = (usize, &BufferLife)> {
        let lives = self.lives.iter().enumerate();
        lives.filter(move |(_, life)| life.key.space == space && life.is_at_end_of(operation))
    }

    /// Who reads the tensors of the life at a place.
    pub fn reads_of(&self, place: usize) -> LifeReads {
        self.reads.get(place).copied().unwrap_or_default()
    }

    /// Occupied bytes on a bank at the end of an operation.
    pub fn level(&self, space: BufferSpace, operation: u32) -> u64 {
        let levels = self.levels.get(operation as usize);
        levels.and_then(|levels| levels.get(space as usize)).copied().unwrap_or(0)
    }

    /// The first operation at whose end most of a space is taken; `None` where nothing ever is.
    pub fn peak(&self, space: BufferSpace) -> Option<u32> {
        let levels = (0_u32..).map(|at| (self.level(space, at), at)).take(self.levels.len());
        let peak = levels.max_by_key(|(bytes, at)| (*bytes, std::cmp::Reverse(*at)))?;
        (peak.0 > 0).then_some(peak.1)
    }

    /// The most that a bank of a space has at the end of an operation, bytes.
    pub fn peak_bytes(&self, space: BufferSpace) -> u64 {
        self.peak(space).map_or(0, |at| self.level(space, at))
    }

    /// Bytes of L1 and L1_SMALL that are taken of a core at the end of an operation.
    pub fn core_level(&self, operation: u32) -> u64 {
        let level = |space| self.level(space, operation);
        level(BufferSpace::L1).saturating_add(level(BufferSpace::L1Small))
    }

    /// The fullest moment of an operation that failed.
    pub fn failure(&self, operation: u32) -> Option<&FullestMoment> {
        self.failures.iter().find(|(at, _)| *at == operation).map(|(_, moment)| moment)
    }

    /// How many programs have scratch that is not known.
    pub fn unknown_programs(&self) -> usize {
        self.programs.iter().filter(|program| program.state == ProgramState::Unknown).count()
    }
}

/// The bytes that a buffer takes of a bank: a whole number of the allocator's smallest blocks.
pub fn occupied(bytes_per_bank: u64, rounding_bytes: u64) -> u64 {
    bytes_per_bank.checked_next_multiple_of(rounding_bytes).unwrap_or(u64::MAX)
}
