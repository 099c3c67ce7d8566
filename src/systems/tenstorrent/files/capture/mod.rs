//! Raw captures: `graph_capture.json`, from which TT-NN makes the database of a report, one for each rank.
//!
//! A capture of one step of a large model has gigabytes. It is passed over once, value by value; of lists of buffers and
//! of graphs it is kept where they lie, and each is read when its operation comes.

mod calls;
mod fill;
mod node;
mod parts;
mod python_io;
mod snapshots;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use self::parts::{CaptureParts, PagesOfAddresses};
use super::buffers::said_of_meshes;
use super::discover::SideFiles;
use super::graph::{TensorsOfNodes, parse_after};
use super::node::NodeValue;
use super::pages::add_to_core;
use crate::files::{self, file_name};
use crate::format::json_pieces::{PieceError, PieceRange, bytes_at};
use crate::format::{Error, ErrorKind, Progress};
use crate::limits;
use crate::store::names::Interner;
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, WarningCode, Warnings};
use crate::systems::tenstorrent::recorded::{
    BufferSpace, CorePages, OperationGraph, PageTable, TtnnRank, TtnnReport,
};

/// The captures of a run.
#[derive(Debug)]
pub struct Captures {
    files: Vec<CaptureFile>,
}

/// The capture of a rank.
#[derive(Debug)]
struct CaptureFile {
    name: String,
    file: File,
    bytes: u64,
    /// What Python recorded, in a file beside it.
    beside: Option<(String, File)>,
    /// The number of its rank, once it was read.
    rank: u64,
    graphs: Vec<GraphPlace>,
    /// The last node of each call.
    ends: Vec<u64>,
    pages: PagesOfAddresses,
}

/// Where the graph of a call lies.
#[derive(Debug)]
enum GraphPlace {
    /// In the capture: its nodes, and those behind them of tensors that it gives.
    Within(PieceRange, Vec<PieceRange>),
    /// With what Python recorded.
    Python { is_beside: bool, range: PieceRange },
}

/// A page, or a chunk of pages, of a buffer on a core.
#[derive(Debug, Deserialize)]
struct CapturedPage<'a> {
    #[serde(borrow, default)]
    core_x: NodeValue<'a>,
    #[serde(borrow, default)]
    core_y: NodeValue<'a>,
    #[serde(borrow, default)]
    page_size: NodeValue<'a>,
    #[serde(borrow, default)]
    num_pages: NodeValue<'a>,
    #[serde(borrow, default)]
    buffer_type: NodeValue<'a>,
}

impl Captures {
    /// Opens the captures at some paths.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let files = paths.iter().map(|path| CaptureFile::open(path));
        Ok(Self { files: files.collect::<Result<_, _>>()? })
    }

    /// The files, with what was recorded beside them.
    pub fn list(&self) -> Vec<ReportFile> {
        let of = |name: &str, file: &File| ReportFile {
            name: name.to_owned(),
            bytes: file.metadata().ok().map(|metadata| metadata.len()),
            status: FileStatus::Ok,
        };
        let all = self.files.iter().flat_map(|capture| {
            let beside = capture.beside.as_ref().map(|(name, file)| of(name, file));
            std::iter::once(of(&capture.name, &capture.file)).chain(beside)
        });
        all.collect()
    }

    /// The name of the file of the rank at a place.
    pub fn name_of(&self, place: usize) -> &str {
        self.files.get(place).map_or("", |capture| &capture.name)
    }

    /// Reads everything but graphs and what single cores have.
    ///
    /// # Errors
    /// When a capture has neither calls nor devices.
    pub fn read(
        &mut self,
        beside: &SideFiles,
        report: &Report,
        progress: &Progress,
    ) -> Result<TtnnReport, Error> {
        let mut found = TtnnReport { is_capture: true, ..TtnnReport::default() };
        for capture in &mut self.files {
            capture.read(&mut found, beside, report, progress)?;
        }
        found.ranks.sort_by_key(|rank| rank.rank);
        self.files.sort_by_key(|capture| capture.rank);
        Ok(found)
    }

    /// Hands the graph of each operation to `each`, with the place of its rank and its position there.
    pub fn read_graphs(
        &self,
        report: &mut TtnnReport,
        warnings: &Warnings,
        progress: &Progress,
        mut each: impl FnMut(&TtnnReport, usize, u32, OperationGraph),
    ) {
        for (place, capture) in self.files.iter().enumerate() {
            let mut tensors = TensorsOfNodes::default();
            for (at, graph) in (0_u32..).zip(&capture.graphs) {
                if progress.is_cancelled() {
                    return;
                }
                let warn = |what: String| {
                    let number = u64::from(at).saturating_add(1);
                    let message = format!("graph, call {number}: {what}");
                    warnings.add(WarningCode::Inconsistent, &capture.name, message);
                };
                match capture.graph_of(graph, &mut report.names, &mut tensors) {
                    Ok((graph, left_out)) => {
                        if left_out > 0 {
                            warn(format!(
                                "{left_out} buffers without a space, an address or a size that a machine can have are left out"
                            ));
                        }
                        each(report, place, at, graph);
                    }
                    Err(error) => {
                        warn(format!("{error}; its graph is left out"));
                        if let Some(rank) = report.ranks.get_mut(place) {
                            rank.is_incomplete = true;
                        }
                    }
                }
            }
        }
    }

    /// Sums up what each core has at the ends of some operations: places of ranks with positions.
    pub fn read_pages(
        &self,
        report: &TtnnReport,
        wanted: &[(usize, u32)],
        warnings: &Warnings,
        progress: &Progress,
    ) -> Vec<CorePages> {
        let of = |(place, at): &(usize, u32)| {
            let (capture, rank) = (self.files.get(*place)?, report.ranks.get(*place)?);
            if progress.is_cancelled() {
                return None;
            }
            Some(capture.pages_at(rank, *at, warnings))
        };
        wanted.iter().map(|wanted| of(wanted).unwrap_or_default()).collect()
    }
}

impl CaptureFile {
    fn open(path: &Path) -> Result<Self, Error> {
        let file = files::open(path).map_err(|error| Error::io(path, &error))?;
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let beside = path.with_extension("python_io.json");
        let beside = files::open(&beside).ok().map(|file| (file_name(&beside), file));
        Ok(Self {
            name: file_name(path),
            file,
            bytes,
            beside,
            rank: 0,
            graphs: Vec::new(),
            ends: Vec::new(),
            pages: PagesOfAddresses::default(),
        })
    }

    fn read(
        &mut self,
        found: &mut TtnnReport,
        beside: &SideFiles,
        report: &Report,
        progress: &Progress,
    ) -> Result<(), Error> {
        let warn = |file: &str, message: String| {
            report.warnings.add(WarningCode::Inconsistent, file, message);
        };
        let mut parts = CaptureParts::default();
        let of_python = self.beside.as_ref().and_then(|(_, file)| file.metadata().ok());
        progress.expect(self.bytes.saturating_add(of_python.map_or(0, |of| of.len())));
        let python = self
            .beside
            .as_ref()
            .map_or(Ok(()), |(_, file)| parts.read_python(file, &mut found.names, progress));
        let read = parts.read(&self.file, &mut found.names, progress);
        if progress.is_cancelled() {
            return Ok(());
        }
        if let (Some((name, _)), Err(error)) = (&self.beside, &python) {
            report.set_file_status(name, status_after(error));
            warn(name, format!("{error}; calls before that are read"));
        }
        if parts.scan.calls.is_empty() && parts.devices.is_empty() {
            let why = read.err().map(|error| format!(": {error}")).unwrap_or_default();
            let message = format!("{} has neither calls nor devices{why}", self.name);
            return Err(Error::new(ErrorKind::Damaged, message).at("byte 0").hint(
                "A capture is what ttnn.graph.end_graph_capture_to_file writes; copy it again, or capture again.",
            ));
        }
        let taken: Vec<u64> = found.ranks.iter().map(|rank| rank.rank).collect();
        let mut rank = TtnnRank { rank: fill::rank_number(&parts, &taken), ..TtnnRank::default() };
        if let Err(error) = &read {
            report.set_file_status(&self.name, status_after(error));
            warn(&self.name, format!("{error}; what stands before that is read"));
            rank.is_incomplete = true;
        }
        if parts.damaged_nodes > 0 {
            warn(
                &self.name,
                format!(
                    "graph: {} nodes are damaged or too long, and left out",
                    parts.damaged_nodes
                ),
            );
            rank.is_incomplete = true;
        }
        for part in &parts.damaged_parts {
            warn(&self.name, format!("{part}: damaged or too long, and left out"));
        }
        self.rank = rank.rank;
        found.ttnn_version = found.ttnn_version.take().or_else(|| parts.metadata.version.take());
        fill::machine(&mut rank, &parts, beside, &report.warnings);
        fill::calls(&mut rank, found, &parts);
        fill::errors(&mut rank, found, &parts);
        self.fill_buffers(&mut rank, &mut parts, &report.warnings, progress);
        rank.page_rows = parts.page_rows;
        if rank.page_rows > 0 {
            found.page_table = Some(PageTable::ByAddress);
        }
        rank.finish();
        found.ranks.push(rank);
        self.keep_places(parts);
        Ok(())
    }

    /// What is alive at the ends of calls.
    fn fill_buffers(
        &self,
        rank: &mut TtnnRank,
        parts: &mut CaptureParts,
        warnings: &Warnings,
        progress: &Progress,
    ) {
        let warn = |message: String| warnings.add(WarningCode::Inconsistent, &self.name, message);
        let meshes = if parts.snapshots.is_empty() {
            let mut followed = std::mem::take(&mut parts.followed);
            let meshes = std::mem::take(&mut followed.meshes);
            followed.finish(&parts.scan.calls, rank);
            warn(
                "per_operation_buffers is absent: buffers are followed by the graph, and those that were there before the \
                 capture are not known; capture with enable_detailed_buffer_report"
                    .to_owned(),
            );
            meshes
        } else {
            let read =
                snapshots::read(&self.file, &parts.snapshots, &parts.scan.calls, rank, progress);
            for said in read.said() {
                warn(format!("per_operation_buffers: {said}"));
            }
            rank.is_incomplete |= read.lacks_calls();
            read.meshes
        };
        rank.machine.mesh_ids = fill::mesh_ids(&meshes, &parts.devices);
        if let Some(said) = said_of_meshes(rank) {
            warn(said);
        }
    }

    /// Keeps what is needed to read graphs and pages.
    fn keep_places(&mut self, parts: CaptureParts) {
        for call in &parts.scan.calls {
            let own = parts.recorded(call).and_then(|recorded| recorded.graph.clone());
            let (nodes, results) = parts.graph_of(call);
            let is_beside = !parts.is_python_within;
            self.graphs.push(match own {
                Some(range) => GraphPlace::Python { is_beside, range },
                None => GraphPlace::Within(nodes, results),
            });
            self.ends.push(call.counters[1]);
        }
        self.pages = parts.pages;
        self.pages.values_mut().for_each(|pages| pages.sort_by_key(|(counter, _)| *counter));
    }

    /// The graph of a call, and how many of its buffers are left out. Nodes are numbered through the capture, but in each
    /// graph of Python from 0.
    fn graph_of(
        &self,
        graph: &GraphPlace,
        names: &mut Interner,
        tensors: &mut TensorsOfNodes,
    ) -> Result<(OperationGraph, u64), String> {
        let text = self.graph_text(graph).map_err(|error| error.to_string())?;
        let mut own = TensorsOfNodes::default();
        let tensors = match graph {
            GraphPlace::Within(..) => tensors,
            GraphPlace::Python { .. } => &mut own,
        };
        parse_after(&text, names, tensors).map_err(|error| error.to_string())
    }

    /// The graph of a call as a list of nodes.
    fn graph_text(&self, graph: &GraphPlace) -> Result<String, PieceError> {
        let most = limits::RECORD_BYTES;
        let bytes = match graph {
            GraphPlace::Python { is_beside, range } => {
                let beside = self.beside.as_ref().filter(|_| *is_beside);
                bytes_at(beside.map_or(&self.file, |(_, file)| file), range, most)?
            }
            GraphPlace::Within(nodes, results) => {
                let mut bytes = vec![b'['];
                bytes.extend(bytes_at(&self.file, nodes, most)?);
                for result in results {
                    bytes.push(b',');
                    bytes.extend(bytes_at(&self.file, result, most)?);
                }
                bytes.push(b']');
                bytes
            }
        };
        // Some recorders write a graph as a text that has one.
        let text = String::from_utf8_lossy(&bytes);
        Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.into_owned()))
    }

    /// What cores have at the end of a call: of each buffer the pages of its last allocation before that.
    fn pages_at(&self, rank: &TtnnRank, at: u32, warnings: &Warnings) -> CorePages {
        let mut found = CorePages::default();
        let end = self.ends.get(at as usize).copied().unwrap_or(0);
        let stays = rank.stays.iter().take_while(|stay| stay.first <= at);
        let alive = stays.filter(|stay| stay.last >= at && stay.key.space.is_of_core());
        for stay in alive {
            let Some(pages) = self.pages.get(&stay.key.address) else { continue };
            let before = pages.partition_point(|(counter, _)| *counter <= end);
            let last = before.checked_sub(1).and_then(|last| pages.get(last));
            let Some((_, range)) = last.or_else(|| pages.first()) else { continue };
            let read = bytes_at(&self.file, range, limits::RECORD_BYTES);
            let pages = read.map_err(|error| error.to_string()).and_then(|text| {
                add_pages(&text, stay.key.space, &mut found).map_err(|error| error.to_string())
            });
            if let Err(error) = pages {
                let address = stay.key.address;
                let message = format!(
                    "buffer_pages_by_address, {address}: {error}; these pages are left out"
                );
                warnings.add(WarningCode::Inconsistent, &self.name, message);
            }
        }
        found
    }
}

/// What is wrong with a file that is read no further.
fn status_after(error: &PieceError) -> FileStatus {
    match error {
        PieceError::Cut { .. } => FileStatus::Truncated,
        _ => FileStatus::Invalid,
    }
}

/// Adds the bytes of pages to their cores.
fn add_pages(
    text: &[u8],
    space: BufferSpace,
    found: &mut CorePages,
) -> Result<(), serde_json::Error> {
    let pages: Vec<CapturedPage<'_>> = serde_json::from_slice(text)?;
    for page in pages {
        let core = |value: &NodeValue<'_>| u32::try_from(value.number()?).ok();
        let (Some(x), Some(y)) = (core(&page.core_x), core(&page.core_y)) else { continue };
        let of = page.buffer_type.number().and_then(BufferSpace::of_code);
        if of.is_none_or(|of| of == space) {
            let bytes = page.page_size.size().unwrap_or(0);
            let count = page.num_pages.size().unwrap_or(1);
            add_to_core(found, (x, y), bytes.saturating_mul(count));
        }
    }
    Ok(())
}
