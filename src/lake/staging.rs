//! Files of a run in a lake: written apart, and put in their places when all of them are whole.
//!
//! They are written into a directory of the lake whose name begins with a dot, which neither DuckDB nor Spark takes for
//! a table, and renamed from there, the row of `runs` last. So no query reads half a file; a query during an export may
//! read some tables of that run as they were. If two processes export the same run, the last file of each table stays,
//! and both are equal. An export that is interrupted removes its directory; one that is killed leaves it, and an export a
//! day later removes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::table::{ParquetWriter, Written, cannot_write};
use crate::format::Error;
use crate::half_written::{HalfWrittenDirectory, undisturbed};
use crate::progress::Progress;
use crate::run::{ColumnKind, RunTable, TableRows, TableWriter};

const PREFIX: &str = ".export-";
/// When a directory that somebody has left is taken away: after that none is still written.
const LEFT_BEHIND: Duration = Duration::from_hours(24);

/// Tables of one run that are written.
#[derive(Debug)]
pub(super) struct Staging<'a> {
    lake: PathBuf,
    directory: HalfWrittenDirectory,
    progress: &'a Progress,
    /// The tables that are whole.
    written: Mutex<Vec<(&'static str, Written)>>,
}

impl<'a> Staging<'a> {
    /// # Errors
    /// `cannot-write` when the lake cannot be made.
    pub fn new(lake: &Path, progress: &'a Progress) -> Result<Self, Error> {
        let made = fs::create_dir_all(lake);
        let made = made.and_then(|()| HalfWrittenDirectory::new(PREFIX, lake));
        let directory = made.map_err(|error| cannot_write(lake, &error))?;
        let (lake, written) = (lake.to_owned(), Mutex::default());
        Ok(Self { lake, directory, progress, written })
    }

    /// Writes a table of these columns.
    ///
    /// # Errors
    /// `cannot-write` when there is no room.
    pub fn write_columns(
        &self,
        (name, columns): (&'static str, &[(&str, ColumnKind)]),
        fill: &mut dyn FnMut(&mut dyn TableRows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = self.directory.path().join(name);
        let mut writer = ParquetWriter::create(columns, file, self.progress)?;
        fill(&mut writer)?;
        let written = writer.finish()?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push((name, written));
        Ok(())
    }

    /// Writes without a row what was not written of some tables.
    ///
    /// # Errors
    /// `cannot-write` when there is no room.
    pub fn write_rest(&self, tables: &[RunTable]) -> Result<(), Error> {
        let is_written = |table: &RunTable| self.directory.path().join(table.name).exists();
        let mut rest = tables.iter().filter(|table| !is_written(table));
        rest.try_for_each(|table| self.write(table, &mut |_| Ok(())))
    }

    /// Puts the files of all tables in their places, in the order in which they were written, and says what is in them.
    ///
    /// # Errors
    /// `cannot-write`; then some tables may be as they were.
    pub fn publish(self, run: &str) -> Result<Vec<(&'static str, Written)>, Error> {
        let written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let put = |(table, _): &(&'static str, Written)| {
            let directory = self.lake.join(table).join(format!("run={run}"));
            let file = directory.join("part.parquet");
            let moved = fs::create_dir_all(&directory);
            let moved = moved.and_then(|()| fs::rename(self.directory.path().join(table), &file));
            moved.map_err(|error| cannot_write(&file, &error))
        };
        undisturbed(|| written.iter().try_for_each(put))?;
        // What cannot be removed is empty, and no query looks there.
        drop(self.directory);
        Ok(written)
    }
}

impl TableWriter for Staging<'_> {
    fn write(
        &self,
        table: &RunTable,
        fill: &mut dyn FnMut(&mut dyn TableRows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.write_columns((table.name, table.columns), fill)
    }
}

/// Takes away what others have left a day ago.
pub(super) fn take_away_left_behind(lake: &Path) {
    let is_old = |path: &Path| -> io::Result<bool> {
        let mut last = fs::metadata(path)?.modified()?;
        for entry in fs::read_dir(path)? {
            last = last.max(entry?.metadata()?.modified()?);
        }
        Ok(last.elapsed().is_ok_and(|age| age > LEFT_BEHIND))
    };
    for entry in fs::read_dir(lake).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && is_old(&entry.path()).unwrap_or(false) {
            // It may be somebody else's to remove.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tables::integer;
    use std::time::SystemTime;

    const TABLES: [RunTable; 2] = [
        RunTable { name: "first", columns: &[("number", ColumnKind::Integer)] },
        RunTable { name: "second", columns: &[("number", ColumnKind::Integer)] },
    ];

    fn written(staging: &Staging<'_>, number: u64) {
        for table in &TABLES {
            staging.write(table, &mut |rows| rows.row(&[integer(number)])).expect("written");
        }
    }

    #[test]
    fn nothing_is_in_its_place_before_all_is_whole() {
        let (lake, progress) = (tempfile::tempdir().expect("a directory"), Progress::default());
        let names = || {
            let entries = fs::read_dir(lake.path()).expect("entries").flatten();
            let mut names: Vec<_> =
                entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        let staging = Staging::new(lake.path(), &progress).expect("a directory");
        written(&staging, 1);
        assert!(names().len() == 1 && names()[0].starts_with(PREFIX), "{:?}", names());
        let other = Staging::new(lake.path(), &progress).expect("another");
        written(&other, 1);
        let tables = staging.publish("r1").expect("published");
        let tables: Vec<_> = tables.iter().map(|(name, written)| (*name, written.rows)).collect();
        assert_eq!(tables, [("first", 1), ("second", 1)]);
        other.publish("r1").expect("published again");
        assert_eq!(names(), ["first", "second"]);
        assert!(lake.path().join("first/run=r1/part.parquet").is_file());
        drop(Staging::new(lake.path(), &progress).expect("one that ends early"));
        assert_eq!(names(), ["first", "second"]);
        let file = lake.path().join("first/run=r1/part.parquet");
        assert!(Staging::new(&file, &progress).is_err(), "a file is no lake");
    }

    #[test]
    fn what_was_left_behind_goes_when_it_is_old() {
        let lake = tempfile::tempdir().expect("a directory");
        let left = lake.path().join(".export-left");
        fs::create_dir(&left).expect("a directory");
        let of_user = lake.path().join("mine");
        fs::create_dir(&of_user).expect("a directory");
        take_away_left_behind(lake.path());
        assert!(left.is_dir(), "somebody may still be at work");
        for directory in [&left, &of_user] {
            let file = fs::File::open(directory).expect("a directory");
            file.set_modified(SystemTime::now() - 2 * LEFT_BEHIND).expect("a time");
        }
        take_away_left_behind(lake.path());
        assert!(!left.exists() && of_user.is_dir());
    }
}
