//! References that grow from step to step: tensors that a list, a sum of losses or a hook keeps, and the graphs behind
//! them.

use super::{Advice, Evidence, SavedOf, Saving, Technique, how};
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::context::Context;
use crate::text::{bytes, clean};

/// What grows, where anything does.
pub fn candidate(context: &Context<'_>, device: &DeviceInsights) -> Option<Advice> {
    let worst = device.growth.first()?;
    let grown = device.growth.iter().fold(0_u64, |sum, one| sum.saturating_add(one.grown_bytes()));
    let evidence = device.growth.iter().map(|one| Evidence {
        frame: Some(one.name.clone()),
        ..Evidence::of(
            format!(
                "{}, {} more with each of {} steps",
                one.name,
                bytes(one.bytes_by_step()),
                one.steps
            ),
            one.grown_bytes(),
        )
        .at(one.events.1.into())
    });
    Some(Advice {
        id: Technique::DropReferences,
        device: context.device.number,
        what: format!(
            "What {} allocates is alive where each step begins, and more each time, {} with every step: something \
             keeps it, often a list, a sum of losses, or a graph behind one of them",
            clean(&worst.name),
            bytes(worst.bytes_by_step())
        ),
        saving: Some(Saving {
            at_most_bytes: grown.min(context.peak.bytes),
            expected_bytes: None,
            of_bytes: context.peak.bytes,
            of: SavedOf::RequestedPeak,
            basis: "what grew between the first and the last of the steps that were looked at"
                .to_owned(),
        }),
        evidence: evidence.collect(),
        how: how(Technique::DropReferences).to_owned(),
        caution: "",
    })
}
