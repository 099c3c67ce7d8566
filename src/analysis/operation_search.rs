//! The search for operations by a part of their names, whatever its case, in the order in which variables are found.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::derived::Derived;
use crate::analysis::liveness::variable_search::rank;
use crate::analysis::program::operations::OperationName;

/// The operations of some runs by a part of their names, at most so many of them, and how many there are in all.
pub fn find_operations(
    runs: &[Arc<Derived>],
    text: &str,
    most: usize,
    is_cancelled: &dyn Fn() -> bool,
) -> (Vec<OperationName>, usize) {
    let wanted = text.to_lowercase();
    let mut found: BTreeMap<(u8, usize, String), OperationName> = BTreeMap::new();
    for run in runs {
        for (place, operation) in run.owners().operations().iter().enumerate() {
            if place.is_multiple_of(4096) && is_cancelled() {
                return (Vec::new(), 0);
            }
            let Some(name) = &operation.name else { continue };
            if let Some(rank) = rank(name, &wanted) {
                let key = (rank, name.len(), name.clone());
                found.entry(key).or_insert_with(|| OperationName::of(operation));
            }
        }
    }
    let count = found.len();
    (found.into_values().take(most).collect(), count)
}
