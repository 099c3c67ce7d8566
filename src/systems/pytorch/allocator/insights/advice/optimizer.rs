//! The optimizer: its state, and what it needs only while it makes its step.

use super::weights::{ParameterSizes, has_eight_bits};
use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;

/// What the optimizer has at the peak.
pub(super) fn candidates<'a>(
    context: &'a DeviceContext<'a>,
    weights: &ParameterSizes,
) -> Vec<BlockCandidate<'a>> {
    std::iter::once(fused(context)).chain(less_state(context, weights)).collect()
}

/// What the step of the optimizer makes for all parameters at once (`foreach`).
fn fused<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let is_passing = |row: usize| {
        context.signs_of(row).is_optimizer() && context.category(row) == BlockCategory::Temporary
    };
    let rows = context.at_most(is_passing);
    BlockCandidate {
        technique: SnapshotTechnique::FusedOptimizer,
        text: format!(
            "{} are temporaries of the optimizer step, which works on lists of all parameters at \
             once. A fused step needs none, and a loop over parameters needs those of one at a \
             time",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Temporaries of the optimizer step",
        expected: Some(BlockChange::without(is_passing)),
        best: BlockChange::without(is_passing),
        basis: "the peak without what the optimizer frees within its step".to_owned(),
        caution: "None where the optimizer has a fused form; foreach=False is slower",
    }
}

/// State that is kept from step to step, with eight bits for each value.
fn less_state<'a>(
    context: &'a DeviceContext<'a>,
    weights: &ParameterSizes,
) -> Option<BlockCandidate<'a>> {
    if has_eight_bits(context, weights) {
        return None;
    }
    let is_state = |row: usize| context.category(row) == BlockCategory::OptimizerState;
    let rows = context.at_most(is_state);
    let parameters = context.bytes_at_most(BlockCategory::Parameter);
    let times = context.bytes_of(&rows) as f64 / parameters.max(1) as f64;
    let beside = match parameters {
        0 => String::new(),
        _ => format!(", {times:.1} times as much as the parameters"),
    };
    let parts = if weights.are_half() { 2 } else { 4 };
    let left = if weights.are_half() { "half" } else { "a quarter" };
    Some(BlockCandidate {
        technique: SnapshotTechnique::SmallerOptimizerState,
        text: format!(
            "{} are optimizer state{beside}: keep it in 8 bits, share it between devices, or use \
             an optimizer with less",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Optimizer state",
        expected: Some(BlockChange::part_of(parts, is_state)),
        best: BlockChange::without(is_state),
        basis: format!(
            "expected: the peak with {left} of the state, as 8 bits for each value leave it; at most: without state"
        ),
        caution: "The optimizer or its precision changes: compare the loss",
    })
}
