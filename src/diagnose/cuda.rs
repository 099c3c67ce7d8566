//! Messages of PyTorch's allocators about the memory of GPUs and other accelerators, before and since version 2.1
//! (advice.md, "Error texts"). The allocators of AMD, Intel, Huawei and others have the same sentences with another
//! first word, and some figures more or less.
//!
//! Used is what the message calls so: "already allocated" before 2.1, "this process has … in use" since.
//! Where the process may have only a share of the GPU ("allowed"), the limit is that share, and used is
//! what PyTorch has reserved: that is what it compares with the share.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Device, Finding, Kind, UsedPart};
use super::message::{Message, MessageFound, pattern};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?<backend>CUDA|HIP|XPU|NPU|HPU|MPS|MUSA|MLU|GCU|DCU|SDAA|PPU|MACA|SUPA|PrivateUse1|GPU) out of memory[.] Tried to allocate \
                  (?:more than {n}EB memory[.]?|(?<requested>{size})(?:\\s*\\((?<old>[^()]{3,400})\\)|\
                  (?<parts>(?:[.,;]? (?:(?:GPU|NPU|XPU|MUSA|MLU|HPU|GCU|DCU|[Dd]evice)(?: {n})? has a total capac[a-z]*(?: of)? {size}\
                  |of which (?:{size} |[0-9.]{1,12}\\s*[KMGT]iB)is free|Process {n} has {size} memory in use\
                  |Including non-PyTorch memory, this process has {size} memory in use|{size} allowed|{size} free\
                  |Allocation was preemptively rejected because it would exceed \
                  per_process_memory_fraction limit(?:[.] Requested size: {size})?\
                  |Of the allocated memory {size} is allocated by PyTorch\
                  |with {size} allocated in private pools \\([^()]{0,80}\\)\
                  |and {size} is reserved by PyTorch but unallocated))*[.;]?))?)",
        read: out_of_memory,
        example: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                  24.00 GiB of which 1.25 GiB is free. Including non-PyTorch memory, this process has 22.75 GiB memory in \
                  use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 640.00 MiB is reserved by PyTorch \
                  but unallocated.",
        meaning: "PyTorch asked the device for memory, and it has not as much free. The same sentence begins with HIP, \
                  XPU, NPU and other names on other accelerators.",
    },
    Message {
        pattern: "(?<backend>XPU|MPS|Current platform) can NOT allocate memory block with size larger than \
                  (?<block>{size})! Tried to allocate (?<requested>{size})(?:\\s*\\((?<old>[^()]{3,400})\\))?",
        read: block_too_large,
        example: "Current platform can NOT allocate memory block with size larger than 4GB! Tried to allocate 5.50 GiB \
                  (GPU 0; 15.50 GiB total capacity; 0 bytes already allocated; 0 bytes reserved in total by PyTorch)",
        meaning: "The driver of an Intel GPU gives no block as large as that, however much memory is free.",
    },
    Message {
        pattern: "MPS backend out of memory(?:\\s*\\(MPS allocated: (?<used>{size})(?:, other allocations: \
                  (?<others>{size}))?(?:, max allowed: (?<limit>{size}))?\\)\
                  (?:[.] Tried to allocate (?<requested>{size})(?: on {word} pool)?)?)?",
        read: |found| Some(mps(found)),
        example: "RuntimeError: MPS backend out of memory (MPS allocated: 17.25 GiB, other allocations: 1.50 GiB, max \
                  allowed: 18.25 GiB). Tried to allocate 512.00 MiB on private pool.",
        meaning: "PyTorch on an Apple GPU has reached the share of the machine's memory that it may take.",
    },
    Message {
        pattern: "(?:MPS[A-Za-z ]{0,40}: )?Invalid buffer size: (?<requested>{size})",
        read: |found| Some(found.finding(Kind::BlockTooLarge).on(Device::Mps)),
        example: "RuntimeError: Invalid buffer size: 24.00 GiB",
        meaning: "A tensor on an Apple GPU is larger than the largest buffer of Metal.",
    },
    Message {
        // The same of the allocator that CUDA brings itself.
        pattern: "(?:OutOfMemoryError: )?Allocation on device (?<gpu>{n}) would exceed allowed memory[.] \\(out of memory\\)\
                  (?: Currently allocated\\s*: (?<reserved>{size}) Requested\\s*: (?<requested>{size}) \
                  Device limit\\s*: (?<limit>{size}) Free \\(according to CUDA\\)\\s*: (?<free>{size})\
                  (?: PyTorch limit \\(set by user-supplied memory fraction\\)\\s*: (?<allowed>{size}))?)?",
        read: |found| Some(of_cuda_allocator(found)),
        example: "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n\
                  Currently allocated     : 10.50 GiB\nRequested               : 640.00 MiB\n\
                  Device limit            : 11.50 GiB\nFree (according to CUDA): 8.00 MiB\n\
                  PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
        meaning: "The same of the allocator `cudaMallocAsync`.",
    },
    Message {
        // It begins where the one with figures does, which is longer where a line ends within it.
        pattern: "OutOfMemoryError: Allocation on device(?:[\t\\x20]+(?<gpu>{n}))?[\t\\x20\r]*(?m:$)",
        read: |found| Some(Finding { is_of_log: true, ..found.finding(Kind::CudaOutOfMemory) }),
        example: "torch.OutOfMemoryError: Allocation on device",
        meaning: "The same without figures, as ComfyUI shows it.",
    },
    Message {
        pattern: "(?<error>(?:CUDA|Cuda|cuda|HIP|Hip)(?: runtime| driver)? [Ee]rror\
                  (?: in (?:[^:\0]|::){1,200}|\\s*\\([^()\r\n]{1,200}\\))?)[\\s:(]*(?:{n}[\\s):]*)?\
                  (?:out of memory|(?:cuda|hip)Error(?:MemoryAllocation|OutOfMemory)|memory allocation failed)",
        read: |found| {
            let is_amd = found.word("error")?.to_ascii_uppercase().starts_with("HIP");
            Some(Finding::new(Kind::CudaOutOfMemory).on(if is_amd {
                Device::Rocm
            } else {
                Device::Cuda
            }))
        },
        example: "RuntimeError: CUDA error: out of memory",
        meaning: "CUDA itself gave no memory: before PyTorch's allocator was asked, or to something that does not ask it.",
    },
    Message {
        pattern: "(?:[Ss]aving|[Dd]umping|[Ww]riting) (?:allocated state|(?:a )?memory snapshot|(?:the )?snapshot)[^\r\n.]{0,80} \
                  (?:during|on|after|at) (?:an )?(?:OOM|CUDA out of memory|out[- ]of[- ]memory)",
        read: |_| Some(Finding::new(Kind::CudaOutOfMemory)),
        example: "saving allocated state during OOM",
        meaning: "PyTorch's observer of out-of-memory errors writes a snapshot of the memory.",
    },
    Message {
        pattern: "PYTORCH_(?:CUDA|HIP)_ALLOC_CONF is deprecated,? (?:please )?use PYTORCH_ALLOC_CONF(?: instead)?",
        read: |_| Some(Finding::new(Kind::DeprecatedSetting)),
        example: "Warning: PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead",
        meaning: "The name of the allocator's settings is old. The settings are read all the same; nothing failed.",
    },
];

/// What a message says of a request that failed.
#[derive(Default)]
struct DeviceRequest {
    device: Option<Device>,
    /// `GPU 0`
    instance: Option<String>,
    index: Option<u64>,
    requested: Option<u64>,
    capacity: Option<u64>,
    /// What the process may have of it.
    allowed: Option<u64>,
    free: Option<u64>,
    used: Option<u64>,
    /// What PyTorch has of the GPU, in use or not.
    reserved: Option<u64>,
    unallocated: Option<u64>,
    pools: Option<u64>,
    others: Option<u64>,
    /// Whether the message names the share of the process as the reason.
    is_rejected: bool,
}

/// Why a request failed.
enum CudaVerdict {
    TooLarge,
    Full,
    Fragmented,
    OverShare,
    Refused,
}

impl DeviceRequest {
    /// What does not fit in a share of the GPU would not fit however much is free; what PyTorch holds unallocated
    /// would suffice, if it were in one piece, where nothing else is free.
    fn verdict(&self, is_over_share: bool) -> CudaVerdict {
        let reaches = |bytes: Option<u64>, least: Option<u64>| {
            bytes.zip(least).is_some_and(|(bytes, least)| bytes >= least)
        };
        // A few pieces of what is full are nothing that another order would help.
        let whole = self.allowed.filter(|_| is_over_share).or(self.capacity).or(self.reserved);
        let is_much = self.unallocated.is_some_and(|held| {
            whole.is_none_or(|whole| held >= (whole / LEAST_IN_PIECES).min(MUCH_IN_PIECES))
        });
        let is_fragmented = is_much && reaches(self.unallocated, self.requested);
        if self.is_above_block() {
            CudaVerdict::TooLarge
        } else if is_over_share || self.is_rejected {
            // Without what is held in pieces it would fit.
            if is_fragmented { CudaVerdict::Fragmented } else { CudaVerdict::OverShare }
        } else if reaches(self.free, self.requested.map(segment)) {
            CudaVerdict::Refused
        } else if is_fragmented {
            CudaVerdict::Fragmented
        } else {
            CudaVerdict::Full
        }
    }

    /// What PyTorch has, with the request.
    fn wanted(&self) -> Option<u64> {
        self.reserved?.checked_add(self.requested?)
    }

    /// Whether the driver of an Intel GPU gives no block as large, although the device has room for it.
    fn is_above_block(&self) -> bool {
        const BLOCK: u64 = 4 << 30;
        let wanted = self.wanted();
        self.device == Some(Device::Xpu)
            && self.requested.is_some_and(|requested| requested > BLOCK)
            && self.free.is_none_or(|free| Some(free) >= self.requested)
            && wanted.zip(self.capacity).is_some_and(|(wanted, capacity)| wanted <= capacity)
    }

    fn finding(self) -> Finding {
        let share = self.allowed.filter(|share| self.capacity.is_none_or(|all| *share < all));
        let wanted = self.wanted();
        // What PyTorch takes for the request counts, which is more than the request.
        let taken = self.reserved.zip(self.requested.map(segment));
        let taken = taken.and_then(|(has, more)| has.checked_add(more)).or(wanted);
        let is_over_share = share.is_some_and(|share| taken.is_none_or(|taken| taken > share));
        let device = self.device.unwrap_or(Device::Cuda);
        let kind = match (self.verdict(is_over_share), device.is_gpu()) {
            (CudaVerdict::TooLarge, _) => Kind::BlockTooLarge,
            (CudaVerdict::Full, true) => Kind::CudaOutOfMemory,
            (CudaVerdict::Full, false) => Kind::AcceleratorOutOfMemory,
            (CudaVerdict::Fragmented, true) => Kind::CudaFragmented,
            (CudaVerdict::Fragmented, false) => Kind::AcceleratorFragmented,
            (CudaVerdict::OverShare, true) => Kind::CudaProcessLimit,
            (CudaVerdict::OverShare, false) => Kind::AcceleratorProcessLimit,
            (CudaVerdict::Refused, true) => Kind::CudaRefused,
            (CudaVerdict::Refused, false) => Kind::AcceleratorRefused,
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
            reserved_bytes: self.reserved,
            private_pools_bytes: self.pools,
            instance: self.instance,
            device_index: self.index,
            ..Finding::new(kind).on(device)
        };
        // What is free on the GPU is no room where a share is the limit.
        if is_over_share { finding } else { finding.with_excess() }
    }
}

/// A twentieth of the device in pieces is worth a word, and so is this many bytes of a large one.
const LEAST_IN_PIECES: u64 = 20;
const MUCH_IN_PIECES: u64 = 6 << 30;

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

/// The device of PyTorch's name for it.
fn device_of(backend: &str) -> Device {
    match backend {
        "CUDA" | "GPU" => Device::Cuda,
        "HIP" | "ROCM" | "DCU" => Device::Rocm,
        "XPU" => Device::Xpu,
        "NPU" => Device::Npu,
        "MPS" => Device::Mps,
        "HPU" => Device::Hpu,
        _ => Device::Accelerator,
    }
}

fn out_of_memory(found: &MessageFound) -> Option<Finding> {
    let backend = found.word("backend")?;
    let device = device_of(&backend);
    if let Some(old) = found.word("old") {
        return Some(before_2_1(found, device, &old).finding());
    }
    let parts = found.word("parts").unwrap_or_default();
    let this_process = first(&THIS_PROCESS, &parts);
    let unallocated = first(&UNALLOCATED, &parts);
    let allocated = first(&ALLOCATED, &parts);
    let reserved = allocated.zip(unallocated).and_then(|(used, held)| used.checked_add(held));
    let listed = processes(&parts).unwrap_or_default();
    let (name, index) = named(&parts);
    let request = DeviceRequest {
        device: Some(device),
        instance: index.map(|index| format!("{name} {index}")),
        index,
        requested: found.number("requested"),
        capacity: first(&WHOLE, &parts),
        allowed: first(&ALLOWED, &parts),
        free: first(&OF_WHICH, &parts),
        used: this_process,
        reserved,
        unallocated,
        pools: first(&POOLS, &parts),
        others: match this_process {
            Some(_) => sum(&listed),
            None => reserved.and_then(|reserved| others_than(&listed, reserved)),
        },
        is_rejected: parts.contains("preemptively rejected"),
    };
    Some(request.finding())
}

/// How the device is called, and its number.
fn named(parts: &str) -> (String, Option<u64>) {
    let found = NAMED.captures(parts.as_bytes());
    let word = |index| {
        let word = found.as_ref()?.get(index)?.as_bytes();
        Some(String::from_utf8_lossy(word).into_owned())
    };
    (word(1).unwrap_or_default(), word(2).and_then(|number| number.parse().ok()))
}

/// The figures in parentheses: `GPU 0; 7.77 GiB total capacity; 6.03 GiB already allocated; …`.
fn before_2_1(found: &MessageFound, device: Device, figures: &str) -> DeviceRequest {
    let head = figures.split(';').next().unwrap_or_default();
    let instance = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = instance.split(' ').nth(1).and_then(|number| number.parse().ok());
    let is_of_device = number.is_some() && instance.split(' ').count() == 2;
    let used = first(&ALREADY, figures);
    // The cache, in the oldest versions, is without what is allocated.
    let cached = first(&CACHED, figures);
    let reserved = first(&RESERVED, figures)
        .or_else(|| used.zip(cached).and_then(|(used, cached)| used.checked_add(cached)));
    DeviceRequest {
        device: Some(device),
        instance: Some(instance).filter(|_| is_of_device),
        index: number,
        requested: found.number("requested"),
        capacity: first(&CAPACITY, figures),
        allowed: first(&ALLOWED, figures),
        free: first(&FREE, figures),
        used,
        reserved,
        unallocated: cached
            .or_else(|| reserved.zip(used).and_then(|(held, used)| held.checked_sub(used))),
        ..DeviceRequest::default()
    }
}

fn block_too_large(found: &MessageFound) -> Option<Finding> {
    let device = match found.word("backend")?.as_str() {
        "MPS" => Device::Mps,
        _ => Device::Xpu,
    };
    let old = found.word("old").unwrap_or_default();
    let request = before_2_1(found, device, &old);
    Some(Finding {
        requested_bytes: request.requested,
        limit_bytes: request.capacity,
        used_bytes: request.used,
        reserved_bytes: request.reserved,
        // No larger piece is given.
        contiguous_bytes: found.number("block"),
        instance: request.instance,
        device_index: request.index,
        ..Finding::new(Kind::BlockTooLarge).on(device)
    })
}

/// The limit is for all that the process has of the GPU: what PyTorch allocated, and what Metal has for it besides.
fn mps(found: &MessageFound) -> Finding {
    let (own, others) = (found.number("used"), found.number("others"));
    let finding = found.finding(Kind::AcceleratorOutOfMemory).on(Device::Mps);
    let used = own.and_then(|own| own.checked_add(others.unwrap_or(0)));
    let wanted = used.zip(finding.requested_bytes);
    let wanted = wanted.and_then(|(used, more)| used.checked_add(more));
    let excess = wanted.zip(finding.limit_bytes).and_then(|(all, limit)| all.checked_sub(limit));
    let parts = [("MPS allocated", own), ("other allocations", others)];
    let parts = parts.into_iter().filter(|_| others.is_some());
    Finding {
        used_bytes: used,
        excess_bytes: excess.filter(|excess| *excess > 0),
        breakdown: parts
            .filter_map(|(name, bytes)| Some(UsedPart { name: name.to_owned(), bytes: bytes? }))
            .collect(),
        ..finding
    }
}

fn of_cuda_allocator(found: &MessageFound) -> Finding {
    let index = found.number("gpu");
    let request = DeviceRequest {
        instance: index.map(|index| format!("GPU {index}")),
        index,
        requested: found.number("requested"),
        capacity: found.number("limit"),
        allowed: found.number("allowed"),
        free: found.number("free"),
        used: found.number("reserved"),
        reserved: found.number("reserved"),
        ..DeviceRequest::default()
    };
    request.finding()
}

static NAMED: LazyLock<Regex> =
    LazyLock::new(|| pattern("([A-Za-z]+)(?: ([0-9]+))? has a total capac"));
static WHOLE: LazyLock<Regex> =
    LazyLock::new(|| pattern("has a total capac[a-z]*(?: of)? ({size})"));
static OF_WHICH: LazyLock<Regex> =
    LazyLock::new(|| pattern("of which ({size}|[0-9.]{1,12}\\s*[KMGT]iB)\\s*is free"));
static ALLOCATED: LazyLock<Regex> =
    LazyLock::new(|| pattern("allocated memory ({size}) is allocated"));
static UNALLOCATED: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) is reserved by PyTorch"));
static POOLS: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) allocated in private pools"));
static CAPACITY: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) total capacity"));
static ALREADY: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) (?:already )?allocated"));
static CACHED: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) cached"));
static FREE: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) free"));
static RESERVED: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) reserved"));
static ALLOWED: LazyLock<Regex> = LazyLock::new(|| pattern("({size}) allowed"));
static THIS_PROCESS: LazyLock<Regex> =
    LazyLock::new(|| pattern("this process has ({size}) memory"));
static PROCESS: LazyLock<Regex> = LazyLock::new(|| pattern("Process {n} has ({size}) memory"));

/// The first amount that an expression finds.
fn first(regex: &Regex, text: &str) -> Option<u64> {
    amount::of_bytes(regex.captures(text.as_bytes())?.get(1)?.as_bytes())
}

/// What each of the processes has that are listed.
fn processes(parts: &str) -> Option<Vec<u64>> {
    let sizes = PROCESS.captures_iter(parts.as_bytes()).filter_map(|process| process.get(1));
    sizes.map(|size| amount::of_bytes(size.as_bytes())).collect()
}

/// What others have where the message does not tell which of those listed is this process, as in a container: it has at
/// least what its allocator has reserved. `None` where that holds for several, or for none.
fn others_than(listed: &[u64], reserved: u64) -> Option<u64> {
    let (own, others): (Vec<u64>, Vec<u64>) = listed.iter().partition(|size| **size >= reserved);
    if own.len() == 1 { sum(&others) } else { None }
}

/// The sum of what is listed, if something is.
fn sum(sizes: &[u64]) -> Option<u64> {
    let (first, rest) = sizes.split_first()?;
    rest.iter().try_fold(*first, |sum, size| sum.checked_add(*size))
}
