//! The graphs of operations: JSON that is read node by node, one operation at a time, down to what it says of memory.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use twox_hash::XxHash3_128;

use super::core_ranges::core_ranges;
use super::node::{GraphNode, NodeParams, NodeValue, innermost};
use super::plain_nodes;
use crate::limits;
use crate::store::names::{FastMap, Interner};
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferLayout, BufferSpace, GraphEvent, NodeBuffer, OperationGraph, ScratchBuffer,
    SeenProgram,
};

/// Buffers of scratch of a program: a core has up to 64, and a program few groups of cores.
const MOST_SCRATCH: usize = 4096;
/// Chips of a mesh whose scratch of a program is told apart.
const MOST_CHIPS: usize = 1024;
/// Views of a graph: an operation makes few.
const MOST_VIEWS: usize = 65_536;
/// The function that makes views.
const RESHAPE: &str = "Tensor::reshape";

/// What a graph says of memory, and how many of its buffers are left out.
///
/// # Errors
/// When it is no list of nodes.
pub fn parse(text: &str, names: &mut Interner) -> Result<(OperationGraph, u64), serde_json::Error> {
    parse_after(text, names, &mut FastMap::default())
}

/// The same of a graph whose nodes may name tensors of graphs before it, to which those of its own are added.
///
/// # Errors
/// When it is no list of nodes.
pub fn parse_after(
    text: &str,
    names: &mut Interner,
    tensors: &mut TensorsOfNodes,
) -> Result<(OperationGraph, u64), serde_json::Error> {
    let mut nodes = Nodes::new(names, tensors);
    if plain_nodes::read(text, |node| nodes.add(node)).is_some() {
        let left_out = nodes.left_out;
        return Ok((nodes.finish(), left_out));
    }
    // What was added to names and tensors is added again.
    let mut nodes = Nodes::new(nodes.names, nodes.tensors);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(NodeVisitor(&mut nodes))?;
    deserializer.end()?;
    let left_out = nodes.left_out;
    Ok((nodes.finish(), left_out))
}

/// The tensors of nodes, and whether these say where they lie.
pub type TensorsOfNodes = FastMap<u64, (u64, bool)>;

struct NodeVisitor<'n, 'a, 'i>(&'n mut Nodes<'a, 'i>);

impl<'de: 'a, 'a> Visitor<'de> for NodeVisitor<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(mut node) = list.next_element::<GraphNode<'_>>()? {
            self.0.add(&mut node);
        }
        Ok(())
    }
}

/// The nodes so far.
struct Nodes<'a, 'i> {
    graph: OperationGraph,
    names: &'i mut Interner,
    open: Vec<OpenFunction<'a>>,
    tensors: &'i mut TensorsOfNodes,
    /// Nodes of what views were made from, and of what they may be.
    reshapes: Vec<(Vec<u64>, Vec<u64>)>,
    program: Option<OpenProgram>,
    /// Nodes of buffers whose space, address or size no machine has.
    left_out: u64,
}

/// The last program, whose nodes come.
struct OpenProgram {
    /// The place of its event.
    place: usize,
    /// Its scratch by chip: most meshes have the same on all of them.
    chips: Vec<(u64, Vec<ScratchBuffer>)>,
}

impl OpenProgram {
    /// The scratch of the chip on which it reaches highest, the first of equals.
    fn highest(self) -> Vec<ScratchBuffer> {
        let end = |of: &[ScratchBuffer]| of.iter().map(ScratchBuffer::end).max();
        let chips = self.chips.into_iter().map(|(_, scratch)| scratch);
        let highest = chips.reduce(|one, other| if end(&other) > end(&one) { other } else { one });
        highest.unwrap_or_default()
    }
}

/// A function that has begun.
struct OpenFunction<'a> {
    name: NodeValue<'a>,
    factory_type: NodeValue<'a>,
    factory_index: Option<u64>,
    is_cache_hit: Option<bool>,
    arguments: &'a str,
    inputs: Vec<u64>,
}

impl<'a, 'i> Nodes<'a, 'i> {
    fn new(names: &'i mut Interner, tensors: &'i mut TensorsOfNodes) -> Self {
        Self {
            graph: OperationGraph::default(),
            names,
            open: Vec::new(),
            tensors,
            reshapes: Vec::new(),
            program: None,
            left_out: 0,
        }
    }

    fn add(&mut self, node: &mut GraphNode<'a>) {
        let params = node.params.get_or_insert_default();
        match node.node_type.text() {
            "function_start" => {
                let function = OpenFunction {
                    name: std::mem::take(&mut params.name),
                    factory_type: std::mem::take(&mut params.program_factory_type),
                    factory_index: params.program_factory_index.number(),
                    is_cache_hit: params.program_cache_hit.flag(),
                    arguments: node.arguments.unwrap_or_default(),
                    inputs: counters(&node.input_tensors),
                };
                self.open.push(function);
            }
            "function_end" => self.end(params.name.text(), &node.connections),
            "buffer_allocate" => self.buffer(params, GraphEvent::Allocate),
            "buffer_deallocate" => self.buffer(params, GraphEvent::Free),
            "tensor" => self.tensor(params, node.counter.number()),
            "circular_buffer_deallocate_all" => self.begin_program(),
            "circular_buffer_allocate" => {
                let count = &mut self.graph.circular_buffer_nodes;
                *count = count.saturating_add(1);
                self.scratch(params, params.globally_allocated.flag() == Some(true));
            }
            "dataflow_buffer_allocate" => {
                let count = &mut self.graph.dataflow_buffer_nodes;
                *count = count.saturating_add(1);
                self.scratch(params, params.borrows_memory.flag() == Some(true));
            }
            "scratchpad_allocate" => {
                let count = &mut self.graph.scratchpad_nodes;
                *count = count.saturating_add(1);
                self.scratch(params, false);
            }
            _ => {}
        }
    }

    /// A function has ended; one that failed may lack its end, and then ends with the one around it.
    fn end(&mut self, name: &str, connections: &[NodeValue<'_>]) {
        let found = innermost(&self.open, |function| function.name.text() == name);
        let Some(place) = found else { return };
        let ended = self.open.drain(place..).next();
        if let Some(ended) = ended.filter(|_| name == RESHAPE) {
            self.reshapes.push((ended.inputs, counters(connections)));
        }
    }

    fn buffer(&mut self, params: &NodeParams<'_>, event: impl FnOnce(NodeBuffer) -> GraphEvent) {
        match buffer_of(params) {
            Some(node) => self.graph.events.push(event(node)),
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    fn tensor(&mut self, params: &NodeParams<'_>, counter: Option<u64>) {
        let Some(tensor) = params.tensor_id.number() else { return };
        let key = key_of(params);
        if let Some(counter) = counter {
            self.tensors.insert(counter, (tensor, key.is_some()));
        }
        let shape = self.names.intern(&limits::cut(params.shape.text(), limits::NAME_BYTES));
        self.graph.events.push(GraphEvent::Tensor { tensor, key, shape });
    }

    fn begin_program(&mut self) {
        let function = self.open.last();
        let name = function.map_or("", |function| function.name.text());
        let key = function.map_or(0, key_of_program);
        let is_cache_hit = function.and_then(|function| function.is_cache_hit);
        let device_operation = self.names.intern(&limits::cut(name, limits::NAME_BYTES));
        self.end_program();
        self.program = Some(OpenProgram { place: self.graph.events.len(), chips: Vec::new() });
        self.graph.events.push(GraphEvent::Program(SeenProgram {
            device_operation,
            key,
            is_cache_hit,
            is_recorded: false,
            scratch: Vec::new(),
        }));
    }

    /// The nodes of the last program have come.
    fn end_program(&mut self) {
        let Some(ended) = self.program.take() else { return };
        if let Some(GraphEvent::Program(program)) = self.graph.events.get_mut(ended.place) {
            program.scratch = ended.highest();
        }
    }

    /// A node of scratch belongs to the program before it, on a chip.
    fn scratch(&mut self, params: &NodeParams<'_>, is_on_tensor: bool) {
        if is_on_tensor {
            self.graph.on_tensor_nodes = self.graph.on_tensor_nodes.saturating_add(1);
        }
        let Some(OpenProgram { place, chips }) = &mut self.program else { return };
        let Some(GraphEvent::Program(program)) = self.graph.events.get_mut(*place) else { return };
        program.is_recorded = true;
        let (Some(address), Some(bytes)) = (params.address.size(), params.size.size()) else {
            return;
        };
        // One without a number is of the first chip.
        let first = chips.first().map_or(0, |(chip, _)| *chip);
        let chip = params.device_id.number().unwrap_or(first);
        if is_on_tensor || chips.len() >= MOST_CHIPS {
            return;
        }
        let known = chips.iter().position(|(other, _)| *other == chip);
        if known.is_none() {
            chips.push((chip, Vec::new()));
        }
        let at = known.unwrap_or(chips.len().saturating_sub(1));
        if let Some((_, scratch)) = chips.get_mut(at).filter(|(_, of)| of.len() < MOST_SCRATCH) {
            let cores = core_ranges(params.core_range_set.text());
            scratch.push(ScratchBuffer { address, bytes, cores });
        }
    }

    fn finish(mut self) -> OperationGraph {
        self.end_program();
        let tensor = |counter: &u64| self.tensors.get(counter).copied();
        let mut views = BTreeSet::new();
        for (inputs, outputs) in &self.reshapes {
            for (to, _) in outputs.iter().filter_map(tensor).filter(|(_, has_place)| !has_place) {
                let from = inputs.iter().filter_map(tensor).map(|(from, _)| (from, to));
                views.extend(from.take(MOST_VIEWS.saturating_sub(views.len())));
            }
        }
        let views = views.into_iter().map(|(from, to)| GraphEvent::View { from, to });
        self.graph.events.extend(views);
        self.graph
    }
}

/// The buffer of a node; `None` without a space, an address or a size that a machine can have.
pub(super) fn buffer_of(params: &NodeParams<'_>) -> Option<NodeBuffer> {
    Some(NodeBuffer {
        key: key_of(params)?,
        bytes: params.size.size()?,
        bytes_per_bank: params.max_size_per_bank.size(),
        page_bytes: params.page_size.size().unwrap_or(0),
        cores: params.num_cores.size().unwrap_or(0),
        layout: BufferLayout::of_word(params.layout.text()),
    })
}

pub(super) fn key_of(params: &NodeParams<'_>) -> Option<BufferKey> {
    let address = params.address.size()?;
    let space = match params.buffer_type.number() {
        Some(code) => BufferSpace::of_code(code)?,
        None => {
            let word = params.buffer_type.text().rsplit("::").next().unwrap_or_default();
            let is_said = !word.is_empty();
            BufferSpace::of_word(if is_said { word } else { params.space.text() })?
        }
    };
    Some(BufferKey { space, address })
}

/// The numbers of other nodes.
fn counters(list: &[NodeValue<'_>]) -> Vec<u64> {
    list.iter().filter_map(NodeValue::number).collect()
}

/// What stands for the program of a function: its name, factory and arguments, without the pointers in these.
fn key_of_program(function: &OpenFunction<'_>) -> u128 {
    let mut hash = XxHash3_128::new();
    for part in [function.name.text(), function.factory_type.text()] {
        hash.write(part.as_bytes());
        hash.write(&[0]);
    }
    hash.write(&function.factory_index.unwrap_or(u64::MAX).to_le_bytes());
    let mut pieces = function.arguments.split("0x");
    hash.write(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        hash.write(piece.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()).as_bytes());
    }
    hash.finish_128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(nodes: &[&str]) -> OperationGraph {
        parse(&format!("[{}]", nodes.join(",")), &mut Interner::default()).unwrap().0
    }

    const START: &str = r#"{"node_type": "function_start", "params": {"name": "MatmulDeviceOperation", "program_cache_hit": true},
        "arguments": ["at 0x55a9", "8"]}"#;

    #[test]
    fn a_program_has_the_scratch_of_one_chip_that_lies_on_no_tensor() {
        let scratch = |address: u64, on_tensor: u8, chip: u8| {
            format!(
                r#"{{"node_type": "circular_buffer_allocate", "params": {{"address": {address}, "size": "32",
                    "core_range_set": "{{[0-0 - 1-0]}}", "globally_allocated": "{on_tensor}", "device_id": {chip}}}}}"#
            )
        };
        let all = r#"{"node_type": "circular_buffer_deallocate_all", "params": {"device_id": 1}}"#;
        let of = [(64, 0, 0), (64, 0, 1), (900, 1, 0)].map(|(a, t, c)| scratch(a, t, c));
        let graph = parsed(&[START, all, &of[0], &of[1], &of[2]]);
        assert_eq!((graph.circular_buffer_nodes, graph.on_tensor_nodes), (3, 1));
        let [GraphEvent::Program(program)] = &*graph.events else { panic!("{:?}", graph.events) };
        assert_eq!((program.is_cache_hit, program.is_recorded), (Some(true), true));
        let ends = |program: &SeenProgram| -> Vec<u64> {
            program.scratch.iter().map(ScratchBuffer::end).collect()
        };
        assert_eq!(ends(program), [96]);
        let of = [(64, 0), (64, 1), (100, 1), (80, 0)].map(|(a, chip)| scratch(a, 0, chip));
        let graph = parsed(&[START, all, &of[0], &of[1], &of[2], &of[3]]);
        let [GraphEvent::Program(program)] = &*graph.events else { panic!("{:?}", graph.events) };
        assert_eq!(ends(program), [96, 132], "the chip on which it reaches highest");
        let other = START.replace("0x55a9", "0x1");
        let key = |start: &str| match &*parsed(&[start, all]).events {
            [GraphEvent::Program(program)] => program.key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key(START), key(&other), "pointers tell nothing");
        assert_ne!(key(START), key(&START.replace("\"8\"", "\"9\"")));
    }

    #[test]
    fn views_are_tensors_without_a_place_that_reshape_makes() {
        let graph = parsed(&[
            r#"{"node_type": "function_start", "params": {"name": "Tensor::reshape"}, "input_tensors": [1], "counter": 0}"#,
            r#"{"node_type": "tensor", "params": {"tensor_id": 7, "address": 64, "buffer_type": 1}, "counter": 1}"#,
            r#"{"node_type": "function_end", "params": {"name": "Tensor::reshape"}, "connections": [3, 99], "counter": 2}"#,
            r#"{"node_type": "tensor", "params": {"tensor_id": 8, "buffer_type": 1}, "counter": 3}"#,
        ]);
        assert_eq!(graph.events.last(), Some(&GraphEvent::View { from: 7, to: 8 }));
    }

    #[test]
    fn hostile_graphs_are_refused_or_bounded() {
        let mut names = Interner::default();
        for text in ["", "{}", "[1]", "[{]", "[{\"params\": 3}]"] {
            assert!(parse(text, &mut names).is_err(), "{text}");
        }
        let deep = format!("[{{\"params\": {}", "[".repeat(100_000));
        assert!(parse(&deep, &mut names).is_err());
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        // Nobody goes into what is no value of its kind, or is kept as it stands.
        for key in ["counter", "arguments"] {
            let passed = format!("[{{\"{key}\": {open}{close}}}]");
            assert!(parse(&passed, &mut names).is_ok(), "{key}");
        }
        let absurd = r#"[{"node_type": "buffer_allocate", "params": {"address": 18446744073709551615, "size": -4, "buffer_type": 1}}]"#;
        let (graph, left_out) = parse(absurd, &mut names).unwrap();
        assert_eq!((graph.events, left_out), (Vec::new(), 1));
    }
}
