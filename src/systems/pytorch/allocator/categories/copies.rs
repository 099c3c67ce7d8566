//! Autocast's copies of parameters in 16 bits. It lets go of them at its end, where that is seen. Else: a layer allocates
//! its result alone; under autocast copies come before it, of its bias, its weight and its input, in this order, for
//! arguments are evaluated from the last. A copy is half as large as the parameter.

use std::collections::HashSet;
use std::ops::Range;

use super::blocks::BlockEvidence;
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Weights below this part of the largest do not say whether weights are copied.
const SMALL_PART: u64 = 16;

/// Bytes of parameters.
#[derive(Clone, Debug, Default)]
pub struct WeightSizes {
    /// Of each, ascending.
    sizes: Vec<u64>,
    /// Of a weight and the bias beside it, where a layer seems to have both.
    layers: HashSet<(u64, u64)>,
    /// Whether that was recorded.
    knows_layers: bool,
}

impl WeightSizes {
    /// Of parameters in the order in which they were made, and of others.
    pub fn of(made: &[u64], others: impl Iterator<Item = u64>) -> Self {
        let mut sizes: Vec<u64> = made.iter().copied().chain(others).collect();
        sizes.sort_unstable();
        sizes.dedup();
        // A bias is made after the weight that has a row for each of its values.
        let pairs = made.windows(2).filter_map(|pair| match pair {
            [weight, bias] if is_layer(*weight, *bias) => Some((*weight, *bias)),
            _ => None,
        });
        Self { sizes, layers: pairs.collect(), knows_layers: made.len() > 1 }
    }

    /// Whether bytes are half of a parameter's.
    fn is_half(&self, bytes: u64) -> bool {
        let whole = bytes.checked_mul(2).filter(|whole| *whole > 0);
        whole.is_some_and(|whole| self.sizes.binary_search(&whole).is_ok())
    }

    /// Whether bytes are half of those of a weight and its bias.
    fn are_halves_of_layer(&self, weight: u64, bias: u64) -> bool {
        let whole = (weight.saturating_mul(2), bias.saturating_mul(2));
        self.is_half(weight)
            && self.is_half(bias)
            && is_layer(weight, bias)
            && (!self.knows_layers || self.layers.contains(&whole))
    }
}

fn is_layer(weight: u64, bias: u64) -> bool {
    weight > bias && weight.checked_rem(bias) == Some(0)
}

/// The copies among the blocks of calls of layers, by their rows in ascending order; none where the blocks do not show
/// that autocast is on.
pub fn autocast_copies(blocks: &BlockEvidence<'_>, weights: &WeightSizes) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut calls, mut with_copies) = (0_usize, 0_usize);
    let mut row = blocks.first_recorded();
    while row < blocks.len() {
        let (signs, stack) = (blocks.signs(row), blocks.lives.stacks[row]);
        if !signs.is_weighted || matches!(signs.phase, StackPhase::Making | StackPhase::Optimizer) {
            row += 1;
            continue;
        }
        let same = blocks.lives.stacks.get(row..).unwrap_or_default().iter();
        let end = row + same.take_while(|other| **other == stack).count();
        let before = found.len();
        copies_of_call(blocks, row..end, weights, &mut found);
        calls += 1;
        with_copies += usize::from(found.len() > before);
        row = end.max(row + 1);
    }
    let is_shown = with_copies * 2 >= calls && copies_most_sizes(blocks, &found, &weights.sizes);
    if blocks.signs.has_autocast() || is_shown { found } else { Vec::new() }
}

/// The copies among the blocks that calls of one stack asked for, one after the other.
fn copies_of_call(
    blocks: &BlockEvidence<'_>,
    rows: Range<usize>,
    weights: &WeightSizes,
    found: &mut Vec<usize>,
) {
    let mut row = rows.start;
    // The last is the result.
    while row + 1 < rows.end {
        let (first, second) = (blocks.bytes(row), blocks.bytes(row + 1));
        let is_bias = row + 2 < rows.end && weights.are_halves_of_layer(second, first);
        let is_copy = weights.is_half(first);
        if is_copy {
            found.push(row);
        }
        if is_copy && is_bias {
            found.push(row + 1);
        }
        // What follows a copy of a weight is that of the input, or the result.
        row += 1 + usize::from(is_copy) + usize::from(is_copy && is_bias);
    }
}

/// Whether most sizes of weights have copies: activations may be half as large as one by chance.
fn copies_most_sizes(blocks: &BlockEvidence<'_>, copies: &[usize], sizes: &[u64]) -> bool {
    let least = sizes.last().map_or(0, |largest| largest / SMALL_PART);
    let large = sizes.len() - sizes.partition_point(|bytes| *bytes < least);
    let copied: HashSet<u64> = copies.iter().map(|row| blocks.bytes(*row)).collect();
    let copied = copied.into_iter().filter(|bytes| bytes.saturating_mul(2) >= least).count();
    copied > 0 && copied * 2 >= large
}
