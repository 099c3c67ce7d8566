//! What is known of values: their shapes and padding, what makes and what uses them. A value is a variable of the report by
//! its row; behind all values come the allocations that are reserved throughout, of which the largest value speaks.

use std::collections::HashMap;

use super::buffer_assignment::analysed::Analysed;
use super::buffer_assignment::facts::known_padding;
use super::buffer_assignment::program::AnalysedModule;
use crate::limits;
use crate::run::{VariableBrief, VariableDetails};
use crate::store::UnloweredId;
use crate::store::hlo::{
    AllocationKind, BufferAllocation, ElementType, HloModule, InstructionId, ValueId,
};

/// Operands and users that are named in one answer, at most.
const MOST_NAMED: usize = 1 << 18;

/// The variable of each allocation, by its row: of a temporary one that of what comes next.
pub(super) fn variables_of_reserved(module: &HloModule) -> Vec<UnloweredId> {
    let mut next = u32::try_from(module.values.len()).unwrap_or(u32::MAX);
    let variable = |allocation: &BufferAllocation| {
        let variable = UnloweredId(next);
        next = next.saturating_add(u32::from(allocation.kind != AllocationKind::Temporary));
        variable
    };
    module.allocations.iter().map(variable).collect()
}

/// Of the bytes that an allocation reserves those that are padding of its largest value; `None` where that is not known.
pub(super) fn padding_of_reserved(
    module: &HloModule,
    allocation: &BufferAllocation,
    main: ValueId,
) -> Option<u64> {
    let bytes = module.value(main)?.bytes;
    Some(known_padding(module, main, bytes)?.min(allocation.bytes))
}

/// The values of variables, with the allocation of what is reserved throughout.
struct Behind<'a> {
    module: &'a HloModule,
    reserved: Vec<(ValueId, &'a BufferAllocation)>,
}

impl<'a> Behind<'a> {
    fn of(analysed: &'a Analysed) -> Self {
        let module = &analysed.module;
        let all = analysed.largest_values().into_iter().zip(&module.allocations);
        let reserved = all.filter(|(_, one)| one.kind != AllocationKind::Temporary).collect();
        Self { module, reserved }
    }

    fn value(&self, variable: UnloweredId) -> Option<(ValueId, Option<&'a BufferAllocation>)> {
        match (variable.0 as usize).checked_sub(self.module.values.len()) {
            Some(row) => self.reserved.get(row).map(|(main, one)| (*main, Some(*one))),
            None => Some((ValueId(variable.0), None)),
        }
    }

    fn padding(&self, variable: UnloweredId) -> Option<u64> {
        match self.value(variable)? {
            (value, Some(allocation)) => padding_of_reserved(self.module, allocation, value),
            (value, None) => known_padding(self.module, value, self.module.value(value)?.bytes),
        }
    }
}

/// What lists say of variables.
pub(super) fn briefs(program: &AnalysedModule, variables: &[UnloweredId]) -> Vec<VariableBrief> {
    let behind = Behind::of(&program.analysed);
    let module = behind.module;
    let brief = |variable: &UnloweredId| {
        let value = behind.value(*variable).map(|(value, _)| value);
        VariableBrief {
            shape: value
                .map_or_else(String::new, |value| module.shapes.title(module.value_shape(value))),
            operation: value.and_then(|value| program.analysed.operation(value)).map(str::to_owned),
            padding_bytes: behind.padding(*variable),
        }
    };
    variables.iter().map(brief).collect()
}

/// All that is known of variables.
pub(super) fn details(program: &AnalysedModule, variables: &[UnloweredId]) -> Vec<VariableDetails> {
    let analysed = &program.analysed;
    let behind = Behind::of(analysed);
    let module = behind.module;
    let values: Vec<Option<ValueId>> =
        variables.iter().map(|variable| behind.value(*variable).map(|(value, _)| value)).collect();
    let operands: Vec<&[u32]> = values.iter().map(|value| operands_of(module, *value)).collect();
    let users = users_of(analysed, &values);
    let all = operands.iter().copied().chain(users.iter().map(Vec::as_slice)).flatten();
    let (count, bytes) = all.fold((0_usize, 0_usize), |(count, bytes), row| {
        let name = module.instruction_name(InstructionId(*row));
        (count.saturating_add(1), bytes.saturating_add(name.len()))
    });
    // Names stand here again and again.
    let most = limits::name_bytes(count, bytes).unwrap_or(limits::NAME_BYTES);
    let name =
        |row: &u32| limits::cut(module.instruction_name(InstructionId(*row)), most).into_owned();
    let firsts = first_of_groups(analysed, &values);
    let memory_of = |value: ValueId| {
        let first = firsts.get(&analysed.group(value)?).map(|(.., first)| *first)?;
        (first != value).then(|| program.value_name(first))
    };
    let mut left = MOST_NAMED;
    let mut names = |rows: &[u32]| {
        let named: Vec<String> = rows.iter().take(left).map(name).collect();
        left = left.saturating_sub(named.len());
        named
    };
    let all = values.into_iter().zip(operands).zip(users);
    all.map(|((value, operands), users)| VariableDetails {
        operands: names(operands),
        users: names(&users),
        memory_of: value.and_then(memory_of),
        ..value.map_or_else(VariableDetails::default, |value| of_value(analysed, value))
    })
    .collect()
}

/// What is known of a value, but for what it is made of and what uses it.
fn of_value(analysed: &Analysed, value: ValueId) -> VariableDetails {
    let module = &analysed.module;
    let shape = module.value_shape(value);
    let instruction = module.value(value).map(|value| value.instruction);
    let stack = analysed.group(value).and_then(|group| analysed.makers.stacks.get(&group));
    let made_by = stack.map(|stack| stack.maker).or(instruction);
    let named = |id: InstructionId| {
        Some(module.instruction_name(id).to_owned()).filter(|name| !name.is_empty())
    };
    let kind = |id: InstructionId| match module.fusion_kind(id) {
        Some(kind) => format!("{} {kind}", module.opcode(id)),
        None => module.opcode(id).to_owned(),
    };
    let is_tuple = module.shapes.is_tuple(shape);
    let element_type = module.shapes.element_type(shape).filter(|_| !is_tuple);
    VariableDetails {
        shape: Some(module.shapes.title(shape)).filter(|title| !title.is_empty()),
        element_type: element_type.map(ElementType::title),
        layout: module.shapes.layout(shape, &module.texts).map(str::to_owned),
        unpadded_bytes: module.shapes.unpadded_bytes(shape),
        padded_bytes: module.value(value).map(|value| value.bytes),
        made_by: made_by.and_then(named),
        made_by_kind: made_by.map(kind).filter(|kind| !kind.is_empty()),
        filled_by: stack.and_then(|stack| named(stack.update)),
        layers: stack.map(|stack| stack.layers),
        operation: analysed.operation(value).map(str::to_owned),
        source: analysed.source(value),
        ..VariableDetails::default()
    }
}

/// Of the groups of wanted values the value that is there first, with its first position and its id: an error text of XLA
/// calls the memory of all of them by its name, as that of `AllocateBuffer` where a loop fills it.
fn first_of_groups(
    analysed: &Analysed,
    values: &[Option<ValueId>],
) -> HashMap<u32, (u32, i64, ValueId)> {
    let none = (u32::MAX, i64::MAX, ValueId::NONE);
    let groups = values.iter().flatten().filter_map(|value| analysed.group(*value));
    let mut firsts: HashMap<u32, (u32, i64, ValueId)> = groups.map(|of| (of, none)).collect();
    for (row, value) in (0_u32..).zip(&analysed.module.values) {
        let id = ValueId(row);
        let first = analysed.group(id).and_then(|group| firsts.get_mut(&group));
        if let Some((first, range)) = first.zip(analysed.ranges.get(id)) {
            *first = (*first).min((range.start, value.id, id));
        }
    }
    firsts.retain(|_, (.., first)| *first != ValueId::NONE);
    firsts
}

/// Rows of the operands of the instruction that holds a value.
fn operands_of(module: &HloModule, value: Option<ValueId>) -> &[u32] {
    let value = value.and_then(|value| module.value(value));
    value.map_or(&[], |value| module.instructions.operands.of(value.instruction.0))
}

/// Rows of the instructions that use values, in the order in which they run: what only hands a value on is none.
fn users_of(analysed: &Analysed, values: &[Option<ValueId>]) -> Vec<Vec<u32>> {
    let module = &analysed.module;
    let mut users = vec![Vec::new(); values.len()];
    let mut wanted: HashMap<ValueId, Vec<usize>> = HashMap::new();
    for (place, value) in values.iter().enumerate() {
        if let Some(value) = value.filter(|value| *value != ValueId::NONE) {
            wanted.entry(value).or_default().push(place);
        }
    }
    // The wanted values that each instruction holds.
    let held_by = |row: u32| {
        let held = analysed.held.of_instruction(InstructionId(row));
        held.filter(|value| wanted.contains_key(value)).collect::<Vec<_>>()
    };
    let held: Vec<Vec<ValueId>> = (0..module.instructions.len() as u32).map(held_by).collect();
    let mut left = MOST_NAMED;
    for id in &analysed.schedule.instructions {
        if hands_on(module.opcode(*id)) {
            continue;
        }
        for operand in module.instructions.operands.of(id.0) {
            for value in held.get(*operand as usize).into_iter().flatten() {
                for place in wanted.get(value).into_iter().flatten() {
                    let users = users.get_mut(*place).filter(|users| users.last() != Some(&id.0));
                    let Some(users) = users else { continue };
                    users.push(id.0);
                    left = left.saturating_sub(1);
                }
            }
            if left == 0 {
                return users;
            }
        }
    }
    users
}

/// Whether an instruction only hands on what it is given.
pub(super) fn hands_on(opcode: &str) -> bool {
    matches!(
        opcode,
        "tuple"
            | "get-tuple-element"
            | "bitcast"
            | "domain"
            | "optimization-barrier"
            | "opt-barrier"
            | "add-dependency"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::xla::buffer_assignment::hand_made::scanned;

    #[test]
    fn what_a_loop_stacks_is_made_by_what_makes_a_layer() {
        let made = scanned(8);
        let program = AnalysedModule::of(made.module);
        let all = details(&program, &[UnloweredId(made.stack.0)]);
        let module = &program.analysed.module;
        let stack = all.first().expect("a value");
        assert_eq!(stack.made_by.as_deref(), Some(module.instruction_name(made.maker)));
        assert_eq!(stack.layers, Some(6));
        assert_eq!(stack.unpadded_bytes, stack.padded_bytes);
    }

    #[test]
    fn users_are_those_that_work_on_a_value_and_not_those_that_hand_it_on() {
        let program = AnalysedModule::of(scanned(8).module);
        let module = &program.analysed.module;
        let variables: Vec<UnloweredId> =
            (0..module.values.len() as u32).map(UnloweredId).collect();
        let all = details(&program, &variables);
        let named = |name: &String| {
            let of = |id: &InstructionId| module.instruction_name(*id) == name.as_str();
            (0..module.instructions.len() as u32).map(InstructionId).find(of).expect("named")
        };
        let users: Vec<InstructionId> =
            all.iter().flat_map(|details| &details.users).map(named).collect();
        assert!(!users.is_empty());
        assert!(users.iter().all(|id| !hands_on(module.opcode(*id))));
    }
}
