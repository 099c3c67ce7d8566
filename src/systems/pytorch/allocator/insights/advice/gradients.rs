//! Gradients: kept over the step of the optimizer, kept until all are there, or not needed at all.

use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::systems::pytorch::allocator::lives::BlockLives;

/// Fewest blocks of a forward pass that are kept without a backward pass, before it is worth a word.
const LEAST_KEPT: usize = 8;

/// What gradients have to do with the peak.
pub(super) fn candidates<'a>(context: &'a DeviceContext<'a>) -> Vec<BlockCandidate<'a>> {
    let all = [set_to_none(context), Some(step_in_backward(context)), none_needed(context)];
    all.into_iter().flatten().collect()
}

/// Gradients of the step before, where the peak lies outside the step of the optimizer.
fn set_to_none<'a>(context: &'a DeviceContext<'a>) -> Option<BlockCandidate<'a>> {
    let most = context.most.event;
    let row = context.device.events.start.checked_add(usize::try_from(most).ok()?)?;
    let stack = context.snapshot.events.stacks.get(row)?;
    if context.signs.of_stack(*stack).is_optimizer() {
        return None;
    }
    let steps = context.moments.steps_before(most);
    let step = *context.moments.optimizer_steps.get(steps.checked_sub(1)?)?;
    // Those that are let go of later are set to none, where the program wants it.
    let is_gradient = |row: usize| {
        context.category(row) == BlockCategory::Gradient
            && context.freed_at(row) == BlockLives::OPEN
    };
    let is_kept =
        |row: usize| is_gradient(row) && context.asked_at(row).is_some_and(|event| event < step);
    let rows = context.at_most(is_kept);
    let lives_over_a_step = move |row: usize| {
        let moments = context.moments;
        let is_over = |event| moments.has_optimizer_step_within(event, context.freed_at(row));
        is_gradient(row) && context.asked_at(row).is_some_and(is_over)
    };
    Some(BlockCandidate {
        technique: SnapshotTechnique::SetGradientsToNone,
        text: format!(
            "{} are gradients of the previous step, which nothing needs once the optimizer has \
            taken its step",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Gradients of the previous step that are alive",
        expected: Some(BlockChange::without(lives_over_a_step)),
        best: BlockChange::without(lives_over_a_step),
        basis: "the peak without gradients that outlive the optimizer step".to_owned(),
        caution: "Does not apply if gradients are accumulated over several passes on purpose",
    })
}

/// Gradients that wait for the step of the optimizer.
fn step_in_backward<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let is_gradient = |row: usize| context.category(row) == BlockCategory::Gradient;
    let rows = context.at_most(is_gradient);
    let largest = rows.first().map_or(0, |row| context.requested(*row));
    BlockCandidate {
        technique: SnapshotTechnique::StepInBackward,
        text: format!(
            "{} are gradients that wait for the optimizer. Stepping each parameter as soon as its \
             gradient is ready needs only one at a time",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Gradients that are alive",
        expected: Some(BlockChange::without(is_gradient).needing_in_place(largest.saturating_mul(2))),
        best: BlockChange::without(is_gradient),
        basis: "expected: the peak with the largest gradient and what its step needs; at most: without gradients".to_owned(),
        caution: "Does not work with gradients that are clipped by their total norm, accumulated, \
            or scaled",
    }
}

/// Whether a forward pass is one of `DistributedDataParallel`, which is there to average gradients.
fn is_data_parallel(context: &DeviceContext<'_>) -> bool {
    let spans = context.replayed.annotated_spans(context.place).iter();
    let mut names = spans.map(|span| context.snapshot.texts.get(span.name));
    names.any(|name| name.starts_with("DistributedDataParallel"))
}

/// What a forward pass keeps although no backward pass is recorded.
fn none_needed<'a>(context: &'a DeviceContext<'a>) -> Option<BlockCandidate<'a>> {
    if context.is_training() || is_data_parallel(context) {
        return None;
    }
    let is_forward = |row: usize| {
        let signs = context.signs_of(row);
        context.category(row) == BlockCategory::Activation && !signs.is_checkpointed
    };
    let rows = context.at_most(is_forward);
    let bytes = context.bytes_of(&rows);
    let largest = rows.first().map_or(0, |row| context.requested(*row));
    // Without a graph few are alive at once.
    if rows.len() < LEAST_KEPT || bytes < largest.saturating_mul(4) {
        return None;
    }
    Some(BlockCandidate {
        technique: SnapshotTechnique::NoGradientsNeeded,
        text: format!(
            "{} were allocated by the forward pass and kept, and no backward pass is recorded. If \
             none is intended, no graph needs to be kept",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Allocated by the forward pass and kept",
        expected: Some(BlockChange::without(is_forward).needing_in_place(largest.saturating_mul(2))),
        best: BlockChange::without(is_forward),
        basis: "expected: the peak with two blocks, as large as the largest that the forward pass keeps; at most: without \
            any"
            .to_owned(),
        caution: "Only for inference: a training run that ended in its first forward pass looks \
            the same",
    })
}
