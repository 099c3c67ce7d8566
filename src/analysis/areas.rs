//! The curve of a scope as areas: what is alive, by what it belongs to, added up over all steps in one pass.
//!
//! The groups with most bytes at the peak have an area each, all others one together. Every variable of a report counts
//! for one group while its class is live; what the curve has beyond them is not attributable.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::derived::Derived;
use crate::analysis::liveness::step_changes::StepChanges;
use crate::analysis::liveness::variable_kind::variable_kind;
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::liveness::{Scope, variable_name};
use crate::analysis::memory::category_title;
use crate::analysis::program::modules::ModelPlace;
use crate::analysis::program::operations::Operation;
use crate::run::areas::{AreaGroup, AreasBy, AreasOf, StackedAreas};
use crate::store::Report;
use crate::store::liveness::{Liveness, VariableBytes};

/// Groups that have an area of their own.
pub const MOST_GROUPS: usize = 7;

/// The area of all groups that have none of their own.
pub const OTHERS: &str = "Others";

/// The area of bytes of a curve that nothing is known to have.
pub const NOT_ATTRIBUTABLE: &str = "Not attributable";

/// Rows between two looks at whether anybody still waits.
const ROWS_PER_LOOK: usize = 1 << 14;

/// Bytes that count to a group over some steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The steps, positions.
    pub steps: Range<u32>,
    /// The bytes at each of them.
    pub bytes: u64,
    /// The group.
    pub key: u32,
}

/// Areas over a number of steps of what counts to groups. `group` says what a key is.
pub fn stacked(
    len: usize,
    counted: &[Counted],
    peak: Option<usize>,
    group: impl Fn(u32) -> AreaGroup,
) -> StackedAreas {
    let peak = peak.and_then(|peak| u32::try_from(peak).ok()).unwrap_or(0);
    let mut at_peak: HashMap<u32, u64> = HashMap::new();
    for one in counted {
        let sum = at_peak.entry(one.key).or_default();
        if one.steps.contains(&peak) {
            *sum = sum.saturating_add(one.bytes);
        }
    }
    let mut ranked: Vec<(u32, u64)> = at_peak.into_iter().collect();
    ranked.sort_by_key(|(key, bytes)| (Reverse(*bytes), *key));
    let has_others = ranked.len() > MOST_GROUPS + 1;
    if has_others {
        ranked.truncate(MOST_GROUPS);
    }
    let places: HashMap<u32, u8> = ranked.iter().map(|(key, _)| *key).zip(0..).collect();
    let others = ranked.len() as u8;
    let mut groups: Vec<AreaGroup> = ranked.iter().map(|(key, _)| group(*key)).collect();
    groups.extend(has_others.then(|| AreaGroup::rest(OTHERS)));
    let placed = counted
        .iter()
        .map(|one| (one.steps.clone(), one.bytes, places.get(&one.key).copied().unwrap_or(others)));
    let layers = StepChanges::of(len, placed).layers(&vec![true; groups.len()]);
    StackedAreas { groups, layers }
}

/// What the curve of a scope of a report can be split by.
pub fn groupings_of_report(report: &Report, scope: Scope) -> Vec<AreasBy> {
    let mut all = vec![AreasBy::Liveness];
    let has_rows = scope != Scope::WorstArena
        && (rows_of_scope(report, scope).is_some())
        && report
            .liveness
            .get()
            .is_some_and(|liveness| !liveness.variable_ids.as_slice().is_empty());
    if has_rows {
        all.push(AreasBy::Category);
        if report.debug.get().is_some() {
            all.extend([AreasBy::Operation, AreasBy::Module]);
        }
    }
    all
}

/// Groups in the order in which they are met, each with its key.
#[derive(Default)]
pub struct AreaGroups {
    known: HashMap<AreaGroup, u32>,
    groups: Vec<AreaGroup>,
}

impl AreaGroups {
    /// The key of a group, which may be a new one.
    pub fn key(&mut self, group: AreaGroup) -> u32 {
        *self.known.entry(group).or_insert_with_key(|group| {
            self.groups.push(group.clone());
            (self.groups.len() - 1) as u32
        })
    }

    /// The group of a key.
    pub fn get(&self, key: u32) -> AreaGroup {
        let group = self.groups.get(key as usize).cloned();
        group.unwrap_or_else(|| AreaGroup::rest(NOT_ATTRIBUTABLE))
    }
}

/// The areas of a scope of a report; `None` where its variables are not known, or when it was canceled.
pub fn areas_of_report(
    derived: &Derived,
    of: AreasOf,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<StackedAreas> {
    if !matches!(of.by, AreasBy::Category | AreasBy::Operation | AreasBy::Module) {
        return None;
    }
    let report = &**derived.report();
    let liveness = report.liveness.get()?;
    let timeline = derived.timeline(of.scope, is_cancelled)?;
    let len = timeline.len();
    let owners = derived.owners();
    let group_of = |row: &VariableBytes| {
        if of.by == AreasBy::Category {
            let name = variable_name(liveness, row.variable);
            let kind = variable_kind(&name);
            return AreaGroup::category(category_title(kind), kind, "");
        }
        let operation = owners.variables.of(liveness, row);
        let operation = operation.and_then(|(place, _)| owners.operations().get(place as usize));
        let title = operation.map(|operation| operation_title(operation, of.by));
        let title = title.filter(|title| !title.is_empty());
        title.map_or_else(|| AreaGroup::rest(NOT_ATTRIBUTABLE), AreaGroup::placed)
    };
    let mut groups = AreaGroups::default();
    // Many rows are of the same variable in the same class, on another tile.
    let mut keys: HashMap<(u32, u32), u32> = HashMap::new();
    let mut sums: HashMap<(u32, u32), u64> = HashMap::new();
    let (mut rows, mut is_stopped) = (0_usize, false);
    rows_of_scope(report, of.scope)?.each(|row| {
        rows += 1;
        if is_stopped || rows.is_multiple_of(ROWS_PER_LOOK) && is_cancelled() {
            is_stopped = true;
            return;
        }
        let of_row = (row.variable.0, row.class.0);
        let key = *keys.entry(of_row).or_insert_with(|| groups.key(group_of(&row)));
        let sum = sums.entry((row.class.0, key)).or_default();
        *sum = sum.saturating_add(row.bytes);
    });
    if is_stopped {
        return None;
    }
    let counted = counted(liveness, sums, len);
    let areas = stacked(len, &counted, timeline.peak, |key| groups.get(key));
    let curve = |step: usize| timeline.alive_at(step);
    Some(areas.up_to(curve, len, NOT_ATTRIBUTABLE))
}

/// What each group has while a class is live.
fn counted(liveness: &Liveness, sums: HashMap<(u32, u32), u64>, len: usize) -> Vec<Counted> {
    let classes = &liveness.classes;
    let mut counted = Vec::with_capacity(sums.len());
    let mut sums: Vec<((u32, u32), u64)> = sums.into_iter().collect();
    sums.sort_unstable();
    let whole = 0..u32::try_from(len).unwrap_or(u32::MAX);
    for ((class, key), bytes) in sums {
        let Some(position) = classes.ids.position(crate::store::ClassId(class)) else { continue };
        let ranges = match classes.always_live.get(position) {
            Some(true) => std::slice::from_ref(&whole),
            _ => classes.ranges_of(position),
        };
        counted.extend(ranges.iter().map(|steps| Counted { steps: steps.clone(), bytes, key }));
    }
    counted
}

/// What an operation, or its module, is called; empty where it has no name.
fn operation_title(operation: &Operation, by: AreasBy) -> String {
    let name = operation.name.as_deref().unwrap_or_default();
    if by == AreasBy::Module {
        return ModelPlace::of(name).layer.unwrap_or_default();
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(steps: Range<u32>, bytes: u64, key: u32) -> Counted {
        Counted { steps, bytes, key }
    }

    #[test]
    fn the_largest_at_the_peak_lie_lowest_and_the_others_together() {
        let mut all = vec![counted(0..4, 5, 0), counted(1..3, 50, 1), counted(2..3, 7, 2)];
        let areas = stacked(4, &all, Some(2), |key| AreaGroup::placed(key.to_string()));
        let titles: Vec<&str> = areas.groups.iter().map(|group| &*group.title).collect();
        assert_eq!(titles, ["1", "2", "0"]);
        assert_eq!(areas.layers, [vec![0, 50, 50, 0], vec![0, 50, 57, 0], vec![5, 55, 62, 5]]);
        all.extend((3..20).map(|key| counted(0..1, 1, key)));
        let areas = stacked(4, &all, Some(2), |key| AreaGroup::placed(key.to_string()));
        assert_eq!(areas.groups.len(), MOST_GROUPS + 1);
        assert_eq!(areas.groups.last(), Some(&AreaGroup::rest(OTHERS)));
        assert_eq!(areas.layers.last(), Some(&vec![22, 55, 62, 5]));
    }
}
