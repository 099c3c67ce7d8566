//! The category of a value (formats/xla.md 4.2). XLA knows neither weights nor gradients, and none are made up.

use super::analysed::Analysed;
use super::held_values::HeldValues;
use crate::store::hlo::{AllocationKind, Assigned, HloModule, InstructionId};
use crate::text::words;

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ValueCategory by as_str, title {
        /// Made by a parameter of the program.
        Parameter = "parameter" | "Parameter",
        /// What the program gives back.
        Output = "output" | "Output",
        /// None of the others.
        Temporary = "temporary" | "Temporary",
        /// The addresses of the elements of a tuple.
        TupleTable = "tuple_table" | "Tuple table",
        /// In an allocation of a constant.
        Constant = "constant" | "Constant",
        /// Scratch of small called computations.
        ThreadLocal = "thread_local" | "Thread-local",
    }
}

impl ValueCategory {
    /// The category of what an allocation reserves throughout.
    pub fn of_allocation(kind: AllocationKind) -> Self {
        match kind {
            AllocationKind::Parameter => Self::Parameter,
            AllocationKind::Constant => Self::Constant,
            AllocationKind::ThreadLocal => Self::ThreadLocal,
            AllocationKind::LiveOut => Self::Output,
            AllocationKind::Temporary => Self::Temporary,
        }
    }
}

/// Whether the result of a program holds a value, by row.
pub(super) fn outputs(module: &HloModule, held: &HeldValues) -> Vec<bool> {
    let entry = module.entry.and_then(|row| module.computations.get(row as usize));
    let mut outputs = vec![false; module.values.len()];
    let root = entry.map_or(InstructionId::NONE, |entry| entry.root);
    for value in held.of_instruction(root) {
        if let Some(slot) = outputs.get_mut(value.0 as usize) {
            *slot = true;
        }
    }
    outputs
}

impl Analysed {
    /// The category of a value in its place: the first that applies.
    pub fn category(&self, assigned: &Assigned) -> ValueCategory {
        let module = &self.module;
        let kind = module.allocations.get(assigned.allocation as usize).map(|one| one.kind);
        let instruction =
            module.value(assigned.value).map_or(InstructionId::NONE, |value| value.instruction);
        let entry = module.entry.and_then(|row| module.computations.get(row as usize));
        let is_entry_parameter = match entry {
            Some(entry) => {
                entry.instructions.contains(&instruction.0)
                    && module.opcode(instruction) == "parameter"
            }
            // Of text and of a bare assignment only the allocation says it.
            None => kind == Some(AllocationKind::Parameter),
        };
        let is_output = match entry {
            Some(_) => self.outputs.get(assigned.value.0 as usize).copied().unwrap_or(false),
            None => kind == Some(AllocationKind::LiveOut),
        };
        match () {
            () if kind == Some(AllocationKind::Constant) => ValueCategory::Constant,
            () if is_entry_parameter => ValueCategory::Parameter,
            () if kind == Some(AllocationKind::ThreadLocal) => ValueCategory::ThreadLocal,
            () if module.shapes.is_tuple(module.value_shape(assigned.value)) => {
                ValueCategory::TupleTable
            }
            () if is_output => ValueCategory::Output,
            () => ValueCategory::Temporary,
        }
    }
}
