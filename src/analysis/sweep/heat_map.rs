//! A figure over two options: a row for each value of one, a column for each value of the other.
//!
//! A cell with several runs shows the best: one that fits before one that does not, then the faster, then the one that
//! needs fewer bytes, then the first.

use std::collections::BTreeMap;

use super::best::best_of;
use super::{FigureToSweep, FigureValue, Sweep, compare_values};
use crate::analysis::program::report_options::OptionValue;

/// A figure over two options.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The option along the columns, a position in [`Sweep::options`].
    pub x: usize,
    /// The option along the rows.
    pub y: usize,
    pub figure: FigureToSweep,
    /// The value of each column, as in [`super::VaryingOption::values`].
    pub columns: Vec<Option<OptionValue>>,
    /// The value of each row.
    pub rows: Vec<Option<OptionValue>>,
    /// The cells in which there are runs, row by row.
    pub cells: Vec<HeatCell>,
}

/// A cell in which there are runs. Runs are positions in [`Sweep::runs`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct HeatCell {
    /// A position in [`HeatMap::rows`].
    pub row: usize,
    /// A position in [`HeatMap::columns`].
    pub column: usize,
    pub runs: Vec<usize>,
    /// The run that is shown.
    pub shown: usize,
    pub value: Option<FigureValue>,
    pub fits: Option<bool>,
}

impl HeatMap {
    /// A cell; `None` where there is no run.
    pub fn cell(&self, row: usize, column: usize) -> Option<&HeatCell> {
        let place = self.cells.binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
        self.cells.get(place.ok()?)
    }

    /// The least and the most of the figure; `None` where it is known of no cell.
    pub fn range(&self) -> Option<(f64, f64)> {
        let values = || self.cells.iter().filter_map(|cell| Some(cell.value?.as_f64()));
        Some((values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?))
    }
}

/// A figure over the options `x` and `y`, positions in [`Sweep::options`]. `None` when there is no such
/// option.
pub fn heat_map(sweep: &Sweep, x: usize, y: usize, figure: FigureToSweep) -> Option<HeatMap> {
    let (columns, rows) = (&sweep.options.get(x)?.values, &sweep.options.get(y)?.values);
    let position = |values: &[Option<OptionValue>], value: Option<&OptionValue>| {
        values.binary_search_by(|probe| compare_values(probe.as_ref(), value)).ok()
    };
    let mut runs: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (value, run) in sweep.runs_by_value(x) {
        let place = position(rows, sweep.value(run, y)).zip(position(columns, value));
        // The lists have the values of all runs.
        if let Some(place) = place {
            runs.entry(place).or_default().push(run);
        }
    }
    let cell = |((row, column), runs): ((usize, usize), Vec<usize>)| {
        let shown = best_of(&sweep.runs, &runs)?;
        let run = sweep.runs.get(shown)?;
        Some(HeatCell { row, column, runs, shown, value: figure.of(run), fits: run.fits() })
    };
    Some(HeatMap {
        x,
        y,
        figure,
        columns: columns.clone(),
        rows: rows.clone(),
        cells: runs.into_iter().filter_map(cell).collect(),
    })
}
