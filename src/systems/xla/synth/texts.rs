//! The texts of a buffer assignment, as XLA prints them beside the proto.

use std::fmt::Write as _;

use super::placement::HeapPlan;
use super::program::{DraftModule, Home};
use super::shape::XlaTarget;

/// The name of a value: of a tuple with the element in braces.
pub(super) fn value_name(program: &DraftModule, row: usize) -> String {
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
pub(super) fn assignment(program: &DraftModule, placement: &HeapPlan) -> String {
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
pub(super) fn live_ranges(program: &DraftModule, placement: &HeapPlan) -> String {
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
    let position = moment(program, placement);
    let _ = writeln!(text, "  Live ranges at {position} (peak):");
    let mut sum = 0_u64;
    for (row, life) in placement.lives.iter().enumerate() {
        if life.is_some_and(|(first, last)| (first..=last).contains(&position)) {
            let bytes = unpadded_bytes(program, row);
            sum += bytes;
            let name = value_name(program, row);
            let braces = if name.ends_with('}') { "" } else { "{}" };
            let _ = writeln!(text, "    {name}{braces}: {bytes} bytes (cumulative: {sum} bytes)");
        }
    }
    text
}

/// What XLA counts of a value: all that its instruction makes, without padding.
fn unpadded_bytes(program: &DraftModule, row: usize) -> u64 {
    program.instructions[program.values[row].instruction].shape.bytes(XlaTarget::Cpu)
}

/// The position of which XLA says that it is the peak (formats/xla.md 6): what begins at a position counts before what
/// has ended is taken away.
fn moment(program: &DraftModule, placement: &HeapPlan) -> u32 {
    let lives = placement.lives.iter().enumerate();
    let mut changes: Vec<(u32, bool, u64)> = lives
        .filter_map(|(row, life)| Some((unpadded_bytes(program, row), (*life)?)))
        .flat_map(|(bytes, (first, last))| [(first, false, bytes), (last + 1, true, bytes)])
        .collect();
    changes.sort_unstable();
    let (mut now, mut peak) = (0_u64, (0, 0));
    for (position, is_end, bytes) in changes {
        now = if is_end { now - bytes } else { now + bytes };
        if now > peak.0 {
            peak = (now, position);
        }
    }
    peak.1
}
