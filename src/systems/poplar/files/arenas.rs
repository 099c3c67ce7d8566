//! Reads tiles as arenas from `vars_info`.

use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};

use super::Database;
use super::pop::compute::read_compute_set_variables;
use super::pop::exchange::read_code_on_tiles;
use super::pop::execution_trace::{read_lists, read_trace};
use super::pop::tile_bytes::read_bytes_of_tiles;
use super::pop::tile_lists::ListSizes;
use super::pop::tiles::each_wanted_tile;
use super::pop::variables::TileReader;
use crate::format::Progress;
use crate::index::{self, IndexError, IndexFile, Indexed};
use crate::store::exchange::CodeOnTiles;
use crate::store::execution::ExecutionTrace;
use crate::store::liveness::TileVariableBytes;
use crate::store::placed::{Placed, Placement, ReadArena, ReadError};
use crate::store::tile_list::TileList;
use crate::store::variable::LoweredVariables;
use crate::store::{ArenaId, ComputeSetId, Report, TileId};

/// Tiles that are looked up one by one; more are read in one pass over the table.
const FEW_TILES: usize = 64;

/// The tiles of a report. The report holds it, so it must not hold the report.
#[derive(Debug)]
pub struct TileArenas {
    database: Arc<Database>,
    report: Weak<Report>,
    indexed: Option<Arc<Indexed>>,
}

impl TileArenas {
    /// Lets a report read its tiles from its profile, and from its index.
    pub fn serve(report: &Arc<Report>, database: &Arc<Database>, indexed: Option<&Arc<Indexed>>) {
        let (database, of) = (Arc::clone(database), Arc::downgrade(report));
        report.set_reader(Box::new(Self { database, report: of, indexed: indexed.cloned() }));
    }

    fn in_index<T>(&self, read: impl FnOnce(&IndexFile) -> Result<T, IndexError>) -> Option<T> {
        self.indexed.as_ref()?.read(read)
    }

    /// Asks where the rows of each tile lie, where that is known.
    fn with_rows<T>(&self, report: &Report, ask: impl FnOnce(Option<&LoweredVariables>) -> T) -> T {
        let resident = report.variables.get();
        let of_index = || self.in_index(index::read_rows_of_variables).flatten();
        let read = if resident.is_some() { None } else { of_index() };
        ask(resident.or(read.as_ref()))
    }
}

impl ReadArena for TileArenas {
    fn read(&self, arena: ArenaId, progress: &Progress) -> Result<Option<Placed>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let tile = arena.tile();
        let tables = self.database.tables(&report.warnings, progress)?;
        let ids = self.with_rows(&report, |variables| variables?.id_range(tile));
        Ok(TileReader::new(tables).read_tile(tile, ids))
    }

    fn read_some(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
        each: &(dyn Fn(ArenaId, Placed) + Sync),
    ) -> Result<bool, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(false) };
        if arenas.len() <= FEW_TILES && self.read_few(&report, arenas, progress, each)? {
            return Ok(true);
        }
        let mut wanted = arenas.to_vec();
        wanted.sort_unstable();
        let is_wanted = |tile: TileId| wanted.binary_search(&tile.into()).is_ok();
        let of_tile = |tile: TileId, placed| each(tile.into(), placed);
        Ok(each_wanted_tile(&self.database, &report.warnings, progress, is_wanted, of_tile)?)
    }

    fn read_variable_bytes(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
    ) -> Result<Option<TileVariableBytes>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let (Some(liveness), Some(memory)) = (report.liveness.get(), report.memory.get()) else {
            return Ok(None);
        };
        let is_wanted = |tile: TileId| arenas.contains(&tile.into());
        if let Some(found) = self.in_index(|file| index::read_bytes_of_tiles(file, is_wanted)) {
            return Ok(found);
        }
        let always_live =
            |tile| memory.always_live.get(memory.tiles.position(tile)?).copied().flatten();
        let mut wanted: Vec<TileId> = arenas.iter().map(|arena| arena.tile()).collect();
        wanted.sort_unstable();
        let tiles = memory.tiles.len();
        let (classes, warnings) = (&liveness.classes, &report.warnings);
        let (database, known) = (&self.database, &always_live);
        Ok(read_bytes_of_tiles(database, classes, &wanted, tiles, known, warnings, progress)?)
    }

    fn read_compute_set_variables(
        &self,
        set: ComputeSetId,
        progress: &Progress,
    ) -> Result<Option<Vec<u32>>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let tables = self.database.tables(&report.warnings, progress)?;
        Ok(read_compute_set_variables(&tables, set))
    }

    fn read_trace(&self, progress: &Progress) -> Result<Option<ExecutionTrace>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let tables = self.database.tables(report.warnings.on_demand(), progress)?;
        Ok(read_trace(&tables, &report))
    }

    fn read_tile_cycles(
        &self,
        lists: &[u32],
        progress: &Progress,
    ) -> Result<Vec<Option<TileList>>, ReadError> {
        let none = || Ok(vec![None; lists.len()]);
        let Some(report) = self.report.upgrade() else { return none() };
        let Some(sizes) = ListSizes::of(&report) else { return none() };
        let tables = self.database.tables(report.warnings.on_demand(), progress)?;
        Ok(read_lists(&tables, sizes, lists))
    }

    fn read_exchange_code(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
    ) -> Result<Option<CodeOnTiles>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let Some(sizes) = ListSizes::of(&report) else { return Ok(None) };
        let tiles: Vec<TileId> = arenas.iter().map(|arena| arena.tile()).collect();
        if let Some(code) = self.in_index(|file| index::read_exchange_code(file, &tiles)) {
            return Ok(code);
        }
        let tables = self.database.tables(&report.warnings, progress)?;
        let code = read_code_on_tiles(&tables, sizes, &tiles);
        // A part of the exchanges would give wrong sums.
        Ok(code.filter(|_| !progress.is_cancelled()))
    }
}

impl TileArenas {
    /// Reads tiles one by one from where their rows lie; `false` where that is not known of all of them, or
    /// what lies there does not end where the table of tiles says.
    fn read_few(
        &self,
        report: &Report,
        arenas: &[ArenaId],
        progress: &Progress,
        each: &(dyn Fn(ArenaId, Placed) + Sync),
    ) -> Result<bool, ReadError> {
        let tables = self.database.tables(&report.warnings, progress)?;
        let known = |rows: &LoweredVariables| {
            arenas.iter().map(|arena| rows.id_range(arena.tile())).collect::<Option<Vec<_>>>()
        };
        let of_rows = self.with_rows(report, |rows| rows.map(known));
        let are_rows_known = of_rows.is_some();
        let ids: Option<Vec<_>> = match report.memory.get() {
            _ if are_rows_known => of_rows.flatten(),
            Some(memory) => {
                let tiles: Vec<u32> = arenas.iter().map(|arena| arena.0).collect();
                let ranges =
                    tables.row_ranges_of_values(("vars_info", "tile"), memory.tiles.len(), &tiles);
                let id = |id: i64| u32::try_from(id).ok();
                let both =
                    |range: RangeInclusive<i64>| Some(id(*range.start())?..=id(*range.end())?);
                ranges.and_then(|ranges| ranges.into_iter().map(both).collect())
            }
            None => None,
        };
        let Some(ids) = ids else { return Ok(false) };
        let reader = TileReader::without_names(tables, &|_| true);
        for (arena, ids) in arenas.iter().zip(ids).take_while(|_| !progress.is_cancelled()) {
            match reader.read_tile(arena.tile(), Some(ids)) {
                // Where columns say where rows lie, there is nothing to be found out.
                Some(placed) if are_rows_known || ends_where_it_should(report, *arena, &placed) => {
                    each(*arena, placed);
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Whether the last byte of a tile is where the table of tiles says, so that none of its rows lies elsewhere.
fn ends_where_it_should(report: &Report, arena: ArenaId, placed: &Placed) -> bool {
    let Some(memory) = report.memory.get() else { return true };
    let row = memory.tiles.position(arena.tile());
    let said = row.and_then(|row| memory.including_gaps.get(row).copied().flatten());
    let taken = placed.placements.iter().filter(|placement| placement.takes_memory());
    said == Some(taken.map(Placement::end).max().unwrap_or(0))
}
