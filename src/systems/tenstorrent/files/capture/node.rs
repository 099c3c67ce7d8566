//! A node of a raw capture, as far as it says what was called and which tensors there are. What it says of memory is read
//! with the graph of its operation.

use serde::Deserialize;

use crate::systems::tenstorrent::files::node::{GraphNode, NodeValue};

/// A node.
pub type CallNode<'a> = GraphNode<'a, CallParams<'a>>;

/// What nodes of functions, tensors and errors say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallParams<'a> {
    #[serde(borrow)]
    pub name: NodeValue<'a>,
    /// Whether a function ended by an exception.
    #[serde(borrow)]
    pub aborted: NodeValue<'a>,
    #[serde(borrow)]
    pub tensor_id: NodeValue<'a>,
    #[serde(borrow)]
    pub shape: NodeValue<'a>,
    #[serde(borrow)]
    pub dtype: NodeValue<'a>,
    #[serde(borrow)]
    pub layout: NodeValue<'a>,
    #[serde(borrow)]
    pub memory_config: NodeValue<'a>,
    #[serde(borrow)]
    pub device_id: NodeValue<'a>,
    /// The parts of a tensor on the chips of a mesh, as a text of JSON.
    #[serde(borrow)]
    pub device_tensors: NodeValue<'a>,
    #[serde(borrow)]
    pub error_type: NodeValue<'a>,
    #[serde(borrow)]
    pub error_message: NodeValue<'a>,
    #[serde(borrow)]
    pub error_operation: NodeValue<'a>,
}
