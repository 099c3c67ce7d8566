//! Messages of PyTorch about the memory of a GPU, before and since version 2.1 (advice.md, "Error
//! texts"); AMD's GPUs have the same with another first word.
//!
//! Used is what the message calls so: "already allocated" before 2.1, "this process has … in use" since.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind};
use super::message::{Found, Message, pattern};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:CUDA|HIP) out of memory[.] Tried to allocate (?<requested>{size})\
                  (?:\\s*\\(GPU (?<gpu>{n}); (?<limit>{size}) total capacity; (?<used>{size}) already allocated; \
                  (?<free>{size}) free; \
                  (?:(?<reserved>{size}) reserved in total by PyTorch|(?<cached>{size}) cached)\\)\
                  |[.] GPU (?:(?<gpu_now>{n}) )?has a total capac[a-z]*(?: of)? (?<limit_now>{size}) \
                  of which (?<free_now>{size}) is free[.]\
                  (?<others>(?: Process {n} has {size} memory in use[.])*)\
                  (?: Including non-PyTorch memory, this process has (?<used_now>{size}) memory in use[.])?\
                  (?: {size} allowed;)?\
                  (?: Of the allocated memory {size} is allocated by PyTorch,\
                  (?: with {size} allocated in private pools \\(e[.]g[.], CUDA Graphs\\),)? \
                  and (?<unallocated>{size}) is reserved by PyTorch but unallocated[.]?)?)?",
        read: out_of_memory,
    },
    Message {
        pattern: "(?:CUDA|HIP) error: out of memory",
        read: |_| Finding::new(Kind::CudaOutOfMemory),
    },
];

/// What PyTorch holds unallocated would suffice, if it were in one piece: fragmentation.
fn out_of_memory(found: &Found) -> Finding {
    let either = |before: &str, now: &str| found.number(before).or_else(|| found.number(now));
    let requested = found.number("requested");
    // The cache, in the oldest versions, is without what is allocated.
    let unallocated = found.number("unallocated").or_else(|| found.number("cached"));
    let reserved = || found.number("reserved")?.checked_sub(found.number("used")?);
    let unallocated = unallocated.or_else(reserved);
    let is_enough = requested.zip(unallocated).is_some_and(|(requested, held)| held >= requested);
    let kind = if is_enough { Kind::CudaFragmented } else { Kind::CudaOutOfMemory };
    let this_process = found.number("used_now");
    let gpu = found.word("gpu").or_else(|| found.word("gpu_now"));
    let finding = Finding {
        requested_bytes: requested,
        used_bytes: found.number("used").or(this_process),
        limit_bytes: either("limit", "limit_now"),
        free_bytes: either("free", "free_now"),
        unallocated_bytes: unallocated,
        // Without the figure of this process, one of those listed is itself.
        other_processes_bytes: this_process.and_then(|_| others(&found.word("others")?)),
        instance: gpu.map(|gpu| format!("GPU {gpu}")),
        ..Finding::new(kind)
    };
    finding.with_excess()
}

static PROCESS: LazyLock<Regex> = LazyLock::new(|| pattern("has ({size}) memory"));

/// The sum of what other processes have.
fn others(processes: &str) -> Option<u64> {
    PROCESS.captures_iter(processes.as_bytes()).try_fold(0_u64, |sum, process| {
        let bytes = amount::bytes(&String::from_utf8_lossy(process.get(1)?.as_bytes()))?;
        sum.checked_add(bytes)
    })
}
