//! IPU reports as a system whose runs can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answers::derived_of;
use super::files::{
    FolderReport, FolderRun, OpenReport, bytes_of_report, is_report, refusal, runs_in_folder,
};
use super::insights::logs::log_messages;
use crate::analysis::cross_checks::contradictions;
use crate::analysis::derived::Derived;
use crate::files::directory_of;
use crate::format::{Error, Progress};
use crate::index;
use crate::opened::RunFiles;
use crate::store::{System, Warning, Warnings};
use crate::systems::system::{FoundRun, OpenRun, RunSystem};

/// How many reports are in memory at a time at most, whatever the number of processors: the debug contexts of one may
/// take hundreds of megabytes.
const AT_A_TIME: usize = 4;

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

    fn below(
        &self,
        paths: &[PathBuf],
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Vec<Box<dyn FoundRun>>, Error> {
        let mut found: Vec<Box<dyn FoundRun>> = Vec::new();
        for path in paths {
            if path.is_dir() {
                let of_folder = runs_in_folder(path, warnings, progress)?;
                let reports = of_folder.reports.into_iter().map(|report| {
                    let found: Box<dyn FoundRun> = Box::new(report);
                    found
                });
                found.extend(reports);
                let others = of_folder.without_report.into_iter().map(|run| {
                    let found: Box<dyn FoundRun> = Box::new(run);
                    found
                });
                found.extend(others);
            } else if is_report(path, warnings, progress) {
                let profile = OpenReport::find(path)?.profile().to_owned();
                let folder = directory_of(&profile);
                found.push(Box::new(FolderReport::new(&folder, profile)));
            }
        }
        Ok(found)
    }

    fn reads_at_a_time(&self) -> usize {
        AT_A_TIME
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

/// A report below a folder.
impl FoundRun for FolderReport {
    fn system(&self) -> &'static dyn RunSystem {
        &Poplar
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn main_file(&self) -> PathBuf {
        self.profile.clone()
    }

    fn bytes(&self) -> u64 {
        let [profile, debug] = bytes_of_report(&self.profile);
        profile.saturating_add(debug)
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.found().open(progress)
    }

    /// The debug contexts say themselves how far they are.
    fn open_in_sweep(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let [of_profile, of_debug] = bytes_of_report(&self.profile);
        let open = OpenReport::open_with(&self.profile, index::of_process(), progress);
        let open = open.inspect_err(|_| progress.advance(of_profile.saturating_add(of_debug)))?;
        open.read_debug_info(progress);
        open.read_logs(&[], progress, log_messages);
        open.compare_parts(|report| contradictions(report, progress));
        progress.advance(of_profile);
        let derived = Arc::new(open.derived());
        Ok(Some(Box::new(ReportRun { open, derived })))
    }

    fn into_files(self: Box<Self>) -> RunFiles {
        RunFiles::Poplar(self.found())
    }
}

impl FolderReport {
    fn found(&self) -> FoundReport {
        FoundReport { path: self.path.clone(), warnings: Vec::new() }
    }
}

/// A run that left no report.
impl FoundRun for FolderRun {
    fn system(&self) -> &'static dyn RunSystem {
        &Poplar
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn has_report(&self) -> bool {
        false
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let report = OpenReport::without_profile(&self.path, progress, log_messages);
        Ok(Some(Box::new(WithoutReport(Arc::new(derived_of(Arc::new(report)))))))
    }

    fn into_files(self: Box<Self>) -> RunFiles {
        RunFiles::Poplar(FoundReport { path: self.path.clone(), warnings: Vec::new() })
    }
}

/// What the side files and logs of a run say that left no report.
struct WithoutReport(Arc<Derived>);

impl OpenRun for WithoutReport {
    fn derived(&self) -> &Arc<Derived> {
        &self.0
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
