//! The peak of a run, and the memory that it takes in all.

use serde::Serialize;

/// Bytes of a run; `None` where they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct MemoryTotals {
    /// The moment that they are of, where they change as the run goes on; else empty.
    #[serde(skip)]
    pub moment: &'static str,
    /// Of all that is placed.
    pub total_bytes: Option<u64>,
    /// The same with gaps.
    pub including_gaps_bytes: Option<u64>,
    /// Of the gaps.
    pub gap_bytes: Option<u64>,
    /// Of what is there from the first step to the last.
    pub always_live_bytes: Option<u64>,
}

/// The step at which most is alive, and who owns it. The rows of each list add up to `bytes`; a list that the system
/// cannot fill is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PeakOfRun {
    /// The number of the device; `None` for all of them together.
    pub device: Option<i64>,
    /// The step, by the number that the system gives it.
    pub step: Option<i64>,
    /// The kind of the step.
    pub kind: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// The operation that it belongs to.
    pub operation: Option<String>,
    /// Whether that operation is the one that made its operands, for the step has none of its own.
    pub operation_by_operand: bool,
    /// The calls in the user's code, the innermost first: `path:line (function)`.
    pub stack: Vec<String>,
    /// Bytes that are alive.
    pub bytes: u64,
    /// Bytes of them that are there from the first step to the last.
    pub always_live_bytes: Option<u64>,
    /// By what they are for.
    pub by_category: Vec<PeakRow>,
    /// By operation.
    pub by_operation: Vec<PeakRow>,
    /// By module of the model.
    pub by_module: Vec<PeakRow>,
    /// By line of the user's code: `path:line (function)`.
    pub by_line: Vec<PeakRow>,
    /// The largest variables.
    pub largest: Vec<PeakVariable>,
}

/// Bytes of a group at the peak.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PeakRow {
    /// What the group is called: a category by its key.
    pub name: String,
    /// Its bytes; addresses that several share count once.
    pub bytes: u64,
    /// Things in it: blocks, values, variables.
    pub count: u64,
}

/// A variable that is alive at the peak.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PeakVariable {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// The key of its category.
    pub category: Option<String>,
    /// The operation that it belongs to.
    pub operation: Option<String>,
}
