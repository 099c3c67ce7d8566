//! The figures of an IPU report that budgets limit.
//!
//! The bytes of the fullest tile and of all tiles include gaps; the peak is always live + not always live at the step
//! where that is most. A report fits when no tile is over (definitions.md).

use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::peak_of;
use crate::analysis::memory::{self, FullestTile, TileTotals};
use crate::format::{Error, ErrorKind};
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Need, StatedRoom};
use crate::store::{DeviceId, Report, WarningCode};
use crate::text::counted;

/// Of a report that Poplar had not finished.
const UNFINISHED: AtLeast =
    AtLeast::of("unfinished", "the report was not finished, so it may be more");
/// Why a figure is not known.
const NOT_SAID: &str = "the report does not state it";

/// Of all IPUs together, or of one: the fullest tile against the memory of a tile, for a tile cannot use what another has
/// left. What the user says of the capacity is the memory of a tile.
///
/// # Errors
/// `usage` for an IPU that is not there.
pub(super) fn need(derived: &Derived, device: Option<i64>) -> Result<Need, Error> {
    let report = &**derived.report();
    let (_, fullest) = totals(report, scope_of(report, device)?);
    Ok(need_of(report, device, fullest))
}

fn need_of(report: &Report, device: Option<i64>, fullest: Option<FullestTile>) -> Need {
    let capacity = report.target.get().and_then(|target| target.bytes_per_tile);
    Need {
        device,
        title: device.map_or_else(String::new, |ipu| format!("IPU {ipu}")),
        verb: "needs",
        bytes: fullest.and_then(|fullest| fullest.including_gaps_bytes),
        of_part: Some("the fullest tile"),
        arena: fullest.map(|fullest| fullest.tile),
        at_least: report.warnings.has(WarningCode::Unfinished).then_some(UNFINISHED),
        stated: StatedRoom { capacity_bytes: capacity, other_bytes: None },
        ..Need::default()
    }
}

/// Of all IPUs together, or of one.
///
/// # Errors
/// `usage` for an IPU that is not there.
pub(super) fn budgets(derived: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
    let report = &**derived.report();
    let scope = scope_of(report, device)?;
    let (totals, fullest) = totals(report, scope);
    let need = need_of(report, device, fullest);
    let figure = |figure, subject, bytes| BudgetedFigure {
        at_least: need.at_least,
        ..BudgetedFigure::of(figure, subject, bytes, NOT_SAID)
    };
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
    let over = totals.tiles_over_limit.filter(|over| *over > 0);
    let own = over.map_or_else(String::new, |over| format!("{} over", counted(over, "tile")));
    Ok(BudgetFacts { figures, need, own })
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

fn totals(report: &Report, scope: Scope) -> (TileTotals, Option<FullestTile>) {
    let (Some(memory), target) = (report.memory.get(), report.target.get()) else {
        return Default::default();
    };
    let totals = memory::totals_of_rows(memory, target, scope.rows(memory, target));
    let fullest = totals.fullest.and_then(|row| FullestTile::of(memory, row));
    (totals, fullest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Outcome, Room};
    use std::sync::Arc;

    #[test]
    fn an_empty_report_has_no_figures_and_does_not_fit() {
        let derived = Derived::new(Arc::new(Report::default()));
        let found = budgets(&derived, None).unwrap();
        assert!(found.figures.iter().all(|figure| figure.bytes.is_none()), "{found:?}");
        assert_eq!(found.need.judge(Room::default()).outcome, Outcome::Unknown);
        assert!(budgets(&derived, Some(1)).is_err());
    }
}
