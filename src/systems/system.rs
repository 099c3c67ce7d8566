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
