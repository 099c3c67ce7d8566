//! The graph of an operation, as TT-NN captures it: a list of nodes in JSON.

use serde_json::{Value, json};

use super::capture::DraftTensor;
use super::chip::{FLOOR, MESH, PAGE_BYTES, all_cores};

/// A graph that grows.
#[derive(Debug)]
pub struct DraftGraph {
    nodes: Vec<Value>,
    /// Whether tensors say where they are stored, and programs whether they come from the cache.
    is_newest: bool,
}

impl DraftGraph {
    /// With its first node.
    pub fn new(is_newest: bool) -> Self {
        let mut graph = Self { nodes: Vec::new(), is_newest };
        graph.add("capture_start", &Value::Null, &[]);
        graph
    }

    fn add(&mut self, kind: &str, params: &Value, connections: &[usize]) -> usize {
        let counter = self.nodes.len();
        self.nodes.push(json!({
            "arguments": [], "connections": connections, "counter": counter, "id": counter,
            "input_tensors": [], "node_type": kind, "params": params, "stacking_level": 1,
        }));
        counter
    }

    /// A function begins.
    pub fn start(&mut self, name: &str, inputs: &[&DraftTensor], arguments: &[String]) -> usize {
        let inputs: Vec<usize> = inputs.iter().map(|tensor| self.tensor(tensor)).collect();
        let params = json!({"inputs": inputs.len().to_string(), "name": name});
        let at = self.add("function_start", &params, &[]);
        self.nodes[at]["input_tensors"] = json!(inputs);
        self.nodes[at]["arguments"] = json!(arguments);
        at
    }

    /// It ends, and gives these tensors.
    pub fn end(&mut self, name: &str, outputs: &[DraftTensor], nanoseconds: u64) {
        let at = self.add("function_end", &json!({ "name": name }), &[]);
        self.nodes[at]["duration_ns"] = json!(nanoseconds);
        let outputs: Vec<usize> = outputs.iter().map(|tensor| self.tensor(tensor)).collect();
        self.nodes[at]["connections"] = json!(outputs);
    }

    fn tensor(&mut self, tensor: &DraftTensor) -> usize {
        let shape = tensor.shape_text();
        let mut params = json!({
            "address": tensor.address, "buffer_type": tensor.place.code(), "device_id": MESH,
            "device_tensors": format!(r#"[{{"address":{},"device_id":0,"mesh_device_id":{MESH}}}]"#, tensor.address),
            "dtype": "DataType::BFLOAT16", "layout": "Layout::TILE", "memory_config": tensor.memory_config(),
            "shape": shape, "size": tensor.bytes(), "tensor_id": tensor.id,
        });
        if self.is_newest {
            params["storage_type"] = json!("DEVICE");
        }
        self.add("tensor", &params, &[])
    }

    /// A buffer is allocated for a tensor.
    pub fn allocate(&mut self, tensor: &DraftTensor) {
        let create = "tt::tt_metal::create_device_tensor";
        let arguments = [tensor.shape_text(), tensor.memory_config()];
        self.start(create, &[], &arguments);
        let params = json!({
            "buffer_type": tensor.place.code(), "device_id": MESH, "layout": "INTERLEAVED",
            "size": tensor.bytes(), "type": tensor.place.word(),
        });
        let buffer = self.add("buffer", &params, &[]);
        self.buffer("buffer_allocate", tensor, &[buffer]);
        self.end(create, std::slice::from_ref(tensor), 20_000);
    }

    /// It is freed.
    pub fn free(&mut self, tensor: &DraftTensor) {
        let name = "Tensor::deallocate";
        self.start(name, &[tensor], &[]);
        self.buffer("buffer_deallocate", tensor, &[]);
        self.end(name, &[], 10_000);
    }

    fn buffer(&mut self, kind: &str, tensor: &DraftTensor, connections: &[usize]) {
        let params = json!({
            "address": tensor.address, "buffer_type": tensor.place.code(), "device_id": MESH, "layout": "INTERLEAVED",
            "max_size_per_bank": tensor.bytes_per_bank(), "num_cores": 0, "page_size": PAGE_BYTES,
            "size": tensor.bytes(), "type": tensor.place.word(),
        });
        self.add(kind, &params, connections);
    }

    /// The function that began at a node runs a program with circular buffers of these bytes on each core, which only a
    /// program that is built records.
    pub fn program(&mut self, function: usize, circular_buffers: &[u64], is_cache_hit: bool) {
        self.add("circular_buffer_deallocate_all", &json!({ "device_id": MESH }), &[function]);
        if self.is_newest {
            self.nodes[function]["params"]["program_cache_hit"] = json!(is_cache_hit);
        }
        if is_cache_hit {
            return;
        }
        let cores = format!("{{{}}}", all_cores());
        let mut address = FLOOR;
        for bytes in circular_buffers {
            let params = json!({
                "address": address, "core_range_set": cores, "device_id": 0, "globally_allocated": "0", "size": bytes,
            });
            self.add("circular_buffer_allocate", &params, &[]);
            address += bytes;
        }
    }

    /// The text, with its last node.
    pub fn finish(mut self) -> String {
        self.add("capture_end", &Value::Null, &[]);
        Value::Array(self.nodes).to_string()
    }
}
