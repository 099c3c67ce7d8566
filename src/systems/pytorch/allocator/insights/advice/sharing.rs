//! Fewer parameters to train, or a part of them on each device.

use std::collections::HashMap;

use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::systems::pytorch::allocator::user_frame::user_frame;

/// Parameters that the adapters have, as a part of those of the network.
const ADAPTER_PART: u64 = 20;

/// With the most bytes of gradients that are there at once.
pub(super) fn candidates<'a>(
    context: &'a DeviceContext<'a>,
    gradients: u64,
) -> Vec<BlockCandidate<'a>> {
    adapters(context, gradients).into_iter().chain(shards(context)).collect()
}

fn is_of_optimizer(category: BlockCategory) -> bool {
    matches!(category, BlockCategory::Gradient | BlockCategory::OptimizerState)
}

/// Of a network from a library, which may come with trained weights.
fn adapters<'a>(context: &'a DeviceContext<'a>, gradients: u64) -> Option<BlockCandidate<'a>> {
    let parameters = context.bytes_at_most(BlockCategory::Parameter);
    // Of what is trained already in small parts nothing is left to gain.
    if gradients < parameters / 2 || !is_of_library(context) {
        return None;
    }
    let goes = |row: usize| is_of_optimizer(context.category(row));
    let rows = context.at_most(goes);
    let may_go = move |row: usize| goes(row) || context.category(row) == BlockCategory::Activation;
    Some(BlockCandidate {
        technique: SnapshotTechnique::Lora,
        text: format!(
            "{} are gradients and optimizer state of all parameters. If this run trains a network further that has \
             learned already, adapters with a few parameters may do (LoRA)",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Gradients and optimizer state",
        expected: Some(BlockChange::without(goes).needing(parameters / ADAPTER_PART)),
        best: BlockChange::without(may_go),
        basis: "expected: the peak without gradients and state, and with a twentieth of the parameters for adapters; at \
            most: without activations either, of which frozen layers need fewer"
            .to_owned(),
        caution: "Another training: compare what the network learns. Nothing for training from the beginning",
    })
}

/// Whether a library made most of the activations.
fn is_of_library(context: &DeviceContext<'_>) -> bool {
    let mut by_stack: HashMap<StackId, u64> = HashMap::new();
    for row in context.rows() {
        if context.category(row) == BlockCategory::Activation {
            let bytes = by_stack.entry(context.stack(row)).or_default();
            *bytes = bytes.saturating_add(context.requested(row));
        }
    }
    let (mut all, mut of_library) = (0_u64, 0_u64);
    for (stack, bytes) in by_stack {
        let frame = user_frame(context.snapshot, stack);
        let file = frame.map_or("", |frame| context.snapshot.texts.get(frame.file));
        all = all.saturating_add(bytes);
        of_library = of_library.saturating_add(if file.contains("-packages/") { bytes } else { 0 });
    }
    of_library > all / 2
}

/// Of one of several processes, each of which has everything.
fn shards<'a>(context: &'a DeviceContext<'a>) -> Option<BlockCandidate<'a>> {
    let is_one_of_several = context.device.rank.is_some() && context.snapshot.devices.len() > 1;
    if context.signs.shares_parameters() || !(is_one_of_several || context.is_distributed()) {
        return None;
    }
    let goes = |row: usize| {
        let category = context.category(row);
        is_of_optimizer(category) || category == BlockCategory::Parameter
    };
    let rows = context.at_most(goes);
    Some(BlockCandidate {
        technique: SnapshotTechnique::FullyShard,
        text: format!(
            "{} are parameters, gradients and optimizer state, and every process has all of them. fully_shard leaves each \
             its part",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Parameters, gradients and optimizer state",
        expected: None,
        best: BlockChange::without(goes),
        basis: "the peak without them: each of n processes keeps one of n parts, and the parameters of a layer while it \
            is computed"
            .to_owned(),
        caution: "Parameters are gathered for each layer: more communication",
    })
}
