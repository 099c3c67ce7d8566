//! The blocks of a snapshot as placements: which segment each lies in, what it is called, at which steps it lives.

use std::ops::Range;
use std::sync::Arc;

use super::ReplayedSnapshot;
use crate::analysis::allocator::event_axis::EventAxis;
use crate::analysis::allocator::lives::BlockLives;
use crate::analysis::allocator::segment_ranges::SegmentRange;
use crate::analysis::allocator::user_frame::{NO_STACK, user_frame_title};
use crate::progress::Progress;
use crate::store::names::{Interner, Names};
use crate::store::placed::{Placed, Placement, ReadArena, ReadError};
use crate::store::snapshot::{SnapshotDevice, StackId};
use crate::store::variable::VariableFlags;
use crate::store::{ArenaId, ClassId, UnloweredId};

/// Blocks of a segment that have their names with them; of more the variable says it.
const MOST_NAMED: usize = 200_000;

/// Blocks or events between two looks at whether anybody still waits.
pub(super) const EVENTS_PER_LOOK: usize = 1 << 14;

/// Ranges of addresses that lie over one another and are looked at for a block.
const MOST_OVER: usize = 64;

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
pub(super) struct Blocks {
    replayed: Arc<ReplayedSnapshot>,
    pub arenas: Vec<ArenaOfDevice>,
    /// By arena: device and block.
    blocks: Vec<(u32, u32)>,
    /// Where the blocks of each arena end.
    ends: Vec<usize>,
    /// The first class of each device, for its first block.
    first_classes: Vec<u32>,
    /// The variable of each stack; the last is that of no stack.
    variables: Vec<UnloweredId>,
    /// What variables are called.
    pub names: Names,
}

impl Blocks {
    /// Of a snapshot that has been replayed; `None` when it was cancelled.
    pub fn of(replayed: Arc<ReplayedSnapshot>, progress: &Progress) -> Option<Self> {
        let (mut arenas, mut of_arenas) = (Vec::new(), Vec::new());
        let mut first_classes = Vec::new();
        let mut next_class = HOST_THROUGHOUT.0.saturating_add(1);
        for (place, (_, replay)) in replayed.devices().enumerate() {
            let first_arena = arenas.len();
            let ranges = replayed.segments(place);
            for row in 0..replay.lives.len() {
                if row.is_multiple_of(EVENTS_PER_LOOK) && progress.is_cancelled() {
                    return None;
                }
                if let Some(arena) = arena_of(ranges, &replay.lives, row) {
                    of_arenas.push(((first_arena + arena) as u32, place as u32, row as u32));
                }
            }
            let of_device = ranges.iter().cloned();
            arenas.extend(of_device.map(|range| ArenaOfDevice { device: place, range }));
            first_classes.push(next_class);
            next_class = next_class.saturating_add(replay.lives.len() as u32);
        }
        of_arenas.sort_by_key(|(arena, ..)| *arena);
        let end = |arena: usize| of_arenas.partition_point(|(of, ..)| (*of as usize) <= arena);
        let ends = (0..arenas.len()).map(end).collect();
        let blocks = of_arenas.into_iter().map(|(_, device, row)| (device, row)).collect();
        let (variables, names) = variables(&replayed);
        Some(Self { replayed, arenas, blocks, ends, first_classes, variables, names })
    }

    /// The steps.
    pub fn axis(&self) -> &EventAxis {
        self.replayed.axis()
    }

    /// The position of each device, with it and its blocks.
    pub fn devices(&self) -> impl Iterator<Item = (usize, &SnapshotDevice, &BlockLives)> {
        let devices = self.replayed.devices().enumerate();
        devices.map(|(place, (device, replay))| (place, device, &replay.lives))
    }

    /// The variable that a block counts to.
    pub fn variable(&self, stack: StackId) -> UnloweredId {
        let row = (stack.0 as usize).min(self.variables.len().saturating_sub(1));
        self.variables.get(row).copied().unwrap_or(UnloweredId(0))
    }

    /// The class of the blocks of a device that live throughout.
    pub fn throughout(device: &SnapshotDevice) -> ClassId {
        if device.is_host() { HOST_THROUGHOUT } else { THROUGHOUT }
    }

    /// The class of a block.
    pub fn class(
        &self,
        (place, device): (usize, &SnapshotDevice),
        lives: &BlockLives,
        row: usize,
    ) -> ClassId {
        if lives.is_always_live(row) {
            return Self::throughout(device);
        }
        let first = self.first_classes.get(place).copied().unwrap_or(0);
        ClassId(first.saturating_add(row as u32))
    }

    /// The steps at which a block lives.
    pub fn steps(&self, device: &SnapshotDevice, lives: &BlockLives, row: usize) -> Range<u32> {
        let start = lives.allocation(row).map_or(0, |event| self.axis().step(device, event));
        let end = match lives.freed_at[row] {
            BlockLives::OPEN => self.axis().len(),
            event => self.axis().step(device, event),
        };
        start..end.max(start)
    }

    /// The blocks of an arena: the position of the device, and the row.
    pub fn of_arena(&self, arena: usize) -> &[(u32, u32)] {
        crate::store::list_at(&self.blocks, &self.ends, arena)
    }
}

/// The range that a block lies in.
fn arena_of(ranges: &[SegmentRange], lives: &BlockLives, row: usize) -> Option<usize> {
    let address = lives.addresses[row];
    let event = lives.allocation(row).map_or(-1, i64::from);
    let behind = ranges.partition_point(|range| range.address <= address);
    let before = (0..behind).rev().take(MOST_OVER);
    before.into_iter().find(|at| ranges[*at].holds(address, event))
}

/// A variable for each user frame, by stack, and their names; the last is that of no stack.
fn variables(replayed: &ReplayedSnapshot) -> (Vec<UnloweredId>, Names) {
    let snapshot = &replayed.snapshot;
    let mut names = Interner::default();
    let stacks = (0..snapshot.stacks.len() as u32).map(StackId).chain([StackId::NONE]);
    let variables = stacks.map(|stack| {
        let title = user_frame_title(snapshot, stack);
        UnloweredId(names.intern(title.as_deref().unwrap_or(NO_STACK)).0)
    });
    (variables.collect(), names.into_names())
}

/// Reads segments from the blocks, which are in memory.
#[derive(Debug)]
pub(super) struct SegmentReader(pub Arc<Blocks>);

impl ReadArena for SegmentReader {
    fn read(&self, arena: ArenaId, progress: &Progress) -> Result<Option<Placed>, ReadError> {
        let blocks = &*self.0;
        let Some(of) = blocks.arenas.get(arena.0 as usize) else { return Ok(None) };
        let rows = blocks.of_arena(arena.0 as usize);
        let found = blocks.replayed.devices().nth(of.device);
        let Some((device, replay)) = found else { return Ok(None) };
        let (lives, categories) = (&replay.lives, blocks.replayed.categories(of.device));
        let is_named = rows.len() <= MOST_NAMED;
        let mut names = Names::default();
        let placement = |(_, row): &(u32, u32)| {
            let (id, row) = (*row, *row as usize);
            let variable = blocks.variable(lives.stacks[row]);
            let name = blocks.names.at(variable.0 as usize).filter(|_| is_named);
            names.push(name.unwrap_or_default());
            let category = categories.get(row);
            Placement {
                id,
                offset: lives.addresses[row].saturating_sub(of.range.address),
                bytes: lives.bytes[row],
                alignment: 0,
                category: category.map(|category| *category as u32),
                class: blocks.class((of.device, device), lives, row),
                unlowered: Some(variable),
                flags: VariableFlags(1),
            }
        };
        if progress.is_cancelled() {
            return Ok(None);
        }
        let placements: Vec<Placement> = rows.iter().map(placement).collect();
        let none = vec![Vec::new(); placements.len()];
        Ok(Some(Placed::new(placements, names, none.clone(), none)))
    }
}
