//! Savings of a small module made by hand.

use super::ModuleInsights;
use super::advice::ModuleTechnique;
use crate::run::Advice;
use crate::store::hlo::{AllocationKind, Assigned, BufferAllocation, NO_ROW, Platform};
use crate::systems::xla::buffer_assignment::hand_made::{HandMade, InstructionParts, scanned};
use crate::systems::xla::buffer_assignment::program::AnalysedModule;

/// Instructions in a row with the paths of their operations; each value is used by the instruction at a position last.
fn program(instructions: &[(&str, usize, u64)]) -> AnalysedModule {
    let mut made = HandMade::default();
    for (row, (path, _, bytes)) in (0..).zip(instructions) {
        let used = (0..).zip(instructions).filter(|(_, (_, last, _))| *last == row as usize);
        let operands: Vec<u32> =
            used.map(|(operand, _)| operand).filter(|one| *one != row).collect();
        made.add(&InstructionParts {
            opcode: "add",
            path,
            dimensions: &[(bytes / 4).cast_signed()],
            operands: &operands,
            number: NO_ROW,
            ..InstructionParts::default()
        });
    }
    made.computation();
    for row in 0..instructions.len() as u32 {
        made.value(row);
    }
    AnalysedModule::of(made.module)
}

const MEBIBYTE: u64 = 1 << 20;

/// The advice of a technique.
fn advised(program: &AnalysedModule, technique: ModuleTechnique) -> Option<Advice> {
    let advice = ModuleInsights::of(program).found.advice;
    advice.into_iter().find(|one| one.id == technique.key())
}

#[test]
fn what_waits_for_the_backward_pass_could_be_computed_again() {
    let [first, second] = ["jit(f)/jvp(block0)/dot", "jit(f)/jvp(block1)/dot"];
    let backward = "jit(f)/transpose(jvp(block0))/dot";
    let again = "jit(f)/transpose(jvp(block1))/rematted_computation/dot";
    // Two values wait, two are used by the forward pass, one is made again.
    let mut program = program(&[
        (first, 5, 8 * MEBIBYTE),
        (second, 4, 4 * MEBIBYTE),
        (second, 3, 2 * MEBIBYTE),
        (second, 3, MEBIBYTE),
        (again, 5, MEBIBYTE),
        (backward, 5, MEBIBYTE),
    ]);
    program.platform = Some(Platform::Gpu);
    let found = ModuleInsights::of(&program);
    let peak = found.main_space().and_then(|space| space.peak.as_ref()).expect("a peak");
    assert_eq!((peak.at.position, peak.at.bytes), (3, 15 * MEBIBYTE));
    let advice = advised(&program, ModuleTechnique::Rematerialise).expect("values wait");
    let saving = advice.saving.as_ref().expect("a saving");
    // Without both, the most is in use where the first is there again: 8 MiB beside 2.
    assert_eq!((saving.expected_bytes, saving.at_most_bytes), (Some(5 * MEBIBYTE), None));
    assert_eq!(advice.evidence.len(), 2, "{advice:?}");
    assert_eq!(advice.evidence[0].bytes, Some(8 * MEBIBYTE));
    // Nobody knows what an unknown compiler does, and one for CPUs undoes it.
    program.platform = None;
    let advice = advised(&program, ModuleTechnique::Rematerialise).expect("values wait");
    let saving = advice.saving.as_ref().expect("a saving");
    assert_eq!((saving.expected_bytes, saving.at_most_bytes), (None, Some(5 * MEBIBYTE)));
    program.platform = Some(Platform::Cpu);
    assert_eq!(advised(&program, ModuleTechnique::Rematerialise), None);
}

#[test]
fn what_waits_in_no_layer_saves_so_much_at_most() {
    let [forward, backward] = ["jit(f)/jvp(block)/dot", "jit(f)/transpose(jvp(block))/dot"];
    let mut program = program(&[
        (forward, 3, 8 * MEBIBYTE),
        (forward, 2, 2 * MEBIBYTE),
        (forward, 2, MEBIBYTE),
        (backward, 3, MEBIBYTE),
    ]);
    program.platform = Some(Platform::Tpu);
    let advice = advised(&program, ModuleTechnique::Rematerialise).expect("values wait");
    let saving = advice.saving.as_ref().expect("a saving");
    assert_eq!((saving.expected_bytes, saving.at_most_bytes), (None, Some(8 * MEBIBYTE)));
}

#[test]
fn an_inference_has_nothing_to_compute_again() {
    let program = program(&[("jit(f)/dot", 1, MEBIBYTE), ("jit(f)/dot", 1, MEBIBYTE)]);
    assert_eq!(advised(&program, ModuleTechnique::Rematerialise), None);
    // Nothing says that there is a batch.
    assert_eq!(advised(&program, ModuleTechnique::SmallerBatch), None);
    assert_eq!(advised(&program, ModuleTechnique::AccumulateGradients), None);
}

#[test]
fn what_a_loop_keeps_is_a_layer_at_a_time_if_it_is_computed_again() {
    let width = 1 << 20;
    let mut program = AnalysedModule::of(scanned(width).module);
    program.platform = Some(Platform::Cpu);
    let advice = advised(&program, ModuleTechnique::Rematerialise).expect("a stack waits");
    assert_eq!(advice.evidence[0].text, "jit(f)/jvp()/while/body/closed_call/mlp/sin");
    // Six layers of 16 MiB go, and their six inputs of 4 MiB are kept in their place.
    let saving = advice.saving.expect("a saving");
    assert_eq!(saving.expected_bytes, Some((96 - 24) * MEBIBYTE));
}

/// A program that replaces a parameter; what it needs for that lies in the memory of the result, or in its own.
fn replaced(is_in_result: bool) -> AnalysedModule {
    let mut made = HandMade::default();
    let dimensions = &[1 << 20];
    let of = |opcode| InstructionParts { opcode, dimensions, ..InstructionParts::default() };
    let parameter = made.add(&InstructionParts { path: "w", ..of("parameter") });
    let change = made.add(&InstructionParts { operands: &[parameter], ..of("tanh") });
    made.add(&InstructionParts { operands: &[parameter, change], ..of("subtract") });
    made.computation();
    let values = [0, 1, 2].map(|row| made.value(row));
    let module = &mut made.module;
    let bytes = 4 * MEBIBYTE;
    let kinds = [AllocationKind::Parameter, AllocationKind::LiveOut, AllocationKind::Temporary];
    let allocation = |(number, kind): (i64, AllocationKind)| BufferAllocation {
        number,
        bytes,
        kind,
        is_live_out: kind == AllocationKind::LiveOut,
        color: 0,
        parameter: (kind == AllocationKind::Parameter).then_some((0, 0)),
    };
    module.allocations = (0..).zip(kinds).map(allocation).collect();
    let places = [0, if is_in_result { 1 } else { 2 }, 1];
    let assigned =
        |(value, allocation)| Assigned { allocation, value, offset: 0, bytes: 4 * MEBIBYTE };
    module.assigned = values.into_iter().zip(places).map(assigned).collect();
    AnalysedModule::of(made.module)
}

#[test]
fn what_lies_in_a_result_needs_memory_of_its_own_once_that_is_a_parameter() {
    let saved = |is_in_result| {
        let advice = advised(&replaced(is_in_result), ModuleTechnique::DonateArguments)?;
        advice.saving?.expected_bytes
    };
    assert_eq!(saved(false), Some(4 * MEBIBYTE));
    assert_eq!(saved(true), None);
}
