//! The peak of an IPU report: the step at which most is alive on all tiles together, and who owns it.

use super::alive::{Things, rows_of};
use crate::analysis::comparison::contribution::OperationName;
use crate::analysis::comparison::explanation::GroupedBy;
use crate::analysis::comparison::moment::Moment;
use crate::analysis::consists::consists_of;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::program::steps;
use crate::run::{AliveVariable, GroupBytes, PeakOfRun, PeakRow, PeakVariable};

/// The largest variables that are named.
const LARGEST: usize = 10;

/// The peak of a report whose small tables are read; by category where its lowered variables are read as well.
pub(super) fn peak_of_report(derived: &Derived) -> Option<PeakOfRun> {
    let report = &**derived.report();
    let timeline = derived.timeline(Scope::Everything, &|| false)?;
    let alive = Moment::peak(&timeline.curve, Scope::Everything)?;
    let step = alive.moment.step;
    let facts = steps::facts(report, step)?;
    let found = consists_of(derived, alive);
    let things = Things::alive_at(derived, (Scope::Everything, step));
    let by = |by: GroupedBy| rows(rows_of(&found, &things, by));
    let is_one_ipu = report.target.get().is_some_and(|target| target.ipus == Some(1));
    let operation = facts.operation.as_ref();
    Some(PeakOfRun {
        device: is_one_ipu.then_some(0),
        step: Some(facts.step.0.into()),
        kind: facts.kind,
        name: facts.name,
        operation: operation.map(|operation| OperationName::of(operation).in_words()),
        operation_by_operand: false,
        stack: operation.and_then(|operation| operation.location.clone()).into_iter().collect(),
        bytes: u64::try_from(alive.bytes.sum()).ok()?,
        always_live_bytes: u64::try_from(alive.bytes.always_live).ok(),
        by_category: by(GroupedBy::Category),
        by_operation: by(GroupedBy::Operation),
        by_module: by(GroupedBy::Module),
        by_line: Vec::new(),
        largest: things.largest(report, LARGEST).into_iter().map(variable).collect(),
    })
}

fn variable(of: AliveVariable) -> PeakVariable {
    let AliveVariable { name, bytes, category, operation, .. } = of;
    PeakVariable { name, bytes, category, operation }
}

/// The rows of a group, which add up to the peak. None where exchanges share code, which then counts for each of them and
/// leaves less than nothing for the rest.
fn rows(rows: Vec<GroupBytes>) -> Vec<PeakRow> {
    let row = |GroupBytes { name, bytes, count }| {
        Some(PeakRow { name, bytes: u64::try_from(bytes).ok()?, count })
    };
    let rows: Option<Vec<PeakRow>> = rows.into_iter().map(row).collect();
    rows.unwrap_or_default()
}
