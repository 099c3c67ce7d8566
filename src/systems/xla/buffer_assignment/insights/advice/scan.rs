//! Layers in a loop: where a checkpoint outside of one has no effect.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{AdviceDraft, ModuleAdviceContext, ModuleTechnique, by_operation};
use crate::store::hlo::Platform;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;
use crate::systems::xla::buffer_assignment::insights::conclusions::is_much;
use crate::systems::xla::buffer_assignment::insights::paths::{is_recomputed, layers};

/// The layers whose recomputed values are alive in a memory space at a position, with their bytes, the largest first.
/// Values in loops are left out: they belong to one layer at a time.
pub fn recomputed_at_once(analysed: &Analysed, color: i64, position: u32) -> Vec<(String, u64)> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (one, bytes) in analysed.shares_at(color, position) {
        if let Some(layer) = recomputed_layer(analysed, one) {
            let sum = found.entry(layer).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    let mut found: Vec<_> = found.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    found.sort_by_key(|(_, bytes)| Reverse(*bytes));
    found
}

/// The bytes of all layers of [`recomputed_at_once`], where a twentieth of the peak or more is of other layers than the
/// largest: computing them again saves little then.
pub fn bytes_of_several(layers: &[(String, u64)], peak_bytes: u64) -> Option<u64> {
    let bytes = |layers: &[(String, u64)]| {
        layers.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes))
    };
    let (_, others) = layers.split_first()?;
    is_much(bytes(others), peak_bytes.saturating_mul(5)).then(|| bytes(layers))
}

/// The layer of a value that `jax.checkpoint` computes again.
fn recomputed_layer(analysed: &Analysed, one: &PlacedValue) -> Option<String> {
    let maker = analysed.makers.maker(one.assigned.value)?;
    let path = analysed.operation(one.assigned.value).filter(|path| is_recomputed(path))?;
    if analysed.is_in_loop(maker) {
        return None;
    }
    layers(path).into_iter().next()
}

/// The layers in a loop, where one is computed again after the other.
pub(super) fn scan_layers(context: &ModuleAdviceContext<'_>) -> Option<AdviceDraft> {
    let analysed = context.analysed;
    let peak = context.main.peak.as_ref()?;
    let at_once = recomputed_at_once(analysed, 0, peak.at.position);
    if at_once.len() < 2 {
        return None;
    }
    let (largest, _) = at_once.first()?;
    let acts_on =
        |one: &PlacedValue| recomputed_layer(analysed, one).is_some_and(|layer| layer != *largest);
    let left = analysed.most_of([&analysed.curve_without(acts_on)]);
    let is_known = context.program.platform == Some(Platform::Cpu);
    Some(AdviceDraft {
        text: format!(
            "Values of {} layers that jax.checkpoint computes again are alive at once: in a loop \
            over layers they are those of one at a time",
            at_once.len()
        ),
        basis: "the peak with the recomputed values of one layer alone",
        evidence: by_operation(context, |one, bytes| acts_on(one).then_some(bytes)),
        code: "x, _ = jax.lax.scan(lambda x, p: (jax.checkpoint(block)(p, x), None), x, stacked_params)",
        caution: "The parameters of all layers are stacked, and all layers are alike",
        ..AdviceDraft::saving(ModuleTechnique::ScanLayers, context.saved(left), is_known)
    })
}
