//! The operation that each row of a report belongs to: variables, programs, exchanges, compute sets.
//!
//! A variable belongs to an operation as [`crate::analysis::program::variable_operations`] says. A program and a
//! compute set belong to that of their debug context, an exchange to that of the programs that run it,
//! where those that belong to any belong to one.

use std::collections::HashMap;

use crate::analysis::memory::over_tiles::sum;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::control_code::own_control_code;
use crate::analysis::program::operations::Operation;
use crate::analysis::program::step_operations::{FoundOperations, StepOperations};
use crate::analysis::program::variable_operations::{VariableOperations, variable_operations};
use crate::store::Report;
use crate::store::exchange::{ExchangeId, ExchangeKind};

/// The operation that owns something, and how much that is.
pub type Owned = (Option<u32>, Option<u64>);

/// The operations of the rows of one report.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    /// Of the variables, with the list of all operations: those of the steps first.
    pub variables: VariableOperations,
    /// For each compute set its operation, a position in [`Self::operations`].
    pub compute_sets: Vec<Option<u32>>,
    /// The same for each program.
    pub programs: Vec<Option<u32>>,
    exchanges: HashMap<ExchangeId, Option<u32>>,
}

impl Owners {
    /// Nothing belongs to an operation where debug contexts are absent. Exchanges are found by their
    /// programs, so they need not be read.
    pub fn of(report: &Report, steps: &StepOperations) -> Self {
        let mut variables = variable_operations(report, steps).unwrap_or_default();
        let Some(debug) = report.debug.get() else {
            return Self { variables, ..Self::default() };
        };
        let known = std::mem::take(&mut variables.operations);
        let mut found = FoundOperations::new(debug, &known, steps.layer.as_ref());
        let sets = report.compute_sets.get().map_or(&[][..], |sets| &sets.debug_ids);
        let compute_sets = sets.iter().map(|id| found.of_context(*id)).collect();
        let mut exchanges: HashMap<ExchangeId, Option<u32>> = HashMap::new();
        let mut of_program = Vec::new();
        if let Some(programs) = report.programs.get() {
            of_program.extend(programs.debug_ids.iter().map(|id| found.of_context(*id)));
            for (exchange, operation) in programs.exchanges.iter().zip(&of_program) {
                let (Some(exchange), Some(operation)) = (*exchange, *operation) else { continue };
                exchanges
                    .entry(exchange)
                    .and_modify(|owner| *owner = owner.filter(|owner| *owner == operation))
                    .or_insert(Some(operation));
            }
        }
        variables.operations = found.operations;
        Self { variables, compute_sets, programs: of_program, exchanges }
    }

    /// All operations of the report that anything belongs to.
    pub fn operations(&self) -> &[Operation] {
        &self.variables.operations
    }

    /// For each internal exchange its owner and its code on tiles, bytes; `None` where exchanges are absent.
    pub fn exchange_code(&self, report: &Report, tiles: &TileSelection) -> Option<Vec<Owned>> {
        let exchanges = report.exchanges.get()?;
        let all = exchanges.ids.iter().zip(&exchanges.code);
        let internal = all.filter(|(id, _)| id.kind == ExchangeKind::Internal);
        Some(
            internal.map(|(id, code)| (self.of_exchange(*id), sum(code.as_ref(), tiles))).collect(),
        )
    }

    /// For each program its owner and its own control code on tiles, bytes; `None` where that is absent.
    pub fn control_code(&self, report: &Report, tiles: &TileSelection) -> Option<Vec<Owned>> {
        let own = own_control_code(report, tiles)?.into_iter().map(Some);
        Some(self.programs.iter().copied().zip(own).collect())
    }

    /// The operation of a program of the final compilation step, by its position.
    pub fn of_program(&self, program: usize) -> Option<u32> {
        *self.programs.get(program)?
    }

    pub fn of_exchange(&self, id: ExchangeId) -> Option<u32> {
        *self.exchanges.get(&id)?
    }
}
