//! The tiles that a picture or a table shows, and their order.
//!
//! By bytes means: bytes including gaps, most first; tiles whose bytes are not known come last, equal
//! ones in the order of their numbers. A tile belongs to IPU tile ÷ tiles per IPU (definitions.md).

use std::ops::Range;

use crate::analysis::memory::cell;
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::TileColumn;
use crate::store::target::Target;

/// The order of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TileOrder {
    #[default]
    Number,
    /// By bytes including gaps, most first; of several reports by those of the first.
    Bytes,
    /// By the change of the bytes including gaps, largest first ([`super::united_tiles`]). Of one report
    /// as by number.
    Change,
}

/// The IPUs of the tiles, ascending, each with its first row; none where the target does not say.
pub fn devices(tiles: &IdColumn<TileId>, target: Option<&Target>) -> Vec<(u32, usize)> {
    let mut devices: Vec<(u32, usize)> = Vec::new();
    for (row, tile) in tiles.as_slice().iter().enumerate() {
        let Some(device) = target.and_then(|target| target.device_of(*tile)) else { continue };
        if devices.last().is_none_or(|(last, _)| *last != device) {
            devices.push((device, row));
        }
    }
    devices
}

/// The cells of rows, in their order.
pub fn gather(column: &TileColumn, rows: &[u32]) -> TileColumn {
    rows.iter().map(|row| cell(column, *row as usize)).collect()
}

/// The rows of the selected tiles, as ranges that ascend; numbers that no tile has are left out.
pub fn selected_rows(tiles: &IdColumn<TileId>, selection: &TileSelection) -> Vec<Range<usize>> {
    let ranges = selection.ranges().iter();
    let rows = ranges.map(|range| tiles.rows_between(TileId(*range.start()), TileId(*range.end())));
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
    use crate::analysis::fixture;
    use crate::store::memory::TileMemory;

    /// Tiles 10, 12, 14 and 26; the bytes of 14 are not known.
    fn memory() -> (TileMemory, Target) {
        let tiles = [(10, Some(5)), (12, Some(9)), (14, None), (26, Some(9))];
        let target = Target { tiles_per_device: Some(13), ..Target::default() };
        (fixture::memory(tiles), target)
    }

    #[test]
    fn ipus_have_their_first_rows() {
        let (memory, target) = memory();
        assert_eq!(devices(&memory.tiles, Some(&target)), [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(devices(&memory.tiles, None), []);
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
