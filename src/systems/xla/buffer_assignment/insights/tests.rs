//! Savings of a small module made by hand.

use super::ModuleInsights;
use super::advice::ModuleTechnique;
use crate::store::hlo::{
    AllocationKind, Assigned, BufferAllocation, Computation, ElementType, HloModule, HloValue,
    InstructionId, NO_ROW, ValueId,
};
use crate::store::names::NameId;
use crate::systems::xla::buffer_assignment::program::AnalysedModule;

/// Instructions in a row with the paths of their operations; each value is used by the instruction at a position last.
fn program(instructions: &[(&str, usize, u64)]) -> AnalysedModule {
    let mut module = HloModule::default();
    let opcode = module.texts.push("add");
    let shape = module.shapes.open(ElementType(11), &[1]);
    module.shapes.close(shape, &[]);
    for (row, (path, ..)) in (0..).zip(instructions) {
        let name = module.texts.push(&format!("add.{row}"));
        let path = module.texts.push(path);
        let used = (0..).zip(instructions).filter(|(_, (_, last, _))| *last == row as usize);
        let operands: Vec<u32> =
            used.map(|(operand, _)| operand).filter(|one| *one != row).collect();
        let columns = &mut module.instructions;
        columns.names.push(name);
        columns.opcodes.push(opcode);
        columns.shapes.push(shape);
        columns.op_names.push(path);
        columns.sources.push((NameId::NONE, 0));
        columns.numbers.push(NO_ROW);
        columns.operands.push(operands);
        columns.called.push([]);
    }
    let count = instructions.len() as u32;
    module.computations.push(Computation {
        name: NameId::NONE,
        instructions: 0..count,
        root: InstructionId(count - 1),
        sequence: (0..count).map(InstructionId).collect(),
    });
    module.entry = Some(0);
    let mut offset = 0;
    for (row, (.., bytes)) in (0..).zip(instructions) {
        let (value, bytes) = (ValueId(row), *bytes);
        let instruction = InstructionId(row);
        module.values.push(HloValue { id: i64::from(row), bytes, instruction, place: 0 });
        module.assigned.push(Assigned { allocation: 0, value, offset, bytes });
        offset += bytes;
    }
    module.allocations.push(BufferAllocation {
        number: 0,
        bytes: offset,
        kind: AllocationKind::Temporary,
        is_live_out: false,
        color: 0,
        parameter: None,
    });
    AnalysedModule::of(module)
}

const MEBIBYTE: u64 = 1 << 20;

#[test]
fn what_waits_for_the_backward_pass_could_be_computed_again() {
    let [forward, backward] = ["jit(f)/jvp(block)/dot", "jit(f)/transpose(jvp(block))/dot"];
    let again = "jit(f)/transpose(jvp(checkpoint))/rematted_computation/dot";
    // Two values wait, two are used by the forward pass, one is made again.
    let program = program(&[
        (forward, 5, 8 * MEBIBYTE),
        (forward, 4, 4 * MEBIBYTE),
        (forward, 3, 2 * MEBIBYTE),
        (forward, 3, MEBIBYTE),
        (again, 5, MEBIBYTE),
        (backward, 5, MEBIBYTE),
    ]);
    let found = ModuleInsights::of(&program);
    let advice =
        found.found.advice.iter().find(|one| one.id == ModuleTechnique::Rematerialise.key());
    let advice = advice.expect("values wait");
    let peak = found.main_space().and_then(|space| space.peak.as_ref()).expect("a peak");
    assert_eq!((peak.at.position, peak.at.bytes), (3, 15 * MEBIBYTE));
    // Without both, the most is in use where the forward pass ends: 3 MiB.
    let saving = advice.saving.as_ref().expect("a bound");
    assert_eq!(saving.at_most_bytes, Some(12 * MEBIBYTE));
    assert_eq!(advice.evidence.len(), 1, "{advice:?}");
    assert_eq!(advice.evidence[0].bytes, Some(12 * MEBIBYTE));
}

#[test]
fn an_inference_has_nothing_to_compute_again() {
    let program = program(&[("jit(f)/dot", 1, MEBIBYTE), ("jit(f)/dot", 1, MEBIBYTE)]);
    let found = ModuleInsights::of(&program).found.advice;
    assert!(found.iter().all(|one| one.id != ModuleTechnique::Rematerialise.key()), "{found:?}");
}
