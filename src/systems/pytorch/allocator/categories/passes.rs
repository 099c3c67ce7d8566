//! Passes: a forward pass with the backward pass and the step of the optimizer that follow it, as far as they do. A new
//! one begins where a forward pass allocates after anything else, where the batch is made again by the stack that began
//! an earlier pass, and where the first module is called again after something outside of modules was allocated. So runs
//! without backward passes have passes too.

use std::collections::HashSet;
use std::ops::Range;

use super::blocks::BlockEvidence;
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// A pass; its blocks by their rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPass {
    pub rows: Range<usize>,
    /// The first and the last block that a module asked for.
    pub calls: Option<(usize, usize)>,
    /// The last block of the forward pass.
    pub last_forward: usize,
    /// The first and the last block of the backward pass.
    pub backward: Option<(usize, usize)>,
    /// The event at which the next begins; `u32::MAX` of the last.
    pub end: u32,
}

/// The passes of a device.
#[derive(Clone, Debug, Default)]
pub struct RunPasses {
    pub all: Vec<RunPass>,
    /// Events at which a backward pass is over: a forward pass or the optimizer goes on.
    after_backward: Vec<u32>,
}

impl RunPasses {
    /// Of blocks, with the events at which the optimizer is known to begin its steps.
    pub fn of(blocks: &BlockEvidence<'_>, optimizer_steps: &[u32]) -> Self {
        let mut passes = Self::default();
        let mut began_by = HashSet::new();
        let mut first_call_stack = None;
        let (mut before, mut was_call) = (None, false);
        for row in blocks.first_recorded()..blocks.len() {
            let (signs, stack) = (blocks.signs(row), blocks.lives.stacks[row]);
            let phase = signs.phase;
            if before == Some(StackPhase::Backward) && phase != StackPhase::Backward {
                passes.after_backward.push(blocks.event(row));
            }
            if phase == StackPhase::Forward {
                let has_calls = passes.all.last().is_some_and(|pass| pass.calls.is_some());
                let is_made_again = !signs.is_call && has_calls && began_by.contains(&stack);
                let is_called_again = signs.is_call && !was_call && first_call_stack == Some(stack);
                if before != Some(StackPhase::Forward) || is_made_again || is_called_again {
                    passes.begin(row, blocks.event(row));
                    first_call_stack = None;
                    if !signs.is_call {
                        began_by.insert(stack);
                    }
                }
                if signs.is_call {
                    first_call_stack.get_or_insert(stack);
                }
                was_call = signs.is_call;
            }
            before = Some(phase);
            let Some(pass) = passes.all.last_mut() else { continue };
            pass.rows.end = row + 1;
            let widened = |of: Option<(usize, usize)>| Some((of.map_or(row, |of| of.0), row));
            match phase {
                StackPhase::Forward => {
                    pass.last_forward = row;
                    if signs.is_call {
                        pass.calls = widened(pass.calls);
                    }
                }
                StackPhase::Backward => pass.backward = widened(pass.backward),
                StackPhase::Making | StackPhase::Optimizer => {}
            }
        }
        passes.after_backward.extend(optimizer_steps);
        passes.after_backward.sort_unstable();
        passes
    }

    fn begin(&mut self, row: usize, event: u32) {
        if let Some(last) = self.all.last_mut() {
            last.end = event;
        }
        let rows = row..row;
        let none = RunPass { rows, calls: None, last_forward: row, backward: None, end: u32::MAX };
        self.all.push(none);
    }

    /// The first event after another at which a backward pass is over.
    pub fn backward_ends_after(&self, event: u32) -> Option<u32> {
        let after = self.after_backward.partition_point(|end| *end <= event);
        self.after_backward.get(after).copied()
    }

    /// The events of the first and the last block of the last pass that calls modules or goes backward.
    pub fn last_events(&self, blocks: &BlockEvidence<'_>) -> Option<(u32, u32)> {
        let is_one = |pass: &&RunPass| pass.calls.is_some() || pass.backward.is_some();
        let last = self.all.iter().rev().find(is_one)?;
        let end = last.rows.end.checked_sub(1)?;
        Some((blocks.event(last.rows.start), blocks.event(end)))
    }

    /// The place of the pass that a block is of.
    pub fn place(&self, row: usize) -> Option<usize> {
        self.all.partition_point(|pass| pass.rows.start <= row).checked_sub(1)
    }

    /// The event at which the pass after that of a block ends; that of the first begins before anything of one.
    pub fn next_ends(&self, row: usize) -> u32 {
        let next = self.place(row).map_or(0, |place| place.saturating_add(1));
        self.all.get(next).map_or(u32::MAX, |pass| pass.end)
    }
}
