//! A node of a raw capture, as far as it says what was called and which tensors there are. What it says of memory is read
//! with the graph of its operation.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::systems::tenstorrent::files::node::NodeValue;

/// A node.
#[derive(Debug, Deserialize)]
pub struct CallNode<'a> {
    /// Its number within the capture.
    #[serde(borrow, default)]
    pub counter: NodeValue<'a>,
    /// What it is.
    #[serde(borrow, default)]
    pub node_type: NodeValue<'a>,
    /// What it says.
    #[serde(borrow, default)]
    pub params: Option<CallParams<'a>>,
    /// Nodes that it is connected with: of the end of a function its results.
    #[serde(borrow, default)]
    pub connections: Vec<NodeValue<'a>>,
    /// Nodes of the tensors that a function takes.
    #[serde(borrow, default)]
    pub input_tensors: Vec<NodeValue<'a>>,
    /// What a function was called with.
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    /// Host time of a function that ended.
    #[serde(borrow, default)]
    pub duration_ns: NodeValue<'a>,
}

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
