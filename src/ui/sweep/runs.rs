//! The runs of a sweep as the rows of a table.

use std::sync::Arc;

use crate::analysis::sweep::{Figure, FigureValue, Sweep};
use crate::text::shortened;
use crate::ui::widget::rows::{Column, Rows, Value};

use super::words::option_text;

/// Width of a column of figures, points.
const FIGURE: f32 = 92.0;
/// Options that have a column.
const MOST_OPTIONS: usize = 4;
/// Figures that have a column, in their order.
const FIGURES: [(Figure, &str); 10] = [
    (Figure::FullestTile, "Fullest tile"),
    (Figure::TilesOverLimit, "Tiles over"),
    (Figure::Peak, "Peak"),
    (Figure::AlwaysLive, "Always live"),
    (Figure::IncludingGaps, "With gaps"),
    (Figure::Code, "Code"),
    (Figure::Cycles, "Cycles"),
    (Figure::Throughput, "Samples/s by cycles"),
    (Figure::ThroughputByElapsedTime, "By elapsed time"),
    (Figure::PlannerAtMinimum, "At minimum"),
];

pub struct RunRows(pub Arc<Sweep>);

fn options(sweep: &Sweep) -> impl Iterator<Item = usize> {
    let own = (0..sweep.options.len())
        .filter(|place| sweep.options.get(*place).is_some_and(|option| option.same_as.is_none()));
    own.take(MOST_OPTIONS)
}

pub fn columns(sweep: &Sweep) -> Vec<Column> {
    let mut columns = vec![Column::rest("Run"), Column::text("Fits", 64.0)];
    for place in options(sweep) {
        let name = sweep.options.get(place).map_or("", |option| &*option.short_name);
        columns.push(Column::text(shortened(name, 24).into_owned(), 92.0));
    }
    columns.extend(FIGURES.map(|(figure, title)| {
        let column = if figure.is_bytes() { Column::bytes } else { Column::count };
        column(title.to_owned(), FIGURE).not_summed()
    }));
    columns
}

impl Rows for RunRows {
    fn len(&self) -> usize {
        self.0.runs.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(run) = self.0.runs.get(row) else { return Value::Nothing };
        let options: Vec<usize> = options(&self.0).collect();
        match column {
            0 => Value::text(&*run.name),
            1 if run.error.is_some() => Value::text("error"),
            1 if run.no_report => Value::text("no report"),
            1 => match run.fits {
                Some(true) if self.0.fastest_that_fits.run() == Some(row) => Value::text("fastest"),
                Some(true) => Value::text("yes"),
                Some(false) => Value::text("no"),
                None => Value::Nothing,
            },
            column => match column.checked_sub(2 + options.len()) {
                None => match options.get(column - 2).and_then(|place| self.0.value(row, *place)) {
                    Some(value) => match value.as_f64() {
                        Some(number) => Value::Number(number),
                        None => Value::text(option_text(Some(value))),
                    },
                    None => Value::Nothing,
                },
                Some(place) => {
                    let Some((figure, _)) = FIGURES.get(place) else { return Value::Nothing };
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
        let run = self.0.runs.get(row)?;
        if run.no_report {
            return Some("The run left a log or an app.json, and no report".to_owned());
        }
        run.error.as_ref().map(|error| format!("Could not be read: {}", error.message))
    }
}
