//! The curve of a memory space as areas: memory reserved throughout by kind, and above it temporary values by category,
//! operation, layer or source line. Every address counts for the value there that lives the longest, so the areas add up to the
//! curve.

use super::buffer_assignment::analysed::Analysed;
use super::buffer_assignment::categories::ValueCategory;
use super::buffer_assignment::facts::padding_bytes;
use super::buffer_assignment::in_use::PlacedValue;
use super::buffer_assignment::insights::conclusions::is_much;
use super::buffer_assignment::peaks::{NO_OPERATION, NO_SOURCE};
use super::buffer_assignment::program::AnalysedModule;
use super::buffer_assignment::shares::{ValueShare, shares};
use super::buffer_assignment::trace_lives::TraceLives;
use super::layers::{LayersOfPaths, NO_LAYER, bands, owner};
use super::variables::padding_of_reserved;
use crate::analysis::areas::{AreaGroups, Counted, NOT_ATTRIBUTABLE, stacked};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::run::AliveBy;
use crate::run::areas::{AreaGroup, AreasBy, AreasOf, StackedAreas};
use crate::run::beside_curve::{BesideCurve, CurveLine};
use crate::store::DeviceId;
use crate::store::hlo::AllocationKind;

/// What the curve can be split by, the usual one first.
pub fn groupings(program: &AnalysedModule, layers: &LayersOfPaths, scope: Scope) -> Vec<AreasBy> {
    let module = &program.analysed.module;
    match color_of(&program.analysed, scope) {
        None => vec![AreasBy::Liveness],
        Some(_) if module.has_schedule() => {
            let mut all = vec![AreasBy::Liveness, AreasBy::Category, AreasBy::Operation];
            all.extend(layers.has_several.then_some(AreasBy::Layer));
            all.push(AreasBy::Line);
            all
        }
        Some(_) => vec![AreasBy::Liveness, AreasBy::Category],
    }
}

/// The memory space of a scope; `None` of an allocation.
pub(super) fn color_of(analysed: &Analysed, scope: Scope) -> Option<i64> {
    match scope {
        Scope::Everything => Some(0),
        Scope::Device(device) => {
            analysed.colors().find(|color| DeviceId::of_number(*color) == device)
        }
        Scope::Arena(_) | Scope::WorstArena => None,
    }
}

pub fn areas(
    (program, layers): (&AnalysedModule, &LayersOfPaths),
    derived: &Derived,
    of: AreasOf,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<StackedAreas> {
    let by = alive_by(of.by)?;
    let color = color_of(&program.analysed, of.scope)?;
    let timeline = derived.timeline(of.scope, is_cancelled)?;
    let len = timeline.len();
    let analysed = &program.analysed;
    let mut groups = AreaGroups::default();
    let mut counted: Vec<Counted> = Vec::new();
    let reserved = analysed.allocations_of(color, |kind| kind != AllocationKind::Temporary);
    for (_, allocation) in reserved {
        let key = groups.key(category_group(ValueCategory::of_allocation(allocation.kind)));
        let steps = 0..u32::try_from(len).unwrap_or(u32::MAX);
        counted.push(Counted { steps, bytes: allocation.bytes, key });
    }
    let traced = TraceLives::of(analysed).filter(|_| color == 0);
    let temporary = analysed.allocations_of(color, |kind| kind == AllocationKind::Temporary);
    let all: Vec<&[PlacedValue]> = match &traced {
        Some(traced) => vec![&traced.placed],
        None => temporary.filter_map(|(row, _)| Some(&**analysed.placed.get(row)?)).collect(),
    };
    for placed in all {
        if is_cancelled() {
            return None;
        }
        let mut key = |one| groups.key(group_of((analysed, layers), one, by));
        // Of a value one comes after the other.
        for shares in shares(placed).chunk_by(|one, other| one.row == other.row) {
            let value = shares.first().and_then(|share| placed.get(share.row as usize));
            let Some(key) = value.map(&mut key) else { continue };
            let share = |share: &ValueShare| {
                let (steps, bytes) = (share.steps.clone(), share.bytes);
                Counted { steps, bytes, key }
            };
            counted.extend(shares.iter().filter(|share| share.bytes > 0).map(share));
        }
    }
    let areas = stacked(len, &counted, timeline.peak, |key| groups.get(key));
    Some(areas.up_to(|step| timeline.alive_at(step), len, NOT_ATTRIBUTABLE))
}

/// All that is reserved, as a line, for temporary allocations are there from the first step to the last, too; the curve
/// without padding, where anything is padded; and the passes and layers of the steps.
pub fn beside_curve(
    (program, layers): (&AnalysedModule, &LayersOfPaths),
    derived: &Derived,
    scope: Scope,
    has_all_lines: bool,
) -> BesideCurve {
    let Some(color) = color_of(&program.analysed, scope) else { return BesideCurve::default() };
    let steps = derived.report().steps.get().map_or(0, |steps| steps.ids.len());
    let all = program.analysed.allocations_of(color, |_| true);
    let bytes = all.fold(0_u64, |sum, (_, one)| sum.saturating_add(one.bytes));
    let reserved = CurveLine {
        title: "All allocations".into(),
        rule: "Bytes of all allocations, which the module holds for as long as it runs; the space \
               between the areas and this line is reserved and not in use",
        is_usual: true,
        other: None,
        bytes: vec![bytes; steps],
    };
    let unpadded = unpadded_line(program, derived, (scope, color));
    let unpadded = unpadded.filter(|line| line.is_usual || has_all_lines);
    let lines = std::iter::once(reserved).chain(unpadded).collect();
    BesideCurve { lines, bands: bands(program, layers), ..BesideCurve::default() }
}

/// The curve of a memory space without padding; `None` where nothing is padded, or it is not known when values live.
fn unpadded_line(
    program: &AnalysedModule,
    derived: &Derived,
    (scope, color): (Scope, i64),
) -> Option<CurveLine> {
    let timeline = derived.timeline(scope, &|| false)?;
    let padding = padding_at_steps(&program.analysed, color, timeline.len())?;
    let most = padding.iter().copied().max().filter(|most| *most > 0)?;
    let steps = padding.into_iter().enumerate();
    Some(CurveLine {
        title: "Without padding".into(),
        rule: "The bytes of the elements of all values, without what their layouts add; a value of \
               which that is not known counts with all its bytes",
        // A line on the edge of the curve says nothing.
        is_usual: is_much(most, timeline.top),
        other: None,
        bytes: steps.map(|(at, bytes)| timeline.alive_at(at).saturating_sub(bytes)).collect(),
    })
}

/// Bytes of padding at each of so many steps of a memory space, every address counted once: of what is reserved
/// throughout and of temporary values. `None` where that is not known.
fn padding_at_steps(analysed: &Analysed, color: i64, len: usize) -> Option<Vec<u64>> {
    let module = &analysed.module;
    let mains = analysed.largest_values();
    let reserved = analysed.allocations_of(color, |kind| kind != AllocationKind::Temporary);
    let throughout =
        reserved.filter_map(|(row, one)| padding_of_reserved(module, one, *mains.get(row)?));
    let throughout = throughout.fold(0_u64, u64::saturating_add);
    let traced = TraceLives::of(analysed).filter(|_| color == 0);
    let temporary = analysed.allocations_of(color, |kind| kind == AllocationKind::Temporary);
    let all: Vec<&[PlacedValue]> = match &traced {
        Some(traced) => vec![&traced.placed],
        None => temporary.filter_map(|(row, _)| Some(&**analysed.placed.get(row)?)).collect(),
    };
    // What comes at each step, and what goes.
    let mut changes = vec![(0_u64, 0_u64); len.saturating_add(1)];
    for placed in all {
        let shares = shares(placed);
        if shares.is_empty() && !placed.is_empty() {
            return None;
        }
        for share in shares {
            let Some(one) = placed.get(share.row as usize) else { continue };
            let bytes = padding_bytes(module, one).min(share.bytes);
            if let Some((coming, _)) = changes.get_mut(share.steps.start as usize) {
                *coming = coming.saturating_add(bytes);
            }
            if let Some((_, going)) = changes.get_mut(share.steps.end as usize) {
                *going = going.saturating_add(bytes);
            }
        }
    }
    let mut now = throughout;
    let at_step = |(coming, going): (u64, u64)| {
        now = now.saturating_add(coming).saturating_sub(going);
        now
    };
    Some(changes.into_iter().take(len).map(at_step).collect())
}

fn category_group(category: ValueCategory) -> AreaGroup {
    AreaGroup::category(category.title(), category.title(), "")
}

fn alive_by(by: AreasBy) -> Option<AliveBy> {
    match by {
        AreasBy::Category => Some(AliveBy::Category),
        AreasBy::Operation => Some(AliveBy::Operation),
        AreasBy::Layer => Some(AliveBy::Layer),
        AreasBy::Line => Some(AliveBy::Line),
        _ => None,
    }
}

fn group_of(
    (analysed, layers): (&Analysed, &LayersOfPaths),
    one: &PlacedValue,
    by: AliveBy,
) -> AreaGroup {
    if by == AliveBy::Category {
        return category_group(analysed.category(&one.assigned));
    }
    match owner(analysed, layers, one, by) {
        nobody if [NO_OPERATION, NO_SOURCE, NO_LAYER].contains(&&*nobody) => {
            AreaGroup::rest(nobody)
        }
        owner => AreaGroup::placed(owner),
    }
}
