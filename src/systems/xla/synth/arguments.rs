//! The options of synthetic XLA dumps.

use clap::{ArgMatches, Args, FromArgMatches as _};

use super::story::story;
use super::{DumpOptions, Remat, XlaTarget, write_dump};
use crate::format::Progress;
use crate::synth::transformer::TransformerArguments;
use crate::synth::{Synth, ToWrite, WriteError};

/// What dumps have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of XLA")]
struct DumpArguments {
    /// The platform that the module is compiled for [default: gpu].
    #[arg(long)]
    platform: Option<XlaTarget>,
    /// The part of the forward pass that the backward pass computes again [default: none].
    #[arg(long)]
    remat: Option<Remat>,
    /// Donate the weights and the states of the optimizer.
    #[arg(long)]
    donate: bool,
    /// Layers in one turn of the loop over layers. More layers mean more instructions; the number of layers becomes a
    /// multiple of this, for at least two turns [default: 1].
    #[arg(long, value_name = "LAYERS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    unroll: Option<u64>,
    /// Unroll the loop to this many instructions.
    #[arg(long, conflicts_with_all = ["unroll", "size"], value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    instructions: Option<u64>,
    /// Write the texts of the assignment as well.
    #[arg(long)]
    texts: bool,
    /// Write the four compilations of the story instead: a training step on a card of 24 GiB, of which more and more is
    /// computed again.
    #[arg(long, conflicts_with_all = ["batch", "layers", "remat", "unroll", "capacity", "size", "platform", "width", "heads", "sequence", "vocabulary", "half_precision", "donate", "instructions", "texts"])]
    remat_story: bool,
    // Behind the others: what is flattened sets the heading of what follows.
    #[command(flatten)]
    network: TransformerArguments,
}

/// How dumps are written.
pub fn synth() -> Synth {
    Synth {
        title: "Writing the dump",
        what: "An XLA dump: a module with its buffer assignment",
        options: DumpArguments::augment_args(clap::Command::default()),
        write,
        story,
        is_usual_demo: false,
    }
}

fn write(given: &ArgMatches, wanted: &ToWrite<'_>, progress: &Progress) -> Result<(), WriteError> {
    let given = DumpArguments::from_arg_matches(given)?;
    if given.remat_story {
        return story().write(wanted.output, progress);
    }
    progress.expect(1);
    write_dump(&options(&given, wanted), wanted.output, progress).map(drop)
}

/// What a dump is made from.
fn options(given: &DumpArguments, wanted: &ToWrite<'_>) -> DumpOptions {
    let default = DumpOptions::default();
    let options = DumpOptions {
        network: given.network.transformer(wanted.batch),
        platform: given.platform.unwrap_or(default.platform),
        unroll: default.unroll,
        remat: given.remat.unwrap_or(default.remat),
        is_donated: given.donate,
        capacity_bytes: given.network.capacity,
        has_texts: given.texts,
    };
    match (wanted.size, given.instructions, given.unroll) {
        (Some(bytes), ..) => options.with_size(bytes),
        (None, Some(instructions), _) => options.with_instructions(instructions),
        (None, None, Some(layers)) => options.unrolled(layers),
        (None, None, None) => options,
    }
}
