//! The runs of a sweep as the rows of a table.

use std::sync::Arc;

use crate::analysis::sweep::{FigureToSweep, FigureValue, Percents, Sweep, SweepRun, THROUGHPUT};
use crate::text::{capitalised, shortened};
use crate::ui::widget::rows::{BarOf, CellValue, Rows, TableColumn};
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
enum SweepColumn {
    Name,
    System,
    Verdict,
    Mark,
    Option(usize),
    Figure(FigureToSweep),
    Percent(FigureToSweep),
    PercentOfPrevious(FigureToSweep),
}

pub struct SweepRows {
    sweep: Arc<Sweep>,
    shown: Vec<SweepColumn>,
    pub columns: Vec<TableColumn>,
}

impl SweepRows {
    pub fn new(sweep: Arc<Sweep>) -> Self {
        let mut all = vec![(TableColumn::rest("Run"), SweepColumn::Name)];
        if sweep.systems().len() > 1 {
            all.push((TableColumn::text("System", FIGURE), SweepColumn::System));
        }
        if sweep.reference_text().is_some() {
            all.push((TableColumn::text("Mark", 76.0), SweepColumn::Mark));
        }
        all.push((TableColumn::text("Verdict", 96.0), SweepColumn::Verdict));
        let own = sweep.options.iter().enumerate().filter(|(_, option)| option.is_column());
        for (place, option) in own.take(MOST_OPTIONS) {
            let (title, whole) =
                (capitalised(&brief_name(&sweep.options, option)), &*option.short_name);
            let is_number = option.values.iter().flatten().all(|it| it.as_f64().is_some());
            let column = if is_number { TableColumn::count } else { TableColumn::text };
            let column = column(title, FIGURE).not_summed();
            all.push((column.called(shortened(whole, 60)), SweepColumn::Option(place)));
        }
        for kind in sweep.columns() {
            let figure = FigureToSweep::Known(kind);
            let column = if figure.is_bytes() { TableColumn::bytes } else { TableColumn::count };
            let column = column(capitalised(kind.column), FIGURE).not_summed().called(kind.title);
            let column = match bar_of(&sweep, figure) {
                Some(bar) => column.with_bars(bar),
                None => column,
            };
            all.push((column, SweepColumn::Figure(figure)));
            let percent = |short: &str, of: &str| {
                let column = TableColumn::count(short, PERCENT).not_summed();
                column.called(format!("{}, percent of the {of}", kind.title))
            };
            if kind.percents != Percents::No {
                all.push((percent("%", "reference"), SweepColumn::Percent(figure)));
            }
            if kind.percents == Percents::OfBoth {
                all.push((
                    percent("% before", "one before"),
                    SweepColumn::PercentOfPrevious(figure),
                ));
            }
        }
        let (columns, shown) =
            all.into_iter().map(|(column, shown)| (column.dense(), shown)).unzip();
        Self { sweep, shown, columns }
    }

    pub fn column_of(&self, figure: FigureToSweep) -> Option<usize> {
        self.shown
            .iter()
            .position(|shown| matches!(shown, SweepColumn::Figure(other) if *other == figure))
    }

    fn verdict(&self, row: usize, run: &SweepRun) -> CellValue<'_> {
        let is_best = self.sweep.best.is_ok_and(|best| best.run == row);
        match run.verdict.outcome {
            _ if run.error.is_some() => CellValue::Verdict(Sign::Note, "error"),
            _ if run.no_report => CellValue::Verdict(Sign::Note, "no report"),
            _ if is_best => CellValue::Verdict(Sign::Fits, "best ★"),
            outcome => CellValue::Verdict(Sign::of(outcome.went_well()), outcome.word()),
        }
    }
}

/// Throughput is of the best run, what is needed of what others leave, where all runs have the same.
fn bar_of(sweep: &Sweep, figure: FigureToSweep) -> Option<BarOf> {
    let values = sweep.runs.iter().filter_map(|run| figure.of(run));
    let most = values.map(FigureValue::as_f64).fold(0.0, f64::max);
    if figure.is(&THROUGHPUT) {
        let best = sweep.runs.get(sweep.best.ok()?.run)?;
        let whole = figure.of(best).map(FigureValue::as_f64).filter(|best| *best > 0.0)?;
        return Some(BarOf { track: most.max(whole), limit: None, whole, of: "of the best" });
    }
    let limit = sweep.limit_bytes().filter(|limit| *limit > 0)? as f64;
    let track = most.max(limit) * BEYOND_LIMIT;
    let of = "of the limit";
    sweep.is_what_is_needed(figure).then_some(BarOf { track, limit: Some(limit), whole: limit, of })
}

impl Rows for SweepRows {
    fn len(&self) -> usize {
        self.sweep.runs.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let sweep = &*self.sweep;
        let (Some(run), Some(shown)) = (sweep.runs.get(row), self.shown.get(column)) else {
            return CellValue::Nothing;
        };
        let tenths = |percent: Option<f64>| percent.map_or(CellValue::Nothing, CellValue::Tenths);
        match *shown {
            SweepColumn::Name => CellValue::text(&*run.name),
            SweepColumn::System => CellValue::text(run.system),
            SweepColumn::Verdict => self.verdict(row, run),
            SweepColumn::Mark if sweep.reference == Some(row) => CellValue::text("reference"),
            SweepColumn::Mark => CellValue::Nothing,
            SweepColumn::Option(place) => match sweep.value(row, place) {
                Some(value) => match value.as_f64() {
                    Some(number) => CellValue::Number(number),
                    None => CellValue::text(option_text(Some(value))),
                },
                None => CellValue::Nothing,
            },
            SweepColumn::Figure(figure) => match figure.of(run) {
                Some(FigureValue::Count(bytes)) if figure.is_bytes() => {
                    if figure.is_at_least(run) {
                        CellValue::AtLeast(bytes)
                    } else {
                        CellValue::Bytes(bytes)
                    }
                }
                Some(FigureValue::Count(count)) => CellValue::Count(count),
                Some(FigureValue::Rate(rate)) => CellValue::Rate(rate),
                None => CellValue::Nothing,
            },
            SweepColumn::Percent(figure) => tenths(sweep.percent(row, figure)),
            SweepColumn::PercentOfPrevious(figure) => {
                tenths(sweep.percent_of_previous(row, figure))
            }
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
        let of = run.facts.of.as_ref().map(|of| format!("Figures of {of}"));
        let notes = run.facts.notes.iter().map(|note| (*note).to_owned());
        let lines = [run.path.clone(), run.verdict.text.clone()].into_iter().chain(of).chain(notes);
        Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    }
}
