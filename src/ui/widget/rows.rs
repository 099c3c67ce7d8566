//! The content of a data table: rows of values that can be drawn, sorted, summed and written as CSV.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::csv::line;
use crate::text::{grouped, rate as text_of_rate, signed_rate, times_text};
use crate::ui::runs::Badge;
use crate::ui::selection::TitledJump;
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// From this rate on it is written without decimals, as [`crate::text::rate`] does.
const WHOLE_RATE: f64 = 100.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum CellValue<'a> {
    /// Not known, or it does not apply.
    #[default]
    Nothing,
    /// A text, as in the file.
    Text(Cow<'a, str>),
    Bytes(u64),
    /// Bytes, or more.
    AtLeast(u64),
    /// A difference of bytes.
    Change(i64),
    Count(u64),
    CountChange(i64),
    /// A difference in percent.
    Percent(f64),
    /// The number by which something is known, such as a step.
    Id(u64),
    Number(f64),
    /// A number with one decimal, whatever it is.
    Tenths(f64),
    /// A rate, rounded as in texts ([`crate::text::rate`]).
    Rate(f64),
    /// A difference of rates, rounded in the same way.
    RateChange(f64),
    /// A verdict in a word, with its sign.
    Verdict(Sign, &'static str),
}

impl<'a> CellValue<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub fn bytes(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Nothing, Self::Bytes)
    }

    pub fn change(from: u64, to: u64) -> Self {
        Self::Change(difference(from, to))
    }

    pub fn change_if_known(from: Option<u64>, to: Option<u64>) -> Self {
        from.zip(to).map_or(Self::Nothing, |(from, to)| Self::change(from, to))
    }

    /// The change in percent of the first, where that is not nothing.
    pub fn percent(from: u64, to: u64) -> Self {
        match from {
            0 => Self::Nothing,
            _ => Self::Percent((i128::from(to) - i128::from(from)) as f64 * 100.0 / from as f64),
        }
    }

    pub fn count_change(from: u64, to: u64) -> Self {
        Self::CountChange(difference(from, to))
    }

    /// For people; texts must still be cleaned.
    pub fn shown(self, units: Units) -> Cow<'a, str> {
        match self {
            Self::Nothing => Cow::Borrowed("–"),
            Self::Text(text) => text,
            Self::Bytes(bytes) => Cow::Owned(units.bytes(bytes)),
            Self::AtLeast(bytes) => Cow::Owned(format!("≥ {}", units.bytes(bytes))),
            Self::Change(change) => Cow::Owned(signed(change, |bytes| units.bytes(bytes))),
            Self::Count(count) => Cow::Owned(grouped(count)),
            Self::CountChange(change) => Cow::Owned(signed(change, grouped)),
            Self::Percent(percent) => Cow::Owned(percent_text(percent)),
            Self::Id(id) => Cow::Owned(grouped(id)),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Tenths(number) => Cow::Owned(format!("{number:.1}")),
            Self::Rate(rate) => Cow::Owned(text_of_rate(rate)),
            Self::RateChange(change) if change.abs() >= WHOLE_RATE => {
                Cow::Owned(signed(change.round() as i64, grouped))
            }
            Self::RateChange(change) => Cow::Owned(signed_rate(change)),
            Self::Verdict(_, word) => Cow::Borrowed(word),
        }
    }

    /// The sign before it.
    pub fn sign(&self) -> Option<Sign> {
        match self {
            Self::Verdict(sign, _) => Some(*sign),
            _ => None,
        }
    }

    /// What it is of a whole.
    pub fn share(&self, whole: f64) -> Option<f64> {
        let number = match self {
            Self::Bytes(number) | Self::AtLeast(number) | Self::Count(number) => *number as f64,
            Self::Number(number) | Self::Tenths(number) | Self::Rate(number) => *number,
            _ => return None,
        };
        (whole > 0.0 && number.is_finite()).then_some(number / whole)
    }

    pub fn plain(self) -> Cow<'a, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Text(text) => text,
            Self::Bytes(number)
            | Self::AtLeast(number)
            | Self::Count(number)
            | Self::Id(number) => Cow::Owned(number.to_string()),
            Self::Change(change) | Self::CountChange(change) => Cow::Owned(change.to_string()),
            Self::Percent(number) | Self::Number(number) | Self::Tenths(number) => {
                Cow::Owned(number.to_string())
            }
            Self::Rate(rate) | Self::RateChange(rate) if rate.abs() >= WHOLE_RATE => {
                Cow::Owned((rate.round() as i64).to_string())
            }
            Self::Rate(rate) => Cow::Owned(text_of_rate(rate)),
            Self::RateChange(change) => Cow::Owned(signed_rate(change)),
            Self::Verdict(_, word) => Cow::Borrowed(word),
        }
    }

    /// The order of sorting, ascending; what is not known comes first.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Verdict(_, a), Self::Verdict(_, b)) => a.cmp(b),
            (Self::Bytes(a) | Self::AtLeast(a), Self::Bytes(b) | Self::AtLeast(b))
            | (Self::Count(a), Self::Count(b))
            | (Self::Id(a), Self::Id(b)) => a.cmp(b),
            (Self::Change(a), Self::Change(b)) | (Self::CountChange(a), Self::CountChange(b)) => {
                a.cmp(b)
            }
            (Self::Number(a), Self::Number(b))
            | (Self::Tenths(a), Self::Tenths(b))
            | (Self::Percent(a), Self::Percent(b))
            | (Self::Rate(a), Self::Rate(b))
            | (Self::RateChange(a), Self::RateChange(b)) => a.total_cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Text(_) | Self::Verdict(..) => 2,
            _ => 1,
        }
    }
}

/// From one number to another, as far as it can be said.
pub fn difference(from: u64, to: u64) -> i64 {
    bounded(i128::from(to) - i128::from(from))
}

fn bounded(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
}

/// A percentage with its sign; of little one decimal. What is more than tenfold is written so.
pub fn percent_text(percent: f64) -> String {
    if let Some(times) = times_text(percent) {
        return times;
    }
    let digits = usize::from(percent.abs() < 99.95);
    let number = format!("{:.digits$}", percent.abs());
    match percent {
        _ if number.bytes().all(|digit| matches!(digit, b'0' | b'.')) => "0 %".to_owned(),
        ..0.0 => format!("−{number} %"),
        _ => format!("+{number} %"),
    }
}

/// A difference with its sign and an arrow, which color-blind eyes see too.
pub fn signed(change: i64, shown: impl Fn(u64) -> String) -> String {
    match change.cmp(&0) {
        Ordering::Greater => format!("▲ +{}", shown(change.unsigned_abs())),
        Ordering::Less => format!("▼ −{}", shown(change.unsigned_abs())),
        Ordering::Equal => "0".to_owned(),
    }
}

/// A row of an outline. Its value in the first column says the same with the names of its groups; that
/// is what a filter looks at and what stands in copies.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'a> {
    /// In how many groups it is.
    pub level: u8,
    pub title: &'a str,
    /// Of a group: whether its rows are shown. A click on the row is meant to change that.
    pub is_open: Option<bool>,
}

/// The rows of a table, and the parts that a row opens into.
pub trait Rows: Send + Sync {
    fn len(&self) -> usize;

    fn value(&self, row: usize, column: usize) -> CellValue<'_>;

    /// Number of parts that a row opens into.
    fn parts(&self, _row: usize) -> usize {
        0
    }

    /// Whether a filter looks for the names of parts, too.
    fn are_parts_found(&self) -> bool {
        false
    }

    fn part(&self, _row: usize, _part: usize, _column: usize) -> CellValue<'_> {
        CellValue::Nothing
    }

    /// How a row looks in an outline, whose rows keep their order; `None` in other tables.
    fn outline(&self, _row: usize) -> Option<Outline<'_>> {
        None
    }

    /// The name of what stands in a row, for copies of it: the first text.
    fn name(&self, _row: usize) -> Option<String> {
        None
    }

    /// Where one can go from a row, with titles.
    fn places(&self, _row: usize) -> Vec<TitledJump> {
        Vec::new()
    }

    /// What the pointer learns of a row.
    fn hover(&self, _row: usize) -> Option<String> {
        None
    }
}

/// Rows with a function that says what stands in their cells.
pub struct Listed<R> {
    pub rows: Vec<R>,
    pub cell: for<'a> fn(&'a R, usize) -> CellValue<'a>,
}

impl<R: Send + Sync> Rows for Listed<R> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        self.rows.get(row).map_or(CellValue::Nothing, |row| (self.cell)(row, column))
    }
}

/// What the bars of a column are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarOf {
    /// What fills the track, and what lies beyond which is over, in the unit of the cells.
    pub track: f64,
    pub limit: Option<f64>,
    /// What the percentages are of, and in words: `of the limit`.
    pub whole: f64,
    pub of: &'static str,
}

#[derive(Clone, Default)]
pub struct TableColumn {
    pub title: String,
    /// Its least width where there is no room for its content, points.
    pub width: Option<f32>,
    /// What its numbers are, for CSV: "bytes"; empty for texts.
    pub unit: &'static str,
    /// Whether the total row has its sum.
    pub is_summed: bool,
    /// Whether its cells are painted instead of written.
    pub is_painted: bool,
    /// Its title in copies and for the pointer, where there is no room for all of it.
    pub whole_title: Option<String>,
    /// How its numbers are counted, for the pointer; empty where nothing needs to be said.
    pub rule: &'static str,
    /// Bars and percentages beside its numbers.
    pub bar: Option<BarOf>,
    /// The run that it is of, where there are several, and what is said after its badge.
    pub badge: Option<(Badge, String)>,
    /// Whether it is one of so many that they stand closer, each with its title in two lines.
    pub is_dense: bool,
}

impl TableColumn {
    /// Texts.
    pub fn rest(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Pictures, in what is left of the width; what they say stands in copies.
    pub fn painted(title: impl Into<String>) -> Self {
        Self { is_painted: true, ..Self::rest(title) }
    }

    pub fn text(title: impl Into<String>, width: f32) -> Self {
        Self { width: Some(width), ..Self::rest(title) }
    }

    pub fn bytes(title: impl Into<String>, width: f32) -> Self {
        Self { width: Some(width), unit: "bytes", is_summed: true, ..Self::rest(title) }
    }

    pub fn count(title: impl Into<String>, width: f32) -> Self {
        Self { width: Some(width), unit: "number", is_summed: true, ..Self::rest(title) }
    }

    #[must_use]
    pub fn not_summed(mut self) -> Self {
        self.is_summed = false;
        self
    }

    /// A column whose title says more in copies and for the pointer than there is room for.
    #[must_use]
    pub fn called(mut self, whole_title: impl Into<String>) -> Self {
        self.whole_title = Some(whole_title.into());
        self
    }

    /// A column that says for the pointer how its numbers are counted.
    #[must_use]
    pub fn counted_by(mut self, rule: &'static str) -> Self {
        self.rule = rule;
        self
    }

    /// One of so many columns that they stand closer, each with its title in two lines.
    #[must_use]
    pub fn dense(mut self) -> Self {
        self.is_dense = true;
        self
    }

    /// A column whose numbers have bars.
    #[must_use]
    pub fn with_bars(mut self, bar: BarOf) -> Self {
        self.bar = Some(bar);
        self
    }

    /// A column of a run, whose badge stands in place of its name, before `after`.
    #[must_use]
    pub fn of_run(mut self, badge: Option<Badge>, after: impl Into<String>) -> Self {
        self.badge = badge.map(|badge| (badge, after.into()));
        self
    }

    /// The title as it is drawn, after a badge if it has one.
    pub fn short_title(&self) -> &str {
        self.badge.as_ref().map_or(&self.title, |(_, after)| after)
    }

    pub fn whole_title(&self) -> &str {
        self.whole_title.as_deref().unwrap_or(&self.title)
    }

    /// Whether its cells end at the same place.
    pub fn is_number(&self) -> bool {
        !self.unit.is_empty()
    }
}

/// What is shown of a table: rows in an order, and the sums of the columns.
#[derive(Clone, Default)]
pub struct Order {
    pub rows: Vec<u32>,
    /// The sum of each column, where there is one.
    pub totals: Vec<CellValue<'static>>,
}

/// Finds the rows that have `filter` in one of their texts, sorts them, and adds them up.
pub fn order(
    rows: &dyn Rows,
    columns: &[TableColumn],
    filter: &str,
    sort: Option<(usize, bool)>,
) -> Order {
    let wanted = filter.to_lowercase();
    let texts: Vec<usize> = (0..columns.len())
        .filter(|column| columns.get(*column).is_some_and(|column| !column.is_number()))
        .collect();
    let is_wanted = |row: &u32| {
        let has = |column: &usize| match rows.value(*row as usize, *column) {
            CellValue::Text(text) => text.to_lowercase().contains(&wanted),
            // Such as the number of a tile.
            value => value.plain().contains(&wanted),
        };
        let has_part = |row: usize| {
            let named = |part: usize| match rows.part(row, part, 0) {
                CellValue::Text(text) => text.to_lowercase().contains(&wanted),
                _ => false,
            };
            rows.are_parts_found() && (0..rows.parts(row)).any(named)
        };
        wanted.is_empty() || texts.iter().any(has) || has_part(*row as usize)
    };
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let mut shown: Vec<u32> = (0..count).filter(is_wanted).collect();
    if let Some((column, is_descending)) = sort {
        // A value may take as long as all else: each is asked for once.
        let value = |row: u32| (rows.value(row as usize, column), row);
        let mut valued: Vec<(CellValue<'_>, u32)> = shown.into_iter().map(value).collect();
        valued.sort_by(|(a, _), (b, _)| {
            let order = a.order(b);
            if is_descending { order.reverse() } else { order }
        });
        shown = valued.into_iter().map(|(_, row)| row).collect();
    }
    let total = |(column, info): (usize, &TableColumn)| {
        if info.is_summed { sum(rows, &shown, column) } else { CellValue::Nothing }
    };
    let totals = columns.iter().enumerate().map(total).collect();
    Order { rows: shown, totals }
}

fn sum(rows: &dyn Rows, shown: &[u32], column: usize) -> CellValue<'static> {
    let (mut total, mut kind) = (0_i128, CellValue::Nothing);
    for row in shown {
        let (value, number) = match rows.value(*row as usize, column) {
            CellValue::Bytes(bytes) => (CellValue::Bytes(0), i128::from(bytes)),
            CellValue::Count(count) => (CellValue::Count(0), i128::from(count)),
            CellValue::Change(change) => (CellValue::Change(0), i128::from(change)),
            CellValue::CountChange(change) => (CellValue::CountChange(0), i128::from(change)),
            _ => continue,
        };
        total = total.saturating_add(number);
        // What is below 0 among bytes stands there as a change; the sum is of bytes all the same.
        if !matches!((&kind, &value), (CellValue::Bytes(_), CellValue::Change(_))) {
            kind = value;
        }
    }
    let unsigned = u64::try_from(total.max(0)).unwrap_or(u64::MAX);
    match kind {
        CellValue::Bytes(_) => CellValue::Bytes(unsigned),
        CellValue::Count(_) => CellValue::Count(unsigned),
        CellValue::Change(_) => CellValue::Change(bounded(total)),
        CellValue::CountChange(_) => CellValue::CountChange(bounded(total)),
        _ => CellValue::Nothing,
    }
}

/// The rows of an order as comma-separated values, with a line of titles; numbers as they are.
pub fn csv(rows: &dyn Rows, columns: &[TableColumn], order: &[u32]) -> String {
    let titles = columns.iter().map(|column| match column.unit {
        "bytes" => format!("{} (bytes)", column.whole_title()),
        _ => column.whole_title().to_owned(),
    });
    let mut text = line(titles);
    for row in order {
        let cells = (0..columns.len()).map(|column| rows.value(*row as usize, column).plain());
        text.push_str(&line(cells));
    }
    text
}

#[cfg(test)]
mod tests;
