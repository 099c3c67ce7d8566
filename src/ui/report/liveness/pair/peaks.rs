//! The list of peaks of both reports: where they are, how high, and which operation makes them.

use std::sync::Arc;

use super::derived::{PairDerived, SlotPeak};
use super::words::step_name;
use crate::analysis::program::operation_text::operations_text;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::ui::widget::rows::{Column, Rows, Value};

/// The peaks as a table.
pub struct PairPeakRows {
    reports: [Arc<Report>; 2],
    derived: Arc<PairDerived>,
}

impl PairPeakRows {
    /// The peaks of both curves.
    pub fn new(reports: [Arc<Report>; 2], derived: &Arc<PairDerived>) -> Self {
        Self { reports, derived: Arc::clone(derived) }
    }

    /// Its columns.
    pub fn columns() -> Vec<Column> {
        vec![
            Column::text("Source step", 80.0),
            Column::text("Target step", 80.0),
            Column::text("Operation", 138.0),
            Column::rest("Name"),
            Column::bytes("Source", 76.0).not_summed(),
            Column::bytes("Target", 76.0).not_summed(),
            Column::bytes("Difference", 98.0).not_summed(),
            Column { unit: "percent", ..Column::count("Of the source", 96.0).not_summed() },
        ]
    }

    /// The slot of a row.
    pub fn slot(&self, row: usize) -> Option<usize> {
        self.derived.peaks.get(row).map(|peak| peak.slot)
    }

    /// The reports, each with its step of a peak.
    fn steps(&self, peak: &SlotPeak) -> [(&Report, Option<usize>); 2] {
        let [source, target] = &self.reports;
        [(source, peak.spike.source_step), (target, peak.spike.target_step)]
    }

    fn operation(&self, peak: &SlotPeak) -> String {
        let operations =
            self.steps(peak).map(|(report, step)| steps::facts(report, step?)?.operation);
        operations_text(operations.each_ref().map(Option::as_ref))
    }

    fn name(&self, peak: &SlotPeak) -> Option<String> {
        self.steps(peak).into_iter().find_map(|(report, step)| step_name(report, step?))
    }
}

impl Rows for PairPeakRows {
    fn len(&self) -> usize {
        self.derived.peaks.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(peak) = self.derived.peaks.get(row) else { return Value::Nothing };
        let id = |(report, step): (&Report, Option<usize>)| {
            let id = report.steps.get().and_then(|steps| steps.ids.get(step?));
            id.map_or(Value::Nothing, |id| Value::Id(u64::from(id.0)))
        };
        let bytes = peak.spike.bytes;
        let known =
            |bytes: Option<i64>| Value::bytes(bytes.and_then(|bytes| bytes.try_into().ok()));
        let [source, target] = self.steps(peak);
        match (column, bytes.source, bytes.target) {
            (0, ..) => id(source),
            (1, ..) => id(target),
            (2, ..) => Value::text(self.operation(peak)),
            (3, ..) => Value::text(self.name(peak).unwrap_or_default()),
            (4, bytes, _) | (5, _, bytes) => known(bytes),
            (6, ..) => bytes.change().map_or(Value::Nothing, Value::Change),
            (_, Some(_), None) => Value::text("only in source"),
            (_, None, Some(_)) => Value::text("only in target"),
            _ => bytes.percent().map_or(Value::Nothing, Value::Percent),
        }
    }
}
