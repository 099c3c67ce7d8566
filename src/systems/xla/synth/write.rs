//! The HloProto of a program: module, schedule, donations, frames of the source, and the buffer assignment.

use super::MODULE;
use super::message::ProtoMessage;
use super::placement::{HeapPlan, MemoryEvent};
use super::program::{DraftModule, DraftValue, Home, Instruction};
use super::source::write_frames;

fn computation_id(row: usize) -> u64 {
    row as u64 + 1
}

/// An HloProto.
pub(super) fn proto(program: &DraftModule, placement: &HeapPlan) -> Vec<u8> {
    let ids = InstructionIds::of(program);
    let proto = ProtoMessage::of(|proto| {
        proto.message(1, |message| write_module(message, program, &ids));
        proto.message(3, |message| write_assignment(message, program, placement, &ids));
    });
    proto.into_bytes()
}

/// The ids of instructions: that of the computation, and a number within it.
struct InstructionIds(Vec<u64>);

impl InstructionIds {
    fn of(program: &DraftModule) -> Self {
        let mut ids = vec![0; program.instructions.len()];
        for (row, computation) in program.computations.iter().enumerate() {
            for (number, instruction) in (0..).zip(&computation.instructions) {
                ids[*instruction] = computation_id(row) << 32 | number;
            }
        }
        Self(ids)
    }

    fn all<'a>(&'a self, rows: &'a [usize]) -> impl Iterator<Item = u64> + 'a {
        rows.iter().map(|row| self.0[*row])
    }
}

fn write_module(message: &mut ProtoMessage, program: &DraftModule, ids: &InstructionIds) {
    message.text(1, MODULE);
    message.text(2, &program.computations[program.entry].name);
    for (row, computation) in program.computations.iter().enumerate() {
        message.message(3, |message| {
            message.text(1, &computation.name);
            for instruction in &computation.instructions {
                let of = &program.instructions[*instruction];
                message.message(2, |message| {
                    write_instruction(message, of, ids.0[*instruction], ids, program);
                });
            }
            message.number(5, computation_id(row));
            message.number(6, ids.0[computation.root]);
        });
    }
    message.number(5, 1_u64);
    message.number(6, computation_id(program.entry));
    message.message(7, |schedule| {
        for (row, computation) in program.computations.iter().enumerate() {
            if computation.is_scheduled {
                schedule.message(1, |entry| {
                    entry.number(1, computation_id(row));
                    entry.message(2, |sequence| {
                        sequence.numbers(1, ids.all(&computation.instructions));
                    });
                });
            }
        }
    });
    message.message(8, |aliases| write_donations(aliases, program));
    message.message(17, write_frames);
}

fn write_instruction(
    message: &mut ProtoMessage,
    of: &Instruction,
    id: u64,
    ids: &InstructionIds,
    program: &DraftModule,
) {
    message.text(1, &of.name);
    message.text(2, of.opcode);
    message.message(3, |message| of.shape.write(message, program.platform));
    if !of.origin.path.is_empty() {
        message.message(7, |metadata| {
            metadata.text(2, &of.origin.path);
            metadata.number(15, of.origin.frame);
        });
    }
    match of.opcode {
        "parameter" => message.number(9, of.number),
        "get-tuple-element" => message.number(13, of.number),
        "custom-call" => message.text(28, "__cublas$gemm"),
        _ => {}
    }
    message.text(11, of.fusion_kind);
    message.number(35, id);
    message.numbers(36, ids.all(&of.operands));
    message.numbers(38, of.called.iter().map(|row| computation_id(*row)));
}

/// Which results take over the memory of which parameter.
fn write_donations(message: &mut ProtoMessage, program: &DraftModule) {
    for (place, value) in (0_u64..).zip(&program.results) {
        let Home::Parameter(number) = program.groups[program.values[*value].group] else {
            continue;
        };
        message.message(1, |entry| {
            entry.numbers(1, [place]);
            entry.number(2, number);
            entry.number(4, 1_u64);
        });
    }
}

fn write_location(message: &mut ProtoMessage, value: &DraftValue, ids: &InstructionIds) {
    message.numbers(3, value.element);
    message.number(4, ids.0[value.instruction]);
}

fn write_assignment(
    message: &mut ProtoMessage,
    program: &DraftModule,
    placement: &HeapPlan,
    ids: &InstructionIds,
) {
    // Which value is the first of each group: the others share its buffer.
    let mut first: Vec<Option<usize>> = vec![None; program.groups.len()];
    for (row, value) in program.values.iter().enumerate() {
        message.message(1, |buffer| {
            buffer.number(1, row as u64);
            buffer.number(2, value.bytes);
            buffer.message(3, |location| write_location(location, value, ids));
        });
        first[value.group].get_or_insert(row);
    }
    for (row, value) in program.values.iter().enumerate() {
        if let Some(source) = first[value.group].filter(|source| *source != row) {
            message.message(2, |alias| {
                alias.number(1, source as u64);
                alias.message(2, |location| write_location(location, value, ids));
            });
        }
    }
    for (number, allocation) in (0_u64..).zip(&placement.allocations) {
        message.message(3, |message| {
            message.number(1, number);
            message.number(2, allocation.bytes);
            message.number(3, allocation.home == Home::ThreadLocal);
            if let Home::Parameter(number) = allocation.home {
                message.number(5, true);
                message.number(6, number);
            }
            message.number(7, allocation.is_live_out);
            for (value, offset) in &allocation.values {
                message.message(9, |assigned| {
                    assigned.number(1, *value as u64);
                    assigned.number(2, *offset);
                    assigned.number(3, program.values[*value].bytes);
                });
            }
            let is_table = |(value, _): &(usize, u64)| program.is_table(*value);
            message.number(
                11,
                allocation.home == Home::Output && allocation.values.iter().any(is_table),
            );
            message.number(12, allocation.home == Home::Constant);
        });
    }
    let temporary = placement.allocations.len().saturating_sub(1) as u64;
    message.message(4, |trace| {
        for event in &placement.events {
            trace.message(1, |message| write_event(message, program, *event));
        }
        trace.number(2, true);
        trace.number(3, temporary);
    });
}

fn write_event(message: &mut ProtoMessage, program: &DraftModule, event: MemoryEvent) {
    let (kind, value, root) = match event {
        MemoryEvent::Allocate(value) => (0_u64, value, None),
        MemoryEvent::Free(value) => (1, value, None),
        MemoryEvent::Share(value, root) => (2, value, Some(root)),
    };
    let instruction = &program.instructions[program.values[value].instruction];
    message.number(1, kind);
    message.number(2, value as u64);
    message.text(3, &program.computations[instruction.computation].name);
    message.text(4, &instruction.name);
    message.number(5, root.map_or(0, |root| root as u64));
}
