//! A report: its parts, each filled once, and what is still coming.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::absence::Absence;
use super::arena::Arenas;
use super::compute::{ComputeSetTiles, ComputeSets};
use super::context_details::{ContextDetails, ReadContext};
use super::debug_info::DebugInfo;
use super::exchange::Exchanges;
use super::execution::{ExecutionTotals, ExecutionTrace};
use super::ids::{CategoryId, IdColumn};
use super::liveness::{Deltas, Liveness, TileVariableBytes};
use super::log::Log;
use super::memory::TileMemory;
use super::names::Names;
use super::options::{About, GraphInfo};
use super::placed::{ReadArena, ReadError};
use super::program::{ProgramTrees, Programs, Steps};
use super::system::System;
use super::target::Target;
use super::tile_list::TileList;
use super::variable::LoweredVariables;
use super::vertex::VertexTypes;
use super::warning::Warnings;
use crate::progress::Progress;
use crate::text::words;

/// One part of a report: still loading, there, or absent for good.
#[derive(Debug)]
pub struct Part<T>(OnceLock<Result<T, Box<Absence>>>);

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Part<T> {
    /// Fills the part, or says why the report does not have it. Only the first call counts.
    pub fn settle(&self, value: Result<T, Absence>) {
        drop(self.0.set(value.map_err(Box::new)));
    }

    /// The same for those who have no reason to give.
    pub fn fill(&self, value: Option<T>) {
        self.settle(value.ok_or_else(Absence::unexplained));
    }

    /// The part, if it is there.
    pub fn get(&self) -> Option<&T> {
        self.0.get()?.as_ref().ok()
    }

    /// Why it is not there; `None` where it is, and while it may still come.
    pub fn absence(&self) -> Option<&Absence> {
        Some(self.0.get()?.as_ref().err()?.as_ref())
    }

    /// Why it is not there, or else `reason`.
    pub fn absence_or(&self, reason: impl FnOnce() -> Absence) -> Absence {
        self.absence().cloned().unwrap_or_else(reason)
    }

    /// Whether nothing more will come.
    pub fn is_settled(&self) -> bool {
        self.0.get().is_some()
    }
}

words! {
    /// What is known of a file of the report.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FileStatus by as_str {
        /// There, and nothing wrong was seen.
        Ok = "ok",
        /// It ends before its contents do.
        Truncated = "truncated",
        /// Not there.
        Missing = "missing",
        /// It is not what its name says.
        Invalid = "invalid",
        /// Its format is not known here.
        Unsupported = "unsupported",
    }
}

/// A file that belongs to the report, or would.
#[derive(
    Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
pub struct ReportFile {
    /// Its name, relative to the report's directory.
    pub name: String,
    /// Its size; `None` when it is not there.
    pub bytes: Option<u64>,
    /// What is known of it.
    pub status: FileStatus,
}

/// Names of the categories of stored data (`var_categories`).
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Categories {
    /// The categories.
    pub ids: IdColumn<CategoryId>,
    /// Their names as in the file.
    pub names: Names,
}

impl Categories {
    /// The name of a category, `None` when the file does not name it.
    pub fn name(&self, id: CategoryId) -> Option<&str> {
        self.names.at(self.ids.position(id)?)
    }
}

/// A report directory, part by part. Shared between threads; a filled part never changes.
///
/// [`Self::trace`] is read when somebody asks for it, all others by who opens the report.
#[derive(Debug, Default)]
pub struct Report {
    /// The path that was opened.
    pub path: PathBuf,
    /// The words of the system that wrote it.
    pub system: System,
    files: Mutex<Vec<ReportFile>>,
    /// What is damaged or absent.
    pub warnings: Warnings,
    /// Versions, options, side files.
    pub about: Part<About>,
    /// The machine.
    pub target: Part<Target>,
    /// Sizes of the graph.
    pub graph: Part<GraphInfo>,
    /// Memory by tile and category.
    pub memory: Part<TileMemory>,
    /// The ranges of addresses in which things are placed, and the devices that they make up.
    pub arenas: Part<Arenas>,
    /// Names of categories.
    pub categories: Part<Categories>,
    /// Compute sets.
    pub compute_sets: Part<ComputeSets>,
    /// Programs.
    pub programs: Part<Programs>,
    /// Control code of each of [`Programs::ids`] by tile, with that of its children, bytes; `None` for
    /// a program of which the file has none. Absent where it has none at all.
    pub control_code: Part<Vec<Option<TileList>>>,
    /// What programs call and start from, with the programs of earlier compilation steps.
    pub program_trees: Part<ProgramTrees>,
    /// Steps.
    pub steps: Part<Steps>,
    /// Changes of memory from step to step, which may be there before the liveness that they follow from.
    pub deltas: Part<Deltas>,
    /// Liveness of the whole program.
    pub liveness: Part<Liveness>,
    /// Totals of the recorded runs; absent when nothing was recorded.
    pub execution: Part<ExecutionTotals>,
    /// The steps that ran; see [`Self::read_trace`].
    pub trace: Part<ExecutionTrace>,
    /// Debug contexts.
    pub debug: Part<DebugInfo>,
    /// Lowered variables.
    pub variables: Part<LoweredVariables>,
    /// Bytes by tile, unlowered variable and class.
    pub tile_variable_bytes: Part<TileVariableBytes>,
    /// Vertex types, with what they take on each tile.
    pub vertex_types: Part<VertexTypes>,
    /// What compute sets have on each tile.
    pub compute_set_tiles: Part<ComputeSetTiles>,
    /// Exchanges.
    pub exchanges: Part<Exchanges>,
    /// Logs beside the profile, in the order of their names; none where there is no log.
    pub logs: Part<Vec<Log>>,
    reader: OnceLock<Box<dyn ReadArena>>,
    context_reader: OnceLock<Box<dyn ReadContext>>,
}

impl Report {
    /// An empty report of a system without words of its own.
    pub fn new(path: PathBuf) -> Self {
        Self::of(System::GENERAL, path)
    }

    /// An empty report of a system.
    pub fn of(system: System, path: PathBuf) -> Self {
        Self { path, system, ..Self::default() }
    }

    /// The name of a category, where the file names it.
    pub fn category_name(&self, id: CategoryId) -> Option<&str> {
        self.categories.get()?.name(id)
    }

    /// Whether changes of memory are known of single devices.
    pub fn has_deltas_of_devices(&self) -> bool {
        let deltas = self.deltas.get();
        deltas.is_some_and(|deltas| !deltas.by_device.is_empty() || !deltas.levels.is_empty())
    }

    /// The limit of a tile, bytes.
    pub fn bytes_per_tile(&self) -> Option<u64> {
        self.target.get()?.bytes_per_tile
    }

    /// Whether its debug information is there, and whole.
    pub fn has_whole_debug_info(&self) -> bool {
        self.debug.get().is_some_and(|debug| !debug.is_cut)
    }

    /// Says of all parts that are not there yet why they will not come.
    pub fn settle_rest(&self, why: &Absence) {
        fn settle<T>(part: &Part<T>, why: &Absence) {
            if !part.is_settled() {
                part.settle(Err(why.clone()));
            }
        }
        settle(&self.about, why);
        settle(&self.target, why);
        settle(&self.graph, why);
        settle(&self.memory, why);
        settle(&self.arenas, why);
        settle(&self.categories, why);
        settle(&self.compute_sets, why);
        settle(&self.programs, why);
        settle(&self.control_code, why);
        settle(&self.program_trees, why);
        settle(&self.steps, why);
        settle(&self.deltas, why);
        settle(&self.liveness, why);
        settle(&self.execution, why);
        settle(&self.debug, why);
        settle(&self.variables, why);
        settle(&self.tile_variable_bytes, why);
        settle(&self.vertex_types, why);
        settle(&self.compute_set_tiles, why);
        settle(&self.exchanges, why);
        settle(&self.logs, why);
    }

    /// The steps that ran, read now unless they are there; `None` while they are not known, because nothing was
    /// recorded ([`Self::execution`] says why), or because the reading was canceled.
    pub fn read_trace(&self, progress: &Progress) -> Option<&ExecutionTrace> {
        if !self.trace.is_settled() {
            let read = self.reader().map(|reader| reader.read_trace(progress));
            if progress.is_cancelled() {
                return None;
            }
            let absence = || self.execution.absence_or(Absence::unexplained);
            self.trace.settle(match read {
                Some(Ok(Some(trace))) => Ok(trace),
                Some(Err(error)) => Err(Absence::new(error.to_string(), "reload the report")),
                Some(Ok(None)) | None => Err(absence()),
            });
        }
        self.trace.get()
    }

    /// Where single arenas are read from; nothing of a report that has no files.
    pub fn reader(&self) -> Option<&dyn ReadArena> {
        self.reader.get().map(AsRef::as_ref)
    }

    /// Says where single arenas are read from. Only the first call counts.
    pub fn set_reader(&self, reader: Box<dyn ReadArena>) {
        // A second reader would be a mistake; the first one stands.
        drop(self.reader.set(reader));
    }

    /// All that the file says of a debug context, by its row; `None` where there is no such row, or no file.
    ///
    /// # Errors
    /// When the file cannot be read any more, or has changed since its contexts were.
    pub fn read_context(
        &self,
        context: usize,
        progress: &Progress,
    ) -> Result<Option<ContextDetails>, ReadError> {
        let place = || {
            let debug = self.debug.get()?;
            Some((*debug.ids.get(context)?, debug.offsets.get(context)?.get()))
        };
        let (Some((id, offset)), Some(reader)) = (place(), self.context_reader.get()) else {
            return Ok(None);
        };
        reader.read(id, offset, progress).map(Some)
    }

    /// Says where single debug contexts are read from. Only the first call counts.
    pub fn set_context_reader(&self, reader: Box<dyn ReadContext>) {
        drop(self.context_reader.set(reader));
    }

    /// The files of the report with what is known of them now.
    pub fn files(&self) -> Vec<ReportFile> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a file ends before its contents do: then figures are of what could be read.
    pub fn is_cut(&self) -> bool {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|file| file.status == FileStatus::Truncated)
    }

    /// Names the files of the report.
    pub fn set_files(&self, files: Vec<ReportFile>) {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Notes what a reader found out about a file.
    pub fn set_file_status(&self, name: &str, status: FileStatus) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.iter_mut().find(|file| file.name == name) {
            file.status = status;
        }
    }
}
