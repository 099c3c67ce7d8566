//! To which operation a variable of two reports belongs, so that differences can be put together by
//! operation.
//!
//! The operation of a name is that of all its variables in both reports
//! ([`super::variable_operations`]); those that have none do not count. An operation of the target that
//! is matched with one of the source counts as that one. Where the variables belong to different
//! operations the name belongs to several.

use std::sync::Arc;

use super::matching::Matching;
use super::operations::Operation;
use super::variable_operations::{VariableOperations, variable_operations};
use super::variables::{VariablePart, VariableRow};
use crate::store::Report;
use crate::store::liveness::VariableBytes;

/// The operations of the variables of two reports.
#[derive(Clone, Debug)]
pub struct VariableOwners {
    matching: Arc<Matching>,
    operations: [VariableOperations; 2],
}

/// What a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Owner<'a> {
    /// No operation is known.
    Unknown,
    /// This operation.
    One(&'a Operation),
    /// Several operations.
    Several,
}

impl VariableOwners {
    /// The operations of source and target; `None` where the liveness of one is absent.
    pub fn new(reports: [&Report; 2], matching: &Arc<Matching>) -> Option<Self> {
        let [source, target] = reports;
        Some(Self {
            operations: [
                variable_operations(source, &matching.source_operations)?,
                variable_operations(target, &matching.target_operations)?,
            ],
            matching: Arc::clone(matching),
        })
    }

    /// What the variables of a name belong to; rows are those of the source and of the target.
    pub fn of(&self, reports: [&Report; 2], rows: [Option<&VariableRow>; 2]) -> Owner<'_> {
        let mut owner = Owner::Unknown;
        for (side, row) in rows.into_iter().enumerate() {
            let Some((row, report)) = row.zip(reports.get(side)) else { continue };
            for part in &row.parts {
                let Some(operation) = self.of_part(side, report, part) else { continue };
                match owner {
                    Owner::Unknown => owner = Owner::One(operation),
                    Owner::One(known) if is_same(known, operation) => {}
                    _ => return Owner::Several,
                }
            }
        }
        owner
    }

    fn of_part(&self, side: usize, report: &Report, part: &VariablePart) -> Option<&Operation> {
        let operations = self.operations.get(side)?;
        let VariablePart { variable, class, bytes, .. } = *part;
        let row = VariableBytes { variable, class, bytes };
        let (place, _) = operations.of(report.liveness.get()?, &row)?;
        let place = place as usize;
        let of_source = self.matching.operations.source_of(place).filter(|_| side == 1);
        match of_source {
            Some(place) => self.operations.first()?.operations.get(place),
            None => operations.operations.get(place),
        }
    }
}

/// Operations of the same layer, kind and name count as one, in two reports too.
fn is_same(a: &Operation, b: &Operation) -> bool {
    (&a.layer, &a.kind, &a.name) == (&b.layer, &b.kind, &b.name)
}
