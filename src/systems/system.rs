//! A system whose runs can be opened: what it finds at a path, how that is read, and which commands it has no answer for.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::analysis::derived::Derived;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::RunFiles;
use crate::store::{System, Warning, Warnings};

/// A system: a folder of its own below `src/systems`, and an entry in [`super::SYSTEMS`].
pub trait RunSystem: Debug + Sync {
    /// What the system is called in messages: "PyTorch".
    fn title(&self) -> &'static str;

    /// The words of its reports.
    fn words(&self) -> System;

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
    ) -> Result<Vec<Box<dyn FoundRun>>, Error>;

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

    /// What to use in place of a command that has no answer for runs of this system.
    fn instead_of(&self, command: &str) -> &'static str {
        let _ = command;
        ""
    }
}

/// A run that was found and is not read yet.
pub trait FoundRun: Debug + Send + Sync {
    /// The system that it is of.
    fn system(&self) -> &'static dyn RunSystem;

    /// Where it is.
    fn path(&self) -> &Path;

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

    /// Reads what its first answers need; `None` when that was cancelled.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond use.
    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error>;

    /// Its files by system, for what does not work through [`OpenRun`] yet.
    fn into_files(self: Box<Self>) -> RunFiles;
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
                let message = "this run has no logs that would count beside it";
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

    /// What was said of the run while it was read, and what contradicts itself in what was read.
    fn warnings(&self, progress: &Progress) -> Vec<Warning> {
        let _ = progress;
        self.derived().report().warnings.list()
    }
}
