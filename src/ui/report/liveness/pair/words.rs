//! How steps of both reports are written.

use crate::analysis::program::steps;
use crate::store::Report;

/// The name of a step, or its kind where it has none.
pub fn step_name(report: &Report, step: usize) -> Option<String> {
    let facts = steps::facts(report, step)?;
    facts.name.or(facts.kind)
}
