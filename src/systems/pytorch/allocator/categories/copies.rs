//! Autocast's copies of parameters in 16 bits. It lets go of them at its end, where that is seen. Else: a layer allocates
//! its result alone; under autocast copies come before it, of its bias, its weight and its input, in this order, for
//! arguments are evaluated from the last. A copy is half as large as the parameter.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::blocks::{BlockEvidence, WORKSPACES};
use super::passes::RunPasses;
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Weights below this part of the largest do not say whether weights are copied.
const SMALL_PART: u64 = 16;
/// What a layer allocates under autocast: copies of its bias, its weight and its input, and its result.
const MOST_OF_LAYER: usize = 4;

/// Bytes of parameters.
#[derive(Clone, Debug, Default)]
pub struct WeightSizes {
    /// Of each, ascending.
    sizes: Vec<u64>,
    /// How many there are of each.
    counts: HashMap<u64, usize>,
    /// Of a weight and the bias beside it, where a layer seems to have both.
    layers: HashSet<(u64, u64)>,
    /// Whether that was recorded.
    knows_layers: bool,
}

impl WeightSizes {
    /// Of parameters in the order in which they were made, of all, and of those that have gradients, with their number.
    pub fn of(
        made: &[u64],
        all: impl Iterator<Item = u64>,
        gradients: &BTreeMap<u64, usize>,
    ) -> Self {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for bytes in all {
            *counts.entry(bytes).or_default() += 1;
        }
        for (bytes, count) in gradients {
            let known = counts.entry(*bytes).or_default();
            *known = (*known).max(*count);
        }
        let mut sizes: Vec<u64> = counts.keys().copied().collect();
        sizes.sort_unstable();
        // A bias is made after the weight that has a row for each of its values.
        let pairs = made.windows(2).filter_map(|pair| match pair {
            [weight, bias] if is_layer(*weight, *bias) => Some((*weight, *bias)),
            _ => None,
        });
        Self { sizes, counts, layers: pairs.collect(), knows_layers: made.len() > 1 }
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

/// The copies among the blocks of calls, by their rows; none where the blocks do not show that autocast is on.
pub fn autocast_copies(
    blocks: &BlockEvidence<'_>,
    passes: &RunPasses,
    weights: &WeightSizes,
) -> Vec<usize> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let (mut calls, mut with_copies) = (0_usize, 0_usize);
    let mut row = blocks.first_recorded();
    while row < blocks.len() {
        let (signs, stack) = (blocks.signs(row), blocks.lives.stacks[row]);
        let is_other = signs.phase == StackPhase::Forward && signs.may_be_weighted;
        if !(signs.is_weighted || is_other)
            || matches!(signs.phase, StackPhase::Making | StackPhase::Optimizer)
        {
            row += 1;
            continue;
        }
        let same = blocks.lives.stacks.get(row..).unwrap_or_default().iter();
        let end = row + same.take_while(|other| **other == stack).count();
        if !signs.is_weighted {
            copies_of_other(blocks, row..end, passes, weights, &mut others);
            row = end.max(row + 1);
            continue;
        }
        let before = found.len();
        copies_of_call(blocks, row..end, weights, &mut found);
        calls += 1;
        with_copies += usize::from(found.len() > before);
        row = end.max(row + 1);
    }
    let all = || found.iter().chain(&others).copied();
    let is_shown = with_copies * 2 >= calls && copies_most_sizes(blocks, all(), &weights.sizes);
    // Where layers copy nearly always, weights that no layer has may be the most.
    let is_shown = is_shown
        || (with_copies * 4 >= calls * 3
            && found.iter().map(|row| blocks.bytes(*row)).collect::<HashSet<_>>().len() > 1);
    if !blocks.signs.has_autocast() && !is_shown {
        return Vec::new();
    }
    // Where a pass has more of a size than there are weights, they are something else.
    let key = |row: usize| (blocks.bytes(row), passes.place(row));
    let mut counts: HashMap<_, usize> = HashMap::new();
    for row in &others {
        *counts.entry(key(*row)).or_default() += 1;
    }
    let weights_of = |row: usize| {
        let whole = blocks.bytes(row).saturating_mul(2);
        weights.counts.get(&whole).copied().unwrap_or(0)
    };
    found
        .extend(others.into_iter().filter(|row| counts.get(&key(*row)) <= Some(&weights_of(*row))));
    found
}

/// The copies among the blocks of calls of something else that may multiply by a weight: an own layer, a function. Copies
/// stay until autocast ends.
fn copies_of_other(
    blocks: &BlockEvidence<'_>,
    rows: Range<usize>,
    passes: &RunPasses,
    weights: &WeightSizes,
    found: &mut Vec<usize>,
) {
    let is_own = |row: &usize| !WORKSPACES.contains(&blocks.bytes(*row));
    if rows.len() < 2 || rows.clone().filter(is_own).count() > MOST_OF_LAYER {
        return;
    }
    let pass = rows.clone().next().and_then(|row| passes.all.get(passes.place(row)?));
    let Some(last) = pass.map(|pass| blocks.event(pass.last_forward)) else { return };
    // The last is the result, and the input may be as large as the weight, which comes before it.
    let mut copies = rows.start..rows.end - 1;
    let first = copies.find(|row| weights.is_half(blocks.bytes(*row)));
    let second = first.map(|row| row + 1).filter(|second| {
        let bias = first.map_or(0, |row| blocks.bytes(row));
        *second + 1 < rows.end && weights.are_halves_of_layer(blocks.bytes(*second), bias)
    });
    let copies = first.into_iter().chain(second);
    found.extend(copies.filter(|row| blocks.until(*row) > last));
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
fn copies_most_sizes(
    blocks: &BlockEvidence<'_>,
    copies: impl Iterator<Item = usize>,
    sizes: &[u64],
) -> bool {
    let least = sizes.last().map_or(0, |largest| largest / SMALL_PART);
    let large = sizes.len() - sizes.partition_point(|bytes| *bytes < least);
    let copied: HashSet<u64> = copies.map(|row| blocks.bytes(row)).collect();
    let copied = copied.into_iter().filter(|bytes| bytes.saturating_mul(2) >= least).count();
    copied > 0 && copied * 2 >= large
}
