//! PyTorch memory snapshots as a system whose runs can be opened.

use std::path::Path;
use std::sync::Arc;

use super::files::{self, SnapshotFiles};
use super::run::SnapshotRun;
use crate::analysis::derived::Derived;
use crate::format::{Error, Progress};
use crate::opened::RunFiles;
use crate::store::{System, Warnings};
use crate::systems::system::{FoundRun, OpenRun, RunSystem};

/// The system.
#[derive(Debug)]
pub struct Pytorch;

impl RunSystem for Pytorch {
    fn title(&self) -> &'static str {
        "PyTorch"
    }

    fn words(&self) -> System {
        System::PYTORCH
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let found = files::find(path, warnings, progress)?;
        Ok(found.map(|files| {
            let found: Box<dyn FoundRun> =
                Box::new(SnapshotFiles { warnings: warnings.list(), ..files });
            found
        }))
    }

    fn instead_of(&self, command: &str) -> &'static str {
        match command {
            "tiles" => {
                "A GPU has no tiles: tilescope summary has the bytes of each device, tilescope liveness --device N \
                 --step peak what is alive on one."
            }
            "map" => {
                "The map of the window (tilescope PATH) shows the segments of a device with the blocks in them; \
                 tilescope liveness --step N lists what is alive."
            }
            "ops" => {
                "A snapshot names places in the program: tilescope summary and tilescope liveness --step peak go by \
                 user frames, tilescope compare --by module by functions."
            }
            "trace" => {
                "A snapshot says what was allocated, not what ran: tilescope liveness lists its events, and \
                 prof.export_chrome_trace of torch.profiler writes a trace."
            }
            "export --chrome-trace" => {
                "A memory snapshot says what was allocated, not what ran when: prof.export_chrome_trace(\"trace.json\") \
                 of torch.profiler writes a trace."
            }
            _ => "tilescope summary, liveness, compare, sweep and check take memory snapshots.",
        }
    }
}

impl FoundRun for SnapshotFiles {
    fn system(&self) -> &'static dyn RunSystem {
        &Pytorch
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let run = SnapshotRun::open(self, progress)?;
        Ok(run.map(|run| {
            let derived = Arc::new(run.derived());
            let open: Box<dyn OpenRun> = Box::new(OpenSnapshot { run, derived });
            open
        }))
    }

    fn into_files(self: Box<Self>) -> RunFiles {
        RunFiles::Pytorch(self)
    }
}

/// A snapshot that is open.
#[derive(Debug)]
pub struct OpenSnapshot {
    /// What was read and replayed.
    pub run: SnapshotRun,
    derived: Arc<Derived>,
}

impl OpenRun for OpenSnapshot {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn fill_report(&self, progress: &Progress) {
        self.run.fill_report(progress);
    }
}
