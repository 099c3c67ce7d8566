//! How techniques are spelled in the frameworks (docs/advice.md, Techniques).

use serde::Serialize;

/// A framework, or PopLibs and Poplar themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Framework {
    /// PyTorch on IPUs.
    PopTorch,
    /// TensorFlow on IPUs.
    TensorFlow,
    #[serde(rename = "PopART")]
    PopArt,
    /// Poplar and PopLibs.
    Poplar,
}

impl Framework {
    pub fn title(self) -> &'static str {
        match self {
            Self::PopTorch => "PopTorch",
            Self::TensorFlow => "TensorFlow",
            Self::PopArt => "PopART",
            Self::Poplar => "Poplar",
        }
    }
}

/// How it is done in one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct How {
    pub framework: Framework,
    /// What to write.
    pub text: String,
}

fn list<const N: usize>(ways: [(Framework, &str); N]) -> Vec<How> {
    ways.into_iter().map(|(framework, text)| How { framework, text: text.to_owned() }).collect()
}

use Framework::{PopArt, PopTorch, Poplar, TensorFlow};

/// The proportion, as text: of some IPUs, or of one operation.
pub fn proportion(value: &str, ipus: &[u32]) -> Vec<How> {
    let of_ipus: Vec<String> = ipus.iter().map(|ipu| format!("\"IPU{ipu}\": {value}")).collect();
    let how = |framework, text| How { framework, text };
    vec![
        how(
            PopTorch,
            format!(
                "opts.setAvailableMemoryProportion({{{}}}), or of one operation \
                 poptorch.set_available_memory(out, {value})",
                of_ipus.join(", ")
            ),
        ),
        how(
            TensorFlow,
            format!(
                "cfg.convolutions.poplar_options[\"availableMemoryProportion\"] = \"{value}\", the same of \
                 cfg.matmuls; of single stages of a pipeline forward_propagation_stages_poplar_options"
            ),
        ),
        how(PopArt, format!("builder.setAvailableMemoryProportion({{tensor}}, {value})")),
        how(Poplar, format!("PopLibs option availableMemoryProportion = {value}")),
    ]
}

pub fn half_partials() -> Vec<How> {
    list([
        (PopTorch, "opts.Precision.setPartialsType(torch.half)"),
        (
            TensorFlow,
            "cfg.convolutions.poplar_options[\"partialsType\"] = \"half\", the same of cfg.matmuls",
        ),
        (
            PopArt,
            "opts.partialsTypeMatMuls = \"half\", opts.convolutionOptions = {\"partialsType\": \"half\"}",
        ),
        (Poplar, "PopLibs option partialsType = half"),
    ])
}

pub fn smaller_batch() -> Vec<How> {
    list([
        (
            PopTorch,
            "batch_size of poptorch.DataLoader; in training opts.Training.gradientAccumulation(n) keeps \
             the batch of the optimiser",
        ),
        (
            TensorFlow,
            "the data set's batch(n); in training gradient_accumulation_steps_per_replica=n keeps the \
             batch of the optimiser",
        ),
        (PopArt, "the shape of the inputs; in training opts.accumulationFactor = n"),
        (Poplar, "the shape of the input tensors"),
    ])
}

/// Activations computed again.
pub fn recomputation() -> Vec<How> {
    list([
        (PopTorch, "poptorch.recomputationCheckpoint(x)"),
        (TensorFlow, "cfg.allow_recompute = True"),
        (PopArt, "opts.autoRecomputation = popart.RecomputationType.Standard"),
        (Poplar, "run the forward programs again in the backward pass"),
    ])
}

/// Optimiser state off the chip.
pub fn offloading() -> Vec<How> {
    list([
        (
            PopTorch,
            "opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
             .useOnChipStorage(False))",
        ),
        (TensorFlow, "offload_weight_update_variables=True"),
        (
            PopArt,
            "opts.optimizerStateTensorLocationSettings.location.storage = popart.TensorStorage.OffChip",
        ),
        (Poplar, "graph.addRemoteBuffer, with copies around the update"),
    ])
}

/// Another optimiser.
pub fn less_state() -> Vec<How> {
    list([
        (PopTorch, "poptorch.optim.SGD(…, momentum=…) in place of poptorch.optim.Adam"),
        (TensorFlow, "tf.keras.optimizers.SGD(momentum=…) in place of Adam"),
        (PopArt, "popart.SGD in place of popart.Adam"),
        (Poplar, "an update without the second moment"),
    ])
}

/// Optimiser state shared by replicas.
pub fn sharding() -> Vec<How> {
    list([
        (
            PopTorch,
            "opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
             .useReplicatedTensorSharding(True))",
        ),
        (TensorFlow, "replicated_optimizer_state_sharding=True"),
        (
            PopArt,
            "opts.optimizerStateTensorLocationSettings.location.replicatedTensorSharding = \
             popart.ReplicatedTensorSharding.On",
        ),
        (Poplar, "keep a part on each replica and gather it with a collective (GCL)"),
    ])
}

/// Code that is shared by equal parts.
pub fn outlining() -> Vec<How> {
    list([
        (PopTorch, "opts._Popart.set(\"enableOutlining\", True), a lower \"outlineThreshold\""),
        (TensorFlow, "ipu.outlined_function"),
        (PopArt, "opts.enableOutlining = True, a lower opts.outlineThreshold"),
        (Poplar, "graph.addFunction and Call; Repeat in place of a repeated program"),
    ])
}

/// Where the model is split between IPUs.
pub fn split_points() -> Vec<How> {
    list([
        (PopTorch, "poptorch.BeginBlock(layer, ipu_id=1)"),
        (TensorFlow, "ipu.keras.PipelineStage(1)"),
        (PopArt, "builder.virtualGraph(1)"),
        (Poplar, "graph.createVirtualGraph(ipu)"),
    ])
}

/// A matmul as a row of small ones.
pub fn serialised_matmul() -> Vec<How> {
    list([
        (
            PopTorch,
            "poptorch.serializedMatMul(a, b, poptorch.MatMulSerializationMode.OutputChannels, factor)",
        ),
        (TensorFlow, "ipu.math_ops.serialized_matmul(a, b, factor, \"b_rows\")"),
        (PopArt, "builder.setSerializeMatMul({tensor}, \"output_channels\", factor, True)"),
        (Poplar, "a loop over slices of one operand"),
    ])
}

pub fn spread_over_tiles() -> Vec<How> {
    list([(
        Poplar,
        "let PopLibs create the tensor (createWeights, createInput, createSliceableTensor), or \
         poputil::mapTensorLinearly(graph, tensor)",
    )])
}

/// Smaller streams.
pub fn host_streams() -> Vec<How> {
    list([
        (PopTorch, "opts.outputMode(poptorch.OutputMode.Final)"),
        (TensorFlow, "prefetch_depth=1 of the queues"),
        (PopArt, "popart.AnchorReturnType(\"Final\"), opts.defaultBufferingDepth = 1"),
        (Poplar, "smaller tensors in Copy to and from streams"),
    ])
}
