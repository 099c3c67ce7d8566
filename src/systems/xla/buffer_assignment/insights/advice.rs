//! Advice: what to try next, from what a module says (docs/user/advice.md, XLA).
//!
//! A saving is a bound: how much lower the temporary peak is without the values that the technique acts on, everything
//! else left where it is. Compiled again, XLA may place other values elsewhere. Savings do not add up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::SpaceInsights;
use super::conclusions::is_much;
use crate::run::{Advice, Evidence, HowTo, SavedOf, Saving, Verdict};
use crate::store::hlo::{AllocationKind, ElementType, Platform, ValueId};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::facts::padding_bytes;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::text::{bytes, counted, words};

/// How savings are worked out.
const BASIS: &str =
    "the peak without the values that the technique acts on, everything else unchanged";
/// Rows of evidence.
const MOST_EVIDENCE: usize = 6;
/// Share of what it is a part of below which nothing is advised, in percent, and least bytes.
const LEAST_PERCENT: u64 = 5;
const LEAST_BYTES: u64 = 64 << 10;

words! {
    /// A technique; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ModuleTechnique by key, title {
        /// Results in the memory of parameters.
        DonateArguments = "donate-arguments" | "Donate arguments",
        /// Values of the forward pass computed again.
        Rematerialise = "jax-checkpoint" | "Compute values again in the backward pass (jax.checkpoint)",
        /// Half precision.
        HalfPrecision = "bfloat16" | "Compute in bfloat16",
        /// Shapes that fill tiles.
        FillTiles = "fill-tiles" | "Choose shapes that fill tiles",
    }
}

/// Advice about values of a memory space, before it is known what the whole is that it saves of.
struct AdviceDraft {
    id: ModuleTechnique,
    text: String,
    at_most_bytes: u64,
    of: SavedOf,
    of_bytes: u64,
    evidence: Vec<Evidence>,
    code: &'static str,
    caution: &'static str,
}

impl AdviceDraft {
    /// The advice; `None` where nothing speaks for it, or it saves too little.
    fn advice(
        self,
        space: &SpaceInsights,
        has_several: bool,
        over_bytes: Option<u64>,
    ) -> Option<Advice> {
        let saves = self.at_most_bytes;
        let is_worth_it = saves >= LEAST_BYTES
            && saves.saturating_mul(100) / LEAST_PERCENT >= self.of_bytes
            && !self.evidence.is_empty();
        // Other memory spaces have no known capacity.
        let over = over_bytes.filter(|over| *over > 0 && space.color == 0);
        is_worth_it.then(|| Advice {
            device: Some(space.color),
            device_name: has_several.then(|| space.title.clone()),
            text: self.text,
            saving: Some(Saving {
                at_most_bytes: Some(saves),
                ..Saving::of(self.of, self.of_bytes, BASIS)
            }),
            // A bound that is too small does not make it fit; one that is large enough may not be reached.
            makes_it_fit: over.filter(|over| saves < *over).map(|_| false),
            evidence: self.evidence,
            how: vec![HowTo::code("JAX", self.code)],
            caution: self.caution,
            ..Advice::of(self.id.key(), self.id.title())
        })
    }
}

/// What to try, what saves most of the main memory first.
pub(super) fn advice(
    program: &AnalysedModule,
    verdict: &Verdict,
    spaces: &[SpaceInsights],
) -> Vec<Advice> {
    let analysed = &program.analysed;
    let mut found: Vec<Advice> = Vec::new();
    let has_several = spaces.len() > 1;
    if let Some(main) = spaces.iter().find(|space| space.color == 0) {
        found.extend(donate(program, main).advice(main, has_several, verdict.over_bytes));
    }
    let module = &analysed.module;
    let is_backward_at: Vec<bool> = (analysed.schedule.instructions.iter())
        .map(|id| {
            let path = module.nearest_operation(*id).map(|name| module.texts.get(name));
            path.is_some_and(is_backward)
        })
        .collect();
    for space in spaces {
        let all = [
            rematerialise(analysed, space, &is_backward_at),
            half_precision(program, space),
            fill_tiles(program, space),
        ];
        let all = all.into_iter().flatten();
        found.extend(all.filter_map(|one| one.advice(space, has_several, verdict.over_bytes)));
    }
    found.sort_by_key(|one| {
        let bytes = one.saving.as_ref().map(Saving::ranking_bytes);
        (
            one.device != Some(0),
            Reverse(bytes),
            ModuleTechnique::ALL.iter().position(|id| id.key() == one.id),
        )
    });
    found
}

/// Parameters that are kept although a result has their type and dimensions.
fn donate(program: &AnalysedModule, main: &SpaceInsights) -> AdviceDraft {
    let pairs = &program.analysed.donatable;
    let mut evidence: Vec<Evidence> = pairs
        .iter()
        .map(|pair| {
            let name = program.value_name(pair.result);
            let evidence = Evidence::of(format!("result {name}"), pair.bytes);
            let range = program.analysed.ranges.get(pair.result);
            evidence.at(|place| {
                place.step = range.map(|range| range.start.into());
                place.variable = Some(name);
            })
        })
        .collect();
    evidence.sort_by_key(|one| Reverse(one.bytes));
    let count = pairs.len() as u64;
    evidence.truncate(MOST_EVIDENCE);
    AdviceDraft {
        id: ModuleTechnique::DonateArguments,
        text: format!(
            "{} the type and dimensions of a parameter that is kept: if that one is donated, its \
            memory is reused",
            match count {
                1 => "A result has".to_owned(),
                count => format!("{} have", counted(count, "result")),
            }
        ),
        at_most_bytes: program.analysed.donatable_bytes(),
        of: SavedOf::Total,
        of_bytes: main.total_bytes,
        evidence,
        code: "jax.jit(step, donate_argnums=(0, 1))",
        caution: "Arrays that were donated cannot be used afterwards",
    }
}

/// Whether a path is of the backward pass.
fn is_backward(path: &str) -> bool {
    path.contains("transpose(")
}

/// Whether a path is of a forward pass that is differentiated, and not one that is computed again.
fn is_kept_forward(path: &str) -> bool {
    let is_again = path.contains("rematted_computation") || path.contains("checkpoint");
    path.contains("jvp(") && !is_backward(path) && !is_again
}

/// Values that the forward pass makes and the backward pass waits for; `is_backward_at` says of each position whether it
/// is of the backward pass.
fn rematerialise(
    analysed: &Analysed,
    space: &SpaceInsights,
    is_backward_at: &[bool],
) -> Option<AdviceDraft> {
    let peak = space.peak.as_ref()?;
    // What is used last by the backward pass, and was made before.
    let waits = |one: &PlacedValue| {
        let is_backward = |step: u32| is_backward_at.get(step as usize).copied().unwrap_or(false);
        !is_backward(one.range.start)
            && is_backward(one.range.end)
            && analysed.operation(one.assigned.value).is_some_and(is_kept_forward)
    };
    // What waits in a buffer was written there by values before it, in a loop one after the other.
    let group =
        |one: &PlacedValue| analysed.alias_groups.get(one.assigned.value.0 as usize).copied();
    let rows = analysed.allocations_of(space.color, |kind| kind == AllocationKind::Temporary);
    let placed = rows.filter_map(|(row, _)| analysed.placed.get(row)).flatten();
    let waiting: HashSet<u32> = placed.filter(|one| waits(one)).filter_map(group).collect();
    let acts_on = |one: &PlacedValue| group(one).is_some_and(|group| waiting.contains(&group));
    let without = analysed.peaks_without(space.color, acts_on).without;
    let evidence = by_operation(analysed, space, |one, bytes| acts_on(one).then_some(bytes));
    Some(AdviceDraft {
        id: ModuleTechnique::Rematerialise,
        text: format!(
            "Values of the forward pass wait in {} until the backward pass needs them: if they \
            are computed again from the inputs of a block, they need not be kept",
            space.in_text
        ),
        at_most_bytes: peak.at.bytes.saturating_sub(without),
        of_bytes: peak.at.bytes,
        of: SavedOf::TemporaryPeak,
        evidence,
        code: "block = jax.checkpoint(block)\nx, _ = jax.lax.scan(lambda x, p: (block(p, x), None), x, params)",
        caution: "The forward pass is computed twice; the inputs of each block stay. Outside a scan a compiler may undo it",
    })
}

/// Values of four bytes an element, of which half would be left.
fn half_precision(program: &AnalysedModule, space: &SpaceInsights) -> Option<AdviceDraft> {
    // A CPU computes no faster in half precision, and mostly computes in single all the same.
    if program.platform == Some(Platform::Cpu) {
        return None;
    }
    let analysed = &program.analysed;
    let peak = space.peak.as_ref()?;
    let single = ElementType::named("f32");
    let is_single = |value: ValueId| {
        let shape = analysed.module.value_shape(value);
        let kind = analysed.module.shapes.element_type(shape);
        kind.is_some() && kind == single
    };
    let acts_on = |one: &PlacedValue| is_single(one.assigned.value);
    let with_half = analysed.peaks_without(space.color, acts_on).with_half;
    let evidence = by_operation(analysed, space, |one, bytes| acts_on(one).then_some(bytes));
    Some(AdviceDraft {
        id: ModuleTechnique::HalfPrecision,
        text: "Values of type f32 are alive at the peak; in bfloat16 they take half".to_owned(),
        at_most_bytes: peak.at.bytes.saturating_sub(with_half),
        of_bytes: peak.at.bytes,
        of: SavedOf::TemporaryPeak,
        evidence,
        code: "x, params = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (x, params))",
        caution: "Sums and losses need f32; weights are kept in it by the optimizer",
    })
}

/// Values whose tiles are not full.
fn fill_tiles(program: &AnalysedModule, space: &SpaceInsights) -> Option<AdviceDraft> {
    let peak = space.peak.as_ref()?;
    if !is_much(peak.padding_bytes, peak.at.bytes) {
        return None;
    }
    let analysed = &program.analysed;
    let padding = |one: &PlacedValue, bytes: u64| {
        Some(padding_bytes(&analysed.module, one).min(bytes)).filter(|padding| *padding > 0)
    };
    let evidence = by_operation(analysed, space, padding);
    Some(AdviceDraft {
        id: ModuleTechnique::FillTiles,
        text: format!(
            "Values alive at the peak take {} more than their elements: a partly filled tile \
            takes as much as a full one",
            bytes(peak.padding_bytes)
        ),
        at_most_bytes: peak.padding_bytes.min(peak.at.bytes),
        of_bytes: peak.at.bytes,
        of: SavedOf::TemporaryPeak,
        evidence,
        code: "Make the last dimension a multiple of 128, the one before it of 8 (f32) or 16 \
            (bfloat16)",
        caution: "More elements are computed where a dimension is made larger",
    })
}

/// What lives at the peak, by operation, with what `bytes` says of each value and the bytes that count to it, largest first.
fn by_operation(
    analysed: &Analysed,
    space: &SpaceInsights,
    bytes: impl Fn(&PlacedValue, u64) -> Option<u64>,
) -> Vec<Evidence> {
    let Some(peak) = &space.peak else { return Vec::new() };
    let mut found: BTreeMap<&str, (u64, u32)> = BTreeMap::new();
    for (one, counted) in analysed.shares_at(space.color, peak.at.position) {
        let Some(bytes) = bytes(one, counted).filter(|bytes| *bytes > 0) else { continue };
        let path = analysed.operation(one.assigned.value);
        let path = path.unwrap_or(NO_OPERATION);
        let (sum, first) = found.entry(path).or_insert((0, one.range.start));
        *sum = sum.saturating_add(bytes);
        *first = one.range.start.min(*first);
    }
    let evidence = found.into_iter().map(|(path, (bytes, step))| {
        let evidence = Evidence::of(path, bytes).at_step(step);
        evidence.at(|place| place.operation = Some(path.to_owned()))
    });
    let mut evidence: Vec<_> = evidence.collect();
    evidence.sort_by_key(|one| Reverse(one.bytes));
    evidence.truncate(MOST_EVIDENCE);
    evidence
}
