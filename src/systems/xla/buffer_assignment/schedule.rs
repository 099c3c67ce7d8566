//! The order of all instructions of a module, called computations in their place (formats/xla.md 5.1).

use crate::store::hlo::{HloModule, InstructionId, NO_ROW};

#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The instructions by position.
    pub instructions: Vec<InstructionId>,
    /// The position of each instruction, or [`NO_ROW`].
    positions: Vec<u32>,
    /// Where each computation begins and ends; `None` of one that is not called in order.
    spans: Vec<Option<(u32, u32)>>,
    /// The instruction that calls a computation, and which of the computations that it calls it is.
    callers: Vec<Option<(InstructionId, usize)>>,
    computations: Vec<u32>,
    /// The first parameter of each computation.
    parameters: Vec<Option<InstructionId>>,
}

/// A computation that is being flattened.
struct Open {
    computation: usize,
    next: usize,
    call: usize,
    start: u32,
}

impl Schedule {
    /// Flattens the entry computation. Each computation comes once, where it is met first.
    pub fn of(module: &HloModule) -> Self {
        let count = module.instructions.len();
        let mut schedule = Self {
            positions: vec![NO_ROW; count],
            spans: vec![None; module.computations.len()],
            callers: vec![None; module.computations.len()],
            computations: vec![NO_ROW; count],
            parameters: vec![None; module.computations.len()],
            ..Self::default()
        };
        for (row, computation) in (0..).zip(&module.computations) {
            for id in computation.instructions.clone() {
                schedule.computations[id as usize] = row;
                let first = &mut schedule.parameters[row as usize];
                if first.is_none() && module.opcode(InstructionId(id)) == "parameter" {
                    *first = Some(InstructionId(id));
                }
                let called = module.instructions.called.of(id).iter().enumerate();
                for (place, called) in called {
                    if let Some(caller) = schedule.callers.get_mut(*called as usize) {
                        caller.get_or_insert((InstructionId(id), place));
                    }
                }
            }
        }
        let Some(entry) = module.entry else {
            for id in module.stated.iter().flat_map(|stated| &stated.sequence) {
                schedule.append(*id);
            }
            return schedule;
        };
        let mut met = vec![false; module.computations.len()];
        // An instruction that a damaged sequence names again calls nothing again.
        let mut begun = vec![false; count];
        let mut open: Vec<Open> = Vec::new();
        let begin = |computation: u32, met: &mut Vec<bool>, at: usize| {
            let seen = met.get_mut(computation as usize)?;
            let is_new = !std::mem::replace(seen, true);
            let start = u32::try_from(at).unwrap_or(NO_ROW);
            is_new.then_some(Open { computation: computation as usize, next: 0, call: 0, start })
        };
        open.extend(begin(entry, &mut met, 0));
        while let Some(top) = open.last_mut() {
            let sequence = &module.computations[top.computation].sequence;
            let at = schedule.instructions.len();
            let Some(id) = sequence.get(top.next).copied() else {
                let end = u32::try_from(at).unwrap_or(NO_ROW);
                schedule.spans[top.computation] = Some((top.start, end));
                open.pop();
                continue;
            };
            let is_begun =
                begun.get_mut(id.0 as usize).is_none_or(|one| std::mem::replace(one, true));
            if top.call == 0 && is_begun {
                top.next += 1;
                continue;
            }
            if let Some(called) = called_in_place(module, id, top.call) {
                top.call += 1;
                let has_order = module
                    .computations
                    .get(called as usize)
                    .is_some_and(|one| !one.sequence.is_empty());
                if has_order {
                    open.extend(begin(called, &mut met, at));
                }
                continue;
            }
            (top.next, top.call) = (top.next + 1, 0);
            schedule.append(id);
        }
        schedule
    }

    fn append(&mut self, id: InstructionId) {
        let at = self.end();
        if let Some(position) = self.positions.get_mut(id.0 as usize).filter(|one| **one == NO_ROW)
        {
            *position = at;
            self.instructions.push(id);
        }
    }

    pub fn end(&self) -> u32 {
        u32::try_from(self.instructions.len()).unwrap_or(NO_ROW)
    }

    pub fn position(&self, id: InstructionId) -> Option<u32> {
        self.positions.get(id.0 as usize).copied().filter(|position| *position != NO_ROW)
    }

    pub fn computation(&self, id: InstructionId) -> Option<usize> {
        let row = self.computations.get(id.0 as usize).copied().filter(|row| *row != NO_ROW)?;
        Some(row as usize)
    }

    /// Where a computation begins, and the position behind its last instruction.
    pub fn span(&self, computation: usize) -> Option<(u32, u32)> {
        self.spans.get(computation).copied().flatten()
    }

    /// The position of the first parameter of a computation.
    pub fn parameter(&self, computation: usize) -> Option<u32> {
        self.position((*self.parameters.get(computation)?)?)
    }

    /// The instruction that calls a computation, and which of those that it calls this is.
    pub fn caller(&self, computation: usize) -> Option<(InstructionId, usize)> {
        self.callers.get(computation).copied().flatten()
    }
}

/// The computations that run in place of an instruction, before it: a loop has its condition before its body.
fn called_in_place(module: &HloModule, id: InstructionId, number: usize) -> Option<u32> {
    let called = module.instructions.called.of(id.0);
    match module.opcode(id) {
        "call" | "conditional" => called.get(number).copied(),
        "async-start" => called.first().copied().filter(|_| number == 0),
        "while" => match number {
            0 => called.get(1).copied(),
            1 => called.first().copied(),
            _ => None,
        },
        _ => None,
    }
}
