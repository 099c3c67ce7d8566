//! Large tables that are read in parts, on all threads.

use std::ops::RangeInclusive;

use rayon::prelude::*;

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
    is_broken: bool,
}

impl Database {
    /// Reads a table in parts, each with the row ids that it is about, or as a whole. What comes of the parts is handed to
    /// `join` in the order of the file, while the next ones are read. Returns whether rows are missing because they
    /// cannot be read.
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
            let tables = self.tables(&warnings, progress)?;
            let value = read(&tables, ids.clone());
            Ok(TablePart { value, warnings: warnings.list(), is_broken: tables.is_broken(table) })
        };
        let mut is_broken = false;
        let mut join_parts = |parts: Vec<TablePart<T>>| {
            for part in parts {
                warnings.add_all(&part.warnings);
                is_broken |= part.is_broken;
                join(part.value);
            }
        };
        let ranges = self.tables(warnings, progress)?.row_ranges_for(table, PARTS_OF_THREAD);
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
        Ok(is_broken)
    }
}
