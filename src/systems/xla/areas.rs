//! The curve of a memory space as areas: memory reserved throughout by kind, and above it temporary values by category,
//! operation or source line. Every address counts for the value that holds it longest, so the areas add up to the
//! curve.

use std::collections::HashMap;
use std::ops::Range;

use super::buffer_assignment::analysed::Analysed;
use super::buffer_assignment::categories::ValueCategory;
use super::buffer_assignment::in_use::{CurveChanges, PlacedValue};
use super::buffer_assignment::peaks::{NO_OPERATION, NO_SOURCE, shares_of};
use super::buffer_assignment::program::AnalysedModule;
use super::buffer_assignment::trace_lives::TraceLives;
use crate::analysis::areas::{AreaGroups, Counted, NOT_ATTRIBUTABLE, stacked};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::run::AliveBy;
use crate::run::areas::{AreaGroup, AreasBy, AreasOf, StackedAreas};
use crate::run::beside_curve::{BesideCurve, CurveLine};
use crate::store::DeviceId;
use crate::store::hlo::{AllocationKind, Assigned};

/// What the curve can be split by, the usual one first.
pub fn groupings(program: &AnalysedModule, scope: Scope) -> Vec<AreasBy> {
    let module = &program.analysed.module;
    match color_of(program, scope) {
        None => vec![AreasBy::Liveness],
        Some(_) if module.has_schedule() => {
            vec![AreasBy::Liveness, AreasBy::Category, AreasBy::Operation, AreasBy::Line]
        }
        Some(_) => vec![AreasBy::Liveness, AreasBy::Category],
    }
}

/// The memory space of a scope; `None` of an allocation.
pub(super) fn color_of(program: &AnalysedModule, scope: Scope) -> Option<i64> {
    match scope {
        Scope::Everything => Some(0),
        Scope::Device(device) => {
            program.analysed.colors().find(|color| DeviceId::of_number(*color) == device)
        }
        Scope::Arena(_) | Scope::WorstArena => None,
    }
}

pub fn areas(
    program: &AnalysedModule,
    derived: &Derived,
    of: AreasOf,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<StackedAreas> {
    if !matches!(of.by, AreasBy::Category | AreasBy::Operation | AreasBy::Line) {
        return None;
    }
    let color = color_of(program, of.scope)?;
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
    // A value that shares addresses is met again and again.
    let mut keys: HashMap<Assigned, u32> = HashMap::new();
    let mut add = |placed: &[PlacedValue], in_use: &CurveChanges| {
        let mut key = |one: &PlacedValue| {
            let group = || groups.key(group_of(analysed, one, of.by));
            *keys.entry(one.assigned).or_insert_with(group)
        };
        shares(placed, in_use, is_cancelled, |one, steps, bytes| {
            counted.push(Counted { steps, bytes, key: key(one) });
        })
    };
    if let Some(traced) = TraceLives::of(analysed).filter(|_| color == 0) {
        add(&traced.placed, &traced.in_use)?;
    } else {
        for (row, _) in analysed.allocations_of(color, |kind| kind == AllocationKind::Temporary) {
            if let Some((placed, in_use)) = analysed.placed.get(row).zip(analysed.in_use.get(row)) {
                add(placed, in_use)?;
            }
        }
    }
    let areas = stacked(len, &counted, timeline.peak, |key| groups.get(key));
    Some(areas.up_to(|step| timeline.alive_at(step), len, NOT_ATTRIBUTABLE))
}

/// All that is reserved, as a line: temporary allocations are there from the first step to the last, too.
pub fn beside_curve(program: &AnalysedModule, derived: &Derived, scope: Scope) -> BesideCurve {
    let Some(color) = color_of(program, scope) else { return BesideCurve::default() };
    let steps = derived.report().steps.get().map_or(0, |steps| steps.ids.len());
    let all = program.analysed.allocations_of(color, |_| true);
    let bytes = all.fold(0_u64, |sum, (_, one)| sum.saturating_add(one.bytes));
    let reserved = CurveLine {
        title: "Reserved",
        rule: "Bytes of all allocations, which the program has for as long as it runs; what lies between the areas and \
               this line is reserved and not in use",
        is_usual: true,
        bytes: vec![bytes; steps],
    };
    BesideCurve { lines: vec![reserved], ..BesideCurve::default() }
}

/// What each value of an allocation has at which steps, so that all of them together are what is in use. `None` when it
/// was canceled.
fn shares(
    placed: &[PlacedValue],
    in_use: &CurveChanges,
    is_cancelled: &(dyn Fn() -> bool + Sync),
    mut tell: impl FnMut(&PlacedValue, Range<u32>, u64),
) -> Option<()> {
    let steps = |one: &PlacedValue| one.range.start..one.range.end.saturating_add(1);
    let mut at: Vec<u32> = placed
        .iter()
        .filter(|one| one.assigned.bytes > 0)
        .flat_map(|one| [steps(one).start, steps(one).end])
        .collect();
    at.sort_unstable();
    at.dedup();
    if are_apart(placed, in_use, &at) {
        for one in placed {
            tell(one, steps(one), one.assigned.bytes);
        }
        return Some(());
    }
    for pair in at.windows(2) {
        let [from, to] = pair else { continue };
        if is_cancelled() {
            return None;
        }
        shares_of(placed, *from)
            .filter(|(_, bytes)| *bytes > 0)
            .for_each(|(one, bytes)| tell(one, *from..*to, bytes));
    }
    Some(())
}

/// Whether no two values have an address at once: then their bytes add up to what is in use wherever that changes.
fn are_apart(placed: &[PlacedValue], in_use: &CurveChanges, at: &[u32]) -> bool {
    let mut changes: HashMap<u32, i128> = HashMap::new();
    for one in placed {
        let bytes = i128::from(one.assigned.bytes);
        *changes.entry(one.range.start).or_default() += bytes;
        *changes.entry(one.range.end.saturating_add(1)).or_default() -= bytes;
    }
    let (mut sum, mut next, mut union) = (0_i128, 0, 0_u64);
    at.iter().all(|position| {
        sum += changes.get(position).copied().unwrap_or(0);
        while let Some((_, bytes)) = in_use.get(next).filter(|(of, _)| of <= position) {
            union = *bytes;
            next += 1;
        }
        sum == i128::from(union)
    })
}

fn category_group(category: ValueCategory) -> AreaGroup {
    AreaGroup::category(category.title(), category.title(), "")
}

fn group_of(analysed: &Analysed, one: &PlacedValue, by: AreasBy) -> AreaGroup {
    let by = match by {
        AreasBy::Category => return category_group(analysed.category(&one.assigned)),
        AreasBy::Operation => AliveBy::Operation,
        _ => AliveBy::Line,
    };
    match analysed.owner(one, by) {
        nobody if nobody == NO_OPERATION || nobody == NO_SOURCE => AreaGroup::rest(nobody),
        owner => AreaGroup::placed(owner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::ValueId;
    use crate::systems::xla::buffer_assignment::in_use::bytes_in_use;
    use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;

    #[test]
    fn shares_add_up_to_what_is_in_use() {
        let placed = |lives: &[(u64, u64, u32, u32)]| -> Vec<PlacedValue> {
            let one =
                |(row, (offset, bytes, start, end)): (u32, &(u64, u64, u32, u32))| PlacedValue {
                    assigned: Assigned {
                        value: ValueId(row),
                        allocation: 0,
                        offset: *offset,
                        bytes: *bytes,
                    },
                    range: LiveRange { start: *start, end: *end },
                };
            (0..).zip(lives).map(one).collect()
        };
        let apart = placed(&[(0, 8, 0, 3), (8, 4, 1, 2), (0, 4, 4, 5)]);
        let shared = placed(&[(0, 8, 0, 3), (4, 8, 1, 2), (0, 4, 3, 5)]);
        for (placed, is_apart) in [(apart, true), (shared, false)] {
            let in_use = bytes_in_use(&placed);
            let mut sums = [0_u64; 7];
            let mut parts = 0;
            shares(&placed, &in_use, &|| false, |_, steps, bytes| {
                steps.for_each(|step| sums[step as usize] += bytes);
                parts += 1;
            });
            let mut expected = [0_u64; 7];
            for (step, bytes) in (0_u32..).zip(&mut expected) {
                let changes = in_use.iter().rev().find(|(at, _)| *at <= step);
                *bytes = changes.map_or(0, |(_, bytes)| *bytes);
            }
            assert_eq!(sums, expected);
            assert_eq!(parts == placed.len(), is_apart);
        }
    }
}
