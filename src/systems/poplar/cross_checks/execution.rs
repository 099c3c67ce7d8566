//! Compares the stated totals of runs with the sums of their steps.

use super::differences::Differences;
use crate::analysis::execution::Executed;
use crate::analysis::execution::stated::{SummedOf, stated_and_summed};
use crate::analysis::program::kinds::Activity;

/// What contradicts itself in the steps that ran, which are read when somebody asks for them, not with the rest.
pub fn contradictions_of_trace(executed: Executed<'_>) -> Vec<String> {
    let mut differences = Differences::default();
    for (run, rows) in executed.trace.runs.iter().zip(stated_and_summed(executed)) {
        for row in rows.into_iter().flatten() {
            let source = match row.of {
                SummedOf::Run => "start_cycles_by_ipu and end_cycles_by_ipu in runs",
                SummedOf::Steps => "the steps",
            };
            let kind = ("table execution_cycle_totals", source);
            let what = row.activity.map_or("cycles", Activity::title);
            let place = || format!(", run {}, {what}", run.id);
            differences.compare(kind, place, row.stated, row.summed);
        }
    }
    differences.into_messages()
}
