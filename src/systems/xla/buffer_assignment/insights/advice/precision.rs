//! Half precision, and shapes that fill tiles.

use std::collections::HashSet;
use std::ops::Range;

use super::{AdviceDraft, ModuleAdviceContext, ModuleTechnique, by_operation};
use crate::store::hlo::{ElementType, HloModule, InstructionId, Platform, ValueId};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::facts::padding_bytes;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;
use crate::systems::xla::buffer_assignment::insights::conclusions::is_much;
use crate::systems::xla::buffer_assignment::insights::paths::is_backward;
use crate::text::bytes;

/// Values of four bytes an element, of which half would be left.
pub(super) fn half_precision(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    let analysed = context.analysed;
    let module = &analysed.module;
    // A CPU computes no faster in half precision, and mostly computes in single all the same.
    let is_of_cpu = context.program.platform == Some(Platform::Cpu);
    if is_of_cpu || !multiplies_in_single(context) || !takes_single(&analysed.module) {
        return None;
    }
    let loss = LossSteps::of(context);
    let f32 = ElementType::named("f32");
    let acts_on = |one: &PlacedValue| {
        let value = one.assigned.value;
        module.shapes.element_type(module.value_shape(value)) == f32
            && context.weights.is_of_batch(analysed, value)
            && !loss.has(analysed, one)
    };
    let left = analysed.peak_with_part(2, acts_on);
    let is_known = context.program.platform.is_some() && context.passes.is_training;
    Some(AdviceDraft {
        text: "Values of type f32 are alive at the peak; in bfloat16 they take half".to_owned(),
        basis: "half of the temporary values of type f32 but for the loss and what has the dimensions of a weight",
        evidence: by_operation(context, |one, bytes| acts_on(one).then_some(bytes)),
        code: "x, params = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (x, params))",
        caution: "Sums and losses need f32; weights are kept in it by the optimizer",
        ..AdviceDraft::saving(ModuleTechnique::HalfPrecision, context.saved(left), is_known)
    })
}

/// Parts of paths of a loss, for what of it runs before.
const LOSS: [&str; 4] = ["log_softmax", "logsumexp", "take_along_axis", "cross_entropy"];

/// Whether a path is of a loss.
fn is_of_loss(path: &str) -> bool {
    LOSS.iter().any(|word| path.contains(word))
}

/// The steps of the loss, which is computed in single precision whatever comes before: those between the last matrix
/// product of the forward pass and the first one of the backward pass.
struct LossSteps {
    steps: Range<u32>,
    /// What it hands to the operations before it, which has their type.
    handed_back: HashSet<ValueId>,
}

impl LossSteps {
    fn of(context: &ModuleAdviceContext<'_>) -> Self {
        let analysed = context.analysed;
        let module = &analysed.module;
        let is_back = |id| module.op_name(id).is_some_and(is_backward);
        let (mut last, mut first) = (None, None);
        for id in context.products() {
            let Some(step) = step_of(analysed, id) else { continue };
            if is_back(id) {
                first = Some(first.map_or(step, |known: u32| known.min(step)));
            } else {
                last = last.max(Some(step));
            }
        }
        let steps = match (last, first) {
            (Some(last), Some(first)) if last < first => last.saturating_add(1)..first,
            _ => 0..0,
        };
        let is_of_model =
            |id: InstructionId| is_back(id) && !module.op_name(id).is_some_and(is_of_loss);
        let all = (0_u32..).zip(&analysed.schedule.instructions);
        let of_model =
            all.filter(
                |(step, id)| {
                    if steps.is_empty() { is_of_model(**id) } else { *step >= steps.end }
                },
            );
        let used = of_model.map(|(_, id)| id).flat_map(|id| module.instructions.operands.of(id.0));
        let values = used.flat_map(|row| analysed.held.of_instruction(InstructionId(*row)));
        let handed_back =
            values.filter(|value| analysed.operation(*value).is_some_and(is_backward)).collect();
        Self { steps, handed_back }
    }

    /// Whether a value is of the loss and stays in it.
    fn has(&self, analysed: &Analysed, one: &PlacedValue) -> bool {
        let value = one.assigned.value;
        let is_named = analysed.operation(value).is_some_and(is_of_loss);
        (is_named || self.steps.contains(&one.range.start)) && !self.handed_back.contains(&value)
    }
}

/// The step at which an instruction runs, or what it is a part of.
fn step_of(analysed: &Analysed, id: InstructionId) -> Option<u32> {
    let mut at = id;
    for _ in 0..=analysed.module.computations.len() {
        if let Some(step) = analysed.schedule.position(at) {
            return Some(step);
        }
        at = analysed.schedule.caller(analysed.schedule.computation(at)?)?.0;
    }
    None
}

/// Whether most matrix products and convolutions make values in single precision. A compiler may take factors of fewer
/// bits for it, and gradients of weights have the type of these: those of the backward pass do not count.
fn multiplies_in_single(context: &ModuleAdviceContext<'_>) -> bool {
    let module = &context.analysed.module;
    let (mut single, mut all) = (0_usize, 0_usize);
    for id in context.products().filter(|id| !module.op_name(*id).is_some_and(is_backward)) {
        let made = module.instructions.shape(id);
        let mut parts =
            (0..module.shapes.places(made)).map(|place| module.shapes.part(made, place));
        let array = parts.find(|shape| !module.shapes.is_tuple(*shape));
        let kind = array.and_then(|shape| module.shapes.element_type(shape));
        all = all.saturating_add(1);
        single = single.saturating_add(usize::from(kind == ElementType::named("f32")));
    }
    single > all / 2
}

/// Whether an argument is an array in single precision, which could be cast. Without one the program computes in half precision
/// already, and what is in single is of the compiler: a product whose parts are summed up at last.
fn takes_single(module: &HloModule) -> bool {
    let parameters = module.entry_parameters();
    let shapes = &module.shapes;
    let is_single = |shape| {
        let is_f32 = shapes.element_type(shape) == ElementType::named("f32");
        is_f32 && !shapes.dimensions(shape).is_empty()
    };
    let has_single = |id: &InstructionId| {
        let shape = module.instructions.shape(*id);
        (0..shapes.places(shape)).any(|place| is_single(shapes.part(shape, place)))
    };
    parameters.is_empty() || parameters.values().any(has_single)
}

/// Values whose tiles are not full.
pub(super) fn fill_tiles(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    let peak = context.main.peak.as_ref()?;
    if !is_much(peak.padding_bytes, peak.at.bytes) {
        return None;
    }
    let module = &context.analysed.module;
    let padding = |one: &PlacedValue, bytes: u64| {
        Some(padding_bytes(module, one).min(bytes)).filter(|padding| *padding > 0)
    };
    Some(AdviceDraft {
        text: format!(
            "Values alive at the peak take {} more than their elements: a partly filled tile \
            takes as much as a full one",
            bytes(peak.padding_bytes)
        ),
        at_most_bytes: Some(peak.padding_bytes.min(peak.at.bytes)),
        basis: "the padding of what is alive at the peak",
        evidence: by_operation(context, padding),
        code: "Make the last dimension a multiple of 128, the one before it of 8 (f32) or 16 \
            (bfloat16)",
        caution: "More elements are computed where a dimension is made larger",
        ..AdviceDraft::of(ModuleTechnique::FillTiles)
    })
}
