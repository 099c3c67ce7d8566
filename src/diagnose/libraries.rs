//! Messages of libraries and programs on GPUs that have memory of their own: cuBLAS, cuDNN, NCCL, CuPy, RAPIDS,
//! bitsandbytes, llama.cpp, Paddle and others.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::finding::{Device, Finding, Kind};
use super::message::{Message, MessageFound, regex};

/// Where ONNX Runtime computes.
static CPU_PROVIDER: LazyLock<Regex> = LazyLock::new(|| regex("CPUExecutionProvider"));
static GPU_PROVIDER: LazyLock<Regex> =
    LazyLock::new(|| regex("(?i:cuda|tensorrt|rocm|migraphx|dml)"));

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "\\b(?<library>(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|CUSPARSELT|CURAND|CUTENSOR|HIPBLAS|HIPSPARSE|HIPSOLVER|HIPFFT|\
                  HIPRAND|MIOPEN|NVRTC|CUFFT)_(?:STATUS_)?(?:[A-Z]{1,20}_){0,3}ALLOC(?:ATION)?_FAILED|miopenStatusAllocFailed|\
                  rocblas_status_memory_error)\\b(?: when calling `(?<call>[^`\r\n]{1,200})`)?",
        read: library,
        example: "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        meaning: "A library of the GPU got no memory for itself: outside of the pool of PyTorch, JAX or TensorFlow, which has \
                  nearly all of it.",
    },
    Message {
        pattern: "(?:NCCL WARN )?(?:ncclUnhandledCudaError: Call to CUDA function failed[.] Last error: )?\
                  (?<api>Cuda|CUDA|HIP|Hip) failure (?:{n}:? )?'?out of memory'?",
        read: nccl,
        example: "node01:392:494 [2] enqueue.cc:43 NCCL WARN Cuda failure 'out of memory'",
        meaning: "NCCL got no memory of the GPU for its buffers, which lie outside of PyTorch's pool.",
    },
    Message {
        pattern: "NCCL WARN Failed to (?<api>CUDA|HIP) (?:host )?[mc]?[Aa]lloc(?: async)?(?: (?<requested>{n}) bytes)?",
        read: nccl,
        example: "node01:392:494 [2] include/alloc.h:185 NCCL WARN Failed to CUDA calloc async 8388608 bytes",
        meaning: "The same with the size.",
    },
    Message {
        pattern: "(?i:out of memory allocating) (?<requested>{n}) bytes \\(allocated so far: (?<used>{n}) bytes\
                  (?:, limit set to: (?<limit>{n}) bytes)?\\)",
        read: |found| Some(of_pool(found)),
        example: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes (allocated so far: \
                  3,635,267,072 bytes).",
        meaning: "CuPy's pool got no memory of the GPU.",
    },
    Message {
        pattern: "out of memory to allocate (?<requested>{n}) bytes \\(total (?<used>{n}) bytes\\)",
        read: |found| Some(of_pool(found)),
        example: "cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes (total 12373894656 bytes)",
        meaning: "The same in older versions of CuPy.",
    },
    Message {
        pattern: "(?:(?m:^)|[\t\\x20(])std::bad_alloc: (?:out_of_memory: (?:CUDA|RMM)|(?:CUDA|HIP|RMM)\\b|(?:cuda|hip)Error)(?:[^\0]{0,300}?\\(failed to allocate \
                  (?<requested>{size})\\))?[^\r\n]*",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /include/rmm/cuda_memory_resource.hpp:62: \
                  cudaErrorMemoryAllocation out of memory",
        meaning: "RAPIDS (cuDF, cuML) got no memory of the GPU.",
    },
    Message {
        pattern: "Memory not available to allocate buffer: (?<requested>{n})",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory).on(Device::Rocm)),
        example: "allocate_gpu: Memory not available to allocate buffer: 67108864",
        meaning: "MIGraphX got no memory of a GPU of AMD.",
    },
    Message {
        pattern: "RMM (?:failure|error)[^\0]{0,300}?Maximum pool size exceeded(?: \\(failed to allocate (?<requested>{size})\\))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "RMM failure at:/include/rmm/pool_memory_resource.hpp:193: Maximum pool size exceeded (failed to allocate \
                  2.00 GiB)",
        meaning: "The pool of RAPIDS may not grow further.",
    },
    Message {
        pattern: "Error out of memory at line {n} in file (?<file>[^\\s:]{1,200}[.](?:cu|cuh|hip|cpp|c))\\b",
        read: |found| {
            let is_amd = found.word("file")?.ends_with("hip");
            Some(Finding::new(Kind::GpuOutOfMemory).on(if is_amd {
                Device::Rocm
            } else {
                Device::Cuda
            }))
        },
        example: "Error out of memory at line 380 in file /src/csrc/ops.cu",
        meaning: "bitsandbytes got no memory of the GPU, outside of PyTorch's pool.",
    },
    Message {
        pattern: "allocating (?<requested>{size}) on device (?<gpu>{n}): (?<call>cudaMalloc|hipMalloc|musaMalloc|[a-z]{2,8}Malloc)\
                  [A-Za-z]{0,10} failed(?:: out of memory)?",
        read: |found| {
            let device = match found.word("call")?.as_str() {
                "hipMalloc" => Device::Rocm,
                "cudaMalloc" => Device::Cuda,
                "aclrtMalloc" => Device::Npu,
                _ => Device::Accelerator,
            };
            let finding = found.finding(Kind::GpuOutOfMemory);
            Some(if device.is_gpu() {
                finding.on(device)
            } else {
                Finding { kind: Kind::AcceleratorOutOfMemory, ..finding }.on(device)
            })
        },
        example: "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory",
        meaning: "llama.cpp got no memory of the GPU for weights, the cache of keys and values or the graph.",
    },
    Message {
        pattern: "(?<part>\\b)[Ff]ailed to allocate (?<name>[A-Z][A-Za-z]{2,9})(?<index>[0-9]{0,2})(?:_Split)? buffer of size \
                  (?<requested>{n})",
        read: |found| Some(ggml_buffer(found)),
        example: "alloc_tensor_range: failed to allocate ROCm0 buffer of size 4294967296",
        meaning: "The same, by the name of the device.",
    },
    Message {
        pattern: "(?<part>\\b)(?:failed to allocate (?:the )?(?:compute |output )?buffers?(?: for (?:the )?(?:kv|KV) cache)?|\
                  unable to allocate (?<name>[A-Z][A-Za-z]{2,9})(?<index>[0-9]{0,2}) buffer)\\b",
        read: |found| Some(ggml_buffer(found)),
        example: "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        meaning: "llama.cpp could not start for want of memory of the device.",
    },
    Message {
        pattern: "(?:Device memory allocation of size (?<requested>{n}) failed|(?<part>VK_ERROR_OUT_OF_DEVICE_MEMORY|ErrorOutOfDeviceMemory))",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory)),
        example: "ggml_vulkan: Device memory allocation of size 1073741824 failed.",
        meaning: "Vulkan gave no memory of the GPU.",
    },
    Message {
        pattern: "(?:[Ii]nsufficient Memory )?\\({n}:kIOGPUCommandBufferCallbackErrorOutOfMemory\\)",
        read: |_| Some(Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Mps)),
        example: "error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
        meaning: "Metal found no memory for what an Apple GPU was to do (llama.cpp, MLX).",
    },
    Message {
        pattern: "Attempting to allocate (?<requested>{n}) bytes which is greater than the maximum allowed buffer size of \
                  (?<contiguous>{n}) bytes",
        read: |found| Some(found.finding(Kind::BlockTooLarge).on(Device::Mps)),
        example: "[metal::malloc] Attempting to allocate 17179869184 bytes which is greater than the maximum allowed buffer size \
                  of 9534832640 bytes.",
        meaning: "An array of MLX is larger than the largest buffer of Metal.",
    },
    Message {
        pattern: "insufficient memory \\(attempted to allocate (?<requested>{size})\\)",
        read: |found| Some(found.finding(Kind::HostOutOfMemory)),
        example: "ggml_aligned_malloc: insufficient memory (attempted to allocate 5120.25 MB)",
        meaning: "llama.cpp got no memory of the machine.",
    },
    Message {
        pattern: "requires more system memory \\((?<requested>{size})\\) than is available \\((?<free>{size})\\)",
        read: |found| Some(found.finding(Kind::HostOutOfMemory).with_excess()),
        example: "Error: model requires more system memory (5.6 GiB) than is available (3.1 GiB)",
        meaning: "Ollama found less free memory of the machine than the model needs.",
    },
    Message {
        pattern: "failed to allocate (?<requested>{size}) of pinned memory",
        read: |found| Some(found.finding(Kind::HostOutOfMemory)),
        example: "ggml_cuda_host_malloc: failed to allocate 2048.00 MiB of pinned memory: out of memory",
        meaning: "A program got no pinned memory of the machine, through which it copies to the GPU.",
    },
    Message {
        pattern: "Out of memory error on (?<backend>GPU|XPU|NPU|DCU|[A-Za-z_]{2,20}) (?<ordinal>{n})[.] Cannot allocate \
                  (?<requested>{size}) memory on [A-Za-z_]{2,20} {n}, (?<used>{size}) memory has been allocated and available \
                  memory is only (?<free>{size})",
        read: |found| {
            let backend = found.word("backend")?;
            let (kind, device) = match backend.as_str() {
                "GPU" => (Kind::GpuOutOfMemory, Device::Cuda),
                "DCU" => (Kind::GpuOutOfMemory, Device::Rocm),
                "XPU" => (Kind::AcceleratorOutOfMemory, Device::Xpu),
                "NPU" => (Kind::AcceleratorOutOfMemory, Device::Npu),
                _ => (Kind::AcceleratorOutOfMemory, Device::Accelerator),
            };
            let instance = Some(format!("{backend} {}", found.word("ordinal")?));
            Some(Finding { instance, ..found.finding(kind).on(device) }.with_excess())
        },
        example: "Out of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, 14.250000GB memory has been allocated \
                  and available memory is only 512.000000MB.",
        meaning: "PaddlePaddle got no memory of the device.",
    },
    Message {
        pattern: "(?:Some modules are dispatched on the CPU or the disk[.] (?:Please m|M)|[Mm])ake sure you have enough GPU RAM to fit the \
                  (?:quantized )?model",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the \
                  quantized model.",
        meaning: "transformers found less free memory on the devices than the weights need, and bitsandbytes cannot compute with \
                  weights that lie elsewhere.",
    },
    Message {
        pattern: "[Ff]ailed to cudaMalloc(?:Managed|Async)? (?<requested>{n}) bytes(?: \\(error {n} out of memory\\))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "Error: 'err == cudaSuccess' failed: failed to cudaMalloc 3221225472 bytes (error 2 out of memory)",
        meaning: "Faiss got no memory of the GPU.",
    },
    Message {
        pattern: "alloc fail type [A-Za-z]{1,40} dev (?<gpu>{n}) space [A-Za-z]{1,20}[^\r\n]{0,80}? size (?<requested>{n}) bytes\
                  (?: \\(cudaMalloc error [^\r\n()]{1,60}\\))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory)),
        example: "StandardGpuResources: alloc fail type FlatData dev 1 space Device stream 0x5581a0 size 2147483648 bytes \
                  (cudaMalloc error out of memory [2])",
        meaning: "The same, with the number of the GPU.",
    },
    Message {
        pattern: "[Ff]ailed to allocate memory for requested buffer of size (?<requested>{n})",
        read: |found| {
            let is_of_cpu = found.is_near(&CPU_PROVIDER) && !found.is_near(&GPU_PROVIDER);
            Some(if is_of_cpu {
                found.finding(Kind::HostOutOfMemory)
            } else {
                Finding { is_of_log: true, ..found.finding(Kind::GpuOutOfMemory) }
            })
        },
        example: "bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for \
                  requested buffer of size 3221225472",
        meaning: "The pool of ONNX Runtime has no room for a tensor; it is that of the GPU where the session runs there.",
    },
    Message {
        pattern: "(?:Failed to allocate|Buffer overflow when allocating) memory for (?<name>{word}) with size (?<requested>{n}) and \
                  alignment {n}(?:, but only (?<free>{n}) bytes available)? in AlignedAllocator",
        read: |found| Some(found.finding(Kind::GpuLibraryOutOfMemory)),
        example: "RuntimeError: Buffer overflow when allocating memory for batch_prefill_tmp_s with size 8388608 and alignment 16, but \
                  only 4194304 bytes available in AlignedAllocator. Increase the workspace buffer size.",
        meaning: "The workspace of FlashInfer, which has a fixed size, has no room for what a batch needs. The GPU may have \
                  memory.",
    },
    Message {
        pattern: "Memory allocation error on worker {n}: [^\r\n]{0,120}?out of memory\
                  (?: - Free memory: (?<free>{size}))?(?: - Requested memory: (?<requested>{size}))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory).with_excess()),
        example: "XGBoostError: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free \
                  memory: 268435456\n- Requested memory: 1073741824",
        meaning: "XGBoost got no memory of the GPU.",
    },
    Message {
        pattern: "cudaMalloc(?:Managed|Async|Host)?(?: retry)? failed: out of memory",
        read: |_| Some(Finding::new(Kind::GpuOutOfMemory)),
        example: "cudaMalloc retry failed: out of memory",
        meaning: "CUDA gave no memory of the GPU.",
    },
];

fn library(found: &MessageFound) -> Option<Finding> {
    let name = found.word("library")?;
    if name.contains("HOST_ALLOC") {
        return Some(Finding::new(Kind::HostOutOfMemory));
    }
    let is_amd = name.starts_with("HIP")
        || name.to_ascii_lowercase().starts_with("miopen")
        || name.starts_with("roc");
    let device = if is_amd { Device::Rocm } else { Device::Cuda };
    Some(Finding::new(Kind::GpuLibraryOutOfMemory).on(device))
}

fn nccl(found: &MessageFound) -> Option<Finding> {
    let is_amd = found.word("api")?.eq_ignore_ascii_case("hip");
    let finding = found.finding(Kind::GpuLibraryOutOfMemory);
    Some(finding.on(if is_amd { Device::Rocm } else { Device::Cuda }))
}

/// What a pool has taken of the GPU, and the limit that may be set for it.
fn of_pool(found: &MessageFound) -> Finding {
    let finding = found.finding(Kind::GpuOutOfMemory);
    let wanted = finding.used_bytes.zip(finding.requested_bytes);
    let wanted = wanted.and_then(|(used, more)| used.checked_add(more));
    let excess = wanted.zip(finding.limit_bytes).and_then(|(all, limit)| all.checked_sub(limit));
    Finding { excess_bytes: excess.filter(|excess| *excess > 0), ..finding }
}

/// `CUDA0`, `ROCm1`, `SYCL0`, `Vulkan0`, `Metal`, `CANN0`, `CPU`.
fn ggml_buffer(found: &MessageFound) -> Finding {
    let name = found.word("name").unwrap_or_default();
    let (kind, device) = match name.as_str() {
        "CPU" => (Kind::HostOutOfMemory, Device::Host),
        "CUDA" => (Kind::GpuOutOfMemory, Device::Cuda),
        "ROCm" => (Kind::GpuOutOfMemory, Device::Rocm),
        "SYCL" => (Kind::AcceleratorOutOfMemory, Device::Xpu),
        "Metal" => (Kind::AcceleratorOutOfMemory, Device::Mps),
        "CANN" => (Kind::AcceleratorOutOfMemory, Device::Npu),
        _ => (Kind::AcceleratorOutOfMemory, Device::Accelerator),
    };
    let is_of_log = device == Device::Accelerator;
    let index = found.number("index");
    let instance = Some(name)
        .filter(|name| !name.is_empty())
        .map(|name| index.map_or_else(|| name.clone(), |index| format!("{name}{index}")));
    Finding { instance, device_index: index, is_of_log, ..found.finding(kind).on(device) }
}
