//! A transformer that is trained: the sizes of its tensors, its parameters, and the options that say what it is.

use clap::Args;

use crate::text::size;

/// The network and how it is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transformer {
    /// Blocks, each of attention and a feed-forward network.
    pub layers: u64,
    /// Elements of a token.
    pub width: u64,
    /// Heads of the attention.
    pub heads: u64,
    /// Tokens of a sample.
    pub sequence: u64,
    /// Tokens that there are.
    pub vocabulary: u64,
    /// Samples at a time.
    pub batch: u64,
    /// Bytes of an element.
    pub element_bytes: u64,
}

impl Default for Transformer {
    fn default() -> Self {
        Self {
            layers: 6,
            width: 512,
            heads: 8,
            sequence: 256,
            vocabulary: 4096,
            batch: 8,
            element_bytes: 4,
        }
    }
}

/// Bytes of an element in half precision.
const HALF_BYTES: u64 = 2;

/// A parameter with its gradient and its two states of the optimizer, which are all of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes of each.
    pub bytes: u64,
    /// How deep in the tree of modules it is.
    pub levels: u8,
}

/// Parameters before those of the blocks: the embedding.
pub const BEFORE_BLOCKS: usize = 1;
/// Parameters of a block, in this order: weight and bias of the first norm, of queries, keys and values, of the
/// projection, of the second norm, of the layer up and of the layer down.
pub const OF_BLOCK: usize = 12;

impl Transformer {
    /// Tokens of a batch.
    pub fn tokens(&self) -> u64 {
        self.batch.saturating_mul(self.sequence)
    }

    /// What a block takes and gives.
    pub fn hidden_bytes(&self) -> u64 {
        self.tokens() * self.width * self.element_bytes
    }

    /// Of each token how much it looks at each other, for each head.
    pub fn scores_bytes(&self) -> u64 {
        self.heads * self.tokens() * self.sequence * self.element_bytes
    }

    /// Mean or deviation of each token, in single precision.
    pub fn norm_bytes(&self) -> u64 {
        self.tokens() * 4
    }

    /// Of each token how likely each other is.
    pub fn logits_bytes(&self) -> u64 {
        self.tokens() * self.vocabulary * self.element_bytes
    }

    /// The numbers of the tokens.
    pub fn batch_bytes(&self) -> u64 {
        self.tokens() * 8
    }

    /// The parameters, in the order of the modules; the last is the head's.
    pub fn parameters(&self) -> Vec<Parameter> {
        let of = |elements: u64, levels| Parameter { bytes: elements * self.element_bytes, levels };
        let width = self.width;
        let block = [
            [width, width],
            [3 * width * width, 3 * width],
            [width * width, width],
            [width, width],
            [4 * width * width, 4 * width],
            [4 * width * width, width],
        ];
        let embedding = of(self.vocabulary * width, 1);
        let mut all = vec![embedding];
        for _ in 0..self.layers {
            all.extend(block.as_flattened().iter().map(|elements| of(*elements, 3)));
        }
        all.push(embedding);
        all
    }
}

/// The options that say what its blocks are, each optional.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of PyTorch, XLA and TT-NN")]
pub struct BlockArguments {
    /// Blocks of the transformer [default: 6; of a TT-NN report with --size 12].
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
}

impl BlockArguments {
    /// The network of these blocks in half precision, for so many samples at a time.
    pub fn network(&self, batch: u64) -> Transformer {
        let default = Transformer::default();
        Transformer {
            layers: self.layers.unwrap_or(default.layers),
            width: self.width.unwrap_or(default.width),
            heads: self.heads.unwrap_or(default.heads),
            sequence: self.sequence.unwrap_or(default.sequence),
            batch,
            element_bytes: HALF_BYTES,
            ..default
        }
    }
}

/// The options of it, each optional.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of PyTorch and XLA")]
pub struct TransformerArguments {
    /// Size of the vocabulary [default: 4096].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub vocabulary: Option<u64>,
    /// Keep tensors in half precision instead of single.
    #[arg(long)]
    pub half_precision: bool,
    /// Memory of the device, for example 8GiB; without it everything fits. Of the dumps only those for a GPU state it.
    #[arg(long, value_parser = size::parse)]
    pub capacity: Option<u64>,
    // Behind the others: what is flattened sets the heading of what follows.
    /// Its blocks.
    #[command(flatten)]
    pub blocks: BlockArguments,
}

impl TransformerArguments {
    /// The network, for so many samples at a time.
    pub fn transformer(&self, batch: u64) -> Transformer {
        let default = Transformer::default();
        Transformer {
            vocabulary: self.vocabulary.unwrap_or(default.vocabulary),
            element_bytes: if self.half_precision { HALF_BYTES } else { default.element_bytes },
            ..self.blocks.network(batch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transformer_has_the_parameters_that_its_widths_give() {
        let net = Transformer::default();
        let parameters = net.parameters();
        assert_eq!(parameters.len(), BEFORE_BLOCKS + 6 * OF_BLOCK + 1);
        let bytes: u64 = parameters.iter().map(|parameter| parameter.bytes).sum();
        let block = 12 * 512 * 512 + 13 * 512;
        assert_eq!(bytes, 4 * (6 * block + 2 * 4096 * 512));
        assert_eq!(net.hidden_bytes(), 4 << 20);
        assert_eq!(net.scores_bytes(), 16 << 20);
    }
}
