//! IPU reports as a system whose runs can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answers::{PoplarAnswers, derived_of};
use super::cross_checks::{contradictions, contradictions_of_tile};
use super::files::{
    FolderReport, FolderRun, OpenReport, has_profile, is_report, refusal, reports_beside,
    runs_in_folder,
};
use super::insights::logs::log_messages;
use super::lake;
use super::synth::arguments::synth;
use crate::analysis::derived::Derived;
use crate::files::directory_of;
use crate::format::{Error, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::{Answers, RunTable, TableWriter};
use crate::store::placed::Placed;
use crate::store::{Absence, ArenaId, System, Warning, Warnings};
use crate::synth::Synth;
use crate::systems::system::{
    Capture, FoundRun, IdPart, LatePart, OpenRun, Reading, RunSystem, boxed,
};

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
        super::WORDS
    }

    fn answers_of_report(&self) -> Option<Arc<dyn Answers>> {
        Some(Arc::<PoplarAnswers>::default())
    }

    fn capture(&self) -> Option<&'static Capture> {
        Some(&Capture {
            title: "Write an IPU report",
            code: r#"export POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"./report"}'"#,
            hint: "Set this in the shell that runs the program, before it is compiled. A program \
                   that does not fit is reported too. With \
                   \"autoReport.outputExecutionProfile\":\"false\" the report does not change how \
                   much memory the program needs.",
        })
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let is_it = is_report(path, warnings, progress);
        let found = || FoundReport { path: path.to_owned(), warnings: warnings.list() };
        Ok(is_it.then(|| boxed(found())))
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
                found.extend(of_folder.reports.into_iter().map(boxed));
                found.extend(of_folder.without_report.into_iter().map(boxed));
            } else if is_report(path, warnings, progress) {
                let profile = OpenReport::find(path)?.profile().to_owned();
                let folder = directory_of(&profile);
                found.push(boxed(FolderReport::new(&folder, profile)));
            }
        }
        Ok(found)
    }

    fn beside(&self, path: &Path) -> Vec<Box<dyn FoundRun>> {
        reports_beside(path).into_iter().map(boxed).collect()
    }

    fn reads_at_a_time(&self) -> usize {
        AT_A_TIME
    }

    fn tables(&self) -> &'static [RunTable] {
        &lake::TABLES
    }

    fn synth(&self) -> Option<Synth> {
        Some(synth())
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

    fn is_whole_directory(&self) -> bool {
        has_profile(&self.path)
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        Ok(Some(Box::new(ReportRun::of(self.open_report(progress)?))))
    }

    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let open = self.found(cache, reading.progress)?;
        open.expect_index();
        Ok(Some(Box::new(ReportRun::of(open))))
    }
}

impl FoundReport {
    /// Opens the report and reads its small tables.
    ///
    /// # Errors
    /// As [`OpenReport::open`].
    pub fn open_report(&self, progress: &Progress) -> Result<OpenReport, Error> {
        let open = self.found(index::of_process(), progress)?;
        open.read_small_tables(progress)?;
        Ok(open)
    }

    fn found(&self, cache: Option<&Cache>, progress: &Progress) -> Result<OpenReport, Error> {
        let open = OpenReport::find_with(&self.path, cache, progress)?;
        open.report.warnings.add_all(&self.warnings);
        progress.expect(open.bytes_to_read());
        Ok(open)
    }
}

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

    fn own_directory(&self) -> Option<PathBuf> {
        Some(directory_of(&self.profile))
    }

    fn bytes(&self) -> u64 {
        let [profile, debug] = self.sizes();
        profile.saturating_add(debug)
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.found().open(progress)
    }

    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.found().begin(cache, reading)
    }

    /// The debug contexts say themselves how far they are.
    fn open_in_sweep(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let [of_profile, of_debug] = self.sizes();
        let open = OpenReport::open_with(&self.profile, index::of_process(), progress);
        let open = open.inspect_err(|_| progress.advance(of_profile.saturating_add(of_debug)))?;
        open.read_debug_info(progress);
        open.read_logs(&[], progress, log_messages);
        open.compare_parts(|report| contradictions(report, progress));
        progress.advance(of_profile);
        let derived = Arc::new(open.derived());
        Ok(Some(Box::new(ReportRun { open, derived })))
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

    /// Where it was counts, for its side files may be those of others.
    fn id_parts(&self) -> Vec<IdPart> {
        vec![IdPart::Bytes(self.path.as_os_str().as_encoded_bytes().to_vec())]
    }

    fn has_report(&self) -> bool {
        false
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let report = OpenReport::without_profile(&self.path, progress, log_messages);
        Ok(Some(Box::new(Arc::new(derived_of(Arc::new(report))))))
    }
}

/// A report that is open.
#[derive(Debug)]
pub struct ReportRun {
    /// Its files.
    pub open: OpenReport,
    derived: Arc<Derived>,
}

type ReadPart = fn(&OpenReport, &Progress);

/// What is read behind the small tables, with what is said meanwhile.
const PARTS: [(&str, ReadPart); 5] = [
    ("Reading debug information", OpenReport::read_debug_info),
    ("Reading variables", OpenReport::read_variables),
    ("Reading variables by tile", OpenReport::read_tile_variable_bytes),
    ("Reading compute sets and exchanges", OpenReport::read_compute),
    ("Reading programs", OpenReport::read_program_trees),
];

impl ReportRun {
    /// Of a report that was opened.
    pub fn of(open: OpenReport) -> Self {
        let derived = Arc::new(open.derived());
        Self { open, derived }
    }
}

impl OpenRun for ReportRun {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn read_parts(&self, parts: &[LatePart], progress: &Progress) {
        for part in parts {
            match part {
                LatePart::Operations => self.open.read_debug_info(progress),
                LatePart::ArenaVariables => self.open.read_tile_variable_bytes(progress),
                LatePart::Compute => self.open.read_compute(progress),
                LatePart::PlacedVariables => self.open.read_variables(progress),
                LatePart::Logs => self.open.read_logs(&[], progress, log_messages),
            }
        }
    }

    fn directory(&self) -> PathBuf {
        directory_of(self.open.profile())
    }

    fn check_arena(&self, arena: ArenaId, placed: &Placed) {
        self.open.compare_parts(|report| contradictions_of_tile(report, arena.tile(), placed));
    }

    fn read_for_summary(&self, logs: &[PathBuf], progress: &Progress) -> Result<(), Error> {
        self.open.read_for_summary(&self.derived, logs, progress)
    }

    fn read_all(&self, logs: &[PathBuf], reading: &Reading<'_>) -> Result<(), Error> {
        let (open, progress) = (&self.open, reading.progress);
        if !open.report.about.is_settled() {
            reading.first("Reading tables");
            open.read_small_tables(progress)?;
        }
        open.read_logs(logs, progress, log_messages);
        for (title, read) in PARTS {
            if !progress.is_cancelled() {
                reading.rest(title);
                read(open, progress);
            }
        }
        if !progress.is_cancelled() {
            reading.rest("Comparing what the report says twice");
            open.compare_parts(|report| contradictions(report, progress));
        }
        if progress.is_cancelled() {
            open.report.settle_rest(&Absence::cancelled());
        }
        Ok(())
    }

    fn write_tables(&self, writer: &dyn TableWriter, progress: &Progress) -> Result<(), Error> {
        lake::write(&self.open, &self.derived, writer, progress)
    }

    fn has_index(&self) -> bool {
        self.open.has_index()
    }

    fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        self.open.write_index(progress)
    }

    fn warnings(&self, progress: &Progress) -> Vec<Warning> {
        self.open.compare_parts(|report| contradictions(report, progress));
        self.open.report.warnings.list()
    }
}
