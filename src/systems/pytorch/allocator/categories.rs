//! The category of a block, by stated rules over its stack, its life and its size (formats/pytorch.md 4.7); snapshots
//! do not record it. The first rule that applies counts.
//!
//! Where no stack has a frame of Python nothing is known of any block.

use super::lives::BlockLives;
use super::phases::PhaseMoments;
use super::replay::Replay;
use super::stack_signs::{AllSigns, StackSigns};
use crate::store::snapshot::{Snapshot, SnapshotDevice, StackId};

crate::text::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BlockCategory by as_str, title {
        /// Of the model, from its making to the end.
        Parameter = "parameter" | "Parameter",
        /// As large as a parameter, made by the backward pass.
        Gradient = "gradient" | "Gradient",
        /// Made by the optimizer, and kept.
        OptimizerState = "optimizer_state" | "Optimizer state",
        /// Made by the forward pass, freed by the backward pass.
        Activation = "activation" | "Activation",
        /// Freed within the phase in which it was made.
        Temporary = "temporary" | "Temporary",
        /// None of these.
        Unknown = "unknown" | "Unknown",
    }
}

impl BlockCategory {
    /// The rule by which a block gets the category.
    pub fn rule(self) -> &'static str {
        match self {
            Self::OptimizerState => {
                "allocated below torch/optim, and alive at the end or over a later optimizer step"
            }
            Self::Parameter => {
                "allocated by _apply, to or cuda of a module, or made in __init__ of one, and alive to the end"
            }
            Self::Gradient => {
                "allocated without a Python stack or below torch/autograd, as large as a parameter, and freed by \
                 zero_grad or alive at the end"
            }
            Self::Activation => {
                "allocated below a function forward, and freed after the next allocation without a Python stack"
            }
            Self::Temporary => "freed within the same forward, backward or optimizer phase",
            Self::Unknown => "none of the other rules applies",
        }
    }
}

/// The category of every block of a replayed device, by the signs of all stacks and its moments.
pub fn categories(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    replay: &Replay,
    signs: &AllSigns,
    moments: &PhaseMoments,
) -> Vec<BlockCategory> {
    let lives = &replay.lives;
    if !signs.has_python() {
        // Nothing tells a backward pass from the rest.
        return vec![BlockCategory::Unknown; lives.len()];
    }
    let signs_of = |stack: StackId| signs.of_stack(stack);
    let mut parameter_sizes: Vec<u64> = (0..lives.len())
        .filter(|row| is_parameter(lives, *row, signs_of(lives.stacks[*row])))
        .map(|row| lives.requested[row])
        .collect();
    parameter_sizes.sort_unstable();
    parameter_sizes.dedup();
    let one = |row: usize| {
        let sign = signs_of(lives.stacks[row]);
        let is_kept = lives.freed_at[row] == BlockLives::OPEN;
        let (from, until) = (lives.allocated_at[row], lives.freed_at[row]);
        let is_before = from == BlockLives::BEFORE;
        if sign.is_optimizer && (is_kept || moments.has_optimizer_step_within(from, until)) {
            return BlockCategory::OptimizerState;
        }
        if is_parameter(lives, row, sign) {
            return BlockCategory::Parameter;
        }
        // Of a block from before the first event that is gone nothing is known.
        if is_before && !is_kept {
            return BlockCategory::Unknown;
        }
        let is_backward = !sign.has_python || sign.is_autograd;
        let has_size_of_parameter = || parameter_sizes.binary_search(&lives.requested[row]).is_ok();
        let free_stack = || {
            let event = lives.requested_free_at[row].min(lives.freed_at[row]);
            snapshot.events.stacks.get(device.events.start.saturating_add(event as usize)).copied()
        };
        if is_backward
            && (is_kept || free_stack().is_some_and(|stack| signs_of(stack).is_zero_grad))
            && has_size_of_parameter()
        {
            return BlockCategory::Gradient;
        }
        if sign.is_forward && !is_kept && moments.has_backward_within(from, until) {
            return BlockCategory::Activation;
        }
        if !is_kept && moments.phase_ends_after(from, until) {
            return BlockCategory::Temporary;
        }
        BlockCategory::Unknown
    };
    (0..lives.len()).map(one).collect()
}

fn is_parameter(lives: &BlockLives, row: usize, signs: StackSigns) -> bool {
    signs.makes_parameters && lives.freed_at[row] == BlockLives::OPEN
}
