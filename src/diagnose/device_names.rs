//! Whose memory a line is about, by the names in it.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::finding::Device;
use super::message::regex;

/// Memory of the machine by its name; a program on a device may run out of it, too.
static HOST_MEMORY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\bJava heap|\bjava\.lang\b|\bJVM\b|JavaScript heap|Java Runtime|\b(?:host|system|physical|pinned|main|cpu|swap) (?:memory|ram)\b|\bOOM[ -]?kill|\bkilled by (?:the )?oom|/dev/shm|\bcgroup|container (?:\S+ )?killed|CPUAllocator|alloc_cpu|HOST_(?:MEMORY|OUT_OF)|HOST_ALLOCATION|\bOUT_OF_ME\+|\bState:?\s+OUT_OF_MEM|OUT_OF_MEMORY\s+[0-9]+:)|(?:^|[^UMu] )\bRAM\b",
    )
});

/// Names of devices and of the software that is for them.
static DEVICE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?<rocm>(?i:rocm|\bhip|miopen|rccl|rocblas|\bHSA_|amdgpu))|(?<xpu>\b(?:XPU|xpu|SYCL|sycl|level_zero|(?:UR|PI|ZE)_RESULT_\w+)\b)|(?<npu>(?i:\bnpu|ascend|mindspore|aclrt|\bacl_error)|\b(?:CANN|HCCL|rtMalloc)\b)|(?<mps>\b(?:MPS|mps|Metal|METAL|metal|MLX|mlx)\b|malloc_or_wait|\bMTL[A-Z]\w+|kIOGPU)|(?<hpu>\b(?:HPU|hpu|Gaudi|synStatus|syn[A-Z]\w+)\b|habana)|(?<neuron>\b(?:NRT\w*|[Nn]euron\w*|nrt_\w+|ND[0-9]+:NC[0-9]*)\b)|(?<tt>\b(?:TT_FATAL|TT_THROW|ttnn|TT-NN|tt[-_]metal|[Tt]enstorrent|Tensix)\b)|(?<tpu>\b(?:TPU|tpu|libtpu|vmem)\b)|(?<ipu>(?i:poplar|popart|poptorch|poplibs|\bipu))|(?<cuda>(?i:cuda|cudnn|cublas|cufft|cusolver|cusparse|nccl|nvenc|nvdec|cuvid|nvidia|optix|tensorrt|CNMEM)|\bTRT\b|\bcu(?:Mem|Ctx|Launch)\w+|\w+EncodeSession\w*)|(?<gpu>(?i:\bgpu|gpu\b|\bvram\b|video memory|graphics memory))|(?<other>(?i:vulkan|\bvk_|\bwgpu|webgpu|opencl|directml|\bdml\b|d3d1[12]|dxgi|openvino|accelerator|musa|\bmlu\b|cnrt)|\bcl[A-Z]\w+|\bCL_[A-Z]+|HBM|hbm)",
    )
});

/// Programs that have only memory of the machine.
static HOST_PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\bphp\b|\bruntime:|duckdb|polars|pandas|spark|postgres|mysql|sqlite|clickhouse|OpenCV|\bcv::|RangeError|(?:python|jupyter) kernel|\boomd\b|earlyoom)",
    )
});

/// What only programs on the machine say.
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\b(?:m|c|re)alloc\b|\bmmap\b|\bfork\b|\bs?brk\b|bad[ _]alloc|container|\bpods?\b|\bvector of size|memory allocation of [0-9]|\berror allocating [0-9]|paging|\bvirtual memory|heap|notebook|NoMemoryError|Allowed memory size|System\.OutOfMemoryException|OutOfMemoryError\(\)|Errno 12|\bENOMEM\b|errno ?= ?12|os error 12|memory (?:limit|quota|budget)|request_memory|memory usage limit|memorystatus|[hs]_(?:vmem|rss|data)|native thread|\bjob\b|instance type|memory ?pressure|\bWinError|E_OUTOFMEMORY|\bnode was\b|per-node|\bquery\b|Array buffer|\AOUT_OF_MEMORY \(exit)",
    )
});

const GROUPS: [(&str, Device); 12] = [
    ("rocm", Device::Rocm),
    ("xpu", Device::Xpu),
    ("npu", Device::Npu),
    ("mps", Device::Mps),
    ("hpu", Device::Hpu),
    ("neuron", Device::Neuron),
    ("tt", Device::Tenstorrent),
    ("cuda", Device::Cuda),
    ("gpu", Device::Cuda),
    ("tpu", Device::Tpu),
    ("ipu", Device::Ipu),
    ("other", Device::Accelerator),
];

/// A device, and whether the line leaves open whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDevice {
    pub device: Device,
    pub is_open: bool,
}

/// The device that a line names, or else what stands before its text; of several the one that is named first.
pub fn device(before: &[u8], line: &[u8]) -> Option<NamedDevice> {
    let host = NamedDevice { device: Device::Host, is_open: false };
    if HOST_MEMORY.is_match(line) {
        return Some(host);
    }
    let own = of_name(line);
    own.filter(|named| !named.is_open)
        .or_else(|| of_name(before))
        .or(own)
        .or_else(|| HOST.is_match(line).then_some(host))
}

/// By the names of devices and programs alone: a container or a job may be named before any line.
fn of_name(line: &[u8]) -> Option<NamedDevice> {
    let Some(names) = DEVICE.captures(line) else {
        let is_host = HOST_PROGRAM.is_match(line);
        return is_host.then_some(NamedDevice { device: Device::Host, is_open: false });
    };
    let (group, device) = GROUPS.into_iter().find(|(group, _)| names.name(group).is_some())?;
    Some(NamedDevice { device, is_open: matches!(group, "gpu" | "other") })
}
