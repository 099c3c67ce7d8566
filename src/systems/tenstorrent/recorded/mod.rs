//! What a report of TT-NN records, as its reader hands it on: machines, operations, tensors, and buffers by the
//! operations at whose ends they are alive (formats/tenstorrent.md).

mod calls;
mod graph;
mod space;
mod tensors;

pub use calls::{CalledFrom, TtnnCalls, frames_in, user_frame_in};
pub use graph::{CoreRange, GraphEvent, NodeBuffer, OperationGraph, ScratchBuffer, SeenProgram};
pub use space::{BufferKey, BufferLayout, BufferSpace};
pub use tensors::{TensorFacts, TensorPlacement, TensorRow, TtnnTensors};

use crate::store::names::{FastMap, Interner, NameId};
use crate::text::words;

/// Bytes of pages of L1 and L1_SMALL on each core at the end of an operation, by x and y.
pub type CorePages = FastMap<(u32, u32), u64>;

/// A report, but for the graphs of its operations.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnReport {
    /// `schema_version`.
    pub schema_version: Option<String>,
    /// Whether it is a raw capture, not a report that was made from one.
    pub is_capture: bool,
    /// `version`: the release of ttnn, which reports have from 0.81.
    pub ttnn_version: Option<String>,
    /// The table that has the parts of buffers on single cores, if one has any.
    pub page_table: Option<PageTable>,
    /// The settings of `config.json`: names with values.
    pub settings: Vec<(String, String)>,
    /// Each machine, by ascending rank.
    pub ranks: Vec<TtnnRank>,
    /// Names of operations, shapes, data types and device operations, until all are known.
    #[serde(skip)]
    pub names: Interner,
}

words! {
    /// The tables that have the parts of buffers on single cores.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PageTable by word {
        /// A row for the pages that a core has of a buffer, from schema 3.1.
        Chunks = "buffer_chunks",
        /// A row for each page.
        Pages = "buffer_pages",
        /// Lists of pages by addresses, in a raw capture.
        ByAddress = "buffer_pages_by_address",
    }
}

impl TtnnReport {
    /// The release that wrote it, as names with values.
    pub fn release(&self) -> Vec<(String, String)> {
        let known = [("schema", &self.schema_version), ("ttnn", &self.ttnn_version)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        known.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }
}

/// What one process recorded.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnRank {
    /// Its number.
    pub rank: u64,
    /// The chips that it used.
    pub machine: TtnnMachine,
    /// Top-level calls, by ascending id.
    pub operations: TtnnOperations,
    /// Buffers at the ends of operations, by their first operation, until lives follow from them.
    #[serde(skip)]
    pub stays: Vec<Stay>,
    /// Rows of `buffers`.
    pub buffer_rows: u64,
    /// The same of each space, as [`BufferSpace`] numbers them.
    pub rows_of_spaces: [u64; BufferSpace::COUNT],
    /// Rows of the table of parts on single cores.
    pub page_rows: u64,
    /// Tensors that Python saw.
    pub tensors: TtnnTensors,
    /// Where operations are called, and with what.
    pub calls: TtnnCalls,
    /// Rows of `errors`.
    pub errors: Vec<ErrorRow>,
    /// Whether operations, buffers or graphs are missing: the file is cut or damaged.
    pub is_incomplete: bool,
}

impl TtnnRank {
    /// Adds a tensor that the operation at a position takes. To free it is not to read it.
    pub fn add_input(&mut self, tensor: u64, at: u32) {
        let is_read = self.operations.is_deallocate.get(at as usize) == Some(&false);
        self.tensors.add_input(tensor, at, is_read);
        // A tensor of the host says nothing of where what comes of it is from.
        let row = self.tensors.get(tensor).and_then(|facts| facts.row);
        if is_read && row.is_none_or(|row| row.has_memory_config) {
            self.operations.readers.push(at);
        }
    }

    /// To be called when all tensors and calls were added.
    pub fn finish(&mut self) {
        self.operations.readers.sort_unstable();
        self.operations.readers.dedup();
        self.tensors.finish();
        self.calls.finish();
    }

    /// Whether it is not known in full what was alive: a part of the report is missing, or it has no buffers at all.
    pub fn may_lack_buffers(&self) -> bool {
        self.is_incomplete || (self.buffer_rows == 0 && self.operations.count() > 0)
    }
}

/// The architecture of chips.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChipArch {
    /// `wormhole_b0`, `blackhole`.
    pub name: String,
    /// What says so.
    pub from: ArchSource,
}

words! {
    /// What says which architecture chips are of.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ArchSource by word {
        /// The file beside the report, or its text in a raw capture.
        Descriptor = "cluster_descriptor",
        /// The devices of a raw capture.
        Devices = "devices",
        /// How large L1 is.
        #[default]
        L1Size = "worker_l1_size",
    }
}

impl ChipArch {
    /// Whether it is Blackhole.
    pub fn is_blackhole(&self) -> bool {
        self.name == "blackhole"
    }

    /// The smallest block of an allocator, bytes.
    pub fn rounding_bytes(&self) -> u64 {
        if self.is_blackhole() { 64 } else { 32 }
    }

    /// DRAM banks of a chip of which none is harvested.
    pub fn dram_banks(&self) -> u64 {
        if self.is_blackhole() { 8 } else { 12 }
    }
}

/// The chips of a rank.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnMachine {
    /// Their architecture.
    pub arch: ChipArch,
    /// The one kind of board: `n150`.
    pub board: Option<String>,
    /// DRAM banks of a chip.
    pub dram_banks: u64,
    /// Chips of the mesh, at least 1.
    pub chips: u64,
    /// Rows of `devices`: chips and meshes alike.
    pub device_rows: u64,
    /// The ids of meshes that buffers name, ascending.
    pub mesh_ids: Vec<u64>,
    /// The first row of `devices`.
    pub device: Option<TtnnDevice>,
}

/// A row of `devices`; sizes and addresses in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TtnnDevice {
    /// Columns of worker cores.
    pub grid_x: u64,
    /// Rows of worker cores.
    pub grid_y: u64,
    /// L1 of a worker core.
    pub worker_l1_bytes: u64,
    /// Where circular buffers begin.
    pub floor_address: u64,
    /// What buffers can take of a core's L1, without L1_SMALL.
    pub l1_bank_bytes: u64,
    /// `cb_limit`; `None` where the report does not say it.
    pub cb_limit_bytes: Option<u64>,
    /// L1 banks of a chip: one for each worker core.
    pub l1_banks: u64,
}

impl TtnnDevice {
    /// Cores of a grid in one direction that are believed.
    pub const MOST_CORES: u64 = 256;

    /// L1_SMALL of a core, bytes.
    pub fn l1_small_bytes(&self) -> u64 {
        self.worker_l1_bytes.saturating_sub(self.floor_address).saturating_sub(self.l1_bank_bytes)
    }

    /// The address behind the L1 bank.
    pub fn l1_end(&self) -> u64 {
        self.floor_address.saturating_add(self.l1_bank_bytes)
    }
}

/// Top-level calls.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnOperations {
    /// Their ids, ascending.
    pub ids: Vec<u64>,
    /// Their names.
    pub names: Vec<NameId>,
    /// Host time of each, nanoseconds; no time of a device.
    pub host_nanoseconds: Vec<Option<u64>>,
    /// Whether each has rows in `buffers`.
    pub has_rows: Vec<bool>,
    /// Whether each has a row in `errors`.
    pub has_error: Vec<bool>,
    /// Whether each is `ttnn.deallocate`, which reads nothing.
    pub is_deallocate: Vec<bool>,
    /// The operations that read a tensor of a device, ascending.
    pub readers: Vec<u32>,
}

impl TtnnOperations {
    /// Adds one behind the others.
    pub fn push(&mut self, id: u64, name: NameId, nanoseconds: Option<u64>, is_deallocate: bool) {
        self.ids.push(id);
        self.names.push(name);
        self.host_nanoseconds.push(nanoseconds);
        self.has_rows.push(false);
        self.has_error.push(false);
        self.is_deallocate.push(is_deallocate);
    }

    /// The position of an operation.
    pub fn position(&self, id: u64) -> Option<u32> {
        position_of_id(&self.ids, id)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    /// The id of the operation at a position.
    pub fn id(&self, position: u32) -> u64 {
        self.ids.get(position as usize).copied().unwrap_or_default()
    }

    /// The name of the operation at a position.
    pub fn name(&self, position: u32) -> NameId {
        self.names.get(position as usize).copied().unwrap_or(NameId::NONE)
    }

    /// Whether an operation reads a tensor of a device.
    pub fn reads(&self, position: u32) -> bool {
        self.readers.binary_search(&position).is_ok()
    }

    /// The first operation that does; after all of them without one.
    pub fn first_reader(&self) -> u32 {
        self.readers.first().copied().unwrap_or(u32::MAX)
    }

    /// Whether an operation failed, and nobody took down what was alive at its end.
    pub fn failed_without_rows(&self, position: u32) -> bool {
        let at = |column: &[bool]| column.get(position as usize) == Some(&true);
        at(&self.has_error) && !at(&self.has_rows)
    }
}

/// The position of an operation among ascending ids.
pub fn position_of_id(ids: &[u64], id: u64) -> Option<u32> {
    // Ids are mostly without gaps.
    let first = *ids.first()?;
    let near = id.checked_sub(first).and_then(|near| usize::try_from(near).ok())?;
    let place = match ids.get(near) {
        Some(other) if *other == id => near,
        _ => ids.binary_search(&id).ok()?,
    };
    u32::try_from(place).ok()
}

/// A buffer that has the same size at the ends of consecutive operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Where it lies.
    pub key: BufferKey,
    /// `max_size_per_bank`, bytes.
    pub bytes_per_bank: u64,
    /// How it is laid out, where its code says so.
    pub layout: Option<BufferLayout>,
    /// The position of the first of these operations.
    pub first: u32,
    /// The position of the last of them.
    pub last: u32,
}

/// A row of `errors`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ErrorRow {
    /// The position of the operation; `None` where it has no row.
    pub operation: Option<u32>,
    /// The name of the operation.
    pub name: String,
    /// `RuntimeError`, `incomplete_operation` …
    pub kind: String,
    /// The whole text.
    pub message: String,
}
