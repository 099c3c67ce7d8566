//! Which tiles a picture or a table shows, and in which order.
//!
//! By bytes means: bytes including gaps, most first; tiles whose bytes are not known come last, equal
//! ones in the order of their numbers. A tile belongs to IPU tile ÷ tiles per IPU (definitions.md).

use std::cmp::Reverse;
use std::ops::Range;

use crate::analysis::memory::cell;
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;

/// The order of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TileOrder {
    /// By tile number.
    #[default]
    Number,
    /// By bytes including gaps, most first; of two reports by those of the source.
    Bytes,
    /// By the change of the bytes including gaps between two reports, largest first. Of one report as
    /// by number.
    Change,
}

/// The rows of all tiles or of those of one IPU, in an order.
pub fn ordered_rows(
    memory: &TileMemory,
    target: Option<&Target>,
    ipu: Option<u32>,
    order: TileOrder,
) -> Vec<u32> {
    let is_shown = |tile: TileId| {
        ipu.is_none_or(|ipu| target.and_then(|target| target.ipu_of(tile)) == Some(ipu))
    };
    let all = (0_u32..).zip(memory.tiles.as_slice());
    let mut rows: Vec<u32> = all.filter(|(_, tile)| is_shown(**tile)).map(|(row, _)| row).collect();
    if order == TileOrder::Bytes {
        rows.sort_by_key(|row| Reverse(cell(&memory.including_gaps, *row as usize)));
    }
    rows
}

/// The IPUs of the tiles, ascending, each with its first row; none where the target does not say.
pub fn ipus(tiles: &IdColumn<TileId>, target: Option<&Target>) -> Vec<(u32, usize)> {
    let mut ipus: Vec<(u32, usize)> = Vec::new();
    for (row, tile) in tiles.as_slice().iter().enumerate() {
        let Some(ipu) = target.and_then(|target| target.ipu_of(*tile)) else { continue };
        if ipus.last().is_none_or(|(last, _)| *last != ipu) {
            ipus.push((ipu, row));
        }
    }
    ipus
}

/// The cells of rows, in their order.
pub fn gather(column: &TileColumn, rows: &[u32]) -> TileColumn {
    rows.iter().map(|row| cell(column, *row as usize)).collect()
}

/// The rows of the selected tiles, as ranges that ascend; numbers that no tile has are left out.
pub fn selected_rows(tiles: &IdColumn<TileId>, selection: &TileSelection) -> Vec<Range<usize>> {
    let row = |tile: u32| tiles.lower_bound(TileId(tile));
    let rows = selection.ranges().iter().map(|range| {
        let after = range.end().checked_add(1).map_or(tiles.len(), row);
        row(*range.start())..after
    });
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in rows.filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiles 10, 12, 14 and 26; the bytes of 14 are not known.
    fn memory() -> (TileMemory, Target) {
        let mut memory = TileMemory::default();
        for (tile, bytes) in [(10, Some(5)), (12, Some(9)), (14, None), (26, Some(9))] {
            memory.tiles.push(TileId(tile));
            memory.including_gaps.push(bytes);
        }
        let target = Target { tiles_per_ipu: Some(13), ..Target::default() };
        (memory, target)
    }

    #[test]
    fn rows_are_those_of_the_ipu_in_the_order() {
        let (memory, target) = memory();
        let rows = |ipu, order| ordered_rows(&memory, Some(&target), ipu, order);
        assert_eq!(rows(None, TileOrder::Number), [0, 1, 2, 3]);
        assert_eq!(rows(None, TileOrder::Bytes), [1, 3, 0, 2]);
        assert_eq!(rows(Some(0), TileOrder::Bytes), [1, 0]);
        assert_eq!(rows(Some(7), TileOrder::Number), [0_u32; 0]);
        assert_eq!(ipus(&memory.tiles, Some(&target)), [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(ipus(&memory.tiles, None), []);
        assert_eq!(gather(&memory.including_gaps, &[3, 2]), [Some(9), None]);
    }

    #[test]
    fn a_selection_has_the_rows_of_its_tiles() {
        let (memory, _) = memory();
        let rows = |text: &str| selected_rows(&memory.tiles, &text.parse().unwrap());
        assert_eq!(rows("0-12"), [0..2]);
        assert_eq!(rows("12,14"), [1..3], "neighbours in the report");
        assert_eq!(rows("10,26-4294967295"), [0..1, 3..4]);
        assert!(rows("11,13").is_empty());
    }
}
