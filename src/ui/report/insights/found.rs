//! Working out the insights beside the window.

use crate::analysis::derived::Derived;
use crate::analysis::insights::verdict::{Cause, verdict};
use crate::analysis::insights::{Insights, insights};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::gaps::{by_reason, gaps};
use crate::format::Progress;
use crate::format::poplar::OpenReport;

/// The insights, from what of the report is there. Where the curve is not what fails, the gaps of the
/// tiles that are over are read.
pub fn find(
    derived: &Derived,
    files: Option<&OpenReport>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Insights {
    let report = derived.report();
    let failure = verdict(report, None).and_then(|verdict| verdict.failure);
    let tiles = failure
        .filter(|failure| failure.cause != Some(Cause::Curve))
        .and_then(|failure| failure.tiles.parse::<TileSelection>().ok());
    let gaps = match (files, tiles) {
        (Some(files), Some(tiles)) if report.variables.is_settled() => {
            gaps_of(files, &tiles, is_cancelled)
        }
        _ => None,
    };
    insights(derived, gaps.as_ref())
}

fn gaps_of(
    files: &OpenReport,
    tiles: &TileSelection,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<GapTotals> {
    let target = files.report.target.get();
    let mut found = Vec::new();
    for tile in tiles.iter() {
        if is_cancelled() {
            return None;
        }
        let variables = files.read_tile(tile, &Progress::default()).ok()??;
        found.push((tile, by_reason(&gaps(&variables, target))));
    }
    Some(GapTotals::new(found))
}
