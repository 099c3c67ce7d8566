//! The tensors of a transformer layer, and those that wait for the backward pass.

use clap::ValueEnum;

use super::Transformer;
use super::program::ArrayId;
use super::shape::{Array, Scalar, XlaTarget};
use crate::synth::WriteError;

/// What of the forward pass is computed again in the backward pass (`jax.checkpoint` and its policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Remat {
    /// Nothing: all that it needs waits.
    None,
    /// All but products of matrices (`dots_with_no_batch_dims_saveable`).
    Dots,
    /// All but what each layer begins with.
    Full,
}

/// What a layer makes that its backward pass needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tensor {
    Input,
    Norm1,
    Qkv,
    Softmax,
    Attended,
    Projected,
    Sum,
    Norm2,
    Up,
    Gelu,
}

const TENSORS: usize = 10;

impl Remat {
    /// What waits for the backward pass.
    pub(super) fn kept(self) -> &'static [Tensor] {
        use Tensor::{Attended, Gelu, Input, Norm1, Norm2, Projected, Qkv, Softmax, Sum, Up};
        match self {
            Self::None => &[Input, Norm1, Qkv, Softmax, Attended, Sum, Norm2, Up, Gelu],
            Self::Dots => &[Input, Qkv, Projected, Up],
            Self::Full => &[Input],
        }
    }
}

/// Weights of a layer.
pub(super) const WEIGHTS: [&str; 6] = ["norm_1", "qkv", "out", "norm_2", "up", "down"];

/// What a layer has so far, by tensor.
pub(super) type Tensors = [Option<ArrayId>; TENSORS];

/// Sizes of a network, and what follows from them.
pub(super) struct NetworkSizes {
    pub net: Transformer,
    pub element: Scalar,
}

/// Bytes of an array beyond which nothing is written: a program has some hundred arrays of that size at most, so that
/// sums of all have 64 bits.
const MOST_BYTES: u64 = 1 << 48;

impl NetworkSizes {
    pub fn of(net: &Transformer) -> Self {
        let element = if net.element_bytes == 2 { Scalar::Half } else { Scalar::Single };
        Self { net: *net, element }
    }

    /// Says which option makes an array too large: of those that it follows from the one that is the most times what it
    /// is by default.
    pub fn too_large(&self, platform: XlaTarget) -> Option<WriteError> {
        let (net, usual) = (&self.net, Transformer::default());
        let layers = ("layers", net.layers, usual.layers);
        let width = ("width", net.width, usual.width);
        let heads = ("heads", net.heads, usual.heads);
        let sequence = ("sequence", net.sequence, usual.sequence);
        let vocabulary = ("vocabulary", net.vocabulary, usual.vocabulary);
        let batch = ("batch", net.batch, usual.batch);
        // States of the optimizer are in single precision.
        let state = |array: Array| Array { element: Scalar::Single, ..array };
        let table = Array::of(Scalar::Single, &[net.vocabulary, net.width]);
        let arrays = [
            ("the attention", self.stacked(&self.scores()), &[layers, heads, sequence, batch][..]),
            (
                "what layers make",
                self.stacked(&self.tensor(Tensor::Up)),
                &[layers, width, sequence, batch],
            ),
            ("the weights of layers", state(self.stacked(&self.weight(4))), &[layers, width]),
            ("the logits", self.rows(net.vocabulary), &[vocabulary, sequence, batch]),
            ("the embedding", table, &[vocabulary, width]),
        ];
        let (array, _, options) = (arrays.into_iter())
            .map(|(title, array, options)| (title, platform.array_bytes(&array), options))
            .find(|(_, bytes, _)| *bytes > MOST_BYTES)?;
        let times = |(_, value, usual): &&(&str, u64, u64)| value / usual;
        let (option, value, _) = *options.iter().max_by_key(times)?;
        Some(WriteError::TooLarge { option, value, array, most: MOST_BYTES })
    }

    fn tokens(&self) -> u64 {
        self.net.tokens()
    }

    /// Rows of a number of columns, one for each token.
    pub fn rows(&self, columns: u64) -> Array {
        Array::of(self.element, &[self.tokens(), columns])
    }

    pub fn hidden(&self) -> Array {
        self.rows(self.net.width)
    }

    pub fn scores(&self) -> Array {
        let net = &self.net;
        Array::of(self.element, &[net.batch, net.heads, net.sequence, net.sequence])
    }

    pub fn tensor(&self, tensor: Tensor) -> Array {
        match tensor {
            Tensor::Qkv => self.rows(self.net.width.saturating_mul(3)),
            Tensor::Softmax => self.scores(),
            Tensor::Up | Tensor::Gelu => self.rows(self.net.width.saturating_mul(4)),
            _ => self.hidden(),
        }
    }

    pub fn weight(&self, number: usize) -> Array {
        let width = self.net.width;
        let dimensions: &[u64] = match number {
            1 => &[width, width.saturating_mul(3)],
            2 => &[width, width],
            4 => &[width, width.saturating_mul(4)],
            5 => &[width.saturating_mul(4), width],
            _ => &[width],
        };
        Array::of(self.element, dimensions)
    }

    /// One of these for each layer.
    pub fn stacked(&self, array: &Array) -> Array {
        let dimensions: Vec<u64> =
            std::iter::once(self.net.layers).chain(array.dimensions.iter().copied()).collect();
        Array::of(array.element, &dimensions)
    }
}
