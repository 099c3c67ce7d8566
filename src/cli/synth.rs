//! `tilescope synth`: writes synthetic reports.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output;
use super::size;
use crate::synth::machine::Architecture;
use crate::synth::network::Network;
use crate::synth::{self, Options, Recorded, story};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches of a command")]
pub struct SynthArguments {
    /// The network.
    #[arg(long, default_value = "tiny")]
    pub network: Network,
    /// Repeat the network this often, one copy after the other.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub copies: u32,
    /// Repeat it as often as a profile of this size takes, for example 1GiB.
    #[arg(long, conflicts_with = "copies", value_parser = profile_size)]
    pub size: Option<u64>,
    /// Batch size.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub batch: u64,
    /// availableMemoryProportion of convolutions and matmuls.
    #[arg(long, default_value_t = 0.6, value_parser = proportion)]
    pub proportion: f64,
    /// The architecture.
    #[arg(long, default_value = "mk2")]
    pub architecture: Architecture,
    /// IPUs, as stages of a pipeline.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub ipus: u32,
    /// Tiles of an IPU; fewer than the chip has make an IPU Model.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1472))]
    pub tiles_per_ipu: Option<u32>,
    /// What makes tiles differ.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
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
    /// Record this many runs.
    #[arg(long, default_value_t = 2, requires = "execution", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Let transfers with the host go on beside computing.
    #[arg(long, requires = "execution")]
    pub overlapped_io: bool,
    /// Record blocks of lightweight profiling, too.
    #[arg(long, requires = "execution")]
    pub blocks: bool,
    /// Write the six runs of the story instead: a ResNeXt-101 at six proportions on a whole IPU.
    #[arg(long, conflicts_with_all = ["network", "batch", "proportion", "ipus", "tiles_per_ipu"])]
    pub amp_story: bool,
    /// The directory to write, which must not hold a profile yet.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

fn proportion(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err("above 0 and at most 1".to_owned()) }
}

/// The size of a profile.
fn profile_size(text: &str) -> Result<u64, String> {
    let most = 64 << 30;
    let bytes = size::parse(text)?;
    if bytes <= most { Ok(bytes) } else { Err("at most 64GiB".to_owned()) }
}

fn options(arguments: &SynthArguments) -> Options {
    let SynthArguments { network, architecture, .. } = *arguments;
    let tiles = match network {
        Network::Tiny => Options::default().tiles_per_ipu,
        Network::Resnext101 => architecture.tiles_per_ipu(),
    };
    let mut options = Options {
        network,
        copies: arguments.copies,
        batch: arguments.batch,
        proportion: arguments.proportion,
        architecture,
        ipus: arguments.ipus,
        tiles_per_ipu: arguments.tiles_per_ipu.unwrap_or(tiles),
        seed: arguments.seed,
        single_precision: arguments.single_precision,
        instrumented: arguments.instrumented,
        cycle_estimates: arguments.cycle_estimates,
        execution: arguments.execution,
        functions: arguments.functions,
        recorded: Recorded {
            runs: arguments.runs,
            overlapped_io: arguments.overlapped_io,
            blocks: arguments.blocks,
        },
    };
    if let Some(bytes) = arguments.size {
        options.copies = synth::copies_for_size(&options, bytes);
    }
    options
}

pub fn run(arguments: &SynthArguments) -> ExitCode {
    let written = output::with_progress("Writing the report", |progress| {
        if arguments.amp_story {
            story::write_story(&arguments.output, progress)
        } else {
            let options = options(arguments);
            progress.expect(options.tiles());
            synth::write_report(&options, &arguments.output, progress)
        }
    });
    match written {
        Ok(()) => output::print(&format!("{}\n", arguments.output.display()))
            .unwrap_or_else(ExitCode::from),
        Err(error) => output::cannot_write(&error),
    }
}
