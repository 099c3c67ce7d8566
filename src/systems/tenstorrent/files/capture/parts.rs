//! One pass over a raw capture: what it says of the machine, its calls, and where the rest lies that is read later.

use std::fs::File;

use serde::Deserialize;

use super::calls::{CallScan, CapturedCall};
use super::node::CallNode;
use super::python_io::PythonCalls;
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
    /// Nodes that are none.
    pub damaged_nodes: u64,
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeviceValues<'a> {
    #[serde(borrow)]
    device_id: NodeValue<'a>,
    #[serde(borrow)]
    arch: NodeValue<'a>,
    #[serde(borrow)]
    num_dram_channels: NodeValue<'a>,
    #[serde(borrow)]
    num_x_compute_cores: NodeValue<'a>,
    #[serde(borrow)]
    num_y_compute_cores: NodeValue<'a>,
    #[serde(borrow)]
    worker_l1_size: NodeValue<'a>,
    #[serde(borrow)]
    address_at_first_l1_cb_buffer: NodeValue<'a>,
    #[serde(borrow)]
    l1_bank_size: NodeValue<'a>,
    #[serde(borrow)]
    cb_limit: NodeValue<'a>,
    #[serde(borrow)]
    l1_num_banks: NodeValue<'a>,
}

/// How a capture was made.
#[derive(Debug, Default)]
pub struct CaptureMetadata {
    pub rank: Option<u64>,
    /// The release of ttnn.
    pub version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MetadataValues<'a> {
    #[serde(borrow)]
    rank: NodeValue<'a>,
    #[serde(borrow)]
    version: NodeValue<'a>,
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
                let found: Vec<DeviceValues<'_>> =
                    serde_json::from_slice(&text).unwrap_or_default();
                self.devices = found.iter().map(CapturedDevice::of).collect();
                Ok(())
            }
            "metadata" => {
                let text = small_part(pieces)?;
                let found: MetadataValues<'_> = serde_json::from_slice(&text).unwrap_or_default();
                let version = Some(found.version.text().to_owned());
                let version = version.filter(|version| !version.is_empty());
                self.metadata = CaptureMetadata { rank: found.rank.number(), version };
                Ok(())
            }
            "cluster_descriptor" => {
                self.descriptor = serde_json::from_slice(&small_part(pieces)?).ok();
                Ok(())
            }
            _ => pieces.skip().map(drop),
        }
    }

    fn read_graph(
        &mut self,
        pieces: &mut JsonPieces<'_>,
        names: &mut Interner,
    ) -> Result<(), PieceError> {
        pieces.list(|pieces| {
            let range = pieces.skip()?;
            let text = pieces.bytes(&range, NODE_BYTES)?;
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
                _ => self.scan.add(node, range, names, &mut self.python),
            }
            Ok(())
        })
    }

    /// Follows an allocation or a free.
    fn follow(&mut self, text: &[u8], is_allocation: bool) {
        let params = params_of(text);
        let Some(key) = key_of(&params) else { return };
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
                    let text = pieces.bytes(&range, SMALL_PART_BYTES)?;
                    counter = serde_json::from_slice(&text).unwrap_or(0);
                }
                Ok(())
            })?;
            let of_address = self.pages.entry(address).or_default();
            of_address.extend(pages.map(|pages| (counter, pages)));
            Ok(())
        })
    }

    /// Where the graph of a call lies: its nodes, with the tensors that it gives, which stand behind them.
    pub fn graph_of(&self, call: &CapturedCall) -> (PieceRange, Vec<PieceRange>) {
        let results = call.output_nodes().iter().filter_map(|node| self.scan.tensors.get(node));
        let behind = results.filter(|(_, range)| range.start >= call.nodes.end);
        (call.nodes.clone(), behind.map(|(_, range)| range.clone()).collect())
    }
}

impl CapturedDevice {
    fn of(values: &DeviceValues<'_>) -> Self {
        let number = |value: &NodeValue<'_>, most: u64| {
            value.number().filter(|number| *number <= most).unwrap_or(0)
        };
        Self {
            id: values.device_id.number().unwrap_or(0),
            arch: values.arch.text().to_ascii_lowercase(),
            dram_banks: number(&values.num_dram_channels, limits::TILES),
            device: TtnnDevice {
                grid_x: number(&values.num_x_compute_cores, TtnnDevice::MOST_CORES),
                grid_y: number(&values.num_y_compute_cores, TtnnDevice::MOST_CORES),
                worker_l1_bytes: number(&values.worker_l1_size, limits::ADDRESS),
                floor_address: number(&values.address_at_first_l1_cb_buffer, limits::ADDRESS),
                l1_bank_bytes: number(&values.l1_bank_size, limits::ADDRESS),
                cb_limit_bytes: values.cb_limit.number().filter(|bytes| *bytes <= limits::ADDRESS),
                l1_banks: number(&values.l1_num_banks, limits::TILES),
            },
        }
    }
}

/// What a node says of memory.
fn params_of(text: &[u8]) -> NodeParams<'_> {
    let node = serde_json::from_slice::<GraphNode<'_>>(text).ok();
    node.and_then(|node| node.params).unwrap_or_default()
}

fn small_part(pieces: &mut JsonPieces<'_>) -> Result<Vec<u8>, PieceError> {
    let range = pieces.skip()?;
    pieces.bytes(&range, SMALL_PART_BYTES)
}
