//! All figures that `memory_by_tile` and `memory_by_category` have of tiles, in groups.
//!
//! Each column is of all tiles or of some, added up. The not-overlapped bytes of the categories and
//! the bytes at overlapped addresses (without gaps − their sum) add up to the bytes without gaps; the
//! overlapped bytes of single categories count a byte once for each variable there and add up to more.
//! Categories that have nothing on any tile are left out.

use std::cmp::Reverse;
use std::ops::Range;

use crate::analysis::figures::joined::side_by_side;
use crate::analysis::memory::{
    CategoryBytes, TileTotals, category_on_tile, category_on_tiles, category_title, category_total,
    cell, totals, totals_of_rows,
};
use crate::store::TileId;
use crate::store::memory::{CategoryMemory, Region, TileMemory};
use crate::store::target::Target;

/// The name of the most bytes at any step that are not always live, each tile at its own step.
pub const NOT_ALWAYS_LIVE: &str = "Not always live, at most";

/// What figures belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileGroup {
    /// With gaps, gaps, without gaps.
    Whole,
    /// Without gaps, by memory region.
    Region,
    /// Gaps, by memory region.
    RegionGaps,
    /// Without gaps, by liveness.
    Liveness,
    /// By category, at addresses that one variable uses.
    NotOverlapped,
    /// By category, at addresses that several variables use.
    Overlapped,
}

/// A figure in each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailRow {
    pub group: TileGroup,
    /// Its name for people; `None` where it is that of the whole group.
    pub title: Option<String>,
    /// Bytes in each column.
    pub bytes: Vec<Option<u64>>,
}

/// The tiles of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileSet {
    All,
    /// Those in some rows of [`TileMemory::tiles`].
    Rows(Vec<Range<usize>>),
}

impl TileSet {
    fn totals(&self, memory: &TileMemory, target: Option<&Target>) -> TileTotals {
        match self {
            Self::All => totals(memory, target),
            Self::Rows(rows) => totals_of_rows(memory, target, rows.iter().cloned().flatten()),
        }
    }

    fn category(&self, memory: &TileMemory, category: &CategoryMemory) -> CategoryBytes {
        let tile = |row: usize| memory.tiles.get(row).unwrap_or(TileId(u32::MAX));
        match self {
            Self::All => category_total(category),
            Self::Rows(rows) => {
                category_on_tiles(category, rows.iter().cloned().flatten().map(tile))
            }
        }
    }
}

/// The figures, group by group; the first row of a group but [`TileGroup::Whole`] is that of the whole
/// group.
pub fn details(
    memory: &TileMemory,
    target: Option<&Target>,
    columns: &[TileSet],
) -> Vec<DetailRow> {
    let totals: Vec<TileTotals> =
        columns.iter().map(|tiles| tiles.totals(memory, target)).collect();
    let mut rows = Vec::new();
    let mut add = |group, title: Option<&str>, bytes: &dyn Fn(&TileTotals) -> Option<u64>| {
        let title = title.map(str::to_owned);
        rows.push(DetailRow { group, title, bytes: totals.iter().map(bytes).collect() });
    };
    add(TileGroup::Whole, Some("With gaps"), &|all| all.including_gaps_bytes);
    add(TileGroup::Whole, Some("Gaps"), &|all| all.gap_bytes);
    add(TileGroup::Whole, Some("Without gaps"), &|all| all.total_bytes);
    add(TileGroup::Region, None, &|all| all.total_bytes);
    for (index, region) in Region::ALL.into_iter().enumerate() {
        let of_region = |all: &TileTotals| all.by_region.get(index).copied().flatten();
        add(TileGroup::Region, Some(region.title()), &of_region);
    }
    if totals.iter().any(|all| all.gaps_by_region.iter().any(Option::is_some)) {
        add(TileGroup::RegionGaps, None, &|all| all.gap_bytes);
        for (index, region) in Region::ALL.into_iter().enumerate() {
            let of_region = |all: &TileTotals| all.gaps_by_region.get(index).copied().flatten();
            add(TileGroup::RegionGaps, Some(region.title()), &of_region);
        }
    }
    add(TileGroup::Liveness, None, &|all| all.total_bytes);
    add(TileGroup::Liveness, Some("Always live"), &|all| all.always_live_bytes);
    add(TileGroup::Liveness, Some(NOT_ALWAYS_LIVE), &|all| all.not_always_live_max_bytes);
    let not_explained = "Not explained by liveness";
    add(TileGroup::Liveness, Some(not_explained), &|all| all.not_explained_bytes);
    rows.extend(by_category(memory, columns, &totals));
    rows
}

/// The key of the bytes at addresses that several variables use, in place of a category.
pub const OVERLAPPED: &str = "overlapped";

/// The bytes of a tile by category, at addresses that one variable uses, the most first, and last those that
/// several do ([`OVERLAPPED`]); together they are its bytes without gaps. Nothing where a category is not known.
pub fn categories_of_tile(memory: &TileMemory, row: usize) -> Vec<(&str, u64)> {
    let Some((tile, all)) = memory.tiles.get(row).zip(cell(&memory.total, row)) else {
        return Vec::new();
    };
    let of_category = |category| category_on_tile(category, tile).not_overlapped;
    let named = memory.categories.iter().map(|it| Some((&*it.name, of_category(it)?)));
    let mut parts: Vec<(&str, u64)> = named.collect::<Option<_>>().unwrap_or_default();
    parts.sort_by_key(|(_, bytes)| Reverse(*bytes));
    if !parts.is_empty() {
        let own = parts.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        parts.push((OVERLAPPED, all.saturating_sub(own)));
    }
    parts.retain(|(_, bytes)| *bytes > 0);
    parts
}

/// A report whose figures have columns.
#[derive(Clone, Debug)]
pub struct DetailColumns<'a> {
    pub memory: &'a TileMemory,
    pub target: Option<&'a Target>,
    pub columns: Vec<TileSet>,
}

/// The figures of several reports, which all have as many columns, each for its own tiles: every column
/// has its bytes in the first report, then in the second, and so on. A category that a report does not
/// have is nothing there.
pub fn details_of_all(reports: &[DetailColumns<'_>]) -> Vec<DetailRow> {
    let of_report = |report: &DetailColumns<'_>| {
        let rows = details(report.memory, report.target, &report.columns);
        rows.into_iter().map(|row| ((row.group, row.title.clone()), row)).collect()
    };
    let join = |rows: Vec<Option<DetailRow>>| {
        let first = rows.iter().flatten().next()?;
        let is_category = matches!(first.group, TileGroup::NotOverlapped | TileGroup::Overlapped);
        let cell =
            |(row, report): (&Option<DetailRow>, &DetailColumns<'_>), column: usize| match row {
                Some(row) => row.bytes.get(column).copied().flatten(),
                None => (is_category && !report.memory.categories.is_empty()).then_some(0),
            };
        let count = reports.iter().map(|report| report.columns.len()).max().unwrap_or(0);
        let cells = |column: usize| rows.iter().zip(reports).map(move |row| cell(row, column));
        let bytes = (0..count).flat_map(cells).collect();
        Some(DetailRow { group: first.group, title: first.title.clone(), bytes })
    };
    let rows = side_by_side(reports.iter().map(of_report).collect());
    let mut rows: Vec<DetailRow> = rows.into_iter().filter_map(join).collect();
    rows.sort_by_key(|row| row.group);
    rows
}

fn by_category(memory: &TileMemory, columns: &[TileSet], totals: &[TileTotals]) -> Vec<DetailRow> {
    if memory.categories.is_empty() {
        return Vec::new();
    }
    let of_category = |category: &CategoryMemory| {
        let bytes = columns.iter().map(|tiles| tiles.category(memory, category));
        (category_title(&category.name), category_total(category), bytes.collect())
    };
    let categories: Vec<(String, CategoryBytes, Vec<CategoryBytes>)> =
        memory.categories.iter().map(of_category).collect();
    let not_overlapped = |column: usize| {
        categories.iter().try_fold(0_u64, |sum, (_, _, bytes)| {
            Some(sum.saturating_add(bytes.get(column)?.not_overlapped?))
        })
    };
    let sums: Vec<Option<u64>> = (0..columns.len()).map(not_overlapped).collect();
    let rest = |(sum, all): (&Option<u64>, &TileTotals)| all.total_bytes?.checked_sub((*sum)?);
    let rests = sums.iter().zip(totals).map(rest).collect();

    let mut rows = Vec::new();
    for (group, whole, is_overlapped) in
        [(TileGroup::NotOverlapped, sums.clone(), false), (TileGroup::Overlapped, rests, true)]
    {
        let pick = |bytes: &CategoryBytes| {
            if is_overlapped { bytes.overlapped } else { bytes.not_overlapped }
        };
        rows.push(DetailRow { group, title: None, bytes: whole });
        for (title, all, bytes) in &categories {
            if pick(all) != Some(0) {
                let bytes = bytes.iter().map(pick).collect();
                rows.push(DetailRow { group, title: Some(title.clone()), bytes });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;

    fn memory() -> TileMemory {
        let mut memory = fixture::memory([(0, Some(12)), (1, Some(22)), (3, Some(32))]);
        for bytes in [10, 20, 30] {
            memory.total.push(Some(bytes));
            memory.always_live.push(Some(4));
            memory.not_always_live_max.push(Some(5));
            for region in &mut memory.by_region {
                region.push(Some(bytes / 3));
            }
        }
        for (name, bytes) in [("stack", 3), ("nothing", 0)] {
            memory.categories.push(fixture::category(name, &[bytes; 4], &[bytes * 2; 4]));
        }
        memory
    }

    #[test]
    fn groups_have_the_figures_of_their_columns() {
        let memory = memory();
        let columns = [TileSet::All, TileSet::Rows(vec![0..1, 2..3]), TileSet::Rows(vec![1..2])];
        let rows = details(&memory, None, &columns);
        let find = |group, title: Option<&str>| {
            let row = rows.iter().find(|row| row.group == group && row.title.as_deref() == title);
            row.map(|row| row.bytes.clone())
        };
        let bytes = |bytes: [u64; 3]| Some(bytes.map(Some).to_vec());
        assert_eq!(find(TileGroup::Whole, Some("With gaps")), bytes([66, 44, 22]));
        assert_eq!(find(TileGroup::Whole, Some("Gaps")), bytes([6, 4, 2]));
        assert_eq!(find(TileGroup::Region, Some("Interleaved")), bytes([19, 13, 6]));
        assert_eq!(
            find(TileGroup::Liveness, Some("Not explained by liveness")),
            bytes([33, 22, 11])
        );
        let stack = find(TileGroup::NotOverlapped, Some("Stack"));
        assert_eq!(stack, Some(vec![Some(12), Some(6), Some(3)]));
        assert_eq!(find(TileGroup::Overlapped, None), Some(vec![Some(48), Some(34), Some(17)]));
        assert_eq!(find(TileGroup::NotOverlapped, Some("Nothing")), None);
        assert!(details(&TileMemory::default(), None, &columns[..1]).len() > 3);
    }

    #[test]
    fn gaps_are_those_of_each_region() {
        let mut memory = memory();
        // A report without these columns has no such group.
        let rows = details(&memory, None, &[TileSet::All]);
        assert!(rows.iter().all(|row| row.group != TileGroup::RegionGaps));
        for (region, gap) in memory.including_gaps_by_region.iter_mut().zip([2, 0, 1]) {
            *region = [10, 20, 30].map(|bytes| Some(bytes / 3 + gap)).to_vec();
        }
        let rows = details(&memory, None, &[TileSet::All, TileSet::Rows(vec![0..1])]);
        let gaps: Vec<_> = rows.iter().filter(|row| row.group == TileGroup::RegionGaps).collect();
        let bytes: Vec<_> = gaps.iter().map(|row| [row.bytes[0], row.bytes[1]]).collect();
        assert_eq!(bytes, [[6, 2], [6, 2], [0, 0], [3, 1]].map(|bytes: [u64; 2]| bytes.map(Some)));
        assert_eq!(gaps[1].title.as_deref(), Some("Non-interleaved"));
    }

    #[test]
    fn reports_share_their_rows() {
        let (source, mut target) = (memory(), memory());
        target.total[0] = Some(15);
        let mut message = fixture::category("message", &[1; 4], &[0; 4]);
        message.not_overlapped = std::array::from_fn(|_| Some(vec![1; 4]));
        target.categories.push(message);
        let columns = [TileSet::All, TileSet::Rows(vec![0..1])];
        let of = |source, target| {
            let report = |memory| DetailColumns { memory, target: None, columns: columns.to_vec() };
            details_of_all(&[source, target].map(report))
        };
        let rows = of(&source, &target);
        assert!(rows.is_sorted_by_key(|row| row.group));
        let find = |rows: &[DetailRow], group, title: &str| {
            let row =
                rows.iter().find(|row| row.group == group && row.title.as_deref() == Some(title));
            row.map(|row| row.bytes.clone())
        };
        let bytes = find(&rows, TileGroup::Whole, "Without gaps");
        assert_eq!(bytes, Some([60, 65, 10, 15].map(Some).to_vec()));
        let bytes = find(&rows, TileGroup::NotOverlapped, "Message");
        assert_eq!(bytes, Some([0, 12, 0, 3].map(Some).to_vec()));
        assert_eq!(find(&rows, TileGroup::Overlapped, "Message"), None);
        let mut without = memory();
        without.categories.clear();
        let bytes = find(&of(&without, &target), TileGroup::NotOverlapped, "Message");
        assert_eq!(bytes, Some(vec![None, Some(12), None, Some(3)]));
    }
}
