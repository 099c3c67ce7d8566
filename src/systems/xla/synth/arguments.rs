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
    #[command(flatten)]
    network: TransformerArguments,
    /// For what the program is compiled [default: gpu].
    #[arg(long)]
    platform: Option<XlaTarget>,
    /// What of the forward pass is computed again in the backward pass [default: none].
    #[arg(long)]
    remat: Option<Remat>,
    /// Donate the weights and the states of the optimizer.
    #[arg(long)]
    donate: bool,
    /// Layers in one turn of the loop over them, which are so many times as many instructions; the layers become a
    /// multiple of it, two turns at least [default: 1].
    #[arg(long, value_name = "LAYERS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    unroll: Option<u64>,
    /// Unroll the loop to so many instructions.
    #[arg(long, conflicts_with_all = ["unroll", "size"], value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    instructions: Option<u64>,
    /// Write the texts of the assignment, too.
    #[arg(long)]
    texts: bool,
    /// Write the four compilations of the story instead: a training step on a card of 24 GiB, of which more and more is
    /// computed again.
    #[arg(long, conflicts_with_all = ["batch", "layers", "remat", "unroll", "capacity", "size", "platform", "width", "heads", "sequence", "vocabulary", "half_precision", "donate", "instructions", "texts"])]
    remat_story: bool,
}

/// How dumps are written.
pub fn synth() -> Synth {
    Synth {
        title: "Writing the dump",
        what: "A dump of XLA: a program with its buffer assignment",
        options: DumpArguments::augment_args(clap::Command::default()),
        write,
        story,
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
