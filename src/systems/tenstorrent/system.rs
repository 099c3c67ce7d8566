//! Reports of TT-NN as a system whose runs can be opened.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answers::TtnnAnswers;
use super::files::{DATABASE, ReportSource, captures_of_ranks, database_of, is_capture, is_report};
use super::run::TtnnRun;
use super::synth::arguments::synth;
use super::{joined_logs, lake};
use crate::analysis::derived::Derived;
use crate::files::{directory_of, file_name};
use crate::format::{Error, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::joined_logs::{JoinedLogs, LogToJoin};
use crate::run::{RunTable, TableWriter};
use crate::store::{System, Warnings};
use crate::synth::Synth;
use crate::systems::below::{each_file_below, only_run};
use crate::systems::system::{Capture, FoundRun, OpenRun, Reading, RunSystem, boxed, of_type};

/// The system.
#[derive(Debug)]
pub struct Tenstorrent;

impl RunSystem for Tenstorrent {
    fn title(&self) -> &'static str {
        "TT-NN"
    }

    fn words(&self) -> System {
        super::WORDS
    }

    fn capture(&self) -> Option<&'static Capture> {
        Some(&Capture {
            title: "Record a TT-NN report",
            code: r#"export TTNN_CONFIG_OVERRIDES='{"enable_fast_runtime_mode": false, "enable_logging": true, "report_name": "run", "enable_detailed_buffer_report": true, "enable_graph_python_stack_traces": true}'"#,
            hint: "Set this before ttnn is imported. A test of tt-metal then writes a report below generated/ttnn/reports: open the \
                   directory that has db.sqlite. A script of your own calls ttnn.graph.begin_graph_capture and \
                   ttnn.graph.end_graph_capture_to_file, and python -m ttnn.graph_report makes the report.",
        })
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        if let Some(source) = source_of(path) {
            return Ok(Some(boxed(FoundTtnn { path: path.to_owned(), source })));
        }
        if path.is_dir() {
            return only_run(path, reports_below(path, warnings, progress));
        }
        Ok(None)
    }

    fn below(
        &self,
        paths: &[PathBuf],
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Vec<Box<dyn FoundRun>>, Error> {
        let mut found = Vec::new();
        for path in paths {
            if path.is_dir() {
                found.extend(reports_below(path, warnings, progress));
            } else if let Some(source) = source_of(path) {
                found.push(FoundTtnn::of_file(source));
            }
        }
        Ok(found)
    }

    fn find_beside_logs(
        &self,
        path: &Path,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        self.find(path, None, &Warnings::default(), progress)
    }

    fn join_logs(
        &self,
        named: &[Box<dyn FoundRun>],
        logs: &[LogToJoin<'_>],
        progress: &Progress,
    ) -> Result<JoinedLogs, Error> {
        let named = of_type::<FoundTtnn>(named).into_iter();
        let named: Vec<_> = named.map(|found| (&*found.path, &found.source)).collect();
        joined_logs::join_logs(&named, logs, progress)
    }

    fn tables(&self) -> &'static [RunTable] {
        &lake::TABLES
    }

    fn synth(&self) -> Option<Synth> {
        Some(synth())
    }

    fn instead_of(&self, command: &str) -> &'static str {
        match command {
            "tiles" => {
                "All cores have the same buffers at the same addresses: tilescope summary has what they take, tilescope map \
                 --arena N what lies where on a bank."
            }
            "trace" | "export --chrome-trace" => {
                "A report has host times of calls, not of a device: tilescope liveness lists its operations, and tracy \
                 profiles a device."
            }
            _ => "",
        }
    }
}

/// The files of a report at a path; of a folder its database, else the captures of all its ranks.
fn source_of(path: &Path) -> Option<ReportSource> {
    let database = database_of(path);
    if is_report(&database) {
        return Some(ReportSource::Database(database));
    }
    if path.is_dir() {
        let captures = captures_of_ranks(path);
        return (!captures.is_empty()).then_some(ReportSource::Captures(captures));
    }
    is_capture(path).then(|| ReportSource::Captures(vec![path.to_owned()]))
}

/// The reports in a directory and a few levels below it, by their paths. Captures from which a report beside them was made
/// are none of their own.
fn reports_below(
    directory: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<Box<dyn FoundRun>> {
    let mut sources = Vec::new();
    each_file_below(directory, warnings, progress, |path| {
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        if is_report(&path) {
            sources.push(ReportSource::Database(path));
        } else if is_json && is_capture(&path) {
            sources.push(ReportSource::Captures(vec![path]));
        }
    });
    let made: BTreeSet<PathBuf> = sources
        .iter()
        .filter(|source| matches!(source, ReportSource::Database(_)))
        .map(|source| directory_of(&source.main_file()))
        .collect();
    let is_own = |source: &ReportSource| {
        matches!(source, ReportSource::Database(_))
            || !made.contains(&directory_of(&source.main_file()))
    };
    let mut found: Vec<_> = sources.into_iter().filter(is_own).map(FoundTtnn::of_file).collect();
    found.sort_by(|one, other| one.path().cmp(other.path()));
    found.dedup_by(|one, other| one.path() == other.path());
    found
}

/// A report that was found.
#[derive(Debug)]
struct FoundTtnn {
    path: PathBuf,
    source: ReportSource,
}

impl FoundTtnn {
    /// Of its files; a folder with a database or the captures of all ranks is named by its own name.
    fn of_file(source: ReportSource) -> Box<dyn FoundRun> {
        let file = source.main_file();
        let folder = directory_of(&file);
        let captures = match &source {
            ReportSource::Captures(_) => captures_of_ranks(&folder),
            ReportSource::Database(_) => Vec::new(),
        };
        if captures.contains(&file) {
            return boxed(Self { path: folder, source: ReportSource::Captures(captures) });
        }
        let path = if file_name(&file) == DATABASE { folder } else { file };
        boxed(Self { path, source })
    }
}

impl FoundRun for FoundTtnn {
    fn system(&self) -> &'static dyn RunSystem {
        &Tenstorrent
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn is_whole_directory(&self) -> bool {
        self.path != self.source.main_file()
    }

    fn main_file(&self) -> PathBuf {
        self.source.main_file()
    }

    fn own_directory(&self) -> Option<PathBuf> {
        Some(directory_of(&self.source.main_file()))
    }

    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        reading.first("Reading the report");
        let run = TtnnRun::open(&self.path, &self.source, cache, reading.progress)?;
        let Some(run) = run else { return Ok(None) };
        let answers = TtnnAnswers::of(Arc::clone(&run.contents));
        let derived = Derived::new(Arc::clone(&run.report)).with_answers(Arc::new(answers));
        let folder = directory_of(&self.source.main_file());
        Ok(Some(Box::new(OpenTtnn { folder, run, derived: Arc::new(derived) })))
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.begin(index::of_process(), &Reading::unseen(progress))
    }
}

/// A report that is open; all of it was read at once.
#[derive(Debug)]
struct OpenTtnn {
    folder: PathBuf,
    run: TtnnRun,
    derived: Arc<Derived>,
}

impl OpenRun for OpenTtnn {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn directory(&self) -> PathBuf {
        self.folder.clone()
    }

    fn has_index(&self) -> bool {
        self.run.has_index()
    }

    fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        self.run.write_index(progress)
    }

    fn write_tables(&self, writer: &dyn TableWriter, progress: &Progress) -> Result<(), Error> {
        lake::write(&self.run.contents, writer, progress)
    }
}
