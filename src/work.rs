//! The work of reading in this process: counted, not timed, so that a test can hold it to a bound on any machine.
//!
//! `--stats` prints it. Counts are of the process, because many threads read one report and a sweep reads many.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::text::grouped;

/// What is counted.
#[derive(Debug)]
pub(crate) enum Work {
    /// Rows of tables that were handed to a reader.
    Rows,
    /// Lists that were taken apart: BLOBs of tables.
    Blobs,
    /// Pages of SQLite files that were read straight.
    Pages,
    /// Bytes read of files that are not read through SQLite: those pages, debug contexts, JSON files, logs.
    Bytes,
    /// Lowered variables of which a placement was made: of one tile, or of all for gaps.
    Placements,
    /// Steps that SQLite took, counted a few dozen at a time.
    Steps,
    /// Bytes of the columns of large tables, in memory or in files.
    Columns,
    /// Bytes written to an index or a lake.
    Written,
    /// Names in directories that were listed.
    Names,
}

static COUNTS: [AtomicU64; 9] = [const { AtomicU64::new(0) }; 9];

impl Work {
    /// Adds to what was counted.
    pub(crate) fn add(self, count: u64) {
        if let Some(counted) = COUNTS.get(self as usize) {
            counted.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn counted(self) -> u64 {
        COUNTS.get(self as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

/// What this process has read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Rows of tables.
    pub rows: u64,
    /// Lists in BLOBs that were taken apart.
    pub blobs: u64,
    /// Pages of SQLite files read without SQLite.
    pub pages: u64,
    /// Bytes read without SQLite.
    pub bytes: u64,
    /// Placements of lowered variables.
    pub placements: u64,
    /// Steps that SQLite took.
    pub steps: u64,
    /// Bytes of the columns of large tables that were made.
    pub columns: u64,
    /// Bytes written to an index or a lake.
    pub written: u64,
    /// Names in directories that were listed.
    pub names: u64,
}

impl WorkDone {
    /// As it is now.
    pub fn now() -> Self {
        Self {
            rows: Work::Rows.counted(),
            blobs: Work::Blobs.counted(),
            pages: Work::Pages.counted(),
            bytes: Work::Bytes.counted(),
            placements: Work::Placements.counted(),
            steps: Work::Steps.counted(),
            columns: Work::Columns.counted(),
            written: Work::Written.counted(),
            names: Work::Names.counted(),
        }
    }
}

impl WorkDone {
    /// What was done after an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            rows: self.rows.saturating_sub(earlier.rows),
            blobs: self.blobs.saturating_sub(earlier.blobs),
            pages: self.pages.saturating_sub(earlier.pages),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            placements: self.placements.saturating_sub(earlier.placements),
            steps: self.steps.saturating_sub(earlier.steps),
            columns: self.columns.saturating_sub(earlier.columns),
            written: self.written.saturating_sub(earlier.written),
            names: self.names.saturating_sub(earlier.names),
        }
    }
}

impl fmt::Display for WorkDone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, blobs, pages, bytes, placements, steps, columns, written, names } = *self;
        let [rows, blobs, pages, bytes, placements, steps, columns, written, names] =
            [rows, blobs, pages, bytes, placements, steps, columns, written, names].map(grouped);
        write!(
            formatter,
            "rows {rows}, lists {blobs}, pages {pages}, bytes {bytes}, placements {placements}, \
             steps {steps}, bytes of columns {columns}, bytes written {written}, \
             names in directories {names}"
        )
    }
}
