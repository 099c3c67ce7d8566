//! The owners of the bytes of two reports, matched with each other: operations, modules of the network, variables. Made
//! once for a pair of reports.

use std::sync::Arc;

use super::contribution::OperationName;
use super::join::{Join, JoinedRow};
use super::owners::Owners;
use crate::analysis::comparison::matching::Matching;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::variable_name;
use crate::analysis::program::operations::modules_of;
use crate::store::Report;
use crate::store::liveness::Liveness;

/// Tables of what two reports have: a row for what belongs together.
#[derive(Clone, Debug, Default)]
pub struct Attribution {
    owners: [Arc<Owners>; 2],
    /// The operations of both.
    pub operations: Join,
    /// The variables before lowering of both, those of one name together.
    pub variables: Join,
    /// For each row of `operations` its module, a position in `modules`.
    pub module_of: Vec<usize>,
    /// Modules of the network.
    pub modules: Vec<String>,
    /// Whether both reports name operations, by whole debug information: else what one of them names would
    /// seem to be the other's loss or gain.
    pub has_operations: bool,
}

impl Attribution {
    /// Of two reports and their matching. Where debug contexts are absent nothing belongs to an
    /// operation.
    pub fn of(reports: [&Report; 2], matching: &Matching) -> Self {
        let [source, target] = reports;
        let [of_source, of_target] = &matching.step_operations;
        let owners: [Owners; 2] =
            rayon::join(|| Owners::of(source, of_source), || Owners::of(target, of_target)).into();
        Self::with(reports, matching, owners.map(Arc::new))
    }

    /// The same where it is known already what belongs to which operation.
    pub fn with(reports: [&Report; 2], matching: &Matching, owners: [Arc<Owners>; 2]) -> Self {
        let names = owners.each_ref().map(|owners| {
            owners.operations().iter().map(|found| (&found.layer, &found.kind, &found.name))
        });
        let operations = Join::new(names, &matching.operations);
        let names = |liveness| {
            let liveness: &Liveness = liveness;
            liveness.variable_ids.as_slice().iter().map(|id| variable_name(liveness, *id))
        };
        let names = reports.map(|report| report.liveness.get().into_iter().flat_map(names));
        let variables = Join::new(names, &matching.variables);
        let has_operations = reports.iter().all(|report| report.has_whole_debug_info())
            && matching.step_operations.iter().all(|found| !found.operations.is_empty());
        let mut attribution =
            Self { owners, operations, variables, has_operations, ..Self::default() };
        let names = attribution.operations.rows().iter();
        let names = names.filter_map(|row| attribution.operation_name(row));
        (attribution.modules, attribution.module_of) = modules_of(names);
        attribution
    }

    pub fn owners(&self, side: Side) -> &Owners {
        side.of(self.owners.each_ref().map(|owners| &**owners))
    }

    /// What the operation of a row is called, in the source where it is there.
    pub fn operation_name(&self, row: &JoinedRow) -> Option<OperationName> {
        self.owners(row.side).operations().get(row.item).map(OperationName::of)
    }
}
