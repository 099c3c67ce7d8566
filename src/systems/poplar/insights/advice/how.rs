//! The spelling of techniques in each framework (docs/user/advice.md, Techniques).

use crate::run::HowTo;

/// PyTorch on IPUs, TensorFlow on IPUs, PopART, and Poplar with PopLibs.
const FRAMEWORKS: [&str; 4] = ["PopTorch", "TensorFlow", "PopART", POPLAR];
const POPLAR: &str = "Poplar";

/// A technique in each of [`FRAMEWORKS`], in their order.
fn in_all(ways: [&str; 4]) -> Vec<HowTo> {
    FRAMEWORKS.into_iter().zip(ways).map(|(framework, code)| HowTo::code(framework, code)).collect()
}

/// The proportion, as text: of some IPUs, or of one operation.
pub fn proportion(value: &str, ipus: &[u32]) -> Vec<HowTo> {
    let of_ipus: Vec<String> = ipus.iter().map(|ipu| format!("\"IPU{ipu}\": {value}")).collect();
    in_all([
        &format!(
            "opts.setAvailableMemoryProportion({{{}}}), or for one operation \
             poptorch.set_available_memory(out, {value})",
            of_ipus.join(", ")
        ),
        &format!(
            "cfg.convolutions.poplar_options[\"availableMemoryProportion\"] = \"{value}\", and \
             the same for cfg.matmuls; for single pipeline stages \
             forward_propagation_stages_poplar_options"
        ),
        &format!("builder.setAvailableMemoryProportion({{tensor}}, {value})"),
        &format!("PopLibs option availableMemoryProportion = {value}"),
    ])
}

pub fn half_partials() -> Vec<HowTo> {
    in_all([
        "opts.Precision.setPartialsType(torch.half)",
        "cfg.convolutions.poplar_options[\"partialsType\"] = \"half\", and the same for cfg.matmuls",
        "opts.partialsTypeMatMuls = \"half\", opts.convolutionOptions = {\"partialsType\": \"half\"}",
        "PopLibs option partialsType = half",
    ])
}

pub fn half_precision() -> Vec<HowTo> {
    in_all([
        "model.half(), opts.Precision.enableStochasticRounding(True)",
        "variables and inputs as float16, cfg.floating_point_behaviour.esr",
        "tensors of type FLOAT16, opts.enableStochasticRounding = True",
        "tensors of type HALF",
    ])
}

/// Nothing that measures; an option of Poplar is off.
pub fn no_instrumentation(option: &str) -> Vec<HowTo> {
    let text =
        format!("POPLAR_ENGINE_OPTIONS='{{\"autoReport.all\":\"true\",\"{option}\":\"false\"}}'");
    vec![HowTo::code(POPLAR, &text)]
}

pub fn smaller_batch() -> Vec<HowTo> {
    in_all([
        "batch_size of poptorch.DataLoader; in training opts.Training.gradientAccumulation(n) keeps \
             the batch of the optimizer",
        "the data set's batch(n); in training gradient_accumulation_steps_per_replica=n keeps the \
             batch of the optimizer",
        "the shape of the inputs; in training opts.accumulationFactor = n",
        "the shape of the input tensors",
    ])
}

/// Activations computed again.
pub fn recomputation() -> Vec<HowTo> {
    in_all([
        "poptorch.recomputationCheckpoint(x)",
        "cfg.allow_recompute = True",
        "opts.autoRecomputation = popart.RecomputationType.Standard",
        "run the forward programs again in the backward pass",
    ])
}

/// Optimizer state off the chip.
pub fn offloading() -> Vec<HowTo> {
    in_all([
        "opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
             .useOnChipStorage(False))",
        "offload_weight_update_variables=True",
        "opts.optimizerStateTensorLocationSettings.location.storage = popart.TensorStorage.OffChip",
        "graph.addRemoteBuffer, with copies around the update",
    ])
}

/// Another optimizer.
pub fn less_state() -> Vec<HowTo> {
    in_all([
        "poptorch.optim.SGD(…, momentum=…) instead of poptorch.optim.Adam",
        "tf.keras.optimizers.SGD(momentum=…) instead of Adam",
        "popart.SGD instead of popart.Adam",
        "an update without the second moment",
    ])
}

/// Optimizer state shared by replicas.
pub fn sharding() -> Vec<HowTo> {
    in_all([
        "opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
             .useReplicatedTensorSharding(True))",
        "replicated_optimizer_state_sharding=True",
        "opts.optimizerStateTensorLocationSettings.location.replicatedTensorSharding = \
             popart.ReplicatedTensorSharding.On",
        "keep a part on each replica and gather it with a collective (GCL)",
    ])
}

/// Code that is shared by equal parts.
pub fn outlining() -> Vec<HowTo> {
    in_all([
        "opts._Popart.set(\"enableOutlining\", True), a lower \"outlineThreshold\"",
        "ipu.outlined_function",
        "opts.enableOutlining = True, a lower opts.outlineThreshold",
        "graph.addFunction and Call; Repeat instead of a repeated program",
    ])
}

/// Where the model is split between IPUs.
pub fn split_points() -> Vec<HowTo> {
    in_all([
        "poptorch.BeginBlock(layer, ipu_id=1)",
        "ipu.keras.PipelineStage(1)",
        "builder.virtualGraph(1)",
        "graph.createVirtualGraph(ipu)",
    ])
}

/// A matmul as a row of small ones.
pub fn serialised_matmul() -> Vec<HowTo> {
    in_all([
        "poptorch.serializedMatMul(a, b, poptorch.MatMulSerializationMode.OutputChannels, factor)",
        "ipu.math_ops.serialized_matmul(a, b, factor, \"b_rows\")",
        "builder.setSerializeMatMul({tensor}, \"output_channels\", factor, True)",
        "a loop over slices of one operand",
    ])
}

pub fn spread_over_tiles() -> Vec<HowTo> {
    let text = "let PopLibs create the tensor (createWeights, createInput, createSliceableTensor), or \
                poputil::mapTensorLinearly(graph, tensor)";
    vec![HowTo::code(POPLAR, text)]
}

pub fn host_streams() -> Vec<HowTo> {
    in_all([
        "opts.outputMode(poptorch.OutputMode.Final)",
        "prefetch_depth=1 of the queues",
        "popart.AnchorReturnType(\"Final\"), opts.defaultBufferingDepth = 1",
        "smaller tensors in Copy to and from streams",
    ])
}
