//! Report directories of Graphcore's Poplar SDK (formats/poplar.md).
//!
//! [`OpenReport::open`] finds the files and reads the small tables; the rest is read when it is
//! asked for, on whatever thread asks.

pub mod absent;
mod arenas;
pub mod blob;
mod debug_cbor;
mod discover;
mod header;
mod indexed;
mod logs;
mod pop;
mod repeated_names;

use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use debug_cbor::DebugFile;
pub use debug_cbor::layers;
#[cfg(any(test, fuzzing))]
pub(crate) use debug_cbor::read_debug_info;
pub use discover::{
    FolderReport, FolderRun, FolderRuns, has_profile, has_report, is_report, refusal,
    reports_below, reports_beside, runs_in_folder,
};
use discover::{ReportFiles, discover};
use header::refusal_of_header;
use indexed::NotedWarnings;
use pop::tile_lists::{Cycles, ListSizes};
use pop::variables::TileReader;

use crate::files::directory_of;
use crate::format::side_files::read_side_file;
use crate::format::sqlite::{Database, Tables, size_of_file};
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{self, Cache, ColumnSpace, Indexed};
use crate::store::liveness::VariableBytes;
use crate::store::log::LogMessage;
use crate::store::options::About;
use crate::store::placed::Placed;
use crate::store::report::{FileStatus, Part};
use crate::store::{Absence, Report, TileId, Warning, WarningCode};

/// A report with the files behind it. Cheap to share between threads.
#[derive(Debug)]
pub struct OpenReport {
    /// What has been read.
    pub report: Arc<Report>,
    found: ReportFiles,
    database: Arc<Database>,
    indexed: Option<Arc<Indexed>>,
    noted: Mutex<NotedWarnings>,
    room: OnceLock<ColumnSpace>,
}

impl OpenReport {
    /// Finds a report and checks that its profile is one; reads nothing else yet. Its own files alone are read.
    ///
    /// # Errors
    /// When there is no report, more than one, or its profile is not readable.
    pub fn find(path: &Path) -> Result<Self, Error> {
        Self::find_with(path, None, &Progress::default())
    }

    /// The same; what a cache has of it is taken from there. Of a report whose writer was interrupted a copy is made,
    /// as long as somebody waits for it.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_with(
        path: &Path,
        cache: Option<&Cache>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let report = Report::of(crate::systems::poplar::WORDS, path.to_owned());
        let found = discover(path, &report.warnings)?;
        report.set_files(found.files.clone());
        let database = Arc::new(Database::open(
            &found.profile,
            refusal_of_header,
            &report.warnings,
            progress,
        )?);
        let report = Arc::new(report);
        let indexed = cache.and_then(|cache| indexed::find(cache, &found, &database)).map(Arc::new);
        arenas::TileArenas::serve(&report, &database, indexed.as_ref());
        Ok(Self {
            report,
            found,
            database,
            indexed,
            noted: Mutex::default(),
            room: OnceLock::new(),
        })
    }

    /// Finds a report and reads its small tables: everything but debug contexts and lowered
    /// variables.
    ///
    /// # Errors
    /// As [`Self::find`], and when the profile has none of the tables of one, is of a newer format,
    /// or is damaged beyond use.
    pub fn open(path: &Path, progress: &Progress) -> Result<Self, Error> {
        Self::open_with(path, None, progress)
    }

    /// The same; what a cache has of it is taken from there.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        path: &Path,
        cache: Option<&Cache>,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let open = Self::find_with(path, cache, progress)?;
        open.read_small_tables(progress)?;
        Ok(open)
    }

    /// Reads the small tables, those of the first pictures first.
    ///
    /// # Errors
    /// When the profile has none of the tables of one, is of a newer format, or is damaged.
    pub fn read_small_tables(&self, progress: &Progress) -> Result<(), Error> {
        let before = self.report.warnings.list_of_reading().len();
        let warnings = match self.take_with_warnings(index::fill_small_tables) {
            Some(warnings) => warnings,
            None => {
                self.read_small_tables_of_files(progress)?;
                self.warnings_since(before)
            }
        };
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).small_tables = warnings;
        Ok(())
    }

    fn warnings_since(&self, before: usize) -> Vec<Warning> {
        self.report.warnings.list_of_reading().split_off(before)
    }

    fn read_small_tables_of_files(&self, progress: &Progress) -> Result<(), Error> {
        let report = &*self.report;
        let tables = self.database.tables(&report.warnings, progress)?;
        self.check_is_profile(&tables)?;
        let missing = self.database.missing_bytes();
        if missing > 0 {
            report.set_file_status(&self.database.name, FileStatus::Truncated);
            tables.warn(
                WarningCode::Truncated,
                format!("{missing} bytes fewer than its header says; what is left is read"),
            );
        }
        let mut about =
            pop::about::read_about(&tables).map_err(|error| error.in_file(&self.found.profile))?;
        let target = pop::about::read_target(&tables);
        let tiles = target.as_ref().and_then(|target| target.tiles);
        tables.settle(&report.target, target, absent::target);
        tables.settle(&report.memory, pop::memory::read_memory(&tables, tiles), absent::memory);
        report.fill_arenas_with_tiles();
        tables.settle(&report.graph, pop::about::read_graph(&tables), absent::graph);
        let mut compute_sets = pop::compute::read_compute_sets(&tables);
        let mut programs = pop::programs::read_programs(&tables);
        let steps = pop::programs::read_steps(&tables, programs.as_ref());
        if let (Some(programs), Some(steps)) = (&mut programs, &steps)
            && let Some(most) = repeated_names::of_steps(programs, compute_sets.as_mut(), steps)
        {
            let message = format!(
                "names of programs and compute sets are cut to {most} bytes: depth_first_steps repeats them"
            );
            tables.warn(WarningCode::Inconsistent, message);
        }
        tables.settle(&report.compute_sets, compute_sets, absent::compute_sets);
        tables.settle(&report.steps, steps, absent::steps);
        tables.settle(&report.programs, programs, absent::programs);
        let of_steps = report.steps.get();
        let deltas = of_steps.and_then(|steps| pop::liveness::read_deltas(&tables, steps));
        tables.settle(&report.deltas, deltas, || report.steps.absence_or(absent::deltas));
        let liveness = of_steps.and_then(|steps| pop::liveness::read_liveness(&tables, steps));
        tables.settle(&report.liveness, liveness, || report.steps.absence_or(absent::liveness));
        tables.settle(&report.categories, pop::about::read_categories(&tables), absent::categories);
        let execution = pop::execution::read_execution(&tables, about.compilation_id.as_deref());
        tables.settle(&report.execution, execution, absent::execution);
        if let Some(path) = &self.found.framework {
            about.framework = self.read_side_file(path, "framework.json", progress);
        }
        if let Some(path) = &self.found.app {
            about.app = self.read_side_file(path, "app.json", progress);
        }
        report.about.fill(Some(about));
        pop::emptied::warn_of_emptied(&tables, report);
        if self.database.is_doubtful {
            self.check_doubtful(&tables);
        }
        if self.database.has_changed_while_read() {
            tables.warn(
                WarningCode::Unfinished,
                "the file changed while it was read: every figure is doubtful; reload the report",
            );
        }
        Ok(())
    }

    /// Reads what programs start from and call, and those of earlier compilation steps; to be called when the small
    /// tables are there.
    pub fn read_program_trees(&self, progress: &Progress) {
        if self.take_indexed(index::fill_program_trees).is_some() {
            return;
        }
        let report = &*self.report;
        let Some(programs) = report.programs.get() else {
            report.program_trees.settle(Err(report.programs.absence_or(absent::programs)));
            return;
        };
        let read = self.database.tables(&report.warnings, progress);
        let read = read.map(|tables| pop::program_trees::read_program_trees(&tables, programs));
        self.settle(&report.program_trees, read, progress, absent::programs);
    }

    /// Reads the debug contexts.
    pub fn read_debug_info(&self, progress: &Progress) {
        let before = self.report.warnings.list_of_reading().len();
        // That it cannot be opened is said by who reads all of it.
        let whole = self.found.debug.as_ref().and_then(|path| DebugFile::open(path).ok());
        if let Some(file) = whole {
            self.report.set_context_reader(Box::new(file));
        }
        let warnings = match self.take_with_warnings(index::fill_debug_info) {
            Some(warnings) => warnings,
            None => {
                self.read_debug_info_of_file(progress);
                self.warnings_since(before)
            }
        };
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).debug_info = warnings;
    }

    fn read_debug_info_of_file(&self, progress: &Progress) {
        let report = &*self.report;
        let Some(path) = &self.found.debug else {
            let name = "debug.cbor";
            let hint = "absent beside the profile and one directory up; the engine option \
                        autoReport.outputDebugInfo writes it";
            report.warnings.add(WarningCode::MissingFile, name, hint);
            report.warnings.add(
                WarningCode::NoDebugInfo,
                name,
                "operations and their options are not known",
            );
            report.debug.settle(Err(absent::debug()));
            return;
        };
        let beside = self.found.profile.with_file_name("debug.cbor");
        let name = if *path == beside { "debug.cbor" } else { "../debug.cbor" };
        let (mut debug, status) =
            debug_cbor::read_debug_info(path, name, &report.warnings, progress);
        if let Some(most) =
            debug.as_mut().and_then(|debug| repeated_names::of_contexts(debug, report))
        {
            let message =
                format!("names are cut to {most} bytes: the steps of the profile repeat them");
            report.warnings.add(WarningCode::Inconsistent, name, message);
        }
        report.set_file_status(name, status);
        if let (Some(debug), Some(programs)) = (&debug, report.programs.get()) {
            let named = programs.debug_ids.iter().filter(|id| **id != 0);
            let absent = named.filter(|id| debug.position(**id).is_none()).count();
            if absent > 0 {
                report.warnings.add(
                    WarningCode::Inconsistent,
                    name,
                    format!("{absent} programs name a debug context that is absent"),
                );
            }
        }
        report.debug.settle(complete(debug, progress, absent::debug));
    }

    /// Searches the logs beside the profile, and those that are named, with `find`. No log is no fault.
    pub fn read_logs(
        &self,
        named: &[PathBuf],
        progress: &Progress,
        find: impl Fn(&mut (dyn Read + Send)) -> io::Result<Vec<LogMessage>>,
    ) {
        let directory = directory_of(&self.found.profile);
        let logs = logs::read_logs(&directory, named, &self.report.warnings, progress, find);
        self.report.logs.fill(Some(logs));
    }

    /// Reads the resident columns of all lowered variables, in parallel.
    pub fn read_variables(&self, progress: &Progress) {
        if self.take_indexed(index::fill_variables).is_some() {
            return;
        }
        let report = &*self.report;
        let (database, warnings) = (&self.database, &report.warnings);
        let read =
            self.in_room(|room| pop::variables::read_variables(database, room, warnings, progress));
        self.settle(&report.variables, read, progress, absent::variables);
    }

    /// Reads the bytes by tile, unlowered variable and class, in parallel; to be called when the
    /// classes are there.
    pub fn read_tile_variable_bytes(&self, progress: &Progress) {
        if self.take_indexed(index::fill_tile_variable_bytes).is_some() {
            return;
        }
        let report = &*self.report;
        let Some(liveness) = report.liveness.get() else {
            report.tile_variable_bytes.settle(Err(report.liveness.absence_or(absent::liveness)));
            return;
        };
        let (classes, warnings) = (&liveness.classes, &report.warnings);
        let database = &self.database;
        let read = self.in_room(|room| {
            pop::tile_bytes::read_tile_variable_bytes(database, room, classes, warnings, progress)
        });
        self.settle(&report.tile_variable_bytes, read, progress, absent::variable_bytes);
    }

    /// Reads what goes by tile of vertex types, compute sets, exchanges and programs; to be called when
    /// the small tables are there.
    pub fn read_compute(&self, progress: &Progress) {
        if self.take_indexed(index::fill_compute).is_some() {
            return;
        }
        let report = &*self.report;
        let tables = match self.database.tables(&report.warnings, progress) {
            Ok(tables) => tables,
            Err(error) => {
                self.settle_compute(&self.unreadable(error));
                return;
            }
        };
        let Some(lists) = ListSizes::of(report) else {
            tables.warn(WarningCode::Inconsistent, "the number of tiles is not known");
            self.settle_compute(&absent::number_of_tiles());
            return;
        };
        let cycles = Cycles::read(&tables, lists);
        let types = pop::vertex::read_vertex_types(&tables, lists);
        tables.settle(&report.vertex_types, types, absent::vertex_types);
        let sets = report.compute_sets.get();
        let tiles =
            sets.and_then(|sets| pop::compute::read_compute_set_tiles(&tables, sets, &cycles));
        let no_tiles = || report.compute_sets.absence_or(absent::compute_set_tiles);
        tables.settle(&report.compute_set_tiles, tiles, no_tiles);
        let exchanges = pop::exchange::read_exchanges(&tables, &cycles);
        tables.settle(&report.exchanges, exchanges, absent::exchanges);
        let programs = report.programs.get();
        let code = programs
            .and_then(|programs| pop::programs::read_control_code(&tables, programs, lists));
        let no_code = || report.programs.absence_or(absent::control_code);
        tables.settle(&report.control_code, code, no_code);
    }

    fn settle<T>(
        &self,
        part: &Part<T>,
        read: Result<Option<T>, Error>,
        progress: &Progress,
        absent: impl Fn() -> Absence,
    ) {
        let read = read.map_err(|error| self.unreadable(error));
        let absent = || absent::of_file(self.database.missing_bytes() > 0, absent());
        part.settle(read.and_then(|found| complete(found, progress, absent)));
    }

    /// The absence of what could not be read because the profile cannot be opened again, which becomes
    /// a warning.
    fn unreadable(&self, error: Error) -> Absence {
        let absence = absent::unreadable(&error.message);
        self.report.warnings.add(WarningCode::Inconsistent, &self.database.name, error.message);
        absence
    }

    /// Says why nothing of what computes can be read.
    fn settle_compute(&self, absence: &Absence) {
        self.report.vertex_types.settle(Err(absence.clone()));
        self.report.compute_set_tiles.settle(Err(absence.clone()));
        self.report.exchanges.settle(Err(absence.clone()));
        self.report.control_code.settle(Err(absence.clone()));
    }

    /// Reads all tiles' lowered variables in one scan. Returns whether there is a table to read.
    ///
    /// # Errors
    /// When the profile cannot be opened again.
    pub fn read_each_tile(
        &self,
        progress: &Progress,
        each: impl FnMut(TileId, Placed),
    ) -> Result<bool, Error> {
        let tables = self.database.tables(&self.report.warnings, progress)?;
        Ok(TileReader::new(tables).each_tile(each))
    }

    /// Reads the bytes by unlowered variable and class on a range of tiles; `None` when there is no
    /// table to read them from.
    ///
    /// # Errors
    /// When the profile cannot be opened again.
    pub fn read_variable_bytes(
        &self,
        tiles: RangeInclusive<u32>,
        progress: &Progress,
    ) -> Result<Option<Vec<VariableBytes>>, Error> {
        let Some(liveness) = self.report.liveness.get() else { return Ok(None) };
        let is_wanted = |tile: TileId| tiles.contains(&tile.0);
        if let Some(found) =
            self.take_indexed(|_, file| index::read_bytes_of_tiles(file, is_wanted))
        {
            return Ok(found.map(|table| table.iter(0..table.len()).collect()));
        }
        let tables = self.database.tables(&self.report.warnings, progress)?;
        Ok(pop::liveness::read_variable_bytes_on_tiles(
            &tables,
            &liveness.classes,
            *tiles.start(),
            *tiles.end(),
        ))
    }

    /// Reads all tables through SQLite, the large ones too: for tests that compare both ways.
    pub fn read_through_sqlite(&self) {
        self.database.reading.switch_off();
    }

    /// What was left to SQLite although it is large, and why.
    pub fn left_to_sqlite(&self) -> Vec<String> {
        self.database.reading.refusals()
    }

    /// Its profile.
    pub fn profile(&self) -> &Path {
        &self.found.profile
    }

    /// Sizes of the files that the background reads go through, for progress.
    pub fn bytes_to_read(&self) -> u64 {
        let debug = self.found.debug.as_ref().map_or(0, |path| size_of_file(path).unwrap_or(0));
        self.database.bytes.saturating_add(debug)
    }

    /// What the side files and logs of a run say that left no report.
    pub fn without_profile(
        directory: &Path,
        progress: &Progress,
        find: impl Fn(&mut (dyn Read + Send)) -> io::Result<Vec<LogMessage>>,
    ) -> Report {
        let report = Report::of(crate::systems::poplar::WORDS, directory.to_owned());
        let read = |name: &str| {
            let path = directory.join(name);
            let is_there = path.is_file();
            is_there.then(|| read_side_file(&path, name, &report.warnings, progress).0)
        };
        let (app, framework) = (read("app.json"), read("framework.json"));
        let (app, framework) = (app.unwrap_or_default(), framework.unwrap_or_default());
        report.about.fill(Some(About { framework, app, ..About::default() }));
        let logs = logs::read_logs(directory, &[], &report.warnings, progress, find);
        report.logs.fill(Some(logs));
        report
    }

    fn read_side_file(
        &self,
        path: &Path,
        name: &str,
        progress: &Progress,
    ) -> Vec<crate::store::options::SideFact> {
        let warnings = &self.report.warnings;
        let (facts, status) = read_side_file(path, name, warnings, progress);
        self.report.set_file_status(name, status);
        facts
    }

    /// A profile has at least one of the tables that every view starts from.
    fn check_is_profile(&self, tables: &Tables<'_>) -> Result<(), Error> {
        if tables.progress.is_cancelled() {
            return Ok(());
        }
        let known = ["target_info", "memory_by_tile", "programs", "vars_info", "version_info"];
        if known.iter().any(|table| tables.has_table(table)) {
            if let Some(error) = tables.schema_error() {
                tables.warn(
                    WarningCode::Inconsistent,
                    format!("table sqlite_master: {error}; tables named before the fault are read"),
                );
            }
            return Ok(());
        }
        let name = &self.database.name;
        let error = match tables.schema_error() {
            Some(error) => Error::new(ErrorKind::Damaged, format!("{name}: {error}"))
                .at("table sqlite_master")
                .hint("The file may be cut or overwritten; copy it again, or capture the report again."),
            None => Error::new(
                ErrorKind::NotAReport,
                format!("{name} is a SQLite file without the tables of a Poplar profile"),
            )
            .at("table target_info")
            .hint("The run may have ended before the profile was written."),
        };
        Err(error.in_file(&self.found.profile))
    }

    /// A file in the middle of a change: compares the rows with what the file says of itself.
    fn check_doubtful(&self, tables: &Tables<'_>) {
        let expected = self.report.graph.get().and_then(|graph| graph.variables);
        let mut rows = 0_u64;
        tables.read("vars_info", &["var_id"], "", |_| rows = rows.saturating_add(1));
        if let Some(expected) = expected
            && expected != rows
        {
            tables.warn(
                WarningCode::Unfinished,
                format!("graph_info.num_vars says {expected} variables, vars_info has {rows} rows"),
            );
        }
    }
}

/// What was read, or why it is not there. What was read in part only, because the reading was
/// canceled, would give wrong figures.
fn complete<T>(
    found: Option<T>,
    progress: &Progress,
    absent: impl Fn() -> Absence,
) -> Result<T, Absence> {
    if progress.is_cancelled() {
        return Err(Absence::cancelled());
    }
    found.ok_or_else(absent)
}

impl Tables<'_> {
    /// Fills a part with what was read.
    fn settle<T>(&self, part: &Part<T>, found: Option<T>, absent: impl Fn() -> Absence) {
        let absent = || absent::of_file(self.is_cut, absent());
        part.settle(complete(found, self.progress, absent));
    }
}
