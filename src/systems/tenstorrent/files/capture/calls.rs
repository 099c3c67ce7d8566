//! The calls of a raw capture: functions that Python called, each a stretch of the list of nodes, with tensors in and out.
//!
//! The importer of TT-NN leaves out the same functions: those within others, those that make and free tensors between
//! calls, and weights that are loaded before the first operation.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

use super::node::{CallNode, CallParams};
use crate::format::json_pieces::PieceRange;
use crate::limits;
use crate::store::names::{FastMap, Interner, NameId};
use crate::systems::tenstorrent::files::calls::VALUE_BYTES;
use crate::systems::tenstorrent::files::node::{NodeValue, innermost};
use crate::systems::tenstorrent::recorded::{BufferKey, TensorPlacement, TensorRow};

/// What the names of functions begin with that are no calls of their own.
const NO_CALLS: [&str; 6] = [
    "ttnn::convert_python_tensor_to_tt_tensor",
    "tt::tt_metal::detail::convert_tt_tensor_to_framework_tensor",
    "Tensor::deallocate",
    "Tensor::to_device",
    "Tensor::reshape",
    "tt::tt_metal::to_dtype",
];
/// Loads weights, where it comes before all other calls.
const FROM_TORCH: &str = "ttnn.from_torch";

/// The calls so far.
#[derive(Debug, Default)]
pub struct CallScan {
    /// Those that began, in their order.
    pub calls: Vec<CapturedCall>,
    /// Tensors by the nodes that have them, with where these lie.
    pub tensors: FastMap<u64, (u64, PieceRange)>,
    /// The first node of each tensor.
    pub rows: FastMap<u64, CapturedTensor>,
    /// What `error` nodes say, with the place of the call that they stand in or behind.
    pub errors: Vec<CapturedError>,
    /// How many functions of each name began.
    begun: FastMap<NameId, usize>,
    /// Where the last node ends that was taken in.
    last_end: u64,
    open: Vec<OpenCall>,
    is_within_call: bool,
    has_computed: bool,
}

/// A call.
#[derive(Debug)]
pub struct CapturedCall {
    pub name: NameId,
    /// How many functions of its name began before it.
    pub before: usize,
    /// The node that begins it, and the one that ends it.
    pub counters: [u64; 2],
    /// Where its nodes lie, the first and the last included.
    pub nodes: PieceRange,
    pub nanoseconds: Option<u64>,
    /// Names with values of arguments, from the node.
    pub arguments: Vec<(NameId, NameId)>,
    /// Nodes of tensors that it takes and gives, and those of functions within it.
    pub own: [Vec<u64>; 2],
    pub within: Vec<[Vec<u64>; 2]>,
    /// Whether it came to its end.
    pub has_ended: bool,
    /// Whether it ended by an exception.
    pub is_aborted: bool,
}

/// A tensor, as its first node has it.
#[derive(Clone, Copy, Debug)]
pub struct CapturedTensor {
    pub row: TensorRow,
    pub is_on_device: bool,
    /// The chips that have a part of it; 0 where the node does not say it.
    pub chips: u64,
}

/// What an `error` node says.
#[derive(Debug)]
pub struct CapturedError {
    pub call: Option<usize>,
    pub operation: String,
    pub kind: String,
    pub message: String,
}

/// A function that has begun.
#[derive(Debug)]
struct OpenCall {
    name: NameId,
    is_call: bool,
    inputs: Vec<u64>,
}

impl CallScan {
    /// Takes a node in that lies somewhere in the file.
    pub fn add(&mut self, node: CallNode<'_>, place: PieceRange, names: &mut Interner) {
        let CallNode { counter, node_type, params, connections, input_tensors, .. } = node;
        let (counter, params) = (counter.number().unwrap_or(0), params.unwrap_or_default());
        match node_type.text() {
            "function_start" => {
                let name = names.intern(&limits::cut(params.name.text(), limits::NAME_BYTES));
                let begun = self.begun.entry(name).or_default();
                let before = *begun;
                *begun = begun.saturating_add(1);
                let inputs = numbers(&input_tensors);
                let is_call = self.is_call(params.name.text());
                if is_call {
                    self.is_within_call = true;
                    self.calls.push(CapturedCall {
                        name,
                        before,
                        counters: [counter, counter],
                        nodes: place,
                        nanoseconds: None,
                        arguments: arguments(node.arguments.unwrap_or_default(), names),
                        own: [inputs.clone(), Vec::new()],
                        within: Vec::new(),
                        has_ended: false,
                        is_aborted: false,
                    });
                }
                self.open.push(OpenCall { name, is_call, inputs });
            }
            "function_end" => {
                let name = names.find(&limits::cut(params.name.text(), limits::NAME_BYTES));
                let is_aborted = params.aborted.flag() == Some(true);
                self.end(name, numbers(&connections), is_aborted);
                if !self.is_within_call
                    && let Some(call) = self.calls.last_mut().filter(|call| !call.has_ended)
                {
                    call.has_ended = true;
                    call.counters[1] = counter;
                    call.nodes.end = place.end;
                    call.nanoseconds = node.duration_ns.number();
                }
            }
            "error" => self.error(&params),
            _ => {}
        }
    }

    /// Takes a node of a tensor in, which lies in a buffer if it says in which.
    pub fn add_tensor(
        &mut self,
        node: &CallNode<'_>,
        place: PieceRange,
        key: Option<BufferKey>,
        names: &mut Interner,
    ) {
        let (Some(counter), Some(params)) = (node.counter.number(), &node.params) else { return };
        let Some(tensor) = params.tensor_id.number() else { return };
        self.tensors.insert(counter, (tensor, place));
        if self.rows.contains_key(&tensor) {
            return;
        }
        let parts: Vec<IgnoredAny> =
            serde_json::from_str(params.device_tensors.text()).unwrap_or_default();
        let mut word = |value: &NodeValue<'_>| {
            let text = limits::cut(value.text(), limits::NAME_BYTES).replace("::", ".");
            names.intern(&text)
        };
        let row = TensorRow {
            shape: word(&params.shape),
            data_type: word(&params.dtype),
            page_layout: word(&params.layout),
            placement: TensorPlacement::of_config(params.memory_config.text()),
            key,
            has_memory_config: !params.memory_config.text().is_empty(),
        };
        let is_on_device = params.device_id != NodeValue::Absent;
        let chips = parts.len() as u64;
        self.rows.insert(tensor, CapturedTensor { row, is_on_device, chips });
    }

    /// A node lies in the file up to here.
    pub fn pass(&mut self, end: u64) {
        self.last_end = end;
    }

    /// To be called when the list is at its end, or read no further: what has not ended goes on to there.
    pub fn finish(&mut self) {
        if let Some(call) = self.calls.last_mut().filter(|call| !call.has_ended) {
            call.nodes.end = self.last_end.max(call.nodes.end);
        }
    }

    /// The place of the call that nodes belong to now; `None` between calls.
    pub fn current(&self) -> Option<usize> {
        self.calls.len().checked_sub(1).filter(|_| self.is_within_call)
    }

    /// The tensors of nodes.
    pub fn tensors_of(&self, nodes: &[u64]) -> impl Iterator<Item = u64> {
        nodes.iter().filter_map(|node| self.tensors.get(node)).map(|(tensor, _)| *tensor)
    }

    fn is_call(&mut self, name: &str) -> bool {
        if self.is_within_call || NO_CALLS.iter().any(|start| name.starts_with(start)) {
            return false;
        }
        self.has_computed |= name != FROM_TORCH;
        self.has_computed
    }

    /// A function has ended; one that failed may lack its end, and then ends with the one around it.
    fn end(&mut self, name: NameId, outputs: Vec<u64>, is_aborted: bool) {
        let found = innermost(&self.open, |function| function.name == name);
        let Some(place) = found else { return };
        let mut ended = self.open.drain(place..);
        let Some(first) = ended.next() else { return };
        let has_call_ended = first.is_call || ended.any(|function| function.is_call);
        drop(ended);
        let Some(call) = self.calls.last_mut().filter(|_| self.is_within_call) else { return };
        if has_call_ended {
            self.is_within_call = false;
            call.is_aborted = is_aborted;
            call.own[1] = outputs;
        } else {
            call.within.push([first.inputs, outputs]);
        }
    }

    fn error(&mut self, params: &CallParams<'_>) {
        self.errors.push(CapturedError {
            call: self.calls.len().checked_sub(1),
            operation: params.error_operation.text().to_owned(),
            kind: params.error_type.text().to_owned(),
            message: params.error_message.text().to_owned(),
        });
    }
}

impl CapturedCall {
    /// The tensors that it takes, as far as its nodes say; else those that functions within it take and none of them
    /// makes.
    pub fn inputs(&self, scan: &CallScan) -> Vec<u64> {
        let [own, _] = &self.own;
        let direct: Vec<u64> = scan.tensors_of(own).collect();
        if !direct.is_empty() {
            return direct;
        }
        let WithinCall { taken, new, .. } = self.within(scan);
        once_each(taken.into_iter().filter(|tensor| !new.contains(tensor)))
    }

    /// The tensors that it gives, likewise: those that functions within it make and none of them takes.
    pub fn outputs(&self, scan: &CallScan) -> Vec<u64> {
        let [_, own] = &self.own;
        let direct: Vec<u64> = scan.tensors_of(own).collect();
        if !direct.is_empty() {
            return direct;
        }
        let WithinCall { taken, made, new } = self.within(scan);
        let taken: BTreeSet<u64> =
            taken.into_iter().filter(|tensor| new.contains(tensor)).collect();
        once_each(made.into_iter().filter(|tensor| !taken.contains(tensor)))
    }

    /// Nodes of the tensors that it gives.
    pub fn output_nodes(&self) -> &[u64] {
        &self.own[1]
    }

    fn within(&self, scan: &CallScan) -> WithinCall {
        let mut found = WithinCall::default();
        for [inputs, outputs] in &self.within {
            let inputs: BTreeSet<u64> = scan.tensors_of(inputs).collect();
            let outputs: Vec<u64> = scan.tensors_of(outputs).collect();
            found.new.extend(outputs.iter().filter(|tensor| !inputs.contains(tensor)));
            found.made.extend(outputs);
            found.taken.extend(inputs);
        }
        found
    }
}

/// The tensors of the functions within a call.
#[derive(Debug, Default)]
struct WithinCall {
    taken: Vec<u64>,
    made: Vec<u64>,
    /// Those that a function makes and does not take: others it changes in place.
    new: BTreeSet<u64>,
}

fn once_each(tensors: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    tensors.filter(|tensor| seen.insert(*tensor)).collect()
}

fn numbers(values: &[NodeValue<'_>]) -> Vec<u64> {
    values.iter().filter_map(NodeValue::number).collect()
}

/// Arguments that have no names in a node.
fn arguments(text: &str, names: &mut Interner) -> Vec<(NameId, NameId)> {
    let values: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    let named = values.iter().enumerate().map(|(place, value)| {
        let name = names.intern(&format!("arg_{place}"));
        (name, names.intern(&limits::cut(value, VALUE_BYTES)))
    });
    named.collect()
}
