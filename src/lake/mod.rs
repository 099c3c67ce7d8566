//! A lake: the figures of many runs as Parquet files that DuckDB, Spark and others query (docs/user/lake.md).
//!
//! Each table is a directory with one for each run, `steps/run=r…/part.parquet`, so that runs lie side by side and
//! exporting one again replaces its files. Figures are those of the commands: the same functions give them. Figures
//! that a run does not state are null. Runs of all systems have [`TABLES`]; a system gives the rows of its own.

mod run_id;
mod runs;
mod staging;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
pub use table::Written;

use crate::analysis::sweep::{Sweep, SweepRun};
use crate::files::file_name;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::{Room, RunTable};
use crate::store::{Warning, WarningCode, Warnings};
use crate::sweep::{
    Apps, all_warnings, map_runs, named_run, read_row, runs_below, shared_warnings, unreadable,
};
use crate::systems::of_process;
use crate::systems::system::{FoundRun, OpenRun};
use crate::text::grouped;
use run_id::RunIds;
use staging::{Staging, take_away_left_behind};

/// The tables of all runs. The first is written last: a run that has a row there has all of its others. It may have more
/// columns, one for each figure of the run.
pub const TABLES: [RunTable; 3] = [runs::RUNS, runs::OPTIONS, runs::STEPS];

/// A run that was written into a lake.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ExportedRun {
    /// Its id, which stands in the names of its directories.
    pub run: String,
    /// What it is opened by.
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
    /// The runs, in the order of the paths; those that left no report come last.
    pub runs: Vec<ExportedRun>,
    /// Of the folders.
    warnings: Vec<Warning>,
    /// By the directories of runs as seen from the folder, also of those that cannot be read.
    of_runs: Vec<(String, Vec<Warning>)>,
}

/// Writes all runs at or below some paths into a lake. One that cannot be read becomes a warning. `module` names one of
/// several in a run by a part of its name.
///
/// # Errors
/// When a path cannot be looked into or none of the runs can be read, `usage` for a lake within a run and for a module
/// that is not there, and `cannot-write`.
pub fn export(
    paths: &[PathBuf],
    module: Option<&str>,
    lake: &Path,
    progress: &Progress,
) -> Result<Exported, Error> {
    let absolute =
        |path: &PathBuf| std::path::absolute(path).map_err(|error| Error::io(path, &error));
    let paths = paths.iter().map(absolute).collect::<Result<Vec<PathBuf>, Error>>()?;
    let warnings = Warnings::default();
    let found = runs_below(of_process(), &paths, module, &warnings, progress)?;
    check_is_outside(&found, &absolute(&lake.to_owned())?)?;
    take_away_left_behind(lake);
    let ids = RunIds::default();
    let (found, equal) = told_apart(found, &paths, &ids, progress);
    let (apps, first_error) = (Apps::of(&found), Mutex::default());
    let done = map_runs(&found, progress, |found| {
        let exported = read(&paths, found, &apps, progress).and_then(|(open, mut run)| {
            let is_last = !found.has_report();
            let exported =
                (!is_last).then(|| write(found, (&*open, &mut run), (lake, &ids), progress));
            Ok((exported.transpose()?, is_last.then_some(open), run))
        });
        exported.unwrap_or_else(|error| {
            let run = unreadable(named(&paths, found), &found.main_file(), &error);
            note(&first_error, error, progress);
            (None, None, run)
        })
    });
    let first_error = first_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(done) = done else { return Err(first_error.unwrap_or_else(Error::cancelled)) };
    let mut exported = Exported { warnings: warnings.list(), ..Exported::default() };
    let (mut runs, mut last) = (Vec::new(), HashMap::new());
    for (found, (of_run, open, run)) in found.iter().zip(done) {
        match open {
            Some(open) => drop(last.insert(run.path.clone(), (&**found, open))),
            None => exported.of_runs.push((place_of(&**found, &run), run.warnings.clone())),
        }
        exported.runs.extend(of_run);
        runs.push(run);
    }
    // Runs that left no report have their options, completed as in a sweep over them all.
    let runs = if last.is_empty() { Vec::new() } else { Sweep::new(runs, Room::default()).runs };
    for mut run in runs {
        let Some((found, open)) = last.remove(&run.path) else { continue };
        exported.runs.push(write(found, (&*open, &mut run), (lake, &ids), progress)?);
        exported.of_runs.push((place_of(found, &run), run.warnings));
    }
    match first_error {
        Some(error) if exported.runs.is_empty() => return Err(error),
        _ => {}
    }
    exported.warn_of_equal_runs(&equal);
    Ok(exported)
}

/// Of a run that is there several times, byte for byte, what else it is called.
struct SameRuns {
    path: String,
    other: String,
    count: u64,
}

/// Of runs that are the same, byte for byte, the first. One that cannot be read is like no other.
fn told_apart(
    found: Vec<Box<dyn FoundRun>>,
    paths: &[PathBuf],
    ids: &RunIds,
    progress: &Progress,
) -> (Vec<Box<dyn FoundRun>>, Vec<SameRuns>) {
    let id = |run: &dyn FoundRun| {
        if progress.is_cancelled() { None } else { ids.of_run(run, progress).ok() }
    };
    let ids: Vec<Option<String>> = found.par_iter().map(|run| id(&**run)).collect();
    let mut kept: Vec<Box<dyn FoundRun>> = Vec::new();
    let (mut places, mut equal) = (HashMap::new(), BTreeMap::<usize, SameRuns>::new());
    for (run, id) in found.into_iter().zip(ids) {
        let place = id.map_or(kept.len(), |id| *places.entry(id).or_insert(kept.len()));
        match kept.get(place) {
            None => kept.push(run),
            Some(first) => {
                let entry = equal.entry(place).or_insert_with(|| SameRuns {
                    path: first.opened_by().display().to_string(),
                    other: named(paths, &*run).path,
                    count: 0,
                });
                entry.count = entry.count.saturating_add(1);
            }
        }
    }
    (kept, equal.into_values().collect())
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

/// Nothing is ever written into a run.
fn check_is_outside(found: &[Box<dyn FoundRun>], lake: &Path) -> Result<(), Error> {
    let mut directories = found.iter().filter_map(|run| run.own_directory());
    match directories.find(|directory| lake.starts_with(directory)) {
        None => Ok(()),
        Some(run) => {
            let message = format!("{} lies in the run {}", lake.display(), run.display());
            Err(Error::new(ErrorKind::Usage, message)
                .hint("Name a directory that is no part of a run."))
        }
    }
}

/// A run by its module, or by its path as seen from what was named.
fn named(paths: &[PathBuf], found: &dyn FoundRun) -> SweepRun {
    let path = found.opened_by();
    let below = paths.iter().find_map(|named| path.strip_prefix(named).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let name = match (found.modules().into_iter().next(), below) {
        (Some(module), _) => module.key,
        (None, Some(below)) => below.display().to_string(),
        (None, None) => file_name(&path),
    };
    named_run(found, name)
}

/// The directory of a run's files as seen from what was named.
fn place_of(found: &dyn FoundRun, run: &SweepRun) -> String {
    if found.opened_by().is_dir() {
        return run.name.clone();
    }
    Path::new(&run.name).parent().map_or_else(String::new, |path| path.display().to_string())
}

/// Reads what the row of a run goes by.
fn read(
    paths: &[PathBuf],
    found: &dyn FoundRun,
    apps: &Apps<'_>,
    progress: &Progress,
) -> Result<(Box<dyn OpenRun>, SweepRun), Error> {
    let (open, facts) = read_row(found, apps, None, progress)?;
    let mut run = SweepRun { facts, ..named(paths, found) };
    run.add_directory();
    Ok((open, run))
}

/// Writes the tables of a run, for which the rest of it is read.
fn write(
    found: &dyn FoundRun,
    (open, run): (&dyn OpenRun, &mut SweepRun),
    (lake, ids): (&Path, &RunIds),
    progress: &Progress,
) -> Result<ExportedRun, Error> {
    let id = ids.of_run(found, progress)?;
    open.fill_report(progress);
    let staging = Staging::new(lake, progress)?;
    open.write_tables(&staging, progress)?;
    staging.write_rest(found.system().tables())?;
    // All that is wrong with the run has been seen now.
    run.warnings = open.derived().report().warnings.list();
    runs::write(&staging, run, open.derived())?;
    // What was read in part, because another run could not be written, is not put there.
    if progress.is_cancelled() {
        return Err(Error::cancelled());
    }
    let mut tables = staging.publish(&id)?;
    let order = |name: &str| {
        let mut all = TABLES.iter().chain(found.system().tables());
        all.position(|table| table.name == name)
    };
    tables.sort_by_key(|(name, _)| order(name));
    Ok(ExportedRun { run: id, path: run.path.clone(), name: run.name.clone(), tables })
}

impl Exported {
    /// What is damaged or absent in the runs, and the runs that cannot be read.
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

    /// Of runs that are the same, byte for byte, one is in the lake.
    fn warn_of_equal_runs(&mut self, equal: &[SameRuns]) {
        let warnings = Warnings::default();
        for SameRuns { path, other, count } in equal {
            let more = match count.saturating_sub(1) {
                0 => String::new(),
                more => format!(" and {} more", grouped(more)),
            };
            let message = format!("the same run as {other}{more}: one run in the lake");
            warnings.add(WarningCode::Inconsistent, path, message);
        }
        self.warnings.extend(warnings.list());
    }
}

/// What wrote a file.
fn program() -> String {
    format!("tilescope {}", env!("CARGO_PKG_VERSION"))
}
