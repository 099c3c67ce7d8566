//! A table of the bytes alive at the peaks of two runs; its columns add up to the peaks.

use std::borrow::Cow;

use crate::run::compared::amounts::Both;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{ComparedRow, OwnerRow, Peaks};
use crate::run::compared::{Compared, ComparedWords, PeakTab};
use crate::text::clean;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of figures, points, and of words.
const FIGURE: f32 = 110.0;
const WORDS: f32 = 130.0;
/// Callers that a row names.
const MOST_CALLERS: usize = 16;

/// Rows by something.
pub struct PeakTable {
    /// Its name among tables.
    pub name: String,
    /// Titles of what each row says before its figures.
    pub words: Vec<&'static str>,
    /// What is counted in each row: "blocks".
    pub counted: &'static str,
    /// What each that is counted is called, where all of a row can be of one size: "Each block".
    pub each: Option<&'static str>,
    pub rows: Vec<ComparedPeakRow>,
}

pub struct ComparedPeakRow {
    /// As many as the table has titles of words.
    pub words: Vec<Cow<'static, str>>,
    /// Bytes of each that is counted, where all are of one size.
    pub size: Option<u64>,
    pub both: Both,
}

/// A column of figures.
#[derive(Clone, Copy)]
enum PeakColumn {
    Change,
    Size,
    Counts(usize),
    Bytes(usize),
    Difference,
}

/// The tables of a comparison, in the order of their tabs; none where nothing is known of what is alive at a peak.
pub fn of(compared: &Compared) -> Vec<PeakTable> {
    let (words, peaks) = (compared.words, compared.peaks.as_ref());
    let table = |peaks: &Peaks, tab: PeakTab| match tab {
        PeakTab::Rows => PeakTable::of_rows(words, peaks),
        PeakTab::Owners => PeakTable::of_owners(words, peaks),
    };
    let tables = |peaks| words.tabs.map(|(tab, _)| table(peaks, tab)).into();
    peaks.map_or_else(Vec::new, tables)
}

fn word(text: &str) -> Cow<'static, str> {
    Cow::Owned(clean(text).into_owned())
}

fn owner_word(words: &ComparedWords, owner: Option<&Owner>) -> Cow<'static, str> {
    owner.map_or_else(|| word(words.nobody), |owner| word(&owner.title()))
}

impl PeakTable {
    fn of_rows(words: &ComparedWords, peaks: &Peaks) -> Self {
        let row = |row: &ComparedRow| {
            let other = peaks.owner_of_source(row).map(|owner| owner_word(words, owner));
            let callers = || {
                let mut names = peaks.callers(row).map(clean);
                let first: Vec<_> = names.by_ref().take(MOST_CALLERS).collect();
                let more = if names.next().is_some() { " < …" } else { "" };
                Cow::Owned(first.join(" < ") + more)
            };
            let detail = peaks.detail(row).map(|detail| word(&detail));
            ComparedPeakRow {
                words: vec![
                    owner_word(words, peaks.owner(row)),
                    other.unwrap_or_default(),
                    detail.unwrap_or_else(callers),
                    Cow::Borrowed(row.category.title),
                ],
                size: row.size,
                both: row.both,
            }
        };
        Self {
            name: format!("{} at both peaks", words.counted),
            words: vec![words.owner, "In place of", words.detail, "Purpose"],
            counted: words.counted,
            each: words.each,
            rows: peaks.rows.iter().map(row).collect(),
        }
    }

    fn of_owners(words: &ComparedWords, peaks: &Peaks) -> Self {
        let row = |row: &OwnerRow| ComparedPeakRow {
            words: vec![
                owner_word(words, row.owner.as_ref()),
                Cow::Borrowed(row.category.map_or("", |category| category.title)),
            ],
            size: None,
            both: row.both,
        };
        Self {
            name: format!("{}s at both peaks", words.owner.to_lowercase()),
            words: vec![words.owner, "Purpose"],
            counted: words.counted,
            each: None,
            rows: peaks.by_owner_and_category.iter().map(row).collect(),
        }
    }

    fn figures(&self) -> impl Iterator<Item = PeakColumn> {
        let size = self.each.map(|_| PeakColumn::Size);
        let rest = [
            PeakColumn::Counts(0),
            PeakColumn::Counts(1),
            PeakColumn::Bytes(0),
            PeakColumn::Bytes(1),
            PeakColumn::Difference,
        ];
        std::iter::once(PeakColumn::Change).chain(size).chain(rest)
    }

    /// The columns, with what the runs are called.
    pub fn columns(&self, titles: [&str; 2]) -> Vec<TableColumn> {
        let mut columns = Vec::new();
        for (place, title) in self.words.iter().enumerate() {
            columns.push(match place {
                0 => TableColumn::rest(*title),
                _ => TableColumn::text(*title, WORDS),
            });
        }
        let title = |side: usize| titles.get(side).copied().unwrap_or_default();
        columns.extend(self.figures().map(|figure| match figure {
            PeakColumn::Change => TableColumn::text("Change", FIGURE),
            PeakColumn::Size => {
                TableColumn::bytes(self.each.unwrap_or_default(), FIGURE).not_summed()
            }
            PeakColumn::Counts(side) => {
                TableColumn::count(format!("{} {}", title(side), self.counted), FIGURE)
            }
            PeakColumn::Bytes(side) => TableColumn::bytes(title(side), FIGURE),
            PeakColumn::Difference => TableColumn::bytes("Difference", FIGURE),
        }));
        columns
    }
}

impl Rows for PeakTable {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(row) = self.rows.get(row) else { return CellValue::Nothing };
        if let Some(word) = row.words.get(column) {
            return CellValue::text(&**word);
        }
        let Both { source, target } = row.both;
        let sides = [source, target];
        let side = |side: usize| sides.get(side).copied().unwrap_or_default();
        match self.figures().nth(column.saturating_sub(self.words.len())) {
            None => CellValue::Nothing,
            Some(PeakColumn::Change) => CellValue::text(row.both.row_change().title()),
            Some(PeakColumn::Size) => CellValue::bytes(row.size),
            Some(PeakColumn::Counts(place)) => CellValue::Count(side(place).count),
            Some(PeakColumn::Bytes(place)) => CellValue::Bytes(side(place).bytes),
            Some(PeakColumn::Difference) => CellValue::change(source.bytes, target.bytes),
        }
    }
}
