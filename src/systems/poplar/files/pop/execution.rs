//! Totals of the recorded runs.

use crate::format::sqlite::Tables;
use crate::store::WarningCode;
use crate::store::execution::ExecutionTotals;

/// Reads the totals; `None`, with a warning, when nothing was recorded.
pub fn read_execution(
    tables: &Tables<'_>,
    compilation_id: Option<&str>,
) -> Option<ExecutionTotals> {
    // Not all versions have it.
    const STEPS: &str = "num_steps";
    let mut totals = ExecutionTotals::default();
    let mut elapsed: Option<u64> = None;
    let columns = ["id", "elapsed_microseconds", STEPS];
    let columns = if tables.has_column("runs", STEPS) { &columns[..] } else { &columns[..2] };
    let mut steps_of_runs = None::<u64>;
    tables.read("runs", columns, "id", |cells| {
        totals.runs = totals.runs.saturating_add(1);
        if let Some(steps) = columns.get(2).and_then(|_| cells.number(2)) {
            steps_of_runs = Some(steps_of_runs.unwrap_or(0).saturating_add(steps));
        }
        if let Some(microseconds) = cells.number(1) {
            elapsed = Some(elapsed.unwrap_or(0).saturating_add(microseconds));
        }
    });
    totals.elapsed_microseconds = elapsed;
    tables.read("steps", &["id"], "", |_| totals.steps = totals.steps.saturating_add(1));
    if let Some(expected) = steps_of_runs
        && expected != totals.steps
    {
        let found = totals.steps;
        let message =
            format!("table steps: {expected} rows expected by runs.num_steps, {found} found");
        tables.warn(WarningCode::Inconsistent, message);
    }
    // A row without a run is the total over all runs (comment in the file's own definition).
    let (mut over_all, mut by_run) = (None, None::<u64>);
    tables.read("execution_cycle_totals", &["run_id", "cycles"], "", |cells| {
        let Some(cycles) = cells.required(1) else { return };
        if cells.is_null(0) {
            over_all = Some(cycles);
        } else {
            by_run = Some(by_run.unwrap_or(0).saturating_add(cycles));
        }
    });
    totals.cycles = over_all.or(by_run);
    // Lightweight profiling needs nothing else.
    let has_blocks = tables.has_table("blocks") && !tables.is_empty("blocks");
    if totals.runs == 0 && totals.steps == 0 && totals.cycles.is_none() && !has_blocks {
        tables.warn(
            WarningCode::NoExecution,
            "the execution tables are empty: the program was not run to its end, or \
             autoReport.outputExecutionProfile was off",
        );
        return None;
    }
    let mut execution_id = None;
    tables.read("execution_info", &["compilation_id"], "", |cells| {
        execution_id = cells.owned_text(0);
    });
    if let (Some(compiled), Some(executed)) = (compilation_id, execution_id.as_deref())
        && compiled != executed
    {
        tables.warn(
            WarningCode::Inconsistent,
            format!(
                "table execution_info, column compilation_id: {compiled} expected by \
                 compilation_info, {executed} found: the runs are of another compilation"
            ),
        );
    }
    Some(totals)
}
