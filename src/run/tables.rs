//! Tables for programs: what their columns are, and how rows get into them. A system declares those that only its runs
//! have; the lake writes them as they are given.

use crate::format::Error;

/// What the cells of a column are; each may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64 bits, signed: Spark has no others that count.
    Integer,
    /// A float of 64 bits.
    Real,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

/// A table with rows of many runs.
#[derive(Clone, Copy, Debug)]
pub struct RunTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in their order.
    pub columns: &'static [(&'static str, ColumnKind)],
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableCell<'a> {
    /// A whole number.
    Integer(Option<i64>),
    /// Any number.
    Real(Option<f64>),
    /// True or false.
    Flag(Option<bool>),
    /// UTF-8.
    Text(Option<&'a str>),
}

/// A number; one that has more than 63 bits, as only damage brings it, counts as absent.
pub fn integer(number: impl TryInto<i64>) -> TableCell<'static> {
    TableCell::Integer(number.try_into().ok())
}

/// A number that a run may not say.
pub fn integer_if(number: Option<impl TryInto<i64>>) -> TableCell<'static> {
    TableCell::Integer(number.and_then(|number| number.try_into().ok()))
}

/// Any number that a run may not say.
pub fn real(number: Option<f64>) -> TableCell<'static> {
    TableCell::Real(number)
}

/// True or false, which a run may not say.
pub fn flag(flag: impl Into<Option<bool>>) -> TableCell<'static> {
    TableCell::Flag(flag.into())
}

/// A text that a run may not say.
pub fn text<'a>(text: impl Into<Option<&'a str>>) -> TableCell<'a> {
    TableCell::Text(text.into())
}

/// Takes the rows of a table.
pub trait TableRows {
    /// Adds a row: a cell for each column.
    ///
    /// # Errors
    /// `cannot-write` when there is no room, and when it was canceled.
    fn row(&mut self, cells: &[TableCell<'_>]) -> Result<(), Error>;
}

/// Takes the tables of a run, each once. Those that are not written have no rows.
pub trait TableWriter: Sync {
    /// Writes a table with the rows that `fill` adds.
    ///
    /// # Errors
    /// As [`TableRows::row`], and what `fill` gives.
    fn write(
        &self,
        table: &RunTable,
        fill: &mut dyn FnMut(&mut dyn TableRows) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_63_bits_are_absent() {
        assert_eq!(integer(u64::MAX), TableCell::Integer(None));
        assert_eq!(integer(7_u32), TableCell::Integer(Some(7)));
        assert_eq!(integer_if(Some(i64::MAX as u64)), TableCell::Integer(Some(i64::MAX)));
        assert_eq!(integer_if(None::<u64>), TableCell::Integer(None));
    }
}
