//! Messages of the drivers and compilers of other accelerators about their memory: Ascend, Gaudi, Neuron, Tenstorrent,
//! Intel's GPUs.

use super::finding::{Device, Finding, Kind, UsedPart};
use super::message::{Message, MessageFound};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "Out of Memory: Not enough space (?:after considering dependencies )?to allocate (?<requested>{n}) B \
                  (?<space>[A-Z][A-Z0-9_]{1,20})(?: buffer)? across (?<banks>{n}) banks(?:, where each bank needs to store \
                  (?<each>{n}) B| \\((?<per>{n}) B per bank\\))(?:, (?:but )?bank size is (?:only )?(?<bank>{n}) B)?\
                  (?: \\(allocated: (?<used>{n}) B, free: (?<free>{n}) B, largest free block: (?<contiguous>{n}) B\\))?",
        read: |found| Some(tenstorrent(found)),
        example: "TT_FATAL: Out of Memory: Not enough space to allocate 67108864 B L1 buffer across 64 banks, where each bank needs \
                  to store 1048576 B, but bank size is 1395424 B (allocated: 655360 B, free: 740064 B, largest free block: \
                  524288 B).",
        meaning: "A buffer of a Tenstorrent card is spread over banks, and its part does not fit into one bank. What is allocated \
                  and free is that of a bank.",
    },
    Message {
        pattern: "Statically allocated (?:circular|dataflow) buffers (?:on core range [^\0]{1,200}? |in program {n} )?grow to (?<used>{n}) B which is \
                  beyond max L1 size of (?<limit>{n}) B",
        read: |found| {
            let finding = found.finding(Kind::AcceleratorOutOfMemory).on(Device::Tenstorrent);
            Some(Finding { memory_space: Some("L1".to_owned()), ..finding }.with_excess())
        },
        example: "Statically allocated circular buffers on core range [(x=0,y=0) - (x=7,y=7)] grow to 1695744 B which is beyond max \
                  L1 size of 1499136 B",
        meaning: "The circular buffers of an operation are larger than the L1 memory of a Tenstorrent core.",
    },
    Message {
        pattern: "Statically allocated (?:circular|dataflow) buffers in program {n} clash with L1 buffers on core range [^\0]{1,200}?[.] L1 buffer \
                  allocated at (?<limit>{n}) and static (?:circular|dataflow) buffer region ends at (?<used>{n})",
        read: |found| {
            let finding = found.finding(Kind::AcceleratorOutOfMemory).on(Device::Tenstorrent);
            Some(Finding { memory_space: Some("L1".to_owned()), ..finding }.with_excess())
        },
        example: "Statically allocated circular buffers in program 12 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 \
                  buffer allocated at 524288 and static circular buffer region ends at 655360",
        meaning: "The circular buffers of an operation reach into a buffer in the L1 memory of a Tenstorrent core.",
    },
    Message {
        pattern: "Persistent L1 arena is out of memory: cannot place (?<requested>{n}) bytes|\
                  Out of Memory: Cannot allocate at an address below {n}[.] Allocation at {n}|\
                  ring size \\((?<used>{n}) bytes\\) exceeds Tensix unreserved L1 size \\((?<limit>{n}) bytes\\)",
        read: |found| {
            let finding = found.finding(Kind::AcceleratorOutOfMemory).on(Device::Tenstorrent);
            Some(Finding { memory_space: Some("L1".to_owned()), ..finding }.with_excess())
        },
        example: "Persistent L1 arena is out of memory: cannot place 65536 bytes aligned to 64 on cores [0-0 - 7-7] in [0, 1499136)",
        meaning: "The L1 memory of the cores of a Tenstorrent card has no room at a place that is prescribed.",
    },
    Message {
        pattern: "(?:PT_DEVMEM[^\0]{0,80}? )?Allocation failed for size::\\s*(?<requested>{n})(?:\\s*\\({n}\\)\\s*[KMG]?B)?",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Hpu)),
        example: "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1073741824 (1024)MB",
        meaning: "A Gaudi has no room for this tensor.",
    },
    Message {
        pattern: "[Ff]ailed to alloc DEVICE memory:? (?<requested>{n})",
        read: |found| Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Neuron)),
        example: "TDRV:dmem_alloc_internal Failed to alloc DEVICE memory: 1073741824",
        meaning: "A Neuron core (Trainium, Inferentia) has no room for this tensor.",
    },
    Message {
        pattern: "[Pp]eak HBM usage (?:of )?\\(?(?<used>{size})\\)? exceeds (?:the )?(?:limit of |available )?\\(?(?<limit>{size})",
        read: |found| {
            Some(found.finding(Kind::AcceleratorOutOfMemory).on(Device::Neuron).with_excess())
        },
        example: "ERROR: Estimated peak HBM usage (24.50 GB) exceeds 16GB. Neff won't be able to load on chip",
        meaning: "The compiler of Neuron found that a program needs more memory than a core has.",
    },
    Message {
        pattern: "(?:EL0004: )?(?:[^\r\n]{0,60}: )?Failed to allocate memory[.] Possible Cause: Available memory is insufficient",
        read: |_| Some(Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Npu)),
        example: "EL0004: Failed to allocate memory.\n        Possible Cause: Available memory is insufficient.",
        meaning: "The runtime of an Ascend NPU got no memory.",
    },
    Message {
        pattern: "(?:alloc|malloc)[A-Za-z ]{0,30} device memory failed, runtime result = 207001",
        read: |_| Some(Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Npu)),
        example: "alloc device memory failed, runtime result = 207001",
        meaning: "The same with the number of the error.",
    },
    Message {
        pattern: "(?<part>\\b)(?:UR_RESULT_ERROR|PI_ERROR|ZE_RESULT_ERROR)_OUT_OF_(?:DEVICE_MEMORY|RESOURCES|HOST_MEMORY)\\b",
        read: |found| {
            let is_host = found.captures.get_match().as_bytes().ends_with(b"HOST_MEMORY");
            Some(if is_host {
                Finding::new(Kind::HostOutOfMemory)
            } else {
                Finding::new(Kind::AcceleratorOutOfMemory).on(Device::Xpu)
            })
        },
        example: "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
        meaning: "The driver of an Intel GPU got no memory.",
    },
    Message {
        pattern: "\\bCL_(?:MEM_OBJECT_ALLOCATION_FAILURE|OUT_OF_HOST_MEMORY)\\b",
        read: |found| {
            let is_host = found.captures.get_match().as_bytes().ends_with(b"HOST_MEMORY");
            Some(Finding::new(if is_host {
                Kind::HostOutOfMemory
            } else {
                Kind::AcceleratorOutOfMemory
            }))
        },
        example: "clEnqueueWriteBuffer failed: CL_MEM_OBJECT_ALLOCATION_FAILURE",
        meaning: "OpenCL got no memory for a buffer.",
    },
];

/// A buffer lies in as many banks; what fits into one decides.
fn tenstorrent(found: &MessageFound) -> Finding {
    let each = found.number("each").or_else(|| found.number("per"));
    let (free, largest) = (found.number("free"), found.number("contiguous"));
    let is_fragmented = each
        .zip(free)
        .zip(largest)
        .is_some_and(|((each, free), largest)| each <= free && each > largest);
    let kind =
        if is_fragmented { Kind::AcceleratorFragmented } else { Kind::AcceleratorOutOfMemory };
    let bank = found.number("bank");
    let missing = each.zip(free.or(bank)).and_then(|(each, free)| each.checked_sub(free));
    Finding {
        limit_bytes: bank,
        excess_bytes: missing.filter(|missing| *missing > 0),
        memory_space: found.word("space"),
        breakdown: each
            .map(|bytes| UsedPart { name: "in each bank".to_owned(), bytes })
            .into_iter()
            .collect(),
        ..found.finding(kind).on(Device::Tenstorrent)
    }
}
