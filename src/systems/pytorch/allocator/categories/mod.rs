//! The category of a block, by stated rules over its stack, its life and its size (formats/pytorch.md 4.7); snapshots
//! do not record it. Where no rule applies it is unknown.

mod before_window;
mod blocks;
mod copies;
mod graphs;
mod passes;
mod rules;

#[cfg(test)]
mod tests;

use self::blocks::BlockEvidence;
use self::rules::CategoryRules;
use super::phases::PhaseMoments;
use super::replay::Replay;
use super::stack_signs::{AllSigns, StackPhase};
use crate::store::snapshot::{Snapshot, SnapshotDevice};

crate::text::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BlockCategory by as_str, title {
        /// Of the model, from its making to the end.
        Parameter = "parameter" | "Parameter",
        /// Made by the backward pass for a parameter.
        Gradient = "gradient" | "Gradient",
        /// Made by the optimizer, and kept.
        OptimizerState = "optimizer_state" | "Optimizer state",
        /// A parameter in 16 bits, which autocast made.
        AutocastCache = "autocast_cache" | "Autocast cache",
        /// The batch.
        Input = "input" | "Input",
        /// Kept by the graph for the backward pass.
        Activation = "activation" | "Activation",
        /// Of no further use when what asked for it is done.
        Temporary = "temporary" | "Temporary",
        /// Kept by libraries of CUDA.
        Workspace = "workspace" | "Workspace",
        /// None of these.
        Unknown = "unknown" | "Unknown",
    }
}

impl BlockCategory {
    /// The rule by which a block gets the category.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Parameter => {
                "allocated where a module is created, moved, copied, loaded or sharded, and alive after the next pass; of \
                 blocks from before the recording, as many of each size as a backward pass makes gradients, or all if no \
                 training is recorded"
            }
            Self::Gradient => {
                "allocated by the backward pass, as large as a parameter, and alive when that pass is over, one for each; \
                 or freed by zero_grad"
            }
            Self::OptimizerState => {
                "allocated below torch/optim, and alive at the end or when the next forward pass begins, or made by \
                 _init_group in a step that failed; also blocks \
                 from before the recording that have the size of a parameter but are not one"
            }
            Self::AutocastCache => {
                "freed where autocast ends; or half as large as a parameter, and made by a layer before its result, or by \
                 another module that calls none"
            }
            Self::Input => {
                "allocated outside of modules before the first module of a forward pass is called, and alive when that \
                 pass ends"
            }
            Self::Activation => {
                "allocated by the forward pass or a checkpoint, and freed by autograd; or, if the pass has no backward \
                 pass, alive at its end where the same stack made an activation before or many blocks of modules are \
                 alive; or part of a graph that is never freed"
            }
            Self::Temporary => {
                "none of the other rules applies, and it is freed before the next pass ends"
            }
            Self::Workspace => {
                "of a size that cuBLAS keeps for its work, and alive after the last pass"
            }
            Self::Unknown => {
                "none of the other rules applies: mostly blocks of torch.distributed, of private pools (CUDA graphs), \
                 and those that compiled code keeps"
            }
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
    let blocks = BlockEvidence::of(snapshot, device, &replay.lives, signs);
    if !blocks.have_stacks() {
        // Nothing tells a backward pass from the rest; blocks of the end may have stacks of their own.
        let of_stack = |row: usize| match blocks.phase(row) {
            StackPhase::Making if blocks.is_kept(row) => BlockCategory::Parameter,
            StackPhase::Optimizer if blocks.is_kept(row) => BlockCategory::OptimizerState,
            _ => BlockCategory::Unknown,
        };
        return (0..blocks.len()).map(of_stack).collect();
    }
    CategoryRules::of(blocks, moments).categories()
}
