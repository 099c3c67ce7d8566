//! The messages, each with numbers and names of our own.

use crate::analysis::diagnose::{Finding, Kind};

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
    [ipu(), host_and_planner(), tpu(), cuda()].into_iter().flatten().collect()
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
