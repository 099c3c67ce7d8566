//! The table of operations or modules: of each figure a column, of several runs a column for each and its change.

use std::sync::Arc;

use super::found::OperationsOfRuns;
use crate::analysis::operations::{Figures, OperationFigure};
use crate::text::counted;
use crate::ui::runs::Runs;
use crate::ui::widget::rows::{BarOf, CellValue, Rows, TableColumn};

const WIDTH: f32 = 96.0;
/// Columns of words before the figures.
const WORDS: usize = 2;
/// Columns of words behind them, and which of the words each has; the planner's are of a machine of tiles alone.
const PLANNER: [(&str, usize); 2] = [("Proportion", 2), ("Partials", 3)];
const SOURCE: (&str, usize) = ("Line of code", 4);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationLines {
    #[default]
    Operations,
    Modules,
}

#[derive(Clone, Copy)]
struct OperationColumn {
    figure: OperationFigure,
    run: usize,
    /// Whether it is the difference to the reference.
    is_change: bool,
    /// Of a change, whether the first run and this one say the figure of their operations.
    are_known: [bool; 2],
}

pub struct OperationRows {
    found: Arc<OperationsOfRuns>,
    lines: OperationLines,
    shown: Vec<OperationColumn>,
    behind: Vec<(&'static str, usize)>,
}

impl OperationRows {
    /// `has_planner` says whether operations have what a planner goes by.
    pub fn new(
        found: Arc<OperationsOfRuns>,
        lines: OperationLines,
        figures: &[OperationFigure],
        has_planner: bool,
    ) -> Self {
        let runs = found.runs.len();
        let of_figure = |figure: &OperationFigure| {
            let figure = *figure;
            let is_first_known = runs > 1 && found.knows(0, figure);
            let found = &found;
            let of_run = move |run: usize| {
                let own = OperationColumn { figure, run, is_change: false, are_known: [false; 2] };
                let change = (run > 0).then(|| OperationColumn {
                    is_change: true,
                    are_known: [is_first_known, found.knows(run, figure)],
                    ..own
                });
                std::iter::once(own).chain(change)
            };
            (0..runs).flat_map(of_run)
        };
        let shown = figures.iter().flat_map(of_figure).collect();
        let planner = PLANNER.into_iter().filter(|_| has_planner);
        let behind = planner.chain([SOURCE]).collect();
        Self { found, lines, shown, behind }
    }

    pub fn columns(&self, runs: &Runs) -> Vec<TableColumn> {
        let first = match self.lines {
            OperationLines::Operations => ["Name", "Operation"],
            OperationLines::Modules => ["Module", "Operations"],
        };
        let mut columns: Vec<TableColumn> = first.map(TableColumn::rest).into();
        columns.extend(self.shown.iter().map(|shown| self.column(runs, *shown)));
        if self.lines == OperationLines::Operations {
            columns.extend(self.behind.iter().map(|(title, _)| TableColumn::rest(*title)));
        }
        columns
    }

    fn column(
        &self,
        runs: &Runs,
        OperationColumn { figure, run, is_change, .. }: OperationColumn,
    ) -> TableColumn {
        let title = &*figure.title_in(runs.system());
        let column = if figure.is_bytes() { TableColumn::bytes } else { TableColumn::count };
        let mut column = column(title, WIDTH);
        if !figure.adds_up() {
            column = column.not_summed();
        }
        if let Some(of) = runs.get(run).filter(|_| !runs.is_one()) {
            let after = if is_change { "change" } else { title };
            let whole = if is_change { format!("{title} (change)") } else { title.to_owned() };
            column = column.of_run(Some(of.badge), after).called(format!("{}: {whole}", of.title));
        } else if figure == OperationFigure::PeakLive {
            let whole = self.found.runs.first().and_then(Option::as_ref);
            let whole = whole.and_then(|found| found.table.whole.get(figure)).unwrap_or(0) as f64;
            if whole > 0.0 {
                let of = "of the peak";
                column = column.with_bars(BarOf { track: whole, limit: None, whole, of });
            }
        }
        column
    }

    /// The operation in a line; `None` of others.
    pub fn operation(&self, line: usize) -> Option<usize> {
        let is_operation = self.lines == OperationLines::Operations && line < self.found.rows.len();
        is_operation.then_some(line)
    }

    fn lines(&self) -> usize {
        match self.lines {
            OperationLines::Operations => self.found.rows.len(),
            OperationLines::Modules => self.found.modules.len(),
        }
    }

    /// The figures of a line in a run; the last line is what belongs to none.
    fn figures(&self, line: usize, run: usize) -> Option<&Figures> {
        if line >= self.lines() {
            return Some(&self.found.runs.get(run)?.as_ref()?.table.rest);
        }
        match self.lines {
            OperationLines::Operations => Some(&self.found.operation(line, run)?.figures),
            OperationLines::Modules => self.found.modules.get(line)?.figures.get(run)?.as_ref(),
        }
    }

    fn word(&self, row: usize, column: usize) -> CellValue<'_> {
        let words = self.found.words.get(row);
        let word = |at| words.and_then(|words| words.get(at));
        // Of a name that is no path the operation would be the name again.
        let is_again = column == 1 && word(0) == word(1);
        match word(column).filter(|word| !word.is_empty() && !is_again) {
            Some(word) => CellValue::text(word.as_str()),
            None => CellValue::Nothing,
        }
    }
}

/// The cell of a line whose figures in a run are those of `of`. A line that a run does not have counts as 0 in a change,
/// if the figure is known of the run, so that changes add up to the difference of the totals.
fn cell<'a>(shown: OperationColumn, of: impl Fn(usize) -> Option<&'a Figures>) -> CellValue<'a> {
    let OperationColumn { figure, run, is_change, are_known: [is_first_known, is_known] } = shown;
    let number = |run| of(run).and_then(|figures| figures.get(figure));
    let is_bytes = figure.is_bytes();
    let signed = |number| {
        if is_bytes { CellValue::Change(number) } else { CellValue::CountChange(number) }
    };
    if is_change {
        let or_none = |run, is_known: bool| match of(run) {
            Some(figures) => figures.get(figure),
            None => is_known.then_some(0),
        };
        let change = or_none(0, is_first_known).zip(or_none(run, is_known));
        return change.map_or(CellValue::Nothing, |(from, to)| signed(to.saturating_sub(from)));
    }
    match number(run).map(|number| (number, u64::try_from(number))) {
        None => CellValue::Nothing,
        Some((_, Ok(bytes))) if is_bytes => CellValue::Bytes(bytes),
        Some((_, Ok(count))) => CellValue::Count(count),
        Some((number, Err(_))) => signed(number),
    }
}

impl Rows for OperationRows {
    fn len(&self) -> usize {
        if self.found.rows.is_empty() { 0 } else { self.lines().saturating_add(1) }
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let is_rest = row >= self.lines();
        if let Some(shown) = column.checked_sub(WORDS).and_then(|at| self.shown.get(at)) {
            let of_run = |run| self.figures(row, run);
            return cell(*shown, of_run);
        }
        match (column.checked_sub(WORDS), self.lines) {
            (None, _) if is_rest => {
                CellValue::text(if column == 0 { "Without an operation" } else { "" })
            }
            (None, OperationLines::Operations) => self.word(row, column),
            (None, OperationLines::Modules) => {
                let Some(module) = self.found.modules.get(row) else { return CellValue::Nothing };
                match column {
                    0 => CellValue::text(module.name.as_str()),
                    _ => CellValue::text(counted(module.rows.len() as u64, "operation")),
                }
            }
            (Some(_), _) if is_rest => CellValue::Nothing,
            (Some(at), OperationLines::Operations) => {
                let behind = self.behind.get(at.saturating_sub(self.shown.len()));
                behind.map_or(CellValue::Nothing, |(_, word)| self.word(row, *word))
            }
            (Some(_), OperationLines::Modules) => CellValue::Nothing,
        }
    }

    fn parts(&self, row: usize) -> usize {
        let is_module = self.lines == OperationLines::Modules;
        let module = self.found.modules.get(row).filter(|_| is_module);
        module.map_or(0, |module| module.rows.len())
    }

    fn are_parts_found(&self) -> bool {
        true
    }

    fn part(&self, row: usize, part: usize, column: usize) -> CellValue<'_> {
        let of_part = || self.found.modules.get(row)?.rows.get(part).copied();
        let Some(place) = of_part() else { return CellValue::Nothing };
        match column.checked_sub(WORDS) {
            None => self.word(place, column),
            Some(at) => self.shown.get(at).map_or(CellValue::Nothing, |shown| {
                let of_run = |run| Some(&self.found.operation(place, run)?.figures);
                cell(*shown, of_run)
            }),
        }
    }

    fn name(&self, row: usize) -> Option<String> {
        match self.value(row, 0) {
            CellValue::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }
}
