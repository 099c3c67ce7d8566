//! What a layer of a transformer makes and takes, and what of it waits for the backward pass.

use clap::ValueEnum;

use super::Transformer;
use super::program::Handle;
use super::shape::{Array, Element};

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

/// Number of tensors.
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
pub(super) type Tensors = [Option<Handle>; TENSORS];

/// Sizes of a network, and what follows from them.
pub(super) struct Sizes {
    pub net: Transformer,
    pub element: Element,
}

impl Sizes {
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
            Tensor::Qkv => self.rows(3 * self.net.width),
            Tensor::Softmax => self.scores(),
            Tensor::Up | Tensor::Gelu => self.rows(4 * self.net.width),
            _ => self.hidden(),
        }
    }

    /// A weight of a layer.
    pub fn weight(&self, number: usize) -> Array {
        let width = self.net.width;
        let dimensions: &[u64] = match number {
            1 => &[width, 3 * width],
            2 => &[width, width],
            4 => &[width, 4 * width],
            5 => &[4 * width, width],
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
