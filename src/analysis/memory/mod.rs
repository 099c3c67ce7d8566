//! Memory of tiles.
//!
//! A tile is *over* when its bytes including gaps are more than `bytes_per_tile`; a report *fits*
//! when no tile is over. Gap bytes of a tile are its bytes including gaps minus its bytes. The
//! fullest tile has the most bytes including gaps, the lowest number of equals. Statistics are of
//! bytes including gaps; percentile by nearest rank, the median of an even number is the lower
//! middle, the mean is rounded to the nearest byte (definitions.md).

pub mod breakdown;
pub(crate) mod capacity;
pub(crate) mod category_order;
pub(crate) mod fullest_tiles;
pub(crate) mod outliers;
pub(crate) mod over_tiles;
pub mod selection;
pub(crate) mod tile_details;
pub mod tile_grid;
pub(crate) mod tile_order;
pub(crate) mod united_tiles;

use crate::store::TileId;
use crate::store::memory::{CategoryMemory, Region, TileColumn, TileMemory};
use crate::store::target::Target;

/// A sum over rows; `None` when there are no rows or a cell is not known, for then the sum is not.
pub fn sum(column: &TileColumn) -> Option<u64> {
    sum_of_rows(column, 0..column.len())
}

/// [`sum`] over some rows.
pub fn sum_of_rows(column: &TileColumn, rows: impl Iterator<Item = usize>) -> Option<u64> {
    sum_of_cells(rows, |row| cell(column, row))
}

fn sum_of_cells<T>(
    mut keys: impl Iterator<Item = T>,
    cell: impl Fn(T) -> Option<u64>,
) -> Option<u64> {
    let first = cell(keys.next()?)?;
    keys.try_fold(first, |sum, key| Some(sum.saturating_add(cell(key)?)))
}

/// Figures of tiles together. Bytes; what the file does not say of any of them is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileTotals {
    /// Distinct bytes in use.
    pub total_bytes: Option<u64>,
    /// With gaps.
    pub including_gaps_bytes: Option<u64>,
    /// The difference of the two.
    pub gap_bytes: Option<u64>,
    /// Bytes of variables that live as long as the program.
    pub always_live_bytes: Option<u64>,
    /// The most that other variables take at any step, each tile at its own worst step.
    pub not_always_live_max_bytes: Option<u64>,
    /// What neither of the two explains, tile by tile.
    pub not_explained_bytes: Option<u64>,
    /// By region, in the order of [`crate::store::memory::Region::ALL`].
    pub by_region: [Option<u64>; 3],
    /// Gaps by region, likewise; what they are of one tile says [`region_gap_bytes`].
    pub gaps_by_region: [Option<u64>; 3],
    /// The row of the fullest tile.
    pub fullest: Option<usize>,
    /// Tiles that are over.
    pub tiles_over_limit: Option<u64>,
    /// Whether no tile is over.
    pub fits: Option<bool>,
}

/// Sums up all tiles.
pub fn totals(memory: &TileMemory, target: Option<&Target>) -> TileTotals {
    totals_of_rows(memory, target, 0..memory.tiles.len())
}

/// Sums up the tiles in the given rows.
pub fn totals_of_rows(
    memory: &TileMemory,
    target: Option<&Target>,
    rows: impl Iterator<Item = usize> + Clone,
) -> TileTotals {
    let sum_of = |column: &TileColumn| sum_of_rows(column, rows.clone());
    let total_bytes = sum_of(&memory.total);
    let including_gaps_bytes = sum_of(&memory.including_gaps);
    let not_explained = |row: usize| not_explained_bytes(memory, row);
    let tiles_over_limit = sum_of_cells(rows.clone(), |row| {
        over_limit_bytes(memory, target, row).map(|over| u64::from(over > 0))
    });
    TileTotals {
        total_bytes,
        including_gaps_bytes,
        gap_bytes: difference(including_gaps_bytes, total_bytes),
        always_live_bytes: sum_of(&memory.always_live),
        not_always_live_max_bytes: sum_of(&memory.not_always_live_max),
        not_explained_bytes: sum_of_cells(rows.clone(), not_explained),
        by_region: [0, 1, 2].map(|region: usize| memory.by_region.get(region).and_then(sum_of)),
        gaps_by_region: Region::ALL
            .map(|region| sum_of_cells(rows.clone(), |row| region_gap_bytes(memory, region, row))),
        fullest: fullest(memory, rows),
        tiles_over_limit,
        fits: tiles_over_limit.map(|over| over == 0),
    }
}

/// The fullest tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FullestTile {
    /// The tile.
    pub tile: u32,
    /// Its bytes, gaps excluded.
    pub bytes: Option<u64>,
    /// With gaps.
    pub including_gaps_bytes: Option<u64>,
}

impl FullestTile {
    /// The tile in a row, which is [`TileTotals::fullest`].
    pub fn of(memory: &TileMemory, row: usize) -> Option<Self> {
        Some(Self {
            tile: memory.tiles.get(row)?.0,
            bytes: cell(&memory.total, row),
            including_gaps_bytes: cell(&memory.including_gaps, row),
        })
    }
}

fn fullest(memory: &TileMemory, rows: impl Iterator<Item = usize>) -> Option<usize> {
    let (row, _) = rows
        .filter_map(|row| Some((row, cell(&memory.including_gaps, row)?)))
        .max_by(|(row_a, a), (row_b, b)| a.cmp(b).then(row_b.cmp(row_a)))?;
    Some(row)
}

fn difference(whole: Option<u64>, part: Option<u64>) -> Option<u64> {
    whole?.checked_sub(part?)
}

/// Gap bytes of one tile.
pub fn gap_bytes(memory: &TileMemory, row: usize) -> Option<u64> {
    difference(cell(&memory.including_gaps, row), cell(&memory.total, row))
}

/// Gap bytes of one tile in a region: its bytes up to the last used one without those in use. Poplar
/// counts some bytes more there than in the gaps of the whole tile (8 a tile on a real report), so regions
/// may add up to more.
pub fn region_gap_bytes(memory: &TileMemory, region: Region, row: usize) -> Option<u64> {
    let of = |columns: &[TileColumn; 3]| columns.get(region as usize).and_then(|it| cell(it, row));
    difference(of(&memory.including_gaps_by_region), of(&memory.by_region))
}

/// By how much a tile is over; 0 when it is not.
pub fn over_limit_bytes(memory: &TileMemory, target: Option<&Target>, row: usize) -> Option<u64> {
    let limit = target?.bytes_per_tile?;
    Some(cell(&memory.including_gaps, row)?.saturating_sub(limit))
}

/// What neither always-live variables nor the most of the others explain: the allocator could not
/// overlap everything that is never live at the same time.
pub fn not_explained_bytes(memory: &TileMemory, row: usize) -> Option<u64> {
    let explained =
        cell(&memory.always_live, row)?.saturating_add(cell(&memory.not_always_live_max, row)?);
    difference(cell(&memory.total, row), Some(explained))
}

/// A cell of a column by tile.
pub fn cell(column: &TileColumn, row: usize) -> Option<u64> {
    column.get(row).copied().flatten()
}

/// Bytes of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct CategoryBytes {
    /// At addresses that one variable uses.
    pub not_overlapped: Option<u64>,
    /// At addresses shared with any other variable, counted once a variable.
    pub overlapped: Option<u64>,
}

/// A category over all tiles.
pub fn category_total(category: &CategoryMemory) -> CategoryBytes {
    category_bytes(category, |list| Some(list.iter().fold(0, |sum: u64, n| sum.saturating_add(*n))))
}

pub(crate) fn category_on_tile(category: &CategoryMemory, tile: TileId) -> CategoryBytes {
    category_bytes(category, |list| list.get(tile.0 as usize).copied())
}

/// A category on some tiles; `None` where there is no tile, or one of them is not known.
pub fn category_on_tiles(
    category: &CategoryMemory,
    tiles: impl Iterator<Item = TileId> + Clone,
) -> CategoryBytes {
    let of_tile = |tile| category_on_tile(category, tile);
    CategoryBytes {
        not_overlapped: sum_of_cells(tiles.clone(), |tile| of_tile(tile).not_overlapped),
        overlapped: sum_of_cells(tiles, |tile| of_tile(tile).overlapped),
    }
}

/// Adds up the regions; a region whose list is damaged makes the sum unknown.
fn category_bytes(
    category: &CategoryMemory,
    of_list: impl Fn(&[u64]) -> Option<u64>,
) -> CategoryBytes {
    let add = |lists: &[Option<Vec<u64>>; 3]| {
        lists.iter().try_fold(0_u64, |sum, list| Some(sum.saturating_add(of_list(list.as_ref()?)?)))
    };
    CategoryBytes {
        not_overlapped: add(&category.not_overlapped),
        overlapped: add(&category.overlapped),
    }
}

/// Bytes of code of all kinds: of the categories whose name ends in `Code`, overlapped or not.
pub fn code_bytes(memory: &TileMemory) -> Option<u64> {
    let code = memory.categories.iter().filter(|category| category.name.ends_with("Code"));
    sum_of_cells(code, |category| {
        let bytes = category_total(category);
        Some(bytes.not_overlapped?.saturating_add(bytes.overlapped?))
    })
}

/// Statistics of bytes including gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Statistics {
    pub min: Option<u64>,
    /// The lower middle.
    pub median: Option<u64>,
    /// The 99th percentile by nearest rank.
    pub p99: Option<u64>,
    pub max: Option<u64>,
    /// The mean, rounded to the nearest byte.
    pub mean: Option<u64>,
}

/// Statistics of the given rows; rows whose bytes are not known do not count.
pub(crate) fn statistics(memory: &TileMemory, rows: impl Iterator<Item = usize>) -> Statistics {
    let mut bytes: Vec<u64> = rows.filter_map(|row| cell(&memory.including_gaps, row)).collect();
    bytes.sort_unstable();
    let count = bytes.len();
    if count == 0 {
        return Statistics::default();
    }
    let sum: u128 = bytes.iter().map(|bytes| u128::from(*bytes)).sum();
    let mean = (sum + count as u128 / 2) / count as u128;
    Statistics {
        min: bytes.first().copied(),
        median: bytes.get((count - 1) / 2).copied(),
        p99: bytes.get((count * 99).div_ceil(100) - 1).copied(),
        max: bytes.last().copied(),
        mean: u64::try_from(mean).ok(),
    }
}

/// The name of a category for people: `vertexInstanceState` is "Vertex instance state".
pub fn category_title(name: &str) -> String {
    let mut title = String::with_capacity(name.len() + 4);
    for (index, character) in name.chars().enumerate() {
        if index == 0 {
            title.extend(character.to_uppercase());
        } else if character.is_uppercase() {
            title.push(' ');
            title.extend(character.to_lowercase());
        } else {
            title.push(character);
        }
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;

    fn memory_of(bytes: &[u64]) -> TileMemory {
        let total = bytes.iter().map(|bytes| Some(bytes / 2)).collect();
        let cells = bytes.iter().map(|bytes| Some(*bytes));
        TileMemory { total, ..fixture::memory((0..).zip(cells)) }
    }

    #[test]
    fn statistics_follow_the_definitions() {
        let memory = memory_of(&[10, 40, 20, 30]);
        let found = statistics(&memory, 0..4);
        assert_eq!(found.median, Some(20), "the lower middle");
        assert_eq!(found.p99, Some(40));
        assert_eq!(found.mean, Some(25));
        let hundred: Vec<u64> = (1..=200).collect();
        let found = statistics(&memory_of(&hundred), 0..200);
        assert_eq!(found.p99, Some(198), "nearest rank");
        assert_eq!(found.mean, Some(101), "100.5 rounds up");
        assert_eq!(statistics(&memory, 0..0), Statistics::default());
    }

    #[test]
    fn the_lowest_of_the_fullest_tiles_counts() {
        let memory = memory_of(&[10, 40, 40, 30]);
        let target = Target { bytes_per_tile: Some(30), ..Target::default() };
        let totals = totals(&memory, Some(&target));
        assert_eq!(totals.fullest, Some(1));
        assert_eq!(totals.tiles_over_limit, Some(2));
        assert_eq!(totals.fits, Some(false));
        assert_eq!(over_limit_bytes(&memory, Some(&target), 1), Some(10));
        assert_eq!(over_limit_bytes(&memory, Some(&target), 3), Some(0), "full is not over");
    }

    #[test]
    fn a_selection_of_tiles_has_its_own_sums() {
        let mut memory = memory_of(&[10, 40, 40, 30]);
        memory.always_live = vec![Some(3), Some(10), None, Some(10)];
        memory.not_always_live_max = vec![Some(1), Some(9), Some(9), Some(5)];
        let target = Target { bytes_per_tile: Some(30), ..Target::default() };
        let found = totals_of_rows(&memory, Some(&target), [0, 1, 3].into_iter());
        assert_eq!((found.total_bytes, found.including_gaps_bytes), (Some(40), Some(80)));
        assert_eq!((found.gap_bytes, found.always_live_bytes), (Some(40), Some(23)));
        assert_eq!(found.not_always_live_max_bytes, Some(15));
        assert_eq!(found.not_explained_bytes, Some(2));
        assert_eq!((found.fullest, found.tiles_over_limit), (Some(1), Some(1)));
        let all = totals_of_rows(&memory, Some(&target), 0..4);
        assert_eq!(all, totals(&memory, Some(&target)));
        assert_eq!((all.always_live_bytes, all.fullest), (None, Some(1)));
        assert_eq!(totals_of_rows(&memory, None, 0..0), TileTotals::default());
        let mut category = fixture::category("stack", &[1, 2, 3, 4], &[5, 0, 0, 1]);
        category.overlapped[2] = None;
        let found = category_on_tiles(&category, [0, 3].map(TileId).into_iter());
        let expected = CategoryBytes { not_overlapped: Some(5), overlapped: None };
        assert_eq!(found, expected);
        memory.categories.push(fixture::category("vertexCode", &[1, 2, 3, 4], &[0, 0, 0, 7]));
        assert_eq!(code_bytes(&memory), Some(17), "a stack is no code");
        let beyond = category_on_tiles(&category, [4].map(TileId).into_iter());
        assert_eq!(beyond, CategoryBytes::default());
    }

    #[test]
    fn an_unknown_cell_makes_a_sum_unknown() {
        assert_eq!(sum(&vec![Some(1), None]), None);
        assert_eq!(sum(&vec![]), None);
        assert_eq!(sum(&vec![Some(1), Some(2)]), Some(3));
    }

    #[test]
    fn categories_have_words_for_people() {
        assert_eq!(category_title("hostExchangePacketHeader"), "Host exchange packet header");
    }
}
