//! Advice about the memory of GPUs under XLA (JAX), TensorFlow and programs with allocators of their own.

use super::{Finding, Sentence, free_at_least, led_by, too_large, tool};
use crate::diagnose::finding::{Device, Kind};
use crate::diagnose::run_settings::Framework;
use crate::text::{bytes, bytes_at_least};

const LISTING: &str =
    " Where a listing of the allocator follows (`Limit`, `InUse`, `MaxInUse`), it does.";

const KEEP: &str = "Let results take the place of arguments: `jax.jit(f, donate_argnums=(0,))` for the state that \
    a step replaces; drop references to arrays that are no longer needed.";

pub fn of(finding: &Finding) -> Vec<Sentence> {
    match finding.kind {
        Kind::GpuMemoryTight => return tight(finding),
        Kind::GpuLibraryOutOfMemory if finding.text.contains("AlignedAllocator") => {
            return workspace(finding);
        }
        Kind::GpuLibraryOutOfMemory => return library(finding),
        _ => {}
    }
    let says = |word: &str| finding.text.contains(word);
    if says("requested buffer of size ") {
        return onnx(finding);
    }
    if let Some((_, own)) = OF_PROGRAMS.iter().find(|(words, _)| says(words)) {
        return with_own(finding, own);
    }
    if says("allocated so far") || says("to allocate") && says("(total ") {
        return cupy(finding);
    }
    if says("RMM") || says("std::bad_alloc") {
        return rapids(finding);
    }
    if says(" buffer of size ")
        || says("cudaMalloc failed")
        || says("buffer for kv cache")
        || says("hipMalloc failed")
    {
        return of_accelerator(finding);
    }
    if says("GPU memory (") || says("Error Code") || says("Cuda Runtime") {
        return tensorrt(finding);
    }
    if says("at line ") && says(" in file ") {
        return library(finding);
    }
    if says("from device: ") || says("failed call to ") {
        return of_driver(finding);
    }
    if let Some(advice) = too_large::of(finding) {
        return advice;
    }
    let names = FrameworkNames::of(finding);
    let room = match (free_at_least(finding), statistics(finding), finding.requested_bytes) {
        (Some(free), ..) => format!("{free}."),
        (None, Some(statistics), _) => statistics,
        (None, None, Some(requested)) => format!(
            "Make room for {} in one piece: the message does not say how much is free.{}",
            bytes(requested),
            if names.has_any() { LISTING } else { "" }
        ),
        _ => "Free memory of the GPU: the message does not say how much is missing.".to_owned(),
    };
    let others = format!(
        "Look at who else has memory of this GPU with {}.{}",
        tool(finding),
        names.sharing()
    );
    let mut advice: Vec<Sentence> = vec![room.into(), less(finding, names).into(), others.into()];
    if finding.breakdown.is_empty() {
        advice.extend(names.allocators().map(Sentence::from));
    } else {
        advice.push(KEEP.into());
    }
    advice.push(names.precision().into());
    advice
}

/// Whose names advice may have.
#[derive(Clone, Copy)]
struct FrameworkNames {
    jax: bool,
    tensorflow: bool,
}

impl FrameworkNames {
    /// Those of the framework that failed; of a pool that may be of either, both. No others have these names.
    fn of(finding: &Finding) -> Self {
        let framework = finding.run.framework;
        // Whatever else the log names, it is a pool of one of the two that speaks.
        let is_known = matches!(framework, Some(Framework::Jax | Framework::TensorFlow));
        let may_be_either = !is_known && OF_POOL.iter().any(|words| finding.text.contains(words));
        Self {
            jax: may_be_either || framework == Some(Framework::Jax),
            tensorflow: may_be_either || framework == Some(Framework::TensorFlow),
        }
    }

    fn has_any(self) -> bool {
        self.jax || self.tensorflow
    }

    /// ` (…)` with what it has, if it has something.
    fn in_brackets(self, jax: &str, tensorflow: &str) -> String {
        let names = [(self.jax, jax), (self.tensorflow, tensorflow)];
        let names: Vec<&str> =
            names.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    }

    fn again(self) -> String {
        self.in_brackets("JAX `jax.checkpoint(f)`", "TensorFlow `tf.recompute_grad(f)`")
    }

    fn precision(self) -> String {
        if !self.has_any() {
            return "Use smaller types of numbers (half precision), where the program lets you choose.".to_owned();
        }
        let names = self.in_brackets(
            "`bfloat16`",
            "Keras `mixed_precision.set_global_policy(\"mixed_float16\")`",
        );
        format!("Compute in half precision{names}.")
    }

    /// What lets several programs have parts of a GPU.
    fn sharing(self) -> String {
        let mut text = String::new();
        if self.jax {
            text += " If the process is alone on it, JAX may take more than the 75 % of its default: \
                `XLA_PYTHON_CLIENT_MEM_FRACTION=.95`; if several share it, each needs a smaller part.";
        }
        if self.tensorflow {
            text += " Several TensorFlow programs can share it with \
                `tf.config.experimental.set_memory_growth(gpu, True)`.";
        }
        text
    }

    fn allocators(self) -> Option<String> {
        let names = self.in_brackets(
            "JAX `XLA_PYTHON_CLIENT_ALLOCATOR=platform`",
            "TensorFlow `TF_GPU_ALLOCATOR=cuda_malloc_async`",
        );
        let slow = if self.jax { " The JAX allocator is slow." } else { "" };
        (!names.is_empty())
            .then(|| format!("Try another allocator if much is free but in pieces{names}.{slow}"))
    }
}

/// What only the pools of XLA and TensorFlow say.
const OF_POOL: [&str; 8] = [
    "ut of memory while trying to allocate",
    "an out of memory trying to allocate",
    "ailed to allocate request for",
    "OOM when allocating tensor",
    "MallocAsync failed to allocate",
    "cuMemAllocAsync failed to allocate",
    "from device: ",
    "failed call to ",
];

fn less(finding: &Finding, names: FrameworkNames) -> String {
    let less = if finding.run.is_single_sample() {
        "Compute less at once: shorter sequences, loss and attention in chunks (a device computes one sample at once already)"
    } else {
        "Compute less at once: a smaller batch, shorter inputs"
    };
    let is_of_training = names.has_any() || finding.run.framework == Some(Framework::PyTorch);
    if !is_of_training || !finding.run.may_train() {
        return format!("{less}.");
    }
    format!(
        "{less}; in training accumulate gradients, and compute activations again instead of keeping them{}.",
        names.again()
    )
}

/// What a kernel of attention needs besides lies in a buffer of a fixed size.
fn workspace(finding: &Finding) -> Vec<Sentence> {
    let amount = finding
        .requested_bytes
        .map_or_else(String::new, |requested| format!(" to more than {}", bytes(requested)));
    let raise = format!(
        "Raise the workspace of FlashInfer{amount}: vLLM `VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE`, SGLang \
         `SGLANG_FLASHINFER_WORKSPACE_SIZE` (both in bytes), in a program of your own the buffer that the wrapper gets. \
         The GPU need not be full."
    );
    led_by(
        raise,
        [
            "Compute fewer tokens at once: vLLM `max_num_batched_tokens`, SGLang `--chunked-prefill-size`.",
            "Update FlashInfer and the server: newer releases choose the size by the model.",
        ],
    )
}

/// Words of programs that are neither PyTorch nor JAX, and what these have of their own that helps.
const OF_PROGRAMS: [(&str, &str); 9] = [
    ("failed to cudaMalloc", FAISS),
    ("alloc fail type", FAISS),
    ("Memory allocation error on worker", XGBOOST),
    ("Out of GPU memory trying to allocate", JULIA),
    ("Out of memory on device. To view more detail", MATLAB),
    ("CUDA failed with error out of memory", CTRANSLATE2),
    ("System is out of GPU memory", CYCLES),
    ("Out of memory error on ", PADDLE),
    ("enough GPU RAM to fit", DEVICE_MAP),
];

const FAISS: &str = "Store vectors in half the size or compressed (`useFloat16` of `GpuClonerOptions`, an index with product \
    quantization), add and search them in smaller batches, or spread the index over several GPUs (`shard`).";

const XGBOOST: &str = "Use `QuantileDMatrix`, fewer bins (`max_bin`), and a sample of the rows (`subsample` with \
    `sampling_method=\"gradient_based\"`); or train on several GPUs.";

const JULIA: &str = "Let arrays go that are no longer needed: in loops `CUDA.unsafe_free!(a)`, between phases `a = nothing; \
    GC.gc(); CUDA.reclaim()`. `JULIA_CUDA_HARD_MEMORY_LIMIT` bounds the pool where others need the GPU, too.";

const MATLAB: &str = "Clear variables on the GPU that are no longer needed (`clear`), bring results back with `gather`, compute in \
    `single`, and work on parts of the data; `gpuDevice` shows what is free.";

const CTRANSLATE2: &str = "Load the model with smaller weights (`compute_type=\"int8_float16\"` or `\"int8\"`), take a smaller one, or \
    compute less at once (a smaller batch, `beam_size=1`).";

const CYCLES: &str = "Make the scene smaller (Simplify: fewer subdivisions, a limit for the size of textures; instances instead of \
    copies), or render it on the CPU.";

const PADDLE: &str = "Compute less at once: a smaller batch, shorter inputs; in training compute activations again \
    (`paddle.distributed.fleet.utils.recompute`), and compute in half precision (`paddle.amp.auto_cast`).";

const DEVICE_MAP: &str = "Make the model fit on the devices: fewer bits (4 instead of 8), a smaller model, or more devices. Or let the \
    modules that do not fit stay on the CPU, in 32 bits and slowly: a `device_map` of your own, for weights in 8 bits with \
    `llm_int8_enable_fp32_cpu_offload=True`.";

/// What a program has of its own that helps.
fn with_own(finding: &Finding, own: &'static str) -> Vec<Sentence> {
    let amount = finding.requested_bytes.map_or_else(String::new, |requested| {
        let free = finding.free_bytes.map(|free| format!(", and {} were free", bytes(free)));
        format!(": {} were asked for{}", bytes(requested), free.unwrap_or_default())
    });
    let others = format!(
        "Look at who else has memory of this GPU with {}{amount}. Other frameworks in the same process keep what they freed.",
        tool(finding)
    );
    vec![own.into(), others.into()]
}

/// The pool of ONNX Runtime takes twice as much each time, by its default.
fn onnx(finding: &Finding) -> Vec<Sentence> {
    let room = finding.requested_bytes.map_or_else(
        || "Make room on the device.".to_owned(),
        |requested| {
            format!(
                "Make room for {} in one piece, for the output of one operator: a smaller batch, or shorter inputs.",
                bytes(requested)
            )
        },
    );
    let others = format!("Look at who else has memory of the device with {}.", tool(finding));
    let pool = "Let the pool grow only by what is asked for: the option `arena_extend_strategy` of the CUDA provider, \
        `kSameAsRequested`; look whether `gpu_mem_limit` is set too low.";
    vec![room.into(), others.into(), pool.into()]
}

/// What the pool has, if its statistics follow the message.
fn statistics(finding: &Finding) -> Option<String> {
    let (limit, used) = (finding.limit_bytes?, finding.used_bytes?);
    let free = limit.checked_sub(used)?;
    let requested = finding.requested_bytes?;
    Some(if free >= requested {
        format!(
            "Keep the sizes of tensors few, or try another allocator: the pool of {} has {} free, more than the {} that were \
             asked for, but not in one piece.",
            bytes(limit),
            bytes(free),
            bytes(requested)
        )
    } else {
        format!(
            "Free at least {}: the pool has {}, of which {} are in use, and {} were asked for.",
            bytes_at_least(requested.saturating_sub(free)),
            bytes(limit),
            bytes(used),
            bytes(requested)
        )
    })
}

fn tight(finding: &Finding) -> Vec<Sentence> {
    if finding.text.contains("KV cache") {
        let leave = "Leave it unless it happens often: nothing failed. A request waits, or is computed again later, because \
            the cache of keys and values is full.";
        let more = "For more throughput give the cache more room (`gpu_memory_utilization`, SGLang \
            `--mem-fraction-static`), or let fewer requests in (`max_num_seqs`, `--max-running-requests`).";
        return led_by(leave, [more]);
    }
    let wanted = finding
        .requested_bytes
        .map_or_else(String::new, |amount| format!(" with {} of scratch memory", bytes(amount)));
    let leave = format!(
        "Leave it unless it is slow: nothing failed. The operation has a faster way{wanted} and took \
         another one."
    );
    let later = "If the run fails later for want of memory, it is that message that matters.";
    led_by(leave, [later])
}

/// Libraries take memory outside of the pool of a framework.
fn library(finding: &Finding) -> Vec<Sentence> {
    let bound = match (finding.run.server, finding.run.framework) {
        (Some(_), _) => "lower the share of the device that the server takes.",
        (None, Some(Framework::Jax)) => {
            "let JAX take less when it starts: `XLA_PYTHON_CLIENT_MEM_FRACTION=.6`, or `XLA_PYTHON_CLIENT_PREALLOCATE=false`."
        }
        (None, Some(Framework::TensorFlow)) => {
            "let the pool grow with its need: `tf.config.experimental.set_memory_growth(gpu, True)`."
        }
        (None, Some(Framework::LlamaCpp | Framework::Other)) => "compute less at once.",
        (None, Some(Framework::PyTorch)) => {
            "compute fewer samples at once, or bound the pool (`torch.cuda.set_per_process_memory_fraction(0.9)`)."
        }
        (None, None) => {
            "compute fewer samples at once, or bound the pool (PyTorch \
             `torch.cuda.set_per_process_memory_fraction(0.9)`, JAX `XLA_PYTHON_CLIENT_MEM_FRACTION=.6`)."
        }
    };
    let leave = format!(
        "Leave them room: they take memory of the GPU outside of the pool of the framework, which has nearly all of it; {bound}"
    );
    let look = format!(
        "Look at who has memory of the GPU with {}: another process may have the rest.",
        tool(finding)
    );
    let mut advice = vec![leave.into(), look.into()];
    let is_amd = finding.device == Some(Device::Rocm);
    if finding.text.contains("NCCL") || finding.text.contains("ailure") {
        let fewer = "NCCL takes memory for each communicator and channel: use fewer process groups, \
            `NCCL_MAX_NCHANNELS`, or a smaller `NCCL_BUFFSIZE`.";
        advice.push(fewer.into());
    } else {
        let setting =
            if is_amd { "" } else { "Bound the workspace: `CUBLAS_WORKSPACE_CONFIG=:4096:8`. " };
        let work = format!("{setting}Call the library once at the beginning, while there is room.");
        advice.push(work.into());
    }
    let blocking = if is_amd { "AMD_SERIALIZE_KERNEL=3" } else { "CUDA_LAUNCH_BLOCKING=1" };
    let earlier = format!(
        "Rule out an earlier error: after an illegal access or a wrong index the next call of a library fails with such a \
         message, too (`{blocking}`)."
    );
    advice.push(earlier.into());
    advice
}

fn of_driver(finding: &Finding) -> Vec<Sentence> {
    let asked = finding
        .requested_bytes
        .map_or_else(String::new, |requested| format!(" for {}", bytes(requested)));
    // Else the program could not even start on the GPU.
    let is_of_pool = finding.text.contains("from device: ");
    let look = format!(
        "Look at who has memory of the GPU with {}: the driver had none left when the {} asked{asked}. Another process, or \
         one that did not end, has it.",
        tool(finding),
        if is_of_pool { "pool" } else { "program" }
    );
    let grow = FrameworkNames::of(finding).in_brackets(
        "JAX `XLA_PYTHON_CLIENT_PREALLOCATE=false`",
        "TensorFlow `tf.config.experimental.set_memory_growth(gpu, True)`",
    );
    let grow = format!(
        "If several programs are meant to share the GPU, let the pool grow with its need{grow}."
    );
    let leave = "Leave it if the program goes on: the pool tries again with less.";
    let leave = is_of_pool.then_some(Sentence::from(leave));
    [look.into()].into_iter().chain(leave).chain([grow.into()]).collect()
}

fn cupy(finding: &Finding) -> Vec<Sentence> {
    let first = match (finding.used_bytes, finding.requested_bytes) {
        (Some(used), Some(requested)) => format!(
            "Free arrays of CuPy, or compute on smaller ones: its pool has taken {} of the GPU and wants {} more.",
            bytes(used),
            bytes(requested)
        ),
        _ => "Free arrays of CuPy, or compute on smaller ones.".to_owned(),
    };
    let limit = finding.limit_bytes.map(|limit| {
        format!(
            "Raise the limit of the pool, if {} are not all of the GPU (`CUPY_GPU_MEMORY_LIMIT`, \
             `mempool.set_limit`).",
            bytes(limit)
        )
    });
    let look = format!(
        "Look at who else has memory of the GPU with {}: PyTorch or JAX in the same process keep pools of their own.",
        tool(finding)
    );
    let rest = [
        "Give back what the pool holds: `cupy.get_default_memory_pool().free_all_blocks()`.",
        "Write results into arrays that are there (`out=`), and compute in `float32` instead of `float64`.",
    ];
    [Sentence::from(first)]
        .into_iter()
        .chain(limit.map(Sentence::from))
        .chain([look.into()])
        .chain(rest.map(Sentence::from))
        .collect()
}

fn rapids(finding: &Finding) -> Vec<Sentence> {
    let look = format!(
        "Look at who else has memory of the GPU with {}; the pool of RAPIDS can only have the rest.",
        tool(finding)
    );
    let is_bounded = finding.text.contains("Maximum pool size exceeded");
    let bounded = is_bounded.then(|| {
        let amount = finding
            .requested_bytes
            .map_or_else(String::new, |requested| format!(" for {}", bytes(requested)));
        format!(
            "Make the pool larger (`rmm.reinitialize(pool_allocator=True, maximum_pool_size=…)`): the message says that it may not \
             grow further, and it had no room{amount}."
        )
    });
    let rest = [
        "Read less at once: chunks of a file, or Dask-cuDF with smaller partitions.",
        "Let tables go to the memory of the machine when the GPU is full: `cudf.set_option(\"spill\", True)`, or managed \
         memory (`rmm.reinitialize(managed_memory=True)`).",
    ];
    let perhaps = (!is_bounded)
        .then_some("Or, if the pool was bounded, make it larger (`maximum_pool_size`).");
    let first = bounded.map(Sentence::from).into_iter().chain([look.into()]);
    first.chain(rest.into_iter().chain(perhaps).map(Sentence::from)).collect()
}

fn tensorrt(finding: &Finding) -> Vec<Sentence> {
    let look = format!("Look at who else has memory of the GPU with {}.", tool(finding));
    led_by(
        look,
        [
            "Build the engine for smaller shapes: the largest of the optimization profile (batch, length) decides.",
            "Bound the workspace: `config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, …)`.",
            "Create fewer execution contexts at once, or let them share memory \
             (`create_execution_context_without_device_memory`).",
        ],
    )
}

/// Devices under programs that are neither PyTorch nor JAX.
pub fn of_accelerator(finding: &Finding) -> Vec<Sentence> {
    let first = match (free_at_least(finding), finding.requested_bytes) {
        (Some(free), _) => format!("{free}."),
        (None, Some(requested)) => format!(
            "Make room for {} on the device: {} shows who has its memory.",
            bytes(requested),
            tool(finding)
        ),
        _ => format!("Look at who has memory of the device with {}.", tool(finding)),
    };
    let is_llama =
        finding.run.framework == Some(Framework::LlamaCpp) || finding.text.contains(" buffer");
    let rest = if is_llama {
        [
            "Put fewer layers on the device: `--n-gpu-layers` (`-ngl`); the rest stays in the memory of the machine.",
            "Use a shorter context (`--ctx-size`), and keys and values in 8 bits (`--cache-type-k q8_0 --cache-type-v q8_0`, \
             with flash attention).",
            "Use a smaller or more strongly quantized model, or spread it over several devices (`--tensor-split`).",
        ]
    } else if !finding.run.may_train() {
        [
            "Compute less at once: a smaller batch, shorter inputs.",
            "Compute in half precision, or with quantized weights.",
            "Spread the weights over more devices.",
        ]
    } else {
        [
            "Compute less at once: a smaller batch, shorter sequences, accumulated gradients.",
            "Compute in half precision, and in training compute activations again instead of keeping them.",
            "Spread parameters and optimizer state over more devices.",
        ]
    };
    led_by(first, rest)
}
