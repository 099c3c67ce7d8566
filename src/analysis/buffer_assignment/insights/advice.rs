//! Advice: what to try next, from what a program says (docs/user/advice.md, XLA).
//!
//! What is saved is what the peak of what is temporary is less when the values that a technique acts on are gone and all
//! else stays where it is: compiled again, XLA may place other things otherwise, too. Savings do not add up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::SpaceInsights;
use super::conclusions::is_much;
use crate::analysis::buffer_assignment::analysed::Analysed;
use crate::analysis::buffer_assignment::facts::padding_bytes;
use crate::analysis::buffer_assignment::in_use::Placed;
use crate::analysis::buffer_assignment::peaks::NO_OPERATION;
use crate::analysis::buffer_assignment::program::Program;
use crate::store::hlo::{AllocationKind, ElementType, Platform, ValueId};
use crate::text::{bytes, counted, words};

/// Rows of evidence.
const MOST_EVIDENCE: usize = 6;
/// Share of what it is a part of below which nothing is advised, in percent, and least bytes.
const LEAST_PERCENT: u64 = 5;
const LEAST_BYTES: u64 = 64 << 10;

words! {
    /// A technique; its key is the anchor of its section in docs/user/advice.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ProgramTechnique by key, title {
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

/// What to do next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramAdvice {
    /// The technique.
    pub id: ProgramTechnique,
    /// The memory space that it is about.
    pub color: i64,
    /// What to do and why, in a sentence without its full stop.
    pub what: String,
    /// What is saved if all else stays.
    pub saves_bytes: u64,
    /// Of so much.
    pub of_bytes: u64,
    /// What that is.
    pub of: &'static str,
    /// What it is based on, largest first, never empty.
    pub evidence: Vec<ProgramEvidence>,
    /// How it is written.
    pub how: &'static str,
    /// What it costs, and what to mind.
    pub caution: &'static str,
}

/// One thing that the program says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramEvidence {
    /// An operation's path, or a parameter.
    pub what: String,
    /// Bytes of its values; those that share addresses count each.
    pub bytes: u64,
    /// The step at which the first of them begins to live.
    pub step: Option<u32>,
}

/// What to try, what saves most of the main memory first.
pub(super) fn advice(program: &Program, spaces: &[SpaceInsights]) -> Vec<ProgramAdvice> {
    let analysed = &program.analysed;
    let mut found: Vec<ProgramAdvice> = donate(program, spaces).into_iter().collect();
    let module = &analysed.module;
    let is_backward_at: Vec<bool> = (analysed.schedule.instructions.iter())
        .map(|id| {
            let path = module.nearest_operation(*id).map(|name| module.texts.get(name));
            path.is_some_and(is_backward)
        })
        .collect();
    for space in spaces.iter().filter(|space| space.peak.is_some()) {
        found.extend(rematerialise(analysed, space, &is_backward_at));
        found.extend(half_precision(program, space));
        found.extend(fill_tiles(program, space));
    }
    found.retain(|one| {
        one.saves_bytes >= LEAST_BYTES
            && one.saves_bytes.saturating_mul(100) / LEAST_PERCENT >= one.of_bytes
    });
    found.sort_by_key(|one| (one.color != 0, Reverse(one.saves_bytes), one.id));
    found
}

/// Parameters that are kept although a result has their type and dimensions.
fn donate(program: &Program, spaces: &[SpaceInsights]) -> Option<ProgramAdvice> {
    let pairs = &program.analysed.donatable;
    let main = spaces.iter().find(|space| space.color == 0)?;
    let mut evidence: Vec<ProgramEvidence> = pairs
        .iter()
        .map(|pair| ProgramEvidence {
            what: format!("result {}", program.value_name(pair.result)),
            bytes: pair.bytes,
            step: program.analysed.ranges.get(pair.result).map(|range| range.start),
        })
        .collect();
    evidence.sort_by_key(|one| Reverse(one.bytes));
    let count = pairs.len() as u64;
    evidence.truncate(MOST_EVIDENCE);
    Some(ProgramAdvice {
        id: ProgramTechnique::DonateArguments,
        color: 0,
        what: format!(
            "{} the type and dimensions of a parameter that is kept: with that one donated, they take over its memory",
            match count {
                1 => "A result has".to_owned(),
                count => format!("{} have", counted(count, "result")),
            }
        ),
        saves_bytes: program.analysed.donatable_bytes(),
        of_bytes: main.total_bytes,
        of: "memory of the program",
        evidence: (!evidence.is_empty()).then_some(evidence)?,
        how: "jax.jit(step, donate_argnums=(0, 1))",
        caution: "Arrays that were donated cannot be used afterwards",
    })
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
) -> Option<ProgramAdvice> {
    let peak = space.peak.as_ref()?;
    // What is used last by the backward pass, and was made before.
    let waits = |one: &Placed| {
        let is_backward = |step: u32| is_backward_at.get(step as usize).copied().unwrap_or(false);
        !is_backward(one.range.start)
            && is_backward(one.range.end)
            && analysed.operation(one.assigned.value).is_some_and(is_kept_forward)
    };
    // What waits in a buffer was written there by values before it, in a loop one after the other.
    let group = |one: &Placed| analysed.alias_groups.get(one.assigned.value.0 as usize).copied();
    let rows = analysed.allocations_of(space.color, |kind| kind == AllocationKind::Temporary);
    let placed = rows.filter_map(|(row, _)| analysed.placed.get(row)).flatten();
    let waiting: HashSet<u32> = placed.filter(|one| waits(one)).filter_map(group).collect();
    let acts_on = |one: &Placed| group(one).is_some_and(|group| waiting.contains(&group));
    let without = analysed.peaks_without(space.color, acts_on).without;
    let evidence = by_operation(analysed, space, |one| acts_on(one).then_some(one.assigned.bytes));
    Some(ProgramAdvice {
        id: ProgramTechnique::Rematerialise,
        color: space.color,
        what: format!(
            "Values of the forward pass wait in {} until the backward pass needs them: computed again from the inputs of a block, they need not",
            space.in_text
        ),
        saves_bytes: peak.at.bytes.saturating_sub(without),
        of_bytes: peak.at.bytes,
        of: "temporary peak",
        evidence: (!evidence.is_empty()).then_some(evidence)?,
        how: "block = jax.checkpoint(block)\nx, _ = jax.lax.scan(lambda x, p: (block(p, x), None), x, params)",
        caution: "The forward pass is computed twice; the inputs of each block stay. Outside a scan a compiler may undo it",
    })
}

/// Values of four bytes an element, of which half would be left.
fn half_precision(program: &Program, space: &SpaceInsights) -> Option<ProgramAdvice> {
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
    let acts_on = |one: &Placed| is_single(one.assigned.value);
    let with_half = analysed.peaks_without(space.color, acts_on).with_half;
    let evidence = by_operation(analysed, space, |one| acts_on(one).then_some(one.assigned.bytes));
    Some(ProgramAdvice {
        id: ProgramTechnique::HalfPrecision,
        color: space.color,
        what: "Values of type f32 are alive at the peak; in bfloat16 they take half".to_owned(),
        saves_bytes: peak.at.bytes.saturating_sub(with_half),
        of_bytes: peak.at.bytes,
        of: "temporary peak",
        evidence: (!evidence.is_empty()).then_some(evidence)?,
        how: "x, params = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (x, params))",
        caution: "Sums and losses need f32; weights are kept in it by the optimizer",
    })
}

/// Values whose tiles are not full.
fn fill_tiles(program: &Program, space: &SpaceInsights) -> Option<ProgramAdvice> {
    let peak = space.peak.as_ref()?;
    if !is_much(peak.padding_bytes, peak.at.bytes) {
        return None;
    }
    let analysed = &program.analysed;
    let padding =
        |one: &Placed| Some(padding_bytes(&analysed.module, one)).filter(|padding| *padding > 0);
    let evidence = by_operation(analysed, space, padding);
    Some(ProgramAdvice {
        id: ProgramTechnique::FillTiles,
        color: space.color,
        what: format!(
            "What lives at the peak takes {} more than its elements: a tile that is not full takes as much as a full one",
            bytes(peak.padding_bytes)
        ),
        saves_bytes: peak.padding_bytes.min(peak.at.bytes),
        of_bytes: peak.at.bytes,
        of: "temporary peak",
        evidence: (!evidence.is_empty()).then_some(evidence)?,
        how: "The last dimension a multiple of 128, the one before of 8 (f32) or 16 (bfloat16)",
        caution: "More elements are computed where a dimension is made larger",
    })
}

/// What lives at the peak, by operation, with what `bytes` says of each value, largest first.
fn by_operation(
    analysed: &Analysed,
    space: &SpaceInsights,
    bytes: impl Fn(&Placed) -> Option<u64>,
) -> Vec<ProgramEvidence> {
    let Some(peak) = &space.peak else { return Vec::new() };
    let mut found: BTreeMap<&str, (u64, u32)> = BTreeMap::new();
    for one in analysed.live_temporaries(space.color, peak.at.position) {
        let Some(bytes) = bytes(one) else { continue };
        let path = analysed.operation(one.assigned.value);
        let path = path.unwrap_or(NO_OPERATION);
        let (sum, first) = found.entry(path).or_insert((0, one.range.start));
        *sum = sum.saturating_add(bytes);
        *first = one.range.start.min(*first);
    }
    let evidence = found.into_iter().map(|(what, (bytes, step))| ProgramEvidence {
        what: what.to_owned(),
        bytes,
        step: Some(step),
    });
    let mut evidence: Vec<_> = evidence.collect();
    evidence.sort_by_key(|one| Reverse(one.bytes));
    evidence.truncate(MOST_EVIDENCE);
    evidence
}
