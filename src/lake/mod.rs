//! A lake: the figures of many runs as Parquet files that DuckDB, Spark and others query (docs/user/lake.md).
//!
//! Each table is a directory with one for each run, `tiles/run=r…/part.parquet`, so that runs lie side by side
//! and exporting one again replaces its files. Figures are those of the commands: the same functions give
//! them. What a report does not say is null. What is of lowered variables is written while it is read.

mod modules;
mod placements;
mod run_id;
mod small_tables;
mod snapshots;
mod staging;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use modules::MODULE_TABLES;
pub use snapshots::SNAPSHOT_TABLES;
pub use table::{Kind, Table, Written};

use crate::analysis::cross_checks::contradictions;
use crate::analysis::sweep::{Sweep, SweepRun};
use crate::files::directory_of;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{find_module, programs_below};
use crate::run::Room;
use crate::store::{Report, Warning, WarningCode, Warnings};
use crate::sweep::{all_warnings, no_runs, shared_warnings};
use crate::systems::poplar::{
    answers::derived_of,
    files::{FolderReport, FolderRun, OpenReport, map_reports, runs_in_folder},
    insights::logs::log_messages,
};
use crate::systems::pytorch::files::{FileKind, runs_below};
use crate::systems::{find, of_process};
use modules::{FoundProgram, export_program};
use small_tables::PeakOfRun;
use snapshots::{FoundSnapshot, export_snapshot, snapshot_at};
use staging::{Staging, take_away_left_behind};

/// The tables of reports of Poplar. The first is written last: a run that has a row there has all of its others.
pub const TABLES: [Table; 8] = [
    small_tables::RUNS,
    small_tables::OPTIONS,
    small_tables::TILES,
    small_tables::STEPS,
    small_tables::VARIABLES,
    small_tables::OPERATIONS,
    placements::PLACEMENTS,
    placements::GAPS,
];

/// A run that was written into a lake.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ExportedRun {
    /// Its id, which stands in the names of its directories.
    pub run: String,
    /// What the report is opened by.
    pub path: String,
    /// The path as seen from the folder that was named.
    pub name: String,
    /// What was written, by table.
    #[serde(serialize_with = "by_table")]
    #[schemars(with = "std::collections::BTreeMap<String, Written>")]
    pub tables: Vec<(&'static str, Written)>,
}

fn by_table<S: serde::Serializer>(
    tables: &[(&'static str, Written)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tables.iter().copied())
}

/// What was written into a lake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exported {
    /// The runs, in the order of the paths.
    pub runs: Vec<ExportedRun>,
    /// Of the folders.
    warnings: Vec<Warning>,
    /// By the names of runs, also of those that cannot be read.
    of_runs: Vec<(String, Vec<Warning>)>,
}

/// What is at a path: reports, runs without one, and what to say of the folder.
#[derive(Debug, Default)]
struct Found {
    reports: Vec<FolderReport>,
    without_report: Vec<FolderRun>,
    snapshots: Vec<FoundSnapshot>,
    programs: Vec<FoundProgram>,
    warnings: Vec<Warning>,
}

/// Writes all reports at or below some paths into a lake. One that cannot be read becomes a warning. Of a dump of XLA it is
/// the module that is meant, or the one of a name.
///
/// # Errors
/// When a path cannot be looked into or none of the reports can be read, `usage` for a lake within a
/// report and for a module that is not there, and `cannot-write`.
pub fn export(
    paths: &[PathBuf],
    module: Option<&str>,
    lake: &Path,
    progress: &Progress,
) -> Result<Exported, Error> {
    let mut found = Found::default();
    for path in paths {
        found.add(path, module, progress)?;
    }
    if let Some(module) = module.filter(|_| found.programs.is_empty()) {
        let message = format!("no dump of XLA that is named has a module {module:?}");
        return Err(Error::new(ErrorKind::Usage, message)
            .hint("Only dumps and profiles of XLA have modules; tilescope summary lists them."));
    }
    found.check_is_outside(lake)?;
    take_away_left_behind(lake);
    let first_error: Mutex<Option<Error>> = Mutex::default();
    let done = map_reports(&found.reports, progress, |place, open| {
        let exported = open
            .map_err(Clone::clone)
            .and_then(|open| export_report(open, read_row(place, open, progress), lake, progress));
        exported.map_or_else(
            |error| {
                let facts = unreadable(place, &error);
                note(&first_error, error, progress);
                (None, facts)
            },
            |(exported, run)| (Some(exported), run),
        )
    });
    let first_error = first_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(done) = done else {
        return Err(first_error.unwrap_or_else(|| Error::new(ErrorKind::Unreadable, "cancelled")));
    };
    let mut exported = Exported { warnings: found.warnings, ..Exported::default() };
    let mut runs = Vec::new();
    for (of_run, run) in done {
        exported.of_runs.push((run.name.clone(), run.warnings.clone()));
        exported.runs.extend(of_run);
        runs.push(run);
    }
    let of_snapshots = export_each(
        &found.snapshots,
        |one| (&one.name, &one.files.path),
        |one| export_snapshot(one, lake, &mut exported, progress),
        progress,
    )?;
    let of_programs = export_each(
        &found.programs,
        |one| (&one.name, one.path()),
        |one| export_program(one, lake, &mut exported, progress),
        progress,
    )?;
    let mut unread = of_snapshots;
    unread.extend(of_programs);
    let mut first_error = first_error;
    for (name, warning, error) in unread {
        exported.of_runs.push((name, vec![warning]));
        first_error.get_or_insert(error);
    }
    match first_error {
        Some(error) if exported.runs.is_empty() => return Err(error),
        _ => {}
    }
    export_without_report(&found.without_report, runs, lake, &mut exported, progress)?;
    exported.warn_of_equal_reports();
    Ok(exported)
}

/// Writes runs that are read as a whole, one after the other; returns those that cannot be read, each with a warning that
/// says so.
fn export_each<T>(
    all: &[T],
    what: impl Fn(&T) -> (&str, &Path),
    mut write: impl FnMut(&T) -> Result<(), Error>,
    progress: &Progress,
) -> Result<Vec<(String, Warning, Error)>, Error> {
    let mut unread = Vec::new();
    for one in all {
        match write(one) {
            Ok(()) => {}
            Err(error) if error.kind == ErrorKind::CannotWrite || progress.is_cancelled() => {
                return Err(error);
            }
            Err(error) => {
                let (name, path) = what(one);
                let warning = Warning {
                    code: WarningCode::Inconsistent,
                    file: path.display().to_string(),
                    message: format!("cannot be read: {}", error.message),
                };
                unread.push((name.to_owned(), warning, error));
            }
        }
    }
    Ok(unread)
}

/// Keeps the first error of reading. Where there is no room for one run there is none for the next.
fn note(first_error: &Mutex<Option<Error>>, error: Error, progress: &Progress) {
    let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
    if error.kind == ErrorKind::CannotWrite {
        progress.cancel();
        *first = Some(error);
    } else {
        first.get_or_insert(error);
    }
}

impl Found {
    fn add(&mut self, path: &Path, module: Option<&str>, progress: &Progress) -> Result<(), Error> {
        let path = std::path::absolute(path).map_err(|error| Error::io(path, &error))?;
        let warnings = Warnings::default();
        if !path.is_dir()
            && let Some(found) = snapshot_at(&path, &warnings, progress)?
        {
            self.snapshots.push(found);
            self.warnings.extend(warnings.list());
            return Ok(());
        }
        if path.is_file() {
            if let Some(files) = find_module(&path, module, progress)? {
                self.warnings.extend(files.warnings.iter().cloned());
                self.programs.push(FoundProgram::of(files));
                return Ok(());
            }
            find(of_process(), &path, module, progress)?;
            let profile = OpenReport::find(&path)?.profile().to_owned();
            let folder = directory_of(&profile);
            self.reports.push(FolderReport::new(&folder, profile));
            return Ok(());
        }
        let of_pytorch = runs_below(&path, &warnings, progress).into_iter();
        let of_pytorch = of_pytorch.filter(|files| files.kind == FileKind::Snapshot);
        let before = self.snapshots.len();
        self.snapshots.extend(of_pytorch.map(|files| FoundSnapshot {
            name: files.path.strip_prefix(&path).unwrap_or(&files.path).display().to_string(),
            files,
        }));
        let programs = programs_below(std::slice::from_ref(&path), module, &warnings, progress);
        let is_other = !programs.is_empty() || self.snapshots.len() > before;
        self.programs.extend(programs.into_iter().map(FoundProgram::of));
        match runs_in_folder(&path, &warnings, progress) {
            Ok(found) if found.reports.is_empty() && !is_other => {
                return Err(find(of_process(), &path, module, progress)
                    .err()
                    .unwrap_or_else(|| no_runs(&path)));
            }
            Ok(found) => {
                self.reports.extend(found.reports);
                self.without_report.extend(found.without_report);
            }
            Err(error) => {
                return Err(find(of_process(), &path, module, progress).err().unwrap_or(error));
            }
        }
        self.warnings.extend(warnings.list());
        Ok(())
    }

    /// Nothing is ever written into a report.
    fn check_is_outside(&self, lake: &Path) -> Result<(), Error> {
        let absolute = std::path::absolute(lake).map_err(|error| Error::io(lake, &error))?;
        let directories = self.reports.iter().map(|report| directory_of(&report.profile));
        // A snapshot or a module is a file among others: its directory is no report.
        match directories.into_iter().find(|directory| absolute.starts_with(directory)) {
            None => Ok(()),
            Some(report) => {
                let message =
                    format!("{} lies in the report {}", absolute.display(), report.display());
                Err(Error::new(ErrorKind::Usage, message)
                    .hint("Name a directory that is no part of a report."))
            }
        }
    }
}

impl Exported {
    /// What is damaged or absent in the reports, and the reports that cannot be read.
    pub fn all_warnings(&self) -> Vec<Warning> {
        all_warnings(&self.warnings, self.warnings_of_runs())
    }

    /// The same for people: what is said of several runs is one.
    pub fn shared_warnings(&self) -> Vec<Warning> {
        shared_warnings(&self.warnings, self.warnings_of_runs())
    }

    fn warnings_of_runs(&self) -> impl Iterator<Item = (&str, &[Warning])> {
        self.of_runs.iter().map(|(run, warnings)| (&**run, &**warnings))
    }

    /// Of reports that are the same, byte for byte, one is in the lake.
    fn warn_of_equal_reports(&mut self) {
        let mut seen: HashMap<&str, &ExportedRun> = HashMap::new();
        let warnings = Warnings::default();
        for run in &self.runs {
            if let Some(first) = seen.insert(&run.run, run) {
                let message = format!("the same report as {}: one run in the lake", first.path);
                warnings.add(WarningCode::Inconsistent, &run.path, message);
            }
        }
        self.warnings.extend(warnings.list());
    }
}

/// The row of a report, for which its debug contexts and logs are read.
fn read_row(place: &FolderReport, open: &OpenReport, progress: &Progress) -> SweepRun {
    open.read_debug_info(progress);
    open.read_logs(&[], progress, log_messages);
    open.compare_parts(|report| contradictions(report, progress));
    row(&place.path, &place.name, &open.report)
}

fn row(path: &Path, name: &str, report: &Arc<Report>) -> SweepRun {
    let derived = derived_of(Arc::clone(report));
    let facts = derived.answers().sweep_facts(&derived, None).unwrap_or_default();
    let (path, name, warnings) =
        (path.display().to_string(), name.to_owned(), report.warnings.list());
    let system = report.system.name;
    let mut run = SweepRun { path, name, system, facts, warnings, ..SweepRun::default() };
    run.add_directory();
    run
}

/// The warning of a report that cannot be read.
fn unreadable(place: &FolderReport, error: &Error) -> SweepRun {
    let run = SweepRun { name: place.name.clone(), ..SweepRun::default() };
    crate::sweep::unreadable(run, &place.profile, error)
}

fn export_report(
    open: &OpenReport,
    mut run: SweepRun,
    lake: &Path,
    progress: &Progress,
) -> Result<(ExportedRun, SweepRun), Error> {
    let id = run_id::of_report(open.profile(), progress)?;
    open.read_compute(progress);
    let staging = Staging::new(lake, progress)?;
    let peak = PeakOfRun::of(&open.report);
    let large = placements::write(&staging, open, &peak, progress)?;
    // All that is wrong with the report has been seen now.
    run.warnings = open.report.warnings.list();
    let mut tables = small_tables::write(&staging, &run, &open.report, &peak)?;
    tables.extend(large);
    // What was read in part, because another run could not be written, is not put there.
    if progress.is_cancelled() {
        return Err(Error::new(ErrorKind::Unreadable, "cancelled"));
    }
    staging.publish(&TABLES, &id)?;
    Ok((exported_run(id, &run, tables), run))
}

/// Runs that left no report have their options, completed as in a sweep over them all.
fn export_without_report(
    places: &[FolderRun],
    mut runs: Vec<SweepRun>,
    lake: &Path,
    exported: &mut Exported,
    progress: &Progress,
) -> Result<(), Error> {
    if places.is_empty() {
        return Ok(());
    }
    let mut reports: HashMap<String, (String, Arc<Report>)> = HashMap::new();
    for place in places {
        let report = OpenReport::without_profile(&place.path, progress, log_messages);
        let report = Arc::new(report);
        let path = place.path.display().to_string();
        runs.push(SweepRun { no_report: true, ..row(&place.path, &place.name, &report) });
        reports.insert(path, (run_id::without_report(&place.path, progress)?, report));
    }
    for run in Sweep::new(runs, Room::default()).runs.iter().filter(|run| run.no_report) {
        let Some((id, report)) = reports.remove(&run.path) else { continue };
        let staging = Staging::new(lake, progress)?;
        let mut tables = small_tables::write(&staging, run, &report, &PeakOfRun::default())?;
        tables.extend(placements::write_none(&staging)?);
        staging.publish(&TABLES, &id)?;
        exported.runs.push(exported_run(id, run, tables));
        exported.of_runs.push((run.name.clone(), run.warnings.clone()));
    }
    Ok(())
}

fn exported_run(id: String, run: &SweepRun, tables: Vec<(&'static str, Written)>) -> ExportedRun {
    ExportedRun { run: id, path: run.path.clone(), name: run.name.clone(), tables }
}

/// What wrote a file.
fn program() -> String {
    format!("tilescope {}", env!("CARGO_PKG_VERSION"))
}
