//! The figures of an IPU report that budgets limit.
//!
//! The bytes of the fullest tile and of all tiles include gaps; the peak is always live + not always live at the step
//! where that is most. A report fits when no tile is over (definitions.md).

use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::peak_of;
use crate::analysis::memory::{self, FullestTile, TileTotals};
use crate::format::{Error, ErrorKind};
use crate::run::{BudgetFacts, BudgetFigure, BudgetedFigure, FitFacts, Room};
use crate::store::target::Target;
use crate::store::{DeviceId, Report};
use crate::text::{bytes, exact_bytes, grouped};

/// Why a figure is not known.
const NOT_SAID: &str = "the report does not state it";

/// Of all IPUs together, or of one. What the user says of the capacity is the memory of a tile.
///
/// # Errors
/// `usage` for an IPU that is not there.
pub(super) fn budgets(
    derived: &Derived,
    device: Option<i64>,
    room: Room,
) -> Result<BudgetFacts, Error> {
    let report = &**derived.report();
    let scope = scope_of(report, device)?;
    let target = target_of(report, room);
    let limit = target.bytes_per_tile;
    let (totals, fullest) = totals(report, scope, &target);
    let figure = |figure, subject, bytes| BudgetedFigure::of(figure, subject, bytes, NOT_SAID);
    let fullest_bytes = fullest.and_then(|fullest| fullest.including_gaps_bytes);
    let tile = fullest.map(|fullest| (fullest.tile, format!("tile {}", fullest.tile)));
    let all = match scope {
        Scope::Device(_) => "all its tiles together",
        _ => "all tiles together",
    };
    let peak_bytes = peak_of(report, scope).map(|(_, bytes)| bytes);
    let figures = vec![
        BudgetedFigure {
            arena: tile,
            ..figure(BudgetFigure::FullestArena, ["the fullest tile", "has"], fullest_bytes)
        },
        figure(BudgetFigure::Total, [all, "have"], totals.including_gaps_bytes),
        figure(BudgetFigure::Peak, ["the peak", "has"], peak_bytes),
    ];
    Ok(BudgetFacts {
        device,
        title: device.map_or_else(String::new, |ipu| format!("IPU {ipu}")),
        figures,
        why_at_least: None,
        fit: fit(&totals, fullest, limit),
    })
}

fn scope_of(report: &Report, device: Option<i64>) -> Result<Scope, Error> {
    let Some(number) = device else { return Ok(Scope::Everything) };
    let ipus = report.target.get().and_then(|target| target.devices).unwrap_or(1);
    match u32::try_from(number).ok().filter(|ipu| u64::from(*ipu) < ipus) {
        Some(ipu) => Ok(Scope::Device(DeviceId(ipu))),
        None => {
            let message = format!("this report has no IPU {number}: it has {ipus}, counted from 0");
            Err(Error::new(ErrorKind::Usage, message))
        }
    }
}

/// The target with the memory of a tile that the user says, less what others have of it.
fn target_of(report: &Report, room: Room) -> Target {
    let target = report.target.get().cloned().unwrap_or_default();
    let capacity = room.capacity_bytes.or(target.bytes_per_tile);
    let left = capacity.map(|capacity| capacity.saturating_sub(room.other_bytes));
    Target { bytes_per_tile: left, ..target }
}

fn totals(report: &Report, scope: Scope, target: &Target) -> (TileTotals, Option<FullestTile>) {
    let Some(memory) = report.memory.get() else { return Default::default() };
    let totals = memory::totals_of_rows(memory, Some(target), scope.rows(memory, Some(target)));
    let fullest = totals.fullest.and_then(|row| FullestTile::of(memory, row));
    (totals, fullest)
}

fn fit(totals: &TileTotals, fullest: Option<FullestTile>, limit: Option<u64>) -> FitFacts {
    let (Some(over), Some(has)) = (totals.tiles_over_limit, limit) else {
        let text = "it is not known whether the program fits".to_owned();
        return FitFacts { limit: Some(0), ..FitFacts::unknown(NOT_SAID, text) };
    };
    let full = fullest.and_then(|fullest| Some((fullest.tile, fullest.including_gaps_bytes?)));
    let fullest_text = full.map_or_else(String::new, |(tile, full)| {
        let difference = exact_bytes(full.abs_diff(has));
        let side = if full > has { "more than it has" } else { "less than it has" };
        format!("; the fullest, tile {tile}, has {}, {difference} {side}", exact_bytes(full))
    });
    let text = match over {
        0 => format!("no tile is over its {}{fullest_text}", bytes(has)),
        1 => format!("1 tile is over its {}{fullest_text}", bytes(has)),
        _ => format!("{} tiles are over their {}{fullest_text}", grouped(over), bytes(has)),
    };
    FitFacts {
        limit: Some(0),
        actual: Some(over),
        arena: fullest.map(|fullest| fullest.tile),
        passed: over == 0,
        reason: None,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn an_empty_report_has_no_figures_and_does_not_fit() {
        let derived = Derived::new(Arc::new(Report::default()));
        let found = budgets(&derived, None, Room::default()).unwrap();
        assert!(found.figures.iter().all(|figure| figure.bytes.is_none()), "{found:?}");
        assert!(!found.fit.passed && found.fit.actual.is_none());
        assert!(budgets(&derived, Some(1), Room::default()).is_err());
    }
}
