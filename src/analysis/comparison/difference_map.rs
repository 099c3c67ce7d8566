//! The change of every tile, category by category.
//!
//! A row for each category: its bytes at addresses that one variable uses; one for "overlapped" (without
//! gaps − their sum), one for gaps (with gaps − without). Where a report has no categories, one row has all
//! bytes without gaps. The change of a cell is that of the target minus that of the source. On every
//! tile the changes of all rows add up to the change of its bytes including gaps; where a report lacks a
//! figure that takes, all cells of the tile are not known. Rows stand in the order of their sizes, the
//! largest first: the size is the sum over all tiles of how much a cell has changed, whatever the sign, so
//! that what moves from tile to tile counts.

use crate::analysis::memory::breakdown::{Breakdown, MemoryPart, breakdowns};
use crate::analysis::memory::{cell, gap_bytes};
use crate::store::memory::{TileColumn, TileMemory};

/// What has changed; columns are those of a list of tiles.
#[derive(Clone, Debug, Default)]
pub struct DifferenceMap {
    /// The rows, the largest first.
    pub rows: Vec<MapRow>,
    /// The largest change of a cell, whatever its sign.
    pub most: u64,
}

/// A category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapRow {
    /// Its name for people.
    pub title: String,
    /// Its name in the file; `gaps`, `overlapped`, or `total` of what is no category.
    pub key: String,
    source: TileColumn,
    target: TileColumn,
    /// The change over all tiles whose bytes are known.
    pub total: i64,
    /// The largest change of a cell, whatever its sign.
    pub most: u64,
}

impl MapRow {
    fn new(part: &MemoryPart, source: TileColumn, target: TileColumn) -> Self {
        let (title, key) = (part.title.clone(), part.key.clone());
        let mut row = Self { title, key, source, target, total: 0, most: 0 };
        let (mut total, mut most) = (0_i64, 0_u64);
        for change in row.changes() {
            total = total.saturating_add(change);
            most = most.max(change.unsigned_abs());
        }
        (row.total, row.most) = (total, most);
        row
    }

    /// Bytes of a tile in the source and in the target.
    pub fn bytes(&self, tile: usize) -> [Option<u64>; 2] {
        [cell(&self.source, tile), cell(&self.target, tile)]
    }

    /// How much more bytes of it a tile has in the target.
    pub fn change(&self, tile: usize) -> Option<i64> {
        let (source, target) = (cell(&self.source, tile)?, cell(&self.target, tile)?);
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        Some(signed(target).saturating_sub(signed(source)))
    }

    /// Folds neighbors for a picture: of `width` tiles each, in the order of `tiles` from `first` on, the
    /// position of the one that has changed most; `None` where no change is known.
    pub fn fold(&self, tiles: &[u32], first: usize, width: usize) -> Vec<Option<(usize, i64)>> {
        let visible = tiles.get(first..).unwrap_or(&[]);
        let bins = visible.chunks(width.max(1)).enumerate();
        bins.map(|(bin, tiles)| {
            let changes = tiles.iter().enumerate();
            let changes = changes.filter_map(|(place, tile)| {
                Some((first + bin * width.max(1) + place, self.change(*tile as usize)?))
            });
            // The first of equals.
            changes.reduce(
                |most, next| {
                    if next.1.unsigned_abs() > most.1.unsigned_abs() { next } else { most }
                },
            )
        })
        .collect()
    }

    fn changes(&self) -> impl Iterator<Item = i64> {
        (0..self.source.len()).filter_map(|tile| self.change(tile))
    }

    fn size(&self) -> u64 {
        self.changes().fold(0, |size, change| size.saturating_add(change.unsigned_abs()))
    }
}

impl DifferenceMap {
    /// Compares the tiles of a list, of which each report has its own rows.
    pub fn new(memories: [&TileMemory; 2], rows: [&[u32]; 2]) -> Self {
        let [source, target] = memories;
        let parts = breakdowns(&memories, Breakdown::Category, usize::MAX);
        let [of_source, of_target] = parts
            .and_then(|parts| <[Vec<MemoryPart>; 2]>::try_from(parts).ok())
            .unwrap_or_else(|| memories.map(|memory| vec![whole(memory)]));
        let [source_gaps, target_gaps] = [gaps(source), gaps(target)];
        let source = of_source.iter().chain([&source_gaps]);
        let target = of_target.iter().chain([&target_gaps]);
        let is_known = known(rows, [&of_source, &of_target], [&source_gaps, &target_gaps]);
        let gathered = |part: &MemoryPart, rows: &[u32]| -> TileColumn {
            let cells = rows.iter().zip(&is_known);
            cells
                .map(|(row, is_known)| cell(&part.bytes, *row as usize).filter(|_| *is_known))
                .collect()
        };
        let [source_rows, target_rows] = rows;
        let mut list: Vec<MapRow> = source
            .zip(target)
            .map(|(of_source, of_target)| {
                let source = gathered(of_source, source_rows);
                MapRow::new(of_source, source, gathered(of_target, target_rows))
            })
            .collect();
        list.sort_by_key(|row| std::cmp::Reverse(row.size()));
        Self { most: list.iter().map(|row| row.most).max().unwrap_or(0), rows: list }
    }
}

fn whole(memory: &TileMemory) -> MemoryPart {
    MemoryPart {
        title: "Without gaps".to_owned(),
        key: "total".to_owned(),
        bytes: memory.total.clone(),
        total: None,
    }
}

fn gaps(memory: &TileMemory) -> MemoryPart {
    MemoryPart {
        title: "Gaps".to_owned(),
        key: "gaps".to_owned(),
        bytes: (0..memory.tiles.len()).map(|row| gap_bytes(memory, row)).collect(),
        total: None,
    }
}

/// The tiles of which both reports know all parts.
fn known(rows: [&[u32]; 2], parts: [&[MemoryPart]; 2], gaps: [&MemoryPart; 2]) -> Vec<bool> {
    let [source, target] = rows;
    let [source_parts, target_parts] = parts;
    let [source_gaps, target_gaps] = gaps;
    let is_known = |parts: &[MemoryPart], gaps: &MemoryPart, row: u32| {
        let mut parts = parts.iter().chain([gaps]);
        parts.all(|part| cell(&part.bytes, row as usize).is_some())
    };
    let both = source.iter().zip(target);
    both.map(|(source, target)| {
        is_known(source_parts, source_gaps, *source) && is_known(target_parts, target_gaps, *target)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use proptest::prelude::*;

    use crate::analysis::memory::united_tiles::UnitedTiles;

    fn memory(tiles: &[(u32, Option<u64>, u64)], categories: &[(&str, Vec<u64>)]) -> TileMemory {
        let with_gaps =
            tiles.iter().map(|(tile, total, gap)| (*tile, total.map(|total| total + gap)));
        TileMemory {
            total: tiles.iter().map(|(_, total, _)| *total).collect(),
            categories: categories
                .iter()
                .map(|(name, bytes)| fixture::category(name, bytes, &[]))
                .collect(),
            ..fixture::memory(with_gaps)
        }
    }

    fn map_of(memories: [&TileMemory; 2]) -> DifferenceMap {
        let tiles = UnitedTiles::new(&memories);
        DifferenceMap::new(memories, [&tiles.rows[0], &tiles.rows[1]])
    }

    #[test]
    fn the_largest_row_comes_first_and_neighbours_fold_to_the_largest_change() {
        let source = memory(
            &[(0, Some(10), 1), (1, Some(20), 1), (2, Some(30), 1)],
            &[("stack", vec![5, 5, 5]), ("variable", vec![1, 9, 1])],
        );
        let target = memory(
            &[(0, Some(10), 4), (1, Some(20), 1), (2, Some(31), 0), (3, Some(9), 0)],
            &[("variable", vec![9, 1, 2, 3]), ("message", vec![0, 0, 1, 0])],
        );
        let memories = [&source, &target];
        let map = map_of(memories);
        let titles: Vec<_> = map.rows.iter().map(|row| (&*row.title, row.total)).collect();
        let expected =
            [("Overlapped", 14), ("Variable", 1), ("Stack", -15), ("Gaps", 2), ("Message", 1)];
        assert_eq!(titles, expected, "what moves from tile to tile counts");
        let variable = &map.rows[1];
        assert_eq!((variable.change(1), variable.bytes(1)), (Some(-8), [Some(9), Some(1)]));
        assert_eq!(
            (variable.change(3), variable.bytes(3)),
            (None, [None; 2]),
            "of the target alone"
        );
        assert_eq!((variable.most, map.most), (8, 13));
        let folded = variable.fold(&[2, 1, 0, 3], 0, 2);
        assert_eq!(folded, [Some((1, -8)), Some((2, 8))]);
        assert_eq!(variable.fold(&[2, 1, 0, 3], 3, 2), [None]);
        assert_eq!(variable.fold(&[0], 5, 0), []);
    }

    #[test]
    fn without_categories_all_bytes_are_one_row() {
        let (source, target) = (memory(&[(0, Some(10), 1)], &[]), memory(&[(0, Some(4), 3)], &[]));
        let map = map_of([&source, &target]);
        let titles: Vec<_> = map.rows.iter().map(|row| (&*row.title, row.total)).collect();
        assert_eq!(titles, [("Without gaps", -6), ("Gaps", 2)]);
        let none = TileMemory::default();
        let map = DifferenceMap::new([&none, &none], [&[], &[]]);
        assert!(map.rows.iter().all(|row| row.most == 0) && map.most == 0);
    }

    proptest! {
        #[test]
        fn the_rows_of_a_tile_add_up_to_its_change(
            source in proptest::collection::vec((proptest::option::weighted(0.9, 0..60_u64), 0..9_u64), 0..6),
            target in proptest::collection::vec((proptest::option::weighted(0.9, 0..60_u64), 0..9_u64), 0..6),
            categories in proptest::collection::vec(proptest::collection::vec(0..12_u64, 6), 0..8),
        ) {
            let make = |tiles: &[(Option<u64>, u64)], skip: usize| {
                let tiles: Vec<_> = (0..).zip(tiles).map(|(tile, (total, gap))| (tile, *total, *gap)).collect();
                let named = ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().zip(categories.clone());
                memory(&tiles, &named.skip(skip).step_by(2).collect::<Vec<_>>())
            };
            let (source, target) = (make(&source, 0), make(&target, 1));
            let memories = [&source, &target];
            let (tiles, map) = (UnitedTiles::new(&memories), map_of(memories));
            for (row, _) in tiles.tiles.as_slice().iter().enumerate() {
                let changes: Vec<_> = map.rows.iter().map(|line| line.change(row)).collect();
                let sum: Option<i64> = changes.iter().copied().sum();
                let bytes = |side: usize| {
                    cell(&memories[side].including_gaps, tiles.rows[side][row] as usize)
                };
                let (before, after) = (bytes(0), bytes(1));
                prop_assert!(changes.iter().all(Option::is_none) || sum.is_some());
                if let Some(sum) = sum {
                    let change = i128::from(after.expect("known")) - i128::from(before.expect("known"));
                    prop_assert_eq!(i128::from(sum), change);
                }
            }
        }
    }
}
