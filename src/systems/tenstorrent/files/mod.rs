//! Reports of TT-NN: `db.sqlite` and the files beside it (formats/tenstorrent.md).

mod buffers;
mod calls;
mod core_ranges;
mod descriptor;
mod discover;
mod graph;
mod node;
mod pages;
mod small_tables;
mod tensors;

pub use discover::{DATABASE, database_of, is_report};
#[cfg(any(test, fuzzing))]
pub use graph::parse as parse_graph;

use std::path::{Path, PathBuf};

use super::recorded::{CorePages, OperationGraph, TtnnReport};
use crate::files::{directory_of, file_name};
use crate::format::side_files::read_side_file;
use crate::format::sqlite::{Database, Tables};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, WarningCode};

/// The settings of TT-NN beside the database.
const SETTINGS: &str = "config.json";

/// A report with the files behind it.
#[derive(Debug)]
pub struct TtnnFiles {
    folder: PathBuf,
    database: Database,
}

impl TtnnFiles {
    /// Opens a report by its database.
    ///
    /// # Errors
    /// When the database cannot be read, or is none of TT-NN.
    pub fn open(path: &Path, report: &Report, progress: &Progress) -> Result<Self, Error> {
        let database = Database::open(path, refusal_of_header, &report.warnings, progress)?;
        let folder = directory_of(path);
        report.set_files(Self::list(&folder, path, &database));
        Ok(Self { folder, database })
    }

    fn list(folder: &Path, path: &Path, database: &Database) -> Vec<ReportFile> {
        let is_cut = database.missing_bytes() > 0;
        let status = if is_cut { FileStatus::Truncated } else { FileStatus::Ok };
        let main = ReportFile { name: file_name(path), bytes: Some(database.bytes), status };
        let beside = discover::side_files(folder).into_iter().map(|(name, bytes)| ReportFile {
            name,
            bytes: Some(bytes),
            status: FileStatus::Ok,
        });
        std::iter::once(main).chain(beside).collect()
    }

    /// Reads everything but graphs and what single cores have.
    ///
    /// # Errors
    /// When the database cannot be opened again, or has none of the tables of a report.
    pub fn read(&self, report: &Report, progress: &Progress) -> Result<TtnnReport, Error> {
        let tables = self.database.tables(&report.warnings, progress)?;
        self.check_tables(&tables)?;
        let (mut found, ranks) = small_tables::read(&tables);
        tensors::read(&tables, &mut found, &ranks);
        calls::read(&tables, &mut found, &ranks);
        found.page_table = pages::table(&tables);
        buffers::read(&tables, &mut found, &ranks);
        let is_incomplete =
            tables.is_cut || ["operations", "buffers"].iter().any(|table| tables.is_broken(table));
        for rank in &mut found.ranks {
            rank.is_incomplete = is_incomplete;
            rank.tensors.finish();
        }
        descriptor::read(&self.folder, &mut found, &report.warnings);
        self.read_settings(report, &mut found, progress);
        if self.database.has_changed_while_read() {
            let message =
                "the file changed while it was read: every figure is doubtful; reload the report";
            tables.warn(WarningCode::Inconsistent, message);
        }
        Ok(found)
    }

    /// Hands the graph of each operation to `each`, with the place of its rank and its position there.
    ///
    /// # Errors
    /// When the database cannot be opened again.
    pub fn read_graphs(
        &self,
        found: &mut TtnnReport,
        report: &Report,
        progress: &Progress,
        each: impl FnMut(&TtnnReport, usize, u32, OperationGraph),
    ) -> Result<(), Error> {
        let tables = self.database.tables(&report.warnings, progress)?;
        graph::read(&tables, found, each);
        let is_broken = tables.is_broken("captured_graph");
        found.ranks.iter_mut().for_each(|rank| rank.is_incomplete |= is_broken);
        Ok(())
    }

    /// Counts the rows of parts on single cores, and reads those of some operations: places of ranks with positions.
    ///
    /// # Errors
    /// When the database cannot be opened again.
    pub fn read_pages(
        &self,
        found: &mut TtnnReport,
        wanted: &[(usize, u32)],
        report: &Report,
        progress: &Progress,
    ) -> Result<Vec<CorePages>, Error> {
        let tables = self.database.tables(&report.warnings, progress)?;
        Ok(pages::read(&tables, found, wanted))
    }

    fn check_tables(&self, tables: &Tables<'_>) -> Result<(), Error> {
        if let Some(error) = tables.schema_error() {
            let message =
                format!("table sqlite_master: {error}; tables named before the fault are read");
            tables.warn(WarningCode::Inconsistent, message);
        }
        if ["operations", "buffers"].iter().any(|table| tables.has_table(table)) {
            return Ok(());
        }
        let name = &self.database.name;
        let message =
            format!("{name} has neither of the tables operations and buffers of a TT-NN report");
        Err(Error::new(ErrorKind::Damaged, message)
            .in_file(&self.database.original)
            .at("table sqlite_master")
            .hint("The file may be cut or overwritten; copy it again, or record the report again."))
    }

    fn read_settings(&self, report: &Report, found: &mut TtnnReport, progress: &Progress) {
        let names = discover::side_files(&self.folder).into_iter().map(|(name, _)| name);
        let is_settings = |name: &String| name == SETTINGS || name.starts_with("config_");
        let Some(name) = names.into_iter().find(is_settings) else { return };
        let path = self.folder.join(&name);
        let (facts, status) = read_side_file(&path, &name, &report.warnings, progress);
        report.set_file_status(&name, status);
        found.settings = facts.into_iter().map(|fact| (fact.path, fact.value)).collect();
    }
}

/// What a file is that should be a database and is not SQLite.
fn refusal_of_header(path: &Path, header: &[u8]) -> Error {
    let shown = path.display();
    let (message, hint) = if header.is_empty() {
        (format!("{shown} is empty"), "The run may have ended before the report was written.")
    } else {
        (
            format!("{shown} is no database: `SQLite format 3` expected at its start"),
            "Open the directory that ttnn.CONFIG.report_path names.",
        )
    };
    Error::new(ErrorKind::NotAReport, message).in_file(path).at("byte 0").hint(hint)
}

/// The columns of a table without the last ones that it does not have; the first `needed` stay, and are warned of.
fn known<'a>(
    tables: &Tables<'_>,
    table: &str,
    columns: &'a [&'a str],
    needed: usize,
) -> &'a [&'a str] {
    let mut known = columns;
    while let Some((last, before)) = known.split_last() {
        if known.len() <= needed || tables.has_column(table, last) {
            break;
        }
        known = before;
    }
    known
}
