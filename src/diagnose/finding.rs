//! A finding: one message about memory, its facts, and what to do.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use super::clues::FailureClues;
use super::origin::WriterOfLine;
use super::retelling::Telling;
use super::run_settings::RunSettings;
use super::tenstorrent::{ErrorAtLine, in_plain_words};
use crate::text::words;

words! {
    /// What a message says. The words of [`Kind::key`] are stable; docs/user/commands.md lists them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Kind by key, title {
        /// A tile, or some that are listed, need more memory than they have.
        TileOutOfMemory = "tile-out-of-memory" | "Tile out of memory",
        /// So many tiles are out of memory, as a summary of Poplar counts them.
        TilesOutOfMemory = "tiles-out-of-memory" | "Tiles out of memory",
        /// The variables of one or more tiles cannot be placed.
        VariablesDoNotFit = "variables-do-not-fit" | "Variables do not fit",
        /// A tile receives more in one exchange than its memory holds.
        ExchangeTooLarge = "exchange-too-large" | "Exchange too large",
        /// The code of a tile leaves no room at the start of its memory.
        CodeTooLarge = "code-too-large" | "Code too large",
        /// An IPU is out of memory; the message does not say of what.
        #[default]
        OutOfMemory = "out-of-memory" | "IPU out of memory",
        /// The memory does not suffice, and no report was asked for.
        ProfileNotWritten = "profile-not-written" | "Out of memory without a profile",
        /// A buffer for streams in the memory of the host is too small.
        HostBuffer = "host-buffer" | "Stream buffer on the host too small",
        /// The planner found no plan within its share of memory and took the one with the least.
        PlannerAtMinimum = "planner-at-minimum" | "The planner took its smallest plan",
        /// The planner found no plan within its share of memory and goes on with a larger one.
        PlannerOverTarget = "planner-over-target" | "The planner took more memory than its share",
        /// The planner found no plan at all.
        PlannerNoPlan = "planner-no-plan" | "The planner found no plan",
        /// A TPU has too little memory, while compiling or at run time.
        TpuOutOfMemory = "tpu-out-of-memory" | "TPU out of memory",
        /// A TPU has enough free memory, but not in one piece.
        TpuFragmented = "tpu-fragmented" | "Free TPU memory in pieces",
        /// A GPU of NVIDIA has too little free memory, says PyTorch or CUDA.
        CudaOutOfMemory = "cuda-out-of-memory" | "CUDA out of memory",
        /// PyTorch holds enough unallocated memory of a GPU, but not in one piece.
        CudaFragmented = "cuda-fragmented" | "Free CUDA memory in pieces",
        /// A process of PyTorch may not take as much of a GPU as it wants: the share that was set for it.
        CudaProcessLimit = "cuda-process-limit" | "A process reached its share of the GPU",
        /// A GPU has more free memory than was asked for, and CUDA gave none all the same.
        CudaRefused = "cuda-refused" | "CUDA refused memory that is free",
        /// A GPU has too little memory, says XLA (JAX), TensorFlow or another program without PyTorch's allocator; for AMD,
        /// PyTorch as well.
        GpuOutOfMemory = "gpu-out-of-memory" | "GPU out of memory",
        /// A program took a slower way for want of memory of a GPU; nothing failed.
        GpuMemoryTight = "gpu-memory-tight" | "GPU memory is short, nothing failed",
        /// A library of the GPU (cuBLAS, cuDNN, NCCL) got no memory of it.
        GpuLibraryOutOfMemory = "gpu-library-out-of-memory" | "A GPU library got no memory",
        /// A kernel needs more shared memory of a block, or other memory on the chip, than a GPU has.
        GpuSharedMemory = "gpu-shared-memory" | "A kernel needs more memory on the chip",
        /// An inference server has less memory of the device than it wants when it starts.
        ServerStartMemory = "server-start-memory" | "The server has too little memory to start",
        /// The memory that is left for the cache of keys and values of an inference server does not suffice.
        KvCacheTooSmall = "kv-cache-too-small" | "KV cache too small",
        /// Another accelerator (Intel XPU, Ascend NPU, Apple GPU …) has too little free memory.
        AcceleratorOutOfMemory = "accelerator-out-of-memory" | "Accelerator out of memory",
        /// PyTorch holds enough unallocated memory of such a device, but not in one piece.
        AcceleratorFragmented = "accelerator-fragmented" | "Free accelerator memory in pieces",
        /// A process may not take as much of such a device as it wants.
        AcceleratorProcessLimit = "accelerator-process-limit" | "A process reached its share of the accelerator",
        /// Such a device has more free memory than was asked for, and gave none all the same.
        AcceleratorRefused = "accelerator-refused" | "The accelerator refused memory that is free",
        /// More was asked for in one piece than the device gives at once, however much is free.
        BlockTooLarge = "block-too-large" | "More in one piece than the device gives",
        /// XLA cannot make a program as small as it wants by computing values again.
        RematerializationLimit = "rematerialization-limit" | "XLA cannot make the program small enough",
        /// A name of a setting of the allocator is out of date; nothing failed.
        DeprecatedSetting = "deprecated-setting" | "Outdated allocator setting, nothing failed",
        /// The machine that drives the devices is out of memory.
        HostOutOfMemory = "host-out-of-memory" | "Host out of memory",
        /// The shared memory of the machine (`/dev/shm`) does not suffice.
        HostSharedMemory = "host-shared-memory" | "Shared memory of the host too small",
        /// A process was killed by signal 9, mostly for want of memory of the machine.
        ProcessKilled = "process-killed" | "Process killed",
        /// The line reports a lack of memory and does not say whose.
        UnknownMemoryMessage = "unknown-memory-message" | "A message about memory that is not known",
    }
}

impl Kind {
    /// Where the memory is, if the kind says so.
    pub fn device(self) -> Option<Device> {
        Some(match self {
            Self::HostBuffer
            | Self::HostOutOfMemory
            | Self::HostSharedMemory
            | Self::ProcessKilled => Device::Host,
            Self::TpuOutOfMemory | Self::TpuFragmented => Device::Tpu,
            Self::CudaOutOfMemory
            | Self::CudaFragmented
            | Self::CudaProcessLimit
            | Self::CudaRefused
            | Self::GpuOutOfMemory
            | Self::GpuMemoryTight
            | Self::GpuLibraryOutOfMemory
            | Self::GpuSharedMemory
            | Self::ServerStartMemory
            | Self::KvCacheTooSmall
            | Self::DeprecatedSetting => Device::Cuda,
            Self::AcceleratorOutOfMemory
            | Self::AcceleratorFragmented
            | Self::AcceleratorProcessLimit
            | Self::AcceleratorRefused
            | Self::BlockTooLarge => Device::Accelerator,
            Self::UnknownMemoryMessage | Self::RematerializationLimit => return None,
            _ => Device::Ipu,
        })
    }

    /// The kind of the same failure on a GPU that is not of NVIDIA, for which CUDA says nothing.
    #[must_use]
    pub fn on(self, device: Device) -> Self {
        match self {
            _ if device == Device::Cuda => self,
            Self::CudaOutOfMemory => Self::GpuOutOfMemory,
            Self::CudaFragmented => Self::AcceleratorFragmented,
            Self::CudaProcessLimit => Self::AcceleratorProcessLimit,
            Self::CudaRefused => Self::AcceleratorRefused,
            _ => self,
        }
    }
}

/// Whose memory a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// Graphcore's IPU.
    Ipu,
    /// Google's TPU.
    Tpu,
    /// A GPU of NVIDIA; also one of which the message does not say whose.
    Cuda,
    /// A GPU of AMD.
    Rocm,
    /// A GPU of Intel.
    Xpu,
    /// An NPU of Huawei (Ascend).
    Npu,
    /// The GPU of Apple.
    Mps,
    /// Intel's Gaudi.
    Hpu,
    /// Trainium and Inferentia of Amazon.
    Neuron,
    /// A Tenstorrent device.
    Tenstorrent,
    /// An accelerator that is none of these, or of which only that much is known.
    Accelerator,
    /// The memory of the machine that drives the devices.
    Host,
}

impl Device {
    /// Whether it is a GPU that PyTorch calls `cuda`.
    pub fn is_gpu(self) -> bool {
        matches!(self, Self::Cuda | Self::Rocm)
    }
}

/// One occurrence of a message (cli.md, `diagnose`). What the message does not say is `None`.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// What the message says.
    pub kind: Kind,
    /// The line of the input in which the message begins, from 1; of an exception that a C++ runtime
    /// reports, the line of its `what()`.
    pub line: u64,
    /// The message as found: without colors and prefixes of a log, on one line, shortened when huge.
    pub text: String,
    /// Whose memory it is; `None` where a message that is not known does not say.
    pub device: Option<Device>,
    /// The tile; of several that are listed, the first.
    pub tile: Option<u64>,
    /// Bytes that are used, or would be if they were there.
    pub used_bytes: Option<u64>,
    /// Bytes that there are: of the tile, of the memory space, of the device, or those of it that the
    /// process may have.
    pub limit_bytes: Option<u64>,
    /// Whether the limit is what one process may have of the device.
    #[serde(skip)]
    pub limit_is_share: bool,
    /// Bytes too many: as the message says, else requested - free, else used - limit, where that is
    /// above 0.
    pub excess_bytes: Option<u64>,
    /// The exchange's name.
    pub exchange: Option<Box<str>>,
    /// The path of the report that the message names.
    pub profile: Option<String>,
    /// How many tiles are out of memory.
    pub tiles_out: Option<u64>,
    /// Bytes of the request that failed.
    pub requested_bytes: Option<u64>,
    /// Bytes that were free, in one piece or not.
    pub free_bytes: Option<u64>,
    /// The largest free block.
    pub contiguous_bytes: Option<u64>,
    /// Bytes that PyTorch holds without using them.
    pub unallocated_bytes: Option<u64>,
    /// Bytes of other processes on the same GPU.
    pub other_processes_bytes: Option<u64>,
    /// Bytes that PyTorch holds, in use or not.
    pub reserved_bytes: Option<u64>,
    /// Bytes of these in private pools, which only CUDA graphs and the like can use.
    pub private_pools_bytes: Option<u64>,
    /// Whether the log says that the allocator's segments are expandable.
    #[serde(skip)]
    pub is_expandable: bool,
    /// Whether the message leaves open whose memory it is: it is that of the device that the log is of.
    #[serde(skip)]
    pub is_of_log: bool,
    /// Whether the message is a part of one that stands before it, if there is one.
    #[serde(skip)]
    pub is_part: bool,
    /// Whether only its words are known, not the message.
    #[serde(skip)]
    pub is_general: bool,
    /// What is known of the run: settings from the lines before, the rest from `clues`.
    #[serde(skip)]
    pub run: RunSettings,
    /// What the words near it tell of the run.
    #[serde(skip)]
    pub clues: FailureClues,
    /// How it is told, by which one is known that tells another again.
    #[serde(skip)]
    pub telling: Telling,
    /// The device as the message names it: `GPU 0`, `0x0x1_HBM0`; of the host, the process that ended.
    pub instance: Option<String>,
    /// Who wrote it; of its own, as few logs say so.
    #[serde(flatten, serialize_with = "or_default")]
    #[schemars(with = "WriterOfLine")]
    pub origin: Option<Box<WriterOfLine>>,
    /// The memory space of a TPU: `hbm`, `vmem`, `smem`.
    pub memory_space: Option<String>,
    /// What the used bytes are made of, as the message breaks them down.
    pub breakdown: Vec<UsedPart>,
    /// What XLA says of a program besides; of its own, for a log can have ten thousands of messages.
    #[serde(flatten, serialize_with = "or_default")]
    #[schemars(with = "OfProgram")]
    pub of_program: Option<Box<OfProgram>>,
    /// The largest allocations that the message lists.
    pub allocations: Vec<ListedAllocation>,
    /// The number of the device, where the message has one.
    pub device_index: Option<u64>,
    /// What it is that does not fit, where the message names it; of its own, as few messages do.
    #[serde(flatten, serialize_with = "or_default")]
    #[schemars(with = "FailedProgram")]
    pub failed_program: Option<Box<FailedProgram>>,
    /// Every sentence of TT-NN (Tenstorrent) that says it, also those that say it again, in their order.
    pub tenstorrent: Vec<ErrorAtLine>,
    /// Later lines that say the same failure again, or that come of it, in their order.
    pub consequences: Vec<Consequence>,
    /// What to do, what helps most first.
    pub advice: Vec<Cow<'static, str>>,
}

/// What it is that does not fit, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FailedProgram {
    /// The place of a TPU's chip, as the message has it: `1x0x0`.
    pub chip: Option<String>,
    /// The program that was compiled or loaded: `jit_train_step`.
    pub program_name: Option<String>,
    /// The kernel that needs the memory: `flash_attention`.
    pub kernel: Option<String>,
    /// The replica of the program that ran, as XLA numbers those of a program that runs on several devices.
    pub replica: Option<u64>,
    /// The partition of the program that ran in it.
    pub partition: Option<u64>,
}

/// A later line of a log that comes of a failure, or says it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Consequence {
    /// The line of the input, from 1.
    pub line: u64,
    /// What it says, on one line, shortened when huge.
    pub text: String,
}

/// A part of the used bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UsedPart {
    /// `reserved`, `program`, `arguments`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// What XLA says of a program beside what the device has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct OfProgram {
    /// Bytes that a memory space has to hold in all, what the system reserves included.
    pub total_bytes: Option<u64>,
    /// What the program's part of the used bytes is made of.
    pub program: Vec<UsedPart>,
    /// What XLA says of how well the program's memory is packed.
    pub packing: Option<Packing>,
    /// Bytes of the results.
    pub output_bytes: Option<u64>,
    /// Bytes of results that take the place of arguments.
    pub shared_output_bytes: Option<u64>,
}

/// The same keys, whether a message says anything of it or not.
#[expect(clippy::ref_option, reason = "serde calls it so")]
fn or_default<T: Default + Serialize, S: Serializer>(
    value: &Option<Box<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_deref().unwrap_or(&T::default()).serialize(serializer)
}

/// The value; `None` for the default, which says nothing.
pub fn if_any<T: Default + PartialEq>(value: T) -> Option<Box<T>> {
    (value != T::default()).then(|| Box::new(value))
}

impl FailedProgram {
    /// It, where it says anything.
    pub fn if_any(self) -> Option<Box<Self>> {
        if_any(self)
    }

    /// A kernel.
    pub fn kernel(kernel: Option<String>) -> Option<Box<Self>> {
        Self { kernel, ..Self::default() }.if_any()
    }
}

impl OfProgram {
    /// It, where it says anything.
    pub fn if_any(self) -> Option<Box<Self>> {
        if_any(self)
    }
}

/// What XLA says of how well the program's memory is packed: on a TPU its temporaries, on a GPU all of it. XLA's
/// figures, of the moment that XLA takes for the peak (xla.md, section 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Packing {
    /// Unpadded of padded bytes.
    #[schemars(with = "Option<f64>")]
    pub utilization_percent: Option<Percent>,
    /// Bytes of what is alive at that moment, without padding.
    pub unpadded_bytes: Option<u64>,
    /// The same with padding.
    pub padded_bytes: Option<u64>,
    /// What lies between, of all.
    #[schemars(with = "Option<f64>")]
    pub fragmentation_percent: Option<Percent>,
    /// The same in bytes.
    pub fragmentation_bytes: Option<u64>,
}

/// A percentage as a message writes it, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u32);

impl Percent {
    /// The percentage of `99.8`; decimals beyond two are left out, and what is no number is none.
    pub fn of(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) {
            return None;
        }
        let hundredths: String = decimals.chars().chain(['0', '0']).take(2).collect();
        let whole = whole.parse::<u32>().ok()?.checked_mul(100)?;
        Some(Self(whole.checked_add(hundredths.parse().ok()?)?))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 100.0)
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

/// An allocation that a message lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ListedAllocation {
    /// Its size, with padding.
    pub bytes: u64,
    /// Its size without padding.
    pub unpadded_bytes: Option<u64>,
    /// What padding adds, as the message says.
    pub padding_bytes: Option<u64>,
    /// The operator that asked for it.
    pub operator: Option<String>,
    /// Its type, extents and layout.
    pub shape: Option<String>,
    /// The compiler's name for it.
    pub label: Option<String>,
    /// What it is: `HLO temp`, `scoped`.
    pub allocation_type: Option<String>,
}

impl ListedAllocation {
    /// The path of its operation: `op_name` of the operator.
    pub fn operation(&self) -> Option<&str> {
        self.attribute("op_name=\"")?.split('"').next().filter(|name| !name.is_empty())
    }

    /// Where in the source it comes from: `file:line`.
    pub fn source(&self) -> Option<String> {
        let file = self.attribute("source_file=\"")?.split('"').next()?;
        let line = self.attribute("source_line=");
        let line = line.and_then(|line| line.split(|c: char| !c.is_ascii_digit()).next());
        Some(match line.filter(|line| !line.is_empty()) {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        })
    }

    /// What stands behind an attribute of the operator.
    fn attribute(&self, name: &str) -> Option<&str> {
        Some(self.operator.as_deref()?.split_once(name)?.1)
    }
}

impl Finding {
    /// A finding without facts.
    pub fn new(kind: Kind) -> Self {
        Self { kind, device: kind.device(), ..Self::default() }
    }

    /// The same about the memory of a device that the kind does not name.
    #[must_use]
    pub fn on(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    /// Whether the message itself is not known, at most its words.
    pub fn is_vague(&self) -> bool {
        self.is_general || self.kind == Kind::UnknownMemoryMessage
    }

    /// Whether it speaks of a GPU or another device in general, and the log does not tell of which maker.
    pub fn is_of_unknown_maker(&self) -> bool {
        self.is_general && self.is_of_log
    }

    /// The place of a TPU's chip, as the message has it: `1x0x0`.
    pub fn chip(&self) -> Option<&str> {
        self.failed_program.as_deref()?.chip.as_deref()
    }

    /// The program that was compiled or loaded.
    pub fn program_name(&self) -> Option<&str> {
        self.failed_program.as_deref()?.program_name.as_deref()
    }

    /// The kernel that needs the memory.
    pub fn kernel(&self) -> Option<&str> {
        self.failed_program.as_deref()?.kernel.as_deref()
    }

    /// Replica and partition of the program that ran: `replica 0, partition 2`.
    pub fn part_of_program(&self) -> Option<String> {
        let program = self.failed_program.as_deref()?;
        let named = |name: &str, number: Option<u64>| Some(format!("{name} {}", number?));
        let parts = [named("replica", program.replica), named("partition", program.partition)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some(parts.join(", ")).filter(|parts| !parts.is_empty())
    }

    /// The same in its line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = line;
        for sentence in &mut self.tenstorrent {
            sentence.line = line;
        }
        self
    }

    /// Maps every line number in the finding.
    pub fn move_lines(&mut self, line: impl Fn(u64) -> u64) {
        let sentences = self.tenstorrent.iter_mut().map(|sentence| &mut sentence.line);
        let consequences = self.consequences.iter_mut().map(|consequence| &mut consequence.line);
        for own in std::iter::once(&mut self.line).chain(sentences).chain(consequences) {
            *own = line(*own);
        }
    }

    /// What happened and what is missing, where the figures alone do not say it.
    pub fn in_plain_words(&self) -> Option<String> {
        Some(in_plain_words(&self.tenstorrent.first()?.error))
    }

    /// The same with the excess worked out, where the message does not state it.
    #[must_use]
    pub fn with_excess(mut self) -> Self {
        let more = |most: Option<u64>, least: Option<u64>| most?.checked_sub(least?);
        self.excess_bytes = self
            .excess_bytes
            .or_else(|| more(self.requested_bytes, self.free_bytes))
            .or_else(|| more(self.used_bytes, self.limit_bytes))
            .filter(|excess| *excess > 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_those_of_the_text() {
        for (text, hundredths) in [("99.8", 9980), ("0.0", 0), ("100", 10_000), ("4.567", 456)] {
            assert_eq!(Percent::of(text), Some(Percent(hundredths)), "{text}");
        }
        for text in ["", ".", "1.", "-1", "1e3", "99999999999", "NaN"] {
            assert_eq!(Percent::of(text), None, "{text}");
        }
        assert_eq!(serde_json::to_string(&Percent(9980)).expect("JSON"), "99.8");
    }

    #[test]
    fn an_operator_names_operation_and_source() {
        let of = |operator: &str| ListedAllocation {
            operator: Some(operator.to_owned()),
            ..ListedAllocation::default()
        };
        let whole = of("op_name=\"jit(f)/dot\" source_file=\"/a b.py\" source_line=6");
        assert_eq!(whole.operation(), Some("jit(f)/dot"));
        assert_eq!(whole.source().as_deref(), Some("/a b.py:6"));
        assert_eq!(of("op_name=\"f").operation(), Some("f"), "cut off");
        assert_eq!(of("source_file=\"a\" source_line=x").source().as_deref(), Some("a"));
        assert_eq!((of("").operation(), of("").source()), (None, None));
    }

    #[test]
    fn keys_are_those_of_json() {
        for kind in [Kind::TileOutOfMemory, Kind::PlannerAtMinimum, Kind::CudaFragmented] {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.key());
        }
    }
}
