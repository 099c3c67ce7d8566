//! The peak of a program of which no instructions are known, by XLA's own simulation: its events are the steps.

use super::{NAMED, Peak, largest_owners};
use crate::analysis::buffer_assignment::in_use::Placed;
use crate::analysis::buffer_assignment::peaks::{NO_OPERATION, owners, shares_of};
use crate::analysis::buffer_assignment::trace_lives::TraceLives;
use crate::analysis::liveness::NamedBytes;
use crate::opened::Program;
use crate::store::names::NameId;

/// How many events there are.
pub(super) fn traced_steps(traced: &TraceLives<'_>) -> u32 {
    u32::try_from(traced.trace.events.len()).unwrap_or(u32::MAX)
}

/// The peak; `None` where nothing is ever in use.
pub(super) fn traced_peak(
    program: &Program,
    traced: &TraceLives<'_>,
    always_live_bytes: u64,
) -> Option<Peak> {
    let (bytes, step) = traced.peak();
    let event = traced.trace.events.get(step as usize).filter(|_| bytes > 0)?;
    let analysed = &program.analysed;
    let name = analysed.module.texts.get(event.instruction);
    let shares: Vec<_> = shares_of(&traced.placed, step).collect();
    let named = |(one, _): &(&Placed, u64)| NamedBytes {
        name: program.value_name(one.assigned.value),
        bytes: one.assigned.bytes,
    };
    let mut variables: Vec<NamedBytes> = shares.iter().map(named).collect();
    variables.sort_by(|one, other| {
        (other.bytes.cmp(&one.bytes)).then_with(|| one.name.cmp(&other.name))
    });
    variables.truncate(NAMED);
    let by_category = owners(&shares, |one| analysed.category(&one.assigned).as_str().to_owned());
    Some(Peak {
        step,
        kind: Some(event.kind.as_str().to_owned()),
        name: (event.instruction != NameId::NONE).then(|| name.to_owned()),
        operation: None,
        source: None,
        operation_by_operand: false,
        stack: Vec::new(),
        not_always_live_bytes: bytes,
        always_live_bytes,
        by_category: by_category.into_iter().map(|owner| (owner.name, owner.bytes)).collect(),
        by_operation: largest_owners(&owners(&shares, |_| NO_OPERATION.to_owned())),
        variables,
        is_of_trace: true,
    })
}
