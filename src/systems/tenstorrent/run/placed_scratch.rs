//! Circular buffers in the map of a core: at each operation those of the program that takes most, as they lie on its fullest
//! core.

use std::collections::BTreeMap;

use crate::store::ClassId;
use crate::store::names::Names;
use crate::store::placed::Placement;
use crate::store::variable::VariableFlags;
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::systems::tenstorrent::memory::purposes::BufferPurpose;
use crate::systems::tenstorrent::memory::scratch::ProgramState;
use crate::systems::tenstorrent::memory::scratch_facts::{KnownScratch, known_scratch};

/// What the category of circular buffers is called; its number follows those of buffers.
pub const SCRATCH: &str = "circular buffer";

/// Of the programs of each operation whose scratch is known, the first with the highest end, by the position of the operation.
fn by_operation<'a>(view: &RankView<'a>) -> BTreeMap<u32, KnownScratch<'a>> {
    let mut found: BTreeMap<u32, KnownScratch<'a>> = BTreeMap::new();
    for known in known_scratch(view).filter(|known| !known.buffers.is_empty()) {
        let most = found.entry(known.program.moment.operation).or_insert(known);
        if known.highest_end > most.highest_end {
            *most = known;
        }
    }
    found
}

/// The class of what is there at one operation of a rank alone. They follow those of buffers.
fn class_at(views: &[RankView<'_>], rank: usize, operation: u32) -> ClassId {
    let lives: usize = views.iter().map(|view| view.memory.lives.len()).sum();
    let lives = u32::try_from(lives).unwrap_or(u32::MAX);
    let before = views.iter().take(rank).map(|view| view.rank.operations.count());
    let before = before.fold(0, u32::saturating_add);
    ClassId(lives.saturating_add(1).saturating_add(before).saturating_add(operation))
}

/// The operations of a rank with scratch that is known, and the class of what is there at each alone.
pub fn scratch_classes(views: &[RankView<'_>], rank: usize) -> Vec<(ClassId, u32)> {
    let operations = views.get(rank).map(by_operation).unwrap_or_default();
    let class = |at| (class_at(views, rank, at), at);
    operations.into_keys().map(class).collect()
}

/// Adds the circular buffers of a rank to what is placed in L1, from a first address on.
pub fn add_scratch(
    views: &[RankView<'_>],
    rank: usize,
    base: u64,
    placements: &mut Vec<Placement>,
    names: &mut Names,
) {
    let Some(view) = views.get(rank) else { return };
    for (operation, known) in by_operation(view) {
        let of = view.name(known.program.device_operation);
        let how = if known.program.state == ProgramState::Inferred { ", inferred" } else { "" };
        let name = format!("circular buffer of {of}{how}");
        // Cores with the same buffer, in several nodes, are one place.
        let mut places: Vec<(u64, u64)> =
            known.buffers.iter().map(|buffer| (buffer.address, buffer.bytes)).collect();
        places.sort_unstable();
        places.dedup();
        for (address, bytes) in places {
            names.push(&name);
            placements.push(Placement {
                id: u32::try_from(placements.len()).unwrap_or(u32::MAX),
                offset: address.saturating_sub(base),
                bytes,
                alignment: 0,
                category: u32::try_from(BufferPurpose::ALL.len()).ok(),
                class: class_at(views, rank, operation),
                unlowered: None,
                flags: VariableFlags(1),
            });
        }
    }
}
