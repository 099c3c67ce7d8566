//! Reads tiles as arenas for whoever has the report, from `vars_info`.

use std::sync::{Arc, Weak};

use super::Database;
use super::pop::tiles::each_wanted_tile;
use super::pop::variables::TileReader;
use crate::format::Progress;
use crate::store::placed::{Placed, ReadArena, ReadError};
use crate::store::{ArenaId, Report, TileId};

/// Tiles that are looked up one by one; more are read in one pass over the table.
const FEW_TILES: usize = 64;

/// The tiles of a report. The report holds it, so it must not hold the report.
#[derive(Debug)]
pub struct Tiles {
    database: Arc<Database>,
    report: Weak<Report>,
}

impl Tiles {
    /// Lets a report read its tiles from its profile.
    pub fn serve(report: &Arc<Report>, database: &Arc<Database>) {
        let (database, of) = (Arc::clone(database), Arc::downgrade(report));
        report.set_reader(Box::new(Self { database, report: of }));
    }
}

impl ReadArena for Tiles {
    fn read(&self, arena: ArenaId) -> Result<Option<Placed>, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(None) };
        let (tile, progress) = (arena.tile(), Progress::default());
        let tables = self.database.tables(&report.warnings, &progress)?;
        let ids = report.variables.get().and_then(|variables| variables.id_range(tile));
        Ok(TileReader::new(tables).read_tile(tile, ids))
    }

    fn read_some(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
        each: &(dyn Fn(ArenaId, Placed) + Sync),
    ) -> Result<bool, ReadError> {
        let Some(report) = self.report.upgrade() else { return Ok(false) };
        let ids = |arena: &ArenaId| report.variables.get()?.id_range(arena.tile());
        let found: Option<Vec<_>> = match arenas.len() {
            0..=FEW_TILES => arenas.iter().map(|arena| Some((*arena, ids(arena)?))).collect(),
            _ => None,
        };
        let Some(found) = found else {
            let mut wanted = arenas.to_vec();
            wanted.sort_unstable();
            let is_wanted = |tile: TileId| wanted.binary_search(&tile.into()).is_ok();
            let of_tile = |tile: TileId, placed| each(tile.into(), placed);
            let warnings = &report.warnings;
            return Ok(each_wanted_tile(&self.database, warnings, progress, is_wanted, of_tile)?);
        };
        let tables = self.database.tables(&report.warnings, progress)?;
        let reader = TileReader::without_names(tables, &|_| true);
        for (arena, ids) in found.into_iter().take_while(|_| !progress.is_cancelled()) {
            match reader.read_tile(arena.tile(), Some(ids)) {
                Some(placed) => each(arena, placed),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
