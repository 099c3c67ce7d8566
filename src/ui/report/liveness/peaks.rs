//! The list of peaks: where they are, how high, and which operation makes them.

use std::sync::Arc;

use super::derived::Derived;
use crate::analysis::program::operation_text::operation_text;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::ui::widget::rows::{Column, Rows, Value};

/// The peaks of a curve as a table.
pub struct PeakRows {
    report: Arc<Report>,
    derived: Arc<Derived>,
}

impl PeakRows {
    /// The peaks of a curve.
    pub fn new(report: &Arc<Report>, derived: &Arc<Derived>) -> Self {
        Self { report: Arc::clone(report), derived: Arc::clone(derived) }
    }

    /// Its columns.
    pub fn columns() -> Vec<Column> {
        vec![
            Column::text("Step", 54.0),
            Column::bytes("Bytes", 80.0).not_summed(),
            Column::text("Operation", 116.0),
            Column::rest("Name"),
        ]
    }
}

impl Rows for PeakRows {
    fn len(&self) -> usize {
        self.derived.peaks.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(peak) = self.derived.peaks.get(row) else { return Value::Nothing };
        match column {
            0 => {
                let id = self.report.steps.get().and_then(|steps| steps.ids.get(peak.step));
                Value::Id(id.map_or(peak.step as u64, |id| u64::from(id.0)))
            }
            1 => Value::Bytes(peak.bytes),
            2 => Value::text(operation_at(&self.report, peak.step).unwrap_or_default()),
            _ => Value::text(name_or_kind(&self.report, peak.step)),
        }
    }
}

/// What the operation of a step does.
fn operation_at(report: &Report, step: usize) -> Option<String> {
    Some(operation_text(&steps::facts(report, step)?.operation?))
}

/// The name of a step, or its kind where it has none.
fn name_or_kind(report: &Report, step: usize) -> String {
    let facts = steps::facts(report, step);
    facts.and_then(|facts| facts.name.or(facts.kind)).unwrap_or_default()
}
