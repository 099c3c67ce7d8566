//! Messages of XLA (JAX) and TensorFlow about the memory of GPUs. Their allocators serve other devices and
//! the host as well; the message names which.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::amount;
use super::finding::{Device, Finding, Kind, OfProgram, UsedPart};
use super::message::{Message, MessageFound, pattern};
use super::xla_listing;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?Out of memory while trying to allocate \
                  (?<requested>{size})",
        read: |found| Some(of_xla(found)),
        example: "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate \
                  6442450944 bytes.",
        meaning: "XLA (JAX) asked its pool of a GPU's memory for one block, mostly for the temporaries of a whole \
                  program, and the pool has none that large.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?Failed to allocate request for {size} \
                  \\((?<requested>{n})B\\) on device ordinal (?<ordinal>{n})",
        read: |found| {
            Some(Finding {
                instance: found.word("ordinal").map(|ordinal| format!("device {ordinal}")),
                device_index: found.number("ordinal"),
                ..requested(Kind::GpuOutOfMemory, found)
            })
        },
        example: "RESOURCE_EXHAUSTED: Failed to allocate request for 3.00GiB (3221225472B) on device ordinal 0",
        meaning: "The same, with the number of the GPU.",
    },
    Message {
        pattern: "[Ff]ailed to (?:pre)?alloc(?:ate)?(?: {size} \\(| )(?<requested>{n}) ?(?:bytes|B)\\)? \
                  (?:from|on|of) device(?: memory)?: (?:R(?:ESOURCE_EXHAUSTED|esource exhausted): |INTERNAL: )?\
                  (?<error>(?:CUDA|HIP|hip|cuda)[A-Za-z_]{0,40}\
                  (?:OUT_OF_MEMORY|OutOfMemory|MemoryAllocation)(?:: out of memory)?)",
        read: |found| Some(of_driver(requested(Kind::GpuOutOfMemory, found), found)),
        example: "failed to allocate 10.91G (11711807488 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        meaning: "The pool of JAX or TensorFlow asked the driver for memory and got none: when it starts, the pool \
                  takes most of the GPU. Alone it is a warning: the pool tries again with less.",
    },
    Message {
        pattern: "(?:[Ff]ailed to alloc (?<requested>{n}) bytes (?:on|from) host|[Cc]ould not allocate pinned host \
                  (?:memory )?of size: (?<pinned>{n}))[^\r\n]{0,100}",
        read: |found| {
            Some(Finding {
                requested_bytes: found.number("requested").or_else(|| found.number("pinned")),
                ..Finding::new(Kind::HostOutOfMemory)
            })
        },
        example: "could not allocate pinned host memory of size: 17179869184",
        meaning: "JAX or TensorFlow got no pinned memory of the machine, through which it copies to the GPU.",
    },
    Message {
        pattern: "(?:failed initializing StreamExecutor for CUDA device ordinal (?<ordinal>{n}): (?:[A-Z_]{2,30}: )?)?failed call to (?<call>cu[A-Za-z0-9_]{1,60}|hip[A-Za-z0-9_]{1,60}): \
                  (?<error>(?:CUDA|HIP|hip)[A-Za-z_]{0,40}(?:OUT_OF_MEMORY|OutOfMemory))(?:: out of memory)?\
                  (?:; total memory reported: (?<limit>{n}))?",
        read: |found| Some(of_driver(found.finding(Kind::GpuOutOfMemory), found)),
        example: "failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory \
                  reported: 25434587136",
        meaning: "CUDA could not even start on the GPU: other processes have nearly all of its memory.",
    },
    Message {
        pattern: "(?:(?<instance>gpu_async_[0-9]+) )?(?:cuMemAllocAsync|cudaMallocAsync|hipMallocAsync) failed to allocate \
                  (?<requested>{n}) bytes(?:: (?:CUDA|HIP) error: [^\r\n(]{1,80}\\([A-Za-z_]{1,60}\\))?\
                  (?: Reported by (?:CUDA|HIP): Free memory/Total memory: (?<free>{n})/(?<limit>{n}))?",
        read: |found| Some(found.finding(Kind::GpuOutOfMemory).with_excess()),
        example: "gpu_async_0 cuMemAllocAsync failed to allocate 1073741824 bytes: CUDA error: out of memory \
                  (CUDA_ERROR_OUT_OF_MEMORY)\n Reported by CUDA: Free memory/Total memory: 536870912/25434587136",
        meaning: "TensorFlow's allocator `cuda_malloc_async` got no memory of the driver.",
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?(?:ResourceExhaustedError: )?OOM when allocating tensor with \
                  shape\\s*\\[(?<shape>[0-9, ]*)\\]\
                  (?: and type (?<type>{word}) on (?<device>[^\\s'\"]{1,200}) by allocator (?<allocator>{word}))?",
        read: |found| Some(tensor(found)),
        example: "OOM when allocating tensor with shape[64,2016,9,9] and type float on \
                  /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
        meaning: "TensorFlow's pool has no room for this tensor.",
    },
    Message {
        pattern: "(?:Allocator \\((?<allocator>[^)\r\n]{1,80})\\) ran|Ran) out of memory trying to allocate \
                  (?<requested>{size})(?: \\(rounded to (?<rounded>{n})\\))?(?: with freed_by_count={n})?\
                  (?<harmless>[.]? The caller indicates that this is not a failure)?",
        read: |found| Some(allocator(found)),
        example: "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.50GiB (rounded to 2684354560)requested by \
                  op model/dense/MatMul",
        meaning: "The pool of TensorFlow or XLA has no piece of that size. Statistics of the pool may follow: `Limit`, \
                  `InUse`, `MaxInUse`.",
    },
    Message {
        pattern: "Can'?t reduce memory use below (?:-{size}(?: \\(-{n} bytes\\))?|(?<limit>{size})(?: \\((?<limit_bytes>{n}) bytes\\))?) by \
                  rematerialization[;,]? only reduced to (?<used>{size})(?: \\((?<used_bytes>{n}) bytes\\))?\
                  (?:, down from (?<before>{size})(?: \\((?<before_bytes>{n}) bytes\\))? originally)?",
        read: |found| Some(rematerialization(found)),
        example: "Can't reduce memory use below 10.64GiB (11424612352 bytes) by rematerialization; only reduced to 12.50GiB \
                  (13421772800 bytes), down from 14.00GiB (15032385536 bytes) originally",
        meaning: "XLA computes values again instead of keeping them, to get below the memory that it may use, and cannot \
                  get there. The program may still run, or fail when it starts. Where the limit is below zero, its \
                  arguments and results alone are too large.",
    },
    Message {
        pattern: "byte size of input/output arguments \\((?<used>{n})\\) exceeds the base limit \\((?<limit>{n})\\)",
        read: |found| {
            let finding = found.finding(Kind::RematerializationLimit).with_excess();
            Some(Finding { is_of_log: true, ..finding })
        },
        example: "The byte size of input/output arguments (34359738368) exceeds the base limit (25769803776). This \
                  indicates an error in the calculation!",
        meaning: "The arguments and results of a program alone are larger than the memory that XLA may use, so that \
                  computing values again cannot make it fit.",
    },
    Message {
        pattern: "No executable batch size found, reached zero",
        read: |_| Some(Finding { is_of_log: true, ..Finding::new(Kind::GpuOutOfMemory) }),
        example: "RuntimeError: No executable batch size found, reached zero.",
        meaning: "Accelerate halved the batch each time the device ran out of memory, and not even one sample fits.",
    },
    Message {
        pattern: "Dst tensor is not initialized",
        read: |_| Some(Finding::new(Kind::GpuOutOfMemory)),
        example: "InternalError: Dst tensor is not initialized.",
        meaning: "TensorFlow found no memory of the GPU for a copy of a tensor.",
    },
    Message {
        pattern: "(?<part>\\b)(?<error>CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|cudaErrorOutOfMemory|\
                  hipErrorOutOfMemory|hipErrorMemoryAllocation|HIP_ERROR_OutOfMemory)\\b(?:: out of memory)?",
        read: |found| Some(of_driver(Finding::new(Kind::GpuOutOfMemory), found)),
        example: "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        meaning: "The driver of the GPU gave no memory.",
    },
];

/// AMD's driver has names of its own.
fn of_driver(finding: Finding, found: &MessageFound) -> Finding {
    let is_amd =
        found.word("error").is_some_and(|name| name.to_ascii_lowercase().starts_with("hip"));
    if is_amd { finding.on(Device::Rocm) } else { finding }
}

/// The exact bytes stand in parentheses behind the rounded amounts.
fn rematerialization(found: &MessageFound) -> Finding {
    let exact = |bytes: &str, rounded: &str| found.number(bytes).or_else(|| found.amount(rounded));
    let before = exact("before_bytes", "before");
    let finding = Finding {
        used_bytes: exact("used_bytes", "used"),
        limit_bytes: exact("limit_bytes", "limit"),
        breakdown: before
            .map(|bytes| UsedPart { name: "before rematerialization".to_owned(), bytes })
            .into_iter()
            .collect(),
        is_of_log: true,
        ..Finding::new(Kind::RematerializationLimit)
    };
    finding.with_excess()
}

fn requested(kind: Kind, found: &MessageFound) -> Finding {
    Finding { requested_bytes: found.amount("requested"), ..Finding::new(kind) }
}

static STATISTICS: LazyLock<Regex> = LazyLock::new(|| {
    // Loggers put something before each line.
    pattern(
        "\\A[^\r\n]{0,200}\\s+[^\r\n]{0,200}?BufferAssignment OOM Debugging[.]\\s+\
         [^\r\n]{0,200}?BufferAssignment stats:",
    )
});
static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "\\A[^\r\n:]*?(?<name>[a-z_]+(?:[\t\\x20][a-z_]+)?)[\t\\x20]+allocation:[\t\\x20]+(?<size>{size})",
    )
});

/// The statistics behind the message, where they are there, say what the program needs in all and what is alive at
/// the peak.
fn of_xla(found: &MessageFound) -> Finding {
    let mut finding = requested(Kind::GpuOutOfMemory, found);
    let Some(head) = STATISTICS.find(found.after) else { return finding };
    let lines = found.after.get(head.end()..).unwrap_or_default();
    let listing = xla_listing::read(lines);
    finding.of_program = OfProgram { packing: listing.packing, ..OfProgram::default() }.if_any();
    finding.allocations = listing.allocations;
    for line in xla_listing::lines_of(lines) {
        // Between the parts it says what packing loses of the temporary one.
        if memmem::find(line, b" fragmentation:").is_some() {
            continue;
        }
        let Some(part) = PART.captures(line) else { break };
        let text =
            |group| String::from_utf8_lossy(part.name(group).map_or(b"", |text| text.as_bytes()));
        let Some(bytes) = amount::bytes(&text("size")) else { break };
        if text("name") == "total" {
            finding.used_bytes = Some(bytes);
            break;
        }
        finding.breakdown.push(UsedPart { name: text("name").into_owned(), bytes });
    }
    finding
}

/// Whose memory a name of TensorFlow means: `/job:localhost/…/device:GPU:0`, `GPU_0_bfc`, `cpu`.
fn kind_of(name: &str) -> Kind {
    let name = name.to_ascii_lowercase();
    let is = |word: &str| name.contains(word);
    if is("cpu") || is("host_bfc") {
        Kind::HostOutOfMemory
    } else if is("tpu") {
        Kind::TpuOutOfMemory
    } else if is("ipu") {
        Kind::OutOfMemory
    } else {
        Kind::GpuOutOfMemory
    }
}

fn tensor(found: &MessageFound) -> Finding {
    let (device, allocator) = (found.word("device"), found.word("allocator"));
    let by_allocator = kind_of(allocator.as_deref().unwrap_or_default());
    // Memory of the host that a device can reach belongs to the host.
    let kind = match by_allocator {
        Kind::HostOutOfMemory => by_allocator,
        _ => kind_of(device.as_deref().unwrap_or_default().rsplit('/').next().unwrap_or_default()),
    };
    let shape = found.word("shape").unwrap_or_default();
    let instance = device.and_then(|device| Some(device.rsplit_once("device:")?.1.to_owned()));
    let index = instance.as_deref().and_then(|name| name.rsplit(':').next()?.parse().ok());
    Finding {
        device_index: index.filter(|_| kind != Kind::HostOutOfMemory),
        requested_bytes: found.word("type").and_then(|of| tensor_bytes(&shape, &of)),
        instance,
        ..Finding::new(kind)
    }
}

/// The size of a tensor of TensorFlow.
fn tensor_bytes(shape: &str, of: &str) -> Option<u64> {
    let bytes = match of {
        "bool" | "int8" | "uint8" | "qint8" | "quint8" => 1,
        "half" | "bfloat16" | "int16" | "uint16" => 2,
        "float" | "int32" | "uint32" | "qint32" => 4,
        "double" | "int64" | "uint64" | "complex64" => 8,
        "complex128" => 16,
        _ => return None,
    };
    let extents = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    extents
        .map(|extent| extent.parse::<u64>().ok())
        .try_fold(bytes, |product: u64, extent| product.checked_mul(extent?))
}

fn allocator(found: &MessageFound) -> Finding {
    let name = found.word("allocator").unwrap_or_default();
    let kind = match kind_of(&name) {
        Kind::GpuOutOfMemory if found.word("harmless").is_some() => Kind::GpuMemoryTight,
        kind => kind,
    };
    let index = name.split('_').nth(1).and_then(|number| number.parse().ok());
    let asked = requested(kind, found);
    let finding = Finding {
        // What the pool looks for, to the byte.
        requested_bytes: found.number("rounded").or(asked.requested_bytes),
        instance: Some(name).filter(|name| !name.is_empty()),
        device_index: index.filter(|_| matches!(kind, Kind::GpuOutOfMemory | Kind::GpuMemoryTight)),
        ..asked
    };
    if kind == Kind::GpuMemoryTight { finding } else { with_statistics(finding, found.after) }
}

static NEXT: LazyLock<Regex> = LazyLock::new(|| pattern("ran out of memory trying to allocate"));
static STATISTIC: LazyLock<Regex> =
    LazyLock::new(|| pattern("\\b(Limit|InUse|LargestFreeBlock):\\s*(-?[0-9]+)"));

/// The statistics of a pool stand behind the listing of its pieces, up to the next message.
fn with_statistics(finding: Finding, after: &[u8]) -> Finding {
    let end = NEXT.find(after).map_or(after.len(), |next| next.start());
    let own = after.get(..end).unwrap_or_default();
    let statistic = |name: &[u8]| {
        let mut found = STATISTIC.captures_iter(own);
        let found = found.find(|found| found.get(1).is_some_and(|word| word.as_bytes() == name))?;
        amount::of_bytes(found.get(2)?.as_bytes())
    };
    Finding {
        limit_bytes: statistic(b"Limit"),
        used_bytes: statistic(b"InUse"),
        contiguous_bytes: statistic(b"LargestFreeBlock").filter(|bytes| *bytes > 0),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_the_size_of_their_shape() {
        assert_eq!(tensor_bytes("3,3,512,1024", "float"), Some(18_874_368));
        assert_eq!(tensor_bytes("", "double"), Some(8), "a scalar");
        assert_eq!(tensor_bytes("0, 7", "half"), Some(0));
        assert_eq!(tensor_bytes("4", "string"), None);
        assert_eq!(tensor_bytes("4294967296,4294967296", "half"), None);
    }

    #[test]
    fn names_say_whose_memory_it_is() {
        for (name, kind) in [
            ("GPU_0_bfc", Kind::GpuOutOfMemory),
            ("device:XLA_GPU:1", Kind::GpuOutOfMemory),
            ("cuda_host_bfc", Kind::HostOutOfMemory),
            ("mklcpu", Kind::HostOutOfMemory),
            ("device:TPU:0", Kind::TpuOutOfMemory),
            ("device:IPU:0", Kind::OutOfMemory),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }
}
