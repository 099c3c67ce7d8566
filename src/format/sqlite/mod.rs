//! SQLite files: opened in whatever state they are, with tables that are read by name ([`Database`], [`Tables`]).
//!
//! Large tables whose rows are wanted as they lie, in the order of their row ids, whole or a range of ids, are read straight
//! from the pages of the file ("SQLite file format", sqlite.org/fileformat2.html). Nothing here knows what the tables mean.
//! Whatever is damaged, or of a form that is not read here, is refused
//! with a [`Refusal`]; then the caller reads the table through SQLite, which decides what there is to say.
//!
//! What is not refused is what SQLite gives for `SELECT … FROM table WHERE … ORDER BY rowid`, row
//! by row and cell by cell, up to the row at which it is refused: every check of SQLite is made here as well, and
//! some that it does not make. So a caller that was refused after some rows passes over as many of SQLite's.

mod btree;
mod cells;
mod database;
mod direct;
mod error;
mod file;
mod header;
mod parts;
mod patience;
mod record;
mod schema;
mod table;
#[cfg(test)]
mod tests;

pub use btree::read_rows;
pub use cells::Cells;
pub use database::{Database, has_tables, size_of_file, with_suffix};
pub use error::Refusal;
pub use file::DatabaseFile;
pub use header::bytes_by_header;
pub use record::{Only, Record, WholeNumbers};
pub use schema::StoredTable;
pub use table::{NumberedRows, Query, ROW_ID, Tables, split_for_threads};
