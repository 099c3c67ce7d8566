//! Blocks from before the first event: of most the recording says no more than their bytes, and who let go of them.

use std::collections::BTreeMap;

use super::BlockCategory;
use super::blocks::{BlockEvidence, LetGo, WORKSPACE, WORKSPACES};
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Blocks of fewer bytes do not say how much state there is for each parameter.
const SMALL: u64 = 512;
/// Each of the program's thread and autograd's keeps a workspace of a size.
const MOST_WORKSPACES: usize = 2;
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
        let let_go = match blocks.let_go(row) {
            LetGo::ByCode | LetGo::NotRecorded if blocks.is_lasting(row) => LetGo::Never,
            let_go => let_go,
        };
        match (signs.phase, let_go) {
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
    // Of each size, the parameters and all blocks that have a stack of their own; none of others.
    let mut known: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for (row, category) in categories.iter().enumerate() {
        let is_parameter = *category == BlockCategory::Parameter;
        if is_parameter || *category == BlockCategory::OptimizerState {
            let (parameters, all) = known.entry(blocks.bytes(row)).or_default();
            *parameters += usize::from(is_parameter);
            *all += 1;
        }
    }
    let known = |bytes: u64| known.get(&bytes).copied().unwrap_or_default();
    let counts = kept.iter().map(|(bytes, rows)| (*bytes, rows.len() + known(*bytes).1));
    let of_each = blocks_of_each_parameter(counts, gradients);
    for (bytes, mut rows) in kept {
        let of_size = gradients.get(&bytes).copied().unwrap_or(0);
        if !gradients.is_empty() && WORKSPACES.contains(&bytes) {
            let own = of_size.saturating_mul(of_each).saturating_sub(known(bytes).1);
            let own = own.min(rows.len());
            if rows.len() - own <= MOST_WORKSPACES {
                for row in rows.drain(own..) {
                    if let Some(category) = categories.get_mut(row) {
                        *category = BlockCategory::Workspace;
                    }
                }
            }
        }
        let (parameters, states) = match () {
            () if of_size > 0 => {
                let (made, all) = known(bytes);
                let parameters = of_size.saturating_sub(made).min(rows.len());
                let are_all = (rows.len() + all).checked_rem(of_size) == Some(0);
                (parameters, if are_all { rows.len() - parameters } else { 0 })
            }
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

/// How many blocks most parameters have, with themselves, by how many blocks of each size are kept: as most sizes say
/// that are of no workspace.
fn blocks_of_each_parameter(
    kept: impl Iterator<Item = (u64, usize)>,
    gradients: &BTreeMap<u64, usize>,
) -> usize {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for (bytes, blocks) in kept.filter(|(bytes, _)| !WORKSPACES.contains(bytes)) {
        let count = gradients.get(&bytes).filter(|count| blocks.checked_rem(**count) == Some(0));
        if let Some(each) = count.and_then(|count| blocks.checked_div(*count)) {
            *votes.entry(each).or_default() += 1;
        }
    }
    votes.into_iter().max_by_key(|(_, votes)| *votes).map_or(1, |(each, _)| each)
}
