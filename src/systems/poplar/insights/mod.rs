//! Insights: whether a report fits and why not, what is largest, what must go, what to try next.
//!
//! Everything is worked out from what of the report is there. The verdict, the fullest tiles and the
//! histogram need the small tables; what must go and the advice are by tile where the bytes of variables by tile
//! were read, else of all tiles together; gaps by reason are handed in, exchanges and vertices taken where they
//! were read.

pub mod advice;
pub(crate) mod between;
pub(crate) mod change;
pub(crate) mod conclusions;
#[cfg(test)]
mod fixture;
pub(crate) mod instrumentation;
pub(crate) mod logs;
pub(crate) mod must_go;
pub(crate) mod pressure;
pub(crate) mod run_verdict;
pub(crate) mod sentences;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
pub(crate) mod verdict;

use serde::Serialize;

use self::advice::{AdviceList, advice_on_room, advice_to_fit};
use self::conclusions::conclusions;
use self::instrumentation::{Instrumentation, is_instrumented};
use self::must_go::{MustGo, must_go};
use self::pressure::{Pressure, sampled_tiles};
use self::verdict::{IpuVerdict, OverCause, TilesVerdict, verdict};
use crate::analysis::derived::Derived;
use crate::analysis::largest::{Largest, largest};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::fullest_tiles::{
    BINS_TO_LIMIT, Bin, FullTile, fullest_tiles, histogram,
};
use crate::analysis::placement::read::{gaps_of_arenas, read_arena};
use crate::progress::Progress;
use crate::run::{Advice, Conclusion, NotAdvised};
use crate::store::ArenaId;
use crate::store::exchange::CodeOnTiles;
use crate::store::liveness::TileVariableBytes;
use crate::store::placed::ReadError;

const FULLEST_TILES: usize = 5;
const MUST_GO_TILES: usize = 3;
/// Over by no more than this, what measures the execution may be what does not fit: it takes some hundred bytes.
const CLOSE_BYTES: u64 = 16 << 10;
/// Tiles, of those that are over by most, whose gaps are read: each has thousands of variables.
const GAP_TILES: usize = 8;

/// What a report says at first sight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PoplarInsights {
    /// Whether it fits; `None` where the report does not say.
    pub verdict: Option<TilesVerdict>,
    /// Whether each IPU fits, ascending; empty where the report does not say.
    pub ipus: Vec<IpuVerdict>,
    pub fullest_tiles: Vec<FullTile>,
    /// How many tiles are how full.
    pub histogram: Vec<Bin>,
    pub largest: Largest,
    /// What follows from the figures.
    pub conclusions: Vec<Conclusion>,
    /// What must go from the worst tiles; empty where it fits.
    pub must_go: Vec<MustGo>,
    /// What to try next, what helps most first.
    pub advice: Vec<Advice>,
    /// What one would think of and what does not help.
    pub not_advised: Vec<NotAdvised>,
}

/// What of single tiles the insights of a report that does not fit are worked out from.
#[derive(Clone, Copy, Default)]
pub(crate) struct OfTiles<'a> {
    /// Bytes by variable and class of the tiles of [`sampled_tiles`] at least.
    bytes: Option<&'a TileVariableBytes>,
    /// Code of the internal exchanges on these tiles.
    exchange_code: Option<&'a CodeOnTiles>,
    /// What measures the execution on the worst of them.
    instrumentation: Option<&'a Instrumentation>,
    /// The progress of what may be read meanwhile of the files; `None` where nothing may.
    reading: Option<&'a Progress>,
}

/// The insights of a report, for which what is needed of the tiles that are over is read: the bytes of their
/// variables and the code of their exchanges where they are not there, and their gaps where the curve is not what
/// fails.
///
/// # Errors
/// When the files cannot be read any more.
pub(crate) fn insights_with_tiles(
    derived: &Derived,
    progress: &Progress,
) -> Result<PoplarInsights, ReadError> {
    let report = &**derived.report();
    let found = verdict(report);
    let Some(failure) = found.as_ref().and_then(|verdict| verdict.failure.as_ref()) else {
        return Ok(insights(derived, found, OfTiles::default()));
    };
    let sampled = sampled_tiles(report);
    let tiles: Vec<ArenaId> = sampled.iter().copied().map(ArenaId::from).collect();
    let read_bytes = || match (report.tile_variable_bytes.get(), report.reader()) {
        (None, Some(reader)) => reader.read_variable_bytes(&tiles, progress),
        _ => Ok(None),
    };
    let read_gaps = || match failure.cause {
        Some(OverCause::Curve) => Ok(None),
        _ => {
            let worst = tiles.get(..GAP_TILES.min(tiles.len())).unwrap_or(&[]);
            gaps_of_arenas(report, worst, progress)
        }
    };
    let read_code = || match (report.exchanges.get(), report.reader()) {
        (Some(exchanges), _) => Ok(Some(exchanges.code_on(&sampled))),
        (None, Some(reader)) => reader.read_exchange_code(&tiles, progress),
        (None, None) => Ok(None),
    };
    let read_instrumentation = || {
        let is_instrumented = report.target.get().is_some_and(is_instrumented);
        // Names of one tile are somewhere in the largest table. What is far over does not fit without that either.
        let is_close = failure.worst_over_bytes <= CLOSE_BYTES;
        let worst = tiles.first().filter(|_| is_instrumented && is_close);
        let placed = worst.map_or(Ok(None), |tile| read_arena(report, *tile, progress))?;
        Ok::<_, ReadError>(placed.map(|placed| Instrumentation::of(report, &placed)))
    };
    // The owners are asked for below.
    let ((read, gaps), (code, (instrumentation, _))) = rayon::join(
        || rayon::join(read_bytes, read_gaps),
        || rayon::join(read_code, || rayon::join(read_instrumentation, || derived.owners())),
    );
    let (read, gaps, code, instrumentation) = (read?, gaps?, code?, instrumentation?);
    let found = match &gaps {
        Some(gaps) => found.map(|verdict| verdict.with_gaps(report, gaps)),
        None => found,
    };
    let bytes = report.tile_variable_bytes.get().or(read.as_ref());
    let of_tiles = OfTiles {
        bytes,
        exchange_code: code.as_ref(),
        instrumentation: instrumentation.as_ref(),
        reading: Some(progress),
    };
    Ok(insights(derived, found, of_tiles))
}

/// The insights of a report, for which nothing is read.
pub(crate) fn insights_of_resident(derived: &Derived) -> PoplarInsights {
    let report = &**derived.report();
    let code = report.exchanges.get().map(|all| all.code_on(&sampled_tiles(report)));
    let bytes = report.tile_variable_bytes.get();
    let of_tiles = OfTiles { bytes, exchange_code: code.as_ref(), ..OfTiles::default() };
    insights(derived, verdict(report), of_tiles)
}

fn insights(
    derived: &Derived,
    verdict: Option<TilesVerdict>,
    of_tiles: OfTiles<'_>,
) -> PoplarInsights {
    let report = &**derived.report();
    let steps = derived.operations().unwrap_or_default();
    let owners = derived.owners();
    let pressure = Pressure::of(report, &owners, of_tiles.bytes);
    let advised = || match (&verdict, &pressure) {
        (Some(verdict), Some(pressure)) => {
            advice_to_fit(report, verdict, &steps, &owners, pressure, of_tiles)
        }
        (Some(verdict), None) => advice_on_room(report, verdict, &steps, &owners),
        (None, _) => AdviceList::default(),
    };
    let others = || {
        let must_go = pressure
            .as_ref()
            .map(|pressure| must_go(report, pressure, &owners, MUST_GO_TILES))
            .unwrap_or_default();
        let largest = largest(derived, Scope::Everything, &|| false);
        let found = verdict.as_ref().map(|verdict| conclusions(report, verdict, &largest, &owners));
        (must_go, largest, found)
    };
    let (AdviceList { advice, not_advised }, (must_go, largest, found)) =
        rayon::join(advised, others);
    PoplarInsights {
        ipus: verdict.as_ref().map(|verdict| verdict.ipus.clone()).unwrap_or_default(),
        verdict,
        fullest_tiles: fullest_tiles(report, FULLEST_TILES),
        histogram: histogram(report, BINS_TO_LIMIT, 0),
        conclusions: found.unwrap_or_default(),
        largest,
        must_go,
        advice,
        not_advised,
    }
}
