//! Reports of TT-NN as a system whose runs can be opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answers::TtnnAnswers;
use super::files::{
    DATABASE, ReportSource, TtnnFiles, captures_of_ranks, database_of, is_capture,
    is_damaged_report, is_report,
};
use super::run::TtnnRun;
use super::synth::arguments::synth;
use super::{joined_logs, lake};
use crate::analysis::derived::Derived;
use crate::files::{directory_of, file_name};
use crate::format::{Error, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::joined_logs::{JoinedLogs, LogToJoin};
use crate::run::{RunTable, TableWriter};
use crate::store::{Report, System, Warnings};
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
            let found = sources_below(path, is_report, warnings, progress);
            return only_run(path, runs_of(found));
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
        // A damaged one is a row with its error.
        let is_row = |path: &Path| is_report(path) || is_damaged_report(path);
        let mut sources = Vec::new();
        for path in paths {
            if path.is_dir() {
                sources.extend(sources_below(path, is_row, warnings, progress));
            } else {
                sources.extend(source_of(path));
            }
        }
        Ok(runs_of(sources))
    }

    fn refusal(&self, path: &Path) -> Option<Error> {
        let database = database_of(path);
        if !is_damaged_report(&database) {
            return None;
        }
        let report = Report::of(super::WORDS, path.to_owned());
        let (source, progress) = (ReportSource::Database(database), Progress::default());
        let opened = TtnnFiles::open(&source, &report, &progress);
        opened.and_then(|mut files| files.read(&report, &progress)).err()
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

/// The files of reports in a directory and a few levels below it, with the databases that `is_database` takes. Captures from
/// which a report beside them was made are none of their own.
fn sources_below(
    directory: &Path,
    is_database: impl Fn(&Path) -> bool,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<ReportSource> {
    let mut sources = Vec::new();
    each_file_below(directory, warnings, progress, |path| {
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        if is_database(&path) {
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
    sources.retain(is_own);
    sources
}

/// The runs of these files, by their paths: captures of all ranks in a folder are one.
fn runs_of(sources: Vec<ReportSource>) -> Vec<Box<dyn FoundRun>> {
    let mut of_folders: BTreeMap<PathBuf, Vec<ReportSource>> = BTreeMap::new();
    for source in sources {
        of_folders.entry(directory_of(&source.main_file())).or_default().push(source);
    }
    let mut runs: BTreeMap<PathBuf, ReportSource> = BTreeMap::new();
    for (folder, sources) in of_folders {
        let is_capture = |source: &ReportSource| matches!(source, ReportSource::Captures(_));
        let captures =
            if sources.iter().any(is_capture) { captures_of_ranks(&folder) } else { Vec::new() };
        let of_ranks: BTreeSet<PathBuf> = captures.iter().cloned().collect();
        for source in sources {
            let file = source.main_file();
            if of_ranks.contains(&file) {
                let all = || ReportSource::Captures(captures.clone());
                runs.entry(folder.clone()).or_insert_with(all);
            } else if file_name(&file) == DATABASE {
                runs.insert(folder.clone(), source);
            } else {
                runs.insert(file, source);
            }
        }
    }
    runs.into_iter().map(|(path, source)| boxed(FoundTtnn { path, source })).collect()
}

/// A report that was found.
#[derive(Debug)]
struct FoundTtnn {
    path: PathBuf,
    source: ReportSource,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_of_all_ranks_are_one_run_whether_named_or_found() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["run.json", "run_1_of_2.json", "run_2_of_2.json"];
        let files = names.map(|name| folder.path().join(name));
        for file in &files {
            std::fs::write(file, "{\"cluster_descriptor\": \"\"}").unwrap();
        }
        let below = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let (warnings, progress) = (Warnings::default(), Progress::default());
            let found = Tenstorrent.below(paths, None, &warnings, &progress).unwrap();
            found.iter().map(|run| run.path().to_owned()).collect()
        };
        let whole = [folder.path().to_owned(), files[0].clone()];
        assert_eq!(below(&whole[..1]), whole);
        assert_eq!(below(&files), whole);
        assert_eq!(below(&files[1..2]), whole[..1]);
    }
}
