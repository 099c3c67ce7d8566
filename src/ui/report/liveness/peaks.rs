//! The list of peaks: where they are, how high in each run, and which operation makes them.

use std::sync::Arc;

use super::timelines::SlotTimelines;
use crate::analysis::comparison::slot_peaks::SlotPeak;
use crate::analysis::liveness::Scope;
use crate::analysis::program::operation_text::operations_text;
use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps;
use crate::ui::runs::{Run, Runs};
use crate::ui::widget::rows::{Column, Rows, Value};

pub struct PeakRows {
    runs: Arc<Runs>,
    timelines: Arc<SlotTimelines>,
    cells: Vec<(Cell, Column)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// The step of a run.
    Step(usize),
    Operation,
    Name,
    Bytes(usize),
    /// The difference to the reference.
    Change(usize),
    /// The difference in percent of the source.
    Percent,
}

impl PeakRows {
    pub fn new(runs: &Arc<Runs>, timelines: &Arc<SlotTimelines>) -> Self {
        let cells = cells(runs, timelines.scope);
        Self { runs: Arc::clone(runs), timelines: Arc::clone(timelines), cells }
    }

    pub fn columns(&self) -> Vec<Column> {
        self.cells.iter().map(|(_, column)| column.clone()).collect()
    }

    pub fn slot(&self, row: usize) -> Option<usize> {
        self.timelines.peaks.get(row).map(|peak| peak.slot)
    }

    /// The runs, each with its step of a peak.
    fn steps<'a>(&'a self, peak: &'a SlotPeak) -> impl Iterator<Item = (&'a Run, usize)> {
        let steps = self.runs.iter().zip(&peak.steps);
        steps.filter_map(|(run, step)| Some((run, (*step)?)))
    }

    fn operation(&self, peak: &SlotPeak) -> String {
        let operation = |(run, step): (&Run, usize)| steps::facts(&run.report, step)?.operation;
        let operations: Vec<Operation> = self.steps(peak).filter_map(operation).collect();
        operations_text(&operations)
    }

    fn name(&self, peak: &SlotPeak) -> Option<String> {
        let name = |(run, step): (&Run, usize)| {
            let facts = steps::facts(&run.report, step)?;
            facts.name.or(facts.kind)
        };
        // Steps that share a slot by number or by their place may do different things.
        let mut names: Vec<String> = self.steps(peak).filter_map(name).collect();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" → "))
    }
}

fn cells(runs: &Runs, scope: Scope) -> Vec<(Cell, Column)> {
    let bytes = |title: String, width| Column::bytes(title, width).not_summed();
    // Of the worst tile, whose always-live bytes differ from step to step, peaks are of everything.
    let what = if scope == Scope::WorstArena { "Everything alive" } else { "Not always live" };
    if runs.is_one() {
        return vec![
            (Cell::Step(0), Column::text("Step", 54.0)),
            (Cell::Bytes(0), bytes(what.to_owned(), 104.0)),
            (Cell::Operation, Column::text("Operation", 116.0)),
            (Cell::Name, Column::rest("Name")),
        ];
    }
    let runs_and = |cell: fn(usize) -> Cell, column: &dyn Fn(&Run) -> Column| {
        let cell = |(place, run): (usize, &Run)| (cell(place), column(run));
        runs.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let mut cells = runs_and(Cell::Step, &|run| Column::text(format!("{} step", run.title), 80.0));
    cells.push((Cell::Operation, Column::text("Operation", 138.0)));
    cells.push((Cell::Name, Column::rest("Name")));
    cells.extend(runs_and(Cell::Bytes, &|run| bytes(run.title.to_string(), 76.0)));
    if runs.len() == 2 {
        let percent = Column::count("Of the source", 96.0).not_summed();
        cells.push((Cell::Change(1), bytes("Difference".to_owned(), 98.0)));
        cells.push((Cell::Percent, Column { unit: "percent", ..percent }));
    } else {
        let reference = &runs.reference().title;
        let changes =
            runs_and(Cell::Change, &|run| bytes(format!("{} − {reference}", run.title), 98.0));
        cells.extend(changes.into_iter().skip(1));
    }
    cells
}

impl Rows for PeakRows {
    fn len(&self) -> usize {
        self.timelines.peaks.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(peak) = self.timelines.peaks.get(row) else { return Value::Nothing };
        let Some((cell, _)) = self.cells.get(column) else { return Value::Nothing };
        let bytes = |run: usize| peak.bytes.get(run).copied().flatten();
        match *cell {
            Cell::Step(run) => {
                let step = peak.steps.get(run).copied().flatten();
                let id = step.and_then(|step| {
                    Some(self.runs.get(run)?.report.steps.get()?.ids.get(step)?.0)
                });
                id.map_or(Value::Nothing, |id| Value::Id(u64::from(id)))
            }
            Cell::Operation => Value::text(self.operation(peak)),
            Cell::Name => Value::text(self.name(peak).unwrap_or_default()),
            Cell::Bytes(run) => Value::bytes(bytes(run)),
            Cell::Change(run) => Value::change_if_known(bytes(0), bytes(run)),
            Cell::Percent => match (bytes(0), bytes(1)) {
                (Some(_), None) => Value::text("only in source"),
                (None, Some(_)) => Value::text("only in target"),
                (Some(from @ 1..), Some(to)) => {
                    let percent = (to as f64 - from as f64) * 1000.0 / from as f64;
                    Value::Percent(percent.round() / 10.0)
                }
                _ => Value::Nothing,
            },
        }
    }
}
