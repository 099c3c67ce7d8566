//! Compute sets. Their vertices by tile come with a later reader.

use super::ids::{ComputeSetId, IdColumn};
use super::names::Names;

/// Columns of `compute_sets`.
#[derive(Clone, Debug, Default)]
pub struct ComputeSets {
    /// The compute sets.
    pub ids: IdColumn<ComputeSetId>,
    /// Their names, not unique.
    pub names: Names,
    /// Vertices in each; `None` where the list could not be decoded.
    pub vertices: Vec<Option<u64>>,
    /// Edges of each.
    pub edges: Vec<Option<u64>>,
    /// Debug context of each, 0 for none.
    pub debug_ids: Vec<u64>,
}
