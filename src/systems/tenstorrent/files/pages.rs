//! What buffers really have on each core: `buffer_chunks`, or `buffer_pages` before schema 3.1.
//!
//! These are the largest tables of a report. Their rows are counted, and those of single operations are summed up.

use super::{known, rank_number};
use crate::format::sqlite::{NumberedRows, ROW_ID, Tables};
use crate::limits;
use crate::store::names::FastMap;
use crate::systems::tenstorrent::recorded::{CorePages, TtnnReport};

/// The tables, the newer one first.
const TABLES: [&str; 2] = ["buffer_chunks", "buffer_pages"];
const COLUMNS: [&str; 6] = ["operation_id", "core_x", "core_y", "page_size", "num_pages", "rank"];
/// A row of `buffer_pages` is one page.
const COLUMNS_OF_PAGES: [&str; 5] = ["operation_id", "core_x", "core_y", "page_size", "rank"];
/// Cores of which something is known, at most.
pub const MOST_CORES_WITH_PAGES: usize = 1 << 20;

/// The table that has rows.
pub fn table(tables: &Tables<'_>) -> Option<&'static str> {
    TABLES.into_iter().find(|table| tables.has_table(table) && !tables.is_empty(table))
}

/// The rows of each rank, by its place, and the sums of those of some operations: places of ranks with positions.
pub fn read(
    tables: &Tables<'_>,
    report: &TtnnReport,
    wanted: &[(usize, u32)],
) -> (Vec<u64>, Vec<CorePages>) {
    let mut found: Vec<CorePages> = wanted.iter().map(|_| CorePages::default()).collect();
    let mut counts = vec![0_u64; report.ranks.len()];
    let Some(table) = report.page_table else { return (counts, found) };
    let is_pages = table == "buffer_pages";
    let (columns, rank_column): (&[&str], usize) =
        if is_pages { (&COLUMNS_OF_PAGES, 4) } else { (&COLUMNS, 5) };
    let columns = known(tables, table, columns, rank_column);
    let wanted: Vec<(u64, u64)> = wanted
        .iter()
        .filter_map(|(place, at)| {
            let rank = report.ranks.get(*place)?;
            Some((rank.rank, rank.operations.id(*at)))
        })
        .collect();
    let places: FastMap<u64, usize> = report.ranks.iter().map(|rank| rank.rank).zip(0..).collect();
    tables.rows(&NumberedRows::all(table, columns, ROW_ID), |cells| {
        let number = rank_number(cells, rank_column);
        let place = number.and_then(|number| places.get(&number));
        let (Some(number), Some(count)) = (number, place.and_then(|at| counts.get_mut(*at))) else {
            return;
        };
        *count = count.saturating_add(1);
        let Some(id) = cells.number(0) else { return };
        for (_, pages) in wanted.iter().zip(&mut found).filter(|(of, _)| **of == (number, id)) {
            let (Some(x), Some(y)) = (cells.required32(1), cells.required32(2)) else { return };
            let size = cells.number_up_to(3, limits::ADDRESS).unwrap_or(0);
            let count =
                if is_pages { 1 } else { cells.number_up_to(4, limits::ADDRESS).unwrap_or(0) };
            if pages.len() >= MOST_CORES_WITH_PAGES && !pages.contains_key(&(x, y)) {
                continue;
            }
            let bytes = pages.entry((x, y)).or_default();
            *bytes = bytes.saturating_add(size.saturating_mul(count));
        }
    });
    (counts, found)
}
