//! Lists of a number by tile, and those of cycles, which are kept by IPU (formats/poplar.md 2.3).

use std::collections::HashMap;

use crate::format::sqlite::{Cells, NumberedRows, ROW_ID, Tables};
use crate::store::tile_list::TileList;
use crate::store::{Report, WarningCode};
use crate::systems::poplar::files::blob::{self, BlobError};

/// Runs of equal numbers: on how many tiles, and the number.
type EqualRuns = Vec<(u32, u64)>;

/// How many numbers lists have.
#[derive(Clone, Copy, Debug)]
pub struct ListSizes {
    tiles: usize,
    tiles_per_ipu: usize,
}

impl ListSizes {
    /// By the target, or without one by the rows of `memory_by_tile`; `None` when neither is there.
    pub fn of(report: &Report) -> Option<Self> {
        let target = report.target.get();
        let rows = || report.memory.get().map(|memory| memory.tiles.len());
        // So that positions fit in 32 bits.
        let size =
            |tiles: u64| u32::try_from(tiles).ok().and_then(|size| usize::try_from(size).ok());
        let tiles = target.and_then(|target| size(target.tiles?)).or_else(rows)?;
        let per_ipu = target.and_then(|target| size(target.tiles_per_device?));
        Some(Self { tiles, tiles_per_ipu: per_ipu.unwrap_or(tiles).min(tiles) })
    }

    pub fn run_length(self, blob: &[u8]) -> Result<TileList, BlobError> {
        run_length(blob, self.tiles).map(TileList::from_runs)
    }

    pub fn run_length_of_ipu(self, blob: &[u8]) -> Result<TileList, BlobError> {
        run_length(blob, self.tiles_per_ipu).map(TileList::from_runs)
    }

    pub fn plain(self, blob: &[u8]) -> Result<TileList, BlobError> {
        plain(blob, self.tiles).map(TileList::from_runs)
    }

    /// A list whose encoding was never seen: run-length, as most are, or else plain.
    pub fn either(self, blob: &[u8]) -> Result<TileList, BlobError> {
        self.run_length(blob).or_else(|error| self.plain(blob).map_err(|_| error))
    }
}

fn run_length(blob: &[u8], expected: usize) -> Result<EqualRuns, BlobError> {
    let mut runs = EqualRuns::new();
    blob::run_length_runs_of(blob, expected, |count, value| {
        runs.push((u32::try_from(count).unwrap_or(u32::MAX), value));
    })?;
    Ok(runs)
}

fn plain(blob: &[u8], expected: usize) -> Result<EqualRuns, BlobError> {
    Ok(blob::list_of(blob, expected)?.into_iter().map(|value| (1, value)).collect())
}

/// The cycles that the compiler knows or estimates (`compilation_cycles_by_tile`).
pub struct Cycles {
    /// How many numbers lists have.
    pub sizes: ListSizes,
    /// By id, one number for each tile of an IPU; `None` where the list could not be decoded.
    by_id: HashMap<u64, Option<TileList>>,
}

impl Cycles {
    pub fn read(tables: &Tables<'_>, sizes: ListSizes) -> Self {
        let mut by_id = HashMap::new();
        let columns = ["id", "cycles_by_tile_rle"];
        tables.rows(&NumberedRows::all("compilation_cycles_by_tile", &columns, ROW_ID), |cells| {
            let Some(id) = cells.required(0) else { return };
            let list = cells.decode(1, |blob| sizes.run_length_of_ipu(blob));
            by_id.insert(id, list);
        });
        Self { sizes, by_id }
    }

    /// The column of a table that has cycles, of two: the ids by IPU, or, with a warning, the lists
    /// that took their place before SDK 3.2.
    pub fn column<'c>(tables: &Tables<'_>, table: &str, ids: &'c str, lists: &'c str) -> &'c str {
        if tables.has_column(table, ids) || !tables.has_column(table, lists) {
            return ids;
        }
        let message = format!("table {table} has no column {ids}; the older {lists} is read");
        tables.warn(WarningCode::Inconsistent, message);
        lists
    }

    /// The cycles by tile of a cell; `is_ids` tells which of the two columns it is of. `None` where
    /// the cell is NULL.
    pub fn decode(
        &self,
        cells: &mut Cells<'_, '_>,
        column: usize,
        is_ids: bool,
    ) -> Option<TileList> {
        if !is_ids {
            return cells.decode(column, |blob| self.sizes.either(blob));
        }
        let ids = cells.decode(column, blob::list)?;
        let found = ids.len().saturating_mul(self.sizes.tiles_per_ipu);
        if found != self.sizes.tiles {
            cells.damage(column, &format!("one id for each IPU expected, {} found", ids.len()));
            return None;
        }
        let per_ipu = u32::try_from(self.sizes.tiles_per_ipu).unwrap_or(u32::MAX);
        let mut runs = EqualRuns::new();
        for id in &ids {
            match self.by_id.get(id) {
                Some(list) => {
                    let list = list.as_ref()?;
                    list.runs_in(0..list.len(), |count, value| runs.push((count, value)));
                }
                // An IPU that has no part in it has the id 0 without a list.
                None if *id == 0 && ids.iter().any(|id| self.by_id.contains_key(id)) => {
                    runs.push((per_ipu, 0));
                }
                None => {
                    let message = format!("table compilation_cycles_by_tile has no list {id}");
                    cells.damage(column, &message);
                    return None;
                }
            }
        }
        Some(TileList::from_runs(runs))
    }
}
