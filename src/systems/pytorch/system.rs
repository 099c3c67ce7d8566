//! PyTorch memory snapshots as a system whose runs can be opened.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{self, FileKind, SnapshotFiles};
use super::joined_logs::{join_logs, named_snapshot};
use super::lake;
use super::run::{SnapshotRun, compare_claims};
use super::synth::arguments::synth;
use crate::analysis::derived::Derived;
use crate::files::file_name;
use crate::files::packed::unpacked_name;
use crate::format::{Error, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::joined_logs::{JoinedLogs, LogToJoin};
use crate::run::{RunTable, TableWriter};
use crate::store::{System, WarningCode, Warnings};
use crate::synth::Synth;
use crate::systems::system::{
    Capture, FoundRun, IdPart, OpenRun, Reading, RunSystem, boxed, of_type,
};

/// Endings of snapshots, which say nothing of a run; `lr_0.5` has none.
const ENDINGS: [&str; 3] = ["pickle", "pkl", "bin"];

/// The system.
#[derive(Debug)]
pub struct Pytorch;

impl RunSystem for Pytorch {
    fn title(&self) -> &'static str {
        "PyTorch"
    }

    fn words(&self) -> System {
        super::WORDS
    }

    fn capture(&self) -> Option<&'static Capture> {
        Some(&Capture {
            title: "Record a PyTorch memory snapshot",
            code: "torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # before the model is made\n\
                   try: train(steps=3)  # the second step is the one that repeats\n\
                   finally: torch.cuda.memory._dump_snapshot(\"run.pickle\")  # also after an out-of-memory error",
            hint: "Open the file, or a directory with a file for each variant: a sweep then says which of them fit the \
                   GPU. Or leave the script as it is: tilescope record -- python train.py records every rank.",
        })
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let found = files::find(path, warnings, progress)?;
        Ok(found.map(|files| boxed(SnapshotFiles { warnings: warnings.list(), ..files })))
    }

    /// Timelines have no bytes that a table could compare.
    fn below(
        &self,
        paths: &[PathBuf],
        _: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Vec<Box<dyn FoundRun>>, Error> {
        let mut found: Vec<SnapshotFiles> = Vec::new();
        for path in paths {
            if path.is_dir() {
                found.extend(files::runs_below(path, warnings, progress));
            } else {
                // What is named by itself is one, also if it is a rank of a run.
                found.extend(files::find(path, warnings, progress).ok().flatten());
            }
        }
        found.retain(|files| files.kind == FileKind::Snapshot);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        Ok(found.into_iter().map(boxed).collect())
    }

    fn find_beside_logs(
        &self,
        path: &Path,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        Ok(named_snapshot(path, progress)?.map(boxed))
    }

    fn join_logs(
        &self,
        named: &[Box<dyn FoundRun>],
        logs: &[LogToJoin<'_>],
        progress: &Progress,
    ) -> Result<JoinedLogs, Error> {
        let named = of_type::<SnapshotFiles>(named);
        join_logs(&named, logs, progress)
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
                "A GPU has no tiles: tilescope summary has the bytes of each device, and \
                 tilescope liveness --device N --step peak lists what is alive on one."
            }
            "ops" => {
                "A snapshot names lines of code, not operations: tilescope summary and tilescope \
                 liveness --step peak group by user frames, tilescope compare --by module by \
                 functions."
            }
            "trace" => {
                "A snapshot says what was allocated, not what ran: tilescope liveness lists its events, and \
                 prof.export_chrome_trace of torch.profiler writes a trace."
            }
            "export --chrome-trace" => {
                "A memory snapshot says what was allocated, not what ran when: prof.export_chrome_trace(\"trace.json\") \
                 of torch.profiler writes a trace."
            }
            _ => "",
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
        let run = SnapshotRun::open_with(self, index::of_process(), progress)?;
        Ok(run.map(open_snapshot))
    }

    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        reading.first("Reading the snapshot");
        let Some(run) = SnapshotRun::open_with(self, cache, reading.progress)? else {
            return Ok(None);
        };
        if run.allocator.snapshot().is_some_and(|replayed| replayed.replays.len() > 1) {
            // Pages ask at once which device the run is about, and that goes through the events of all.
            run.allocator.end();
        }
        Ok(Some(open_snapshot(run)))
    }

    fn why_no_index(&self) -> Option<[&'static str; 2]> {
        match (self.kind, self.ranks.as_slice()) {
            (FileKind::Snapshot, []) => None,
            (FileKind::Snapshot, [..]) => {
                Some(["a run of several ranks", "Name the file of one rank: it can have an index."])
            }
            (FileKind::Timeline | FileKind::CompressedTimeline, _) => Some([
                "a memory timeline",
                "Snapshots can have an index: torch.cuda.memory._dump_snapshot(\"run.pickle\") \
                writes one.",
            ]),
        }
    }

    fn naming_path(&self, _: bool) -> PathBuf {
        let name = file_name(&self.path);
        let path = self.path.with_file_name(unpacked_name(&name));
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_known = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
        if is_known { path.with_extension("") } else { path }
    }

    /// Of several ranks their numbers count as well.
    fn id_parts(&self) -> Vec<IdPart> {
        match self.ranks.as_slice() {
            [] => vec![IdPart::File(self.path.clone())],
            ranks => ranks
                .iter()
                .flat_map(|(rank, files)| {
                    let number = IdPart::Bytes(rank.to_le_bytes().to_vec());
                    [number, IdPart::File(files.path.clone())]
                })
                .collect(),
        }
    }

    fn why_no_row(&self) -> Option<[&'static str; 2]> {
        (self.kind != FileKind::Snapshot).then_some([
            "a memory timeline: bytes by category, without the events and blocks that tables are of",
            "torch.cuda.memory._dump_snapshot writes a snapshot that has them.",
        ])
    }

    fn app(&self) -> Option<&Path> {
        self.app.as_deref()
    }

    /// What PyTorch states is taken for the largest bytes: where it contradicts the file, that is a warning.
    fn open_in_sweep(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let Some(run) = SnapshotRun::open(self, progress)? else { return Ok(None) };
        if let Some(replayed) = run.allocator.snapshot() {
            for claims in &run.allocator.claims {
                compare_claims(claims, replayed, &run.report);
            }
        }
        if run.allocator.is_cut {
            let what = match self.ranks.as_slice() {
                [] => "ends before its contents do",
                [..] => "has ranks that could not be read to their ends",
            };
            let message = format!(
                "{what}: its figures are not those of a whole run and are not \
                compared"
            );
            let file = file_name(&self.path);
            run.report.warnings.add(WarningCode::Inconsistent, &file, message);
        }
        Ok(Some(open_snapshot(run)))
    }
}

fn open_snapshot(run: SnapshotRun) -> Box<dyn OpenRun> {
    let derived = Arc::new(run.derived());
    Box::new(OpenSnapshot { run, derived })
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

    fn read_all(&self, _: &[PathBuf], reading: &Reading<'_>) -> Result<(), Error> {
        self.run.fill_report_in_turn(reading.wait_for_picture, reading.progress);
        Ok(())
    }

    fn write_tables(&self, writer: &dyn TableWriter, _: &Progress) -> Result<(), Error> {
        self.run.allocator.snapshot().map_or(Ok(()), |replayed| lake::write(replayed, writer))
    }

    fn has_index(&self) -> bool {
        self.run.has_index()
    }

    fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        self.run.write_index(progress)
    }
}
