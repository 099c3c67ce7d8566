//! What the graph of an operation says of memory, in the order in which it happened.

use super::space::{BufferKey, BufferLayout};
use crate::store::names::NameId;

/// The graph of one operation.
#[derive(Debug, Default)]
pub struct OperationGraph {
    /// What happened.
    pub events: Vec<GraphEvent>,
    /// Nodes of circular buffers, on all chips.
    pub circular_buffer_nodes: u64,
    /// Nodes of circular and dataflow buffers that lie on tensors.
    pub on_tensor_nodes: u64,
    /// Nodes of dataflow buffers.
    pub dataflow_buffer_nodes: u64,
    /// Nodes of scratchpads.
    pub scratchpad_nodes: u64,
}

impl OperationGraph {
    /// Gives its names other numbers.
    pub fn rename(&mut self, rename: impl Fn(NameId) -> NameId) {
        for event in &mut self.events {
            match event {
                GraphEvent::Tensor { shape: name, .. }
                | GraphEvent::Program(SeenProgram { device_operation: name, .. }) => {
                    *name = rename(*name);
                }
                _ => {}
            }
        }
    }
}

/// Something that happened within an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphEvent {
    /// A buffer was allocated.
    Allocate(NodeBuffer),
    /// A buffer was freed.
    Free(NodeBuffer),
    /// A tensor was seen.
    Tensor {
        /// Its id.
        tensor: u64,
        /// Its buffer, where the node says so.
        key: Option<BufferKey>,
        /// Its shape.
        shape: NameId,
    },
    /// A tensor was made that shares the buffer of another one.
    View {
        /// The other one.
        from: u64,
        /// The tensor that was made.
        to: u64,
    },
    /// A program began.
    Program(SeenProgram),
}

/// A buffer as a node has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBuffer {
    /// Where it lies.
    pub key: BufferKey,
    /// `max_size_per_bank`, bytes; older nodes do not have it.
    pub bytes_per_bank: Option<u64>,
    /// Bytes over all banks of a chip.
    pub bytes: u64,
    /// Bytes of a page; 0 where the node does not say it.
    pub page_bytes: u64,
    /// Banks that have a part of it; 0 of those that are dealt out page by page.
    pub cores: u64,
    /// How it is laid out.
    pub layout: Option<BufferLayout>,
}

impl NodeBuffer {
    /// Bytes on the fullest of so many banks, also where the node does not say it: old ones do not, nor do frees.
    pub fn bytes_per_bank_of(&self, banks: u64) -> u64 {
        self.bytes_per_bank.unwrap_or_else(|| {
            let page = self.page_bytes.max(1);
            let banks = if self.cores > 0 { self.cores } else { banks.max(1) };
            self.bytes.div_ceil(page).div_ceil(banks).saturating_mul(page)
        })
    }
}

/// The program of a device operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenProgram {
    /// The innermost function at its beginning.
    pub device_operation: NameId,
    /// What stands for its function, factory and arguments: programs that differ in them have other keys.
    pub key: u128,
    /// Whether it came from the program cache, where the graph says so.
    pub is_cache_hit: Option<bool>,
    /// Whether it has nodes of scratch at all.
    pub is_recorded: bool,
    /// Its own scratch on one chip: what lies on no tensor.
    pub scratch: Vec<ScratchBuffer>,
}

/// A circular buffer, dataflow buffer or scratchpad.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ScratchBuffer {
    /// Its first byte on each core.
    pub address: u64,
    /// Bytes on each core.
    pub bytes: u64,
    /// The cores.
    pub cores: Vec<CoreRange>,
}

impl ScratchBuffer {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes)
    }
}

/// A rectangle of worker cores, both corners included.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct CoreRange {
    /// Its least x, y, and its greatest x, y.
    pub corners: [u32; 4],
}

impl CoreRange {
    /// Whether it has a core.
    pub fn contains(&self, x: u32, y: u32) -> bool {
        let [x0, y0, x1, y1] = self.corners;
        (x0..=x1).contains(&x) && (y0..=y1).contains(&y)
    }
}
