//! The optimizer: its state, and what it needs only while it makes its step.

use super::{BlockCandidate, SnapshotTechnique, of_peak};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::{
    BlockChange, DeviceContext, LeftOfBlock,
};

/// What the optimizer has at the peak.
pub(super) fn candidates<'a>(context: &'a DeviceContext<'a>) -> Vec<BlockCandidate<'a>> {
    vec![fused(context), less_state(context)]
}

/// What the step of the optimizer makes for all parameters at once (`foreach`).
fn fused<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let is_passing = |row: usize| {
        context.signs_of(row).is_optimizer() && context.category(row) == BlockCategory::Temporary
    };
    let rows = context.at_peak(is_passing);
    BlockCandidate {
        technique: SnapshotTechnique::FusedOptimizer,
        text: format!(
            "{} are temporaries of the optimizer step, which works on lists of all parameters at \
             once. A fused step needs none, and a loop over parameters needs those of one at a \
             time",
            of_peak(context, &rows)
        ),
        rows,
        evidence: "Temporaries of the optimizer step",
        change: BlockChange { acts_on: Box::new(is_passing), left: LeftOfBlock::Nothing },
        expected_bytes: None,
        basis: "the peak without what the optimizer frees within its step".to_owned(),
        caution: "foreach=False is slower; not every optimizer has a fused form",
    }
}

/// State that is kept from step to step; in eight bits a quarter of it is left.
fn less_state<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let is_state = |row: usize| context.category(row) == BlockCategory::OptimizerState;
    let rows = context.at_peak(is_state);
    let parameters =
        context.bytes_of(&context.at_peak(|row| context.category(row) == BlockCategory::Parameter));
    let times = context.bytes_of(&rows) as f64 / parameters.max(1) as f64;
    let beside = match parameters {
        0 => String::new(),
        _ => format!(", {times:.1} times as much as the parameters"),
    };
    BlockCandidate {
        technique: SnapshotTechnique::SmallerOptimizerState,
        text: format!(
            "{} are optimizer state{beside}: keep it in 8 bits, share it between devices, or use \
             an optimizer with less",
            of_peak(context, &rows)
        ),
        rows,
        evidence: "Optimizer state",
        change: BlockChange { acts_on: Box::new(is_state), left: LeftOfBlock::Quarter },
        expected_bytes: None,
        basis: "a quarter of the state is left, as with 8 bits instead of 32; if several devices \
            share it, each keeps its part"
            .to_owned(),
        caution: "Compare the loss: the optimizer or its precision changes",
    }
}
