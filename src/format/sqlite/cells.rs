//! The cells of a row, wherever it was read from, and what is wrong with them.

use std::borrow::Cow;

use rusqlite::types::ValueRef;

use super::Record;
use super::record::WholeNumbers;
use crate::limits;
use crate::store::WarningCode;
use crate::store::ids::{Id, IdColumn};
use crate::work::Work;

/// What is wrong with the rows of a table.
#[derive(Debug)]
pub(super) struct Damage {
    pub code: WarningCode,
    pub first: Option<String>,
    pub count: u64,
    /// Rows that were handed out.
    pub rows: u64,
    /// Lists that were taken apart.
    pub blobs: u64,
    /// Rows of these that are in the work already.
    pub counted: u64,
}

impl Default for Damage {
    fn default() -> Self {
        Self {
            code: WarningCode::Inconsistent,
            first: None,
            count: 0,
            rows: 0,
            blobs: 0,
            counted: 0,
        }
    }
}

impl Damage {
    /// Adds the rows and lists that were handed out since to the work.
    pub fn count_work(&mut self) {
        Work::Rows.add(self.rows.saturating_sub(self.counted));
        Work::Blobs.add(std::mem::take(&mut self.blobs));
        self.counted = self.rows;
    }

    /// Adds the damage of the rows that follow.
    pub fn join(&mut self, next: Self) {
        if self.first.is_none() {
            (self.code, self.first) = (next.code, next.first);
        }
        self.count = self.count.saturating_add(next.count);
    }

    pub fn add(&mut self, place: &str, what: &str) {
        self.first.get_or_insert_with(|| format!("{place}: {what}"));
        self.count = self.count.saturating_add(1);
    }
}

/// The cells of one row, by position in the query's columns.
pub struct Cells<'r, 's> {
    pub(super) row: RowSource<'r, 's>,
    pub(super) columns: &'r [&'r str],
    pub(super) is_there: &'r [bool],
    pub(super) damage: &'r mut Damage,
}

/// Where a row comes from.
pub(super) enum RowSource<'r, 's> {
    Sqlite(&'r rusqlite::Row<'s>),
    /// Straight from the pages.
    Direct(Record<'r>),
}

impl<'r> Cells<'r, '_> {
    #[inline]
    fn value(&self, column: usize) -> ValueRef<'r> {
        match &self.row {
            RowSource::Direct(record) => record.value(column),
            RowSource::Sqlite(row) => row.get_ref(column).unwrap_or(ValueRef::Null),
        }
    }

    /// The first cells, where each is a whole number or NULL.
    #[inline]
    pub fn whole_numbers<const N: usize>(&self) -> Option<WholeNumbers<N>> {
        if let RowSource::Direct(record) = &self.row {
            return record.whole_numbers();
        }
        let mut row = WholeNumbers::default();
        for column in 0..N {
            match self.value(column) {
                ValueRef::Integer(number) => row.set(column, number),
                ValueRef::Null => {}
                _ => return None,
            }
        }
        Some(row)
    }

    /// Whether the table has the column at all.
    #[inline]
    pub fn has(&self, column: usize) -> bool {
        self.is_there.get(column) == Some(&true)
    }

    /// A number that may be absent: `None` for NULL, and with damage for what is no number ≥ 0.
    #[inline]
    pub fn number(&mut self, column: usize) -> Option<u64> {
        let number = self.signed(column)?;
        let positive = u64::try_from(number).ok();
        if positive.is_none() {
            self.damage(column, &format!("a number ≥ 0 expected, {number} found"));
        }
        positive
    }

    /// A number that may be absent, and is none where it is larger than any machine has it.
    pub fn number_up_to(&mut self, column: usize, most: u64) -> Option<u64> {
        let number = self.number(column)?;
        self.up_to(column, number, most)
    }

    /// The same of a number that must be there.
    pub fn required_up_to(&mut self, column: usize, most: u64) -> Option<u64> {
        let number = self.required(column)?;
        self.up_to(column, number, most)
    }

    fn up_to(&mut self, column: usize, number: u64, most: u64) -> Option<u64> {
        if number > most {
            self.damage(column, &format!("at most {most} expected, {number} found"));
            return None;
        }
        Some(number)
    }

    /// A number below 2³² that may be absent.
    #[inline]
    pub fn number32(&mut self, column: usize) -> Option<u32> {
        let number = self.number(column)?;
        self.below_2_32(column, number)
    }

    /// A number that must be there; its absence is damage.
    #[inline]
    pub fn required(&mut self, column: usize) -> Option<u64> {
        match self.value(column) {
            ValueRef::Integer(number) if number >= 0 => Some(number.cast_unsigned()),
            ValueRef::Null => {
                if self.has(column) {
                    self.damage(column, "a number expected, NULL found");
                }
                None
            }
            _ => self.number(column),
        }
    }

    /// A number below 2³² that must be there.
    #[inline]
    pub fn required32(&mut self, column: usize) -> Option<u32> {
        let number = self.required(column)?;
        self.below_2_32(column, number)
    }

    /// Puts the id in the first column behind those of the rows before. Returns false where it is none, or
    /// not above the last one, which is the damage `twice`.
    pub fn next_id<T: Id>(&mut self, ids: &mut IdColumn<T>, twice: &str) -> bool {
        let Some(number) = self.required32(0) else { return false };
        let is_next = ids.push(T::new(number));
        if !is_next {
            self.damage(0, twice);
        }
        is_next
    }

    #[inline]
    fn below_2_32(&mut self, column: usize, number: u64) -> Option<u32> {
        let small = u32::try_from(number).ok();
        if small.is_none() {
            self.damage(column, &format!("a number below 2³² expected, {number} found"));
        }
        small
    }

    /// A signed number that may be absent.
    #[inline]
    pub fn signed(&mut self, column: usize) -> Option<i64> {
        match self.value(column) {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Null => None,
            other => {
                let found = format!("{}", other.data_type());
                self.damage(column, &format!("a number expected, {found} found"));
                None
            }
        }
    }

    /// A number that need not be whole and may be absent.
    pub fn real(&mut self, column: usize) -> Option<f64> {
        match self.value(column) {
            ValueRef::Real(number) => Some(number),
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Null => None,
            other => {
                let found = format!("{}", other.data_type());
                self.damage(column, &format!("a number expected, {found} found"));
                None
            }
        }
    }

    /// Whether the cell is NULL, or its column absent.
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.value(column), ValueRef::Null)
    }

    /// A name, cut with damage where it is longer than names are kept.
    pub fn text(&mut self, column: usize) -> Option<Cow<'r, str>> {
        self.text_up_to(column, limits::NAME_BYTES)
    }

    /// The same of a word of which there are a few.
    pub fn word(&mut self, column: usize) -> Option<Cow<'r, str>> {
        self.text_up_to(column, limits::WORD_BYTES)
    }

    fn text_up_to(&mut self, column: usize, most: usize) -> Option<Cow<'r, str>> {
        let text = self.long_text(column)?;
        let bytes = text.len();
        if bytes <= most {
            return Some(text);
        }
        self.damage(column, &format!("at most {most} bytes expected, {bytes} found; it is cut"));
        Some(Cow::Owned(limits::cut(&text, most).into_owned()))
    }

    /// A text of any length; numbers are taken as text, bytes that are not UTF-8 are replaced.
    pub fn long_text(&mut self, column: usize) -> Option<Cow<'r, str>> {
        match self.value(column) {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string().into()),
            ValueRef::Real(number) => Some(number.to_string().into()),
            // Several times as fast as looking for what to replace.
            ValueRef::Text(text) => Some(match std::str::from_utf8(text) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(text),
            }),
            ValueRef::Blob(_) => {
                self.damage(column, "a text expected, a BLOB found");
                None
            }
        }
    }

    pub fn owned_text(&mut self, column: usize) -> Option<String> {
        self.text(column).map(Cow::into_owned)
    }

    /// Decodes a blob; `None` where it is absent, and with damage where it cannot be decoded.
    pub fn decode<T, E: std::fmt::Display>(
        &mut self,
        column: usize,
        decode: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Option<T> {
        let bytes = match self.value(column) {
            ValueRef::Null => return None,
            ValueRef::Blob(bytes) => bytes,
            other => {
                let found = format!("{}", other.data_type());
                self.damage(column, &format!("a BLOB expected, {found} found"));
                return None;
            }
        };
        self.damage.blobs = self.damage.blobs.saturating_add(1);
        match decode(bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                self.damage(column, &error.to_string());
                None
            }
        }
    }

    /// Notes that this row is damaged in `column`.
    pub fn damage(&mut self, column: usize, what: &str) {
        let key = match self.value(0) {
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).chars().take(80).collect(),
            _ => format!("number {}", self.damage.rows),
        };
        let first = self.columns.first().copied().unwrap_or("row");
        let name = self.columns.get(column).copied().unwrap_or("?");
        self.damage.add(&format!("row {first} {key}, column {name}"), what);
    }
}
