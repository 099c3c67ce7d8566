//! Reads parts of a report from the index, and decides whether they may be put there.

use std::path::Path;
use std::sync::PoisonError;

use super::OpenReport;
use super::discover::ReportFiles;
use crate::format::sqlite::Database;
use crate::format::{Error, Progress};
use crate::index::{self, Cache, ColumnSpace, Identity, IndexError, IndexFile, Indexed};
use crate::store::{Report, Warning, WarningCode};

/// The index of a report that can have one: finished, whole, and read where it lies.
pub fn find(cache: &Cache, found: &ReportFiles, database: &Database) -> Option<Indexed> {
    if !database.is_read_where_it_lies() {
        return None;
    }
    let side = [&found.debug, &found.framework, &found.app];
    let files = side.into_iter().flatten().map(|path| &**path);
    let identity = Identity::of(std::iter::once(&*found.profile as &Path).chain(files))?;
    Some(Indexed::of(cache, identity))
}

/// Warnings that say what a report does not have. With any other the report is not indexed: what gave them may come
/// out otherwise when less of it is read.
fn is_harmless(warning: &Warning) -> bool {
    matches!(
        warning.code,
        WarningCode::MissingFile | WarningCode::NoExecution | WarningCode::NoDebugInfo
    )
}

/// The warnings that reading the small tables, and reading the debug contexts, gave.
#[derive(Debug, Default)]
pub struct NotedWarnings {
    pub small_tables: Vec<Warning>,
    pub debug_info: Vec<Warning>,
}

impl OpenReport {
    /// Whether there is an index of just this report, and nothing wrong was found with it yet.
    pub fn has_index(&self) -> bool {
        self.indexed.as_ref().is_some_and(|indexed| indexed.is_there())
    }

    /// Fills parts from the index; `None` where there is none.
    pub(super) fn take_indexed<T>(
        &self,
        fill: impl FnOnce(&Report, &IndexFile) -> Result<T, IndexError>,
    ) -> Option<T> {
        self.indexed.as_ref()?.read(|file| fill(&self.report, file))
    }

    /// The same for parts that come with warnings.
    pub(super) fn take_with_warnings(
        &self,
        fill: impl FnOnce(&Report, &IndexFile) -> Result<Vec<Warning>, IndexError>,
    ) -> Option<Vec<Warning>> {
        let warnings = self.take_indexed(fill)?;
        self.report.warnings.add_all(&warnings);
        Some(warnings)
    }

    /// Says that the report is going to be read to its end and indexed: the columns of a large one then grow in
    /// files.
    pub fn expect_index(&self) {
        if let Some(indexed) = self.indexed.as_ref().filter(|_| !self.has_index()) {
            self.room.get_or_init(|| indexed.room(self.database.bytes));
        }
    }

    /// Reads columns to where they are to grow; in memory where that does not work out.
    pub(super) fn in_room<T>(
        &self,
        read: impl Fn(&ColumnSpace) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.room.get().filter(|room| room.is_in_files()) {
            Some(room) => read(room).or_else(|error| {
                tracing::info!("columns are read to memory: {error}");
                read(&ColumnSpace::default())
            }),
            None => read(&ColumnSpace::default()),
        }
    }

    /// Says what contradicts itself in the parts that are there; `compare` finds it. Not of a report that has an
    /// index: it would have none.
    pub fn compare_parts(&self, compare: impl FnOnce(&Report) -> Vec<String>) {
        if self.has_index() {
            return;
        }
        let compare = || compare(&self.report);
        let found = match self.room.get() {
            Some(room) => room.going_through(compare),
            None => compare(),
        };
        for message in found {
            self.report.warnings.add(WarningCode::Inconsistent, &self.database.name, message);
        }
    }

    /// Reads all parts of the report that are not there yet, and compares them.
    ///
    /// # Errors
    /// As [`Self::read_small_tables`].
    pub fn read_all(
        &self,
        progress: &Progress,
        compare: impl FnOnce(&Report) -> Vec<String>,
    ) -> Result<(), Error> {
        self.expect_index();
        if !self.report.about.is_settled() {
            self.read_small_tables(progress)?;
        }
        self.read_debug_info(progress);
        self.read_variables(progress);
        self.read_tile_variable_bytes(progress);
        self.read_compute(progress);
        self.read_program_trees(progress);
        self.compare_parts(compare);
        Ok(())
    }

    /// Writes the index of a report that was read to its end; returns its size. `None` where there is one already,
    /// or none is to be used.
    ///
    /// # Errors
    /// When the report is not one to be indexed, when the index cannot be written, and when it was canceled.
    pub fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        let Some(indexed) = self.indexed.as_ref().filter(|_| !self.has_index()) else {
            return Ok(None);
        };
        let not = |why: &str| Err(IndexError::NotWritten(why.to_owned()));
        let warnings = self.report.warnings.list_of_reading();
        if let Some(warning) = warnings.iter().find(|warning| !is_harmless(warning)) {
            return not(&format!("{}: {}", warning.file, warning.message));
        }
        if self.report.files() != self.found.files {
            return not("a file of the report is damaged");
        }
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if self.database.has_changed_while_read() {
            return not("the report has changed");
        }
        let bytes = index::expected_bytes(&self.report);
        let written = indexed.write(bytes, progress, |to| {
            if let Some(room) = self.room.get() {
                to.of_columns_in(room);
            }
            index::write_report(&self.report, &noted.small_tables, &noted.debug_info, to)
        })?;
        Ok(Some(written))
    }
}
