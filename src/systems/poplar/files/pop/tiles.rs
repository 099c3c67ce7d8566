//! All tiles' lowered variables (`vars_info`), read by several threads, each tile as a whole.
//!
//! Rows of a tile lie together in every real report, so ranges of `var_id` that begin where a tile
//! begins hold whole tiles. Where a tile comes twice all the same, everything is read again in one
//! scan that sorts.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::variables::{TileReader, id_ranges};
use crate::format::sqlite::Database;
use crate::format::sqlite::{Query, Tables};
use crate::format::{Error, Progress};
use crate::store::placed::Placed;
use crate::store::{TileId, Warnings};

/// Hands every tile that is wanted to `each`, in any order; names are not read. Of a tile that comes
/// twice, the last is right. Returns whether there is a table to read from; of a reading that is canceled,
/// some tiles come.
///
/// # Errors
/// When the profile cannot be opened again.
pub fn each_wanted_tile(
    database: &Database,
    warnings: &Warnings,
    progress: &Progress,
    is_wanted: impl Fn(TileId) -> bool + Sync,
    each: impl Fn(TileId, Placed) + Sync,
) -> Result<bool, Error> {
    let reader = TileReader::without_names(database.tables(warnings, progress)?, &is_wanted);
    if !reader.has_table() {
        return Ok(false);
    }
    let ranges = ranges_of_tiles(reader.tables());
    let bytes_per_range = database.bytes.checked_div(ranges.len() as u64).unwrap_or(0);
    let parts: Vec<(Vec<TileId>, Warnings)> = ranges
        .into_par_iter()
        .map(|range| {
            // Their own warnings, so that they come in the order of the rows.
            let warnings = Warnings::default();
            let tables = database.tables(&warnings, progress)?;
            let reader = TileReader::without_names(tables, &is_wanted);
            let mut tiles = Vec::new();
            reader.each_tile_between(&range, |tile, variables| {
                tiles.push(tile);
                each(tile, variables);
            });
            progress.advance(bytes_per_range);
            drop(reader);
            Ok((tiles, warnings))
        })
        .collect::<Result<_, Error>>()?;
    let (parts, found): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut tiles = parts.concat();
    tiles.sort_unstable();
    if tiles.is_sorted_by(|a, b| a < b) {
        for warning in found.iter().flat_map(Warnings::list) {
            warnings.add(warning.code, &warning.file, warning.message);
        }
        return Ok(true);
    }
    reader.each_tile(each);
    Ok(true)
}

/// Ranges of `var_id` that hold all rows, each of which begins where another tile than before does.
fn ranges_of_tiles(tables: &Tables<'_>) -> Vec<RangeInclusive<u32>> {
    let ranges = id_ranges(tables);
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Vec::new() };
    let clamp = |id: i64| u32::try_from(id.max(0)).unwrap_or(u32::MAX);
    let (first, last) = (clamp(*first.start()), clamp(*last.end()));
    let mut starts = vec![first];
    for range in ranges.iter().skip(1) {
        let id = clamp(*range.start());
        if starts.last().is_none_or(|last| *last < id)
            && let Some(start) = next_tile(tables, id)
        {
            starts.push(start);
        }
    }
    let ends = starts.iter().skip(1).map(|start| start.saturating_sub(1)).chain([last]);
    starts.iter().zip(ends).map(|(start, end)| *start..=end).collect()
}

/// The first `var_id` above `id` whose tile is another than that of the first row from `id` on.
fn next_tile(tables: &Tables<'_>, id: u32) -> Option<u32> {
    let query = Query {
        table: "vars_info",
        columns: &["var_id"],
        tail: "WHERE var_id > ?1 AND tile <> (SELECT tile FROM vars_info WHERE var_id >= ?1 \
               ORDER BY var_id LIMIT 1) ORDER BY var_id LIMIT 1",
        needs: &["var_id", "tile"],
    };
    let mut found = None;
    tables.query(&query, [id], |cells| found = cells.required32(0));
    found
}
