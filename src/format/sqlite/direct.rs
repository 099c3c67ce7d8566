//! Large tables read straight from the pages of the file; whatever cannot be is left to SQLite.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::table::NumberedRows;
use super::{DatabaseFile, Record, Refusal, StoredTable, read_rows};
use crate::format::Progress;

/// How the tables of a file were read.
#[derive(Debug, Default)]
pub struct DirectReading {
    is_off: AtomicBool,
    /// What was left to SQLite.
    refusals: Mutex<BTreeSet<String>>,
}

impl DirectReading {
    /// Reads everything through SQLite from now on.
    pub fn switch_off(&self) {
        self.is_off.store(true, Ordering::Relaxed);
    }

    /// What could not be read straight from the pages, and why.
    pub fn refusals(&self) -> Vec<String> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.iter().cloned().collect()
    }

    /// Opens the file for one thread; `None` where all of it is left to SQLite.
    pub fn open(&self, path: &Path) -> Option<Direct<'_>> {
        if self.is_off.load(Ordering::Relaxed) {
            return None;
        }
        let file = DatabaseFile::open(path).map_err(|refusal| self.note(&refusal)).ok()?;
        Some(Direct { file, reading: self })
    }

    fn note(&self, refusal: &Refusal) {
        tracing::debug!("left to SQLite: {refusal}");
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.insert(refusal.to_string());
    }
}

/// One thread's view of the pages.
pub struct Direct<'a> {
    file: DatabaseFile,
    reading: &'a DirectReading,
}

impl Direct<'_> {
    /// Hands rows to `each` until it breaks. Returns whether that were all; if not, it has the first of them.
    pub fn read(
        &self,
        connection: &Connection,
        rows: &NumberedRows<'_>,
        progress: &Progress,
        each: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> bool {
        let mut read = || {
            let table = StoredTable::find(connection, rows.table)?;
            if !table.is_row_id(rows.key) {
                let what = format!("{} is not its row id", rows.key);
                return Err(Refusal::table(rows.table, what));
            }
            let layout = table.layout(rows.columns, rows.only)?;
            let ids: RangeInclusive<i64> = rows.ids.clone().unwrap_or(i64::MIN..=i64::MAX);
            read_rows(&self.file, &table, &layout, &ids, progress, each)
        };
        read().map_err(|refusal| self.reading.note(&refusal)).is_ok()
    }
}
