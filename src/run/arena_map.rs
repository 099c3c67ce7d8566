//! Arenas side by side: what lies where in all arenas of a device over the steps, as cells of a picture, and what of each
//! is free after a step.
//!
//! A free piece is a part of an arena between blocks that are in use, or between one and the end of the arena.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::allocations::{Allocations, CodeFrame};
use super::areas::AreaGroup;
use super::section::Cell;
use crate::analysis::liveness::Scope;
use crate::store::{ArenaId, UnloweredId};

/// An arena on the axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedArena {
    /// What it is called.
    pub name: String,
    /// Its number.
    pub number: u64,
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes above what it can hold.
    pub over: u64,
    /// Whether it consists of pieces that are mapped.
    pub is_in_pieces: bool,
    /// Where it begins on the axis.
    pub start: u64,
    /// Its length there: not less than can be seen.
    pub length: u64,
    /// The number of the first step after which it was there; −1 is before the first.
    pub from_step: i64,
}

/// The arenas of a device, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenaAxis {
    /// The arenas.
    pub arenas: Vec<PlacedArena>,
    /// The length of the axis.
    pub length: u64,
}

impl ArenaAxis {
    /// Lays arenas out side by side, the room between them not to scale.
    pub fn of(mut arenas: Vec<PlacedArena>) -> Self {
        let count = (arenas.len() as u64).max(1);
        let total = arenas.iter().fold(0_u64, |sum, arena| sum.saturating_add(arena.bytes)).max(1);
        let (least, gap) = (total / count / 4, total / count / 5);
        let mut start = 0_u64;
        for arena in &mut arenas {
            (arena.start, arena.length) = (start, arena.bytes.max(least).max(1));
            start = start.saturating_add(arena.length).saturating_add(gap);
        }
        Self { arenas, length: start.saturating_sub(gap).max(1) }
    }

    /// The arena at a place of the axis; the nearest one below it in the room between two.
    pub fn at(&self, along: f64) -> Option<usize> {
        let behind = self.arenas.partition_point(|arena| arena.start as f64 <= along);
        behind.checked_sub(1)
    }

    /// The address of a place of the axis, and its arena.
    pub fn address(&self, along: f64) -> Option<(usize, u64)> {
        let at = self.at(along)?;
        let arena = self.arenas.get(at)?;
        let share = (along - arena.start as f64) / arena.length as f64;
        let offset = (share * arena.bytes as f64) as u64;
        (share < 1.0).then_some((at, arena.address.saturating_add(offset)))
    }

    /// Where an address of an arena lies on the axis.
    pub fn along(&self, arena: usize, address: u64) -> f64 {
        self.arenas.get(arena).map_or(0.0, |arena| {
            let offset = address.saturating_sub(arena.address) as f64;
            arena.start as f64 + offset * arena.length as f64 / arena.bytes.max(1) as f64
        })
    }
}

/// What a cell of the picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CellKind {
    /// Not taken from the device.
    #[default]
    None,
    /// Reserved, not in use.
    Free,
    /// A block that is handed out.
    Block,
    /// One that was given back, and waits for another stream.
    Pending,
    /// The end of a block that nobody asked for.
    Rounding,
    /// The edge of a block.
    Edge,
}

/// A picture of cells, the first row on top.
#[derive(Clone, Debug, Default)]
pub struct MapCells {
    /// Cells of a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// What each shows.
    pub kinds: Vec<CellKind>,
    /// The block that it shows; [`Self::NO_BLOCK`] of others.
    pub blocks: Vec<u32>,
    /// How much of it blocks cover, of 255: where many share a cell, much of it may be free.
    pub covered: Vec<u8>,
}

/// What part of the axes a picture shows, and with how many cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapWindow {
    /// Steps along x.
    pub x: (f64, f64),
    /// Places of the axis of arenas along y, which goes up.
    pub y: (f64, f64),
    /// Cells along x.
    pub columns: usize,
    /// Cells along y.
    pub rows: usize,
}

/// Cells of a picture at most.
const MOST_CELLS: usize = 1 << 24;

impl MapCells {
    /// The block of a cell that shows none.
    pub const NO_BLOCK: u32 = u32::MAX;

    /// The cells of a window, all empty; `None` of more than a picture can have.
    pub fn none(window: &MapWindow) -> Option<Self> {
        let MapWindow { columns, rows, .. } = *window;
        let count = columns.checked_mul(rows).filter(|count| *count <= MOST_CELLS)?;
        Some(Self {
            columns,
            rows,
            kinds: vec![CellKind::None; count],
            blocks: vec![Self::NO_BLOCK; count],
            covered: vec![0; count],
        })
    }

    /// A block: its edge, where it is asked for, what was not, and where it waits.
    pub fn block(
        &mut self,
        window: &MapWindow,
        row: usize,
        (from, given_back, to): (f64, f64, f64),
        (y, asked): ((f64, f64), f64),
    ) {
        let block = row as u32;
        if !self.add_small(window, (from, to), y, block) {
            self.fill(window, (from, to), y, CellKind::Block, block);
        }
        if given_back < to {
            self.fill_if_seen(window, (given_back, to), y, CellKind::Pending, block);
        }
        if asked < y.1 {
            self.fill_if_seen(window, (from, to), (asked, y.1), CellKind::Rounding, block);
        }
        let (Some(x_cells), Some(y_cells)) =
            (cells_of(window.x, window.columns, (from, to)), cells_of(window.y, window.rows, y))
        else {
            return;
        };
        // An edge needs room beside it.
        let is_high = y_cells.len() >= 4;
        if x_cells.len() >= 4 && (is_high || y_cells.len() >= 3) {
            let left = x_cells.start..x_cells.start + 1;
            self.set(left, y_cells.clone(), CellKind::Edge, block);
        }
        if is_high {
            let top = y_cells.end - 1..y_cells.end;
            self.set(x_cells, top, CellKind::Edge, block);
        }
    }

    /// Adds a block that is less than two cells wide or high to what covers its cells; says whether it is.
    fn add_small(&mut self, window: &MapWindow, x: (f64, f64), y: (f64, f64), block: u32) -> bool {
        let width = (x.1 - x.0) * window.columns as f64 / (window.x.1 - window.x.0);
        let height = (y.1 - y.0) * window.rows as f64 / (window.y.1 - window.y.0);
        if width >= 2.0 && height >= 2.0 {
            return false;
        }
        let cells = cells_of(window.x, window.columns, x);
        let Some((x, y)) = cells.zip(cells_of(window.y, window.rows, y)) else { return true };
        let share = (width.min(1.0) * height.min(1.0) * 255.0).ceil().clamp(1.0, 255.0) as u8;
        for row in y {
            let Some(first) = self.rows.checked_sub(row + 1).map(|row| row * self.columns) else {
                continue;
            };
            for at in first + x.start..first + x.end {
                let (Some(covered), Some(kind), Some(shown)) =
                    (self.covered.get_mut(at), self.kinds.get_mut(at), self.blocks.get_mut(at))
                else {
                    continue;
                };
                *covered = covered.saturating_add(share);
                (*kind, *shown) = (CellKind::Block, block);
            }
        }
        true
    }

    /// Fills a part with what it shows.
    pub fn fill(
        &mut self,
        window: &MapWindow,
        x: (f64, f64),
        y: (f64, f64),
        kind: CellKind,
        block: u32,
    ) {
        let x = cells_of(window.x, window.columns, x);
        let y = cells_of(window.y, window.rows, y);
        if let Some((x, y)) = x.zip(y) {
            self.set(x, y, kind, block);
        }
    }

    /// The same, unless it would be less than a cell, and so hide what it is a part of.
    fn fill_if_seen(
        &mut self,
        window: &MapWindow,
        x: (f64, f64),
        y: (f64, f64),
        kind: CellKind,
        block: u32,
    ) {
        let width = (x.1 - x.0) * window.columns as f64 / (window.x.1 - window.x.0);
        let height = (y.1 - y.0) * window.rows as f64 / (window.y.1 - window.y.0);
        if width >= 1.0 && height >= 1.0 {
            self.fill(window, x, y, kind, block);
        }
    }

    fn set(&mut self, x: Range<usize>, y: Range<usize>, kind: CellKind, block: u32) {
        for row in y {
            // Rows go down, places go up.
            let Some(first) = self.rows.checked_sub(row + 1).map(|row| row * self.columns) else {
                continue;
            };
            let cells = first + x.start..first + x.end;
            if let Some(kinds) = self.kinds.get_mut(cells.clone()) {
                kinds.fill(kind);
            }
            if let Some(blocks) = self.blocks.get_mut(cells.clone()) {
                blocks.fill(block);
            }
            let covers = if block == Self::NO_BLOCK { 0 } else { u8::MAX };
            if let Some(covered) = self.covered.get_mut(cells) {
                covered.fill(covers);
            }
        }
    }

    /// What a cell shows, by its column and its row from the top.
    pub fn get(&self, column: usize, row: usize) -> Option<(CellKind, Option<usize>)> {
        let at = (column < self.columns).then(|| row.checked_mul(self.columns))??;
        let at = at.checked_add(column)?;
        let block = *self.blocks.get(at)?;
        let block = (block != Self::NO_BLOCK).then_some(block as usize);
        Some((*self.kinds.get(at)?, block))
    }
}

/// The cells that a part of an axis covers, at least one; `None` where it is outside.
fn cells_of(window: (f64, f64), count: usize, part: (f64, f64)) -> Option<Range<usize>> {
    let per_cell = (window.1 - window.0) / count.max(1) as f64;
    if part.1 < window.0 || part.0 > window.1 || per_cell <= 0.0 || part.1 < part.0 {
        return None;
    }
    let cell = |at: f64| (at - window.0) / per_cell;
    let first = (cell(part.0).round().max(0.0) as usize).min(count.saturating_sub(1));
    let end = (cell(part.1).round().max(0.0) as usize).clamp(first + 1, count.max(first + 1));
    (first < count).then_some(first..end)
}

/// What of an arena is free after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArenaUse {
    /// Bytes that are taken from the device; 0 where it is not there.
    pub reserved: u64,
    /// Bytes of blocks that are in use.
    pub active: u64,
    /// Blocks that are in use.
    pub blocks: u64,
    /// Free pieces.
    pub pieces: u64,
    /// The largest of them: its first byte, and its bytes.
    pub largest: (u64, u64),
}

impl ArenaUse {
    /// Adds addresses that are reserved, with the blocks in use, by their first byte; some may lie outside.
    pub fn add(&mut self, held: Range<u64>, alive: impl IntoIterator<Item = Range<u64>>) {
        self.reserved = self.reserved.saturating_add(held.end.saturating_sub(held.start));
        let mut free_from = held.start;
        for block in alive {
            if block.end <= held.start || block.start >= held.end {
                continue;
            }
            self.free_piece(free_from..block.start);
            // What lies over another block counts once.
            let used = block.end.min(held.end).saturating_sub(block.start.max(free_from));
            self.active = self.active.saturating_add(used);
            self.blocks = self.blocks.saturating_add(1);
            free_from = free_from.max(block.end);
        }
        self.free_piece(free_from..held.end);
    }

    fn free_piece(&mut self, piece: Range<u64>) {
        let bytes = piece.end.saturating_sub(piece.start);
        self.pieces = self.pieces.saturating_add(u64::from(bytes > 0));
        if bytes > self.largest.1 {
            self.largest = (piece.start, bytes);
        }
    }

    /// Bytes that are reserved and not in use.
    pub fn free(&self) -> u64 {
        self.reserved.saturating_sub(self.active)
    }
}

/// What of each arena is free after a step, and what of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenasAt {
    /// By arena of the axis.
    pub arenas: Vec<ArenaUse>,
    /// All of them.
    pub whole: ArenaUse,
    /// How many are there.
    pub count: u64,
}

impl ArenasAt {
    /// What is free in all of them.
    pub fn of(arenas: Vec<ArenaUse>) -> Self {
        let mut at = Self { arenas, ..Self::default() };
        for of in at.arenas.iter().filter(|of| of.reserved > 0) {
            at.count = at.count.saturating_add(1);
            let whole = &mut at.whole;
            whole.reserved = whole.reserved.saturating_add(of.reserved);
            whole.active = whole.active.saturating_add(of.active);
            whole.blocks = whole.blocks.saturating_add(of.blocks);
            whole.pieces = whole.pieces.saturating_add(of.pieces);
            if of.largest.1 > whole.largest.1 {
                whole.largest = of.largest;
            }
        }
        at
    }
}

/// What is known of a step.
#[derive(Debug)]
pub struct ArenaMoment {
    /// The step, a position.
    pub step: usize,
    /// What of each arena is free.
    pub at: ArenasAt,
    /// Bytes in use by what they are for, the most first.
    pub by_category: Vec<(String, u64)>,
    /// What is alive, of an arena if one is wanted; the second of their keys is the block.
    pub allocations: Arc<dyn Allocations>,
    /// Bytes that these asked for.
    pub listed_bytes: u64,
    /// Bytes that were asked for and not given at this step.
    pub failed: Option<u64>,
}

/// Where and when a block lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedBlock {
    /// The arena.
    pub arena: usize,
    /// Its addresses.
    pub addresses: Range<u64>,
    /// The positions of its steps.
    pub steps: Range<u32>,
}

/// What is said of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSaid {
    /// What it is for, or what it is.
    pub title: String,
    /// Its bytes.
    pub bytes: u64,
    /// Names with what they say.
    pub facts: Vec<(&'static str, Cell)>,
    /// The rule by which it is for that.
    pub rule: &'static str,
    /// Whether code asks for such blocks.
    pub is_from_code: bool,
    /// The calls that asked for it, the innermost first.
    pub stack: Vec<CodeFrame>,
    /// The variable of the report that it is, where it is one.
    pub variable: Option<UnloweredId>,
}

/// Arenas of a picture at most, where it does not have all of a device.
pub const MOST_ARENAS: usize = 256;

/// The arenas that are wanted: those of a device, of more than can be shown those that are selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenasOf {
    /// The device, a place.
    pub device: usize,
    /// The arenas.
    pub selected: Vec<ArenaId>,
}

/// What the picture of a device can show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapLegend {
    /// What its blocks are for, each once.
    pub categories: Vec<String>,
    /// Its blocks by the layers that make them, the largest first; empty where no layer is known.
    pub by_layer: Vec<AreaGroup>,
    /// Whether it is colored by layer until another coloring is chosen.
    pub is_by_layer: bool,
    /// Whether arenas are reserved from the device, and not a part of it.
    pub is_reserved: bool,
    /// How many arenas of the device there are beside those on the axis.
    pub more: u64,
    /// Whether sizes were rounded up.
    pub has_rounding: bool,
    /// Whether blocks wait for something when they are given back, and what that is called.
    pub waits: Option<&'static str>,
}

/// The arenas of a device over the steps. All of its questions but [`Self::axis`], [`Self::legend`], the steps and the
/// categories may take long.
pub trait ArenaMap: Debug + Send + Sync {
    /// The arenas on one axis.
    fn axis(&self) -> &ArenaAxis;
    /// What the picture can show.
    fn legend(&self) -> &MapLegend;
    /// Number of steps.
    fn steps(&self) -> usize;
    /// The scope whose steps they are.
    fn scope(&self) -> Scope {
        Scope::Everything
    }
    /// The step that is shown before one is selected.
    fn first_step(&self) -> usize;
    /// What a block is for, a place among [`MapLegend::categories`].
    fn category(&self, block: u32) -> Option<usize>;
    /// By which layer it is made, a place among [`MapLegend::by_layer`].
    fn layer(&self, block: u32) -> Option<usize> {
        let _ = block;
        None
    }
    /// What lies in a window; `None` when it was canceled.
    fn cells(&self, window: MapWindow, is_cancelled: &dyn Fn() -> bool) -> Option<MapCells>;
    /// What is there after a step, with the allocations of an arena or of all; `None` when it was canceled.
    fn moment(
        &self,
        step: usize,
        arena: Option<usize>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<ArenaMoment>;
    /// Where and when a block lies.
    fn place(&self, block: usize) -> Option<PlacedBlock>;
    /// What is said of a block.
    fn said(&self, block: usize) -> Option<BlockSaid>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_over_another_counts_once_and_what_is_outside_not_at_all() {
        let mut of = ArenaUse::default();
        of.add(100..200, [0..100, 90..110, 120..150, 130..140, 140..160, 190..250, 200..300]);
        assert_eq!((of.reserved, of.active, of.free()), (100, 60, 40));
        assert_eq!((of.blocks, of.pieces, of.largest), (5, 2, (160, 30)));
    }

    #[test]
    fn arenas_lie_side_by_side_and_small_ones_can_be_seen() {
        let arena = |bytes| PlacedArena { address: 64, bytes, ..PlacedArena::default() };
        let axis = ArenaAxis::of(vec![arena(1000), arena(8)]);
        assert_eq!(axis.at(axis.arenas[1].start as f64), Some(1));
        assert!(axis.arenas[1].length > 100 && axis.arenas[0].length == 1000);
        let middle = axis.along(1, 68);
        assert_eq!(axis.address(middle), Some((1, 68)));
        assert_eq!(axis.address(axis.arenas[1].start as f64 - 1.0), None, "between both");
    }
}
