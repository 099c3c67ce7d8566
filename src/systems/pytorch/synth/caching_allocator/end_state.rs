//! The segments of an allocator with their blocks, as a snapshot has them.

use super::{BlockUse, CachingAllocator, CapturedStack, HeapBlock};
use crate::store::snapshot::BlockState;

/// A part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndBlock {
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes that were asked for; stale where it is free.
    pub requested_bytes: u64,
    /// Whether it is in use.
    pub state: BlockState,
    /// Where it was handed out.
    pub capture: CapturedStack,
}

/// A segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndSegment {
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The stream that it is of.
    pub stream: u32,
    /// Whether it is of the pool for small requests.
    pub is_small: bool,
    /// Where it was taken.
    pub capture: CapturedStack,
    /// Its blocks, by address.
    pub blocks: Vec<EndBlock>,
}

impl EndSegment {
    /// The sum of a figure of its blocks.
    pub fn sum(&self, figure: impl Fn(&EndBlock) -> u64) -> u64 {
        self.blocks.iter().map(figure).sum()
    }
}

impl CachingAllocator {
    /// The segments, by address.
    pub fn end_state(&self) -> Vec<EndSegment> {
        let segments = self.segments.iter().map(|(address, segment)| {
            let first = &self.blocks[segment.first as usize];
            EndSegment {
                address: *address,
                bytes: segment.bytes,
                stream: first.stream,
                is_small: first.is_small,
                capture: segment.capture,
                blocks: self.from(segment.first).map(end_block).collect(),
            }
        });
        segments.collect()
    }

    /// A block and those behind it.
    fn from(&self, row: u32) -> impl Iterator<Item = &HeapBlock> {
        let block = |row: u32| &self.blocks[row as usize];
        std::iter::successors(Some(block(row)), move |last| last.after.map(block))
    }
}

fn end_block(block: &HeapBlock) -> EndBlock {
    let state = match block.state {
        BlockUse::Free => BlockState::Inactive,
        BlockUse::Allocated => BlockState::Allocated,
        BlockUse::Pending => BlockState::Pending,
    };
    EndBlock {
        address: block.address,
        bytes: block.bytes,
        requested_bytes: block.requested,
        state,
        capture: block.capture,
    }
}
