//! The values alive at a position of an XLA module: those of temporary allocations, where every address counts for the
//! value there that lives the longest, and those reserved for as long as the module runs; of a single allocation the
//! values in it.

use super::areas::color_of;
use super::buffer_assignment::analysed::Analysed;
use super::buffer_assignment::categories::ValueCategory;
use super::buffer_assignment::facts::known_padding;
use super::buffer_assignment::in_use::PlacedValue;
use super::buffer_assignment::peaks::owners;
use super::buffer_assignment::program::AnalysedModule;
use super::buffer_assignment::shares::shares_at;
use super::buffer_assignment::trace_lives::TraceLives;
use super::layers::{LayersOfPaths, owner};
use super::run::report::reserved_name;
use super::variables::{padding_of_reserved, variables_of_reserved};
use crate::analysis::liveness::Scope;
use crate::limits;
use crate::run::{AliveBy, AliveVariable, AliveVariables, GroupBytes, PeakRow, StepBytes};
use crate::store::UnloweredId;
use crate::store::hlo::{AllocationKind, ValueId};

/// What rows go by in a scope.
pub(super) fn groupings(layers: &LayersOfPaths, scope: Scope) -> Vec<AliveBy> {
    match scope {
        Scope::WorstArena => Vec::new(),
        _ => {
            let mut all = vec![AliveBy::Category, AliveBy::Operation];
            all.extend(layers.has_several.then_some(AliveBy::Layer));
            all.extend([AliveBy::Line, AliveBy::Variable]);
            all
        }
    }
}

/// Values and allocations; `None` of a scope that there is not.
pub(super) fn alive(program: &AnalysedModule, at: &StepBytes) -> Option<AliveVariables> {
    let analysed = &program.analysed;
    let module = &analysed.module;
    let (parameters, mains) = (module.entry_parameters(), analysed.largest_values());
    // Tuples within tuples have the same elements again and again.
    let mut room = limits::RepeatedNames::default();
    let mut shape = |value: ValueId| {
        let whole = module.shapes.whole_title(module.value_shape(value), None);
        Some(room.take(&whole).into_owned()).filter(|shape| !shape.is_empty())
    };
    let traced = TraceLives::of(analysed);
    let values = shares(analysed, traced.as_ref(), at)?;
    let value = |(one, bytes): (&PlacedValue, u64)| {
        let value = one.assigned.value;
        AliveVariable {
            name: program.value_name(value),
            bytes,
            category: Some(analysed.category(&one.assigned).as_str().into()),
            operation: analysed.operation(value).map(str::to_owned),
            shape: shape(value),
            shared_bytes: one.assigned.bytes.saturating_sub(bytes),
            padding_bytes: known_padding(module, value, one.assigned.bytes)
                .map(|padding| padding.min(bytes)),
            variable: Some(UnloweredId(value.0)),
        }
    };
    let not_always_live = values.into_iter().map(value).collect();
    let variables = variables_of_reserved(module);
    let reserved = color_of(analysed, at.scope).map(|color| {
        let kind = |kind| kind != AllocationKind::Temporary;
        analysed.allocations_of(color, kind).filter(|(_, allocation)| allocation.bytes > 0)
    });
    let reserved = reserved.into_iter().flatten().map(|(row, allocation)| {
        let main = mains.get(row).copied();
        AliveVariable {
            name: reserved_name(module, &parameters, allocation),
            bytes: allocation.bytes,
            category: Some(ValueCategory::of_allocation(allocation.kind).as_str().into()),
            shape: main.and_then(&mut shape),
            padding_bytes: main.and_then(|main| padding_of_reserved(module, allocation, main)),
            variable: variables.get(row).copied(),
            ..AliveVariable::default()
        }
    });
    let always_live = reserved.collect();
    Some(AliveVariables { not_always_live, always_live })
}

/// The rows of a grouping, but for variables.
pub(super) fn rows(
    program: &AnalysedModule,
    layers: &LayersOfPaths,
    at: &StepBytes,
    by: AliveBy,
) -> Vec<GroupBytes> {
    let analysed = &program.analysed;
    let traced = TraceLives::of(analysed);
    let Some(shares) = shares(analysed, traced.as_ref(), at) else { return Vec::new() };
    let reserved =
        color_of(analysed, at.scope).map_or(Vec::new(), |color| reserved(program, color));
    let rows = match by {
        AliveBy::Category => by_category(&analysed.owners(&shares, by), &reserved),
        AliveBy::Operation | AliveBy::Line => by_owner(&analysed.owners(&shares, by), &reserved),
        AliveBy::Layer => {
            by_owner(&owners(&shares, |one| owner(analysed, layers, one, by)), &reserved)
        }
        AliveBy::Module | AliveBy::Pool | AliveBy::Variable => Vec::new(),
    };
    let row = |PeakRow { name, bytes, count }| {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        GroupBytes { name, bytes, count }
    };
    rows.into_iter().map(row).collect()
}

/// What is in use at a step of the temporary allocations of a memory space, or of an allocation: each value with the
/// bytes that count to it. `None` of other scopes.
fn shares<'a>(
    analysed: &'a Analysed,
    traced: Option<&'a TraceLives<'_>>,
    at: &StepBytes,
) -> Option<Vec<(&'a PlacedValue, u64)>> {
    let step = u32::try_from(at.step).unwrap_or(u32::MAX);
    if let Scope::Arena(arena) = at.scope {
        let row = arena.0 as usize;
        let traced = traced.filter(|traced| traced.allocation == row);
        let placed = traced.map(|traced| &traced.placed).or_else(|| analysed.placed.get(row))?;
        return Some(shares_at(placed, step));
    }
    let color = color_of(analysed, at.scope)?;
    Some(match traced.filter(|_| color == 0) {
        Some(traced) => shares_at(&traced.placed, step),
        None => analysed.shares_at(color, step),
    })
}

/// What a memory space reserves for as long as the program runs, by what allocations are for.
pub(super) fn reserved(program: &AnalysedModule, color: i64) -> Vec<PeakRow> {
    let row = |kind: &AllocationKind| {
        let of_kind = program.analysed.allocations_of(color, |one| one == *kind);
        let mut row = PeakRow {
            name: ValueCategory::of_allocation(*kind).as_str().to_owned(),
            ..PeakRow::default()
        };
        for (_, one) in of_kind {
            row.bytes = row.bytes.saturating_add(one.bytes);
            row.count = row.count.saturating_add(1);
        }
        row
    };
    let kinds = AllocationKind::ALL.iter().filter(|kind| **kind != AllocationKind::Temporary);
    kinds.map(row).filter(|row| row.bytes > 0).collect()
}

/// By category what is temporary and what is reserved throughout, each category once.
pub(super) fn by_category(temporary: &[PeakRow], reserved: &[PeakRow]) -> Vec<PeakRow> {
    let mut rows: Vec<PeakRow> = Vec::new();
    for row in temporary.iter().chain(reserved) {
        match rows.iter_mut().find(|known| known.name == row.name) {
            Some(known) => {
                known.bytes = known.bytes.saturating_add(row.bytes);
                known.count = known.count.saturating_add(row.count);
            }
            None => rows.push(row.clone()),
        }
    }
    rows.retain(|row| row.bytes > 0);
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}

/// By operation or line what is temporary; what is reserved throughout belongs to none and keeps its category.
pub(super) fn by_owner(temporary: &[PeakRow], reserved: &[PeakRow]) -> Vec<PeakRow> {
    let temporary = temporary.iter().filter(|owner| owner.bytes > 0).cloned();
    let reserved =
        reserved.iter().map(|row| PeakRow { name: format!("({})", row.name), ..row.clone() });
    let mut rows: Vec<PeakRow> = temporary.chain(reserved).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    rows
}
