//! Writes `profile.pop`: places the variables tile by tile, derives Poplar's sums from the placement,
//! and fills the tables of format 3.8.0. Tiles are placed in parallel, a batch at a time, so memory
//! does not grow with their number.

mod execution;
mod facts;
mod programs;
mod sums;
mod tiles;

use std::path::Path;

use rusqlite::{Connection, ToSql, Transaction};

use super::WriteError;
use super::model::Model;
use super::schema;
use crate::format::Progress;

/// Writes the profile of a model.
///
/// # Errors
/// When the file cannot be written.
pub fn write_profile(model: &Model, file: &Path, progress: &Progress) -> Result<(), WriteError> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    let transaction = connection.transaction()?;
    transaction.execute_batch(&schema::sql())?;
    write_tables(model, &transaction, progress)?;
    transaction.commit()?;
    Ok(())
}

fn write_tables(
    model: &Model,
    db: &Transaction<'_>,
    progress: &Progress,
) -> Result<(), WriteError> {
    facts::write(model, db)?;
    programs::write(model, db)?;
    let sums = tiles::write(model, db, progress)?;
    sums::write(model, db, &sums)?;
    if sums.tiles_over == 0 && model.has_execution {
        execution::write(model, db)?;
    }
    Ok(())
}

/// Puts a row into a table: a cell for each of its columns.
fn insert(db: &Transaction<'_>, table: &str, row: &[&dyn ToSql]) -> Result<(), WriteError> {
    let cells = vec!["?"; row.len()].join(", ");
    db.prepare_cached(&format!("INSERT INTO {table} VALUES ({cells})"))?.execute(row)?;
    Ok(())
}
