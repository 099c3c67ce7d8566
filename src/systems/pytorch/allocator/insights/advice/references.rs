//! References that grow from step to step: tensors that a list, a sum of losses or a hook keeps, and the graphs behind
//! them.

use super::{Ranked, SnapshotTechnique};
use crate::run::{Advice, SavedOf, Saving};
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::text::{bytes, clean};

/// What grows, where anything does.
pub(super) fn candidate(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Ranked> {
    let worst = device.growth.first()?;
    let grown = device.growth.iter().fold(0_u64, |sum, one| sum.saturating_add(one.grown_bytes()));
    let evidence = device.growth.iter().map(|one| {
        let each = bytes(one.bytes_by_step());
        let text = format!("{}, {each} more with each of {} steps", one.name, one.steps);
        one.evidence(context, text)
    });
    let text = format!(
        "Memory allocated by {} is still alive when each step begins, {} more every time: \
         something keeps it, often a list, a sum of losses, or the graph behind one of them",
        clean(&worst.name),
        bytes(worst.bytes_by_step())
    );
    let basis = "the growth between the first and the last step that was examined";
    let technique = SnapshotTechnique::DropReferences;
    let advice = Advice {
        saving: Some(Saving {
            expected_bytes: Some(grown.min(context.peak.bytes)),
            at_most_bytes: Some(grown.min(context.peak.bytes)),
            ..Saving::of(SavedOf::RequestedPeak, context.peak.bytes, basis)
        }),
        evidence: evidence.collect(),
        ..technique.advice(context, text)
    };
    Some((technique, advice))
}
