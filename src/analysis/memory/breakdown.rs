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

use crate::store::memory::{Region, TileColumn, TileMemory};

use crate::analysis::memory::{category_on_tile, category_title, cell, sum};

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

#[cfg(test)]
pub(crate) fn breakdown(
    memory: &TileMemory,
    which: Breakdown,
    most_categories: usize,
) -> Option<Vec<MemoryPart>> {
    breakdowns(&[memory], which, most_categories)?.pop()
}

/// The parts of every tile of several reports, in the order in which they are stacked: categories largest first, the
/// rest last. All reports have the same parts in the same order, which is by the sums of their bytes. With more than
/// `most_categories` categories the smallest count together as "Other categories", so that at most that many parts stand
/// before the overlapped one. `None` where no tile's parts of one of them are known.
pub fn breakdowns(
    memories: &[&TileMemory],
    which: Breakdown,
    most_categories: usize,
) -> Option<Vec<Vec<MemoryPart>>> {
    let divide = |memory: &&TileMemory| match which {
        Breakdown::Region => by_region(memory),
        Breakdown::Category => by_category(memory),
        Breakdown::Liveness => by_liveness(memory),
    };
    let mut divided: Vec<_> = memories.iter().map(divide).collect();
    for (memory, (parts, rest)) in memories.iter().zip(&mut divided) {
        if which == Breakdown::Category && memory.categories.is_empty() {
            return None;
        }
        rest.bytes = close(memory, parts);
        if rest.bytes.iter().all(Option::is_none) {
            return None;
        }
        for part in parts.iter_mut().chain([rest]) {
            part.total = sum(&part.bytes);
        }
    }
    if which == Breakdown::Category {
        same_order(&mut divided);
        for (parts, _) in &mut divided {
            fold(parts, most_categories);
        }
    }
    // That the regions are all there is, is so in every report that was seen.
    let has_rest = which != Breakdown::Region || divided.iter().any(|(_, rest)| !rest.is_empty());
    let whole = |(mut parts, rest): (Vec<MemoryPart>, MemoryPart)| {
        parts.extend(has_rest.then_some(rest));
        parts
    };
    Some(divided.into_iter().map(whole).collect())
}

/// Gives all the same categories, largest first, without those that have no byte anywhere.
fn same_order(divided: &mut [(Vec<MemoryPart>, MemoryPart)]) {
    let mut order: Vec<(String, String, u64)> = Vec::new();
    for part in divided.iter().flat_map(|(parts, _)| parts).filter(|part| !part.is_empty()) {
        match order.iter_mut().find(|(key, ..)| *key == part.key) {
            Some((.., known)) => *known = known.saturating_add(part.known()),
            None => order.push((part.key.clone(), part.title.clone(), part.known())),
        }
    }
    order.sort_by_key(|(.., known)| std::cmp::Reverse(*known));
    for (parts, rest) in divided {
        let mut ordered = Vec::with_capacity(order.len());
        for (key, title, _) in &order {
            let place = parts.iter().position(|part| part.key == *key);
            // Of a tile whose parts are known, one that the report does not have is nothing.
            let nothing = || rest.bytes.iter().map(|rest| rest.map(|_| 0)).collect();
            ordered.push(place.map_or_else(
                || MemoryPart::new(title.as_str(), key.as_str(), nothing()),
                |place| parts.swap_remove(place),
            ));
        }
        *parts = ordered;
    }
}

fn by_region(memory: &TileMemory) -> (Vec<MemoryPart>, MemoryPart) {
    let regions = Region::ALL.into_iter().zip(&memory.by_region);
    let parts = regions
        .map(|(region, bytes)| MemoryPart::new(region.title(), region.key(), bytes.clone()))
        .collect();
    (parts, MemoryPart::new("Not in a region", "not_in_region", Vec::new()))
}

fn by_category(memory: &TileMemory) -> (Vec<MemoryPart>, MemoryPart) {
    let mut parts: Vec<MemoryPart> = Vec::new();
    for category in &memory.categories {
        let tiles = memory.tiles.as_slice().iter();
        let bytes = tiles.map(|tile| category_on_tile(category, *tile).not_overlapped);
        // A name that comes twice, as in a damaged file, is one category.
        match parts.iter_mut().find(|part| part.key == category.name) {
            Some(part) => {
                for (sum, more) in part.bytes.iter_mut().zip(bytes) {
                    *sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more));
                }
            }
            None => {
                let title = category_title(&category.name);
                parts.push(MemoryPart::new(title, category.name.as_str(), bytes.collect()));
            }
        }
    }
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
    use crate::analysis::fixture;
    use crate::store::memory::CategoryMemory;
    use proptest::prelude::*;

    fn memory_of(totals: &[Option<u64>]) -> TileMemory {
        let tiles = fixture::memory((0..).zip(totals.iter().copied()));
        TileMemory { total: totals.to_vec(), ..tiles }
    }

    fn category(name: &str, bytes: &[u64]) -> CategoryMemory {
        fixture::category(name, bytes, &[])
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

    #[test]
    fn two_reports_have_the_same_parts_in_the_same_order() {
        let (mut source, mut target) = (memory_of(&[Some(20)]), memory_of(&[Some(30), None]));
        source.categories = vec![category("stack", &[3]), category("variable", &[9])];
        target.categories = vec![
            category("nothing", &[0, 0]),
            category("variable", &[1, 1]),
            category("stack", &[12, 1]),
            category("message", &[4, 1]),
        ];
        let both = |most| {
            let parts = breakdowns(&[&source, &target], Breakdown::Category, most);
            <[Vec<MemoryPart>; 2]>::try_from(parts.expect("parts")).expect("two")
        };
        let [of_source, of_target] = both(9);
        assert_eq!(keys(&of_source), ["stack", "variable", "message", "overlapped"]);
        assert_eq!(keys(&of_target), keys(&of_source));
        assert_eq!((&of_source[2].bytes[..], of_source[2].total), (&[Some(0)][..], Some(0)));
        assert_eq!((of_source[3].total, &of_target[3].bytes[..]), (Some(8), &[Some(13), None][..]));
        let [of_source, of_target] = both(2);
        assert_eq!(keys(&of_source), ["stack", "other_categories", "overlapped"]);
        assert_eq!((of_source[1].total, of_target[1].bytes[0]), (Some(9), Some(5)));
        let without = memory_of(&[Some(20)]);
        assert_eq!(breakdowns(&[&source, &without], Breakdown::Category, 9), None);
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
