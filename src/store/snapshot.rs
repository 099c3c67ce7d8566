//! A snapshot of a caching allocator: the segments and blocks that it had at the end, and the events that led there.
//!
//! Addresses are those of the device, sizes are bytes. Events are numbered within their device, as in the file; one
//! that lacks what its action needs keeps its number and does nothing, and one that is no event has none. Stacks and texts are shared by all that name them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::column::{Column, number};
use super::list_at;
use super::names::{NameId, Names};
use crate::text::words;

number! {
    /// A row of [`Stacks`].
    pub struct StackId(pub u32);
}

impl StackId {
    /// No stack was taken.
    pub const NONE: Self = Self(u32::MAX);
}

words! {
    /// What an event did (formats/pytorch.md 3.3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Action by as_str {
        /// A block is handed out.
        Alloc = "alloc",
        /// It can be used again.
        FreeCompleted = "free_completed",
        /// The tensor is gone; other streams may still use the block.
        FreeRequested = "free_requested",
        /// A request failed.
        OutOfMemory = "oom",
        /// A text for the block at an address.
        Annotate = "annotate",
        /// A segment is taken from the device.
        SegmentAlloc = "segment_alloc",
        /// A segment is given back.
        SegmentFree = "segment_free",
        /// Memory is put behind a part of an expandable segment.
        SegmentMap = "segment_map",
        /// It is taken away again.
        SegmentUnmap = "segment_unmap",
        /// A marker.
        Snapshot = "snapshot",
        /// None of these, or without what it needs: it does nothing.
        Unknown = "unknown",
    }
}

/// Columns of the events of all devices, one device after the other.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// What each did.
    pub actions: Vec<Action>,
    /// Its address; of a request that failed the free bytes of the device, or [`Self::NO_FREE`].
    pub addresses: Column<u64>,
    /// Bytes: requested of a block, whole of a segment.
    pub sizes: Column<u64>,
    /// Rows of [`Snapshot::streams`].
    pub streams: Column<u32>,
    /// Microseconds since 1970; [`Self::NO_TIME`] where the file has none.
    pub times: Column<i64>,
    /// Where in the program.
    pub stacks: Column<StackId>,
    /// Texts of the user by the row of their event, ascending.
    pub texts: Vec<(u32, NameId)>,
}

impl Events {
    /// The time of an event that has none.
    pub const NO_TIME: i64 = i64::MIN;

    /// The free bytes of a device where the file has none.
    pub const NO_FREE: u64 = u64::MAX;

    /// Number of events.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// The bytes that were free on the device when a request failed.
    pub fn device_free(&self, row: usize) -> Option<u64> {
        self.addresses.get(row).copied().filter(|bytes| *bytes != Self::NO_FREE)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Microseconds since 1970 of an event.
    pub fn time(&self, row: usize) -> Option<i64> {
        self.times.get(row).copied().filter(|time| *time != Self::NO_TIME)
    }

    /// The text that the user gave to an event.
    pub fn text(&self, row: usize) -> Option<NameId> {
        let row = u32::try_from(row).ok()?;
        let at = self.texts.partition_point(|(other, _)| *other < row);
        self.texts.get(at).filter(|(other, _)| *other == row).map(|(_, text)| *text)
    }
}

words! {
    /// The state of a block at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BlockState by as_str {
        /// Handed out.
        Allocated = "active_allocated",
        /// Its tensor is gone, another stream may still use it.
        Pending = "active_pending_free",
        /// Free within its segment.
        Inactive = "inactive",
    }
}

/// A part of a segment at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first byte.
    pub address: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Bytes that were asked for; stale where it is inactive.
    pub requested_bytes: u64,
    /// Whether it is in use.
    pub state: BlockState,
    /// The stack of its allocation.
    pub stack: StackId,
}

impl Block {
    /// Whether it is in use: allocated, or waiting for another stream.
    pub fn is_active(&self) -> bool {
        self.state != BlockState::Inactive
    }
}

/// A range of memory that was taken from the device, at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes of allocated blocks, as the file says.
    pub allocated_bytes: u64,
    /// The same with blocks that wait for another stream.
    pub active_bytes: u64,
    /// The stream whose blocks it holds: 0 is the default, others are like pointers.
    pub stream: u64,
    /// Whether it is of the pool for requests of at most 1 MiB.
    pub is_small: bool,
    /// The pool that it belongs to; (0, 0) is the common one.
    pub pool: (u64, u64),
    /// Whether more memory can be mapped behind it.
    pub is_expandable: bool,
    /// The stack of its allocation.
    pub stack: StackId,
    /// Its blocks, rows of [`Snapshot::blocks`], in the order of the file, which is that of addresses.
    pub blocks: Range<usize>,
}

impl Segment {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes)
    }
}

/// Which device of which process one is, in a run of several processes, each of which numbers those that it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankDevice {
    /// The rank of the process, from the name of its file.
    pub rank: u32,
    /// The number of the device in that file; −1 is pinned host memory.
    pub gpu: i64,
}

/// One memory with its segments and events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotDevice {
    /// The number of the device, unique in the run; pinned host memory has −1, or from there on down in a run of several
    /// ranks.
    pub number: i64,
    /// Of which rank it is, in a run of several.
    pub rank: Option<RankDevice>,
    /// Whether the file that it is from ends before its contents do.
    #[serde(skip)]
    pub is_cut: bool,
    /// Its segments, rows of [`Snapshot::segments`].
    pub segments: Range<usize>,
    /// Its events, rows of [`Snapshot::events`].
    pub events: Range<usize>,
}

impl SnapshotDevice {
    /// The number of pinned host memory.
    pub const HOST: i64 = -1;

    /// Whether it is the pinned memory of the host.
    pub fn is_host(&self) -> bool {
        self.number <= Self::HOST
    }

    /// Its steps: an event each, and one, the end, where there are none.
    pub fn steps(&self) -> u32 {
        u32::try_from(self.events.len()).unwrap_or(u32::MAX).max(1)
    }

    /// The row of the event that is a step; `None` where it has no such event.
    pub fn row(&self, step: usize) -> Option<usize> {
        let row = self.events.start.checked_add(step)?;
        self.events.contains(&row).then_some(row)
    }

    /// What it is called.
    pub fn title(&self) -> String {
        match self.rank {
            _ if !self.is_host() => device_title(self.number, self.rank),
            Some(of) => format!("Rank {}, pinned host memory", of.rank),
            None => "Pinned host memory".to_owned(),
        }
    }
}

/// What a device of a number is called: `GPU 0`, or `Rank 3, GPU 0` in a run of several ranks.
pub fn device_title(number: i64, rank: Option<RankDevice>) -> String {
    match rank {
        Some(RankDevice { rank, gpu, .. }) => format!("Rank {rank}, GPU {gpu}"),
        None => format!("GPU {number}"),
    }
}

/// A place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The file, a row of [`Snapshot::texts`].
    pub file: NameId,
    /// The function, a row of [`Snapshot::texts`].
    pub name: NameId,
    /// The line, from 1.
    pub line: u32,
}

/// Stacks, innermost frame first, each once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stacks {
    /// The frames of all stacks, rows of [`Snapshot::frames`], end to end.
    pub frames: Column<u32>,
    /// Where each stack ends in `frames`.
    pub ends: Vec<usize>,
}

impl Stacks {
    /// Number of stacks.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The frames of a stack, innermost first; none of [`StackId::NONE`].
    pub fn frames_of(&self, stack: StackId) -> &[u32] {
        list_at(&self.frames, &self.ends, stack.0 as usize)
    }
}

/// The begin or the end of a named part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationMark {
    /// Whether it begins.
    pub is_start: bool,
    /// Its name, a row of [`Snapshot::texts`].
    pub name: NameId,
    /// The device.
    pub device: i64,
    /// Microseconds since 1970.
    pub time: i64,
}

/// What the allocator was told, as far as the sizes of its blocks depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatorSettings {
    /// Blocks from this size on are not split; `None` where there is no such size.
    pub most_split_bytes: Option<u64>,
    /// Divisions of a power of two to which a size is rounded, by the power of two in MiB that is at most the size:
    /// 1, 2, 4 … 32768; 0 is off.
    pub roundup_divisions: [u64; 16],
    /// Every setting of the file by its name, as text.
    pub all: Vec<(String, String)>,
}

/// Some events as they are read, in the order of the file: what a replay needs of each.
#[derive(Clone, Debug, Default)]
pub struct EventPart {
    /// What happened.
    pub actions: Vec<Action>,
    /// As in [`Events`].
    pub addresses: Vec<u64>,
    /// Bytes.
    pub sizes: Vec<u64>,
}

/// What is told of events while they are read.
#[derive(Clone, Debug)]
pub enum ToldEvents {
    /// The next ones.
    Part(EventPart),
    /// Those that were told are not all as they are in the snapshot.
    Changed,
}

/// A snapshot: what is known of all devices.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What the allocator was told.
    pub settings: AllocatorSettings,
    /// The devices that have segments or events, by number.
    pub devices: Vec<SnapshotDevice>,
    /// Pinned host memory, where the file has any; of each rank that has some.
    pub pinned_hosts: Vec<SnapshotDevice>,
    /// The events of all of them.
    pub events: Events,
    /// The segments of all of them at the end.
    pub segments: Vec<Segment>,
    /// The blocks of all segments.
    pub blocks: Vec<Block>,
    /// Streams as the file numbers them: 0 is the default, others are like pointers.
    pub streams: Vec<u64>,
    /// Marks of named parts of the run, in the order of the file.
    pub annotations: Vec<AnnotationMark>,
    /// Frames, each once.
    pub frames: Vec<Frame>,
    /// Stacks, each once.
    pub stacks: Stacks,
    /// Texts of frames, annotations and events.
    pub texts: Names,
}

impl Snapshot {
    /// The devices and pinned host memory.
    pub fn all_devices(&self) -> impl Iterator<Item = &SnapshotDevice> {
        self.devices.iter().chain(&self.pinned_hosts)
    }

    /// The blocks of a device at the end, by segment.
    pub fn blocks_of<'a>(&'a self, device: &SnapshotDevice) -> impl Iterator<Item = &'a Block> {
        self.segments_of(device)
            .iter()
            .flat_map(|segment| self.blocks.get(segment.blocks.clone()).unwrap_or(&[]))
    }

    /// The segments of a device at the end.
    pub fn segments_of(&self, device: &SnapshotDevice) -> &[Segment] {
        self.segments.get(device.segments.clone()).unwrap_or(&[])
    }

    /// The frames of a stack, innermost first.
    pub fn frames_of(&self, stack: StackId) -> impl Iterator<Item = &Frame> {
        self.stacks.frames_of(stack).iter().filter_map(|frame| self.frames.get(*frame as usize))
    }
}

/// A figure that PyTorch itself states, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimedBytes {
    /// At the end.
    pub current: Option<u64>,
    /// The largest.
    pub peak: Option<u64>,
}

/// What PyTorch itself states of the run, beside the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatorClaims {
    /// The file that says it.
    pub file: String,
    /// The rank that it is about, in a run of several.
    pub rank: Option<u32>,
    /// Bytes that were asked for.
    pub requested: ClaimedBytes,
    /// Bytes of blocks that are handed out.
    pub allocated: ClaimedBytes,
    /// The same with those that wait for another stream.
    pub active: ClaimedBytes,
    /// Bytes of segments.
    pub reserved: ClaimedBytes,
    /// Requests that failed.
    pub failed_requests: Option<u64>,
}
