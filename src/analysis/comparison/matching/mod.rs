//! Matching of two reports: which rows of the source and of the target belong together.
//!
//! Numbers of steps, programs and compute sets differ from one compilation to the next, and the compiler
//! plans operations differently. So rows are matched by name and order of occurrence. The steps come
//! first: they are aligned (`step_pairs`), by kind, name, operation and debug contexts. Operations,
//! programs, compute sets and exchanges follow from them; variables go by their names alone.
//!
//! Nothing depends on which report is the source: swapped, the pairs are the same.

mod alignment;
mod anchors;
mod followers;
mod links;
mod names;
mod occurrence;
mod operation_pairs;
pub mod pairs;
mod program_keys;
mod shortest_edit;
mod step_keys;
mod step_pairs;

use std::sync::Arc;

use crate::store::Report;

use crate::analysis::program::step_operations::{StepOperations, step_operations};

use followers::{match_compute_sets, match_exchanges, match_programs};
use occurrence::pair_by_name;
use operation_pairs::{match_operations, operation_keys};
use step_keys::StepKeys;
use step_pairs::match_steps;

pub(super) use anchors::in_order;
pub use pairs::{MatchCounts, Pairs, Sureness};

/// Whether the user waits no longer.
type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

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
    /// The operations of source and target; none where debug contexts are absent.
    pub step_operations: [Arc<StepOperations>; 2],
}

/// Matches two reports. `None` when it was canceled, or a side has no steps.
pub fn match_reports(
    source: &Report,
    target: &Report,
    is_cancelled: Cancelled<'_>,
) -> Option<Matching> {
    if source.steps.get()?.ids.is_empty() || target.steps.get()?.ids.is_empty() {
        return None;
    }
    let (from, to) = rayon::join(|| step_operations(source), || step_operations(target));
    // Debug information that was cut has lost names: it does not tell operations apart.
    let has_names = |report: &Report| {
        report.has_whole_debug_info()
            && report.debug.get().is_some_and(|debug| !debug.texts.is_empty())
    };
    let is_compared = has_names(source) && has_names(target);
    let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
    let (mut source_keys, mut target_keys) = rayon::join(
        || StepKeys::new(source, is_compared.then_some(&from)),
        || StepKeys::new(target, is_compared.then_some(&to)),
    );
    let names = [&from.operations[..], &to.operations[..]];
    let (steps, variables) = rayon::join(
        || match_steps(&mut source_keys, &mut target_keys, names, is_cancelled),
        || match_variables(source, target),
    );
    let (steps, operations) = steps?;
    let operations = if is_compared {
        operations
    } else {
        let keys = [&from, &to].map(|found| operation_keys(&found.operations));
        match_operations(&keys[0], &keys[1], std::iter::empty())
    };
    let programs = match_programs(&steps, &source_keys, &target_keys);
    if is_cancelled() {
        return None;
    }
    let (compute_sets, exchanges) = rayon::join(
        || match_compute_sets(&programs, source, target),
        || match_exchanges(&programs, source, target),
    );
    drop((source_keys, target_keys));
    Some(Matching {
        steps,
        programs,
        compute_sets,
        exchanges,
        variables,
        operations,
        step_operations: [from, to].map(Arc::new),
    })
}

/// Variables before lowering, by name and order of occurrence.
fn match_variables(source: &Report, target: &Report) -> Pairs {
    let (Some(from), Some(to)) = (source.liveness.get(), target.liveness.get()) else {
        return Pairs::default();
    };
    let mut pairs = Pairs::new(from.variable_ids.len(), to.variable_ids.len());
    pair_by_name(&mut pairs, &from.variable_names, &to.variable_names);
    pairs
}
