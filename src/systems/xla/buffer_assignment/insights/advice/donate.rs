//! Donated arguments: results that take over the memory of parameters.

use std::collections::{HashMap, HashSet};

use super::{AdviceDraft, ModuleAdviceContext, ModuleTechnique, largest};
use crate::run::Evidence;
use crate::store::hlo::{InstructionId, Platform, ShapeId, ValueId};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::donations::Donatable;
use crate::systems::xla::buffer_assignment::in_use::{self, CurveChanges};
use crate::systems::xla::buffer_assignment::insights::paths::is_backward;
use crate::text::counted;

/// Parameters that are kept although a result has their type and dimensions.
pub(super) fn donate(context: &ModuleAdviceContext<'_>) -> AdviceDraft {
    let analysed = context.analysed;
    let updates = analysed.donatable.iter().filter(|pair| !is_gradient(analysed, pair));
    let born = born(analysed);
    let (copied, pairs): (Vec<&Donatable>, Vec<&Donatable>) =
        updates.partition(|pair| is_copied(analysed, pair, &born));
    let expected = saving(context, &pairs);
    // XLA for GPUs finds an order in which it need not copy, often; other compilers hardly ever.
    let all: Vec<&Donatable> = match context.program.platform {
        Some(Platform::Cpu | Platform::Tpu) => pairs,
        _ => pairs.iter().chain(&copied).copied().collect(),
    };
    let at_most = saving(context, &all);
    let is_expected = context.is_worth(expected);
    AdviceDraft {
        text: format!(
            "{} the type and dimensions of a parameter that is kept: if that one is donated, its \
            memory is reused",
            match all.len() {
                1 => "A result has".to_owned(),
                count => format!("{} have", counted(count as u64, "result")),
            }
        ),
        // What may be copied counts to the bound alone.
        expected_bytes: is_expected.then_some(expected),
        at_most_bytes: (!is_expected || at_most > expected).then_some(at_most),
        basis: "the memory of the results, less what temporary values then need elsewhere",
        evidence: evidence(context, &all),
        code: "jax.jit(step, donate_argnums=(0, 1))",
        caution: "Arrays that were donated cannot be used afterwards",
        ..AdviceDraft::of(ModuleTechnique::DonateArguments)
    }
}

/// What is saved if parameters give their memory to results: temporary values lie in that of results that are not
/// written yet, and need some elsewhere.
fn saving(context: &ModuleAdviceContext<'_>, pairs: &[&Donatable]) -> u64 {
    let analysed = context.analysed;
    let group = |value: ValueId| analysed.group(value);
    let results: HashSet<ValueId> = pairs.iter().map(|pair| pair.result).collect();
    let groups: HashSet<u32> = pairs.iter().filter_map(|pair| group(pair.result)).collect();
    let assigned = analysed.module.assigned.iter().filter(|one| results.contains(&one.value));
    let rows: HashSet<u32> = assigned.map(|one| one.allocation).collect();
    let others = |row: &u32| {
        let placed = analysed.placed.get(*row as usize)?.iter();
        let is_other = |value| group(value).is_none_or(|group| !groups.contains(&group));
        let others: Vec<_> = placed.filter(|one| is_other(one.assigned.value)).copied().collect();
        Some(in_use::bytes_in_use(&others))
    };
    let moved: Vec<CurveChanges> = rows.iter().filter_map(others).collect();
    let temporary = analysed.temporary_curve();
    let more = analysed.most_of(moved.iter().chain([&temporary])).saturating_sub(context.peak());
    let bytes = pairs.iter().fold(0_u64, |sum, pair| sum.saturating_add(pair.bytes));
    bytes.saturating_sub(more)
}

/// Where the memory of each result is written first, by the group of values that share it.
fn born(analysed: &Analysed) -> HashMap<u32, u32> {
    let group = |value: ValueId| analysed.group(value);
    let results = analysed.donatable.iter().filter_map(|pair| group(pair.result));
    let mut born: HashMap<u32, u32> = results.map(|group| (group, u32::MAX)).collect();
    for (row, group) in (0..).zip(&analysed.alias_groups) {
        if let (Some(first), Some(range)) = (born.get_mut(group), analysed.ranges.get(ValueId(row)))
        {
            *first = range.start.min(*first);
        }
    }
    born
}

/// Whether the parameter is still read in a loop when the result's memory is written: then XLA copies it.
fn is_copied(analysed: &Analysed, pair: &Donatable, born: &HashMap<u32, u32>) -> bool {
    let born = analysed.group(pair.result).and_then(|group| born.get(&group));
    let (Some(born), Some(last)) = (born, analysed.ranges.last_use(pair.parameter)) else {
        return false;
    };
    let reader = analysed.schedule.instructions.get(last as usize);
    *born < last && reader.is_some_and(|id| analysed.is_in_loop(*id))
}

/// Whether the result is a gradient: it comes from the backward pass, and nothing that makes it reads a parameter of its
/// type and dimensions. The parameter is needed to be updated.
fn is_gradient(analysed: &Analysed, pair: &Donatable) -> bool {
    let module = &analysed.module;
    if !analysed.operation(pair.result).is_some_and(is_backward) {
        return false;
    }
    let Some(made_by) = module.value(pair.result).map(|value| value.instruction) else {
        return false;
    };
    let kind =
        |shape: ShapeId| (module.shapes.element_type(shape), module.shapes.dimensions(shape));
    let result = kind(module.value_shape(pair.result));
    // Also a copy of it in a nearer memory.
    let is_like_it = |value: &ValueId| {
        let maker = analysed.makers.maker(*value).unwrap_or(InstructionId::NONE);
        let shapes = [module.value_shape(*value), module.instructions.shape(maker)];
        module.opcode(maker) == "parameter" && shapes.into_iter().any(|shape| kind(shape) == result)
    };
    let operands = module.instructions.operands.of(made_by.0).iter().map(|row| InstructionId(*row));
    !operands.flat_map(|id| analysed.held.of_instruction(id)).any(|value| is_like_it(&value))
}

fn evidence(context: &ModuleAdviceContext<'_>, pairs: &[&Donatable]) -> Vec<Evidence> {
    let evidence = pairs
        .iter()
        .map(|pair| {
            let name = context.program.value_name(pair.result);
            let parameter = context.program.value_name(pair.parameter);
            let evidence = Evidence::of(format!("result {name}, argument {parameter}"), pair.bytes);
            let range = context.analysed.ranges.get(pair.result);
            evidence.at(|place| {
                place.step = range.map(|range| range.start.into());
                place.variable = Some(name);
            })
        })
        .collect();
    largest(evidence)
}
