//! Execution. Only the totals so far; steps and cycles by tile come with a later reader.

/// What was recorded of the program's runs, over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExecutionTotals {
    /// Calls of `Engine::run` that were recorded.
    pub runs: u64,
    /// Steps that were recorded.
    pub steps: u64,
    /// The total that the report states, over all runs.
    pub cycles: Option<u64>,
    /// Sum of the runs' elapsed time, microseconds.
    pub elapsed_microseconds: Option<u64>,
}
