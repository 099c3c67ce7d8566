//! Memory that grows with the batch.

use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;

/// What the forward and backward passes have at the peak; with the most bytes of gradients that are there at once.
pub(super) fn candidate<'a>(
    context: &'a DeviceContext<'a>,
    device: &DeviceInsights,
    most_of_gradients: u64,
) -> BlockCandidate<'a> {
    let keeps_references = !device.growth.is_empty();
    let grows = move |row: usize| {
        let signs = context.signs_of(row);
        let is_of_passes = signs.is_forward || (!signs.has_python && !signs.is_optimizer());
        match context.category(row) {
            // What is kept from pass to pass comes to the same with fewer samples in more passes.
            BlockCategory::Activation => !keeps_references,
            BlockCategory::Temporary => is_of_passes,
            _ => false,
        }
    };
    let is_gradient = |row: usize| context.category(row) == BlockCategory::Gradient;
    let rows = context.at_most(grows);
    let with_gradients = move |row: usize, bytes: u64| match () {
        () if is_gradient(row) => 0,
        () if grows(row) => bytes / 2,
        () => bytes,
    };
    // Of a first step that failed the gradients are not there yet.
    let is_first_step = context.ended_by.is_some() && context.moments.optimizer_steps.is_empty();
    let gradients = if is_first_step && context.records_graph {
        context.bytes_at_most(BlockCategory::Parameter)
    } else {
        most_of_gradients
    };
    let expected = BlockChange::to(with_gradients).needing(gradients);
    BlockCandidate {
        technique: SnapshotTechnique::FewerSamples,
        text: format!(
            "{} are activations and temporaries, which grow with the number of samples computed \
             at once: compute fewer{}",
            of_most(context, &rows),
            if context.is_training() {
                ", and accumulate gradients so that the optimizer sees as many"
            } else {
                ""
            }
        ),
        rows,
        evidence: if context.records_graph {
            "Activations and temporaries of the forward and backward passes"
        } else {
            "What the passes make"
        },
        expected: Some(expected),
        best: BlockChange::part_of(2, grows),
        basis: if context.records_graph {
            "expected: the peak with half of what the passes make, and with all gradients, which stay while they are \
             accumulated; at most: with half of what the passes make"
        } else {
            "the peak with half of what the passes make"
        }
        .to_owned(),
        caution: if context.records_graph {
            "More passes for the same number of samples; batch normalization sees fewer at once"
        } else {
            "More passes for the same number of samples"
        },
    }
}
