//! Messages of inference servers (vLLM, SGLang, TensorRT-LLM and others) about the memory that they plan with when
//! they start, and about the cache of keys and values.

use super::amount;
use super::finding::{Device, Finding, Kind};
use super::message::{Message, MessageFound};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "[Ff]ree memory on device(?: (?<instance>[a-z]{2,12}(?::{n})?))? \\((?<free>[0-9.,]+)/(?<limit>[0-9.,]+) \
                  (?<unit>[kKMGT]i?B)\\) on startup is less than desired (?:GPU |XPU |NPU )?memory utilization \
                  \\((?<share>[0-9.]+), (?<requested>{size})\\)",
        read: start_up,
        example: "ValueError: Free memory on device cuda:0 (12.25/23.50 GiB) on startup is less than desired GPU memory \
                  utilization (0.9, 21.15 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        meaning: "vLLM wants a share of the whole device (`gpu_memory_utilization`) when it starts, and less is free: \
                  another process has memory of the device.",
    },
    Message {
        pattern: "Error in memory profiling[.] Initial free memory:? (?<before>{size}),? current free memory:? (?<free>{size})",
        read: |found| Some(found.finding(Kind::ServerStartMemory)),
        example: "AssertionError: Error in memory profiling. Initial free memory 20.25 GiB, current free memory 21.50 GiB. \
                  This happens when other processes sharing the same container release GPU memory while vLLM is profiling \
                  during initialization.",
        meaning: "vLLM measured how much memory it needs while another process gave memory of the same GPU back, so the \
                  figures are of no use.",
    },
    Message {
        pattern: "(?:[Tt]o serve at least one request with )?(?:the )?model(?:'?s)* max seq len \\((?<tokens>{n})\\),? \
                  \\(?(?<requested>{size}) KV cache is needed, which is larger than the available KV cache memory \
                  \\((?<free>{size})\\)(?:[.] Based on the available memory, the estimated maximum model length is \
                  (?<fits>{n}))?",
        read: |found| Some(cache(found)),
        example: "ValueError: To serve at least one request with the models's max seq len (131072), (24.00 GiB KV cache is \
                  needed, which is larger than the available KV cache memory (12.50 GiB). Based on the available memory, the \
                  estimated maximum model length is 68256. Try increasing `gpu_memory_utilization` or decreasing \
                  `max_model_len` when initializing the engine.",
        meaning: "What weights and activations leave of the share of the device does not hold the keys and values of one \
                  request of the greatest length.",
    },
    Message {
        pattern: "max seq len \\((?<tokens>{n})\\) is larger than the maximum number of tokens that can be stored in KV cache \
                  \\((?<fits>{n})\\)",
        read: |found| Some(cache(found)),
        example: "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored \
                  in KV cache (22032).",
        meaning: "The same in older versions of vLLM, in tokens instead of bytes.",
    },
    Message {
        pattern: "No available memory for the cache blocks",
        read: |found| Some(cache(found)),
        example: "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when \
                  initializing the engine.",
        meaning: "Weights and activations take all of the share of the device that vLLM may use: nothing is left for keys \
                  and values.",
    },
    Message {
        pattern: "(?<backend>CUDA|HIP|XPU|NPU) out of memory occurred when warming up (?<what>[a-z ]{1,40}) with (?<count>{n}) \
                  dummy requests",
        read: |found| {
            let device = match found.word("backend")?.as_str() {
                "HIP" => Device::Rocm,
                "XPU" => Device::Xpu,
                "NPU" => Device::Npu,
                _ => Device::Cuda,
            };
            Some(Finding::new(Kind::ServerStartMemory).on(device))
        },
        example: "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try \
                  lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.",
        meaning: "vLLM tried its sampler with as many requests as it may get at once, and there was no memory for that.",
    },
    Message {
        pattern: "is preempted by (?:PreemptionMode[.]{word}|{word}) mode because there is not enough KV cache space",
        read: |_| Some(Finding::new(Kind::GpuMemoryTight)),
        example: "WARNING scheduler.py:1057] Sequence group 7 is preempted by PreemptionMode.RECOMPUTE mode because there is \
                  not enough KV cache space. This can affect the end-to-end performance.",
        meaning: "vLLM put a request off because the cache of keys and values is full. Nothing failed; it is slower.",
    },
    Message {
        pattern: "KV cache pool is full[.] Retract requests|Decode out of memory happened[.] #retracted_reqs",
        read: |_| Some(Finding::new(Kind::GpuMemoryTight)),
        example: "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.6000",
        meaning: "SGLang put requests off because the cache of keys and values is full. Nothing failed; it is slower.",
    },
    Message {
        pattern: "Not enough memory[.] Please try to (?:increase|decrease|adjust) --mem-fraction-static\
                  (?:[.] Current value: [a-z_]*=?[0-9.]{1,9})?",
        read: |found| Some(cache(found)),
        example: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        meaning: "The weights take the share of the device that SGLang may use for them and the cache of keys and values \
                  (`--mem-fraction-static`).",
    },
    Message {
        pattern: "(?:Prefill|Decode) out of memory[.] Try to lower your batch size\
                  (?:[.] Try to allocate (?<tokens>{n}) tokens[.] Available tokens: (?<fits>{n}))?",
        read: |found| Some(cache(found)),
        example: "Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.\nAvailable tokens: 1024",
        meaning: "The cache of keys and values of SGLang has no room for the tokens of a request.",
    },
    Message {
        pattern: "The memory capacity is unbalanced[.] Some GPUs may be occupied by other processes\
                  (?:[.] pre_model_load_memory=[0-9.]+, local_gpu_memory=(?<free>[0-9.]*[0-9]))?",
        read: |found| {
            // Counted in GiB, without a unit.
            let free = found.word("free").and_then(|free| amount::bytes(&format!("{free} GiB")));
            Some(Finding { free_bytes: free, ..Finding::new(Kind::ServerStartMemory) })
        },
        example: "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
        meaning: "SGLang found much less free memory on one GPU than on the others.",
    },
    Message {
        pattern: "Not enough memory to handle (?<tokens>{n}) (?:total |prefill )?tokens",
        read: |found| Some(cache(found)),
        example: "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease \
                  `--max-batch-prefill-tokens`",
        meaning: "Text Generation Inference tried itself with as many tokens as it may get at once, and there was no memory \
                  for that.",
    },
    Message {
        pattern: "Executor creation failed due to insufficient GPU memory",
        read: |_| Some(Finding::new(Kind::ServerStartMemory)),
        example: "RuntimeError: Executor creation failed due to insufficient GPU memory.",
        meaning: "TensorRT-LLM got no memory of the GPU for weights, cache of keys and values or workspace when it started. \
                  The list behind it names the part.",
    },
    Message {
        pattern: "Requested amount of GPU memory \\((?<requested>{n}) bytes\\) could not be allocated",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "[TRT] [E] Requested amount of GPU memory (8589934592 bytes) could not be allocated. There may not be enough \
                  free memory for allocation to succeed.",
        meaning: "TensorRT got no memory of the GPU.",
    },
    Message {
        pattern: "Error Code {n}: Out\\s*Of\\s*Memory(?: \\((?:Requested size was (?<requested>{n}) bytes[.]?|no further information)\\))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "[executionContext.cpp::ExecutionContext::436] Error Code 2: OutOfMemory (Requested size was 2147483648 bytes.)",
        meaning: "TensorRT got no memory of the GPU for an engine or its context.",
    },
    Message {
        pattern: "Cuda Runtime \\(out of memory\\)",
        read: |_| Some(Finding::new(Kind::GpuOutOfMemory)),
        example: "[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of memory)",
        meaning: "The same, as CUDA told TensorRT.",
    },
    Message {
        pattern: "Tactic Device request: (?<requested>{size}) Available: (?<free>{size})[.]? \
                  Device memory is insufficient to use tactic",
        read: |found| Some(found.finding(Kind::GpuMemoryTight)),
        example: "[TRT] [W] Tactic Device request: 3072MB Available: 1890MB. Device memory is insufficient to use tactic.",
        meaning: "TensorRT left out a faster way for want of memory. Nothing failed.",
    },
];

fn cache(found: &MessageFound) -> Finding {
    Finding { is_of_log: true, ..found.finding(Kind::KvCacheTooSmall) }.with_excess()
}

/// The unit of what is free and of what there is stands behind both.
fn start_up(found: &MessageFound) -> Option<Finding> {
    let unit = found.word("unit")?;
    let amount = |group: &str| amount::bytes(&format!("{} {unit}", found.word(group)?));
    let name = found.word("instance");
    let index = name.as_deref().and_then(|name| name.split_once(':')?.1.parse().ok());
    let named = name.as_deref().and_then(|name| match name.split(':').next()? {
        "cuda" => Some(Device::Cuda),
        "xpu" => Some(Device::Xpu),
        "npu" => Some(Device::Npu),
        "hpu" => Some(Device::Hpu),
        "tpu" => Some(Device::Tpu),
        _ => None,
    });
    let finding = Finding {
        free_bytes: amount("free"),
        limit_bytes: amount("limit"),
        requested_bytes: found.number("requested"),
        instance: name,
        device_index: index,
        // PyTorch calls GPUs of AMD `cuda` too.
        is_of_log: named.is_none_or(|device| device == Device::Cuda),
        ..Finding::new(Kind::ServerStartMemory).on(named.unwrap_or(Device::Cuda))
    };
    Some(finding.with_excess())
}
