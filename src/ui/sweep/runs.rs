//! The runs of a sweep as the rows of a table.

use std::sync::Arc;

use crate::analysis::sweep::{Figure, FigureValue, Sweep};
use crate::text::{capitalised, shortened};
use crate::ui::widget::rows::{BarOf, Column, Rows, Value};
use crate::ui::widget::sign::Sign;

use super::words::{brief_name, option_text};

/// Least width of a column of figures, points.
const FIGURE: f32 = 60.0;
/// Options that have a column.
const MOST_OPTIONS: usize = 4;
/// Figures that have a column where they are known, in their order.
const FIGURES: [(Figure, &str); 10] = [
    (Figure::Throughput, "Samples/s"),
    (Figure::FullestTile, "Fullest tile"),
    (Figure::Peak, "Peak"),
    (Figure::AlwaysLive, "Always live"),
    (Figure::Code, "Code"),
    (Figure::Cycles, "Cycles"),
    (Figure::TilesOverLimit, "Tiles over"),
    (Figure::IncludingGaps, "With gaps"),
    (Figure::ThroughputByElapsedTime, "By elapsed time"),
    (Figure::PlannerAtMinimum, "At minimum"),
];
/// How much longer a track is than the limit, as a share of it.
const BEYOND_LIMIT: f64 = 1.1;

pub struct RunRows {
    sweep: Arc<Sweep>,
    options: Vec<usize>,
    figures: Vec<(Figure, &'static str)>,
    pub columns: Vec<Column>,
}

impl RunRows {
    pub fn new(sweep: Arc<Sweep>) -> Self {
        let is_own = |place: &usize| {
            sweep.options.get(*place).is_some_and(|option| option.same_as.is_none())
        };
        let options = (0..sweep.options.len()).filter(is_own).take(MOST_OPTIONS).collect();
        let is_known = |figure: Figure| sweep.runs.iter().any(|run| figure.of(run).is_some());
        let figures = FIGURES.into_iter().filter(|(figure, _)| is_known(*figure)).collect();
        let mut rows = Self { sweep, options, figures, columns: Vec::new() };
        rows.columns = rows.made_columns();
        rows
    }

    /// The column of a figure, if it has one.
    pub fn column_of(&self, figure: Figure) -> Option<usize> {
        let place = self.figures.iter().position(|(other, _)| *other == figure)?;
        Some(2 + self.options.len() + place)
    }

    fn made_columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::rest("Run"), Column::text("Fits", 84.0)];
        for option in self.options.iter().filter_map(|place| self.sweep.options.get(*place)) {
            let (title, whole) = (capitalised(&brief_name(option)), &*option.short_name);
            let is_number = option.values.iter().flatten().all(|it| it.as_f64().is_some());
            let column = if is_number { Column::count } else { Column::text };
            let column = column(title, FIGURE).not_summed();
            columns.push(column.called(shortened(whole, 60)));
        }
        columns.extend(self.figures.iter().map(|(figure, title)| {
            let column = if figure.is_bytes() { Column::bytes } else { Column::count };
            let column = column((*title).to_owned(), FIGURE).not_summed();
            let column = column.called(self.sweep.figure_title(*figure));
            match self.bar_of(*figure) {
                Some(bar) => column.with_bars(bar),
                None => column,
            }
        }));
        columns
    }

    /// Throughput is of the best run, the fullest tile of the limit, where all runs have the same.
    fn bar_of(&self, figure: Figure) -> Option<BarOf> {
        let values = self.sweep.runs.iter().filter_map(|run| figure.of(run));
        let most = values.map(FigureValue::as_f64).fold(0.0, f64::max);
        match figure {
            Figure::Throughput => {
                let best = self.sweep.fastest_that_fits.run();
                let best = best.and_then(|run| figure.of(self.sweep.runs.get(run)?));
                let whole = best.map(FigureValue::as_f64).filter(|best| *best > 0.0)?;
                Some(BarOf { track: most.max(whole), limit: None, whole, of: "of the best" })
            }
            Figure::FullestTile => {
                let limit = self.sweep.bytes_per_tile().filter(|limit| *limit > 0)? as f64;
                let track = most.max(limit) * BEYOND_LIMIT;
                Some(BarOf { track, limit: Some(limit), whole: limit, of: "of the limit" })
            }
            _ => None,
        }
    }
}

impl Rows for RunRows {
    fn len(&self) -> usize {
        self.sweep.runs.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(run) = self.sweep.runs.get(row) else { return Value::Nothing };
        match column {
            0 => Value::text(&*run.name),
            1 if run.error.is_some() => Value::Verdict(Sign::Note, "error"),
            1 if run.no_report => Value::Verdict(Sign::Note, "no report"),
            1 => match run.fits {
                Some(true) if self.sweep.fastest_that_fits.run() == Some(row) => {
                    Value::Verdict(Sign::Fits, "best ★")
                }
                Some(true) => Value::Verdict(Sign::Fits, "fits"),
                Some(false) => Value::Verdict(Sign::Over, "over"),
                None => Value::Nothing,
            },
            column => match (column - 2).checked_sub(self.options.len()) {
                None => {
                    let option = self.options.get(column - 2);
                    match option.and_then(|place| self.sweep.value(row, *place)) {
                        Some(value) => match value.as_f64() {
                            Some(number) => Value::Number(number),
                            None => Value::text(option_text(Some(value))),
                        },
                        None => Value::Nothing,
                    }
                }
                Some(place) => {
                    let Some((figure, _)) = self.figures.get(place) else { return Value::Nothing };
                    match figure.of(run) {
                        Some(FigureValue::Count(bytes)) if figure.is_bytes() => Value::Bytes(bytes),
                        Some(FigureValue::Count(count)) => Value::Count(count),
                        Some(FigureValue::Rate(rate)) => Value::Rate(rate),
                        Some(FigureValue::Flag(_)) | None => Value::Nothing,
                    }
                }
            },
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let run = self.sweep.runs.get(row)?;
        if run.no_report {
            return Some("The run left a log or an app.json, and no report".to_owned());
        }
        run.error.as_ref().map(|error| format!("Could not be read: {}", error.message))
    }
}
