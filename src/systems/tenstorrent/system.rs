//! Reports of TT-NN as a system whose runs can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answers::TtnnAnswers;
use super::files::{DATABASE, database_of, is_report};
use super::run::TtnnRun;
use super::synth::arguments::synth;
use crate::analysis::derived::Derived;
use crate::files::{directory_of, file_name};
use crate::format::{Error, Progress};
use crate::store::{System, Warnings};
use crate::synth::Synth;
use crate::systems::below::{each_file_below, only_run};
use crate::systems::system::{Capture, FoundRun, OpenRun, RunSystem, boxed};

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
        let database = database_of(path);
        if is_report(&database) {
            return Ok(Some(boxed(FoundTtnn { path: path.to_owned(), database })));
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
            } else if is_report(path) {
                found.push(FoundTtnn::of_file(path.clone()));
            }
        }
        Ok(found)
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
            "ops" => {
                "tilescope liveness --step peak --by operation has the bytes of each operation; a report says nothing of what \
                 operations compute."
            }
            "trace" | "export --chrome-trace" => {
                "A report has host times of calls, not of a device: tilescope liveness lists its operations, and tracy \
                 profiles a device."
            }
            _ => "",
        }
    }
}

/// The reports in a directory and a few levels below it, by their paths.
fn reports_below(
    directory: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<Box<dyn FoundRun>> {
    let mut found = Vec::new();
    each_file_below(directory, warnings, progress, |path| {
        if is_report(&path) {
            found.push(FoundTtnn::of_file(path));
        }
    });
    found.sort_by(|one, other| one.path().cmp(other.path()));
    found
}

/// A report that was found.
#[derive(Debug)]
struct FoundTtnn {
    path: PathBuf,
    database: PathBuf,
}

impl FoundTtnn {
    /// Of its database; a folder is named by its own name.
    fn of_file(database: PathBuf) -> Box<dyn FoundRun> {
        let is_usual = file_name(&database) == DATABASE;
        let path = if is_usual { directory_of(&database) } else { database.clone() };
        boxed(Self { path, database })
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
        self.path != self.database
    }

    fn main_file(&self) -> PathBuf {
        self.database.clone()
    }

    fn own_directory(&self) -> Option<PathBuf> {
        Some(directory_of(&self.database))
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let run = TtnnRun::open(&self.path, &self.database, progress)?;
        let Some(TtnnRun { report, contents }) = run else { return Ok(None) };
        let derived = Derived::new(report).with_answers(Arc::new(TtnnAnswers::of(contents)));
        let folder = directory_of(&self.database);
        Ok(Some(Box::new(OpenTtnn { folder, derived: Arc::new(derived) })))
    }
}

/// A report that is open; all of it was read at once.
#[derive(Debug)]
struct OpenTtnn {
    folder: PathBuf,
    derived: Arc<Derived>,
}

impl OpenRun for OpenTtnn {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn directory(&self) -> PathBuf {
        self.folder.clone()
    }
}
