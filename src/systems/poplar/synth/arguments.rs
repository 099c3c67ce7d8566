//! The options of synthetic reports.

use clap::{ArgMatches, Args, FromArgMatches as _};

use super::machine::Architecture;
use super::network::Network;
use super::story::story;
use super::{RecordedRuns, ReportOptions, copies_for_size, write_report};
use crate::format::Progress;
use crate::synth::{Synth, ToWrite, WriteError};

/// What reports have.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches of a command")]
#[command(next_help_heading = "Options of Poplar")]
struct ReportArguments {
    /// The network [default: tiny].
    #[arg(long)]
    network: Option<Network>,
    /// Repeat the network this often, one copy after the other [default: 1].
    #[arg(long, conflicts_with = "size", value_parser = clap::value_parser!(u32).range(1..=1000))]
    copies: Option<u32>,
    /// availableMemoryProportion of convolutions and matmuls [default: 0.6].
    #[arg(long, value_parser = proportion)]
    proportion: Option<f64>,
    /// The architecture [default: mk2].
    #[arg(long)]
    architecture: Option<Architecture>,
    /// IPUs, as stages of a pipeline [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    ipus: Option<u32>,
    /// Tiles of an IPU; fewer than the chip has make an IPU Model.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1472))]
    tiles_per_ipu: Option<u32>,
    /// Keep tensors in single precision instead of half.
    #[arg(long)]
    single_precision: bool,
    /// Instrument every tile for measuring: code, buffers, results. --execution alone records a run without them.
    #[arg(long)]
    instrumented: bool,
    /// Estimate the cycles of compute sets.
    #[arg(long)]
    cycle_estimates: bool,
    /// Run the program, if it fits, and record the execution.
    #[arg(long)]
    execution: bool,
    /// Make layers functions that are called, and keep the programs of an earlier compilation step.
    #[arg(long)]
    functions: bool,
    /// Record this many runs [default: 2].
    #[arg(long, requires = "execution", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// Let transfers with the host overlap with computation.
    #[arg(long, requires = "execution")]
    overlapped_io: bool,
    /// Record blocks of lightweight profiling as well.
    #[arg(long, requires = "execution")]
    blocks: bool,
    /// Write the six runs of the story instead: a ResNeXt-101 at six proportions on a whole IPU.
    #[arg(long, conflicts_with_all = ["network", "batch", "proportion", "ipus", "tiles_per_ipu"])]
    amp_story: bool,
}

fn proportion(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err("above 0 and at most 1".to_owned()) }
}

/// How reports are written.
pub fn synth() -> Synth {
    Synth {
        title: "Writing the report",
        what: "An IPU report",
        options: ReportArguments::augment_args(clap::Command::default()),
        write,
        story,
        is_usual_demo: false,
    }
}

fn write(given: &ArgMatches, wanted: &ToWrite<'_>, progress: &Progress) -> Result<(), WriteError> {
    let given = ReportArguments::from_arg_matches(given)?;
    if given.amp_story {
        return story().write(wanted.output, progress);
    }
    let options = options(&given, wanted);
    progress.expect(options.tiles());
    write_report(&options, wanted.output, progress)
}

/// What a report is made from.
fn options(given: &ReportArguments, wanted: &ToWrite<'_>) -> ReportOptions {
    let ReportArguments { copies, proportion, ipus, tiles_per_ipu, runs, .. } = *given;
    let default = ReportOptions::default();
    let network = given.network.unwrap_or(default.network);
    let architecture = given.architecture.unwrap_or(default.architecture);
    let tiles = match network {
        Network::Tiny => default.tiles_per_ipu,
        Network::Resnext101 => architecture.tiles_per_ipu(),
    };
    let mut options = ReportOptions {
        network,
        copies: copies.unwrap_or(default.copies),
        batch: wanted.batch,
        proportion: proportion.unwrap_or(default.proportion),
        architecture,
        ipus: ipus.unwrap_or(default.ipus),
        tiles_per_ipu: tiles_per_ipu.unwrap_or(tiles),
        seed: wanted.seed,
        single_precision: given.single_precision,
        instrumented: given.instrumented,
        cycle_estimates: given.cycle_estimates,
        execution: given.execution,
        functions: given.functions,
        recorded: RecordedRuns {
            runs: runs.unwrap_or(default.recorded.runs),
            overlapped_io: given.overlapped_io,
            blocks: given.blocks,
        },
    };
    if let Some(bytes) = wanted.size {
        options.copies = copies_for_size(&options, bytes);
    }
    options
}
