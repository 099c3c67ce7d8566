//! The snapshot of a run, for pages that still draw snapshots by themselves.

use std::sync::Arc;

use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::ui::runs::{Run, Runs};

/// The snapshot of a run.
pub fn snapshot_of(run: &Run) -> Option<&Arc<ReplayedSnapshot>> {
    run.derived.snapshot()
}

/// Whether all runs are snapshots.
pub fn are_snapshots(runs: &Runs) -> bool {
    runs.iter().all(|run| snapshot_of(run).is_some())
}
