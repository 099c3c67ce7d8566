//! A system whose runs can be opened: what it finds at a path, how that is read, and which commands it has no answer for.

use std::any::Any;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::below::each_file_below;
use crate::analysis::derived::Derived;
use crate::files::directory_of;
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{Cache, IndexError};
use crate::run::joined_logs::{JoinedLogs, LogToJoin};
use crate::run::{Answers, ModuleOfRun, RunTable, TableWriter};
use crate::store::placed::Placed;
use crate::store::{ArenaId, System, Warning, WarningCode, Warnings};
use crate::synth::Synth;

/// A system: a folder of its own below `src/systems`, and an entry in [`super::SYSTEMS`].
pub trait RunSystem: Debug + Sync {
    /// What the system is called in messages: "PyTorch".
    fn title(&self) -> &'static str;

    /// The words of its reports.
    fn words(&self) -> System;

    /// How runs are recorded; `None` where the home page has nothing to say of it.
    fn capture(&self) -> Option<&'static Capture> {
        None
    }

    /// The run at a path; `None` where it is of another system, or of none. `module` names one of several in a run by a
    /// part of its name; a system whose runs have none ignores it.
    ///
    /// # Errors
    /// When the path cannot be read, names several runs, or has no such module.
    fn find(
        &self,
        path: &Path,
        module: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error>;

    /// The runs that paths name, or that lie below them, each of which is a row in a table of many; in no order. Of dumps
    /// it is the module that is meant, with all its compilations. `warnings` says what was not looked into.
    ///
    /// # Errors
    /// When a path cannot be listed.
    fn below(
        &self,
        paths: &[PathBuf],
        module: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Vec<Box<dyn FoundRun>>, Error> {
        let mut found = Vec::new();
        for path in paths {
            let mut add = |file: PathBuf| match self.find(&file, module, warnings, progress) {
                Ok(run) => found.extend(run),
                Err(error) => warnings.add(
                    WarningCode::Inconsistent,
                    &file.display().to_string(),
                    error.message.as_str(),
                ),
            };
            if path.is_dir() {
                each_file_below(path, warnings, progress, add);
            } else {
                add(path.clone());
            }
        }
        Ok(found)
    }

    /// The other runs in the directory of a run, and in the directories beside that.
    fn beside(&self, path: &Path) -> Vec<Box<dyn FoundRun>> {
        let _ = path;
        Vec::new()
    }

    /// How many of its runs are in memory at a time where many are read.
    fn reads_at_a_time(&self) -> usize {
        1
    }

    /// Whether runs have modules that can be named.
    fn has_modules(&self) -> bool {
        false
    }

    /// Why a path that no system takes cannot be opened, where it looks like a part of a run of this one.
    fn refusal(&self, path: &Path) -> Option<Error> {
        let _ = path;
        None
    }

    /// What a path says that is a part of a run at most, such as an error text.
    fn partial(&self, path: &Path) -> Option<Derived> {
        let _ = path;
        None
    }

    /// The answers of a report that is there already, where that is all they go by.
    fn answers_of_report(&self) -> Option<Arc<dyn Answers>> {
        None
    }

    /// The run at a path that messages of logs can be joined with; `None` where it is read as a log.
    ///
    /// # Errors
    /// When the path names several runs.
    fn find_beside_logs(
        &self,
        path: &Path,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let _ = (path, progress);
        Ok(None)
    }

    /// Joins messages of logs with runs: those that were named, all of this system, else those that lie beside the logs.
    ///
    /// # Errors
    /// When a run that was named cannot be read.
    fn join_logs(
        &self,
        named: &[Box<dyn FoundRun>],
        logs: &[LogToJoin<'_>],
        progress: &Progress,
    ) -> Result<JoinedLogs, Error> {
        let _ = (named, logs, progress);
        Ok(JoinedLogs::default())
    }

    /// The tables of a lake that only its runs have.
    fn tables(&self) -> &'static [RunTable] {
        &[]
    }

    /// How synthetic runs of it are written; `None` where nothing writes any.
    fn synth(&self) -> Option<Synth> {
        None
    }

    /// What to use in place of a command that has no answer for runs of this system.
    fn instead_of(&self, command: &str) -> &'static str {
        let _ = command;
        ""
    }
}

/// How runs of a system are recorded.
#[derive(Debug)]
pub struct Capture {
    /// What is done: "Record a PyTorch memory snapshot".
    pub title: &'static str,
    /// What is to be copied into a program or a shell.
    pub code: &'static str,
    /// When, and what else there is to know.
    pub hint: &'static str,
}

/// A run that was found and is not read yet.
pub trait FoundRun: Any + Debug + Send + Sync {
    /// The system that it is of.
    fn system(&self) -> &'static dyn RunSystem;

    /// Where it is.
    fn path(&self) -> &Path;

    /// Whether it is all that its directory is, so that nothing else is looked for there.
    fn is_whole_directory(&self) -> bool {
        false
    }

    /// What opens it alone: its file, where several lie at its path.
    fn opened_by(&self) -> PathBuf {
        self.path().to_owned()
    }

    /// The file that has most of it.
    fn main_file(&self) -> PathBuf {
        self.opened_by()
    }

    /// By what it is called among others; `is_alone` says that no other lies at its path.
    fn naming_path(&self, is_alone: bool) -> PathBuf {
        let _ = is_alone;
        self.path().to_owned()
    }

    /// Settings and numbers that lie beside it in `app.json` and are no part of its report.
    fn app(&self) -> Option<&Path> {
        None
    }

    /// What it is told from other runs by: what is the same, with the side files beside it, is the same run, wherever it
    /// lies.
    fn id_parts(&self) -> Vec<IdPart> {
        vec![IdPart::File(self.main_file())]
    }

    /// The directory that is its own, into which nothing is written.
    fn own_directory(&self) -> Option<PathBuf> {
        None
    }

    /// Why it is no row of a table of many, and what would be one; `None` where it is one.
    fn why_no_row(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Whether it left a report; else there is only what says how it was made.
    fn has_report(&self) -> bool {
        true
    }

    /// Bytes that reading it takes where many are read; 0 where it says itself how far it is.
    fn bytes(&self) -> u64 {
        0
    }

    /// Reads what its row in a table of many goes by, [`FoundRun::bytes`] in all.
    ///
    /// # Errors
    /// As [`FoundRun::open`].
    fn open_in_sweep(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.open(progress)
    }

    /// What was chosen of several things at the path, in a sentence; `None` where there was no choice.
    fn choice(&self) -> Option<String> {
        None
    }

    /// The modules at the path, the one that is meant first; empty where the system's runs have none.
    fn modules(&self) -> Vec<ModuleOfRun> {
        Vec::new()
    }

    /// Means another of [`Self::modules`], by its place there.
    fn choose_module(&mut self, place: usize) {
        let _ = place;
    }

    /// Reads what its first answers need; `None` when that was canceled.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond use.
    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error>;

    /// Begins to read all of it, for a window that shows what is there while the rest is read, with the index in a cache
    /// where there is one; `None` when that was canceled.
    ///
    /// # Errors
    /// As [`Self::open`].
    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let _ = cache;
        self.open(reading.progress)
    }

    /// Why the run can have no index: what it is, and what can have one; `None` where it can.
    fn why_no_index(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// Something by which a run is told from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IdPart {
    /// Bytes: where it is in a file, the number of a rank.
    Bytes(Vec<u8>),
    /// The contents of a file.
    File(PathBuf),
}

/// A run of a system's own type that was found, as one of any system.
pub fn boxed(run: impl FoundRun) -> Box<dyn FoundRun> {
    Box::new(run)
}

/// Those of some runs that were found which are of a system's own type.
pub fn of_type<T: FoundRun>(runs: &[Box<dyn FoundRun>]) -> Vec<&T> {
    runs.iter().filter_map(|run| (&**run as &dyn Any).downcast_ref()).collect()
}

/// A part of a report that only some questions need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatePart {
    /// The operations that steps and variables belong to.
    Operations,
    /// Bytes of variables by arena.
    ArenaVariables,
    /// What goes by arena of vertices, compute sets and exchanges.
    Compute,
    /// All variables as they are placed.
    PlacedVariables,
    /// What logs beside the run say.
    Logs,
}

impl LatePart {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Logs, Self::Operations, Self::PlacedVariables, Self::ArenaVariables, Self::Compute];
}

/// A run that is open.
pub trait OpenRun: Send + Sync {
    /// What is worked out of it once, with its answers.
    fn derived(&self) -> &Arc<Derived>;

    /// Reads what its insights and its peak go by, with logs that count like those beside the run.
    ///
    /// # Errors
    /// When a log cannot be opened, or the system's runs have none.
    fn read_for_summary(&self, logs: &[PathBuf], progress: &Progress) -> Result<(), Error> {
        let _ = progress;
        match logs.first() {
            None => Ok(()),
            Some(log) => {
                let message = "this run does not take logs";
                Err(Error::new(ErrorKind::Usage, message)
                    .in_file(log)
                    .hint("tilescope diagnose FILE says what a log says about memory."))
            }
        }
    }

    /// Reads the parts of the report that all systems share.
    fn fill_report(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Reads parts of the report that only some questions need. Those that are there already, or that the system fills
    /// together with all others, are none of its concern.
    fn read_parts(&self, parts: &[LatePart], progress: &Progress) {
        let _ = (parts, progress);
    }

    /// The directory of its files, into which nothing is written.
    fn directory(&self) -> PathBuf {
        directory_of(&self.derived().report().path)
    }

    /// Holds what was read of an arena against what is said of it elsewhere.
    fn check_arena(&self, arena: ArenaId, placed: &Placed) {
        let _ = (arena, placed);
    }

    /// Reads all that was not read yet, part by part, with logs that count like those beside the run.
    ///
    /// # Errors
    /// When what all else goes by cannot be read.
    fn read_all(&self, logs: &[PathBuf], reading: &Reading<'_>) -> Result<(), Error> {
        let _ = logs;
        self.fill_report(reading.progress);
        Ok(())
    }

    /// Writes [`RunSystem::tables`], for which it may read more. Those that it has no rows for it need not write.
    ///
    /// # Errors
    /// When it cannot be read any more, and `cannot-write`.
    fn write_tables(&self, writer: &dyn TableWriter, progress: &Progress) -> Result<(), Error> {
        let _ = (writer, progress);
        Ok(())
    }

    /// Whether it was read from an index, with which nothing is wrong.
    fn has_index(&self) -> bool {
        false
    }

    /// Writes the index of a run that was read to its end; returns its bytes. `None` where there is one already, none is to
    /// be used, or the run can have none.
    ///
    /// # Errors
    /// When a file is damaged or has changed, when the index cannot be written, and when it was canceled.
    fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        let _ = progress;
        Ok(None)
    }

    /// What was said of the run while it was read, and what contradicts itself in what was read.
    fn warnings(&self, progress: &Progress) -> Vec<Warning> {
        let _ = progress;
        self.derived().report().warnings.list()
    }
}

/// A run of which all was read at once.
impl OpenRun for Arc<Derived> {
    fn derived(&self) -> &Arc<Derived> {
        self
    }
}

/// What a reader tells while it reads a run, and what it waits for.
pub struct Reading<'a> {
    /// How much is done, and whether anybody still waits.
    pub progress: &'a Progress,
    /// Told what is read now, for people, and whether the first pictures need it.
    pub tell: &'a dyn Fn(&'static str, bool),
    /// Returns when a first picture was painted, or after a little while: what it does not need would slow it down.
    pub wait_for_picture: &'a dyn Fn(),
}

impl<'a> Reading<'a> {
    /// Where nobody looks on.
    pub fn unseen(progress: &'a Progress) -> Self {
        Self { progress, tell: &|_, _| {}, wait_for_picture: &|| {} }
    }

    /// Says that something is read now that the first pictures need: `Reading tables`.
    pub fn first(&self, title: &'static str) {
        (self.tell)(title, true);
    }

    /// Says that something is read now that the first pictures do not need.
    pub fn rest(&self, title: &'static str) {
        (self.tell)(title, false);
    }
}
