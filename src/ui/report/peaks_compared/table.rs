//! What is alive at the peaks of two runs, as rows of a table whose columns of bytes add up to the peaks.

use std::borrow::Cow;

use crate::analysis::compared_snapshots::Both;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of figures, points, and of words.
const FIGURE: f32 = 110.0;
const WORDS: f32 = 130.0;

/// Rows by something.
pub struct PeakTable {
    /// Its name among tables.
    pub name: &'static str,
    /// Titles of what each row says before its figures.
    pub words: Vec<&'static str>,
    /// What is counted in each row, where that is shown: "blocks".
    pub counted: Option<&'static str>,
    /// What each that is counted is called, where all of a row can be of one size: "Each block".
    pub each: Option<&'static str>,
    pub rows: Vec<PeakRow>,
}

pub struct PeakRow {
    /// As many as the table has titles of words.
    pub words: Vec<Cow<'static, str>>,
    /// Bytes of each that is counted, where all are of one size.
    pub size: Option<u64>,
    pub both: Both,
}

/// A column of figures.
#[derive(Clone, Copy)]
enum Figure {
    Change,
    Size,
    Counts(usize),
    Bytes(usize),
    Difference,
}

impl PeakTable {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let counted = self.counted.map(|_| [Figure::Counts(0), Figure::Counts(1)]);
        let change = self.counted.map(|_| Figure::Change);
        let size = self.each.map(|_| Figure::Size);
        let bytes = [Figure::Bytes(0), Figure::Bytes(1), Figure::Difference];
        change.into_iter().chain(size).chain(counted.into_iter().flatten()).chain(bytes)
    }

    /// The columns, with what the runs are called.
    pub fn columns(&self, titles: [&str; 2]) -> Vec<Column> {
        let mut columns = Vec::new();
        for (place, title) in self.words.iter().enumerate() {
            columns.push(match place {
                0 => Column::rest(*title),
                _ => Column::text(*title, WORDS),
            });
        }
        let title = |side: usize| titles.get(side).copied().unwrap_or_default();
        columns.extend(self.figures().map(|figure| match figure {
            Figure::Change => Column::text("Change", FIGURE),
            Figure::Size => Column::bytes(self.each.unwrap_or_default(), FIGURE).not_summed(),
            Figure::Counts(side) => {
                let counted = self.counted.unwrap_or_default();
                Column::count(format!("{} {counted}", title(side)), FIGURE)
            }
            Figure::Bytes(side) => Column::bytes(title(side), FIGURE),
            Figure::Difference => Column::bytes("Difference", FIGURE),
        }));
        columns
    }
}

impl Rows for PeakTable {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(row) = self.rows.get(row) else { return Value::Nothing };
        if let Some(word) = row.words.get(column) {
            return Value::text(&**word);
        }
        let Both { source, target } = row.both;
        let sides = [source, target];
        let side = |side: usize| sides.get(side).copied().unwrap_or_default();
        match self.figures().nth(column.saturating_sub(self.words.len())) {
            None => Value::Nothing,
            Some(Figure::Change) => Value::text(row.both.row_change().title()),
            Some(Figure::Size) => Value::bytes(row.size),
            Some(Figure::Counts(place)) => Value::Count(side(place).blocks),
            Some(Figure::Bytes(place)) => Value::Bytes(side(place).bytes),
            Some(Figure::Difference) => Value::change(source.bytes, target.bytes),
        }
    }
}
