//! The keys by which steps are compared, from the most specific to the kind of the program alone.

use std::ops::Range;

use crate::analysis::program::step_operations::StepOperations;
use crate::store::Report;

use super::names::combine;
use super::operation_pairs::{OperationKeys, operation_keys};
use super::program_keys::{ProgramKeys, program_keys};

/// What of two steps must be equal. The kind always must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLevel {
    /// Name, operation and debug contexts.
    Exact,
    /// The operation, or the contexts where there is none, and the name without the compiler's numbers.
    Model,
    /// The operation, and the name without any number. There must be a name.
    Words,
    /// The name without the compiler's numbers. There must be one.
    Name,
    /// The operation.
    Operation,
    /// Nothing else.
    Kind,
}

/// The steps of one report, as they are compared.
pub struct StepKeys<'a> {
    /// By program.
    programs: Vec<ProgramKeys>,
    /// The program of each step, a row of `programs`.
    rows: Vec<Option<u32>>,
    /// The operation of each step; empty where operations are not compared.
    operations: &'a [Option<u32>],
    /// What operations are compared by.
    operation_keys: Vec<OperationKeys>,
}

impl<'a> StepKeys<'a> {
    /// The steps of a report. Without operations, debug contexts are not compared either.
    pub fn new(report: &Report, operations: Option<&'a StepOperations>) -> Self {
        let ids = report.programs.get().map(|programs| &programs.ids);
        let visited = report.steps.get().map_or(&[][..], |steps| &steps.programs);
        let row = |id| u32::try_from(ids?.position(id)?).ok();
        Self {
            programs: program_keys(report, operations.is_some()),
            rows: visited.iter().map(|id| row(*id)).collect(),
            operations: operations.map_or(&[], |operations| &operations.of_step),
            operation_keys: operations
                .map_or_else(Vec::new, |operations| operation_keys(&operations.operations)),
        }
    }

    pub fn operation_keys(&self) -> &[OperationKeys] {
        &self.operation_keys
    }

    pub fn set_operation_keys(&mut self, keys: Vec<OperationKeys>) {
        self.operation_keys = keys;
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The program of a step, a position in [`crate::store::program::Programs`].
    pub fn program_row(&self, step: usize) -> Option<usize> {
        self.rows.get(step).copied().flatten().map(|row| row as usize)
    }

    pub fn programs(&self) -> &[ProgramKeys] {
        &self.programs
    }

    /// The keys of a step's program; those of nothing where it is not in the file.
    pub fn program(&self, step: usize) -> ProgramKeys {
        let keys = self.program_row(step).and_then(|row| self.programs.get(row));
        keys.copied().unwrap_or_default()
    }

    /// The operation of a step, where operations are compared.
    pub fn operation(&self, step: usize) -> Option<usize> {
        self.operations.get(step).copied().flatten().map(|operation| operation as usize)
    }

    /// What a step must have in common with its partner, as a number; `None` where there is too
    /// little of it.
    pub fn key(&self, step: usize, level: StepLevel) -> Option<u64> {
        let ProgramKeys { kind, name, contexts } = self.program(step);
        let operation = self.operation(step).and_then(|row| self.operation_keys.get(row));
        let (exact, model) = operation.map_or((0, 0), |keys| (keys.exact, keys.model));
        Some(match level {
            StepLevel::Exact => combine(combine(kind, name.exact), combine(exact, contexts)),
            StepLevel::Model => {
                let place = if model == 0 { contexts } else { model };
                combine(combine(kind, name.model), place)
            }
            StepLevel::Words | StepLevel::Name if name.exact == 0 => return None,
            StepLevel::Words => combine(combine(kind, name.words), model),
            StepLevel::Name => combine(kind, name.model),
            StepLevel::Operation => combine(kind, model),
            StepLevel::Kind => kind,
        })
    }

    /// The keys of the steps of a range that have one, and which steps these are.
    pub fn keys(&self, steps: Range<usize>, level: StepLevel) -> (Vec<u64>, Vec<u32>) {
        let keyed = |step| Some((self.key(step, level)?, u32::try_from(step).ok()?));
        steps.filter_map(keyed).unzip()
    }

    /// Whether a name has numbers that may be the compiler's.
    pub fn has_numbers(&self) -> bool {
        self.programs.iter().any(|program| program.name.model != program.name.exact)
            || self.operation_keys.iter().any(|keys| keys.model != keys.exact)
    }
}
