//! Circular buffers in the map of a core: at each operation those of the program that takes most, as they lie on its fullest
//! core; of an operation that failed for lack of room the range that they were to have.

use std::collections::BTreeMap;

use crate::diagnose::tenstorrent::TenstorrentForm;
use crate::limits;
use crate::store::ClassId;
use crate::store::names::Names;
use crate::store::placed::Placement;
use crate::store::variable::VariableFlags;
use crate::systems::tenstorrent::memory::errors::decisive_error;
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::systems::tenstorrent::memory::purposes::BufferPurpose;
use crate::systems::tenstorrent::memory::scratch::ProgramState;
use crate::systems::tenstorrent::memory::scratch_facts::{KnownScratch, known_scratch};
use crate::systems::tenstorrent::memory::spaces::alive_at;
use crate::systems::tenstorrent::recorded::{BufferSpace, ScratchBuffer};

/// What the category of circular buffers is called; its number follows those of buffers.
pub const SCRATCH: &str = "circular buffer";

/// What circular buffers are, as a category.
pub const SCRATCH_RULE: &str =
    "Circular buffers of the program of the operation that takes most, on its fullest core";

/// Circular buffers of an operation on its fullest core.
#[derive(Clone, Debug)]
pub struct PlacedScratch {
    /// What they are called: `circular buffer of MatmulDeviceOperation, inferred`.
    pub name: String,
    /// Address and bytes of each.
    pub buffers: Vec<(u64, u64)>,
    /// Whether there was room for them.
    pub has_room: bool,
}

impl PlacedScratch {
    /// The bytes of each at the end of an operation, without those of buffers that lie where there was no room.
    pub fn bytes_beside_buffers(&self, view: &RankView<'_>, operation: u32) -> Vec<u64> {
        let whole = self.buffers.iter();
        if self.has_room {
            return whole.map(|(_, bytes)| *bytes).collect();
        }
        let there = alive_at(view, BufferSpace::L1, operation);
        let taken = |from: u64, to: u64| {
            let overlap = there.iter().map(|(life, _)| {
                let end = life.key.address.saturating_add(life.bytes);
                end.min(to).saturating_sub(life.key.address.max(from))
            });
            overlap.fold(0, u64::saturating_add)
        };
        let beside = |&(address, bytes): &(u64, u64)| {
            bytes.saturating_sub(taken(address, address.saturating_add(bytes)))
        };
        whole.map(beside).collect()
    }
}

/// Those of each operation whose programs are known, by its position.
pub fn scratch_by_operation(view: &RankView<'_>) -> BTreeMap<u32, PlacedScratch> {
    let found = by_operation(view, |_| true).into_iter();
    let known = found.map(|(at, known)| (at, placed(view, &known)));
    known.chain(without_room(view)).collect()
}

/// Those of one operation.
pub fn scratch_at(view: &RankView<'_>, operation: u32) -> Option<PlacedScratch> {
    let failed = without_room(view).filter(|(at, _)| *at == operation);
    let known = || by_operation(view, |at| at == operation).into_values().next();
    failed.map(|(_, scratch)| scratch).or_else(|| known().map(|known| placed(view, &known)))
}

/// What the program was to have that failed because it had no room for it, by the text of the error; `None` where the report
/// has no such text or does not say of which operation it is.
fn without_room(view: &RankView<'_>) -> Option<(u32, PlacedScratch)> {
    let (error, said) = decisive_error(view)?;
    let (TenstorrentForm::Clash { scratch_end_address: end, .. }
    | TenstorrentForm::BeyondCore { scratch_end_address: end, .. }) = said?.form
    else {
        return None;
    };
    let (at, floor) = (error.operation?, view.rank.machine.device?.floor_address);
    let bytes = end.checked_sub(floor).filter(|bytes| *bytes > 0 && end <= limits::ADDRESS)?;
    let name = format!("circular buffers of {}, without room", error.name);
    Some((at, PlacedScratch { name, buffers: vec![(floor, bytes)], has_room: false }))
}

fn placed(view: &RankView<'_>, known: &KnownScratch<'_>) -> PlacedScratch {
    let of = view.name(known.program.device_operation);
    let how = if known.program.state == ProgramState::Inferred { ", inferred" } else { "" };
    // On one core they do not overlap.
    let highest = known.buffers.iter().max_by_key(|buffer| buffer.end());
    let [x, y, ..] =
        highest.and_then(|buffer| buffer.cores.first()).map_or([0; 4], |range| range.corners);
    let is_there = |buffer: &&ScratchBuffer| buffer.cores.iter().any(|range| range.contains(x, y));
    let on_core = known.buffers.iter().filter(is_there);
    let buffers = on_core.map(|buffer| (buffer.address, buffer.bytes)).collect();
    PlacedScratch { name: format!("{SCRATCH} of {of}{how}"), buffers, has_room: true }
}

/// Of the programs of some operations whose scratch is known, the first with the highest end, by the position of the
/// operation.
fn by_operation<'a>(
    view: &RankView<'a>,
    is_wanted: impl Fn(u32) -> bool,
) -> BTreeMap<u32, KnownScratch<'a>> {
    let mut found: BTreeMap<u32, KnownScratch<'a>> = BTreeMap::new();
    for known in known_scratch(view).filter(|known| !known.buffers.is_empty()) {
        let at = known.program.moment.operation;
        if !is_wanted(at) {
            continue;
        }
        let most = found.entry(at).or_insert(known);
        if known.highest_end > most.highest_end {
            *most = known;
        }
    }
    found
}

/// The number of the class of what is there at the first operation of a rank alone; those of its other operations follow.
/// These classes come after those of buffers.
fn first_class(views: &[RankView<'_>], rank: usize) -> u32 {
    let lives: usize = views.iter().map(|view| view.memory.lives.len()).sum();
    let lives = u32::try_from(lives).unwrap_or(u32::MAX);
    let before = views.iter().take(rank).map(|view| view.rank.operations.count());
    let before = before.fold(0, u32::saturating_add);
    lives.saturating_add(1).saturating_add(before)
}

/// The operations of a rank with scratch that is known, and the class of what is there at each alone.
pub fn scratch_classes(views: &[RankView<'_>], rank: usize) -> Vec<(ClassId, u32)> {
    let operations = views.get(rank).map(scratch_by_operation).unwrap_or_default();
    let first = first_class(views, rank);
    let class = |at: u32| (ClassId(first.saturating_add(at)), at);
    operations.into_keys().map(class).collect()
}

/// Adds the circular buffers of a rank to what is placed in L1, from a first address on. Returns the row of those that had no
/// room.
pub fn add_scratch(
    views: &[RankView<'_>],
    rank: usize,
    base: u64,
    placements: &mut Vec<Placement>,
    names: &mut Names,
) -> Option<u32> {
    let view = views.get(rank)?;
    let mut without_room = None;
    let first = first_class(views, rank);
    for (operation, scratch) in scratch_by_operation(view) {
        for (address, bytes) in scratch.buffers {
            names.push(&scratch.name);
            let row = u32::try_from(placements.len()).unwrap_or(u32::MAX);
            if !scratch.has_room {
                without_room = Some(row);
            }
            placements.push(Placement {
                id: row,
                offset: address.saturating_sub(base),
                bytes,
                alignment: 0,
                category: u32::try_from(BufferPurpose::ALL.len()).ok(),
                class: ClassId(first.saturating_add(operation)),
                unlowered: None,
                flags: VariableFlags(1),
            });
        }
    }
    without_room
}
