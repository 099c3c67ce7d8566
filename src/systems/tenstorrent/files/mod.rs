//! Reports of TT-NN: `db.sqlite` and the files beside it (formats/tenstorrent.md).

mod buffers;
mod calls;
mod capture;
mod captured_graphs;
mod core_ranges;
mod descriptor;
mod discover;
mod graph;
mod node;
mod pages;
mod plain_nodes;
mod small_tables;
mod tensors;

pub use discover::{
    DATABASE, captures_of_ranks, database_of, is_capture, is_damaged_report, is_report,
};
#[cfg(any(test, fuzzing))]
pub use graph::parse as parse_graph;

use std::path::{Path, PathBuf};

use self::capture::Captures;
use self::discover::SideFiles;
use super::recorded::{CorePages, OperationGraph, TtnnReport};
use crate::files::{directory_of, file_name};
use crate::format::side_files::read_side_file;
use crate::format::sqlite::{Cells, Database, NumberedRows, ROW_ID, Tables};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, WarningCode, Warnings};

/// The settings of TT-NN beside the database.
const SETTINGS: &str = "config.json";

/// The files of a report.
#[derive(Clone, Debug)]
pub enum ReportSource {
    /// A database.
    Database(PathBuf),
    /// Raw captures, one for each rank.
    Captures(Vec<PathBuf>),
}

impl ReportSource {
    /// The file that has most of it.
    pub fn main_file(&self) -> PathBuf {
        match self {
            Self::Database(path) => path.clone(),
            Self::Captures(paths) => paths.first().cloned().unwrap_or_default(),
        }
    }
}

/// A report with the files behind it.
#[derive(Debug)]
pub struct TtnnFiles {
    beside: SideFiles,
    opened: OpenedSource,
}

/// Where the graphs and the buffers of a rank are, as messages name it.
#[derive(Clone, Copy, Debug)]
pub struct RankParts<'a> {
    /// The file.
    pub file: &'a str,
    /// What has the graphs.
    pub graphs: &'static str,
    /// What has the buffers.
    pub buffers: &'static str,
}

#[derive(Debug)]
enum OpenedSource {
    Database(Box<Database>),
    Captures(Captures),
}

impl TtnnFiles {
    /// Opens a report by its files.
    ///
    /// # Errors
    /// When they cannot be read, or are none of TT-NN.
    pub fn open(
        source: &ReportSource,
        report: &Report,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let beside = SideFiles::of(&directory_of(&source.main_file()));
        let (opened, mut files) = match source {
            ReportSource::Database(path) => {
                let database = Database::open(path, refusal_of_header, &report.warnings, progress)?;
                let is_cut = database.missing_bytes() > 0;
                let status = if is_cut { FileStatus::Truncated } else { FileStatus::Ok };
                let main =
                    ReportFile { name: file_name(path), bytes: Some(database.bytes), status };
                (OpenedSource::Database(Box::new(database)), vec![main])
            }
            ReportSource::Captures(paths) => {
                let captures = Captures::open(paths)?;
                let files = captures.list();
                (OpenedSource::Captures(captures), files)
            }
        };
        files.extend(beside.iter().map(|(name, bytes)| ReportFile {
            name: name.clone(),
            bytes: *bytes,
            status: if bytes.is_some() { FileStatus::Ok } else { FileStatus::Invalid },
        }));
        report.set_files(files);
        Ok(Self { beside, opened })
    }

    /// All files, the database first, where that is whole and read where it lies. `None` for captures.
    pub fn whole(&self) -> Option<Vec<PathBuf>> {
        let OpenedSource::Database(database) = &self.opened else { return None };
        let beside = self.beside.iter().map(|(name, _)| self.beside.folder.join(name));
        let all = || std::iter::once(database.original.clone()).chain(beside).collect();
        database.is_read_where_it_lies().then(all)
    }

    /// The file of the rank at a place, and what there has the graphs and the buffers of its operations.
    pub fn parts_of(&self, place: usize) -> RankParts<'_> {
        match &self.opened {
            OpenedSource::Database(database) => RankParts {
                file: &database.name,
                graphs: "table captured_graph",
                buffers: "table buffers",
            },
            OpenedSource::Captures(captures) => RankParts {
                file: captures.name_of(place),
                graphs: "graph",
                buffers: "per_operation_buffers",
            },
        }
    }

    /// Reads everything but graphs and what single cores have.
    ///
    /// # Errors
    /// When a file cannot be opened again, or has nothing of a report.
    pub fn read(&mut self, report: &Report, progress: &Progress) -> Result<TtnnReport, Error> {
        let mut found = match &mut self.opened {
            OpenedSource::Database(database) => {
                read_tables(database, &self.beside, report, progress)?
            }
            OpenedSource::Captures(captures) => captures.read(&self.beside, report, progress)?,
        };
        self.read_settings(report, &mut found, progress);
        Ok(found)
    }

    /// Hands the graph of each operation to `each`, with the place of its rank and its position there; those of a rank by
    /// ascending position. What comes of them begins with `start`, and anew where it turns out that they stand in no order.
    ///
    /// # Errors
    /// When the database cannot be opened again.
    pub fn read_graphs<T: Send>(
        &self,
        found: &mut TtnnReport,
        report: &Report,
        progress: &Progress,
        start: impl Fn(&TtnnReport) -> T,
        mut each: impl FnMut(&mut T, &TtnnReport, usize, u32, OperationGraph) + Send,
    ) -> Result<T, Error> {
        let warnings = &report.warnings;
        let database = match &self.opened {
            OpenedSource::Database(database) => database,
            OpenedSource::Captures(captures) => {
                let mut value = start(found);
                captures.read_graphs(found, warnings, progress, |found, place, at, graph| {
                    each(&mut value, found, place, at, graph);
                });
                return Ok(value);
            }
        };
        let (value, is_broken) =
            captured_graphs::read(database, found, warnings, progress, start, each)?;
        found.ranks.iter_mut().for_each(|rank| rank.is_incomplete |= is_broken);
        Ok(value)
    }

    /// How many rows of parts on single cores each rank has, and the sums of those of some operations: places of ranks with
    /// positions.
    ///
    /// # Errors
    /// When the database cannot be opened again.
    pub fn read_pages(
        &self,
        found: &TtnnReport,
        wanted: &[(usize, u32)],
        report: &Report,
        progress: &Progress,
    ) -> Result<(Vec<u64>, Vec<CorePages>), Error> {
        match &self.opened {
            OpenedSource::Database(database) => {
                let tables = database.tables(&report.warnings, progress)?;
                pages::read(database, &tables, found, wanted, &report.warnings)
            }
            OpenedSource::Captures(captures) => {
                let counts = found.ranks.iter().map(|rank| rank.page_rows).collect();
                Ok((counts, captures.read_pages(found, wanted, &report.warnings, progress)))
            }
        }
    }

    fn read_settings(&self, report: &Report, found: &mut TtnnReport, progress: &Progress) {
        let is_settings = |name: &str| name == SETTINGS || name.starts_with("config_");
        let Some(name) = self.beside.find(is_settings) else { return };
        let path = self.beside.folder.join(name);
        let (facts, status) = read_side_file(&path, name, &report.warnings, progress);
        report.set_file_status(name, status);
        found.settings = facts.into_iter().map(|fact| (fact.path, fact.value)).collect();
    }
}

/// Reads the tables of a database, but for graphs and what single cores have.
fn read_tables(
    database: &Database,
    beside: &SideFiles,
    report: &Report,
    progress: &Progress,
) -> Result<TtnnReport, Error> {
    let tables = database.tables(&report.warnings, progress)?;
    check_tables(database, &tables)?;
    let (mut found, ranks) = small_tables::read(&tables);
    found.page_table = pages::table(&tables);
    let operations = buffers::KnownOperations::of(&found, &ranks);
    let said_of_buffers = Warnings::default();
    // The table of buffers is read in parts on all threads, the others, one after another, on one of them.
    let (buffers, others) = rayon::join(
        || buffers::read(database, &operations, &said_of_buffers, progress),
        || {
            let tables = database.tables(&report.warnings, progress)?;
            tensors::read(&tables, &mut found, &ranks);
            calls::read(&tables, &mut found, &ranks);
            Ok::<(), Error>(())
        },
    );
    let (buffers, ()) = (buffers?, others?);
    report.warnings.add_all(&said_of_buffers.list());
    let is_incomplete = tables.is_cut || buffers.is_broken || tables.is_broken("operations");
    buffers.fill(&mut found, &tables);
    for rank in &mut found.ranks {
        rank.is_incomplete = is_incomplete;
        rank.finish();
        descriptor::fill_from_folder(rank, beside, &report.warnings);
    }
    if database.has_changed_while_read() {
        let message =
            "the file changed while it was read: every figure is doubtful; reload the report";
        tables.warn(WarningCode::Inconsistent, message);
    }
    Ok(found)
}

fn check_tables(database: &Database, tables: &Tables<'_>) -> Result<(), Error> {
    let fault = tables.schema_error();
    let has_any = ["operations", "buffers"].iter().any(|table| tables.has_table(table));
    if let Some(fault) = fault.filter(|_| has_any) {
        let message =
            format!("table sqlite_master: {fault}; tables named before the fault are read");
        tables.warn(WarningCode::Inconsistent, message);
    }
    if has_any {
        return Ok(());
    }
    let name = &database.name;
    let message = match fault {
        Some(fault) => format!("{} is damaged: {fault}", database.original.display()),
        None => {
            format!("{name} has neither of the tables operations and buffers of a TT-NN report")
        }
    };
    Err(Error::new(ErrorKind::Damaged, message)
        .in_file(&database.original)
        .at("table sqlite_master")
        .hint("The file may be cut or overwritten; copy it again, or record the report again."))
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

/// Reads the rows of a table that may be absent, with the columns that it has; the first `needed` of them are warned of.
fn read_known(
    tables: &Tables<'_>,
    table: &str,
    columns: &[&str],
    needed: usize,
    each: impl FnMut(&mut Cells<'_, '_>),
) {
    if tables.has_table(table) {
        let columns = known(tables, table, columns, needed);
        tables.rows(&NumberedRows::all(table, columns, ROW_ID), each);
    }
}

/// The number of the rank of a row, which an absent column leaves 0.
fn rank_number(cells: &mut Cells<'_, '_>, column: usize) -> Option<u64> {
    if cells.is_null(column) { Some(0) } else { cells.number(column) }
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
