//! The messages, each with numbers and names of our own.

use crate::analysis::diagnose::{Allocation, Finding, Kind, Part};

/// A text with one message, and its facts.
pub struct Example {
    pub text: String,
    pub expected: Finding,
}

fn example(text: &str, expected: Finding) -> Example {
    Example { text: text.to_owned(), expected }
}

fn kind(kind: Kind) -> Finding {
    Finding::new(kind)
}

fn tile(tile: u64, used: u64, limit: u64) -> Finding {
    Finding {
        tile: Some(tile),
        used_bytes: Some(used),
        limit_bytes: Some(limit),
        excess_bytes: Some(used - limit),
        ..kind(Kind::TileOutOfMemory)
    }
}

fn name(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

pub fn examples() -> Vec<Example> {
    [ipu(), host_and_planner(), tpu(), cuda(), cuda_limits(), gpu(), host()]
        .into_iter()
        .flatten()
        .collect()
}

fn ipu() -> Vec<Example> {
    let fits_not = Kind::VariablesDoNotFit;
    vec![
        example(
            "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory",
            tile(12, 270_336, 262_144),
        ),
        example(
            "Out of memory on tile 1471: 1,638,976 bytes used but tiles only have 638,976 bytes of memory. Profile \
             saved to: /data/run 7/profile.pop",
            Finding { profile: name("/data/run 7/profile.pop"), ..tile(1471, 1_638_976, 638_976) },
        ),
        example(
            "Out of memory on tiles 3, 5-7 and 9: 640000 bytes used but the tile only has 638976 bytes",
            Finding { tiles_out: Some(5), ..tile(3, 640_000, 638_976) },
        ),
        example(
            "Out of memory on tile 77",
            Finding { tile: Some(77), ..kind(Kind::TileOutOfMemory) },
        ),
        example(
            "Out of memory on 4 tiles\nTotal memory overspill: 12345 bytes\nTop tile by memory usage:\nTile 8 memory \
             usage: 274489 bytes\n",
            Finding {
                tiles_out: Some(4),
                excess_bytes: Some(12_345),
                tile: Some(8),
                used_bytes: Some(274_489),
                ..kind(Kind::TilesOutOfMemory)
            },
        ),
        example(
            "1,021 tile(s) out of memory",
            Finding { tiles_out: Some(1021), ..kind(Kind::TilesOutOfMemory) },
        ),
        example(
            "Out of memory: Cannot fit all variable data onto one or more tiles.",
            kind(fits_not),
        ),
        example(
            "Out of memory: Cannot fit all variable data onto one or more tiles. Profile saved to: out/profile.pop",
            Finding { profile: name("out/profile.pop"), ..kind(fits_not) },
        ),
        example(
            "Out of memory, the graph profile is available here: /tmp/oom/training/profile.pop",
            Finding { profile: name("/tmp/oom/training/profile.pop"), ..kind(Kind::OutOfMemory) },
        ),
        example(
            "Out of memory, the graph profile is available here: \"/tmp/oom\".",
            Finding { profile: name("/tmp/oom"), ..kind(Kind::OutOfMemory) },
        ),
        example(
            "popart.session.OutOfMemoryException: the graph does not compile",
            kind(Kind::OutOfMemory),
        ),
        example(
            "'poplar_stream_memory_allocation_error': a stream does not fit",
            kind(Kind::HostBuffer),
        ),
        example(
            "Need to set the 'debug.allowOutOfMemory' engine option to true to get the graph report",
            kind(Kind::ProfileNotWritten),
        ),
        example(
            "Tile 1470 receives more data than it has total memory in exchange 'cs2_9/enc/gather_ExchangePre'",
            Finding {
                tile: Some(1470),
                exchange: name("cs2_9/enc/gather_ExchangePre"),
                ..kind(Kind::ExchangeTooLarge)
            },
        ),
        example(
            "tile 6 _poplar_start must be 0 not 262144 bytes from the start of memory. Typically this error occurs \
             when there is too much code to fit incode memory.",
            Finding { tile: Some(6), ..kind(Kind::CodeTooLarge) },
        ),
    ]
}

fn host_and_planner() -> Vec<Example> {
    let proportion = "embedding::plan could not find a valid solution with availableMemoryProportion=0.05, trying \
                      again with unlimited temporary memory";
    vec![
        example(
            "Buffer 3 needs to be at least 1073741824 Bytes, but remaining host buffer memory is only 268435456",
            Finding {
                requested_bytes: Some(1 << 30),
                free_bytes: Some(1 << 28),
                excess_bytes: Some(805_306_368),
                ..kind(Kind::HostBuffer)
            },
        ),
        example(
            "'poplar_stream_memory_allocation_error': lower.cpp:12 Out of memory. Single stream of length 300000000 \
             in bufferIndex 4",
            Finding { requested_bytes: Some(300_000_000), ..kind(Kind::HostBuffer) },
        ),
        example(
            "2026-02-03T04:05:06.700000Z PL:POPLIN    99.100 W: Warning: convolution planner unable to meet memory \
             target. Optimizing for minimum memory...",
            kind(Kind::PlannerAtMinimum),
        ),
        example(
            "15:53:49.625 48103 PL [W] Warning: convolution planner unable to meet memory target; retrying while \
             targeting minimum memory.",
            kind(Kind::PlannerAtMinimum),
        ),
        example(
            "Unable to meet memory target. Retrying with a per-tile memory limit of 766770 bytes.",
            Finding { limit_bytes: Some(766_770), ..kind(Kind::PlannerOverTarget) },
        ),
        example(
            "Unable to meet memory target. Retrying with no per-tile memory limit.",
            kind(Kind::PlannerOverTarget),
        ),
        example(proportion, kind(Kind::PlannerOverTarget)),
        example(
            "Slice planner could not find a valid solution, opting for no plan",
            kind(Kind::PlannerNoPlan),
        ),
    ]
}

fn tpu() -> Vec<Example> {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    let too_little = Finding {
        requested_bytes: Some(12 * MIB),
        free_bytes: Some(7 * MIB / 2),
        excess_bytes: Some(17 * MIB / 2),
        ..kind(Kind::TpuOutOfMemory)
    };
    vec![
        example(
            "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 12.00M. That was not \
             possible. There are 3.50M free.; (0x1x0_HBM0)",
            Finding { instance: name("0x1x0_HBM0"), ..too_little.clone() },
        ),
        example(
            "Attempting to allocate 12.00M. That was not possible. There are 3.50M free.",
            too_little,
        ),
        example(
            "Attempting to allocate 64.00M. That was not possible. There are 1.25G free. The largest contiguous region \
             of free memory is 32.00M due to fragmentation.",
            Finding {
                requested_bytes: Some(64 * MIB),
                free_bytes: Some(1280 * MIB),
                contiguous_bytes: Some(32 * MIB),
                ..kind(Kind::TpuFragmented)
            },
        ),
        example(
            "Resource exhausted: Attempting to reserve 2.00G at the bottom of memory. That was not possible. There are \
             2.50G free, 0B reserved, and 1.75G reservable.",
            Finding {
                requested_bytes: Some(2 * GIB),
                free_bytes: Some(5 * GIB / 2),
                contiguous_bytes: Some(7 * GIB / 4),
                ..kind(Kind::TpuFragmented)
            },
        ),
        example(
            "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.50G of 15.75G hbm. \
             Exceeded hbm capacity by 4.75G.",
            Finding {
                used_bytes: Some(41 * GIB / 2),
                limit_bytes: Some(63 * GIB / 4),
                excess_bytes: Some(19 * GIB / 4),
                memory_space: name("hbm"),
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        example(
            "RESOURCE_EXHAUSTED: Ran out of memory in memory space smem. Used 1.50M of 1.00M.",
            Finding {
                used_bytes: Some(3 * MIB / 2),
                limit_bytes: Some(MIB),
                excess_bytes: Some(MIB / 2),
                memory_space: name("smem"),
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        example(
            "Ran out of memory in memory space vmem. It should not be possible to run out of vmem",
            Finding { memory_space: name("vmem"), ..kind(Kind::TpuOutOfMemory) },
        ),
        example(
            "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom: Ran out of memory in memory space vmem",
            Finding { memory_space: name("vmem"), ..kind(Kind::TpuOutOfMemory) },
        ),
        example(
            "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (18.50G) \
             exceeds available HBM (15.75G)",
            Finding {
                used_bytes: Some(37 * GIB / 2),
                limit_bytes: Some(63 * GIB / 4),
                excess_bytes: Some(11 * GIB / 4),
                memory_space: name("hbm"),
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        example(
            "RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: 34.50G, SparseCore Hbm usage 174.25G, exceeding available \
             bytes: 95.75G",
            Finding {
                used_bytes: Some(835 * GIB / 4),
                limit_bytes: Some(383 * GIB / 4),
                excess_bytes: Some(113 * GIB),
                memory_space: name("hbm"),
                breakdown: vec![
                    Part { name: "TensorCore".to_owned(), bytes: 69 * GIB / 2 },
                    Part { name: "SparseCore".to_owned(), bytes: 697 * GIB / 4 },
                ],
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        example(
            "RESOURCE_EXHAUSTED: Allocation (size=134217728) would exceed memory (size=67108864) :: #allocation25 \
             [shape = 'u8[134217728]{0}', space=vmem, size = 0x8000000, scoped, tag = 'input window 2'",
            Finding {
                requested_bytes: Some(128 * MIB),
                limit_bytes: Some(64 * MIB),
                excess_bytes: Some(64 * MIB),
                memory_space: name("vmem"),
                allocations: vec![Allocation {
                    bytes: 128 * MIB,
                    shape: name("u8[134217728]{0}"),
                    label: name("input window 2"),
                    ..Allocation::default()
                }],
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        // What is over is said where it is more than nothing.
        example(
            "Allocation (size=200) would exceed memory (size=200)\nshape = u8[200]{0}, space=smem",
            Finding {
                requested_bytes: Some(200),
                limit_bytes: Some(200),
                memory_space: name("smem"),
                allocations: vec![Allocation {
                    bytes: 200,
                    shape: name("u8[200]{0}"),
                    ..Allocation::default()
                }],
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
        example(
            "Allocation (size=300) would exceed memory (size=200)\nshape = u8[300]{0}, space=smem",
            Finding {
                requested_bytes: Some(300),
                limit_bytes: Some(200),
                excess_bytes: Some(100),
                memory_space: name("smem"),
                allocations: vec![Allocation {
                    bytes: 300,
                    shape: name("u8[300]{0}"),
                    ..Allocation::default()
                }],
                ..kind(Kind::TpuOutOfMemory)
            },
        ),
    ]
}

fn cuda() -> Vec<Example> {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    vec![
        example(
            "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 1; 8.00 GiB total capacity; 7.00 GiB already \
             allocated; 256.00 MiB free; 7.25 GiB reserved in total by PyTorch)",
            Finding {
                requested_bytes: Some(512 * MIB),
                limit_bytes: Some(8 * GIB),
                used_bytes: Some(7 * GIB),
                free_bytes: Some(256 * MIB),
                unallocated_bytes: Some(256 * MIB),
                excess_bytes: Some(256 * MIB),
                instance: name("GPU 1"),
                ..kind(Kind::CudaOutOfMemory)
            },
        ),
        example(
            "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity; 9.50 GiB \
             already allocated; 1.00 GiB free; 3.50 GiB cached)",
            Finding {
                requested_bytes: Some(2 * GIB),
                limit_bytes: Some(16 * GIB),
                used_bytes: Some(19 * GIB / 2),
                free_bytes: Some(GIB),
                unallocated_bytes: Some(7 * GIB / 2),
                excess_bytes: Some(GIB),
                instance: name("GPU 0"),
                ..kind(Kind::CudaFragmented)
            },
        ),
        example(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 2 has a total capacity of 40.00 \
             GiB of which 1.50 GiB is free. Process 77 has 6.00 GiB memory in use. Process 78 has 512.00 MiB memory in \
             use. Including non-PyTorch memory, this process has 32.00 GiB memory in use. Of the allocated memory 24.00 \
             GiB is allocated by PyTorch, with 12.00 MiB allocated in private pools (e.g., CUDA Graphs), and 7.25 GiB is \
             reserved by PyTorch but unallocated.",
            Finding {
                requested_bytes: Some(3 * GIB),
                limit_bytes: Some(40 * GIB),
                used_bytes: Some(32 * GIB),
                free_bytes: Some(3 * GIB / 2),
                unallocated_bytes: Some(29 * GIB / 4),
                other_processes_bytes: Some(13 * GIB / 2),
                excess_bytes: Some(3 * GIB / 2),
                instance: name("GPU 2"),
                ..kind(Kind::CudaFragmented)
            },
        ),
        example(
            "HIP out of memory. Tried to allocate 20.00 MiB. GPU has a total capacty of 12.00 GiB of which 16.00 MiB is \
             free. Process 9 has 11.50 GiB memory in use. Of the allocated memory 11.00 GiB is allocated by PyTorch, and \
             4.00 MiB is reserved by PyTorch but unallocated.",
            Finding {
                requested_bytes: Some(20 * MIB),
                limit_bytes: Some(12 * GIB),
                free_bytes: Some(16 * MIB),
                unallocated_bytes: Some(4 * MIB),
                excess_bytes: Some(4 * MIB),
                ..kind(Kind::CudaOutOfMemory)
            },
        ),
        example(
            "CUDA out of memory. Tried to allocate 1.00 KiB. Something new follows.",
            Finding { requested_bytes: Some(1024), ..kind(Kind::CudaOutOfMemory) },
        ),
        example("RuntimeError: CUDA error: out of memory", kind(Kind::CudaOutOfMemory)),
    ]
}

/// Where the size of the GPU is not what limits.
fn cuda_limits() -> Vec<Example> {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    vec![
        example(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 12.00 \
             GiB of which 9.25 GiB is free. Including non-PyTorch memory, this process has 800.00 MiB memory in use. \
             512.00 MiB allowed; Of the allocated memory 460.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved \
             by PyTorch but unallocated.",
            Finding {
                requested_bytes: Some(64 * MIB),
                limit_bytes: Some(512 * MIB),
                used_bytes: Some(480 * MIB),
                excess_bytes: Some(32 * MIB),
                free_bytes: Some(37 * GIB / 4),
                unallocated_bytes: Some(20 * MIB),
                instance: name("GPU 0"),
                ..kind(Kind::CudaProcessLimit)
            },
        ),
        // The parts in another order.
        example(
            "HIP out of memory. Tried to allocate 76.00 MiB. GPU 1 has a total capacity of 64.00 GiB of which 60.00 GiB \
             is free. 1.25 GiB allowed; Process 9 has 2.00 GiB memory in use. Including non-PyTorch memory, this process \
             has 1.50 GiB memory in use. Of the allocated memory 1.00 GiB is allocated by PyTorch, with 17.00 MiB \
             allocated in private pools (e.g., HIP Graphs), and 192.00 MiB is reserved by PyTorch but unallocated.",
            Finding {
                requested_bytes: Some(76 * MIB),
                limit_bytes: Some(1280 * MIB),
                used_bytes: Some(1216 * MIB),
                excess_bytes: Some(12 * MIB),
                free_bytes: Some(60 * GIB),
                unallocated_bytes: Some(192 * MIB),
                other_processes_bytes: Some(2 * GIB),
                instance: name("GPU 1"),
                ..kind(Kind::CudaFragmented)
            },
        ),
        // A share that leaves room is not the reason.
        example(
            "CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 48.00 GiB of which 1.00 GiB is \
             free. 40.00 GiB allowed; Of the allocated memory 8.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved \
             by PyTorch but unallocated.",
            Finding {
                requested_bytes: Some(4 * GIB),
                limit_bytes: Some(48 * GIB),
                excess_bytes: Some(3 * GIB),
                free_bytes: Some(GIB),
                unallocated_bytes: Some(GIB),
                instance: name("GPU 0"),
                ..kind(Kind::CudaOutOfMemory)
            },
        ),
        example(
            "CUDA out of memory. Tried to allocate 12.50 MiB (GPU 0; 10.75 GiB total capacity; 640.00 MiB already \
             allocated; 9.25 GiB free; 700.00 MiB reserved in total by PyTorch)",
            Finding {
                requested_bytes: Some(25 * MIB / 2),
                limit_bytes: Some(43 * GIB / 4),
                used_bytes: Some(640 * MIB),
                free_bytes: Some(37 * GIB / 4),
                unallocated_bytes: Some(60 * MIB),
                instance: name("GPU 0"),
                ..kind(Kind::CudaRefused)
            },
        ),
        // PyTorch asks for 20 MiB at least, once a request has more than one.
        example(
            "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 8.00 GiB total capacity; 7.50 GiB already allocated; \
             8.00 MiB free; 7.50 GiB reserved in total by PyTorch)",
            Finding {
                requested_bytes: Some(2 * MIB),
                limit_bytes: Some(8 * GIB),
                used_bytes: Some(15 * GIB / 2),
                free_bytes: Some(8 * MIB),
                unallocated_bytes: Some(0),
                instance: name("GPU 0"),
                ..kind(Kind::CudaOutOfMemory)
            },
        ),
        example(
            "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently \
             allocated     : 9.50 GiB\nRequested               : 640.00 MiB\nDevice limit            : 11.50 GiB\nFree \
             (according to CUDA): 8.00 MiB\nPyTorch limit (set by user-supplied memory fraction)\n                        \
             : 17179869184.00 GiB",
            Finding {
                requested_bytes: Some(640 * MIB),
                limit_bytes: Some(23 * GIB / 2),
                used_bytes: Some(19 * GIB / 2),
                free_bytes: Some(8 * MIB),
                excess_bytes: Some(632 * MIB),
                instance: name("GPU 0"),
                ..kind(Kind::CudaOutOfMemory)
            },
        ),
    ]
}

fn gpu() -> Vec<Example> {
    const GIB: u64 = 1 << 30;
    let asked = |of: Kind, requested| Finding { requested_bytes: Some(requested), ..kind(of) };
    vec![
        example(
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7406166528 \
             bytes.",
            asked(Kind::GpuOutOfMemory, 7_406_166_528),
        ),
        example(
            "Out of memory while trying to allocate 5.50GiB",
            asked(Kind::GpuOutOfMemory, 11 * GIB / 2),
        ),
        example(
            "RuntimeError: Resource exhausted: Failed to allocate request for 2.99GiB (3210412032B) on device ordinal 3",
            Finding { instance: name("device 3"), ..asked(Kind::GpuOutOfMemory, 3_210_412_032) },
        ),
        example(
            "failed to allocate 10.91G (11711807488 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
            asked(Kind::GpuOutOfMemory, 11_711_807_488),
        ),
        example(
            "OOM when allocating tensor with shape[64,2016,9,9] and type float on \
             /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
            Finding { instance: name("GPU:0"), ..asked(Kind::GpuOutOfMemory, 64 * 2016 * 81 * 4) },
        ),
        example("OOM when allocating tensor with shape[48,8,8,2080]", kind(Kind::GpuOutOfMemory)),
        example(
            "ResourceExhaustedError: OOM when allocating tensor with shape[1000,1000] and type double on \
             /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
            Finding { instance: name("CPU:0"), ..asked(Kind::HostOutOfMemory, 8_000_000) },
        ),
        example(
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.50GiB (rounded to 2684354560)requested by op",
            Finding { instance: name("GPU_0_bfc"), ..asked(Kind::GpuOutOfMemory, 5 * GIB / 2) },
        ),
        example(
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.50GiB with freed_by_count=0. The caller \
             indicates that this is not a failure, but may mean that there could be performance gains",
            Finding { instance: name("GPU_0_bfc"), ..asked(Kind::GpuMemoryTight, 5 * GIB / 2) },
        ),
        example(
            "Ran out of memory trying to allocate 24.50MiB. See logs for memory state.",
            asked(Kind::GpuOutOfMemory, 49 << 19),
        ),
        example(
            "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /work/rmm/cuda_memory_resource.hpp",
            kind(Kind::CudaOutOfMemory),
        ),
    ]
}

fn host() -> Vec<Example> {
    let host = || kind(Kind::HostOutOfMemory);
    vec![
        example("terminate called after throwing an instance of 'std::bad_alloc'", host()),
        example("RuntimeError: std::bad_alloc", host()),
        example("OSError: [Errno 12] Cannot allocate memory", host()),
        example("fork: Cannot allocate memory", host()),
        example(
            "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you \
             tried to allocate 2359296 bytes. Error code 12 (Cannot allocate memory)",
            Finding { requested_bytes: Some(2_359_296), ..host() },
        ),
        example(
            "Unable to allocate 7.50 GiB for an array with shape (1000, 1006633) and data type float64",
            Finding { requested_bytes: Some(15 << 29), ..host() },
        ),
        example(
            "Out of memory: Killed process 1234 (python) total-vm:2418296kB, anon-rss:2048512kB, file-rss:0kB",
            Finding {
                used_bytes: Some(2_048_512 << 10),
                instance: name("process 1234 (python)"),
                ..host()
            },
        ),
        example(
            "Memory cgroup out of memory: Killed process 77 (train), UID 1000, total-vm:30kB, anon-rss:20kB",
            Finding { used_bytes: Some(20 << 10), instance: name("process 77 (train)"), ..host() },
        ),
        example(
            "Out of memory: Kill process 5 (python3) score 900 or sacrifice child",
            Finding { instance: name("process 5 (python3)"), ..host() },
        ),
        example(
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch. Some of your processes may have been \
             killed",
            host(),
        ),
        example("srun: error: node3: task 2: Out Of Memory", host()),
    ]
}
