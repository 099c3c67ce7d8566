//! `tilescope synth`: writes synthetic reports, memory snapshots and dumps.

mod network;
mod pytorch;
mod xla;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::output;
use crate::format::{Error, ErrorKind, Progress};
use crate::synth::machine::Architecture;
use crate::synth::network::Network;
use crate::synth::{self, Options, Recorded, WriteError, story};
use crate::text::size;
pub use network::TransformerArguments;
pub use pytorch::SnapshotArguments;
pub use xla::DumpArguments;

#[derive(Debug, Args)]
pub struct SynthArguments {
    /// The system whose files are written.
    #[arg(long, default_value = "poplar")]
    pub system: WrittenSystem,
    /// Batch size.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub batch: u64,
    /// Repeat the network, the steps of a training, or layers within a turn of a loop, as often as a file of this size
    /// takes, for example 1GiB.
    #[arg(long, conflicts_with_all = ["copies", "steps"], value_parser = file_size)]
    pub size: Option<u64>,
    /// What makes tiles differ, and lengths and times of a training.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The directory to write, which must not hold a profile or the dump yet; of a memory snapshot the file, which must
    /// not be there yet.
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,
    /// What reports of Poplar have.
    #[command(flatten, next_help_heading = "Options of Poplar")]
    pub poplar: PoplarArguments,
    /// What memory snapshots and dumps have.
    #[command(flatten, next_help_heading = "Options of PyTorch and XLA")]
    pub network: TransformerArguments,
    /// What memory snapshots have.
    #[command(flatten, next_help_heading = "Options of PyTorch")]
    pub pytorch: SnapshotArguments,
    /// What dumps have.
    #[command(flatten, next_help_heading = "Options of XLA")]
    pub xla: DumpArguments,
}

/// Of which system something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WrittenSystem {
    /// A report of Poplar.
    Poplar,
    /// A memory snapshot of PyTorch, with what lies beside it.
    Pytorch,
    /// A dump of XLA: a program with its buffer assignment.
    Xla,
}

/// What reports of Poplar have. Every value is optional, so that one that is given for another system is told.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches of a command")]
pub struct PoplarArguments {
    /// The network [default: tiny].
    #[arg(long)]
    pub network: Option<Network>,
    /// Repeat the network this often, one copy after the other [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub copies: Option<u32>,
    /// availableMemoryProportion of convolutions and matmuls [default: 0.6].
    #[arg(long, value_parser = proportion)]
    pub proportion: Option<f64>,
    /// The architecture [default: mk2].
    #[arg(long)]
    pub architecture: Option<Architecture>,
    /// IPUs, as stages of a pipeline [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub ipus: Option<u32>,
    /// Tiles of an IPU; fewer than the chip has make an IPU Model.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1472))]
    pub tiles_per_ipu: Option<u32>,
    /// Keep tensors in single precision in place of half.
    #[arg(long)]
    pub single_precision: bool,
    /// Put what measures the execution on every tile: code, buffers, results. --execution alone records a run without
    /// them.
    #[arg(long)]
    pub instrumented: bool,
    /// Estimate the cycles of compute sets.
    #[arg(long)]
    pub cycle_estimates: bool,
    /// Run the program, if it fits, and record the execution.
    #[arg(long)]
    pub execution: bool,
    /// Make layers functions that are called, and keep the programs of an earlier compilation step.
    #[arg(long)]
    pub functions: bool,
    /// Record this many runs [default: 2].
    #[arg(long, requires = "execution", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Let transfers with the host go on beside computing.
    #[arg(long, requires = "execution")]
    pub overlapped_io: bool,
    /// Record blocks of lightweight profiling, too.
    #[arg(long, requires = "execution")]
    pub blocks: bool,
    /// Write the six runs of the story instead: a ResNeXt-101 at six proportions on a whole IPU.
    #[arg(long, conflicts_with_all = ["network", "batch", "proportion", "ipus", "tiles_per_ipu"])]
    pub amp_story: bool,
}

impl PoplarArguments {
    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
        let Self { network, copies, proportion, architecture, ipus, tiles_per_ipu, runs, .. } =
            self;
        first_of([
            ("--network", network.is_some()),
            ("--copies", copies.is_some()),
            ("--proportion", proportion.is_some()),
            ("--architecture", architecture.is_some()),
            ("--ipus", ipus.is_some()),
            ("--tiles-per-ipu", tiles_per_ipu.is_some()),
            ("--single-precision", self.single_precision),
            ("--instrumented", self.instrumented),
            ("--cycle-estimates", self.cycle_estimates),
            ("--execution", self.execution),
            ("--functions", self.functions),
            ("--runs", runs.is_some()),
            ("--overlapped-io", self.overlapped_io),
            ("--blocks", self.blocks),
            ("--amp-story", self.amp_story),
        ])
    }
}

/// The first option of which it is said that it was given.
fn first_of<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
}

fn proportion(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err("above 0 and at most 1".to_owned()) }
}

/// The size of a file.
fn file_size(text: &str) -> Result<u64, String> {
    let most = 64 << 30;
    let bytes = size::parse(text)?;
    if bytes <= most { Ok(bytes) } else { Err("at most 64GiB".to_owned()) }
}

fn options(arguments: &SynthArguments) -> Options {
    let PoplarArguments { copies, proportion, ipus, tiles_per_ipu, runs, .. } = arguments.poplar;
    let given = &arguments.poplar;
    let default = Options::default();
    let network = given.network.unwrap_or(default.network);
    let architecture = given.architecture.unwrap_or(default.architecture);
    let tiles = match network {
        Network::Tiny => default.tiles_per_ipu,
        Network::Resnext101 => architecture.tiles_per_ipu(),
    };
    let mut options = Options {
        network,
        copies: copies.unwrap_or(default.copies),
        batch: arguments.batch,
        proportion: proportion.unwrap_or(default.proportion),
        architecture,
        ipus: ipus.unwrap_or(default.ipus),
        tiles_per_ipu: tiles_per_ipu.unwrap_or(tiles),
        seed: arguments.seed,
        single_precision: given.single_precision,
        instrumented: given.instrumented,
        cycle_estimates: given.cycle_estimates,
        execution: given.execution,
        functions: given.functions,
        recorded: Recorded {
            runs: runs.unwrap_or(default.recorded.runs),
            overlapped_io: given.overlapped_io,
            blocks: given.blocks,
        },
    };
    if let Some(bytes) = arguments.size {
        options.copies = synth::copies_for_size(&options, bytes);
    }
    options
}

/// The option that is of another system than the one that was asked for, with what it is of.
fn misplaced(arguments: &SynthArguments) -> Option<(&'static str, &'static str)> {
    let SynthArguments { poplar, network, pytorch, xla, .. } = arguments;
    let system = arguments.system;
    let is = |wanted: WrittenSystem| system == wanted;
    let of_poplar = poplar.given().filter(|_| !is(WrittenSystem::Poplar));
    let of_both = network.given().filter(|_| is(WrittenSystem::Poplar));
    let of_pytorch = pytorch.given().filter(|_| !is(WrittenSystem::Pytorch));
    let of_xla = xla.given().filter(|_| !is(WrittenSystem::Xla));
    [
        of_poplar.map(|name| (name, "Poplar: leave out --system")),
        of_both.map(|name| (name, "PyTorch and XLA: add --system pytorch or --system xla")),
        of_pytorch.map(|name| (name, "PyTorch: add --system pytorch")),
        of_xla.map(|name| (name, "XLA: add --system xla")),
    ]
    .into_iter()
    .flatten()
    .next()
}

pub fn run(arguments: &SynthArguments) -> ExitCode {
    if let Some((name, system)) = misplaced(arguments) {
        let message = format!("{name} is of {system}");
        return output::fail(&Error::new(ErrorKind::Usage, message), false);
    }
    let written = match arguments.system {
        WrittenSystem::Poplar => output::with_progress("Writing the report", |progress| {
            write_report(arguments, progress)
        }),
        WrittenSystem::Pytorch => output::with_progress("Writing the snapshot", |progress| {
            write_snapshot(arguments, progress)
        }),
        WrittenSystem::Xla => {
            output::with_progress("Writing the dump", |progress| write_dump(arguments, progress))
        }
    };
    match written {
        Ok(()) => output::print(&format!("{}\n", arguments.output.display()))
            .unwrap_or_else(ExitCode::from),
        Err(error) => output::cannot_write(&error),
    }
}

fn write_report(arguments: &SynthArguments, progress: &Progress) -> Result<(), WriteError> {
    if arguments.poplar.amp_story {
        return story::write_story(&arguments.output, progress);
    }
    let options = options(arguments);
    progress.expect(options.tiles());
    synth::write_report(&options, &arguments.output, progress)
}

fn write_snapshot(arguments: &SynthArguments, progress: &Progress) -> Result<(), WriteError> {
    if arguments.pytorch.checkpoint_story {
        return crate::systems::pytorch::synth::story::write_story(&arguments.output, progress);
    }
    let options = pytorch::options(arguments);
    progress.expect(options.units());
    crate::systems::pytorch::synth::write_snapshot(&options, &arguments.output, progress).map(drop)
}

fn write_dump(arguments: &SynthArguments, progress: &Progress) -> Result<(), WriteError> {
    if arguments.xla.remat_story {
        return crate::systems::xla::synth::story::write_story(&arguments.output, progress);
    }
    progress.expect(1);
    let options = xla::options(arguments);
    crate::systems::xla::synth::write_dump(&options, &arguments.output, progress).map(drop)
}
