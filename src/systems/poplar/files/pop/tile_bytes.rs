//! Bytes by tile, unlowered variable and class: the rows of `var_bytes_by_eq_class` that name a tile.

use std::io;
use std::ops::{Range, RangeInclusive};

use rayon::prelude::*;

use super::liveness::TOO_MANY_LIVES;
use crate::format::sqlite::Database;
use crate::format::sqlite::{NumberedRows, Only, ROW_ID, Tables};
use crate::format::{Error, Progress};
use crate::index::{ColumnSpace, Growing};
use crate::limits::Lives;
use crate::store::Warnings;
use crate::store::column::{Column, Element};
use crate::store::ids::{ClassId, TileId, UnloweredId};
use crate::store::liveness::{Classes, TileVariableBytes};

const TABLE: &str = "var_bytes_by_eq_class";
const COLUMNS: [&str; 4] = ["unlowered_var_id", "eq_class_id", "bytes", "tile"];

#[derive(Clone, Copy)]
struct TileBytesRow {
    tile: u32,
    variable: UnloweredId,
    class: ClassId,
    bytes: u32,
}

/// Reads the rows of all tiles, in parallel over ranges of row ids; `None` when the table cannot be
/// read, or the reading was canceled.
///
/// # Errors
/// When the profile cannot be opened again, or there is no room for the columns.
pub fn read_tile_variable_bytes(
    database: &Database,
    room: &ColumnSpace,
    classes: &Classes,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<TileVariableBytes>, Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_columns(TABLE, &COLUMNS) {
        return Ok(None);
    }
    let ranges: Vec<Option<RangeInclusive<i64>>> = match tables.row_ranges(TABLE) {
        ranges if ranges.len() < 2 => vec![None],
        ranges => ranges.into_iter().map(Some).collect(),
    };
    let parts = ranges.len();
    let no_room = |error: io::Error| database.no_room(&error);
    let mut all = JoinedRows::new(room).map_err(no_room)?;
    let mut is_there = false;
    // As many at a time as there are threads, so that no more than those are in memory twice.
    for ranges in ranges.chunks(rayon::current_num_threads().max(1)) {
        let chunks: Vec<Option<Vec<TileBytesRow>>> = ranges
            .par_iter()
            .map(|range| {
                let tables = database.tables(warnings, progress)?;
                Ok(read_chunk(&tables, classes, range.as_ref(), parts))
            })
            .collect::<Result<_, Error>>()?;
        for rows in chunks.into_iter().flatten() {
            all.add(&rows).map_err(no_room)?;
            is_there = true;
        }
        // A part of the rows would give wrong sums, so canceled is as good as absent.
        if progress.is_cancelled() {
            return Ok(None);
        }
    }
    if is_there { all.finish().map(Some).map_err(no_room) } else { Ok(None) }
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
    wanted: &[TileId],
    tiles: usize,
    always_live: &dyn Fn(TileId) -> Option<u64>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<TileVariableBytes>, Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_columns(TABLE, &COLUMNS) {
        return Ok(None);
    }
    let in_memory = ColumnSpace::default();
    let no_room = |error: io::Error| database.no_room(&error);
    let numbers: Vec<u32> = wanted.iter().map(|tile| tile.0).collect();
    if let Some(ranges) = tables.row_ranges_of_values((TABLE, "tile"), tiles, &numbers) {
        let rows = wanted.iter().zip(&ranges).map(|(tile, range)| {
            let mut of_tile = read_chunk(&tables, classes, Some(range), wanted.len())?;
            of_tile.retain(|row| row.tile == tile.0);
            let is_always_live = |row: &&TileBytesRow| {
                let class = classes.ids.position(row.class);
                class.is_some_and(|class| classes.always_live.get(class) == Some(&true))
            };
            let sum = of_tile.iter().filter(is_always_live).map(|row| u64::from(row.bytes)).sum();
            (always_live(*tile) == Some(sum)).then_some(of_tile)
        });
        if let Some(rows) = rows.collect::<Option<Vec<_>>>().filter(|_| !progress.is_cancelled()) {
            let mut all = JoinedRows::new(&in_memory).map_err(no_room)?;
            rows.iter().try_for_each(|rows| all.add(rows)).map_err(no_room)?;
            return all.finish().map(Some).map_err(no_room);
        }
    }
    read_tile_variable_bytes(database, &in_memory, classes, warnings, progress)
}

fn read_chunk(
    tables: &Tables<'_>,
    classes: &Classes,
    range: Option<&RangeInclusive<i64>>,
    parts: usize,
) -> Option<Vec<TileBytesRow>> {
    let (ids, only) = (range.cloned(), Some(Only::NotNull("tile")));
    let table_rows = NumberedRows { table: TABLE, columns: &COLUMNS, key: ROW_ID, ids, only };
    let mut lives = Lives::of_part(parts);
    let mut rows = Vec::new();
    let is_there = tables.rows(&table_rows, |cells| {
        let row =
            (cells.required32(0), cells.required32(1), cells.required32(2), cells.required32(3));
        let (Some(variable), Some(class), Some(bytes), Some(tile)) = row else { return };
        let class = ClassId(class);
        // Variables without a place have class 0, which eq_classes does not list, and 0 bytes.
        match classes.ids.position(class) {
            None if bytes > 0 => cells.damage(1, &format!("table eq_classes has no class {class}")),
            Some(position) if !lives.take(classes.ranges_of(position).len()) => {
                cells.damage(1, TOO_MANY_LIVES);
                return;
            }
            _ => {}
        }
        rows.push(TileBytesRow { tile, variable: UnloweredId(variable), class, bytes });
    });
    is_there.then_some(rows)
}

/// Rows put one after the other.
struct JoinedRows {
    variables: Growing<UnloweredId>,
    classes: Growing<ClassId>,
    bytes: Growing<u32>,
    /// Tiles, and where the rows of each end.
    ends: Vec<(u32, usize)>,
    rows: usize,
}

impl JoinedRows {
    fn new(room: &ColumnSpace) -> io::Result<Self> {
        let (variables, classes, bytes) = (room.column(0)?, room.column(0)?, room.column(0)?);
        Ok(Self { variables, classes, bytes, ends: Vec::new(), rows: 0 })
    }

    fn add(&mut self, rows: &[TileBytesRow]) -> io::Result<()> {
        const AT_A_TIME: usize = 1 << 16;
        for rows in rows.chunks(AT_A_TIME) {
            let variables: Vec<_> = rows.iter().map(|row| row.variable).collect();
            let classes: Vec<_> = rows.iter().map(|row| row.class).collect();
            let bytes: Vec<_> = rows.iter().map(|row| row.bytes).collect();
            self.variables.extend_from_slice(&variables)?;
            self.classes.extend_from_slice(&classes)?;
            self.bytes.extend_from_slice(&bytes)?;
        }
        for of_tile in rows.chunk_by(|a, b| a.tile == b.tile) {
            let Some(tile) = of_tile.first().map(|row| row.tile) else { continue };
            self.rows = self.rows.saturating_add(of_tile.len());
            match self.ends.last_mut() {
                // The tile of the rows before.
                Some((last, end)) if *last == tile => *end = self.rows,
                _ => self.ends.push((tile, self.rows)),
            }
        }
        Ok(())
    }

    /// The rows grouped by tile; those of a tile stay in the order of the file.
    fn finish(self) -> io::Result<TileVariableBytes> {
        let mut table = TileVariableBytes {
            variables: self.variables.finish()?,
            classes: self.classes.finish()?,
            bytes: self.bytes.finish()?,
            ..TileVariableBytes::default()
        };
        let mut start = 0;
        let ranges =
            self.ends.iter().map(|(tile, end)| (*tile, std::mem::replace(&mut start, *end)..*end));
        let mut runs: Vec<(u32, Range<usize>)> = ranges.collect();
        // Real reports need no sorting.
        if !runs.is_sorted_by_key(|(tile, _)| *tile) {
            runs.sort_by_key(|(tile, _)| *tile);
            table.variables = in_order(&table.variables, &runs);
            table.classes = in_order(&table.classes, &runs);
            table.bytes = in_order(&table.bytes, &runs);
        }
        let mut start = 0_usize;
        for (tile, rows) in runs {
            let end = start.saturating_add(rows.len());
            if table.tiles.push(TileId(tile)) {
                table.rows.push(start..end);
            } else if let Some(last) = table.rows.last_mut() {
                last.end = end;
            }
            start = end;
        }
        Ok(table)
    }
}

/// A column with its runs in another order.
fn in_order<T: Element>(column: &Column<T>, runs: &[(u32, Range<usize>)]) -> Column<T> {
    let mut sorted = Column::default();
    sorted.reserve_exact(column.len());
    for (_, rows) in runs {
        sorted.extend_from_slice(column.get(rows.clone()).unwrap_or(&[]));
    }
    sorted
}
