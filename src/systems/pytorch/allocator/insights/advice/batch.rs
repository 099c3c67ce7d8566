//! Memory that grows with the batch, and with the precision.

use super::{BlockCandidate, SnapshotTechnique, of_peak};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::{
    BlockChange, DeviceContext, LeftOfBlock,
};

/// What the forward and backward passes have at the peak.
pub(super) fn candidates<'a>(context: &'a DeviceContext<'a>) -> Vec<BlockCandidate<'a>> {
    std::iter::once(fewer_samples(context)).chain(autocast(context)).collect()
}

fn fewer_samples<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let grows = |row: usize| {
        let signs = context.signs_of(row);
        let is_of_passes = signs.is_forward || (!signs.has_python && !signs.is_optimizer());
        context.category(row) == BlockCategory::Activation
            || (is_of_passes && context.category(row) == BlockCategory::Temporary)
    };
    let rows = context.at_peak(grows);
    BlockCandidate {
        technique: SnapshotTechnique::FewerSamples,
        text: format!(
            "{} are activations and temporaries, which grow with the number of samples computed \
             at once: compute fewer, and accumulate gradients so that the optimizer sees as many",
            of_peak(context, &rows)
        ),
        rows,
        evidence: "Activations and temporaries of the forward and backward passes",
        change: BlockChange { acts_on: Box::new(grows), left: LeftOfBlock::Half },
        expected_bytes: None,
        basis: "with half of the samples, half of what the forward and backward passes allocate \
            is left"
            .to_owned(),
        caution: "More passes for the same number of samples; batch normalization sees fewer at once",
    }
}

/// Where it is not on already.
fn autocast<'a>(context: &'a DeviceContext<'a>) -> Option<BlockCandidate<'a>> {
    if context.signs.has_autocast() || context.categories.contains(&BlockCategory::AutocastCache) {
        return None;
    }
    let is_activation = |row: usize| context.category(row) == BlockCategory::Activation;
    let rows = context.at_peak(is_activation);
    Some(BlockCandidate {
        technique: SnapshotTechnique::Autocast,
        text: format!(
            "{} are activations. If they are in single precision, bfloat16 or half precision saves half of that",
            of_peak(context, &rows)
        ),
        rows,
        evidence: "Activations",
        change: BlockChange { acts_on: Box::new(is_activation), left: LeftOfBlock::Half },
        expected_bytes: None,
        basis: "half of the activations is left if all of them are in single precision now, which a snapshot does not say"
            .to_owned(),
        caution: "A snapshot does not record the type of a block; half precision needs a gradient \
            scaler, bfloat16 does not",
    })
}
