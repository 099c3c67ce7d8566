//! The value that an instruction holds at each place of its shape (formats/xla.md 5.2).

use super::schedule::Schedule;
use crate::store::hlo::{HloModule, InstructionId, ShapeId, ValueId};

/// Not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// The values by instruction and place.
#[derive(Clone, Debug, Default)]
pub struct HeldValues {
    starts: Vec<usize>,
    values: Vec<u32>,
}

impl HeldValues {
    /// Follows every place of every instruction to the value that it holds.
    pub fn of(module: &HloModule, schedule: &Schedule) -> Self {
        let mut held = Self::default();
        let mut count = 0;
        for shape in &module.instructions.shapes {
            held.starts.push(count);
            count += module.shapes.places(*shape) as usize;
        }
        held.starts.push(count);
        held.values = vec![UNKNOWN; count];
        for (row, value) in (0_u32..).zip(&module.values) {
            if let Some(slot) = held.slot(value.instruction, value.place) {
                held.values[slot] = row;
            }
        }
        let mut path: Vec<usize> = Vec::new();
        for row in 0..module.instructions.len() as u32 {
            let id = InstructionId(row);
            for place in 0..module.shapes.places(module.instructions.shape(id)) {
                let mut next = Some((id, place));
                let mut found = ValueId::NONE.0;
                while let Some((id, place)) = next.take() {
                    let Some(slot) = held.slot(id, place) else { break };
                    if held.values[slot] != UNKNOWN {
                        found = held.values[slot];
                        break;
                    }
                    // Whoever comes here again runs in a circle, and finds none.
                    held.values[slot] = ValueId::NONE.0;
                    path.push(slot);
                    next = source(module, schedule, id, place);
                }
                for slot in path.drain(..) {
                    held.values[slot] = found;
                }
            }
        }
        held
    }

    /// The value that an instruction holds at a place.
    pub fn at(&self, id: InstructionId, place: u32) -> ValueId {
        self.slot(id, place).map_or(ValueId::NONE, |slot| ValueId(self.values[slot]))
    }

    /// The values at all places of an instruction.
    pub fn of_instruction(&self, id: InstructionId) -> impl Iterator<Item = ValueId> {
        let row = id.0 as usize;
        let range = match (self.starts.get(row), self.starts.get(row.saturating_add(1))) {
            (Some(start), Some(end)) => *start..*end,
            _ => 0..0,
        };
        self.values[range].iter().map(|value| ValueId(*value))
    }

    fn slot(&self, id: InstructionId, place: u32) -> Option<usize> {
        let row = id.0 as usize;
        let start = *self.starts.get(row)?;
        let slot = start + place as usize;
        (slot < *self.starts.get(row + 1)?).then_some(slot)
    }
}

/// From where an instruction has what it holds at a place, unless it makes it.
pub(super) fn source(
    module: &HloModule,
    schedule: &Schedule,
    id: InstructionId,
    place: u32,
) -> Option<(InstructionId, u32)> {
    let instructions = &module.instructions;
    let shapes = &module.shapes;
    let operand = |number: usize| {
        let row = instructions.operands.of(id.0).get(number)?;
        Some(InstructionId(*row))
    };
    let shape = instructions.shape(id);
    // The place behind the beginning of an element of a tuple.
    let behind = |shape: ShapeId, element: u32, place: u32| {
        shapes.element(shape, element)?.checked_add(place)
    };
    let root_of = |called: usize| {
        let row = *instructions.called.of(id.0).get(called)?;
        Some(module.computations.get(row as usize)?.root)
    };
    match module.opcode(id) {
        "get-tuple-element" => {
            let from = operand(0)?;
            let number = *instructions.numbers.get(id.0 as usize)?;
            Some((from, behind(instructions.shape(from), number, place)?))
        }
        "tuple" => {
            let (number, within) = shapes.element_at(shape, place)?;
            Some((operand(number as usize)?, within))
        }
        "bitcast"
        | "domain"
        | "optimization-barrier"
        | "opt-barrier"
        | "add-dependency"
        | "async-update"
        | "while" => Some((operand(0)?, place)),
        "copy" if place > 0 => Some((operand(0)?, place)),
        "copy-start" => match shapes.element_at(shape, place)? {
            (1, within) => Some((operand(0)?, within)),
            _ => None,
        },
        "copy-done" => {
            let from = operand(0)?;
            Some((from, behind(instructions.shape(from), 0, place)?))
        }
        "async-done" => {
            let from = operand(0)?;
            Some((from, behind(instructions.shape(from), 1, place)?))
        }
        "call" | "conditional" => Some((root_of(0)?, place)),
        "async-start" => match shapes.element_at(shape, place)? {
            (0, within) => {
                let operands = shapes.part(shape, place.checked_sub(within)?);
                let (number, within) = shapes.element_at(operands, within)?;
                Some((operand(number as usize)?, within))
            }
            (1, within) => Some((root_of(0)?, within)),
            _ => None,
        },
        "parameter" => {
            let (caller, called) = schedule.caller(schedule.computation(id)?)?;
            let operands = instructions.operands.of(caller.0);
            let number = match module.opcode(caller) {
                "while" => 0,
                "conditional" => called + 1,
                _ => *instructions.numbers.get(id.0 as usize)? as usize,
            };
            Some((InstructionId(*operands.get(number)?), place))
        }
        _ => None,
    }
}
