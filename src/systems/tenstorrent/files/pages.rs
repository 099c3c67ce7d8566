//! What buffers really have on each core: `buffer_chunks`, or `buffer_pages` before schema 3.1.
//!
//! These are the largest tables of a report. Their rows are counted, and those of single operations are summed up.

use super::{known, rank_number};
use crate::format::Error;
use crate::format::sqlite::{Cells, Database, NumberedRows, ROW_ID, Tables};
use crate::limits;
use crate::store::Warnings;
use crate::systems::tenstorrent::recorded::{CorePages, PageTable, TtnnReport};

const COLUMNS: [&str; 6] = ["operation_id", "core_x", "core_y", "page_size", "num_pages", "rank"];
/// A row of `buffer_pages` is one page.
const COLUMNS_OF_PAGES: [&str; 5] = ["operation_id", "core_x", "core_y", "page_size", "rank"];
/// Cores of which something is known, at most.
const MOST_CORES_WITH_PAGES: usize = 1 << 20;

/// The table that has rows.
pub fn table(tables: &Tables<'_>) -> Option<PageTable> {
    let has_rows = |table: &str| tables.has_table(table) && !tables.is_empty(table);
    [PageTable::Chunks, PageTable::Pages].into_iter().find(|table| has_rows(table.word()))
}

/// The rows of each rank, by its place, and the sums of those of some operations: places of ranks with positions.
///
/// # Errors
/// When the database cannot be opened again.
pub fn read(
    database: &Database,
    tables: &Tables<'_>,
    report: &TtnnReport,
    wanted: &[(usize, u32)],
    warnings: &Warnings,
) -> Result<(Vec<u64>, Vec<CorePages>), Error> {
    let mut all = PageSums::of(report, wanted);
    if let Some(layout) = report.page_table.and_then(PageColumns::of) {
        let table = layout.table.word();
        let columns = known(tables, table, layout.columns, layout.rank);
        let read_part = |tables: &Tables<'_>, ids| {
            let mut part = PageSums::of(report, wanted);
            let rows = NumberedRows { ids, ..NumberedRows::all(table, columns, ROW_ID) };
            tables.rows(&rows, |cells| part.add(cells, &layout));
            part
        };
        let join = |part| all.join(part);
        database.read_in_parts(table, warnings, tables.progress, read_part, join)?;
    }
    let counts = all.rows_of_ranks.into_iter().map(|(_, rows)| rows).collect();
    Ok((counts, all.of_operations.into_iter().map(|of_operation| of_operation.pages).collect()))
}

/// The columns of one of the tables.
struct PageColumns {
    table: PageTable,
    columns: &'static [&'static str],
    /// That of the number of pages.
    count: Option<usize>,
    rank: usize,
}

impl PageColumns {
    /// `None` of what is no table of a database.
    fn of(table: PageTable) -> Option<Self> {
        match table {
            PageTable::Chunks => Some(Self { table, columns: &COLUMNS, count: Some(4), rank: 5 }),
            PageTable::Pages => {
                Some(Self { table, columns: &COLUMNS_OF_PAGES, count: None, rank: 4 })
            }
            PageTable::ByAddress => None,
        }
    }
}

/// What rows say so far.
struct PageSums {
    /// The numbers of ranks, ascending, with their rows.
    rows_of_ranks: Vec<(u64, u64)>,
    of_operations: Vec<PagesOfOperation>,
}

/// The sums of an operation.
struct PagesOfOperation {
    /// The place of its rank.
    rank: usize,
    id: Option<u64>,
    pages: CorePages,
}

impl PageSums {
    fn of(report: &TtnnReport, wanted: &[(usize, u32)]) -> Self {
        let of_operation = |(rank, at): &(usize, u32)| PagesOfOperation {
            rank: *rank,
            id: report.ranks.get(*rank).map(|rank| rank.operations.id(*at)),
            pages: CorePages::default(),
        };
        Self {
            rows_of_ranks: report.ranks.iter().map(|rank| (rank.rank, 0)).collect(),
            of_operations: wanted.iter().map(of_operation).collect(),
        }
    }

    fn add(&mut self, cells: &mut Cells<'_, '_>, columns: &PageColumns) {
        let Some(number) = rank_number(cells, columns.rank) else { return };
        let place = self.rows_of_ranks.binary_search_by_key(&number, |(rank, _)| *rank);
        let Ok(place) = place else { return };
        if let Some((_, rows)) = self.rows_of_ranks.get_mut(place) {
            *rows = rows.saturating_add(1);
        }
        let id = cells.number(0);
        let is_it = |of: &&mut PagesOfOperation| of.rank == place && id.is_some() && of.id == id;
        for of_operation in self.of_operations.iter_mut().filter(is_it) {
            let (Some(x), Some(y)) = (cells.required32(1), cells.required32(2)) else { return };
            let mut number = |column| cells.number_up_to(column, limits::ADDRESS).unwrap_or(0);
            let bytes = number(3).saturating_mul(columns.count.map_or(1, number));
            add_to_core(&mut of_operation.pages, (x, y), bytes);
        }
    }

    /// Takes in what the next part of the table says.
    fn join(&mut self, next: Self) {
        for ((_, rows), (_, more)) in self.rows_of_ranks.iter_mut().zip(next.rows_of_ranks) {
            *rows = rows.saturating_add(more);
        }
        for (of_operation, next) in self.of_operations.iter_mut().zip(next.of_operations) {
            for (core, bytes) in next.pages {
                add_to_core(&mut of_operation.pages, core, bytes);
            }
        }
    }
}

/// Adds bytes to what a core has, unless more cores are known than there can be.
pub fn add_to_core(pages: &mut CorePages, core: (u32, u32), bytes: u64) {
    if pages.len() < MOST_CORES_WITH_PAGES || pages.contains_key(&core) {
        let sum = pages.entry(core).or_default();
        *sum = sum.saturating_add(bytes);
    }
}
