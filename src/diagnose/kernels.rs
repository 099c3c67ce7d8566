//! Messages about kernels that need more of the memory on the chip of a GPU than there is: of Triton, Pallas,
//! NVIDIA's assembler and others. None of it is about the GPU's main memory.

use super::finding::{FailedProgram, Finding, Kind};
use super::message::{Message, MessageFound};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "out of resource: (?:(?<what>shared memory|tensor memory|(?<kernel>[A-Za-z_][0-9A-Za-z_.]{0,200})),? )\
                  Required:\\s*(?<requested>{n}),? Hardware limit:\\s*(?<limit>{n})",
        read: triton,
        example: "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: \
                  101376. Reducing block sizes or `num_stages` may help.",
        meaning: "A kernel of Triton needs more shared memory for a block of threads than the GPU has for one.",
    },
    Message {
        pattern: "Entry function '(?<kernel>[^'\r\n]{1,400})' uses too much shared data \\(0x(?<hex>[0-9a-fA-F]{1,12}) bytes, \
                  0x(?<most>[0-9a-fA-F]{1,12}) max\\)",
        read: |found| {
            let bytes = |group: &str| u64::from_str_radix(&found.word(group)?, 16).ok();
            Some(of_kernel(Finding {
                requested_bytes: bytes("hex"),
                limit_bytes: bytes("most"),
                failed_program: FailedProgram::kernel(found.word("kernel")),
                ..Finding::new(Kind::GpuSharedMemory)
            }))
        },
        example: "ptxas error   : Entry function '_Z6kernelPf' uses too much shared data (0x10400 bytes, 0xc000 max)",
        meaning: "The static shared memory of a kernel in CUDA is larger than a block may have.",
    },
    Message {
        pattern: "Mosaic GPU kernel exceeds available shared memory: (?:smem_bytes=)?(?<requested>{n}) > \
                  (?:max_smem_bytes=)?(?<limit>{n})",
        read: |found| Some(of_kernel(found.finding(Kind::GpuSharedMemory))),
        example: "ValueError: Mosaic GPU kernel exceeds available shared memory: smem_bytes=245760 > max_smem_bytes=232448",
        meaning: "A kernel of Pallas (JAX) needs more shared memory for a block of threads than the GPU has for one.",
    },
    Message {
        pattern: "Shared memory size limit exceeded(?:: requested (?<requested>{n}),? available:? (?<limit>{n}))?",
        read: |found| Some(of_kernel(found.finding(Kind::GpuSharedMemory))),
        example: "RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 278528, available: 232448",
        meaning: "A kernel that XLA made with Triton needs more shared memory than the GPU has for a block.",
    },
    Message {
        pattern: "[Ss]hared memory requested exceeds (?:the )?(?:device|available) resources",
        read: |_| Some(Finding::new(Kind::GpuSharedMemory)),
        example: "INVALID_ARGUMENT: Shared memory requested exceeds device resources.",
        meaning: "The same in older releases of JAX.",
    },
    Message {
        pattern: "[Ff]ailed to set (?:the )?(?:allowed )?(?:max )?dynamic shared memory size to (?<requested>{n})",
        read: |found| Some(found.finding(Kind::GpuSharedMemory)),
        example: "RuntimeError: Failed to set the allowed dynamic shared memory size to 262144 with error: 1",
        meaning: "A kernel of TVM or TileLang wants more shared memory than a block may have.",
    },
];

fn triton(found: &MessageFound) -> Option<Finding> {
    // Registers and threads are no memory.
    let what = found.word("what")?;
    if matches!(what.as_str(), "registers" | "threads" | "warps") {
        return None;
    }
    // Tensor memory is counted in columns.
    if what.starts_with("tensor") {
        let space = Some("tensor memory".to_owned());
        return Some(Finding { memory_space: space, ..Finding::new(Kind::GpuSharedMemory) });
    }
    Some(of_kernel(found.finding(Kind::GpuSharedMemory)))
}

/// What is asked for against what a block may have.
fn of_kernel(finding: Finding) -> Finding {
    let more = |most: Option<u64>, least: Option<u64>| most?.checked_sub(least?);
    let excess = more(finding.requested_bytes, finding.limit_bytes).filter(|excess| *excess > 0);
    let space = Some("shared memory".to_owned());
    Finding { excess_bytes: excess, memory_space: space, ..finding }
}
