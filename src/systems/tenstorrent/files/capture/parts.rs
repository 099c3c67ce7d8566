//! One pass over a raw capture: what it says of the machine, its calls, and where the rest lies that is read later.

use std::collections::BTreeSet;
use std::fs::File;

use serde::Deserialize;

use super::calls::{CallScan, CapturedCall};
use super::node::CallNode;
use super::python_io::{PythonCall, PythonCalls};
use super::snapshots::{FollowedBuffers, Snapshots};
use crate::format::Progress;
use crate::format::json_pieces::{JsonPieces, PieceError, PieceRange};
use crate::limits;
use crate::store::names::{FastMap, Interner};
use crate::systems::tenstorrent::files::graph::{buffer_of, key_of};
use crate::systems::tenstorrent::files::node::{GraphNode, NodeParams, NodeValue};
use crate::systems::tenstorrent::recorded::TtnnDevice;

/// Bytes of a node: tensors are written at length in arguments.
const NODE_BYTES: u64 = 16 << 20;
/// Bytes of the parts of a capture that say how it was made.
const SMALL_PART_BYTES: u64 = 4 << 20;

/// What a pass found.
#[derive(Debug, Default)]
pub struct CaptureParts {
    pub devices: Vec<CapturedDevice>,
    pub metadata: CaptureMetadata,
    /// The text of `cluster_descriptor.yaml`.
    pub descriptor: Option<String>,
    pub scan: CallScan,
    pub python: PythonCalls,
    /// Whether Python's calls are in the capture itself.
    pub is_python_within: bool,
    pub followed: FollowedBuffers,
    pub snapshots: Snapshots,
    pub pages: PagesOfAddresses,
    /// Pages in all of these.
    pub page_rows: u64,
    /// Nodes that are damaged or too long.
    pub damaged_nodes: u64,
    /// Parts that are not what they should be, or too long.
    pub damaged_parts: BTreeSet<&'static str>,
}

/// Where the pages of a buffer lie, by its address: the node after which it was allocated, with the list of pages.
pub type PagesOfAddresses = FastMap<u64, Vec<(u64, PieceRange)>>;

/// A chip or a mesh.
#[derive(Debug, Default)]
pub struct CapturedDevice {
    pub id: u64,
    pub device: TtnnDevice,
    /// Its architecture, lower case; empty where it is not said.
    pub arch: String,
    /// Banks of DRAM; 0 where they are not said.
    pub dram_banks: u64,
}

/// Values by their names.
type ValuesByKey<'a> = FastMap<String, NodeValue<'a>>;

/// How a capture was made.
#[derive(Debug, Default)]
pub struct CaptureMetadata {
    pub rank: Option<u64>,
    /// The release of ttnn.
    pub version: Option<String>,
}

impl CaptureParts {
    /// Reads the calls of Python beside a capture.
    ///
    /// # Errors
    /// Where they are read no further.
    pub fn read_python(
        &mut self,
        file: &File,
        names: &mut Interner,
        progress: &Progress,
    ) -> Result<(), PieceError> {
        let (found, read) = PythonCalls::read(&mut JsonPieces::at(file, 0, progress), names);
        self.python = found;
        read
    }

    /// Passes over a capture.
    ///
    /// # Errors
    /// Where it is read no further; what stands before is there.
    pub fn read(
        &mut self,
        file: &File,
        names: &mut Interner,
        progress: &Progress,
    ) -> Result<(), PieceError> {
        let mut pieces = JsonPieces::at(file, 0, progress);
        // Python hands out the list of nodes alone, which some keep.
        let read = if pieces.is_list()? {
            self.read_graph(&mut pieces, names)
        } else {
            pieces.object(|key, pieces| self.take(key, pieces, names))
        };
        self.scan.finish();
        read
    }

    fn take(
        &mut self,
        key: &str,
        pieces: &mut JsonPieces<'_>,
        names: &mut Interner,
    ) -> Result<(), PieceError> {
        match key {
            "graph" => self.read_graph(pieces, names),
            "per_operation_buffers" => pieces.object(|key, pieces| {
                let range = pieces.skip()?;
                self.snapshots.extend(key.parse().ok().map(|counter: u64| (counter, range)));
                Ok(())
            }),
            "buffer_pages_by_address" => pieces.object(|key, pieces| match key.parse() {
                Ok(address) => self.read_pages_of(address, pieces),
                Err(_) => pieces.skip().map(drop),
            }),
            // Those of Python have their places in a file of their own, else here.
            "python_io" if self.python.calls.is_empty() => {
                let (found, read) = PythonCalls::read(pieces, names);
                (self.python, self.is_python_within) = (found, true);
                read
            }
            "devices" => {
                let text = small_part(pieces)?;
                let found: Vec<ValuesByKey<'_>> = self.parsed("devices", &text);
                self.devices = found.iter().map(CapturedDevice::of).collect();
                Ok(())
            }
            "metadata" => {
                let text = small_part(pieces)?;
                let found: ValuesByKey<'_> = self.parsed("metadata", &text);
                let version = found.get("version").map(|version| version.text().to_owned());
                let version = version.filter(|version| !version.is_empty());
                let rank = found.get("rank").and_then(NodeValue::number);
                self.metadata = CaptureMetadata { rank, version };
                Ok(())
            }
            "cluster_descriptor" => {
                let text = small_part(pieces)?;
                let found: String = self.parsed("cluster_descriptor", &text);
                self.descriptor = Some(found).filter(|found| !found.is_empty());
                Ok(())
            }
            _ => pieces.skip().map(drop),
        }
    }

    /// A part from its text; nothing where it is null or damaged.
    fn parsed<'t, T: Default + Deserialize<'t>>(
        &mut self,
        part: &'static str,
        text: &'t [u8],
    ) -> T {
        let found: Result<Option<T>, _> = serde_json::from_slice(text);
        if found.is_err() {
            self.damaged_parts.insert(part);
        }
        found.ok().flatten().unwrap_or_default()
    }

    fn read_graph(
        &mut self,
        pieces: &mut JsonPieces<'_>,
        names: &mut Interner,
    ) -> Result<(), PieceError> {
        pieces.list(|pieces| {
            let range = pieces.skip()?;
            let text = pieces.bytes_up_to(&range, NODE_BYTES)?;
            self.scan.pass(range.end);
            let Ok(node) = serde_json::from_slice::<CallNode<'_>>(&text) else {
                self.damaged_nodes = self.damaged_nodes.saturating_add(1);
                return Ok(());
            };
            match node.node_type.text() {
                "buffer_allocate" => self.follow(&text, true),
                "buffer_deallocate" => self.follow(&text, false),
                "tensor" => {
                    let key = key_of(&params_of(&text));
                    self.scan.add_tensor(&node, range, key, names);
                }
                _ => self.scan.add(node, range, names),
            }
            Ok(())
        })
    }

    /// Follows an allocation or a free.
    fn follow(&mut self, text: &[u8], is_allocation: bool) {
        let params = params_of(text);
        let Some(key) = key_of(&params) else { return };
        self.followed.add_mesh(params.device_id.number());
        let next = self.scan.current().unwrap_or(self.scan.calls.len());
        let call = u32::try_from(next).unwrap_or(u32::MAX);
        if !is_allocation {
            self.followed.free(key, call);
        } else if let Some(node) = buffer_of(&params) {
            let banks = self.banks(key.space.is_of_core());
            self.followed.allocate(&node, node.bytes_per_bank_of(banks), call);
        }
    }

    /// Banks of L1, or of DRAM; 1 where they are not said.
    fn banks(&self, is_of_core: bool) -> u64 {
        let first = self.devices.first();
        let banks = first.map(|of| if is_of_core { of.device.l1_banks } else { of.dram_banks });
        banks.unwrap_or(0).max(1)
    }

    fn read_pages_of(
        &mut self,
        address: u64,
        pieces: &mut JsonPieces<'_>,
    ) -> Result<(), PieceError> {
        pieces.list(|pieces| {
            let (mut counter, mut pages) = (0, None);
            pieces.object(|key, pieces| {
                if key == "pages" && pieces.is_list()? {
                    let start = pieces.position();
                    pieces.list(|pieces| {
                        self.page_rows = self.page_rows.saturating_add(1);
                        pieces.skip().map(drop)
                    })?;
                    pages = Some(start..pieces.position());
                    return Ok(());
                }
                let range = pieces.skip()?;
                if key == "alloc_counter" {
                    let text = pieces.bytes_up_to(&range, SMALL_PART_BYTES)?;
                    counter = serde_json::from_slice(&text).unwrap_or(0);
                }
                Ok(())
            })?;
            let of_address = self.pages.entry(address).or_default();
            of_address.extend(pages.map(|pages| (counter, pages)));
            Ok(())
        })
    }

    /// What Python recorded of a call.
    pub fn recorded(&self, call: &CapturedCall) -> Option<&PythonCall> {
        self.python.find(call.name, call.before)
    }

    /// Where the graph of a call lies: its nodes, with the tensors that it gives, which stand behind them.
    pub fn graph_of(&self, call: &CapturedCall) -> (PieceRange, Vec<PieceRange>) {
        let results = call.output_nodes().iter().filter_map(|node| self.scan.tensors.get(node));
        let behind = results.filter(|(_, range)| range.start >= call.nodes.end);
        (call.nodes.clone(), behind.map(|(_, range)| range.clone()).collect())
    }
}

impl CapturedDevice {
    fn of(values: &ValuesByKey<'_>) -> Self {
        let number = |name: &str| values.get(name).and_then(NodeValue::number);
        let up_to = |name: &str, most: u64| number(name).filter(|number| *number <= most);
        let size = |name: &str| up_to(name, limits::ADDRESS);
        let cores = |name: &str| up_to(name, TtnnDevice::MOST_CORES).unwrap_or(0);
        let banks = |name: &str| up_to(name, limits::TILES).unwrap_or(0);
        Self {
            id: number("device_id").unwrap_or(0),
            arch: values.get("arch").map_or("", NodeValue::text).to_ascii_lowercase(),
            dram_banks: banks("num_dram_channels"),
            device: TtnnDevice {
                grid_x: cores("num_x_compute_cores"),
                grid_y: cores("num_y_compute_cores"),
                worker_l1_bytes: size("worker_l1_size").unwrap_or(0),
                floor_address: size("address_at_first_l1_cb_buffer").unwrap_or(0),
                l1_bank_bytes: size("l1_bank_size").unwrap_or(0),
                cb_limit_bytes: size("cb_limit"),
                l1_banks: banks("l1_num_banks"),
            },
        }
    }
}

/// What a node says of memory.
fn params_of(text: &[u8]) -> NodeParams<'_> {
    let node = serde_json::from_slice::<GraphNode<'_>>(text).ok();
    node.and_then(|node| node.params).map(|params| *params).unwrap_or_default()
}

/// The text of a part; empty where it is too long.
fn small_part(pieces: &mut JsonPieces<'_>) -> Result<Vec<u8>, PieceError> {
    let range = pieces.skip()?;
    pieces.bytes_up_to(&range, SMALL_PART_BYTES)
}
