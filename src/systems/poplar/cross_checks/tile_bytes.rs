//! The bytes of a tile as its lowered variables have them, by region and by category, with the tables that sum them up.

use super::differences::Differences;
use crate::analysis::memory::cell;
use crate::analysis::placement::recompute::CategorySums;
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};

/// Ids of categories are bytes in the column.
pub const CATEGORIES: usize = 256;

/// The bytes of a tile as its variables have them.
pub struct TileBytes<'a> {
    pub total: u64,
    pub end: u64,
    pub by_region: [u64; 3],
    pub of_category: &'a dyn Fn(u32) -> CategorySums,
}

/// The columns of a tile's bytes in each region.
pub const REGIONS: [&str; 3] = [
    "table memory_by_tile, column non_interleaved",
    "table memory_by_tile, column interleaved",
    "table memory_by_tile, column overflowed",
];
const NOT_OVERLAPPED: [&str; 3] = [
    "table memory_by_category, column non_interleaved_non_overlapped",
    "table memory_by_category, column interleaved_non_overlapped",
    "table memory_by_category, column overflowed_non_overlapped",
];
const OVERLAPPED: [&str; 3] = [
    "table memory_by_category, column non_interleaved_overlapped",
    "table memory_by_category, column interleaved_overlapped",
    "table memory_by_category, column overflowed_overlapped",
];

/// A category by the number that variables have of it, with its place in `memory_by_category` if that has it.
pub struct KnownCategory<'a> {
    id: u32,
    name: &'a str,
    place: Option<usize>,
}

/// The categories whose bytes are compared; none where `memory_by_category` cannot be read.
pub fn known_categories(report: &Report) -> Vec<KnownCategory<'_>> {
    let (Some(memory), Some(known)) = (report.memory.get(), report.categories.get()) else {
        return Vec::new();
    };
    if memory.categories.is_empty() {
        return Vec::new();
    }
    let all = known.ids.as_slice().iter().zip(known.names.iter()).take(CATEGORIES);
    all.map(|(id, name)| {
        let place = memory.categories.iter().position(|category| category.name == name);
        KnownCategory { id: id.0, name, place }
    })
    .collect()
}

/// Compares the bytes of a tile with its row in `memory_by_tile` and with `memory_by_category`.
pub fn compare_bytes(
    memory: &TileMemory,
    categories: &[KnownCategory<'_>],
    row: usize,
    tile: TileId,
    bytes: &TileBytes<'_>,
    differences: &mut Differences,
) {
    const BY: &str = "vars_info";
    let place = || format!(", tile {tile}");
    let kind = ("table memory_by_tile, column total", BY);
    differences.compare(kind, place, cell(&memory.total, row), bytes.total);
    let kind = ("table memory_by_tile, column total_including_gaps", BY);
    differences.compare(kind, place, cell(&memory.including_gaps, row), bytes.end);
    for ((column, what), expected) in memory.by_region.iter().zip(REGIONS).zip(bytes.by_region) {
        differences.compare((what, BY), place, cell(column, row), expected);
    }
    for KnownCategory { id, name, place } in categories {
        let sums = (bytes.of_category)(*id);
        let category = place.and_then(|place| memory.categories.get(place));
        let place = || format!(", tile {tile}, category {name}");
        let Some(category) = category else {
            let bytes = sums.not_overlapped.iter().chain(&sums.overlapped);
            let bytes = bytes.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
            differences.compare(("table memory_by_category", BY), place, 0, bytes);
            continue;
        };
        for (lists, kinds, sums) in [
            (&category.not_overlapped, NOT_OVERLAPPED, sums.not_overlapped),
            (&category.overlapped, OVERLAPPED, sums.overlapped),
        ] {
            for ((list, what), expected) in lists.iter().zip(kinds).zip(sums) {
                let found = list.as_ref().and_then(|list| list.get(tile.0 as usize).copied());
                differences.compare((what, BY), place, found, expected);
            }
        }
    }
}
