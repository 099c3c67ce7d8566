//! Tables of an SQLite file, read straight from its pages ("SQLite file format", sqlite.org/fileformat2.html).
//!
//! For large tables whose rows are wanted as they lie: in the order of their row ids, whole or a range of ids.
//! It knows nothing of what the tables mean. Whatever is damaged, or of a form that is not read here, is refused
//! with a [`Refusal`]; then the caller reads the table through SQLite, which decides what there is to say.
//!
//! What is not refused is what SQLite gives for `SELECT … FROM table WHERE … ORDER BY rowid`, row
//! by row and cell by cell, up to the row at which it is refused: every check of SQLite is made here as well, and
//! some that it does not make. So a caller that was refused after some rows passes over as many of SQLite's.

mod btree;
mod error;
mod file;
mod header;
mod record;
mod schema;
#[cfg(test)]
mod tests;

pub use btree::read_rows;
pub use error::Refusal;
pub use file::DatabaseFile;
pub use header::bytes_by_header;
pub use record::{Only, Record};
pub use schema::StoredTable;
