//! Fewer samples at a time: a smaller batch, and gradients that are summed over parts of one.
//!
//! Half of the samples take half of what is not shaped like a weight. What has a weight's dimensions, as its gradient and
//! its copies, stays.

use std::collections::HashSet;

use super::{AdviceDraft, ModuleAdviceContext, ModuleTechnique, by_operation};
use crate::store::hlo::{AllocationKind, ShapeId, ValueId};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;

/// Parts of a batch whose gradients are summed.
const PARTS: u64 = 4;

/// The dimensions of weights, which are parameters that a result replaces or could replace; also those of one layer, without
/// the first dimension, over which layers are stacked. Ascending and without ones, as compilers transpose and reshape. Empty
/// where nothing is trained.
#[derive(Default)]
pub(super) struct WeightShapes(HashSet<Vec<i64>>);

impl WeightShapes {
    pub(super) fn of(analysed: &Analysed) -> Self {
        let module = &analysed.module;
        let parameters = module.entry_parameters();
        let donated = module.donated.iter().filter_map(|(number, place)| {
            Some(module.shapes.part(module.instructions.shape(*parameters.get(number)?), *place))
        });
        let replaced = analysed.donatable.iter().map(|pair| module.value_shape(pair.parameter));
        let mut shapes = HashSet::new();
        for shape in donated.chain(replaced) {
            let dimensions = module.shapes.dimensions(shape);
            shapes.insert(sorted(dimensions));
            shapes.insert(sorted(dimensions.get(1..).unwrap_or(&[])));
        }
        Self(shapes)
    }

    fn has(&self, analysed: &Analysed, shape: ShapeId) -> bool {
        self.0.contains(&sorted(analysed.module.shapes.dimensions(shape)))
    }

    /// Whether a value grows with the batch, as far as its dimensions and what makes it tell.
    pub(super) fn is_of_batch(&self, analysed: &Analysed, value: ValueId) -> bool {
        let module = &analysed.module;
        let is_argument =
            analysed.makers.maker(value).is_some_and(|id| module.opcode(id) == "parameter");
        let shape = module.value_shape(value);
        !is_argument && !module.shapes.is_tuple(shape) && !self.has(analysed, shape)
    }
}

fn sorted(dimensions: &[i64]) -> Vec<i64> {
    let mut sorted: Vec<i64> = dimensions.iter().copied().filter(|one| *one != 1).collect();
    sorted.sort_unstable();
    sorted
}

/// Half the batch.
pub(super) fn smaller_batch(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    let is_known = context.passes.is_training;
    // Whatever is no training may work on no batch at all.
    if !is_known && !context.multiplies() {
        return None;
    }
    let state = if is_known { 0 } else { state_bytes(context) / 2 };
    let bytes = saving(context, 2).saturating_add(state);
    Some(AdviceDraft {
        text: "Most of what is temporary at the peak grows with the number of samples: half as \
            many take half of it"
            .to_owned(),
        basis: "half of the temporary values that have not the dimensions of a weight",
        evidence: evidence(context),
        code: "batch = jax.tree.map(lambda a: a[: a.shape[0] // 2], batch)",
        caution: "A step learns from half as many samples, and the learning rate may have to follow; small batches use a \
            chip less well",
        ..AdviceDraft::saving(ModuleTechnique::SmallerBatch, bytes, is_known)
    })
}

/// The batch in parts, one after the other.
pub(super) fn accumulate(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    if !context.passes.is_training || context.passes.is_looped {
        return None;
    }
    Some(AdviceDraft {
        text: format!(
            "Most of what is temporary at the peak grows with the number of samples: {PARTS} \
            passes over a part each, whose gradients are summed, take 1/{PARTS} of it"
        ),
        basis: "a part of the temporary values that have not the dimensions of a weight",
        evidence: evidence(context),
        code: "parts = jax.tree.map(lambda a: a.reshape(4, -1, *a.shape[1:]), batch)\n\
            sums, _ = jax.lax.scan(lambda s, part: (jax.tree.map(jnp.add, s, grad(params, part)), None), zeros, parts)",
        caution: "Slower where a part is too small to fill the chip; what is normalised over the batch sees a part of it",
        ..AdviceDraft::saving(ModuleTechnique::AccumulateGradients, saving(context, PARTS), true)
    })
}

fn saving(context: &ModuleAdviceContext<'_>, parts: u64) -> u64 {
    let left = context.analysed.peak_with_part(parts, |one| is_of_batch(context, one));
    context.saved(left)
}

/// What a program that trains nothing gives back, and the parameters that this replaces, as a cache: no weights.
fn state_bytes(context: &ModuleAdviceContext<'_>) -> u64 {
    let analysed = context.analysed;
    let sum = |sum: u64, bytes: u64| sum.saturating_add(bytes);
    let allocations = analysed.allocations_of(0, |kind| kind == AllocationKind::LiveOut);
    let results = allocations.map(|(_, one)| one.bytes);
    let parameters = analysed.allocations_of(0, |kind| kind == AllocationKind::Parameter);
    let donated = parameters.filter(|(_, one)| one.is_donated()).map(|(_, one)| one.bytes);
    results.chain(donated).fold(analysed.donatable_bytes(), sum)
}

fn is_of_batch(context: &ModuleAdviceContext<'_>, one: &PlacedValue) -> bool {
    context.weights.is_of_batch(context.analysed, one.assigned.value)
}

fn evidence(context: &ModuleAdviceContext<'_>) -> Vec<crate::run::Evidence> {
    by_operation(context, |one, bytes| is_of_batch(context, one).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::{InstructionId, NO_ROW};
    use crate::systems::xla::buffer_assignment::hand_made::{HandMade, InstructionParts};

    #[test]
    fn what_has_the_dimensions_of_a_weight_or_of_a_layer_of_it_does_not_grow_with_the_batch() {
        let mut made = HandMade::default();
        let parameter =
            InstructionParts { opcode: "parameter", number: 0, ..InstructionParts::default() };
        made.add(&InstructionParts { dimensions: &[6, 8, 16], ..parameter });
        let shapes: [&[i64]; 5] = [&[6, 8, 16], &[16, 8], &[1, 8, 16], &[4, 8], &[6, 4, 16]];
        let add = |dimensions| InstructionParts {
            opcode: "add",
            dimensions,
            number: NO_ROW,
            ..InstructionParts::default()
        };
        let rows = shapes.map(|dimensions| made.add(&add(dimensions)));
        made.computation();
        let values = rows.map(|row| made.value(row));
        made.module.donated.push((0, 0));
        let analysed = Analysed::of(made.module);
        assert_eq!(analysed.module.opcode(InstructionId(0)), "parameter");
        let weights = WeightShapes::of(&analysed);
        let is_of_batch = values.map(|value| weights.is_of_batch(&analysed, value));
        assert_eq!(is_of_batch, [false, false, false, true, true]);
    }
}
