//! Why a table is not read straight from the pages.

/// What is wrong, or not read here, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file cannot be opened or read.
    #[error("{place}: {what}")]
    Unreadable {
        /// What was to be read.
        place: String,
        /// What the system said.
        what: String,
    },
    /// The file as a whole is of a form that is not read here.
    #[error("file header: {expected} expected, {found} found")]
    Header {
        /// What is read here.
        expected: &'static str,
        /// What the header says.
        found: u64,
    },
    /// The table is of a form that is not read here.
    #[error("table {table}: {what}")]
    Table {
        /// The table.
        table: String,
        /// What is not read here.
        what: String,
    },
    /// A page is not what it must be.
    #[error("page {page}: {expected} expected, {found} found")]
    Page {
        /// The page, counted from 1.
        page: u32,
        /// What must be there.
        expected: &'static str,
        /// What is there.
        found: i64,
    },
    /// A row is not what it must be.
    #[error("row {row}: {expected} expected, {found} found")]
    Row {
        /// The row id.
        row: i64,
        /// What must be there.
        expected: &'static str,
        /// What is there.
        found: u64,
    },
}

impl Refusal {
    pub(super) fn page(page: u32, expected: &'static str, found: impl TryInto<i64>) -> Self {
        Self::Page { page, expected, found: found.try_into().unwrap_or(i64::MAX) }
    }

    pub(super) fn row(row: i64, expected: &'static str, found: usize) -> Self {
        Self::Row { row, expected, found: found as u64 }
    }

    /// A table of a form that is not read here.
    pub fn table(table: &str, what: impl Into<String>) -> Self {
        Self::Table { table: table.to_owned(), what: what.into() }
    }
}
