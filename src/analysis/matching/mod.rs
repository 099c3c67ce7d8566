//! Matching of two reports: which rows of the source and of the target belong together.

pub mod aligned_steps;
pub mod pairs;

use std::sync::Arc;

use crate::store::Report;

use super::step_operations::{StepOperations, step_operations};
use super::steps;

pub use aligned_steps::AlignedSteps;
pub use pairs::{MatchCounts, Pairs, Sureness};

/// Which rows of two reports belong together. Rows are positions in the columns of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matching {
    /// Steps, positions in [`crate::store::program::Steps`]. An alignment: of two pairs, the one that
    /// comes first in the source comes first in the target.
    pub steps: Pairs,
    /// Programs, positions in [`crate::store::program::Programs::ids`].
    pub programs: Pairs,
    /// Compute sets, positions in [`crate::store::compute::ComputeSets::ids`].
    pub compute_sets: Pairs,
    /// Exchanges, positions in [`crate::store::exchange::Exchanges::ids`]; none where a side does not
    /// have that part.
    pub exchanges: Pairs,
    /// Variables before lowering, positions in [`crate::store::liveness::Liveness::variable_ids`].
    pub variables: Pairs,
    /// Operations, positions in [`StepOperations::operations`] of each side.
    pub operations: Pairs,
    /// The operations of the source; none where debug contexts are absent.
    pub source_operations: Arc<StepOperations>,
    /// The operations of the target; none where debug contexts are absent.
    pub target_operations: Arc<StepOperations>,
}

/// Matches two reports. `None` when it was cancelled, or a side has no steps.
pub fn match_reports(
    source: &Report,
    target: &Report,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Matching> {
    let (source_len, target_len) = (source.steps.get()?.ids.len(), target.steps.get()?.ids.len());
    if source_len == 0 || target_len == 0 || is_cancelled() {
        return None;
    }
    let mut steps = Pairs::new(source_len, target_len);
    for step in 0..source_len.min(target_len) {
        if steps::name(source, step) != steps::name(target, step) {
            break;
        }
        steps.pair(step, step, Sureness::Exact);
    }
    Some(Matching {
        steps,
        source_operations: Arc::new(step_operations(source).unwrap_or_default()),
        target_operations: Arc::new(step_operations(target).unwrap_or_default()),
        ..Matching::default()
    })
}
