//! The tiles of two reports as one list.
//!
//! A tile is in the list when one of the reports has it; the list ascends. The change of a tile is its
//! bytes including gaps in the target minus those in the source; it is not known where one of the two is
//! not. Ordered by change, the largest come first, whatever their sign; tiles whose change is not known
//! come last, equal ones in the order of their numbers.

use std::cmp::Reverse;

use crate::analysis::memory::cell;
use crate::analysis::memory::tile_order::TileOrder;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::TileMemory;
use crate::store::target::Target;

/// Stands for the row of a tile that a report does not have. No column has so many rows.
pub const NOT_THERE: u32 = u32::MAX;

/// The tiles of a source and a target.
#[derive(Clone, Debug, Default)]
pub struct PairedTiles {
    /// The tiles of both.
    pub tiles: IdColumn<TileId>,
    /// For each of them its row in the source and in the target, or [`NOT_THERE`].
    rows: [Vec<u32>; 2],
}

impl PairedTiles {
    /// Makes the list.
    pub fn new(memories: [&TileMemory; 2]) -> Self {
        let mut all: Vec<TileId> =
            memories.iter().flat_map(|memory| memory.tiles.as_slice()).copied().collect();
        all.sort_unstable();
        let mut tiles = IdColumn::default();
        for tile in all {
            // Says no to those that are there already.
            tiles.push(tile);
        }
        let row = |memory: &TileMemory, tile: TileId| {
            let row = memory.tiles.position(tile).and_then(|row| u32::try_from(row).ok());
            row.unwrap_or(NOT_THERE)
        };
        let rows =
            memories.map(|memory| tiles.as_slice().iter().map(|tile| row(memory, *tile)).collect());
        Self { tiles, rows }
    }

    /// Rows of the list as rows of the source and of the target.
    pub fn rows_of(&self, rows: &[u32]) -> [Vec<u32>; 2] {
        let of = |own: &Vec<u32>| {
            let own = rows.iter().map(|row| own.get(*row as usize).copied().unwrap_or(NOT_THERE));
            own.collect()
        };
        [of(&self.rows[0]), of(&self.rows[1])]
    }

    /// The bytes including gaps of a row of the list, in the source and in the target.
    pub fn bytes(&self, memories: [&TileMemory; 2], row: u32) -> [Option<u64>; 2] {
        let [source, target] = memories;
        let of = |memory: &TileMemory, rows: &[u32]| {
            cell(&memory.including_gaps, *rows.get(row as usize)? as usize)
        };
        [of(source, &self.rows[0]), of(target, &self.rows[1])]
    }

    /// The rows of all tiles or of those of one IPU, in an order. `target` says which tiles an IPU has.
    pub fn ordered(
        &self,
        memories: [&TileMemory; 2],
        target: Option<&Target>,
        ipu: Option<u32>,
        order: TileOrder,
    ) -> Vec<u32> {
        let is_shown = |tile: TileId| {
            ipu.is_none_or(|ipu| target.and_then(|target| target.ipu_of(tile)) == Some(ipu))
        };
        let all = (0_u32..).zip(self.tiles.as_slice());
        let mut rows: Vec<u32> =
            all.filter(|(_, tile)| is_shown(**tile)).map(|(row, _)| row).collect();
        match order {
            TileOrder::Number => {}
            TileOrder::Bytes => rows.sort_by_key(|row| {
                let [source, _] = self.bytes(memories, *row);
                Reverse(source)
            }),
            TileOrder::Change => rows.sort_by_key(|row| {
                let [source, target] = self.bytes(memories, *row);
                Reverse(source.zip(target).map(|(source, target)| source.abs_diff(target)))
            }),
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(cells: &[(u32, Option<u64>)]) -> TileMemory {
        let mut memory = TileMemory::default();
        for (tile, bytes) in cells {
            memory.tiles.push(TileId(*tile));
            memory.including_gaps.push(*bytes);
        }
        memory
    }

    #[test]
    fn tiles_of_both_have_a_row_in_either() {
        let source = memory(&[(0, Some(10)), (1, Some(30)), (2, Some(20)), (9, Some(50))]);
        let target = memory(&[(0, Some(11)), (2, Some(5)), (4, Some(99)), (9, None)]);
        let memories = [&source, &target];
        let pair = PairedTiles::new(memories);
        assert_eq!(pair.tiles.as_slice(), [0, 1, 2, 4, 9].map(TileId));
        assert_eq!(pair.rows_of(&[1, 4]), [vec![1, 3], vec![NOT_THERE, 3]]);
        assert_eq!(pair.bytes(memories, 3), [None, Some(99)]);
        let machine = Target { tiles_per_ipu: Some(4), ..Target::default() };
        let rows = |ipu, order| pair.ordered(memories, Some(&machine), ipu, order);
        assert_eq!(rows(None, TileOrder::Number), [0, 1, 2, 3, 4]);
        assert_eq!(rows(None, TileOrder::Bytes), [4, 1, 2, 0, 3], "those of the source");
        assert_eq!(rows(None, TileOrder::Change), [2, 0, 1, 3, 4]);
        assert_eq!(rows(Some(1), TileOrder::Bytes), [3]);
        assert!(PairedTiles::new([&TileMemory::default(); 2]).tiles.is_empty());
    }
}
