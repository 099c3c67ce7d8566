//! The list of peaks of both reports: where they are, how high, and which operation makes them.

use std::sync::Arc;

use super::derived::PairDerived;
use super::words::{operations_text, step_name};
use crate::analysis::slot_curves::SlotPeak;
use crate::analysis::steps;
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
            Column::text("Source step", 82.0),
            Column::text("Target step", 82.0),
            Column::text("Operation", 150.0),
            Column::rest("Name"),
            Column::bytes("Source", 84.0).not_summed(),
            Column::bytes("Target", 84.0).not_summed(),
            Column::bytes("Difference", 104.0).not_summed(),
            Column { unit: "percent", ..Column::count("Of the source", 100.0).not_summed() },
        ]
    }

    /// The slot of a row.
    pub fn slot(&self, row: usize) -> Option<usize> {
        self.derived.peaks.get(row).map(|peak| peak.slot)
    }

    /// The steps of both in the slot of a peak.
    fn steps(&self, peak: &SlotPeak) -> [Option<usize>; 2] {
        [self.derived.axis.source_at(peak.slot), self.derived.axis.target_at(peak.slot)]
    }

    fn operation(&self, peak: &SlotPeak) -> String {
        let [source, target] = self.steps(peak);
        let [of_source, of_target] = &self.reports;
        let operation =
            |report: &Report, step: Option<usize>| steps::facts(report, step?)?.operation;
        let operations = [operation(of_source, source), operation(of_target, target)];
        operations_text(operations.each_ref().map(Option::as_ref))
    }

    fn name(&self, peak: &SlotPeak) -> Option<String> {
        let ([source, target], [of_source, of_target]) = (self.steps(peak), &self.reports);
        let name = |report: &Report, step: Option<usize>| step_name(report, step?);
        name(of_source, source).or_else(|| name(of_target, target))
    }
}

impl Rows for PairPeakRows {
    fn len(&self) -> usize {
        self.derived.peaks.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(peak) = self.derived.peaks.get(row) else { return Value::Nothing };
        let id = |report: &Report, step: Option<usize>| {
            let id = report.steps.get().and_then(|steps| steps.ids.get(step?));
            id.map_or(Value::Nothing, |id| Value::Id(u64::from(id.0)))
        };
        let ([source, target], [of_source, of_target]) = (self.steps(peak), &self.reports);
        match (column, peak.source, peak.target) {
            (0, ..) => id(of_source, source),
            (1, ..) => id(of_target, target),
            (2, ..) => Value::text(self.operation(peak)),
            (3, ..) => Value::text(self.name(peak).unwrap_or_default()),
            (4, bytes, _) | (5, _, bytes) => Value::bytes(bytes),
            (6, Some(from), Some(to)) => Value::change(from, to),
            (6, ..) => Value::Nothing,
            (_, Some(_), None) => Value::text("only in source"),
            (_, None, Some(_)) => Value::text("only in target"),
            (_, Some(from @ 1..), Some(to)) => {
                Value::Percent((to as f64 - from as f64) * 100.0 / from as f64)
            }
            _ => Value::Nothing,
        }
    }
}
