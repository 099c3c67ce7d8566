//! Instructions and computations as programs and steps: a position of the schedule is a step, its program is an
//! instruction, and what an instruction calls lies within it.

use super::AnalysedModule;
use super::operations::Operations;
use crate::store::hlo::{HeapTrace, HloModule, InstructionId};
use crate::store::names::{Interner, NameId};
use crate::store::program::{ProgramTree, ProgramTrees, Programs, Steps};
use crate::store::{ProgramId, StepId};

/// Programs by their number: instructions first, then computations, at last the end of the program.
pub(super) struct AllPrograms {
    pub programs: Programs,
    pub steps: Steps,
    /// Absent where nothing is known but an order.
    pub trees: Option<ProgramTrees>,
}

impl AllPrograms {
    pub fn of(program: &AnalysedModule, operations: &Operations) -> Self {
        let analysed = &program.analysed;
        let module = &analysed.module;
        let instructions = module.instructions.len() as u32;
        let mut rows = ProgramRows::default();
        for id in (0..instructions).map(InstructionId) {
            let opcode = module.opcode(id);
            let kind = if opcode.is_empty() { "instruction" } else { opcode };
            let called = module.instructions.called.of(id.0).iter();
            let called = called.filter_map(|row| instructions.checked_add(*row)).map(ProgramId);
            rows.push(kind, module.instruction_name(id), operations.of_instruction(id), called);
        }
        for computation in &module.computations {
            let name = match computation.name {
                NameId::NONE => "",
                name => module.texts.get(name),
            };
            let sequence = &computation.sequence;
            let listed = computation.instructions.clone().filter(|_| sequence.is_empty());
            let children = sequence.iter().map(|id| id.0).chain(listed).map(ProgramId);
            rows.push("computation", name, None, children);
        }
        let end = rows.push("end of the module", "", None, []);
        let mut steps = Steps::default();
        let scheduled = analysed.schedule.instructions.iter().map(|id| ProgramId(id.0));
        for (position, program) in (0..).zip(scheduled.chain([end])) {
            steps.ids.push(StepId(position));
            steps.programs.push(program);
            steps.parents.push(None);
        }
        let entry = module.entry.and_then(|row| instructions.checked_add(row)).map(ProgramId);
        let trees = entry.map(|entry| {
            let tree = ProgramTree { control: vec![entry], ..ProgramTree::default() };
            ProgramTrees { steps: vec![tree] }
        });
        Self { programs: rows.done(), steps, trees }
    }

    /// Of a module of which nothing is known but what XLA's simulation did: each of its events is a step.
    pub fn of_trace(module: &HloModule, trace: &HeapTrace) -> Self {
        let (mut rows, mut steps) = (ProgramRows::default(), Steps::default());
        for (position, event) in (0..).zip(&trace.events) {
            let name = match event.instruction {
                NameId::NONE => "",
                name => module.texts.get(name),
            };
            steps.ids.push(StepId(position));
            steps.programs.push(rows.push(event.kind.as_str(), name, None, []));
            steps.parents.push(None);
        }
        Self { programs: rows.done(), steps, trees: None }
    }
}

/// Programs while they are added.
#[derive(Default)]
struct ProgramRows {
    programs: Programs,
    kinds: Interner,
}

impl ProgramRows {
    fn push(
        &mut self,
        kind: &str,
        name: &str,
        operation: Option<u64>,
        children: impl IntoIterator<Item = ProgramId>,
    ) -> ProgramId {
        let kind = self.kinds.intern(kind);
        let programs = &mut self.programs;
        let id = ProgramId(programs.kinds.len() as u32);
        programs.ids.push(id);
        programs.kinds.push(Some(kind));
        programs.names.push(name);
        programs.debug_ids.push(operation.unwrap_or(0));
        programs.compute_sets.push(None);
        programs.exchanges.push(None);
        programs.children.extend(children);
        programs.children_ends.push(programs.children.len());
        id
    }

    fn done(self) -> Programs {
        Programs { kind_names: self.kinds.into_names(), ..self.programs }
    }
}
