//! The bytes of every tile (gaps excluded) in parts that add up.
//!
//! - By region: non-interleaved, interleaved, overflowed, and what is in none of them, where there is
//!   any.
//! - By category: the bytes at addresses that one variable uses (not overlapped) of each category,
//!   and one part "overlapped" = total − their sum. Categories without such bytes are left out.
//! - By liveness: always live, the most of the others at any step, and the rest, which liveness does
//!   not explain (= total − both).
//!
//! On every tile the parts add up to `memory_by_tile.total` exactly. Where a figure is missing, or the
//! parts are more than the total, as in a damaged report, all cells of that tile are `None`: nothing
//! is cut to fit.

use crate::store::memory::{CategoryMemory, Region, TileColumn, TileMemory};

use super::memory::{category_on_tile, category_title, cell, sum};

/// What the bytes of a tile are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breakdown {
    /// By memory region.
    Region,
    /// By category of stored data.
    Category,
    /// By liveness.
    Liveness,
}

/// A part of the bytes of every tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPart {
    /// Its name for people.
    pub title: String,
    /// Its name in the file and in JSON: `non_interleaved`, `vertexCode`, `always_live` …
    pub key: String,
    /// Bytes in each row of [`TileMemory::tiles`].
    pub bytes: TileColumn,
    /// Bytes over all tiles; `None` where those of a tile are not known.
    pub total: Option<u64>,
}

impl MemoryPart {
    fn new(title: impl Into<String>, key: impl Into<String>, bytes: TileColumn) -> Self {
        Self { title: title.into(), key: key.into(), total: sum(&bytes), bytes }
    }

    /// Whether it has no byte on any tile.
    fn is_empty(&self) -> bool {
        self.bytes.iter().flatten().all(|bytes| *bytes == 0)
    }

    /// The sum of the tiles whose bytes are known.
    fn known(&self) -> u64 {
        self.bytes.iter().flatten().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
    }
}

/// The parts of every tile, in the order in which they are stacked: categories largest first, the
/// rest last. With more than `most_categories` categories the smallest count together as "Other
/// categories", so that at most that many parts stand before the overlapped one. `None` where no
/// tile's parts are known.
pub fn breakdown(
    memory: &TileMemory,
    which: Breakdown,
    most_categories: usize,
) -> Option<Vec<MemoryPart>> {
    let (mut parts, mut rest) = match which {
        Breakdown::Region => by_region(memory),
        Breakdown::Category if memory.categories.is_empty() => return None,
        Breakdown::Category => by_category(memory),
        Breakdown::Liveness => by_liveness(memory),
    };
    rest.bytes = close(memory, &mut parts);
    if rest.bytes.iter().all(Option::is_none) {
        return None;
    }
    for part in parts.iter_mut().chain([&mut rest]) {
        part.total = sum(&part.bytes);
    }
    if which == Breakdown::Category {
        parts.retain(|part| !part.is_empty());
        parts.sort_by_key(|part| std::cmp::Reverse(part.known()));
        fold(&mut parts, most_categories);
    }
    // That the regions are all there is, is so in every report that was seen.
    if which != Breakdown::Region || !rest.is_empty() {
        parts.push(rest);
    }
    Some(parts)
}

fn by_region(memory: &TileMemory) -> (Vec<MemoryPart>, MemoryPart) {
    let regions = Region::ALL.into_iter().zip(&memory.by_region);
    let parts = regions
        .map(|(region, bytes)| MemoryPart::new(region.title(), region.key(), bytes.clone()))
        .collect();
    (parts, MemoryPart::new("Not in a region", "not_in_region", Vec::new()))
}

fn by_category(memory: &TileMemory) -> (Vec<MemoryPart>, MemoryPart) {
    let part = |category: &CategoryMemory| {
        let tiles = memory.tiles.as_slice().iter();
        let bytes = tiles.map(|tile| category_on_tile(category, *tile).not_overlapped).collect();
        MemoryPart::new(category_title(&category.name), category.name.as_str(), bytes)
    };
    let parts = memory.categories.iter().map(part).collect();
    (parts, MemoryPart::new("Overlapped", "overlapped", Vec::new()))
}

fn by_liveness(memory: &TileMemory) -> (Vec<MemoryPart>, MemoryPart) {
    let not_always_live = memory.not_always_live_max.clone();
    let parts = vec![
        MemoryPart::new("Always live", "always_live", memory.always_live.clone()),
        MemoryPart::new("Not always live", "not_always_live_max", not_always_live),
    ];
    (parts, MemoryPart::new("Not explained by liveness", "not_explained", Vec::new()))
}

/// What is left of each tile's total; a tile whose parts do not add up to it loses its cells.
fn close(memory: &TileMemory, parts: &mut [MemoryPart]) -> TileColumn {
    let rows = memory.tiles.len();
    for part in &mut *parts {
        part.bytes.resize(rows, None);
    }
    let rest_of = |row: usize, parts: &[MemoryPart]| {
        parts.iter().try_fold(cell(&memory.total, row)?, |rest, part| {
            rest.checked_sub(cell(&part.bytes, row)?)
        })
    };
    (0..rows)
        .map(|row| {
            let rest = rest_of(row, parts);
            if rest.is_none() {
                for cell in parts.iter_mut().filter_map(|part| part.bytes.get_mut(row)) {
                    *cell = None;
                }
            }
            rest
        })
        .collect()
}

/// Puts all but the first `most` − 1 parts into one, when there are more than `most`.
fn fold(parts: &mut Vec<MemoryPart>, most: usize) {
    if parts.len() <= most {
        return;
    }
    let others = parts.split_off(most.saturating_sub(1));
    let Some(rows) = others.first().map(|part| part.bytes.len()) else { return };
    let sum_of_row = |row: usize| {
        others.iter().try_fold(0_u64, |sum, part| Some(sum.saturating_add(cell(&part.bytes, row)?)))
    };
    let bytes: TileColumn = (0..rows).map(sum_of_row).collect();
    parts.push(MemoryPart::new("Other categories", "other_categories", bytes));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TileId;
    use proptest::prelude::*;

    fn memory_of(totals: &[Option<u64>]) -> TileMemory {
        let mut memory = TileMemory::default();
        for (tile, total) in (0..).zip(totals) {
            memory.tiles.push(TileId(tile));
            memory.total.push(*total);
        }
        memory
    }

    fn category(name: &str, bytes: &[u64]) -> CategoryMemory {
        let zeros = vec![0; bytes.len()];
        CategoryMemory {
            name: name.to_owned(),
            not_overlapped: [Some(bytes.to_vec()), Some(zeros.clone()), Some(zeros)],
            ..CategoryMemory::default()
        }
    }

    fn keys(parts: &[MemoryPart]) -> Vec<&str> {
        parts.iter().map(|part| part.key.as_str()).collect()
    }

    #[test]
    fn what_does_not_add_up_is_not_shown() {
        let mut memory = memory_of(&[Some(10), Some(10), None, Some(10)]);
        memory.always_live = vec![Some(6), Some(6), Some(6), None];
        memory.not_always_live_max = vec![Some(3), Some(5), Some(3), Some(3)];
        let parts = breakdown(&memory, Breakdown::Liveness, 9).expect("parts");
        assert_eq!(keys(&parts), ["always_live", "not_always_live_max", "not_explained"]);
        let tile = |row: usize| parts.iter().map(|part| part.bytes[row]).collect::<Vec<_>>();
        assert_eq!(tile(0), [Some(6), Some(3), Some(1)]);
        for row in 1..4 {
            assert_eq!(tile(row), [None; 3], "row {row}");
        }
        assert_eq!(parts[0].total, None);
        assert_eq!(breakdown(&memory, Breakdown::Region, 9), None, "no region is known");
        assert_eq!(breakdown(&memory, Breakdown::Category, 9), None, "no category is known");
    }

    #[test]
    fn regions_have_a_rest_only_where_there_is_one() {
        let mut memory = memory_of(&[Some(10), Some(4)]);
        memory.by_region = [vec![Some(7), Some(4)], vec![Some(3), Some(0)], vec![Some(0), Some(0)]];
        let parts = breakdown(&memory, Breakdown::Region, 9).expect("parts");
        assert_eq!(keys(&parts), ["non_interleaved", "interleaved", "overflowed"]);
        memory.total = vec![Some(10), Some(5)];
        let parts = breakdown(&memory, Breakdown::Region, 9).expect("parts");
        assert_eq!(parts[3].bytes, [Some(0), Some(1)]);
        assert_eq!(parts[3].title, "Not in a region");
    }

    #[test]
    fn small_categories_count_together() {
        let mut memory = memory_of(&[Some(20), Some(20)]);
        memory.categories = vec![
            category("stack", &[1, 1]),
            category("nothing", &[0, 0]),
            category("controlCode", &[8, 4]),
            category("variable", &[2, 3]),
        ];
        let parts = breakdown(&memory, Breakdown::Category, 3).expect("parts");
        assert_eq!(keys(&parts), ["controlCode", "variable", "stack", "overlapped"]);
        assert_eq!(parts[0].title, "Control code");
        let parts = breakdown(&memory, Breakdown::Category, 2).expect("parts");
        assert_eq!(keys(&parts), ["controlCode", "other_categories", "overlapped"]);
        assert_eq!(parts[1].bytes, [Some(3), Some(4)]);
        assert_eq!(parts[2].total, Some(21));
        // A list that could not be decoded makes every tile's rest unknown.
        if let Some(category) = memory.categories.first_mut() {
            category.not_overlapped[0] = None;
        }
        assert_eq!(breakdown(&memory, Breakdown::Category, 3), None);
    }

    proptest! {
        #[test]
        fn every_tile_closes_or_is_not_known(
            totals in proptest::collection::vec(proptest::option::weighted(0.9, 0..60_u64), 1..6),
            categories in proptest::collection::vec(
                proptest::collection::vec(0..12_u64, 4..6), 1..6),
            columns in proptest::collection::vec(
                proptest::collection::vec(proptest::option::weighted(0.9, 0..30_u64), 0..6), 5),
            most in 0..5_usize,
        ) {
            let mut memory = memory_of(&totals);
            memory.categories = categories.iter().map(|bytes| category("c", bytes)).collect();
            memory.by_region = [columns[0].clone(), columns[1].clone(), columns[2].clone()];
            memory.always_live = columns[3].clone();
            memory.not_always_live_max = columns[4].clone();
            for which in [Breakdown::Region, Breakdown::Category, Breakdown::Liveness] {
                let parts = breakdown(&memory, which, most).unwrap_or_default();
                for (row, total) in totals.iter().enumerate() {
                    let cells: Vec<Option<u64>> =
                        parts.iter().map(|part| part.bytes[row]).collect();
                    let known: Option<u64> = cells.iter().copied().sum();
                    prop_assert!(
                        cells.iter().all(Option::is_none) || (known.is_some() && known == *total)
                    );
                }
                if which == Breakdown::Category {
                    prop_assert!(parts.len() <= most.max(1) + 1);
                }
            }
        }
    }
}
