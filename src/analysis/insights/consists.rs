//! What the peak of one report consists of: the explanation of a comparison of the report with itself, so that
//! both are worked out by the same code and add up to the same bytes.
//!
//! Of several IPUs it is the peak of the one that decides the verdict: each has its own memory.

use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::contribution::{Contribution, Grouping, Part};
use crate::analysis::comparison::explanation::{Explanation, explain};
use crate::analysis::comparison::matching::Matching;
use crate::analysis::comparison::moment::{AliveAt, Moment};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Side;
use crate::analysis::insights::verdict::Verdict;
use crate::analysis::liveness::Scope;
use crate::store::DeviceId;

/// What is alive at a moment of one report. Both sides of the explanation are that report.
pub fn consists_of(derived: &Derived, alive: AliveAt) -> Explanation {
    let report = &**derived.report();
    let steps = derived.operations().unwrap_or_default();
    // Equal names share a row without being paired, and what is compared with itself has no others.
    let itself = Matching { step_operations: [steps.clone(), steps], ..Matching::default() };
    let owners = derived.owners();
    let attribution = Attribution::with([report, report], &itself, [owners.clone(), owners]);
    explain([report, report], &attribution, [alive, alive])
}

/// The scope of the peak that the verdict is about.
pub fn scope_of_peak(verdict: Option<&Verdict>) -> Scope {
    let several = verdict.filter(|verdict| verdict.ipus.len() > 1);
    match several.and_then(|verdict| verdict.curve) {
        Some(curve) => Scope::Device(DeviceId(curve.ipu)),
        None => Scope::Everything,
    }
}

/// What the peak of a scope consists of; `None` where the report has no such curve.
pub fn consists_of_peak(
    derived: &Derived,
    scope: Scope,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Explanation> {
    let timeline = derived.timeline(scope, is_cancelled)?;
    Some(consists_of(derived, Moment::peak(&timeline.curve, scope)?))
}

/// The rows of one report with their bytes, largest first; they add up to the whole.
pub fn rows_of_one(grouping: &Grouping) -> Vec<(&Contribution, i64)> {
    let bytes = |row: &Contribution| Side::Source.of(row.bytes.0).of(Part::All);
    let mut rows: Vec<_> = grouping.rows().iter().map(|row| (row, bytes(row))).collect();
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.unsigned_abs()));
    rows
}
