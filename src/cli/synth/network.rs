//! The network of synthetic memory snapshots and dumps: a transformer, and what it is trained on.

use clap::Args;

use super::first_of;
use crate::systems::pytorch::synth::Transformer;
use crate::text::size;

/// What PyTorch and XLA have in common. Every value is optional, so that one that is given for another system is told.
#[derive(Debug, Args)]
pub struct TransformerArguments {
    /// Blocks of the transformer [default: 6].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub layers: Option<u64>,
    /// Elements of a token [default: 512].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub width: Option<u64>,
    /// Heads of the attention [default: 8].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=256))]
    pub heads: Option<u64>,
    /// Tokens of a sample [default: 256].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub sequence: Option<u64>,
    /// Tokens that there are [default: 4096].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub vocabulary: Option<u64>,
    /// Keep tensors in half precision in place of single.
    #[arg(long)]
    pub half_precision: bool,
    /// What the device has, for example 8GiB; without it everything fits. A dump for a GPU says it, others do not.
    #[arg(long, value_parser = size::parse)]
    pub capacity: Option<u64>,
}

impl TransformerArguments {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_of([
            ("--layers", self.layers.is_some()),
            ("--width", self.width.is_some()),
            ("--heads", self.heads.is_some()),
            ("--sequence", self.sequence.is_some()),
            ("--vocabulary", self.vocabulary.is_some()),
            ("--half-precision", self.half_precision),
            ("--capacity", self.capacity.is_some()),
        ])
    }

    /// The network, for so many samples at a time.
    pub(super) fn transformer(&self, batch: u64) -> Transformer {
        let default = Transformer::default();
        Transformer {
            layers: self.layers.unwrap_or(default.layers),
            width: self.width.unwrap_or(default.width),
            heads: self.heads.unwrap_or(default.heads),
            sequence: self.sequence.unwrap_or(default.sequence),
            vocabulary: self.vocabulary.unwrap_or(default.vocabulary),
            batch,
            element_bytes: if self.half_precision { 2 } else { default.element_bytes },
        }
    }
}
