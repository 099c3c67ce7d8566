//! The texts of a buffer assignment, as XLA prints them beside the proto.

use std::fmt::Write as _;

use super::placement::Placement;
use super::program::{Home, Program};

/// The name of a value: of a tuple with the element in braces.
pub(super) fn value_name(program: &Program, row: usize) -> String {
    let value = &program.values[row];
    let instruction = &program.instructions[value.instruction];
    let name = &instruction.name;
    match value.element {
        Some(element) => format!("{name}{{{element}}}"),
        None if instruction.shape.is_tuple() => format!("{name}{{}}"),
        None => name.clone(),
    }
}

/// Allocations with their values.
pub(super) fn assignment(program: &Program, placement: &Placement) -> String {
    let shape = |row: usize| {
        let value = &program.values[row];
        program.instructions[value.instruction].shape.part_text(value.element, program.platform)
    };
    let mut text = "BufferAssignment:\n".to_owned();
    for (number, allocation) in placement.allocations.iter().enumerate() {
        let mut words = String::new();
        let of = allocation.values.first().map_or_else(String::new, |(row, _)| shape(*row));
        match allocation.home {
            Home::Parameter(number) => {
                let _ = write!(words, ", parameter {number}, shape |{of}| at ShapeIndex {{}}");
            }
            Home::Constant => words.push_str(", constant"),
            Home::ThreadLocal => words.push_str(", thread-local"),
            Home::Temporary => words.push_str(", preallocated-temp"),
            Home::Output => {}
        }
        if allocation.is_live_out {
            words.push_str(", maybe-live-out");
        }
        let _ = writeln!(text, "allocation {number}: size {}{words}:", allocation.bytes);
        for (row, offset) in &allocation.values {
            let (name, bytes) = (value_name(program, *row), program.values[*row].bytes);
            let _ = writeln!(
                text,
                " value: <{row} {name} @0> (size={bytes},offset={offset}): {}",
                shape(*row)
            );
        }
    }
    text
}

/// The order of instructions, and when each value lives.
pub(super) fn live_ranges(program: &Program, placement: &Placement) -> String {
    let mut text = format!("HloLiveRange (max {}):\n  InstructionSequence:\n", program.order.len());
    for (position, row) in program.order.iter().enumerate() {
        let _ = writeln!(text, "    {position}:{}", program.instructions[*row].name);
    }
    text.push_str("  BufferLiveRange:\n");
    for (row, life) in placement.lives.iter().enumerate() {
        let Some((first, last)) = life else { continue };
        let name = value_name(program, row);
        let braces = if name.ends_with('}') { "" } else { "{}" };
        let _ = writeln!(text, "    {name}{braces}:{first}-{last}");
    }
    text
}
