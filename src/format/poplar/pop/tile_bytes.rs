//! Bytes by tile, unlowered variable and class: the rows of `var_bytes_by_eq_class` that name a tile.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use crate::format::poplar::database::Database;
use crate::format::poplar::table::{Only, ROW_ID, Rows, Tables};
use crate::format::{Error, Progress};
use crate::store::Warnings;
use crate::store::ids::{ClassId, IdColumn, TileId, UnloweredId};
use crate::store::liveness::{Classes, TileVariableBytes};

const TABLE: &str = "var_bytes_by_eq_class";
const COLUMNS: [&str; 4] = ["unlowered_var_id", "eq_class_id", "bytes", "tile"];

#[derive(Clone, Copy)]
struct Row {
    tile: u32,
    variable: UnloweredId,
    class: ClassId,
    bytes: u32,
}

/// Reads the rows of all tiles, in parallel over ranges of row ids; `None` when the table cannot be
/// read, or the reading was cancelled.
///
/// # Errors
/// When the profile cannot be opened again.
pub fn read_tile_variable_bytes(
    database: &Database,
    classes: &Classes,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<TileVariableBytes>, Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_columns(TABLE, &COLUMNS) {
        return Ok(None);
    }
    let ranges = tables.row_ranges(TABLE);
    let chunks: Vec<Option<Vec<Row>>> = if ranges.len() < 2 {
        vec![read_chunk(&tables, classes, None)]
    } else {
        ranges
            .into_par_iter()
            .map(|range| {
                let tables = database.tables(warnings, progress)?;
                Ok(read_chunk(&tables, classes, Some(&range)))
            })
            .collect::<Result<_, Error>>()?
    };
    // A part of the rows would give wrong sums, so cancelled is as good as absent.
    if progress.is_cancelled() || chunks.iter().all(Option::is_none) {
        return Ok(None);
    }
    Ok(Some(group(chunks.into_iter().flatten().collect())))
}

/// Reads the rows of some of `tiles` tiles, from where they lie; of all where that cannot be told, or where the
/// rows of a tile do not add up to the always-live bytes that `always_live` knows of it. `None` as
/// [`read_tile_variable_bytes`].
///
/// # Errors
/// When the profile cannot be opened again.
pub fn read_bytes_of_tiles(
    database: &Database,
    classes: &Classes,
    (wanted, tiles): (&[TileId], usize),
    always_live: &dyn Fn(TileId) -> Option<u64>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<TileVariableBytes>, Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_columns(TABLE, &COLUMNS) {
        return Ok(None);
    }
    let numbers: Vec<u32> = wanted.iter().map(|tile| tile.0).collect();
    if let Some(ranges) = tables.row_ranges_of_tiles(TABLE, tiles, &numbers) {
        let rows = wanted.iter().zip(&ranges).map(|(tile, range)| {
            let mut of_tile = read_chunk(&tables, classes, Some(range))?;
            of_tile.retain(|row| row.tile == tile.0);
            let is_always_live = |row: &&Row| {
                let class = classes.ids.position(row.class);
                class.is_some_and(|class| classes.always_live.get(class) == Some(&true))
            };
            let sum = of_tile.iter().filter(is_always_live).map(|row| u64::from(row.bytes)).sum();
            (always_live(*tile) == Some(sum)).then_some(of_tile)
        });
        if let Some(rows) = rows.collect::<Option<Vec<_>>>().filter(|_| !progress.is_cancelled()) {
            return Ok(Some(group(rows)));
        }
    }
    read_tile_variable_bytes(database, classes, warnings, progress)
}

fn read_chunk(
    tables: &Tables<'_>,
    classes: &Classes,
    range: Option<&RangeInclusive<i64>>,
) -> Option<Vec<Row>> {
    let (ids, only) = (range.cloned(), Some(Only::NotNull("tile")));
    let table_rows = Rows { table: TABLE, columns: &COLUMNS, key: ROW_ID, ids, only };
    let mut rows = Vec::new();
    let is_there = tables.rows(&table_rows, |cells| {
        let row =
            (cells.required32(0), cells.required32(1), cells.required32(2), cells.required32(3));
        let (Some(variable), Some(class), Some(bytes), Some(tile)) = row else { return };
        let class = ClassId(class);
        // Variables without a place have class 0, which eq_classes does not list, and 0 bytes.
        if bytes > 0 && classes.ids.position(class).is_none() {
            cells.damage(1, &format!("table eq_classes has no class {class}"));
        }
        rows.push(Row { tile, variable: UnloweredId(variable), class, bytes });
    });
    is_there.then_some(rows)
}

/// Puts the chunks one after the other and groups their rows by tile.
fn group(mut chunks: Vec<Vec<Row>>) -> TileVariableBytes {
    // Stable, so that the rows of a tile stay in the order of the file. Real reports need no sorting.
    if !chunks.iter().flatten().is_sorted_by_key(|row| row.tile) {
        let mut rows = chunks.concat();
        rows.par_sort_by_key(|row| row.tile);
        chunks = vec![rows];
    }
    let rows = chunks.iter().fold(0_usize, |sum, chunk| sum.saturating_add(chunk.len()));
    let mut table = TileVariableBytes {
        variables: Vec::with_capacity(rows),
        classes: Vec::with_capacity(rows),
        bytes: Vec::with_capacity(rows),
        tiles: IdColumn::default(),
        rows: Vec::new(),
    };
    // A chunk goes once it is taken over, so that rows are not in memory twice.
    for chunk in chunks {
        for of_tile in chunk.chunk_by(|a, b| a.tile == b.tile) {
            let start = table.bytes.len();
            table.variables.extend(of_tile.iter().map(|row| row.variable));
            table.classes.extend(of_tile.iter().map(|row| row.class));
            table.bytes.extend(of_tile.iter().map(|row| row.bytes));
            let end = table.bytes.len();
            let Some(tile) = of_tile.first().map(|row| TileId(row.tile)) else { continue };
            if table.tiles.push(tile) {
                table.rows.push(start..end);
            } else if let Some(last) = table.rows.last_mut() {
                // The tile of the chunk before.
                last.end = end;
            }
        }
    }
    table
}
