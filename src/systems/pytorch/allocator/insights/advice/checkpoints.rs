//! Checkpoints: activations are computed again in the backward pass. The inputs of segments are kept, and the activations
//! of one segment are alive at a time. Segments have equally many layers, so they are cut here to have equally many
//! activations, in the order in which these are made; the number of segments that leaves least is suggested.

use super::loss::LossBlocks;
use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::run::NotAdvised;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::text::bytes;

/// Fewest activations that are worth a checkpoint.
const LEAST_ACTIVATIONS: usize = 4;
/// Activations below this part of the largest do not count as inputs of segments.
const SMALL_PART: u64 = 16;
/// Most segments that are suggested.
const MOST_SEGMENTS: usize = 64;

/// What checkpoints would leave of activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    segments: usize,
    /// The input of a segment, the largest.
    input_bytes: u64,
    left_bytes: u64,
}

impl Estimate {
    /// Of activations by their bytes, in the order in which they are made; `None` where checkpoints would leave no less.
    fn of(activations: &[u64]) -> Option<Self> {
        let least = activations.iter().max()? / SMALL_PART;
        let large = activations.iter().filter(|bytes| **bytes >= least.max(1)).count();
        if large < LEAST_ACTIVATIONS {
            return None;
        }
        let all = activations.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let of = |segments: usize| {
            let each = activations.len().div_ceil(segments);
            let (mut kept, mut most, mut input_bytes) = (0_u64, 0_u64, 0_u64);
            for (place, segment) in activations.chunks(each.max(1)).enumerate() {
                // What goes from layer to layer is narrow, of those that are not small.
                let mut sizes: Vec<u64> =
                    segment.iter().copied().filter(|bytes| *bytes >= least).collect();
                sizes.sort_unstable();
                let input = sizes.get(sizes.len() / 4).copied().unwrap_or(0);
                // The input of the first is the batch, which is there anyway.
                kept = kept.saturating_add(if place > 0 { input } else { 0 });
                input_bytes = input_bytes.max(input);
                most = most.max(segment.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)));
            }
            let left_bytes = kept.saturating_add(most);
            Self { segments, input_bytes, left_bytes }
        };
        let most = MOST_SEGMENTS.min(large / 2).max(2);
        let best = (2..=most).map(of).min_by_key(|estimate| estimate.left_bytes)?;
        (best.left_bytes < all).then_some(best)
    }
}

/// Checkpoints, or why they are not advised.
pub(super) fn candidate<'a>(
    context: &'a DeviceContext<'a>,
    loss: &'a LossBlocks,
) -> (Option<BlockCandidate<'a>>, Option<NotAdvised>) {
    if context.signs.has_checkpoints() {
        let not_advised = NotAdvised {
            id: SnapshotTechnique::CheckpointActivations.key(),
            why: "Activations are already computed again: stacks name torch/utils/checkpoint.py. \
                  Another number of segments may need less, because the optimum lies in the \
                  middle: compare snapshots with tilescope sweep"
                .to_owned(),
            evidence: Vec::new(),
        };
        return (None, Some(not_advised));
    }
    // What the loss keeps outside of modules is not computed again with them. What an unfinished pass was making goes as
    // well: nothing tells whether it would have been kept.
    let last_backward = context.moments.backward.last();
    let is_unfinished = move |row: usize| {
        let made = context.asked_at(row);
        made.is_some_and(|event| last_backward.is_none_or(|backward| *backward < event))
    };
    let is_activation = move |row: usize| {
        let is_kept = match context.category(row) {
            BlockCategory::Activation => true,
            BlockCategory::Temporary => is_unfinished(row),
            _ => false,
        };
        let is_forward = context.signs_of(row).is_forward || context.asked_at(row).is_none();
        is_kept && is_forward && !context.outlives_pass(row) && !loss.holds(row)
    };
    let mut rows = context.at_most(is_activation);
    let is_of_graph = |row: &usize| context.category(*row) == BlockCategory::Activation;
    if !rows.iter().any(is_of_graph) {
        return (None, None);
    }
    rows.sort_unstable();
    let sizes: Vec<u64> = rows.iter().map(|row| context.requested(*row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(context.requested(*row)));
    let Some(estimate) = Estimate::of(&sizes) else { return (None, None) };
    let Estimate { segments, input_bytes, left_bytes } = estimate;
    // A backward pass has gradients of the size of an input besides, which a forward pass that failed has not yet.
    let gradients = if context.has_failed_at_most() { input_bytes.saturating_mul(2) } else { 0 };
    let left_bytes = left_bytes.saturating_add(gradients);
    let what = if rows.iter().all(is_of_graph) {
        "activations"
    } else {
        "activations and blocks of the unfinished forward pass"
    };
    let candidate = BlockCandidate {
        technique: SnapshotTechnique::CheckpointActivations,
        text: format!(
            "{} are {what}. If they are computed again in the backward pass, about {segments} \
             segments leave some {} of them; the optimum lies in the middle, so try numbers \
             around it",
            of_most(context, &rows),
            bytes(left_bytes)
        ),
        rows,
        evidence: "Activations",
        expected: Some(BlockChange::without(is_activation).needing_in_place(left_bytes)),
        best: BlockChange::without(is_activation),
        basis: format!(
            "expected: with {segments} segments their inputs are kept, and the activations of one segment at a time; at \
             most: the peak without any activation"
        ),
        caution: "About a third more computing: a second forward pass",
    };
    (Some(candidate), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_of_segments_lies_in_the_middle() {
        let mib = 1_u64 << 20;
        let found = Estimate::of(&[288 * mib; 24]).unwrap();
        assert_eq!((found.segments, found.left_bytes), (4, (3 + 6) * 288 * mib), "√24");
        // Small ones do not count as inputs, but as bytes.
        let mut sizes = vec![64 * mib; 16];
        sizes.extend(vec![1024; 16]);
        assert!(Estimate::of(&sizes).is_some_and(|found| found.left_bytes % (64 * mib) < mib));
        assert_eq!(Estimate::of(&[8, 8, 8]), None, "too few");
        let found = Estimate::of(&[8, 8, 8, 8]);
        assert_eq!(found.map(|found| found.left_bytes), Some(8 + 16), "one input and one segment");
        assert_eq!(Estimate::of(&[1, 1, 100, 100]), None, "few that are not small");
        assert_eq!(Estimate::of(&[]), None);
    }
}
