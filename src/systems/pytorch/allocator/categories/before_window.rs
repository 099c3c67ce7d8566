//! Blocks from before the first event: of most the recording says no more than their bytes, and who let go of them.

use std::collections::BTreeMap;

use super::BlockCategory;
use super::blocks::{BlockEvidence, LetGo, WORKSPACE};
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Blocks of fewer bytes do not say how much state there is for each parameter.
const SMALL: u64 = 512;
/// As many of one size are the same parameter of so many layers.
const LEAST_LAYERS: usize = 4;

/// What the events say of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainingSigns {
    /// Whether there are gradients or steps of the optimizer.
    pub is_seen: bool,
    /// Whether a forward pass records a graph.
    pub has_graph: bool,
}

/// The category of each block from before the first event; by the number of gradients of each size that a backward pass
/// makes.
pub fn before_window(
    blocks: &BlockEvidence<'_>,
    gradients: &BTreeMap<u64, usize>,
    training: TrainingSigns,
) -> Vec<BlockCategory> {
    let mut kept: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let one = |row: usize| {
        let signs = blocks.signs(row);
        match (signs.phase, blocks.let_go(row)) {
            _ if blocks.is_beyond(row) => BlockCategory::Unknown,
            (StackPhase::Making, LetGo::Never) => BlockCategory::Parameter,
            (StackPhase::Optimizer, LetGo::Never) => BlockCategory::OptimizerState,
            (_, LetGo::ByZeroGrad) => BlockCategory::Gradient,
            (_, LetGo::ByAutograd) => BlockCategory::Activation,
            (_, LetGo::ByAutocast) => BlockCategory::AutocastCache,
            (_, LetGo::Never)
                if blocks.bytes(row) == WORKSPACE && !gradients.contains_key(&WORKSPACE) =>
            {
                BlockCategory::Workspace
            }
            (phase, LetGo::Never) => {
                let is_of_code = phase != StackPhase::Backward || signs.has_python;
                if !is_of_code || (!signs.is_call && gradients.contains_key(&blocks.bytes(row))) {
                    kept.entry(blocks.bytes(row)).or_default().push(row);
                }
                BlockCategory::Unknown
            }
            _ => BlockCategory::Unknown,
        }
    };
    let mut categories: Vec<BlockCategory> = (0..blocks.first_recorded()).map(one).collect();
    let are_thirds = kept.iter().all(|(bytes, rows)| *bytes < SMALL || rows.len() % 3 == 0);
    for (bytes, rows) in kept {
        let of_size = gradients.get(&bytes).copied().unwrap_or(0);
        let (parameters, states) = match () {
            () if of_size > 0 && rows.len() % of_size == 0 => (of_size, rows.len() - of_size),
            () if of_size > 0 => (of_size, 0),
            () if !gradients.is_empty() => {
                (if rows.len() >= LEAST_LAYERS { rows.len() } else { 0 }, 0)
            }
            // Adam has two states of the size of each parameter.
            () if training.has_graph && are_thirds => (rows.len() / 3, rows.len() - rows.len() / 3),
            () if training.is_seen || training.has_graph => (0, 0),
            () => (rows.len(), 0),
        };
        for (place, row) in rows.into_iter().enumerate() {
            let Some(category) = categories.get_mut(row) else { continue };
            *category = match place {
                _ if place < parameters => BlockCategory::Parameter,
                _ if place < parameters + states => BlockCategory::OptimizerState,
                _ => BlockCategory::Unknown,
            };
        }
    }
    categories
}
