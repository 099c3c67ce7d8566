//! The blocks of a snapshot as placements: which segment each lies in, what it is called, at which steps it lives.

use std::ops::Range;
use std::sync::Arc;

use super::ReplayedSnapshot;
use crate::analysis::derived::Memo;
use crate::progress::Progress;
use crate::store::names::{Interner, Names};
use crate::store::placed::{Placed, Placement, ReadArena, ReadError};
use crate::store::snapshot::{SnapshotDevice, StackId};
use crate::store::variable::VariableFlags;
use crate::store::{ArenaId, ClassId, UnloweredId};
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::segment_ranges::{SegmentRange, range_of_block};
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, user_frame_title};

/// Blocks of a segment that have their names with them; of more the variable says it.
const MOST_NAMED: usize = 200_000;

/// Blocks or events between two looks at whether anybody still waits.
pub(super) const EVENTS_PER_LOOK: usize = 1 << 14;

/// The class of blocks that live from before the first event to behind the last.
pub(super) const THROUGHOUT: ClassId = ClassId(0);
/// The same of pinned host memory, which is no part of what devices have.
pub(super) const HOST_THROUGHOUT: ClassId = ClassId(1);

/// A segment of a device.
#[derive(Debug)]
pub(super) struct ArenaOfDevice {
    /// The position of the device.
    pub device: usize,
    pub range: SegmentRange,
}

/// The blocks of all devices.
#[derive(Debug)]
pub(super) struct DeviceBlocks {
    replayed: Arc<ReplayedSnapshot>,
    /// The first class of each device, for its first block.
    first_classes: Vec<u32>,
    /// What blocks count to.
    pub variables: FrameVariables,
}

/// The segments of all devices, device by device.
pub(super) fn arenas_of_devices(replayed: &ReplayedSnapshot) -> Vec<ArenaOfDevice> {
    let places = 0..replayed.replays.len();
    let of_device = |place: usize| {
        let ranges = replayed.segments(place).iter().cloned();
        ranges.map(move |range| ArenaOfDevice { device: place, range })
    };
    places.flat_map(of_device).collect()
}

/// The blocks by the segment in which they lie.
#[derive(Debug)]
struct BlocksOfArenas {
    /// By arena: device and block.
    blocks: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl BlocksOfArenas {
    /// Of a snapshot that has been replayed; `None` when it was canceled.
    fn of(
        replayed: &ReplayedSnapshot,
        arenas: &[ArenaOfDevice],
        progress: &Progress,
    ) -> Option<Self> {
        // Which arena each block is of, then how many each has, then the blocks in their places.
        let mut of_blocks: Vec<Vec<u32>> = Vec::with_capacity(replayed.replays.len());
        let mut counts = vec![0_usize; arenas.len()];
        for (place, (_, replay)) in replayed.devices().enumerate() {
            let first = arenas.partition_point(|arena| arena.device < place);
            let ranges = replayed.segments(place);
            let mut of_device = Vec::with_capacity(replay.lives.len());
            for row in 0..replay.lives.len() {
                if row.is_multiple_of(EVENTS_PER_LOOK) && progress.is_cancelled() {
                    return None;
                }
                let arena = range_of_block(ranges, &replay.lives, row).map(|arena| first + arena);
                if let Some(count) = arena.and_then(|arena| counts.get_mut(arena)) {
                    *count += 1;
                }
                of_device.push(arena.map_or(u32::MAX, |arena| arena as u32));
            }
            of_blocks.push(of_device);
        }
        let mut next = 0_usize;
        let mut places: Vec<usize> = Vec::with_capacity(counts.len());
        for count in counts {
            places.push(next);
            next += count;
        }
        let mut blocks = vec![(0, 0); next];
        for (place, of_device) in (0..).zip(&of_blocks) {
            for (row, arena) in (0..).zip(of_device) {
                let Some(at) = places.get_mut(*arena as usize) else { continue };
                if let Some(block) = blocks.get_mut(*at) {
                    *block = (place, row);
                }
                *at += 1;
            }
        }
        // Each has come to where the next one begins.
        Some(Self { blocks, ends: places })
    }

    /// The blocks of an arena: the position of the device, and the row.
    fn of_arena(&self, arena: usize) -> &[(u32, u32)] {
        crate::store::list_at(&self.blocks, &self.ends, arena)
    }
}

/// A variable for each user frame.
#[derive(Debug)]
pub(super) struct FrameVariables {
    /// The variable of each stack; the last is that of no stack.
    of_stacks: Vec<UnloweredId>,
    /// What variables are called.
    pub names: Names,
}

impl FrameVariables {
    pub fn of(replayed: &ReplayedSnapshot) -> Self {
        let snapshot = &replayed.snapshot;
        let mut names = Interner::default();
        let stacks = (0..snapshot.stacks.len() as u32).map(StackId).chain([StackId::NONE]);
        let of_stacks = stacks.map(|stack| {
            let title = user_frame_title(snapshot, stack);
            UnloweredId(names.intern(title.as_deref().unwrap_or(NO_STACK)).0)
        });
        Self { of_stacks: of_stacks.collect(), names: names.into_names() }
    }

    pub fn of_stack(&self, stack: StackId) -> UnloweredId {
        let row = (stack.0 as usize).min(self.of_stacks.len().saturating_sub(1));
        self.of_stacks.get(row).copied().unwrap_or(UnloweredId(0))
    }
}

impl DeviceBlocks {
    /// Of a snapshot that has been replayed.
    pub fn of(replayed: Arc<ReplayedSnapshot>, variables: FrameVariables) -> Self {
        let mut next = HOST_THROUGHOUT.0.saturating_add(1);
        let mut first_classes = Vec::new();
        for (_, replay) in replayed.devices() {
            first_classes.push(next);
            next = next.saturating_add(replay.lives.len() as u32);
        }
        Self { replayed, first_classes, variables }
    }

    /// The snapshot that they are of.
    pub fn replayed(&self) -> &ReplayedSnapshot {
        &self.replayed
    }

    /// The position of each device, with it and its blocks.
    pub fn devices(&self) -> impl Iterator<Item = (usize, &SnapshotDevice, &BlockLives)> {
        let devices = self.replayed.devices().enumerate();
        devices.map(|(place, (device, replay))| (place, device, &replay.lives))
    }

    /// The class of the blocks of a device that live throughout.
    pub fn throughout(device: &SnapshotDevice) -> ClassId {
        if device.is_host() { HOST_THROUGHOUT } else { THROUGHOUT }
    }

    pub fn class(
        &self,
        place: usize,
        device: &SnapshotDevice,
        lives: &BlockLives,
        row: usize,
    ) -> ClassId {
        if lives.is_always_live(row) {
            return Self::throughout(device);
        }
        let first = self.first_classes.get(place).copied().unwrap_or(0);
        ClassId(first.saturating_add(row as u32))
    }

    /// The steps at which a block lives; one that is never freed to the end of the run, which may be after the last step
    /// of its device.
    pub fn steps(&self, lives: &BlockLives, row: usize) -> Range<u32> {
        let start = lives.allocation(row).unwrap_or(0);
        let end = match lives.freed_at[row] {
            BlockLives::OPEN => self.replayed.steps(),
            event => event,
        };
        start..end.max(start)
    }
}

/// Reads segments from the blocks, which are in memory.
#[derive(Debug)]
pub(super) struct SegmentReader {
    blocks: Arc<DeviceBlocks>,
    arenas: Vec<ArenaOfDevice>,
    /// Found when a segment is read for the first time.
    of_arenas: Memo<(), Arc<BlocksOfArenas>>,
}

impl SegmentReader {
    /// Of the blocks, and of the segments in which they lie.
    pub fn of(blocks: Arc<DeviceBlocks>, arenas: Vec<ArenaOfDevice>) -> Self {
        Self { blocks, arenas, of_arenas: Memo::default() }
    }
}

impl ReadArena for SegmentReader {
    fn read(&self, arena: ArenaId, progress: &Progress) -> Result<Option<Placed>, ReadError> {
        let Self { blocks, arenas, of_arenas } = self;
        let Some(of) = arenas.get(arena.0 as usize) else { return Ok(None) };
        let find = || BlocksOfArenas::of(&blocks.replayed, arenas, progress).map(Arc::new);
        let Some(of_arenas) = of_arenas.get(&(), find) else { return Ok(None) };
        let rows = of_arenas.of_arena(arena.0 as usize);
        let found = blocks.replayed.device(of.device);
        let Some((device, replay)) = found else { return Ok(None) };
        let (lives, categories) = (&replay.lives, blocks.replayed.categories(of.device));
        let is_named = rows.len() <= MOST_NAMED;
        let mut names = Names::default();
        let placement = |(_, row): &(u32, u32)| {
            let (id, row) = (*row, *row as usize);
            let variable = blocks.variables.of_stack(lives.stacks[row]);
            let name = blocks.variables.names.at(variable.0 as usize).filter(|_| is_named);
            names.push(name.unwrap_or_default());
            let category = categories.get(row);
            Placement {
                id,
                offset: lives.addresses[row].saturating_sub(of.range.address),
                bytes: lives.bytes[row],
                alignment: 0,
                category: category.map(|category| *category as u32),
                class: blocks.class(of.device, device, lives, row),
                unlowered: Some(variable),
                flags: VariableFlags(1),
            }
        };
        if progress.is_cancelled() {
            return Ok(None);
        }
        let placements: Vec<Placement> = rows.iter().map(placement).collect();
        Ok(Some(Placed::new(placements, names, Vec::new(), Vec::new())))
    }
}
