//! The number of steps that run a compute set or an exchange.
//!
//! A step counts once, whatever loop it is in: steps are visits to programs, not executions.

use std::collections::HashMap;
use std::hash::Hash;

use crate::store::Report;
use crate::store::program::Programs;

/// The steps that run something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepVisits {
    /// Their number.
    pub count: u64,
    /// The position of the first.
    pub first: Option<u32>,
}

/// The steps by what their programs have in a column; `None` where programs or steps are
/// absent.
pub fn step_counts<T: Copy + Eq + Hash>(
    report: &Report,
    column: impl Fn(&Programs) -> &[Option<T>],
) -> Option<HashMap<T, StepVisits>> {
    let programs = report.programs.get()?;
    let column = column(programs);
    let mut counts: HashMap<T, StepVisits> = HashMap::new();
    for (step, program) in (0_u32..).zip(&report.steps.get()?.programs) {
        let row = programs.ids.position(*program);
        if let Some(what) = row.and_then(|row| *column.get(row)?) {
            let visits = counts.entry(what).or_default();
            visits.count += 1;
            visits.first = visits.first.or(Some(step));
        }
    }
    Some(counts)
}
