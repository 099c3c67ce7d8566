//! The runs of a sweep as the rows of a table.

use std::sync::Arc;

use crate::analysis::sweep::{Figure, FigureValue, Percents, Sweep, SweepRun, THROUGHPUT};
use crate::text::{capitalised, shortened};
use crate::ui::widget::rows::{BarOf, Column, Rows, Value};
use crate::ui::widget::sign::Sign;

use super::words::{brief_name, option_text};

/// Least width of a column of figures, points.
const FIGURE: f32 = 60.0;
/// Least width of a column of percents, points.
const PERCENT: f32 = 34.0;
/// Options that have a column.
const MOST_OPTIONS: usize = 4;
/// How much longer a track is than the limit, as a share of it.
const BEYOND_LIMIT: f64 = 1.1;

#[derive(Clone, Copy)]
enum Shown {
    Name,
    System,
    Verdict,
    Mark,
    Option(usize),
    Figure(Figure),
    Percent(Figure),
    PercentOfPrevious(Figure),
}

pub struct RunRows {
    sweep: Arc<Sweep>,
    shown: Vec<Shown>,
    pub columns: Vec<Column>,
}

impl RunRows {
    pub fn new(sweep: Arc<Sweep>) -> Self {
        let mut all = vec![(Column::rest("Run"), Shown::Name)];
        if sweep.systems().len() > 1 {
            all.push((Column::text("System", FIGURE), Shown::System));
        }
        if sweep.reference_text().is_some() {
            all.push((Column::text("Mark", 76.0), Shown::Mark));
        }
        all.push((Column::text("Verdict", 96.0), Shown::Verdict));
        let own = sweep.options.iter().enumerate().filter(|(_, option)| option.is_column());
        for (place, option) in own.take(MOST_OPTIONS) {
            let (title, whole) = (capitalised(&brief_name(option)), &*option.short_name);
            let is_number = option.values.iter().flatten().all(|it| it.as_f64().is_some());
            let column = if is_number { Column::count } else { Column::text };
            let column = column(title, FIGURE).not_summed();
            all.push((column.called(shortened(whole, 60)), Shown::Option(place)));
        }
        for kind in sweep.columns() {
            let figure = Figure::Known(kind);
            let column = if figure.is_bytes() { Column::bytes } else { Column::count };
            let column = column(capitalised(kind.column), FIGURE).not_summed().called(kind.title);
            let column = match bar_of(&sweep, figure) {
                Some(bar) => column.with_bars(bar),
                None => column,
            };
            all.push((column, Shown::Figure(figure)));
            let percent = |short: &str, of: &str| {
                let column = Column::count(short, PERCENT).not_summed();
                column.called(format!("{}, percent of the {of}", kind.title))
            };
            if kind.percents != Percents::No {
                all.push((percent("%", "reference"), Shown::Percent(figure)));
            }
            if kind.percents == Percents::OfBoth {
                all.push((percent("% before", "one before"), Shown::PercentOfPrevious(figure)));
            }
        }
        let (columns, shown) =
            all.into_iter().map(|(column, shown)| (column.dense(), shown)).unzip();
        Self { sweep, shown, columns }
    }

    pub fn column_of(&self, figure: Figure) -> Option<usize> {
        self.shown
            .iter()
            .position(|shown| matches!(shown, Shown::Figure(other) if *other == figure))
    }

    fn verdict(&self, row: usize, run: &SweepRun) -> Value<'_> {
        let is_best = self.sweep.best.is_ok_and(|best| best.run == row);
        match run.verdict.outcome {
            _ if run.error.is_some() => Value::Verdict(Sign::Note, "error"),
            _ if run.no_report => Value::Verdict(Sign::Note, "no report"),
            _ if is_best => Value::Verdict(Sign::Fits, "best ★"),
            outcome => Value::Verdict(Sign::of(outcome.went_well()), outcome.word()),
        }
    }
}

/// Throughput is of the best run, what is needed of what there is, where all runs have the same.
fn bar_of(sweep: &Sweep, figure: Figure) -> Option<BarOf> {
    let values = sweep.runs.iter().filter_map(|run| figure.of(run));
    let most = values.map(FigureValue::as_f64).fold(0.0, f64::max);
    if figure.is(&THROUGHPUT) {
        let best = sweep.runs.get(sweep.best.ok()?.run)?;
        let whole = figure.of(best).map(FigureValue::as_f64).filter(|best| *best > 0.0)?;
        return Some(BarOf { track: most.max(whole), limit: None, whole, of: "of the best" });
    }
    let limit = sweep.capacity_bytes().filter(|limit| *limit > 0)? as f64;
    let track = most.max(limit) * BEYOND_LIMIT;
    let of = "of the limit";
    sweep.is_what_is_needed(figure).then_some(BarOf { track, limit: Some(limit), whole: limit, of })
}

impl Rows for RunRows {
    fn len(&self) -> usize {
        self.sweep.runs.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let sweep = &*self.sweep;
        let (Some(run), Some(shown)) = (sweep.runs.get(row), self.shown.get(column)) else {
            return Value::Nothing;
        };
        let tenths = |percent: Option<f64>| percent.map_or(Value::Nothing, Value::Tenths);
        match *shown {
            Shown::Name => Value::text(&*run.name),
            Shown::System => Value::text(run.system),
            Shown::Verdict => self.verdict(row, run),
            Shown::Mark if sweep.reference == Some(row) => Value::text("reference"),
            Shown::Mark => Value::Nothing,
            Shown::Option(place) => match sweep.value(row, place) {
                Some(value) => match value.as_f64() {
                    Some(number) => Value::Number(number),
                    None => Value::text(option_text(Some(value))),
                },
                None => Value::Nothing,
            },
            Shown::Figure(figure) => match figure.of(run) {
                Some(FigureValue::Count(bytes)) if figure.is_bytes() => {
                    if figure.is_at_least(run) {
                        Value::AtLeast(bytes)
                    } else {
                        Value::Bytes(bytes)
                    }
                }
                Some(FigureValue::Count(count)) => Value::Count(count),
                Some(FigureValue::Rate(rate)) => Value::Rate(rate),
                None => Value::Nothing,
            },
            Shown::Percent(figure) => tenths(sweep.percent(row, figure)),
            Shown::PercentOfPrevious(figure) => tenths(sweep.percent_of_previous(row, figure)),
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let run = self.sweep.runs.get(row)?;
        if run.no_report {
            return Some("The run left a log or an app.json, and no report".to_owned());
        }
        if let Some(error) = &run.error {
            return Some(format!("Could not be read: {}", error.message));
        }
        let of = run.facts.of.as_ref().map(|of| format!("Of {of}"));
        let notes = run.facts.notes.iter().map(|note| (*note).to_owned());
        let lines = [run.path.clone(), run.verdict.text.clone()].into_iter().chain(of).chain(notes);
        Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    }
}
