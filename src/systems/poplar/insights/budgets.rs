//! Budgets: whether the memory of a report stays within given limits, or has not grown too much.
//!
//! The bytes of the fullest tile and of all tiles include gaps; the peak is always live + not always
//! live at the step where that is most (cli.md). Growth is of these three against another report,
//! percent of the other's bytes; from 0 any growth is more than every limit. A figure that a report
//! lacks fails its check. A report fits when no tile is over (definitions.md).

use crate::store::{Report, TileId};

use crate::analysis::liveness::scope_curve::peak_of_everything;
use crate::analysis::memory;

/// What is allowed; `None` where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// Bytes of the fullest tile.
    pub max_tile_bytes: Option<u64>,
    /// Bytes of all tiles.
    pub max_total_bytes: Option<u64>,
    pub max_peak_bytes: Option<u64>,
    /// Growth of each of the three, percent.
    pub max_growth: Option<f64>,
    /// Whether no tile may be over.
    pub must_fit: bool,
}

/// A figure that has a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Bytes of the fullest tile, gaps included.
    FullestTile,
    /// Bytes of all tiles, gaps included.
    Total,
    /// Always live + not always live at the peak.
    Peak,
}

impl Figure {
    pub const ALL: [Self; 3] = [Self::FullestTile, Self::Total, Self::Peak];
}

/// What a report has of each figure; `None` where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub fullest_tile: Option<(TileId, u64)>,
    pub total_bytes: Option<u64>,
    pub peak_bytes: Option<u64>,
    pub tiles_over_limit: Option<u64>,
}

impl Figures {
    /// The figures of a report whose small tables are read.
    pub fn of(report: &Report) -> Self {
        let memory = report.memory.get();
        let totals =
            memory.map(|memory| memory::totals(memory, report.target.get())).unwrap_or_default();
        let fullest_tile = memory.zip(totals.fullest).and_then(|(memory, row)| {
            Some((memory.tiles.get(row)?, memory::cell(&memory.including_gaps, row)?))
        });
        Self {
            fullest_tile,
            total_bytes: totals.including_gaps_bytes,
            peak_bytes: peak_of_everything(report).map(|(_, bytes)| bytes),
            tiles_over_limit: totals.tiles_over_limit,
        }
    }

    pub fn bytes(&self, figure: Figure) -> Option<u64> {
        match figure {
            Figure::FullestTile => self.fullest_tile.map(|(_, bytes)| bytes),
            Figure::Total => self.total_bytes,
            Figure::Peak => self.peak_bytes,
        }
    }
}

/// One budget and what the report has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Check {
    Bytes {
        figure: Figure,
        limit: u64,
        actual: Option<u64>,
    },
    Growth {
        figure: Figure,
        /// The most that is allowed, percent.
        limit: f64,
        /// What the baseline has, bytes.
        baseline: Option<u64>,
        actual: Option<u64>,
    },
    Fit {
        tiles_over_limit: Option<u64>,
    },
}

impl Check {
    /// Whether the budget is kept. What is not known does not keep it.
    pub fn passed(&self) -> bool {
        match *self {
            Self::Bytes { limit, actual, .. } => actual.is_some_and(|actual| actual <= limit),
            Self::Growth { limit, baseline, actual, .. } => baseline
                .zip(actual)
                .is_some_and(|(baseline, actual)| growth_percent(baseline, actual) <= limit),
            Self::Fit { tiles_over_limit } => tiles_over_limit == Some(0),
        }
    }
}

/// By how much bytes have grown, percent of those of the baseline: without end from 0, below 0 where
/// they have shrunk.
pub fn growth_percent(baseline: u64, actual: u64) -> f64 {
    if baseline == 0 {
        return if actual == 0 { 0.0 } else { f64::INFINITY };
    }
    // The bytes of any machine are exact in an f64.
    (actual as f64 - baseline as f64) * 100.0 / baseline as f64
}

/// Every budget that there is, with what the report has; growth is against `baseline`.
pub fn checks(budgets: &Budgets, report: &Figures, baseline: Option<&Figures>) -> Vec<Check> {
    let limits = [budgets.max_tile_bytes, budgets.max_total_bytes, budgets.max_peak_bytes];
    let bytes = Figure::ALL.into_iter().zip(limits).filter_map(|(figure, limit)| {
        Some(Check::Bytes { figure, limit: limit?, actual: report.bytes(figure) })
    });
    let growth = budgets.max_growth.into_iter().flat_map(|limit| {
        Figure::ALL.map(|figure| Check::Growth {
            figure,
            limit,
            baseline: baseline.and_then(|baseline| baseline.bytes(figure)),
            actual: report.bytes(figure),
        })
    });
    let fit = Check::Fit { tiles_over_limit: report.tiles_over_limit };
    bytes.chain(growth).chain(budgets.must_fit.then_some(fit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(tile: u64, total: u64, peak: Option<u64>) -> Figures {
        Figures {
            fullest_tile: Some((TileId(3), tile)),
            total_bytes: Some(total),
            peak_bytes: peak,
            tiles_over_limit: Some(0),
        }
    }

    fn passed(budgets: &Budgets, report: &Figures, baseline: Option<&Figures>) -> Vec<bool> {
        checks(budgets, report, baseline).iter().map(Check::passed).collect()
    }

    #[test]
    fn a_limit_may_be_reached_and_not_exceeded() {
        let budgets = Budgets {
            max_tile_bytes: Some(10),
            max_total_bytes: Some(99),
            max_peak_bytes: Some(50),
            must_fit: true,
            ..Budgets::default()
        };
        assert_eq!(passed(&budgets, &figures(10, 100, Some(50)), None), [true, false, true, true]);
        let unknown = Figures::default();
        assert_eq!(passed(&budgets, &unknown, None), [false; 4], "not known is not kept");
        assert!(checks(&Budgets::default(), &unknown, None).is_empty());
    }

    #[test]
    fn growth_is_of_all_three() {
        let budgets = Budgets { max_growth: Some(5.0), ..Budgets::default() };
        let baseline = figures(100, 1000, Some(0));
        let of = |report| passed(&budgets, &report, Some(&baseline));
        assert_eq!(of(figures(105, 1051, Some(0))), [true, false, true]);
        assert_eq!(
            of(figures(0, 0, Some(1))),
            [true, true, false],
            "from 0 any growth is too much"
        );
        assert_eq!(of(figures(0, 0, None)), [true, true, false]);
        assert_eq!(passed(&budgets, &baseline, None), [false; 3]);
        let must_shrink = Budgets { max_growth: Some(-10.0), ..Budgets::default() };
        let report = figures(90, 901, Some(0));
        assert_eq!(passed(&must_shrink, &report, Some(&baseline)), [true, false, false]);
    }

    #[test]
    fn an_empty_report_has_no_figures() {
        assert_eq!(Figures::of(&Report::default()), Figures::default());
    }
}
