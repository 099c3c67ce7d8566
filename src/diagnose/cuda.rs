//! Messages of PyTorch about the memory of a GPU, before and since version 2.1 (advice.md, "Error
//! texts"); AMD's GPUs have the same with another first word.
//!
//! Used is what the message calls so: "already allocated" before 2.1, "this process has … in use" since.
//! Where the process may have only a share of the GPU ("allowed"), the limit is that share, and used is
//! what PyTorch has reserved: that is what it compares with the share.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind};
use super::message::{Message, MessageFound, pattern};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:CUDA|HIP) out of memory[.] Tried to allocate (?<requested>{size})\
                  (?:\\s*\\(GPU (?<gpu>{n}); (?<limit>{size}) total capacity; (?<used>{size}) already allocated; \
                  (?<free>{size}) free; (?:(?<share>{size}) allowed; )?\
                  (?:(?<reserved>{size}) reserved in total by PyTorch|(?<cached>{size}) cached)\\)\
                  |[.] GPU (?:(?<gpu_now>{n}) )?has a total capac[a-z]*(?: of)? (?<limit_now>{size}) \
                  of which (?<free_now>{size}) is free[.]\
                  (?<parts>(?: (?:Process {n} has {size} memory in use[.]\
                  |Including non-PyTorch memory, this process has {size} memory in use[.]\
                  |{size} allowed;|{size} free[.]\
                  |Allocation was preemptively rejected because it would exceed \
                  per_process_memory_fraction limit[.](?: Requested size: {size}[.,;]?)?))*)\
                  (?: Of the allocated memory (?<allocated>{size}) is allocated by PyTorch,\
                  (?: with {size} allocated in private pools \\(e[.]g[.], (?:CUDA|HIP) Graphs\\),)? \
                  and (?<unallocated>{size}) is reserved by PyTorch but unallocated[.]?)?)?",
        read: out_of_memory,
    },
    Message {
        // The same of the allocator that CUDA brings itself.
        pattern: "Allocation on device (?<gpu>{n}) would exceed allowed memory[.] \\(out of memory\\)\
                  (?: Currently allocated\\s*: (?<reserved>{size}) Requested\\s*: (?<requested>{size}) \
                  Device limit\\s*: (?<limit>{size}) Free \\(according to CUDA\\)\\s*: (?<free>{size})\
                  (?: PyTorch limit \\(set by user-supplied memory fraction\\)\\s*: (?<allowed>{size}))?)?",
        read: of_cuda_allocator,
    },
    Message {
        pattern: "(?:CUDA|HIP) error: out of memory",
        read: |_| Finding::new(Kind::CudaOutOfMemory),
    },
];

/// What a message says of a request that failed.
#[derive(Default)]
struct CudaRequest {
    gpu: Option<String>,
    requested: Option<u64>,
    capacity: Option<u64>,
    /// What the process may have of it.
    allowed: Option<u64>,
    free: Option<u64>,
    used: Option<u64>,
    /// What PyTorch has of the GPU, in use or not.
    reserved: Option<u64>,
    unallocated: Option<u64>,
    others: Option<u64>,
    /// Whether the message names the share of the process as the reason.
    is_rejected: bool,
}

impl CudaRequest {
    /// Why it failed. What does not fit in a share of the GPU would not fit however much is free; what
    /// PyTorch holds unallocated would suffice, if it were in one piece, where nothing else is free.
    fn finding(self) -> Finding {
        let share = self.allowed.filter(|share| self.capacity.is_none_or(|all| *share < all));
        let wanted =
            self.reserved.zip(self.requested).and_then(|(has, more)| has.checked_add(more));
        let is_over_share = share.is_some_and(|share| wanted.is_none_or(|wanted| wanted > share));
        let reaches = |bytes: Option<u64>, least: Option<u64>| {
            bytes.zip(least).is_some_and(|(bytes, least)| bytes >= least)
        };
        let kind = if is_over_share || self.is_rejected {
            // Without what is held in pieces it would fit.
            if reaches(self.unallocated, self.requested) {
                Kind::CudaFragmented
            } else {
                Kind::CudaProcessLimit
            }
        } else if reaches(self.free, self.requested.map(segment)) {
            Kind::CudaRefused
        } else if reaches(self.unallocated, self.requested) {
            Kind::CudaFragmented
        } else {
            Kind::CudaOutOfMemory
        };
        let (used, limit, excess) = match share.filter(|_| is_over_share) {
            Some(share) => (
                self.reserved.or(self.used),
                Some(share),
                wanted.and_then(|wanted| wanted.checked_sub(share)),
            ),
            None => (self.used, self.capacity, None),
        };
        let finding = Finding {
            requested_bytes: self.requested,
            used_bytes: used,
            limit_bytes: limit,
            limit_is_share: is_over_share,
            excess_bytes: excess,
            free_bytes: self.free,
            unallocated_bytes: self.unallocated,
            other_processes_bytes: self.others,
            instance: self.gpu.map(|gpu| format!("GPU {gpu}")),
            ..Finding::new(kind)
        };
        // What is free on the GPU is no room where a share is the limit.
        if is_over_share { finding } else { finding.with_excess() }
    }
}

/// Bytes that PyTorch takes from CUDA for a request: 2 MiB for small ones, 20 MiB below 10 MiB, else the
/// next multiple of 2 MiB.
fn segment(requested: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    match requested {
        0..=MIB => 2 * MIB,
        _ if requested < 10 * MIB => 20 * MIB,
        _ => requested.checked_next_multiple_of(2 * MIB).unwrap_or(requested),
    }
}

fn out_of_memory(found: &MessageFound) -> Finding {
    let either = |before: &str, now: &str| found.number(before).or_else(|| found.number(now));
    let parts = found.word("parts").unwrap_or_default();
    let part = |regex: &Regex| {
        let number = regex.captures(parts.as_bytes())?.get(1)?.as_bytes();
        amount::of_bytes(number)
    };
    let this_process = part(&THIS_PROCESS);
    // The cache, in the oldest versions, is without what is allocated.
    let unallocated = found.number("unallocated").or_else(|| found.number("cached"));
    let allocated = either("used", "allocated");
    let reserved = found.number("reserved").or_else(|| allocated?.checked_add(unallocated?));
    let request = CudaRequest {
        gpu: found.word("gpu").or_else(|| found.word("gpu_now")),
        requested: found.number("requested"),
        capacity: either("limit", "limit_now"),
        allowed: found.number("share").or_else(|| part(&ALLOWED)),
        free: either("free", "free_now"),
        used: found.number("used").or(this_process),
        reserved,
        unallocated: unallocated.or_else(|| reserved?.checked_sub(found.number("used")?)),
        // Without the figure of this process, one of those listed is itself.
        others: this_process.and_then(|_| others(&parts)),
        is_rejected: parts.contains("preemptively rejected"),
    };
    request.finding()
}

fn of_cuda_allocator(found: &MessageFound) -> Finding {
    let request = CudaRequest {
        gpu: found.word("gpu"),
        requested: found.number("requested"),
        capacity: found.number("limit"),
        allowed: found.number("allowed"),
        free: found.number("free"),
        used: found.number("reserved"),
        reserved: found.number("reserved"),
        ..CudaRequest::default()
    };
    request.finding()
}

static ALLOWED: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) allowed;"));
static THIS_PROCESS: LazyLock<Regex> =
    LazyLock::new(|| pattern("this process has ({size}) memory"));
static PROCESS: LazyLock<Regex> = LazyLock::new(|| pattern("Process {n} has ({size}) memory"));

/// The sum of what other processes have.
fn others(parts: &str) -> Option<u64> {
    let sizes = || PROCESS.captures_iter(parts.as_bytes()).filter_map(|process| process.get(1));
    sizes().next()?;
    sizes().try_fold(0_u64, |sum, size| sum.checked_add(amount::of_bytes(size.as_bytes())?))
}
