//! Checkpoints: activations are computed again in the backward pass. With k segments the inputs of k are kept and the
//! activations of one are alive at a time, k·a + A/k with A bytes of activations and inputs of a bytes; the backward pass
//! through a segment has two gradients of the size of its input besides. So the optimum lies in the middle, at √(A/a).
//! The size of an input is taken from the activations: it is the middle one of those that are not small.

use super::{BlockCandidate, SnapshotTechnique, of_peak};
use crate::run::NotAdvised;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::{
    BlockChange, DeviceContext, LeftOfBlock,
};
use crate::text::bytes;

/// Fewest activations that are worth a checkpoint.
const LEAST_ACTIVATIONS: usize = 4;
/// Activations below this part of the largest do not count as inputs of segments.
const SMALL_PART: u64 = 16;
/// Most segments that are suggested.
const MOST_SEGMENTS: u64 = 64;

/// What checkpoints would leave of activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    segments: u64,
    input_bytes: u64,
    left_bytes: u64,
}

impl Estimate {
    /// Of activations by their bytes, the largest first; `None` where checkpoints would leave no less.
    fn of(activations: &[u64]) -> Option<Self> {
        let least = activations.first()? / SMALL_PART;
        let large = activations.partition_point(|bytes| *bytes >= least.max(1));
        if large < LEAST_ACTIVATIONS {
            return None;
        }
        let all = activations.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let input_bytes = *activations.get(large / 2)?;
        let best = (all as f64 / input_bytes.max(1) as f64).sqrt().round() as u64;
        let segments = best.clamp(2, MOST_SEGMENTS);
        let kept = input_bytes.checked_mul(segments.saturating_add(2))?;
        let left_bytes = kept.checked_add(all / segments)?;
        (left_bytes < all).then_some(Self { segments, input_bytes, left_bytes })
    }
}

/// Checkpoints, or why they are not advised.
pub(super) fn candidate<'a>(
    context: &'a DeviceContext<'a>,
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
        let made = context.lives().allocation(row);
        made.is_some_and(|event| last_backward.is_none_or(|backward| *backward < event))
    };
    let is_activation = move |row: usize| {
        let is_kept = match context.category(row) {
            BlockCategory::Activation => true,
            BlockCategory::Temporary => is_unfinished(row),
            _ => false,
        };
        is_kept && context.signs_of(row).is_forward
    };
    let rows = context.at_peak(is_activation);
    let is_of_graph = |row: &usize| context.category(*row) == BlockCategory::Activation;
    if !rows.iter().any(is_of_graph) {
        return (None, None);
    }
    let sizes: Vec<u64> = rows.iter().map(|row| context.lives().requested[*row]).collect();
    let Some(estimate) = Estimate::of(&sizes) else { return (None, None) };
    let Estimate { segments, input_bytes, left_bytes } = estimate;
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
            of_peak(context, &rows),
            bytes(left_bytes)
        ),
        expected_bytes: Some(context.bytes_of(&rows).saturating_sub(left_bytes)),
        rows,
        evidence: "Activations",
        change: BlockChange { acts_on: Box::new(is_activation), left: LeftOfBlock::Nothing },
        basis: format!(
            "expected: with {segments} segments their inputs are kept, {} each as the middle one of the activations, \
             and the activations of one segment at a time; at most: the peak without any activation",
            bytes(input_bytes)
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
        assert_eq!((found.segments, found.input_bytes), (5, 288 * mib), "√24");
        assert_eq!(found.left_bytes, 7 * 288 * mib + 24 * 288 * mib / 5);
        // Small ones do not count as inputs, but as bytes.
        let mut sizes = vec![64 * mib; 16];
        sizes.extend(vec![1024; 100]);
        assert_eq!(Estimate::of(&sizes).unwrap().input_bytes, 64 * mib);
        assert_eq!(Estimate::of(&[8, 8, 8]), None, "too few");
        assert_eq!(Estimate::of(&[8, 8, 8, 8]), None, "nothing would be gained");
        assert_eq!(Estimate::of(&[]), None);
    }
}
