//! Lifetimes: from which step to which step variables live.
//!
//! A variable lives at the steps of its class's ranges, an always-live one at all of them. Ranges are
//! half-open in step positions, ascending, and neither overlap nor touch. By name they are of
//! variables before lowering, of one name and class together.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::store::ids::CategoryId;
use crate::store::liveness::{Classes, Liveness};
use crate::store::variable::LoweredVariables;
use crate::store::{ClassId, Report, UnloweredId};

use crate::analysis::liveness::variables::{VariableRow, always_live, not_always_live};
use crate::analysis::liveness::{Scope, variable_name};
use crate::analysis::memory::category_title;

/// The life of the variables of one name and class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The name.
    pub name: String,
    /// The largest of the variables.
    pub variable: UnloweredId,
    /// The class.
    pub class: ClassId,
    /// Whether the class lives as long as the program.
    pub is_always_live: bool,
    /// Bytes that count to the variables in the scope.
    pub bytes: u64,
    /// The step positions at which they live.
    pub ranges: Vec<Range<u32>>,
    /// Number of steps at which they live.
    pub length: u64,
}

/// Everything alive in a scope at a step position, always live or not, largest first, then by name
/// and class. `None` where the part that it needs is absent, and for the worst tile: ask for that
/// tile instead.
pub fn lifetimes_at(report: &Report, scope: Scope, step: usize) -> Option<Vec<Lifetime>> {
    let liveness = report.liveness.get()?;
    let steps = steps_of(report, scope)?;
    let mut rows = always_live(report, scope)?;
    rows.extend(not_always_live(report, scope, &[step], None)?);
    let mut lifetimes: Vec<Lifetime> =
        rows.into_iter().flat_map(|row| of_row(row, liveness, steps)).collect();
    lifetimes.sort_by(|a, b| {
        b.bytes.cmp(&a.bytes).then_with(|| (&a.name, a.class).cmp(&(&b.name, b.class)))
    });
    Some(lifetimes)
}

fn of_row(row: VariableRow, liveness: &Liveness, steps: u32) -> Vec<Lifetime> {
    let VariableRow { name, mut parts, .. } = row;
    for part in &mut parts {
        part.class = liveness.whole_life(part.class);
    }
    // Stable: within a class the largest variable stays the first.
    parts.sort_by_key(|part| part.class);
    let of_class = parts.chunk_by(|a, b| a.class == b.class).filter_map(|parts| {
        let first = parts.first()?;
        let ranges = ranges_of(&liveness.classes, first.class, steps);
        Some(Lifetime {
            name: name.clone(),
            variable: first.variable,
            class: first.class,
            is_always_live: first.is_always_live,
            bytes: parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes)),
            length: ranges.iter().map(|range| u64::from(range.end - range.start)).sum(),
            ranges,
        })
    });
    of_class.collect()
}

/// The category of a lowered variable, where the file names it, and a name: that of the variable that
/// it was lowered from, else the title of its category.
pub fn category_and_name(
    report: &Report,
    variables: &LoweredVariables,
    row: usize,
) -> (Option<CategoryId>, String) {
    let id = variables.categories.get(row).map(|id| CategoryId(u32::from(*id)));
    let named = id.and_then(|id| Some((id, report.category_name(id)?)));
    let unlowered = variables.unlowered.get(row).copied();
    let unlowered = unlowered.filter(|id| *id != LoweredVariables::NO_UNLOWERED);
    let name = match (unlowered, report.liveness.get(), named) {
        (Some(id), Some(liveness), _) => variable_name(liveness, id).into_owned(),
        (_, _, Some((_, category))) => category_title(category),
        _ => "Unknown category".to_owned(),
    };
    (named.map(|(id, _)| id), name)
}

/// The bytes over all tiles of the variables of a name, as runs of step positions with equal bytes;
/// runs without bytes are left out. `None` where the part that it needs is absent.
pub fn life_of(report: &Report, name: &str) -> Option<Vec<(Range<u32>, u64)>> {
    let liveness = report.liveness.get()?;
    let steps = steps_of(report, Scope::Everything)?;
    let rows = liveness.variable_bytes.as_ref()?.iter();
    let mut changes: Vec<(u32, i64)> = Vec::new();
    for row in rows.filter(|row| variable_name(liveness, row.variable) == name) {
        let bytes = i64::try_from(row.bytes).unwrap_or(i64::MAX);
        for range in ranges_of(&liveness.classes, row.class, steps) {
            changes.extend([(range.start, bytes), (range.end, -bytes)]);
        }
    }
    changes.sort_unstable_by_key(|(step, _)| *step);
    let mut runs: Vec<(Range<u32>, u64)> = Vec::new();
    let (mut start, mut level) = (0_u32, 0_i64);
    for (step, change) in changes {
        let bytes = u64::try_from(level).unwrap_or(0);
        if step > start && bytes > 0 {
            match runs.last_mut() {
                Some((last, same)) if last.end == start && *same == bytes => last.end = step,
                _ => runs.push((start..step, bytes)),
            }
        }
        start = step;
        level = level.saturating_add(change);
    }
    Some(runs)
}

/// When the variables of a name are alive, and how large they are then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VariableLife {
    pub ranges: Vec<Range<u32>>,
    /// The most bytes at any of them.
    pub most_bytes: u64,
    pub steps: u64,
}

/// The life of the variables of a name. `None` where the part that it needs is absent.
pub(crate) fn life_of_name(report: &Report, name: &str) -> Option<VariableLife> {
    let pieces = life_of(report, name)?;
    let most_bytes = pieces.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let ranges = merged(pieces.into_iter().map(|(range, _)| range));
    let steps = ranges.iter().map(|range| u64::from(range.end - range.start)).sum();
    Some(VariableLife { ranges, most_bytes, steps })
}

/// How many steps there are in a scope.
pub(crate) fn steps_of(report: &Report, scope: Scope) -> Option<u32> {
    u32::try_from(report.steps.get()?.count_of(scope.device(report))).ok()
}

/// The ranges in which a class lives; those that overlap or touch become one.
pub fn ranges_of(classes: &Classes, class: ClassId, steps: u32) -> Vec<Range<u32>> {
    let Some(position) = classes.ids.position(class) else { return Vec::new() };
    if classes.always_live.get(position) == Some(&true) {
        return vec![0..steps];
    }
    let clipped = |range: &Range<u32>| range.start..range.end.min(steps);
    merged(classes.ranges_of(position).iter().map(clipped))
}

/// The ranges of classes, worked out once for each and shared by all that is of it.
pub(crate) struct LivesOfClasses<'a> {
    classes: &'a Classes,
    steps: u32,
    known: HashMap<ClassId, Arc<[Range<u32>]>>,
}

impl<'a> LivesOfClasses<'a> {
    pub fn new(classes: &'a Classes, steps: u32) -> Self {
        Self { classes, steps, known: HashMap::new() }
    }

    /// As [`ranges_of`].
    pub fn of(&mut self, class: ClassId) -> Arc<[Range<u32>]> {
        let (classes, steps) = (self.classes, self.steps);
        Arc::clone(
            self.known.entry(class).or_insert_with(|| ranges_of(classes, class, steps).into()),
        )
    }
}

/// Ascending ranges as ones that neither overlap nor touch; empty ones are left out.
pub(crate) fn merged(ranges: impl IntoIterator<Item = Range<u32>>) -> Vec<Range<u32>> {
    let mut merged: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ if range.is_empty() => {}
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;

    /// Eight steps; class 1 lives always, 2 at steps 1–4 and 6, 3 at 2–6.
    fn report() -> Report {
        let report = Report::default();
        report.steps.fill(Some(fixture::steps(8)));
        let classes = fixture::classes(1, [vec![], vec![1..3, 3..5, 6..7], vec![2..7]]);
        let rows = [(0, 1, 100), (1, 2, 8), (2, 2, 10), (1, 3, 4), (7, 3, 2), (0, 9, 5)];
        let variable_bytes = Some(rows.map(fixture::variable_bytes).to_vec());
        let mut liveness = Liveness { classes, variable_bytes, ..Liveness::default() };
        fixture::name_variables(&mut liveness, &["weights", "sum", "sum"]);
        report.liveness.fill(Some(liveness));
        report
    }

    #[test]
    fn what_is_alive_has_its_ranges() {
        let found = lifetimes_at(&report(), Scope::Everything, 6).expect("lifetimes");
        let rows: Vec<_> = found
            .iter()
            .map(|row| (row.name.as_str(), row.class.0, row.bytes, row.length, &row.ranges[..]))
            .collect();
        let expected = [
            ("weights", 1, 100, 8, &[0..8][..]),
            ("sum", 2, 18, 5, &[1..5, 6..7]),
            ("sum", 3, 4, 5, &[2..7]),
            ("<variable 7>", 3, 2, 5, &[2..7]),
        ];
        assert_eq!(rows, expected);
        assert_eq!(found[1].variable, UnloweredId(2), "the largest of the name");
        assert_eq!(lifetimes_at(&report(), Scope::Everything, 0).map(|rows| rows.len()), Some(1));
        assert_eq!(lifetimes_at(&report(), Scope::WorstArena, 0), None);
    }

    #[test]
    fn the_life_of_a_name_is_in_runs_of_equal_bytes() {
        let report = report();
        let life = life_of(&report, "sum").expect("a life");
        assert_eq!(life, [(1..2, 18), (2..5, 22), (5..6, 4), (6..7, 22)]);
        assert_eq!(life_of(&report, "weights"), Some(vec![(0..8, 100)]));
        assert_eq!(life_of(&report, "<variable 7>"), Some(vec![(2..7, 2)]));
        assert_eq!(life_of(&report, "nothing"), Some(vec![]));
    }
}
