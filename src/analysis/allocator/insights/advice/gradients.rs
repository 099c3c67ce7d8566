//! Gradients: kept over the step of the optimizer, kept until all are there, or not needed at all.

use super::{Advice, Technique, about_peak, of_peak};
use crate::analysis::allocator::categories::BlockCategory;
use crate::analysis::allocator::insights::context::Context;
use crate::analysis::allocator::lives::BlockLives;

/// Fewest blocks of a forward pass that are kept without a backward pass, before it is worth a word.
const LEAST_KEPT: usize = 8;

/// What gradients have to do with the peak.
pub fn candidates(context: &Context<'_>) -> Vec<Advice> {
    [set_to_none(context), step_in_backward(context), none_needed(context)]
        .into_iter()
        .flatten()
        .collect()
}

/// Gradients of the step before, where the peak lies outside the step of the optimizer.
fn set_to_none(context: &Context<'_>) -> Option<Advice> {
    let peak = context.peak.event;
    let row = context.device.events.start.checked_add(usize::try_from(peak).ok()?)?;
    let stack = context.snapshot.events.stacks.get(row)?;
    if context.signs.of_stack(*stack).is_optimizer {
        return None;
    }
    let steps = context.moments.steps_before(peak);
    let step = *context.moments.optimizer_steps.get(steps.checked_sub(1)?)?;
    let is_kept = |row: usize| {
        context.category(row) == BlockCategory::Gradient
            && context.lives().allocation(row).is_some_and(|event| event < step)
    };
    let rows = context.at_peak(is_kept);
    let lives_over_a_step = |row: usize| {
        let allocated_at = context.lives().allocated_at[row];
        context.category(row) == BlockCategory::Gradient
            && allocated_at != BlockLives::BEFORE
            && context
                .moments
                .has_optimizer_step_within(allocated_at, context.lives().freed_at[row])
    };
    let left = |row: usize, bytes: u64| if lives_over_a_step(row) { 0 } else { bytes };
    let basis = "the peak without gradients that outlive the step of the optimizer";
    let found = about_peak(
        context,
        Technique::SetGradientsToNone,
        (&rows, "Gradients of the step before that are alive"),
        left,
        basis,
    );
    Some(Advice {
        what: format!(
            "{} are gradients of the step before, which nothing needs any more once the optimizer has made its step",
            of_peak(context, &rows)
        ),
        caution: "Not where gradients are accumulated over several passes on purpose",
        ..found?
    })
}

/// Gradients that wait for the step of the optimizer.
fn step_in_backward(context: &Context<'_>) -> Option<Advice> {
    let is_gradient = |row: usize| context.category(row) == BlockCategory::Gradient;
    let rows = context.at_peak(is_gradient);
    let left = |row: usize, bytes: u64| if is_gradient(row) { 0 } else { bytes };
    let found = about_peak(
        context,
        Technique::StepInBackward,
        (&rows, "Gradients that are alive"),
        left,
        "the peak without gradients: at any time one of them is left",
    );
    Some(Advice {
        what: format!(
            "{} are gradients that wait for the optimizer. A step for each parameter as soon as its gradient is there \
             needs only one at a time",
            of_peak(context, &rows)
        ),
        caution: "Not with gradients that are clipped by their total norm, accumulated, or scaled",
        ..found?
    })
}

/// What a forward pass keeps although no backward pass is recorded.
fn none_needed(context: &Context<'_>) -> Option<Advice> {
    let moments = &context.moments;
    if !moments.backward.is_empty() || !moments.optimizer_steps.is_empty() {
        return None;
    }
    let is_forward = |row: usize| {
        let signs = context.signs_of(row);
        signs.is_forward && !signs.is_checkpointed && context.lives().allocation(row).is_some()
    };
    let rows = context.at_peak(is_forward);
    let bytes = context.bytes_of(&rows);
    let largest = rows.first().map_or(0, |row| context.lives().requested[*row]);
    // Without a graph few are alive at once.
    if rows.len() < LEAST_KEPT || bytes < largest.saturating_mul(4) {
        return None;
    }
    let left = |row: usize, bytes: u64| if is_forward(row) { 0 } else { bytes };
    let found = about_peak(
        context,
        Technique::NoGradientsNeeded,
        (&rows, "Allocated by the forward pass and kept"),
        left,
        "the peak without what the forward pass keeps; a few of its blocks are alive in any case",
    );
    Some(Advice {
        what: format!(
            "{} were allocated by the forward pass and kept, and no backward pass is recorded. If none is meant to \
             come, no graph needs to be kept",
            of_peak(context, &rows)
        ),
        caution: "For inference alone: a run that trains and ended in its first forward pass looks the same",
        ..found?
    })
}
