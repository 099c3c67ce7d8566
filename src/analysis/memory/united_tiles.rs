//! The tiles of several reports as one list.
//!
//! A tile is in the list when one of the reports has it; the list ascends. The change of a tile is its
//! bytes including gaps in a report minus those in the first; it is not known where one of the two is
//! not. Ordered by change, the largest change in any report comes first, whatever its sign; tiles whose
//! change is not known come last, equal ones in the order of their numbers.

use std::cmp::Reverse;

use crate::analysis::memory::cell;
use crate::analysis::memory::tile_order::TileOrder;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::TileMemory;
use crate::store::target::Target;

/// Stands for the row of a tile that a report does not have. No column has so many rows.
pub const NOT_THERE: u32 = u32::MAX;

/// The tiles of several reports.
#[derive(Clone, Debug, Default)]
pub struct UnitedTiles {
    pub tiles: IdColumn<TileId>,
    /// For each report the row of each of them, or [`NOT_THERE`].
    pub rows: Vec<Vec<u32>>,
}

impl UnitedTiles {
    pub fn new(memories: &[&TileMemory]) -> Self {
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
        let rows = memories
            .iter()
            .map(|memory| tiles.as_slice().iter().map(|tile| row(memory, *tile)).collect());
        Self { rows: rows.collect(), tiles }
    }

    /// Rows of the list as rows of each report.
    pub fn rows_of(&self, rows: &[u32]) -> Vec<Vec<u32>> {
        let of = |own: &Vec<u32>| {
            let own = rows.iter().map(|row| own.get(*row as usize).copied().unwrap_or(NOT_THERE));
            own.collect()
        };
        self.rows.iter().map(of).collect()
    }

    /// The bytes including gaps of a row of the list in each report.
    fn bytes<'a>(
        &'a self,
        memories: &'a [&TileMemory],
        row: u32,
    ) -> impl Iterator<Item = Option<u64>> + 'a {
        memories.iter().zip(&self.rows).map(move |(memory, rows)| {
            cell(&memory.including_gaps, *rows.get(row as usize)? as usize)
        })
    }

    /// How much the bytes including gaps of a row have changed, whatever the sign.
    fn change(&self, memories: &[&TileMemory], row: u32) -> Option<u64> {
        largest_change(self.bytes(memories, row))
    }

    /// The rows of all tiles or of those of one IPU, in an order. `target` says which tiles an IPU has.
    pub fn ordered(
        &self,
        memories: &[&TileMemory],
        target: Option<&Target>,
        device: Option<u32>,
        order: TileOrder,
    ) -> Vec<u32> {
        let is_shown = |tile: TileId| {
            device.is_none_or(|device| {
                target.and_then(|target| target.device_of(tile)) == Some(device)
            })
        };
        let all = (0_u32..).zip(self.tiles.as_slice());
        let mut rows: Vec<u32> =
            all.filter(|(_, tile)| is_shown(**tile)).map(|(row, _)| row).collect();
        match order {
            TileOrder::Number => {}
            TileOrder::Bytes => {
                rows.sort_by_key(|row| Reverse(self.bytes(memories, *row).next().flatten()));
            }
            TileOrder::Change => rows.sort_by_key(|row| Reverse(self.change(memories, *row))),
        }
        rows
    }
}

/// The largest change from the first of some figures to another, whatever its sign.
pub fn largest_change(mut figures: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let first = figures.next()??;
    figures.flatten().map(|figure| figure.abs_diff(first)).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::memory;

    #[test]
    fn tiles_of_all_have_a_row_in_each() {
        let source = memory([(0, Some(10)), (1, Some(30)), (2, Some(20)), (9, Some(50))]);
        let target = memory([(0, Some(11)), (2, Some(5)), (4, Some(99)), (9, None)]);
        let memories = [&source, &target];
        let both = UnitedTiles::new(&memories);
        assert_eq!(both.tiles.as_slice(), [0, 1, 2, 4, 9].map(TileId));
        assert_eq!(both.rows_of(&[1, 4]), [vec![1, 3], vec![NOT_THERE, 3]]);
        assert!(both.bytes(&memories, 3).eq([None, Some(99)]));
        let machine = Target { tiles_per_device: Some(4), ..Target::default() };
        let rows = |device, order| both.ordered(&memories, Some(&machine), device, order);
        assert_eq!(rows(None, TileOrder::Number), [0, 1, 2, 3, 4]);
        assert_eq!(rows(None, TileOrder::Bytes), [4, 1, 2, 0, 3], "those of the source");
        assert_eq!(rows(None, TileOrder::Change), [2, 0, 1, 3, 4]);
        assert_eq!(rows(Some(1), TileOrder::Bytes), [3]);
        let third = memory([(0, Some(90)), (1, Some(30))]);
        let memories = [&source, &target, &third];
        let all = UnitedTiles::new(&memories);
        let by_change = all.ordered(&memories, None, None, TileOrder::Change);
        assert_eq!(by_change, [0, 2, 1, 3, 4], "the largest of any");
        assert!(UnitedTiles::new(&[]).tiles.is_empty());
    }

    #[test]
    fn of_one_report_rows_are_its_own() {
        let one = memory([(10, Some(5)), (12, Some(9)), (14, None), (26, Some(9))]);
        let machine = Target { tiles_per_device: Some(13), ..Target::default() };
        let tiles = UnitedTiles::new(&[&one]);
        let rows = |device, order| tiles.ordered(&[&one], Some(&machine), device, order);
        assert_eq!(rows(None, TileOrder::Number), [0, 1, 2, 3]);
        assert_eq!(rows(None, TileOrder::Change), [0, 1, 2, 3]);
        assert_eq!(rows(None, TileOrder::Bytes), [1, 3, 0, 2]);
        assert_eq!(rows(Some(0), TileOrder::Bytes), [1, 0]);
        assert_eq!(rows(Some(7), TileOrder::Number), [0_u32; 0]);
    }
}
