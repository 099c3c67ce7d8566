//! The options of synthetic dumps of XLA.

use clap::Args;

use super::{SynthArguments, first_of};
use crate::systems::xla::synth::{DumpOptions, Platform, Remat};

/// What dumps have. Every value is optional, so that one that is given for another system is told.
#[derive(Debug, Args)]
pub struct DumpArguments {
    /// For what the program is compiled [default: gpu].
    #[arg(long)]
    pub platform: Option<Platform>,
    /// What of the forward pass is computed again in the backward pass [default: none].
    #[arg(long)]
    pub remat: Option<Remat>,
    /// Donate the weights and the states of the optimizer.
    #[arg(long)]
    pub donate: bool,
    /// Layers in one turn of the loop over them, which are so many times as many instructions; the layers become a
    /// multiple of it, two turns at least [default: 1].
    #[arg(long, value_name = "LAYERS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub unroll: Option<u64>,
    /// Unroll the loop to so many instructions.
    #[arg(long, conflicts_with_all = ["unroll", "size"], value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub instructions: Option<u64>,
    /// Write the texts of the assignment, too.
    #[arg(long)]
    pub texts: bool,
    /// Write the four compilations of the story instead: a training step on a card of 24 GiB, of which more and more is
    /// computed again.
    #[arg(long, conflicts_with_all = ["batch", "layers", "remat", "unroll", "capacity", "size", "platform", "width", "heads", "sequence", "vocabulary", "half_precision", "donate", "instructions", "texts"])]
    pub remat_story: bool,
}

impl DumpArguments {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_of([
            ("--platform", self.platform.is_some()),
            ("--remat", self.remat.is_some()),
            ("--donate", self.donate),
            ("--unroll", self.unroll.is_some()),
            ("--instructions", self.instructions.is_some()),
            ("--texts", self.texts),
            ("--remat-story", self.remat_story),
        ])
    }
}

/// What a dump is made from.
pub(super) fn options(arguments: &SynthArguments) -> DumpOptions {
    let given = &arguments.xla;
    let default = DumpOptions::default();
    let options = DumpOptions {
        network: arguments.network.transformer(arguments.batch),
        platform: given.platform.unwrap_or(default.platform),
        unroll: default.unroll,
        remat: given.remat.unwrap_or(default.remat),
        is_donated: given.donate,
        capacity_bytes: arguments.network.capacity,
        has_texts: given.texts,
    };
    match (arguments.size, given.instructions, given.unroll) {
        (Some(bytes), ..) => options.with_size(bytes),
        (None, Some(instructions), _) => options.with_instructions(instructions),
        (None, None, Some(layers)) => options.unrolled(layers),
        (None, None, None) => options,
    }
}
