//! Arenas read when they are asked for, and the gaps of those.
//!
//! Gaps are those of [`crate::analysis::placement::gaps`] over all steps, by reason. Nothing can be read of a report
//! without files; then `resident_tile` says what the resident columns know, which is neither alignments nor
//! constraints.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::gaps::{GapsByReason, by_reason, gaps};
use crate::analysis::placement::resident_tile::resident_tile;
use crate::progress::Progress;
use crate::store::placed::{Placed, ReadError};
use crate::store::{ArenaId, Report, TileId};

/// What is placed in an arena, with all that the files say of it; `None` where nothing can be read. What was
/// canceled is not complete.
///
/// # Errors
/// When the files cannot be read any more.
pub fn read_arena(
    report: &Report,
    arena: ArenaId,
    progress: &Progress,
) -> Result<Option<Placed>, ReadError> {
    report.reader().map_or(Ok(None), |reader| reader.read(arena, progress))
}

/// The gaps of an arena by reason; `None` where nothing can be read.
///
/// # Errors
/// When the files cannot be read any more.
pub fn gaps_of_arena(report: &Report, arena: ArenaId) -> Result<Option<GapsByReason>, ReadError> {
    let placed = read_arena(report, arena, &Progress::default())?;
    Ok(placed.map(|placed| by_reason(&gaps(&placed, report.target.get()))))
}

/// The gaps of some arenas by reason, read in parallel; `None` where nothing can be read, or when it was
/// canceled.
///
/// # Errors
/// When the files cannot be read any more.
pub fn gaps_of_arenas(
    report: &Report,
    arenas: &[ArenaId],
    progress: &Progress,
) -> Result<Option<GapTotals>, ReadError> {
    let Some(reader) = report.reader() else { return Ok(None) };
    let target = report.target.get();
    let found: Mutex<BTreeMap<TileId, GapsByReason>> = Mutex::default();
    let is_there = reader.read_some(arenas, progress, &|arena, placed| {
        let of_arena = by_reason(&gaps(&placed, target));
        // An insertion is never half done.
        found.lock().unwrap_or_else(PoisonError::into_inner).insert(arena.tile(), of_arena);
    })?;
    if !is_there || progress.is_cancelled() {
        return Ok(None);
    }
    Ok(Some(GapTotals::new(found.into_inner().unwrap_or_else(PoisonError::into_inner))))
}

/// The gaps of all arenas by reason; of a report without files from what is resident. `None` where
/// neither is there, or when it was canceled.
///
/// # Errors
/// When the files cannot be read any more.
pub fn gaps_of_all(report: &Report, progress: &Progress) -> Result<Option<GapTotals>, ReadError> {
    let variables = report.variables.get();
    let tiles = || variables.map(|variables| variables.tiles.as_slice().iter().copied());
    if report.reader().is_some() {
        let arenas: Vec<ArenaId> = match report.arenas.get() {
            Some(arenas) => arenas.ids.as_slice().to_vec(),
            None => tiles().into_iter().flatten().map(ArenaId::from).collect(),
        };
        return gaps_of_arenas(report, &arenas, progress);
    }
    let Some(tiles) = tiles() else { return Ok(None) };
    let target = report.target.get();
    let of_tiles = tiles
        .take_while(|_| !progress.is_cancelled())
        .filter_map(|tile| Some((tile, by_reason(&gaps(&resident_tile(report, tile)?, target)))));
    let totals = GapTotals::new(of_tiles);
    Ok((!progress.is_cancelled()).then_some(totals))
}
