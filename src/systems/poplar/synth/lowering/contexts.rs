//! The debug contexts of a layer, from the framework to the PopLibs call, with what each software layer says of it.

use serde_json::{Value, json};

use super::{Lowering, poplar_context};
use crate::systems::poplar::synth::model::ModelContext;
use crate::systems::poplar::synth::network::{LayerKind, NetworkLayer};

fn as_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

impl Lowering<'_> {
    /// The chain of contexts from the framework to the PopLibs call, which it returns.
    pub(super) fn contexts_of(&mut self, layer: &NetworkLayer) -> u64 {
        let name = format!("model.{}", layer.name);
        let [input, weights, output] = self.shapes(layer);
        let module = layer.name.rsplit_once('.').map_or(&*layer.name, |(module, _)| module);
        let torch = self.context(ModelContext {
            layer: "poptorch",
            kind: ("op_type", layer.api().to_owned()),
            location: ("resnext.py", layer.line),
            says: vec![("torch_schema", json!(format!("aten::{}", layer.torch())))],
            ..poplar_context(0, "", &name)
        });
        let onnx = self.context(ModelContext {
            layer: "onnx",
            kind: ("opType", layer.onnx().to_owned()),
            location: ("poptorch/source/popart_compiler.cpp", 412),
            says: vec![
                ("category", json!("op")),
                ("input", json!([format!("{module}.input"), format!("{}.weight", layer.name)])),
                ("output", json!([format!("{}.output", layer.name)])),
                ("attribute", attributes(layer)),
            ],
            ..poplar_context(torch, "", &name)
        });
        let of_popart = if self.options.single_precision { "FLOAT" } else { "FLOAT16" };
        let element_type = |shape: &[u64]| json!({ "shape": as_text(shape), "type": of_popart });
        let popart = self.context(ModelContext {
            layer: "popart",
            kind: ("opid", format!("ai.onnx.{}:11", layer.onnx())),
            location: ("popart/willow/src/op.cpp", 1_031),
            says: vec![
                ("category", json!("op")),
                ("inputs", json!({ "0": element_type(&input) })),
                ("outputs", json!({ "0": element_type(&output) })),
                ("attributes", json!({ "recompute": "NO" })),
            ],
            ..poplar_context(onnx, "", &name)
        });
        let mut args = json!({ "in": self.operand(&input), "options": {} });
        if layer.is_planned() {
            args["weights"] = self.operand(&weights);
            args["options"] = json!({
                "availableMemoryProportion": self.options.proportion.to_string(),
                "partialsType": "float",
            });
        }
        if let LayerKind::Convolution { kernel, groups } = layer.kind {
            args["params"] = json!({ "kernelShape": [kernel, kernel], "numConvGroups": groups });
        }
        let file = match layer.kind {
            LayerKind::Convolution { .. } => "poplibs/lib/poplin/Convolution.cpp",
            LayerKind::MatMul => "poplibs/lib/poplin/MatMul.cpp",
            LayerKind::AddRelu | LayerKind::Pool => "poplibs/lib/popops/ElementWise.cpp",
        };
        self.context(ModelContext {
            layer: "poplibs",
            kind: ("api", layer.api().to_owned()),
            location: (file, 1_200),
            says: vec![("args", args), ("output", self.operand(&output))],
            ..poplar_context(popart, "", &layer.name)
        })
    }

    /// What PopLibs says of the sum of a layer's partial results.
    pub(super) fn reduction_says(&self, layer: &NetworkLayer) -> Vec<(&'static str, Value)> {
        let [.., output] = self.shapes(layer);
        let args = json!({
            "dims": [0],
            "in": { "shape": as_text(&output), "type": "float" },
            "options": {},
            "params": { "op": "ADD", "update": false, "useScale": false },
        });
        vec![("args", args), ("output", self.operand(&output))]
    }

    /// The type of the network's tensors, as Poplar writes it.
    pub(super) fn element_type(&self) -> &'static str {
        if self.options.single_precision { "float" } else { "half" }
    }

    /// A shape and a type, as PopLibs writes them.
    fn operand(&self, shape: &[u64]) -> Value {
        json!({ "shape": as_text(shape), "type": self.element_type() })
    }

    /// Shapes of input, weights and output, of all samples.
    pub(super) fn shapes(&self, layer: &NetworkLayer) -> [Vec<u64>; 3] {
        let [input, weights, output] = layer.shapes.clone();
        let of_batch = |shape: Vec<u64>| [vec![self.options.batch], shape].concat();
        [of_batch(input), weights, of_batch(output)]
    }
}

fn attributes(layer: &NetworkLayer) -> Value {
    match layer.kind {
        LayerKind::Convolution { kernel, groups } => {
            json!({ "group": groups, "kernel_shape": [kernel, kernel] })
        }
        _ => json!({}),
    }
}
