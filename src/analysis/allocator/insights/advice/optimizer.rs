//! The optimizer: its state, and what it needs only while it makes its step.

use super::{Advice, Technique, about_peak, of_peak};
use crate::analysis::allocator::categories::BlockCategory;
use crate::analysis::allocator::insights::context::Context;

/// What the optimizer has at the peak.
pub fn candidates(context: &Context<'_>) -> Vec<Advice> {
    [fused(context), less_state(context)].into_iter().flatten().collect()
}

/// What the step of the optimizer makes for all parameters at once (`foreach`).
fn fused(context: &Context<'_>) -> Option<Advice> {
    let is_passing = |row: usize| {
        context.signs_of(row).is_optimizer && context.category(row) == BlockCategory::Temporary
    };
    let rows = context.at_peak(is_passing);
    let left = |row: usize, bytes: u64| if is_passing(row) { 0 } else { bytes };
    let found = about_peak(
        context,
        Technique::FusedOptimizer,
        (&rows, "Temporaries of the step of the optimizer"),
        left,
        "the peak without what the optimizer frees within its step",
    );
    Some(Advice {
        what: format!(
            "{} are temporaries of the step of the optimizer, which works on lists of all parameters at once. A fused \
             step needs none, and a loop over parameters those of one at a time",
            of_peak(context, &rows)
        ),
        caution: "foreach=False is slower; fused is not there for every optimizer",
        ..found?
    })
}

/// State that is kept from step to step; in eight bits a quarter of it is left.
fn less_state(context: &Context<'_>) -> Option<Advice> {
    let is_state = |row: usize| context.category(row) == BlockCategory::OptimizerState;
    let rows = context.at_peak(is_state);
    let left = |row: usize, bytes: u64| if is_state(row) { bytes / 4 } else { bytes };
    let found = about_peak(
        context,
        Technique::SmallerOptimizerState,
        (&rows, "State of the optimizer"),
        left,
        "a quarter of the state is left, as in 8 bits where it has 32; shared by several devices each has its part",
    );
    let parameters =
        context.bytes_of(&context.at_peak(|row| context.category(row) == BlockCategory::Parameter));
    let times = context.bytes_of(&rows) as f64 / parameters.max(1) as f64;
    let beside = match parameters {
        0 => String::new(),
        _ => format!(", {times:.1} times as much as the parameters"),
    };
    Some(Advice {
        what: format!(
            "{} are state of the optimizer{beside}: keep it in 8 bits, share it between devices, or take an optimizer \
             with less",
            of_peak(context, &rows)
        ),
        caution: "Another optimizer, or fewer bits: compare the loss",
        ..found?
    })
}
