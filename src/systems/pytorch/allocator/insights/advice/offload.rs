//! Activations that wait in the memory of the host until the backward pass needs them.

use super::loss::LossBlocks;
use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;

pub(super) fn candidate<'a>(
    context: &'a DeviceContext<'a>,
    loss: &'a LossBlocks,
) -> Option<BlockCandidate<'a>> {
    // Without a backward pass nothing brings them back; after a failed request nobody knows.
    if context.moments.backward.is_empty() && context.ended_by.is_none() {
        return None;
    }
    // What the loss keeps is needed again at once.
    let is_kept = move |row: usize| {
        context.category(row) == BlockCategory::Activation
            && !context.signs_of(row).is_recomputed
            && !loss.holds(row)
    };
    let rows = context.at_most(is_kept);
    // One is copied out while the next is made, and back before it is used.
    let largest = rows.first().map_or(0, |row| context.requested(*row));
    Some(BlockCandidate {
        technique: SnapshotTechnique::OffloadActivations,
        text: format!(
            "{} are activations. They can wait in the memory of the host until the backward pass needs them",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Activations",
        expected: Some(BlockChange::without(is_kept).needing_in_place(largest.saturating_mul(2))),
        best: BlockChange::without(is_kept),
        basis:
            "expected: the peak with two activations, as large as the largest; at most: without any"
                .to_owned(),
        caution: "Every activation crosses the bus twice, which can take longer than computing it again: measure. It \
            needs as much pinned memory of the host",
    })
}
