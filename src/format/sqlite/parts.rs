//! Large tables that are read in parts, on all threads.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::cells::Damage;
use super::database::Database;
use super::table::Tables;
use crate::format::{Error, Progress};
use crate::store::{Warning, Warnings};

/// Parts for each thread, and how many of them are read while those before are joined: with several, no thread waits long.
const PARTS_OF_THREAD: i64 = 32;
const AT_A_TIME: usize = 4;

/// What came of a part.
struct TablePart<T> {
    value: T,
    warnings: Vec<Warning>,
    damage: Damage,
    is_broken: bool,
}

impl Database {
    /// Reads a table in parts, each with the row ids that it is about, or as a whole. What comes of the parts is handed to
    /// `join` in the order of the file, while the next ones are read; what is wrong with their rows becomes one warning.
    /// Returns whether rows are missing because they cannot be read.
    ///
    /// # Errors
    /// When the file cannot be opened again.
    pub fn read_in_parts<T: Send>(
        &self,
        table: &str,
        warnings: &Warnings,
        progress: &Progress,
        read: impl Fn(&Tables<'_>, Option<RangeInclusive<i64>>) -> T + Sync,
        mut join: impl FnMut(T) + Send,
    ) -> Result<bool, Error> {
        let read_part = |ids: &Option<RangeInclusive<i64>>| {
            // Its own, so that they come in the order of the file.
            let warnings = Warnings::default();
            let mut tables = self.tables(&warnings, progress)?;
            tables.of_part = Some(Mutex::default());
            let value = read(&tables, ids.clone());
            let is_broken = tables.is_broken(table);
            let damage = tables.of_part.take().unwrap_or_default().into_inner();
            let damage = damage.unwrap_or_else(PoisonError::into_inner);
            drop(tables);
            Ok(TablePart { value, warnings: warnings.list(), damage, is_broken })
        };
        let (mut is_broken, mut damage) = (false, Damage::default());
        let mut join_parts = |parts: Vec<TablePart<T>>| {
            for part in parts {
                warnings.add_all(&part.warnings);
                is_broken |= part.is_broken;
                damage.join(part.damage);
                join(part.value);
            }
        };
        let tables = self.tables(warnings, progress)?;
        let ranges = tables.row_ranges_for(table, PARTS_OF_THREAD);
        let all = match ranges.len() {
            0 | 1 => vec![None],
            _ => ranges.into_iter().map(Some).collect(),
        };
        let at_a_time = rayon::current_num_threads().max(1).saturating_mul(AT_A_TIME);
        let mut before = Vec::new();
        for parts in all.chunks(at_a_time) {
            let (next, ()) = rayon::join(
                || parts.par_iter().map(read_part).collect::<Result<Vec<_>, Error>>(),
                || join_parts(std::mem::take(&mut before)),
            );
            before = next?;
        }
        join_parts(before);
        tables.warn_of_damage(table, &damage);
        Ok(is_broken)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::format::ErrorKind;
    use crate::format::sqlite::{NumberedRows, ROW_ID};

    #[test]
    fn damage_of_all_parts_is_one_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.db");
        let made = rusqlite::Connection::open(&path).unwrap();
        made.execute_batch(
            "CREATE TABLE t(a INTEGER);
             WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 9999) INSERT INTO t SELECT x FROM n;
             UPDATE t SET a = 'x' WHERE a IN (5, 9000)",
        )
        .unwrap();
        drop(made);
        let (warnings, progress) = (Warnings::default(), Progress::default());
        let refused = |_: &std::path::Path, _: &[u8]| Error::new(ErrorKind::NotAReport, "none");
        let database = Database::open(&path, refused, &warnings, &progress).unwrap();
        let read = |tables: &Tables<'_>, ids| {
            let mut rows = 0_u64;
            let all = NumberedRows { ids, ..NumberedRows::all("t", &["a"], ROW_ID) };
            tables.rows(&all, |cells| rows += u64::from(cells.number(0).is_some()));
            rows
        };
        let (mut parts, mut rows) = (0, 0);
        let is_broken = database.read_in_parts("t", &warnings, &progress, read, |of_part| {
            (parts, rows) = (parts + 1, rows + of_part);
        });
        assert!(!is_broken.unwrap() && parts > 1);
        assert_eq!(rows, 9998);
        let said: Vec<String> = warnings.list().into_iter().map(|one| one.message).collect();
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(said.starts_with("table t, row a x, column a: "), "{said}");
        assert!(said.ends_with("(2 such places in this table)"), "{said}");
    }
}
