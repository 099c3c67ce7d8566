//! What steps are compared by, from what tells most apart to the mere kind of their programs.

use crate::store::Report;

use super::names::combine;
use super::program_keys::{ProgramKeys, program_keys};

/// What of two steps must be equal. The kind always must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
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
    /// A number for each operation, which its partner shares.
    codes: Vec<u64>,
    /// Tells the steps of this side that are equal to none from those of the other side.
    side: u64,
}

impl<'a> StepKeys<'a> {
    /// The steps of a report, with the operations that they belong to. `codes` are numbers of these
    /// operations; where it is `None`, neither operations nor contexts are compared.
    pub fn new(
        report: &Report,
        operations: &'a [Option<u32>],
        codes: Option<Vec<u64>>,
        side: u64,
    ) -> Self {
        let ids = report.programs.get().map(|programs| &programs.ids);
        let visited = report.steps.get().map_or(&[][..], |steps| &steps.programs);
        let row = |id| u32::try_from(ids?.position(id)?).ok();
        Self {
            programs: program_keys(report, codes.is_some()),
            rows: visited.iter().map(|id| row(*id)).collect(),
            operations: if codes.is_some() { operations } else { &[] },
            codes: codes.unwrap_or_default(),
            side,
        }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The program of a step, a position in [`crate::store::program::Programs`].
    pub fn program_row(&self, step: usize) -> Option<usize> {
        self.rows.get(step).copied().flatten().map(|row| row as usize)
    }

    /// The keys of all programs.
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

    /// What a step must have in common with its partner, as a number. A step that can have none gets a
    /// number of its own.
    pub fn key(&self, step: usize, level: Level) -> u64 {
        let ProgramKeys { kind, name, contexts } = self.program(step);
        let operation = self.operation(step).and_then(|operation| self.codes.get(operation));
        let operation = operation.copied().unwrap_or(0);
        let nothing = || combine(self.side, step as u64);
        match level {
            Level::Exact => combine(combine(kind, name.exact), combine(operation, contexts)),
            Level::Model => {
                let place = if operation == 0 { contexts } else { operation };
                combine(combine(kind, name.model), place)
            }
            Level::Words | Level::Name if name.exact == 0 => nothing(),
            Level::Words => combine(combine(kind, name.words), operation),
            Level::Name => combine(kind, name.model),
            Level::Operation => combine(kind, operation),
            Level::Kind => kind,
        }
    }

    /// The keys of some steps.
    pub fn keys(&self, steps: std::ops::Range<usize>, level: Level) -> Vec<u64> {
        steps.map(|step| self.key(step, level)).collect()
    }

    /// Whether a name has numbers that may be the compiler's.
    pub fn has_numbers(&self) -> bool {
        self.programs.iter().any(|program| program.name.model != program.name.exact)
    }
}
