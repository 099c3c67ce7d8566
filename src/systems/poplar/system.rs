//! IPU reports as a system whose runs can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{OpenReport, is_report, refusal};
use crate::analysis::cross_checks::contradictions;
use crate::analysis::derived::Derived;
use crate::format::{Error, Progress};
use crate::index;
use crate::opened::RunFiles;
use crate::store::{System, Warning, Warnings};
use crate::systems::system::{FoundRun, OpenRun, RunSystem};

/// The system.
#[derive(Debug)]
pub struct Poplar;

impl RunSystem for Poplar {
    fn title(&self) -> &'static str {
        "Poplar"
    }

    fn words(&self) -> System {
        System::POPLAR
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let is_it = is_report(path, warnings, progress);
        Ok(is_it.then(|| {
            let found: Box<dyn FoundRun> =
                Box::new(FoundReport { path: path.to_owned(), warnings: warnings.list() });
            found
        }))
    }

    fn refusal(&self, path: &Path) -> Option<Error> {
        refusal(path)
    }
}

/// A report that was found.
#[derive(Debug)]
pub struct FoundReport {
    path: PathBuf,
    /// What there is to say of how it was found.
    pub warnings: Vec<Warning>,
}

impl FoundRun for FoundReport {
    fn system(&self) -> &'static dyn RunSystem {
        &Poplar
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let open = self.open_report(progress)?;
        let derived = Arc::new(open.derived());
        Ok(Some(Box::new(ReportRun { open, derived })))
    }

    fn into_files(self: Box<Self>) -> RunFiles {
        RunFiles::Poplar(*self)
    }
}

impl FoundReport {
    /// Opens the report and reads its small tables.
    ///
    /// # Errors
    /// As [`OpenReport::open`].
    pub fn open_report(&self, progress: &Progress) -> Result<OpenReport, Error> {
        let open = OpenReport::find_with(&self.path, index::of_process(), progress)?;
        open.report.warnings.add_all(&self.warnings);
        progress.expect(open.bytes_to_read());
        open.read_small_tables(progress)?;
        Ok(open)
    }
}

/// A report that is open.
#[derive(Debug)]
pub struct ReportRun {
    /// Its files.
    pub open: OpenReport,
    derived: Arc<Derived>,
}

impl OpenRun for ReportRun {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn read_for_summary(&self, logs: &[PathBuf], progress: &Progress) -> Result<(), Error> {
        self.open.read_for_summary(&self.derived, logs, progress)
    }

    fn warnings(&self, progress: &Progress) -> Vec<Warning> {
        self.open.compare_parts(|report| contradictions(report, progress));
        self.open.report.warnings.list()
    }
}
