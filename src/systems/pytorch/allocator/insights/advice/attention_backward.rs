//! Finds matrices of attention in recordings that begin after they were allocated, so that they have no stack.
//!
//! The order of the backward pass shows them. Weight gradients divide the pass into parts. In the part between two linear
//! layers the pass frees the kept value and makes one smaller gradient, that of the layer's input. In the part around
//! attention it frees the matrices and makes at least three smaller gradients of one size: query, key and value.

use std::collections::HashMap;

use super::attention::MOST_TIMES;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Gradients of query, key and value.
const LEAST_SMALLER: usize = 3;
/// The gradients of what softmax made and of what it was made of.
const LEAST_AS_LARGE: usize = 2;
/// The most matrices that one layer keeps: scores, masked scores, softmax, dropout, dropout mask, and a cast. A loop over
/// positions keeps one for each position, which is more.
const MOST_OF_LAYER: usize = 6;
/// One such part may be an accident; two of the same sizes are taken as attention.
const LEAST_LAYERS: usize = 2;

/// The part of a backward pass between two weight gradients.
#[derive(Default)]
struct BetweenWeights {
    /// Rows of blocks that are allocated, without weight gradients.
    made: Vec<usize>,
    /// Rows of activations older than the first event that are freed.
    given_back: Vec<usize>,
}

/// Rows of the matrices, and of the blocks of the same size that the backward pass allocates.
#[derive(Default)]
pub(super) struct EndedMatrices {
    pub kept: Vec<usize>,
    pub of_backward: Vec<usize>,
}

impl EndedMatrices {
    pub fn of(context: &DeviceContext<'_>) -> Self {
        let mut found = Self::default();
        let mut layers: HashMap<(u64, u64), usize> = HashMap::new();
        let of_layers: Vec<_> = between_weights(context)
            .into_iter()
            .filter_map(|between| {
                let sizes = between.sizes(context)?;
                *layers.entry(sizes).or_default() += 1;
                Some((sizes, between))
            })
            .collect();
        let of_layers = of_layers
            .into_iter()
            .filter(|(sizes, _)| layers.get(sizes).is_some_and(|layers| *layers >= LEAST_LAYERS));
        for ((matrix, _), between) in of_layers {
            let is_one = |row: &usize| context.requested(*row) == matrix;
            found.kept.extend(between.given_back.iter().copied().filter(is_one));
            found.of_backward.extend(between.made.iter().copied().filter(is_one));
        }
        found
    }
}

impl BetweenWeights {
    /// Bytes of a matrix and of a query; `None` where the freed blocks are not matrices of attention.
    fn sizes(&self, context: &DeviceContext<'_>) -> Option<(u64, u64)> {
        let count = |rows: &[usize]| {
            let mut counts: HashMap<u64, usize> = HashMap::new();
            for row in rows {
                *counts.entry(context.requested(*row)).or_default() += 1;
            }
            counts
        };
        let (made, given_back) = (count(&self.made), count(&self.given_back));
        let (matrix, kept) = given_back.into_iter().max()?;
        let is_query = |(bytes, count): &(u64, usize)| {
            *count >= LEAST_SMALLER && *bytes < matrix && matrix / MOST_TIMES <= *bytes
        };
        let has_matrices = made.get(&matrix).is_some_and(|made| *made >= LEAST_AS_LARGE);
        let (query, _) = made.into_iter().filter(is_query).max()?;
        (has_matrices && kept <= MOST_OF_LAYER).then_some((matrix, query))
    }
}

/// Divides backward passes at weight gradients.
fn between_weights(context: &DeviceContext<'_>) -> Vec<BetweenWeights> {
    let lives = context.lives();
    let recorded = lives.first_from(0);
    let is_freed = |row: &usize| {
        let freed = lives.requested_free_at.get(*row).copied();
        freed.is_some_and(|event| event != BlockLives::OPEN)
            && context.category(*row) == BlockCategory::Activation
    };
    let mut freed: Vec<(u32, usize)> = (0..recorded)
        .filter(is_freed)
        .filter_map(|row| Some((*lives.requested_free_at.get(row)?, row)))
        .collect();
    if freed.is_empty() {
        return Vec::new();
    }
    freed.sort_unstable();
    let mut freed = freed.into_iter().peekable();
    let mut all = vec![BetweenWeights::default()];
    for row in recorded..lives.len() {
        let Some(made_at) = lives.allocation(row) else { continue };
        let Some(last) = all.last_mut() else { break };
        while let Some((_, row)) = freed.next_if(|(event, _)| *event < made_at) {
            last.given_back.push(row);
        }
        let signs = context.signs_of(row);
        let is_of_backward = signs.phase == StackPhase::Backward && !signs.has_python;
        if is_of_backward && context.category(row) != BlockCategory::Gradient {
            last.made.push(row);
        } else {
            all.push(BetweenWeights::default());
        }
    }
    all
}
