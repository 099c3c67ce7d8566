//! Results whose memory a parameter could give.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::analysed::Analysed;
use super::held_values::HeldValues;
use crate::store::hlo::{AllocationKind, BufferAllocation, ElementType, HloModule, ValueId};

/// A result that could take over the memory of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Donatable {
    pub parameter: ValueId,
    pub result: ValueId,
    pub bytes: u64,
}

/// Results in the main memory that have memory of their own there, and the type and dimensions of a parameter that is
/// not donated, each parameter used once, in their order. A result that is returned twice has its memory once.
pub(super) fn donatable(module: &HloModule, held: &HeldValues) -> Vec<Donatable> {
    let mut kinds: Vec<Option<&BufferAllocation>> = vec![None; module.values.len()];
    for assigned in &module.assigned {
        if let Some(slot) = kinds.get_mut(assigned.value.0 as usize) {
            *slot = module.allocations.get(assigned.allocation as usize);
        }
    }
    let allocation = |value: ValueId| {
        let found = kinds.get(value.0 as usize).copied().flatten();
        found.filter(|one| one.color == 0)
    };
    let key = |value: ValueId| {
        let shape = module.value_shape(value);
        let kind = module.shapes.element_type(shape)?;
        (kind != ElementType::TUPLE).then(|| (kind, module.shapes.dimensions(shape)))
    };
    let mut free: HashMap<(ElementType, &[i64]), VecDeque<ValueId>> = HashMap::new();
    let parameters: BTreeMap<_, _> = module.entry_parameters().into_iter().collect();
    for id in parameters.into_values() {
        for value in held.of_instruction(id) {
            let is_kept = allocation(value).is_some_and(|one| !one.is_donated());
            if let Some(key) = key(value).filter(|_| is_kept) {
                free.entry(key).or_default().push_back(value);
            }
        }
    }
    let entry = module.entry.and_then(|row| module.computations.get(row as usize));
    let Some(root) = entry.map(|entry| entry.root) else { return Vec::new() };
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for result in held.of_instruction(root).filter(|result| seen.insert(*result)) {
        let is_result = allocation(result).is_some_and(|one| one.kind == AllocationKind::LiveOut);
        let Some(key) = key(result).filter(|_| is_result) else { continue };
        if let Some(parameter) = free.get_mut(&key).and_then(VecDeque::pop_front) {
            let bytes = module.value(result).map_or(0, |value| value.bytes);
            found.push(Donatable { parameter, result, bytes });
        }
    }
    found
}

impl Analysed {
    /// Bytes of [`Self::donatable`].
    pub fn donatable_bytes(&self) -> u64 {
        self.donatable.iter().fold(0, |sum, one| sum.saturating_add(one.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::{Assigned, Computation, HloValue, InstructionId, NO_ROW};
    use crate::store::names::NameId;

    /// A program with parameters and results, which it returns as a tuple in some order; of each result its kind of
    /// allocation and memory space. All are of one type and dimension, and of 16 bytes.
    fn program(parameters: u32, results: &[(AllocationKind, i64)], returned: &[u32]) -> Analysed {
        let mut module = HloModule::default();
        let leaf = |module: &mut HloModule| {
            let shape = module.shapes.open(ElementType(11), &[4]);
            module.shapes.close(shape, &[]);
            shape
        };
        let single = leaf(&mut module);
        let tuple = module.shapes.open(ElementType::TUPLE, &[]);
        let elements: Vec<_> = returned.iter().map(|_| leaf(&mut module)).collect();
        module.shapes.close(tuple, &elements);
        let is_parameter = |row: u32| row < parameters;
        let root = parameters + results.len() as u32;
        for row in 0..=root {
            let (opcode, shape, operands) = match row {
                row if is_parameter(row) => ("parameter", single, Vec::new()),
                row if row == root => {
                    ("tuple", tuple, returned.iter().map(|one| parameters + one).collect())
                }
                _ => ("add", single, vec![0, 0]),
            };
            let texts = [module.texts.push(&format!("i.{row}")), module.texts.push(opcode)];
            let columns = &mut module.instructions;
            columns.names.push(texts[0]);
            columns.opcodes.push(texts[1]);
            columns.shapes.push(shape);
            columns.op_names.push(NameId::NONE);
            columns.sources.push((NameId::NONE, 0));
            columns.numbers.push(if is_parameter(row) { row } else { NO_ROW });
            columns.operands.push(operands);
            columns.called.push([]);
        }
        module.computations.push(Computation {
            name: NameId::NONE,
            instructions: 0..root + 1,
            root: InstructionId(root),
            sequence: (0..=root).map(InstructionId).collect(),
        });
        module.entry = Some(0);
        let of_parameters = (0..parameters)
            .map(|number| (AllocationKind::Parameter, 0, Some((i64::from(number), 0))));
        let of_results = results.iter().map(|(kind, color)| (*kind, *color, None));
        for (row, (kind, color, _)) in (0..).zip(of_parameters.chain(of_results)) {
            let instruction = InstructionId(row);
            module.values.push(HloValue { id: i64::from(row), bytes: 16, instruction, place: 0 });
            module.allocations.push(BufferAllocation {
                number: i64::from(row),
                bytes: 16,
                kind,
                is_live_out: kind == AllocationKind::LiveOut,
                color,
                parameter: None,
            });
            let (allocation, value) = (row, ValueId(row));
            module.assigned.push(Assigned { allocation, value, offset: 0, bytes: 16 });
        }
        Analysed::of(module)
    }

    #[test]
    fn only_what_has_memory_of_its_own_in_the_main_memory_could_take_over_a_parameter() {
        use AllocationKind::{Constant, LiveOut, Temporary};
        let bytes = |parameters, results: &[_], returned: &[u32]| {
            program(parameters, results, returned).donatable_bytes()
        };
        let out = (LiveOut, 0);
        assert_eq!(bytes(3, &[out], &[0]), 16);
        assert_eq!(bytes(1, &[out, out], &[0, 1]), 16, "each parameter once");
        assert_eq!(bytes(3, &[out], &[0, 0, 0]), 16, "it is returned thrice and there once");
        assert_eq!(bytes(3, &[(LiveOut, 1), out], &[0, 1]), 16, "one is in another memory space");
        assert_eq!(bytes(3, &[(Constant, 0), (Temporary, 0), out], &[0, 1, 2]), 16);
    }
}
