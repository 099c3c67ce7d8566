//! `jax.checkpoint`: what waits for the backward pass could be computed again.
//!
//! In a loop over layers each kept value is a stack of all layers; computed again, one layer of it is there at a time.
//! Outside of loops values of numbered scopes wait one by one; XLA for CPUs computes nothing again there, as it removes
//! the barrier. The inputs of each layer stay.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{AdviceDraft, ModuleAdviceContext, ModuleTechnique, by_operation};
use crate::store::hlo::{InstructionId, Platform, ValueId};
use crate::systems::xla::buffer_assignment::in_use::{self, CurveChanges, PlacedValue};
use crate::systems::xla::buffer_assignment::insights::paths::{
    is_backward, is_checkpointed, is_differentiated, is_kept_forward, layers,
};
use crate::systems::xla::buffer_assignment::insights::saved::during;
use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;
use crate::systems::xla::buffer_assignment::makers::Stack;

/// Depths of layers within layers at which several are looked for.
const MOST_DEPTH: usize = 3;

/// What is no longer kept, by the groups of values that share memory, and what is needed in its place.
#[derive(Default)]
struct Recomputed {
    gone: HashSet<u32>,
    added: Vec<CurveChanges>,
}

/// A group of temporary values that share memory.
#[derive(Clone, Copy)]
struct Waiting {
    bytes: u64,
    range: LiveRange,
}

/// What waits could be computed again.
pub(super) fn again(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    let groups = groups(context);
    let mut change = in_loops(context, &groups);
    // A CPU takes it away outside of loops.
    let works_outside = context.program.platform != Some(Platform::Cpu);
    let forward = if works_outside { forward(context) } else { Vec::new() };
    let is_used_by_backward = |one: &&&PlacedValue| context.passes.is_backward_at(one.range.end);
    let waiting: Vec<&PlacedValue> = forward.iter().filter(is_used_by_backward).copied().collect();
    if let Some(from) = backward_from(context, &layers_of(context, &waiting)) {
        let is_there = |one: &&PlacedValue| one.range.start < from && one.range.end >= from;
        let waiting: Vec<&PlacedValue> = forward.into_iter().filter(is_there).collect();
        outside(context, &layers_of(context, &waiting), from, &mut change);
    }
    let is_by_layer = !change.gone.is_empty();
    if !is_by_layer && !context.passes.has_checkpoint {
        // Nothing says where the layers end, and what their inputs are.
        change.gone.extend(waiting.iter().map(|one| context.group(one)));
    }
    if change.gone.is_empty() {
        return None;
    }
    let acts_on = |one: &PlacedValue| change.gone.contains(&context.group(one));
    let without = context.analysed.curve_without(acts_on);
    let left = context.analysed.most_of(change.added.iter().chain([&without]));
    let is_known = is_by_layer && context.program.platform.is_some();
    Some(AdviceDraft {
        text: "Values of the forward pass wait until the backward pass needs them: if they are \
            computed again from the inputs of a block, they need not be kept"
            .to_owned(),
        basis: "the peak without what waits, with the inputs of each layer and one layer at a time",
        evidence: by_operation(context, |one, bytes| acts_on(one).then_some(bytes)),
        code: "block = jax.checkpoint(block)\nx, _ = jax.lax.scan(lambda x, p: (block(p, x), None), x, params)",
        caution: "The forward pass is computed twice; the inputs of each block stay. Outside of a loop XLA for CPUs undoes it",
        ..AdviceDraft::saving(ModuleTechnique::Rematerialise, context.saved(left), is_known)
    })
}

/// The temporary values of the main memory by the memory that they share.
fn groups(context: &ModuleAdviceContext<'_>) -> HashMap<u32, Waiting> {
    let mut groups: HashMap<u32, Waiting> = HashMap::new();
    for one in context.analysed.temporaries() {
        let new = Waiting { bytes: one.assigned.bytes, range: one.range };
        let known = groups.entry(context.group(one)).or_insert(new);
        known.bytes = known.bytes.max(new.bytes);
        known.range.start = known.range.start.min(new.range.start);
        known.range.end = known.range.end.max(new.range.end);
    }
    groups
}

/// Stacks of layers that the backward pass reads.
fn in_loops(context: &ModuleAdviceContext<'_>, groups: &HashMap<u32, Waiting>) -> Recomputed {
    let analysed = context.analysed;
    let path = |id: InstructionId| analysed.module.op_name(id).unwrap_or_default();
    let stacks: BTreeMap<u32, (Stack, Waiting)> = (analysed.makers.stacks.iter())
        .filter_map(|(group, stack)| Some((*group, (*stack, *groups.get(group)?))))
        .collect();
    // Read as it is, or as a copy of it in another layout or type is.
    let read: HashSet<InstructionId> = stacks
        .values()
        .filter(|(_, waiting)| context.passes.is_backward_at(waiting.range.end))
        .map(|(stack, _)| stack.update)
        .collect();
    let is_forward = |stack: &Stack| {
        let made = path(stack.maker);
        !is_backward(made) && !is_checkpointed(made) && !is_backward(path(stack.update))
    };
    let kept: BTreeMap<u32, (Stack, Waiting)> = stacks
        .into_iter()
        .filter(|(_, (stack, _))| read.contains(&stack.update) && is_forward(stack))
        .collect();
    let mut change = Recomputed::default();
    let mut loops: HashMap<_, Vec<(u32, Stack, Waiting)>> = HashMap::new();
    for (group, (stack, waiting)) in &kept {
        if let Some(of) = loop_of(context, stack.update) {
            loops.entry(of).or_default().push((*group, *stack, *waiting));
        }
    }
    for ((caller, body), stacks) in loops {
        let inputs = carried(context, caller, body);
        let is_input = |stack: &Stack| inputs.iter().any(|(maker, _)| *maker == stack.maker);
        let mut has_input = false;
        let (mut layers, mut end) = (0, 0);
        for (group, stack, waiting) in stacks {
            layers = layers.max(stack.layers);
            end = end.max(waiting.range.end);
            if is_input(&stack) {
                has_input = true;
            } else {
                change.gone.insert(group);
            }
        }
        if !has_input && let Some((start, _)) = analysed.schedule.span(body) {
            let bytes = inputs.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
            let range = LiveRange { start, end };
            change.added.push(during(range, bytes.saturating_mul(layers)));
        }
    }
    let layer_bytes: HashMap<u32, u64> = (kept.iter())
        .filter(|(group, _)| change.gone.contains(group))
        .map(|(group, (stack, waiting))| (*group, waiting.bytes / stack.layers.max(1)))
        .collect();
    let loops: Vec<CurveChanges> = (analysed.schedule.instructions.iter())
        .filter(|id| context.passes.is_backward_loop(analysed, **id))
        .filter_map(|id| one_layer(context, *id, &layer_bytes))
        .collect();
    change.added.extend(loops);
    change
}

/// The innermost loop that an instruction runs in: the instruction, and the computation that is its body.
fn loop_of(context: &ModuleAdviceContext<'_>, id: InstructionId) -> Option<(InstructionId, usize)> {
    let schedule = &context.analysed.schedule;
    let mut row = schedule.computation(id)?;
    for _ in 0..=context.analysed.module.computations.len() {
        let (caller, _) = schedule.caller(row)?;
        if context.analysed.module.opcode(caller) == "while" {
            return Some((caller, row));
        }
        row = schedule.computation(caller)?;
    }
    None
}

/// What a loop hands from one iteration to the next and changes, but for stacks: the input of each layer. Makers with
/// bytes.
fn carried(
    context: &ModuleAdviceContext<'_>,
    caller: InstructionId,
    body: usize,
) -> Vec<(InstructionId, u64)> {
    let analysed = context.analysed;
    let module = &analysed.module;
    let Some(root) = module.computations.get(body).map(|one| one.root) else { return Vec::new() };
    let before: HashSet<ValueId> = analysed.held.of_instruction(caller).collect();
    let places = module.shapes.places(module.instructions.shape(root));
    let changed = (1..places).map(|place| analysed.held.at(root, place));
    let changed = changed.filter(|value| !before.contains(value));
    let is_stack = |value: ValueId| {
        analysed.group(value).is_some_and(|group| analysed.makers.stacks.contains_key(&group))
    };
    let changed = changed.filter(|value| !is_stack(*value));
    changed
        .filter_map(|value| Some((analysed.makers.maker(value)?, module.value(value)?.bytes)))
        .collect()
}

/// What a loop of the backward pass needs while it runs: a layer of each stack that is not kept, less the slices of stacks
/// that are there already.
fn one_layer(
    context: &ModuleAdviceContext<'_>,
    caller: InstructionId,
    layer_bytes: &HashMap<u32, u64>,
) -> Option<CurveChanges> {
    let analysed = context.analysed;
    let body = *analysed.module.instructions.called.of(caller.0).first()? as usize;
    let (start, end) = analysed.schedule.span(body)?;
    let operand = *analysed.module.instructions.operands.of(caller.0).first()?;
    let read = analysed.held.of_instruction(InstructionId(operand));
    let groups: HashSet<u32> = read.filter_map(|value| analysed.group(value)).collect();
    let layers: Vec<u64> =
        groups.iter().filter_map(|group| layer_bytes.get(group).copied()).collect();
    let sum = layers.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    if sum == 0 {
        return None;
    }
    let is_slice = |one: &&PlacedValue| {
        let path = || analysed.operation(one.assigned.value).unwrap_or_default();
        (start..end).contains(&one.range.start)
            && layers.contains(&one.assigned.bytes)
            && (path().contains("dynamic_slice") || path().contains("dynamic_index"))
    };
    let slices: Vec<PlacedValue> = analysed.temporaries().filter(is_slice).copied().collect();
    let mut curve = vec![(start, sum)];
    for (at, bytes) in in_use::bytes_in_use(&slices).into_iter().filter(|(at, _)| *at < end) {
        curve.push((at, sum.saturating_sub(bytes)));
    }
    curve.push((end, 0));
    // Of changes at one position the last counts.
    curve.reverse();
    curve.sort_by_key(|(at, _)| *at);
    curve.dedup_by_key(|(at, _)| *at);
    Some(curve)
}

/// Values outside of stacks that the forward pass makes, and nothing computes again.
fn forward<'a>(context: &ModuleAdviceContext<'a>) -> Vec<&'a PlacedValue> {
    let analysed = context.analysed;
    let is_forward = |one: &&PlacedValue| {
        !context.passes.is_backward_at(one.range.start)
            && !analysed.makers.stacks.contains_key(&context.group(one))
            && analysed.operation(one.assigned.value).is_some_and(is_kept_forward)
    };
    analysed.temporaries().filter(is_forward).collect()
}

/// Values by the layer whose scope they are in; nothing where there are no two layers.
fn layers_of<'a>(
    context: &ModuleAdviceContext<'_>,
    values: &[&'a PlacedValue],
) -> BTreeMap<String, Vec<&'a PlacedValue>> {
    let named: Vec<(Vec<String>, &PlacedValue)> = values
        .iter()
        .filter_map(|one| Some((layers(context.analysed.operation(one.assigned.value)?), *one)))
        .collect();
    for depth in 0..MOST_DEPTH {
        let mut by_layer: BTreeMap<String, Vec<&PlacedValue>> = BTreeMap::new();
        for (layers, one) in &named {
            if let Some(layer) = layers.get(depth) {
                by_layer.entry(layer.clone()).or_default().push(one);
            }
        }
        if by_layer.len() > 1 {
            return by_layer;
        }
    }
    BTreeMap::new()
}

/// The values that a step uses.
fn used_at(context: &ModuleAdviceContext<'_>, id: InstructionId) -> impl Iterator<Item = ValueId> {
    let analysed = context.analysed;
    let operands = analysed.module.instructions.operands.of(id.0).iter();
    operands.flat_map(|row| analysed.held.of_instruction(InstructionId(*row)))
}

/// The step from which the backward pass reads what waits in layers. Parts of it that need nothing but the forward pass
/// may run earlier: it begins when the forward pass has come to each layer.
fn backward_from(
    context: &ModuleAdviceContext<'_>,
    by_layer: &BTreeMap<String, Vec<&PlacedValue>>,
) -> Option<u32> {
    let first = |values: &Vec<&PlacedValue>| values.iter().map(|one| one.range.start).min();
    let last_layer = by_layer.values().filter_map(first).max()?;
    let waiting: HashSet<ValueId> =
        by_layer.values().flatten().map(|one| one.assigned.value).collect();
    let steps = (0_u32..).zip(&context.analysed.schedule.instructions);
    let mut later = steps.filter(|(step, _)| *step > last_layer);
    let begins = later.find(|(step, id)| {
        context.passes.is_backward_at(*step)
            && used_at(context, **id).any(|value| waiting.contains(&value))
    });
    begins.map(|(step, _)| step)
}

/// What waits outside of loops, layer by layer, when the backward pass begins. What the forward pass of another layer or of
/// none uses is an input, and stays.
fn outside(
    context: &ModuleAdviceContext<'_>,
    by_layer: &BTreeMap<String, Vec<&PlacedValue>>,
    from: u32,
    change: &mut Recomputed,
) {
    let analysed = context.analysed;
    let module = &analysed.module;
    let layer = |path: &str| layers(path).into_iter().find(|layer| by_layer.contains_key(layer));
    let mut waiting: HashMap<ValueId, &str> = HashMap::new();
    for (layer, values) in by_layer {
        waiting.extend(values.iter().map(|one| (one.assigned.value, layer.as_str())));
    }
    // Where the backward pass first needs what waits in each layer.
    let mut backward: HashMap<&str, u32> = HashMap::new();
    // What the forward pass of other layers uses.
    let mut inputs: HashSet<ValueId> = HashSet::new();
    for (step, id) in (0..).zip(&analysed.schedule.instructions) {
        for value in used_at(context, *id) {
            let Some(of) = waiting.get(&value).copied() else { continue };
            let path = module.nearest_operation(*id).map(|name| module.texts.get(name));
            if step >= from {
                backward.entry(of).or_insert(step);
            } else if path
                .is_some_and(|path| is_differentiated(path) && layer(path).as_deref() != Some(of))
            {
                inputs.insert(value);
            }
        }
    }
    for (layer, waiting) in by_layer {
        for one in waiting.iter().filter(|one| !inputs.contains(&one.assigned.value)) {
            change.gone.insert(context.group(one));
            let start = backward.get(layer.as_str()).copied().unwrap_or(from);
            if one.range.end >= start {
                let range = LiveRange { start, end: one.range.end };
                change.added.push(during(range, one.assigned.bytes));
            }
        }
    }
}
