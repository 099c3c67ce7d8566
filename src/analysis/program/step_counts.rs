//! How many steps run a compute set or an exchange.
//!
//! A step counts once, whatever loop it is in: steps are visits to programs, not executions.

use std::collections::HashMap;
use std::hash::Hash;

use crate::store::Report;
use crate::store::program::Programs;

/// Number of steps by what their programs have in a column; `None` where programs or steps are
/// absent.
pub fn step_counts<T: Copy + Eq + Hash>(
    report: &Report,
    column: impl Fn(&Programs) -> &[Option<T>],
) -> Option<HashMap<T, u64>> {
    let programs = report.programs.get()?;
    let column = column(programs);
    let mut counts: HashMap<T, u64> = HashMap::new();
    for program in &report.steps.get()?.programs {
        let row = programs.ids.position(*program);
        if let Some(what) = row.and_then(|row| *column.get(row)?) {
            *counts.entry(what).or_default() += 1;
        }
    }
    Some(counts)
}
