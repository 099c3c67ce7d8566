//! Fewer bytes for each value: autocast, its cache, and weights in half precision.

use super::loss::LossBlocks;
use super::weights::{ParameterSizes, has_eight_bits};
use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::systems::pytorch::allocator::stack_signs::{StackPhase, StackRole};

pub(super) fn candidates<'a>(
    context: &'a DeviceContext<'a>,
    weights: &ParameterSizes,
    loss: &'a LossBlocks,
) -> Vec<BlockCandidate<'a>> {
    let may_be_single = !weights.are_half() && !is_compiled(context);
    let autocast = may_be_single.then(|| autocast(context, weights, loss)).flatten();
    let half_weights = may_be_single.then(|| half_weights(context, weights, loss)).flatten();
    autocast.into_iter().chain(cache_off(context)).chain(half_weights).collect()
}

fn uses_autocast(context: &DeviceContext<'_>) -> bool {
    context.signs.has_autocast() || context.categories.contains(&BlockCategory::AutocastCache)
}

/// Whether compiled code made most activations: it may compute in half precision without a sign of it.
fn is_compiled(context: &DeviceContext<'_>) -> bool {
    let kept = context.at_most(|row| context.category(row) == BlockCategory::Activation);
    let compiled: Vec<usize> =
        kept.iter().copied().filter(|row| context.signs_of(*row).is_compiled).collect();
    context.bytes_of(&compiled).saturating_mul(2) > context.bytes_of(&kept)
}

/// Where it is not on already.
fn autocast<'a>(
    context: &'a DeviceContext<'a>,
    weights: &ParameterSizes,
    loss: &'a LossBlocks,
) -> Option<BlockCandidate<'a>> {
    if uses_autocast(context) {
        return None;
    }
    let is_activation = |row: usize| context.category(row) == BlockCategory::Activation;
    let rows = context.at_most(is_activation);
    let is_of_passes = |row: usize| {
        matches!(context.category(row), BlockCategory::Activation | BlockCategory::Temporary)
            && !context.signs_of(row).is_optimizer()
    };
    let left = move |row: usize, bytes: u64| {
        let signs = context.signs_of(row);
        let is_forward = signs.phase == StackPhase::Forward || signs.is_recomputed;
        match signs.role {
            _ if context.asked_at(row).is_none() && is_activation(row) => bytes / 8 * 5,
            _ if !is_of_passes(row) || !is_forward => bytes,
            // Computed in single precision, and cast for what comes after, or before.
            StackRole::Softmax => bytes / 2 * 3,
            StackRole::Other if loss.holds(row) => bytes / 2 * 3,
            // Of what a program computes itself some stays in single precision: sums with it, powers.
            StackRole::Other if signs.is_of_own_code => bytes / 8 * 5,
            StackRole::Other if signs.is_call || signs.is_recomputed => bytes / 2,
            _ => bytes,
        }
    };
    let copies = context.bytes_at_most(BlockCategory::Parameter) / 2;
    Some(BlockCandidate {
        technique: SnapshotTechnique::Autocast,
        text: format!(
            "{} are activations{}. bfloat16 halves those of most layers",
            of_most(context, &rows),
            if weights.are_single() {
                ", in single precision as the weights are"
            } else {
                ", perhaps in single precision (a snapshot does not record types)"
            }
        ),
        rows,
        evidence: "Activations",
        expected: Some(BlockChange::to(left).needing_in_place(copies)),
        best: BlockChange::part_of(2, is_of_passes),
        basis: "expected: the peak with half of what layers make, but for softmax, normalization, dropout and loss, with \
            casts for softmax and loss, and with a copy of the parameters in 16 bits; at most: with half of all that the \
            passes make"
            .to_owned(),
        caution: "Results differ in the third digit. float16 needs a gradient scaler, bfloat16 does not",
    })
}

/// Copies of weights that autocast keeps although each is used once.
fn cache_off<'a>(context: &'a DeviceContext<'a>) -> Option<BlockCandidate<'a>> {
    let is_copy = |row: usize| context.category(row) == BlockCategory::AutocastCache;
    // For a backward pass they are kept in any case.
    if context.records_graph {
        return None;
    }
    let rows = context.at_most(is_copy);
    let largest = rows.first().map_or(0, |row| context.requested(*row));
    Some(BlockCandidate {
        technique: SnapshotTechnique::CacheOff,
        text: format!(
            "{} are copies of weights in 16 bits, which autocast keeps until it ends. Without its cache each is gone \
             when its layer is computed",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Copies of weights",
        expected: Some(BlockChange::without(is_copy).needing_in_place(largest)),
        best: BlockChange::without(is_copy),
        basis: "expected: the peak with the largest copy alone; at most: without copies".to_owned(),
        caution: "A weight that is used several times is copied each time",
    })
}

/// Parameters, and all that is made of them, in 16 bits.
fn half_weights<'a>(
    context: &'a DeviceContext<'a>,
    weights: &ParameterSizes,
    loss: &'a LossBlocks,
) -> Option<BlockCandidate<'a>> {
    if !context.has_network() {
        return None;
    }
    let (is_cast, trains) = (uses_autocast(context), context.is_training());
    let state_parts = if has_eight_bits(context, weights) { 1 } else { 2 };
    let left = move |row: usize, bytes: u64, of_all: bool| {
        let signs = context.signs_of(row);
        match context.category(row) {
            BlockCategory::Parameter | BlockCategory::Gradient => bytes / 2,
            BlockCategory::OptimizerState => bytes / state_parts,
            BlockCategory::AutocastCache => 0,
            BlockCategory::Activation | BlockCategory::Temporary => match signs.role {
                _ if of_all => bytes / 2,
                // Many programs compute these in single precision.
                StackRole::Loss | StackRole::Softmax => bytes,
                _ if is_cast => bytes,
                _ if loss.holds(row) => bytes / 2 * 3,
                _ if signs.is_of_own_code => bytes / 4 * 3,
                _ => bytes / 2,
            },
            _ => bytes,
        }
    };
    let rows = context.at_most(|row| left(row, 4, false) < 4);
    Some(BlockCandidate {
        technique: SnapshotTechnique::HalfWeights,
        text: format!(
            "{} are weights and {}. With weights in bfloat16 they take half",
            of_most(context, &rows),
            match (is_cast, trains) {
                (true, false) => "the copies of them that autocast makes",
                (true, true) => "what belongs to them: copies by autocast, gradients, optimizer state",
                (false, _) => "what is computed with them",
            }
        ),
        rows,
        evidence: "What weights in bfloat16 make smaller",
        expected: Some(BlockChange::to(move |row, bytes| left(row, bytes, false))),
        best: BlockChange::to(move |row, bytes| left(row, bytes, true)),
        basis: "expected: the peak with half of the parameters, gradients and optimizer state, without autocast's copies, \
            and with half of what layers make where that is not in 16 bits yet; at most: with half of all that the \
            passes make"
            .to_owned(),
        caution: if trains {
            "Small updates are lost in bfloat16: use an optimizer that rounds at random or keeps what is lost, and \
                compare the loss"
        } else {
            "Results differ in the third digit: compare them"
        },
    })
}
