//! The parts of the peak of one report: the explanation of a comparison of the report with itself, so that both are
//! worked out by the same code and add up to the same bytes.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::analysis::comparison::contribution::{Contribution, Contributor, Grouping, LifePart};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy, explain};
use crate::analysis::comparison::moment::{AliveAt, ScopeStep};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::Scope;

/// What is alive at a moment of one report. Both sides of the explanation are that report.
pub fn consists_of(derived: &Derived, alive: AliveAt) -> Explanation {
    let report = &**derived.report();
    explain([report; 2], &derived.attribution_to_itself(), [alive, alive])
}

/// What the peak of a scope consists of; `None` where the report has no such curve.
pub fn consists_of_peak(
    derived: &Derived,
    scope: Scope,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Explanation> {
    let timeline = derived.timeline(scope, is_cancelled)?;
    Some(consists_of(derived, ScopeStep::peak(&timeline.curve, scope)?))
}

/// The rows of one report with their bytes, largest first; they add up to the whole.
pub fn rows_of_one(grouping: &Grouping) -> Vec<(&Contribution, i64)> {
    let bytes = |row: &Contribution| Side::Source.of(row.bytes.0).of(LifePart::All);
    let mut rows: Vec<_> = grouping.rows().iter().map(|row| (row, bytes(row))).collect();
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.unsigned_abs()));
    rows
}

/// The rows of one grouping of several moments, a column for each, largest first; `None` where a moment does not have
/// it. Each column adds up to what is alive at its moment. `None` where a moment does not say what that belongs to.
pub fn rows_of_moments(
    moments: &[Option<Explanation>],
    by: GroupedBy,
) -> Option<Vec<(Contributor, Vec<Option<i64>>)>> {
    let mut places: HashMap<&Contributor, usize> = HashMap::new();
    let mut rows: Vec<(Contributor, Vec<Option<i64>>)> = Vec::new();
    for (column, found) in moments.iter().enumerate() {
        // Before the first step of a run nothing is alive.
        let Some(found) = found else { continue };
        for (row, bytes) in rows_of_one(found.grouping(by)?) {
            let place = *places.entry(&row.contributor).or_insert_with(|| {
                rows.push((row.contributor.clone(), vec![None; moments.len()]));
                rows.len().saturating_sub(1)
            });
            if let Some(cell) = rows.get_mut(place).and_then(|(_, cells)| cells.get_mut(column)) {
                *cell = Some(cell.unwrap_or(0).saturating_add(bytes));
            }
        }
    }
    let most = |cells: &[Option<i64>]| cells.iter().flatten().map(|it| it.unsigned_abs()).max();
    rows.sort_by_key(|(_, cells)| Reverse(most(cells)));
    Some(rows)
}
