//! The options of synthetic reports of TT-NN.

use clap::{ArgMatches, Args, FromArgMatches as _};

use super::chip::TensorPlace;
use super::story::story;
use super::{ReportSchema, TtnnReportOptions, write_report};
use crate::format::Progress;
use crate::synth::transformer::BlockArguments;
use crate::synth::{Synth, ToWrite, WriteError};

/// Blocks of the network of a report that shall have a size, where no other number is asked for: large reports are of deep
/// networks, with many buffers alive at each operation.
const SIZED_LAYERS: u64 = 12;

/// What reports have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of TT-NN")]
struct TtnnArguments {
    /// Where what layers hand on lies [default: l1].
    #[arg(long)]
    activations: Option<TensorPlace>,
    /// Let each layer keep a tensor that nobody reads again.
    #[arg(long)]
    leak: bool,
    /// Batches that go through the network, one after the other [default: 1].
    #[arg(long, conflicts_with = "size", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    passes: Option<u64>,
    /// Processes, each with its part of the layers on a chip of its own [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=64))]
    ranks: Option<u64>,
    /// The version of the tables [default: 3.5].
    #[arg(long, value_name = "VERSION")]
    schema: Option<ReportSchema>,
    /// Write the three reports of the story instead: an encoder with activations in DRAM, in L1, and in L1 with a batch
    /// that is too large for it.
    #[arg(long, conflicts_with_all = ["batch", "size", "layers", "width", "heads", "sequence", "activations", "leak", "passes", "ranks", "schema"])]
    placement_story: bool,
    // Behind the others: what is flattened sets the heading of what follows.
    #[command(flatten)]
    blocks: BlockArguments,
}

/// How reports are written.
pub fn synth() -> Synth {
    Synth {
        title: "Writing the report",
        what: "A memory report of TT-NN",
        options: TtnnArguments::augment_args(clap::Command::default()),
        write,
        story,
        is_usual_demo: false,
    }
}

fn write(given: &ArgMatches, wanted: &ToWrite<'_>, progress: &Progress) -> Result<(), WriteError> {
    let given = TtnnArguments::from_arg_matches(given)?;
    if given.placement_story {
        return story().write(wanted.output, progress);
    }
    let default = TtnnReportOptions::default();
    let mut options = TtnnReportOptions {
        network: given.blocks.network(wanted.batch),
        activations: given.activations.unwrap_or(default.activations),
        is_leaking: given.leak,
        passes: given.passes.unwrap_or(default.passes),
        ranks: given.ranks.unwrap_or(default.ranks),
        schema: given.schema.unwrap_or(default.schema),
        seed: wanted.seed,
    };
    if options.schema == ReportSchema::V2 && options.ranks > 1 {
        return Err(WriteError::Conflict(
            "a report of schema 2 has one rank: choose a newer --schema, or --ranks 1",
        ));
    }
    if let Some(bytes) = wanted.size {
        options.network.layers = given.blocks.layers.unwrap_or(SIZED_LAYERS);
        options = options.with_size(bytes)?;
    }
    progress.expect(options.units());
    write_report(&options, wanted.output, progress).map(drop)
}
