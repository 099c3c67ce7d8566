//! Limits on the cost of reading a report, in one place: rows, bytes, depth, names, warnings, time without progress.
//!
//! Reports come by mail and from shared folders, so no length, count or depth in a file is trusted. Every bound is
//! far above what reports have; what goes beyond it becomes a warning that names it, and everything else is shown.

use std::borrow::Cow;
use std::time::Duration;

/// Warnings of a report that are listed; of others there is the number.
pub(crate) const WARNINGS: usize = 500;

/// Bytes of a name that are kept.
pub(crate) const NAME_BYTES: usize = 128 << 10;

/// Bytes of a word of which a report has a few: kinds of programs, categories, layers.
pub(crate) const WORD_BYTES: usize = 1 << 10;

/// Categories of memory; there are 27.
pub(crate) const CATEGORIES: usize = 64;

/// Bytes of names that rows repeat by reference, unless they are short. A row of some bytes may stand for a long name.
pub(crate) const REPEATED_NAME_BYTES: usize = 32 << 20;

/// Bytes of a name that is short.
const SHORT_NAME_BYTES: usize = 128;

/// Debug contexts on the way to the root. Real ones have about ten, or a few dozen where Python modules nest.
pub(crate) const CONTEXT_DEPTH: usize = 256;

/// Tuples within each other. XLA's programs have a few.
pub(crate) const TUPLE_LEVELS: usize = 64;

/// Modules of one profile of XLA. Real ones have some dozens, and each is opened from the whole file.
pub(crate) const MODULES_OF_PROFILE: usize = 2000;

/// Values that are shown of a debug context, and nodes of all on a way to the root. Real contexts have up to some hundreds.
pub(crate) const CONTEXT_VALUES: usize = 4096;

/// Bytes of texts that are shown of a debug context, and of all on a way to the root.
pub(crate) const CONTEXT_BYTES: usize = 1 << 20;

/// Bytes of a debug context's arguments that can be searched for: real calls have a dozen short ones.
pub(crate) const ARGUMENT_BYTES: usize = 8 << 10;

/// Bytes of the different lists of arguments of all debug contexts, each with what it takes beside its text.
pub(crate) const ALL_ARGUMENT_BYTES: usize = 8 << 20;
pub(crate) const BESIDE_ARGUMENTS: usize = 64;

/// Values of a JSON file, each of which takes about 150 bytes while it is read.
pub(crate) const JSON_VALUES: usize = 500_000;

/// Paths and values that are kept of a JSON file. A comparison has a row for each that differs, with a cell for each report.
pub(crate) const FACTS: usize = 20_000;

/// Bytes of the paths and values that are made of a JSON file: each value has the names of all that it is in.
pub(crate) const FACT_BYTES: usize = 16 << 20;

/// Bytes of a record, and so of a text or a BLOB in it.
pub(crate) const RECORD_BYTES: u64 = 64 << 20;

/// Tiles of a system, and IPUs and replicas: the largest systems have 1,024 IPUs of 1,472 tiles, of which a report
/// has those of a replica.
pub(crate) const TILES: u64 = 1 << 20;

/// Addresses and sizes within a tile: far beyond what one has, and so that sums of them stay numbers.
pub(crate) const ADDRESS: u64 = 1 << 40;

/// Ranks of one report: a cluster has some hundred hosts.
pub(crate) const RANKS_OF_REPORT: usize = 4096;

/// Compilation steps whose programs are read.
pub(crate) const COMPILATION_STEPS: usize = 32;

/// Programs of all earlier compilation steps; a large report has a million in its final one. Their children have the
/// bound of a table.
pub(crate) const EARLIER_PROGRAMS: usize = 4 << 20;

/// Rows of a tree of programs that are open together: shared children come once a place.
pub(crate) const TREE_ROWS: usize = 4 << 20;

/// Programs within each other that a tree opens.
pub(crate) const TREE_DEPTH: u16 = 4096;

/// Variables of which the offset or the size has more than 32 bits, in each range of rows that is read by a thread.
pub(crate) const WIDE_VARIABLES: usize = 1024;
/// Cycles, and microseconds: beyond a year of them at 2 GHz, and so that sums of two stay numbers.
pub(crate) const CYCLES: u64 = 1 << 56;

/// Kinds of steps that ran: Poplar has about forty.
pub(crate) const STEP_KINDS: usize = 4096;

/// Bytes of the names of all runs together.
pub(crate) const RUN_NAME_BYTES: usize = 16 << 20;

/// Numbers of a list whose length nothing else says.
pub(crate) const LIST_NUMBERS: usize = 1 << 20;

/// Numbers of the lists of all rows that are kept of a table, or of a tile.
pub(crate) const ALL_LIST_NUMBERS: usize = 4 << 20;

/// Ranges of steps that the rows of a table name by their classes, beyond a few for each row.
const RANGES: usize = 16 << 20;

/// Ranges of steps of a class that count for nothing: real classes have up to about seven.
const FEW_RANGES: usize = 16;

/// Ranges of steps at which what is placed on a tile lives, as rectangles of a picture of it.
const RECTANGLES: usize = 1 << 20;

/// Findings of a log.
pub(crate) const FINDINGS: usize = 42_000;

/// Bytes of memory that SQLite has for all reports together, its sorters included, which have no files.
pub(crate) const SQLITE_BYTES: u64 = 192 << 20;

/// Steps of SQLite between two looks at the clock and at whether anybody still waits.
pub(crate) const SQLITE_STEPS_AT_ONCE: i32 = 40;

/// How long SQLite may go on without a row.
pub(crate) const TIME_WITHOUT_ROW: Duration = Duration::from_secs(5);

/// How long SQLite may work on one question to a file: a slow network brings eight MiB in a second.
pub(crate) fn sqlite_time(file_bytes: u64) -> Duration {
    TIME_WITHOUT_ROW.saturating_add(Duration::from_secs(file_bytes >> 23))
}

/// Steps of SQLite for one question to a file. A row takes a few more steps than it has columns, and at least two
/// bytes a column: this is twice as many, and enough for files of some pages.
pub(crate) fn sqlite_steps(file_bytes: u64) -> u64 {
    file_bytes.saturating_mul(2).saturating_add(1 << 20)
}

/// Rows of all kinds that a table of a file can have: a row takes four bytes at least.
pub(crate) fn rows(file_bytes: u64) -> u64 {
    file_bytes / 4
}

/// Bytes of texts and BLOBs that the rows of a table can have together: all of the file.
pub(crate) fn cell_bytes(file_bytes: u64) -> u64 {
    file_bytes.saturating_add(1 << 20)
}

/// Debug contexts of a file: a real one has an id, a parent, a layer and a name, each with its key.
pub(crate) fn contexts(file_bytes: u64) -> usize {
    usize::try_from(file_bytes / 32).unwrap_or(usize::MAX).saturating_add(4096)
}

/// Texts of the string table of such a file, none of which comes twice.
pub(crate) fn strings(file_bytes: u64) -> usize {
    usize::try_from(file_bytes / 6).unwrap_or(usize::MAX).saturating_add(4096)
}

/// To how many bytes names are cut that are repeated so many times, with so many bytes in all; `None` where that is
/// not too much.
pub(crate) fn name_bytes(times: usize, bytes: usize) -> Option<usize> {
    let room = times.saturating_mul(SHORT_NAME_BYTES).max(REPEATED_NAME_BYTES);
    (bytes > room).then(|| room.checked_div(times).unwrap_or(SHORT_NAME_BYTES))
}

/// A text, or its first bytes and an ellipsis.
pub(crate) fn cut(name: &str, most: usize) -> Cow<'_, str> {
    if name.len() <= most {
        return Cow::Borrowed(name);
    }
    let end = (0..=most).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default()))
}

/// How much of the names that an answer repeats is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepeatedNames {
    left: usize,
    /// Names that were cut.
    pub(crate) cut: u64,
}

impl Default for RepeatedNames {
    fn default() -> Self {
        Self { left: REPEATED_NAME_BYTES, cut: 0 }
    }
}

impl RepeatedNames {
    /// A name, or as much of it as there is room for.
    pub(crate) fn take<'a>(&mut self, name: &'a str) -> Cow<'a, str> {
        let taken = if name.len() > self.left { cut(name, SHORT_NAME_BYTES) } else { name.into() };
        self.left = self.left.saturating_sub(taken.len());
        self.cut = self.cut.saturating_add(u64::from(taken.len() < name.len()));
        taken
    }
}

/// How many ranges of steps the rows of a table may still name: a row of some bytes names all those of its class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lives(usize);

impl Lives {
    /// Of a table that is read in so many parts.
    pub(crate) fn of_part(parts: usize) -> Self {
        Self(RANGES.checked_div(parts).unwrap_or(RANGES))
    }

    /// Of the picture of a tile.
    pub(crate) fn of_picture() -> Self {
        Self(RECTANGLES)
    }

    /// Whether a row may name so many.
    pub(crate) fn take(&mut self, ranges: usize) -> bool {
        let left = self.0.checked_sub(ranges.saturating_sub(FEW_RANGES));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(cut("conv", 4), "conv");
        assert_eq!(cut("ééé", 3), "é…");
    }

    #[test]
    fn names_that_are_repeated_too_often_are_shortened() {
        let mut names = RepeatedNames::default();
        let long = "n".repeat(1 << 20);
        let taken: usize = (0..1000).map(|_| names.take(&long).len()).sum();
        assert!(taken <= REPEATED_NAME_BYTES + 1000 * 200, "{taken}");
        assert_eq!(names.cut, 1000 - 32);
        assert_eq!(name_bytes(10, 1 << 20), None);
        assert_eq!(name_bytes(1 << 20, 100 << 20), None);
        assert_eq!(name_bytes(1 << 20, 1 << 30), Some(128));
        assert_eq!(name_bytes(1 << 10, 1 << 30), Some(32 << 10));
        assert_eq!(names.take("short"), "short");
    }
}
