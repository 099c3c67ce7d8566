//! The variables alive at the selected steps, and those that always live, as tables.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::liveness::variables::VariableRow;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Ranges of steps that are written out.
const MOST_RANGES: usize = 4;

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    /// Bytes at a step, by its place among the selected ones.
    At(usize),
    /// The difference to the step that was selected first.
    Change(usize),
}

/// Variables as a table: a column for each step, and the differences to the first one.
pub struct VariableRows {
    report: Arc<Report>,
    rows: Vec<VariableRow>,
    figures: Vec<Figure>,
}

impl VariableRows {
    /// A table of rows that have a column for each of some steps.
    pub fn new(report: &Arc<Report>, rows: Vec<VariableRow>, steps: usize) -> Self {
        let mut figures = vec![Figure::At(0)];
        for step in 1..steps {
            figures.extend([Figure::At(step), Figure::Change(step)]);
        }
        Self { report: Arc::clone(report), rows, figures }
    }

    /// The name of the variable of a row.
    pub fn name(&self, row: usize) -> Option<&str> {
        self.rows.get(row).map(|row| &*row.name)
    }

    /// Columns for steps of these titles.
    pub fn columns(&self, steps: &[String]) -> Vec<Column> {
        let title = |step: usize| steps.get(step).cloned().unwrap_or_default();
        let figure = |figure: &Figure| match figure {
            Figure::At(0) if steps.len() < 2 => Column::bytes(title(0), 110.0),
            Figure::At(step) => Column::bytes(title(*step), 92.0),
            Figure::Change(step) => {
                // "Step 226 − 36"
                let first = title(0).rsplit(' ').next().unwrap_or_default().to_owned();
                Column::bytes(format!("{} − {first}", title(*step)), 118.0)
            }
        };
        std::iter::once(Column::rest("Variable")).chain(self.figures.iter().map(figure)).collect()
    }

    fn figure(&self, column: usize, bytes: impl Fn(usize) -> u64) -> Value<'_> {
        match column.checked_sub(1).and_then(|figure| self.figures.get(figure)) {
            Some(Figure::At(step)) => Value::Bytes(bytes(*step)),
            Some(Figure::Change(step)) => Value::change(bytes(0), bytes(*step)),
            None => Value::Nothing,
        }
    }
}

impl Rows for VariableRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(row) = self.rows.get(row) else { return Value::Nothing };
        match column {
            0 => Value::text(&*row.name),
            column => self.figure(column, |step| row.bytes.get(step).copied().unwrap_or(0)),
        }
    }

    fn parts(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.parts.len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> Value<'_> {
        let part = self.rows.get(row).and_then(|row| row.parts.get(part));
        let Some(part) = part else { return Value::Nothing };
        if column == 0 {
            return Value::text(life_text(&self.report, part));
        }
        self.figure(column, |step| {
            let is_live = part.is_always_live || part.is_live.get(step) == Some(&true);
            if is_live { part.bytes } else { 0 }
        })
    }
}

/// When a part of a variable is alive.
fn life_text(report: &Report, part: &crate::analysis::liveness::variables::VariablePart) -> String {
    let class = part.class;
    if part.is_always_live {
        return format!("Class {class}, always live");
    }
    let classes = report.liveness.get().map(|liveness| &liveness.classes);
    let ranges = classes.and_then(|classes| Some(classes.ranges_of(classes.ids.position(class)?)));
    format!("Class {class}, {}", ranges_text(report, ranges.unwrap_or(&[])))
}

/// Ranges of steps for people: `steps 3–7, 12 and 4 more`.
pub fn ranges_text(report: &Report, ranges: &[Range<u32>]) -> String {
    let id = |position: u32| {
        let id = report.steps.get().and_then(|steps| steps.ids.get(position as usize));
        id.map_or(u64::from(position), |id| u64::from(id.0))
    };
    let shown = ranges.iter().filter(|range| range.start < range.end).take(MOST_RANGES);
    let texts: Vec<String> = shown
        .map(|range| match (id(range.start), id(range.end - 1)) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}–{last}"),
        })
        .collect();
    let more = ranges.len().saturating_sub(MOST_RANGES);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    if texts.is_empty() {
        "never live".to_owned()
    } else {
        format!("steps {}{more}", texts.join(", "))
    }
}
