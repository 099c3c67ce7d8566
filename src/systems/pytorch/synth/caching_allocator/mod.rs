//! PyTorch's caching allocator (formats/pytorch.md 4.4 and 8.2): segments are taken from the device, blocks are cut
//! from them, given back, joined with free neighbors and handed out again. It counts for itself what it does, so that
//! what is read of a snapshot can be held against it.

mod device;
mod end_state;
mod statistics;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::frames::CallStack;
use crate::store::snapshot::Action;
use device::DeviceMemory;
pub use end_state::{EndBlock, EndSegment};
pub use statistics::{AllocatorStatistics, Counts};

/// Sizes are multiples of this.
const LEAST: u64 = 512;
/// Requests of at most this many bytes are of the pool of small blocks.
const SMALL: u64 = 1 << 20;
/// The segments of that pool.
const SMALL_SEGMENT: u64 = 2 << 20;
/// Requests below this take a segment for several of them.
const LEAST_LARGE: u64 = 10 << 20;
/// That segment.
const LARGE_SEGMENT: u64 = 20 << 20;
/// Larger requests take a segment of their own, a multiple of this.
const ROUND_LARGE: u64 = 2 << 20;

/// What the allocator is told (`PYTORCH_CUDA_ALLOC_CONF`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocatorOptions {
    /// `max_split_size_mb`, in bytes: blocks from this size on are not split.
    pub most_split_bytes: Option<u64>,
    /// `roundup_power2_divisions` of all sizes; 0 is off.
    pub roundup_divisions: u64,
}

/// What the device has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardMemory {
    /// Its memory; `None` is more than anybody has.
    pub capacity_bytes: Option<u64>,
    /// What others have of it, the process outside of the allocator as well.
    pub other_bytes: u64,
}

impl CardMemory {
    /// Its memory, bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity_bytes.unwrap_or(1 << 46)
    }
}

/// A moment at which a stack was taken; what happened in it shares one list of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedStack {
    /// Its number.
    pub number: u64,
    /// Where in the program.
    pub stack: CallStack,
}

/// Something that happened, without its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub action: Action,
    /// Its address; of a request that failed the free bytes of the device.
    pub address: u64,
    /// Bytes: requested of a block, whole of a segment.
    pub bytes: u64,
    /// Bytes of the block, of one that is handed out; not in the file.
    pub block_bytes: u64,
    /// The stream, 0 is the default.
    pub stream: u32,
    /// Where in the program.
    pub capture: CapturedStack,
}

/// A request that failed, after everything that can be given back was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What the device was asked for, bytes of a segment.
    pub asked_bytes: u64,
    /// What it had free.
    pub free_bytes: u64,
    /// What was handed out.
    pub allocated_bytes: u64,
    /// What was reserved.
    pub reserved_bytes: u64,
}

/// A block that is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockUse {
    Free,
    Allocated,
    /// Given back, and another stream still uses it.
    Pending,
}

#[derive(Clone, Debug)]
struct HeapBlock {
    address: u64,
    bytes: u64,
    requested: u64,
    stream: u32,
    is_small: bool,
    state: BlockUse,
    /// Whether another stream uses it.
    is_shared: bool,
    before: Option<u32>,
    after: Option<u32>,
    capture: CapturedStack,
}

impl HeapBlock {
    fn is_split(&self) -> bool {
        self.before.is_some() || self.after.is_some()
    }
}

#[derive(Clone, Debug)]
struct HeapSegment {
    bytes: u64,
    first: u32,
    capture: CapturedStack,
}

/// Free blocks of a pool by stream, size and address: the first that is large enough fits best.
type Pool = BTreeSet<(u32, u64, u64, u32)>;

/// The allocator of one device.
#[derive(Debug)]
pub struct CachingAllocator {
    settings: AllocatorOptions,
    device: DeviceMemory,
    blocks: Vec<HeapBlock>,
    /// Rows of `blocks` that stand for nothing.
    vacant: Vec<u32>,
    segments: BTreeMap<u64, HeapSegment>,
    small: Pool,
    large: Pool,
    /// Blocks that another stream still uses, with the request at which it is done.
    pending: VecDeque<(u64, u32)>,
    requests: u64,
    statistics: AllocatorStatistics,
    /// What has happened and was not taken yet.
    pub happened: Vec<Event>,
}

impl CachingAllocator {
    /// One that has nothing yet.
    pub fn new(settings: AllocatorOptions, card: CardMemory) -> Self {
        Self {
            settings,
            device: DeviceMemory::new(card),
            blocks: Vec::new(),
            vacant: Vec::new(),
            segments: BTreeMap::new(),
            small: Pool::new(),
            large: Pool::new(),
            pending: VecDeque::new(),
            requests: 0,
            statistics: AllocatorStatistics::default(),
            happened: Vec::new(),
        }
    }

    /// What was counted.
    pub fn statistics(&self) -> &AllocatorStatistics {
        &self.statistics
    }

    /// Hands out a block.
    ///
    /// # Errors
    /// When the device has no more, also after everything was given back that can be.
    pub fn allocate(
        &mut self,
        requested: u64,
        stream: u32,
        capture: CapturedStack,
    ) -> Result<Handle, Refused> {
        self.requests += 1;
        self.complete_pending(false);
        let bytes = self.rounded(requested);
        let found = match self.best_fit(bytes, stream) {
            Some(found) => Some(found),
            None => self.take_segment_or_give_back(bytes, stream, capture),
        };
        let Some(row) = found else { return Err(self.failed(bytes, stream, capture)) };
        let row = self.cut(row, bytes);
        let block = &mut self.blocks[row as usize];
        block.state = BlockUse::Allocated;
        block.requested = requested;
        block.capture = capture;
        let (address, bytes, is_small) = (block.address, block.bytes, block.is_small);
        self.statistics.hand_out(is_small, requested, bytes);
        self.happened.push(Event {
            action: Action::Alloc,
            address,
            bytes: requested,
            block_bytes: bytes,
            stream,
            capture,
        });
        Ok(Handle(row))
    }

    /// Says that another stream uses a block: it cannot be used again before that stream is done.
    pub fn share(&mut self, handle: Handle) {
        self.blocks[handle.0 as usize].is_shared = true;
    }

    /// Gives a block back; one that is shared can be used again some requests later.
    pub fn free(&mut self, handle: Handle, capture: CapturedStack, requests_later: u64) {
        let row = handle.0;
        let block = &mut self.blocks[row as usize];
        let (bytes, is_small) = (block.bytes, block.is_small);
        let is_shared = std::mem::take(&mut block.is_shared);
        block.state = BlockUse::Pending;
        self.statistics.give_back(is_small, bytes);
        self.tell(Action::FreeRequested, row, capture);
        if is_shared {
            self.pending.push_back((self.requests + requests_later, row));
        } else {
            self.complete(row, capture);
        }
    }

    fn tell(&mut self, action: Action, row: u32, capture: CapturedStack) {
        let HeapBlock { address, requested, stream, .. } = self.blocks[row as usize];
        let bytes = requested;
        self.happened.push(Event { action, address, bytes, block_bytes: 0, stream, capture });
    }

    /// Completes what other streams are done with, or everything.
    fn complete_pending(&mut self, is_all: bool) {
        while let Some((request, row)) = self.pending.front().copied() {
            if request > self.requests && !is_all {
                break;
            }
            self.pending.pop_front();
            self.complete(row, self.blocks[row as usize].capture);
        }
    }

    /// A block can be used again: it is joined with free neighbors.
    fn complete(&mut self, row: u32, capture: CapturedStack) {
        self.tell(Action::FreeCompleted, row, capture);
        let block = &self.blocks[row as usize];
        let (is_small, before, after) = (block.is_small, block.before, block.after);
        self.statistics.complete(is_small, block.requested, block.bytes);
        self.blocks[row as usize].state = BlockUse::Free;
        let free = |row: &u32, blocks: &[HeapBlock]| blocks[*row as usize].state == BlockUse::Free;
        if let Some(before) = before.filter(|row| free(row, &self.blocks)) {
            let HeapBlock { address, bytes, before: further, .. } = self.blocks[before as usize];
            self.leave_pool(before);
            self.statistics.part_lost(is_small, bytes);
            let block = &mut self.blocks[row as usize];
            block.address = address;
            block.bytes += bytes;
            block.before = further;
            match further {
                Some(further) => self.blocks[further as usize].after = Some(row),
                None => self.first_of_segment(address, row),
            }
            self.vacant.push(before);
        }
        if let Some(after) = after.filter(|row| free(row, &self.blocks)) {
            let HeapBlock { bytes, after: further, .. } = self.blocks[after as usize];
            self.leave_pool(after);
            self.statistics.part_lost(is_small, bytes);
            let block = &mut self.blocks[row as usize];
            block.bytes += bytes;
            block.after = further;
            if let Some(further) = further {
                self.blocks[further as usize].before = Some(row);
            }
            self.vacant.push(after);
        }
        self.enter_pool(row);
        let block = &self.blocks[row as usize];
        if block.is_split() {
            self.statistics.part_gained(is_small, block.bytes);
        }
    }

    fn first_of_segment(&mut self, address: u64, row: u32) {
        if let Some(segment) = self.segments.get_mut(&address) {
            segment.first = row;
        }
    }

    fn pool(&mut self, is_small: bool) -> &mut Pool {
        if is_small { &mut self.small } else { &mut self.large }
    }

    fn key(&self, row: u32) -> (u32, u64, u64, u32) {
        let block = &self.blocks[row as usize];
        (block.stream, block.bytes, block.address, row)
    }

    fn enter_pool(&mut self, row: u32) {
        let key = self.key(row);
        self.pool(self.blocks[row as usize].is_small).insert(key);
    }

    fn leave_pool(&mut self, row: u32) {
        let key = self.key(row);
        self.pool(self.blocks[row as usize].is_small).remove(&key);
    }

    fn new_block(&mut self, block: HeapBlock) -> u32 {
        match self.vacant.pop() {
            Some(row) => {
                self.blocks[row as usize] = block;
                row
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// The smallest free block of a stream that is large enough, taken from its pool. Blocks that are too large to be
    /// split are kept for requests of their size.
    fn best_fit(&mut self, bytes: u64, stream: u32) -> Option<u32> {
        let most_split = self.settings.most_split_bytes.unwrap_or(u64::MAX);
        let pool = self.pool(bytes <= SMALL);
        let (of_stream, found, _, row) = *pool.range((stream, bytes, 0, 0)..).next()?;
        let is_oversized = if bytes < most_split {
            found >= most_split
        } else {
            found >= bytes.saturating_add(LARGE_SEGMENT)
        };
        if of_stream != stream || is_oversized {
            return None;
        }
        self.leave_pool(row);
        Some(row)
    }

    /// A new segment as one block, if need be after free ones were given back.
    fn take_segment_or_give_back(
        &mut self,
        bytes: u64,
        stream: u32,
        capture: CapturedStack,
    ) -> Option<u32> {
        let is_small = bytes <= SMALL;
        let take =
            |this: &mut Self| this.take_segment(segment_for(bytes), is_small, stream, capture);
        if let Some(row) = take(self) {
            return Some(row);
        }
        if self.give_back_oversized(bytes, stream, capture)
            && let Some(row) = take(self)
        {
            return Some(row);
        }
        self.complete_pending(true);
        for is_small in [false, true] {
            let rows: Vec<u32> = self.pool(is_small).iter().map(|(.., row)| *row).collect();
            for row in rows {
                self.give_back_segment(row, capture);
            }
        }
        self.statistics.retries += 1;
        take(self)
    }

    fn take_segment(
        &mut self,
        bytes: u64,
        is_small: bool,
        stream: u32,
        capture: CapturedStack,
    ) -> Option<u32> {
        let address = self.device.take(bytes)?;
        let row = self.new_block(HeapBlock {
            address,
            bytes,
            requested: 0,
            stream,
            is_small,
            state: BlockUse::Free,
            is_shared: false,
            before: None,
            after: None,
            capture,
        });
        self.segments.insert(address, HeapSegment { bytes, first: row, capture });
        self.statistics.take_segment(is_small, bytes);
        let action = Action::SegmentAlloc;
        self.happened.push(Event { action, address, bytes, block_bytes: 0, stream, capture });
        Some(row)
    }

    /// Gives back free blocks of the sizes that are not split, as many as a request takes; whether they are enough.
    fn give_back_oversized(&mut self, bytes: u64, stream: u32, capture: CapturedStack) -> bool {
        let Some(most_split) = self.settings.most_split_bytes.filter(|_| bytes > SMALL) else {
            return false;
        };
        let wanted = bytes.max(most_split);
        let first = self.large.range((stream, wanted, 0, 0)..).next().copied();
        if let Some((_, _, _, row)) = first.filter(|(of_stream, ..)| *of_stream == stream) {
            self.give_back_segment(row, capture);
            return true;
        }
        let mut given = 0_u64;
        while given < wanted {
            let below = self.large.range((stream, most_split, 0, 0)..(stream, wanted, 0, 0));
            let Some((_, found, _, row)) = below.last().copied() else { break };
            if !self.give_back_segment(row, capture) {
                break;
            }
            given += found;
        }
        given >= wanted
    }

    /// Gives a segment back to the device, if the block is all of it.
    fn give_back_segment(&mut self, row: u32, capture: CapturedStack) -> bool {
        let block = &self.blocks[row as usize];
        if block.is_split() {
            return false;
        }
        let HeapBlock { address, bytes, stream, is_small, .. } = *block;
        self.leave_pool(row);
        self.segments.remove(&address);
        self.device.give_back(address, bytes);
        self.vacant.push(row);
        self.statistics.give_back_segment(is_small, bytes);
        let action = Action::SegmentFree;
        self.happened.push(Event { action, address, bytes, block_bytes: 0, stream, capture });
        true
    }

    fn failed(&mut self, bytes: u64, stream: u32, capture: CapturedStack) -> Refused {
        self.statistics.failed_requests += 1;
        let free_bytes = self.device.free_bytes();
        let action = Action::OutOfMemory;
        let address = free_bytes;
        self.happened.push(Event { action, address, bytes, block_bytes: 0, stream, capture });
        Refused {
            asked_bytes: segment_for(bytes),
            free_bytes,
            allocated_bytes: self.statistics.allocated_bytes.all.current,
            reserved_bytes: self.statistics.reserved_bytes.all.current,
        }
    }

    /// Cuts what was asked for from the front of a free block, if the rest is worth it.
    fn cut(&mut self, row: u32, bytes: u64) -> u32 {
        let block = &self.blocks[row as usize];
        let (is_small, was_split, whole) = (block.is_small, block.is_split(), block.bytes);
        let rest = whole - bytes;
        let is_cut = if is_small {
            rest >= LEAST
        } else {
            self.settings.most_split_bytes.is_none_or(|most| bytes < most) && rest > SMALL
        };
        if !is_cut {
            if was_split {
                self.statistics.part_lost(is_small, whole);
            }
            return row;
        }
        let HeapBlock { address, stream, before, capture, .. } = *block;
        let front = self.new_block(HeapBlock {
            address,
            bytes,
            requested: 0,
            stream,
            is_small,
            state: BlockUse::Free,
            is_shared: false,
            before,
            after: Some(row),
            capture,
        });
        match before {
            Some(before) => self.blocks[before as usize].after = Some(front),
            None => self.first_of_segment(address, front),
        }
        let behind = &mut self.blocks[row as usize];
        behind.address = address + bytes;
        behind.bytes = rest;
        behind.before = Some(front);
        self.enter_pool(row);
        if was_split {
            self.statistics.part_shrunk(is_small, bytes);
        } else {
            self.statistics.part_gained(is_small, rest);
        }
        front
    }

    /// A size as blocks have it.
    fn rounded(&self, bytes: u64) -> u64 {
        let divisions = self.settings.roundup_divisions;
        if bytes < LEAST {
            LEAST
        } else if divisions > 1 && bytes > LEAST * divisions {
            let power = 1_u64 << bytes.ilog2();
            if power == bytes {
                return bytes;
            }
            let step = power >> divisions.ilog2();
            if step == 0 { power * 2 } else { bytes.div_ceil(step) * step }
        } else {
            bytes.div_ceil(LEAST) * LEAST
        }
    }
}

/// The bytes of the segment that is taken for a request.
fn segment_for(bytes: u64) -> u64 {
    if bytes <= SMALL {
        SMALL_SEGMENT
    } else if bytes < LEAST_LARGE {
        LARGE_SEGMENT
    } else {
        bytes.div_ceil(ROUND_LARGE) * ROUND_LARGE
    }
}

#[cfg(test)]
mod tests;
