//! A loss over many classes keeps a value for each token and each class several times: the result of the last layer, a
//! cast of it, the logarithm of the softmax, and their gradients. In parts, each computed again in the backward pass,
//! one part of them is there at a time.

use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::systems::pytorch::allocator::stack_signs::{StackPhase, StackRole};

/// Parts that are suggested.
const PARTS: u64 = 8;
/// Blocks before the loss among which its input is.
const BEFORE: usize = 4;
/// Blocks of the backward pass that are made of it.
const AFTER: usize = 3;
/// Part of what memory must suffice for from which a block of the loss counts.
const LEAST_PART: u64 = 50;

/// The blocks of losses that count.
pub(super) struct LossBlocks(Vec<bool>);

impl LossBlocks {
    pub(super) fn of(context: &DeviceContext<'_>) -> Self {
        Self(of_losses(context))
    }

    /// Whether a block is one of them.
    pub(super) fn holds(&self, row: usize) -> bool {
        self.0.get(row).copied().unwrap_or(false)
    }

    pub(super) fn candidate<'a>(&'a self, context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
        let rows = context.at_most(|row| self.holds(row));
        BlockCandidate {
            technique: SnapshotTechnique::ChunkedLoss,
            text: format!(
                "{} have a value for each sample and each class of the loss. Computed in {PARTS} parts, the last layer \
                 and the loss of each again in the backward pass, an eighth of them is there at a time",
                of_most(context, &rows)
            ),
            rows,
            evidence: "Inputs of the loss, and what it makes of them",
            expected: Some(BlockChange::part_of(PARTS, |row| self.holds(row))),
            best: BlockChange::without(|row| self.holds(row)),
            basis: format!(
                "expected: the peak with one of {PARTS} parts of these blocks and of their gradients; at most: without \
                 them"
            ),
            caution: "The last layer is computed twice. Libraries have it as one kernel: a fused linear cross entropy",
        }
    }
}

/// Of each block, whether it is one of them.
fn of_losses(context: &DeviceContext<'_>) -> Vec<bool> {
    let rows = context.rows();
    let mut found = vec![false; rows.end];
    let least = context.most.bytes / LEAST_PART;
    for row in rows.clone() {
        let (signs, bytes) = (context.signs_of(row), context.requested(row));
        let is_of_program = signs.phase == StackPhase::Forward || signs.is_recomputed;
        if signs.role != StackRole::Loss || !is_of_program || bytes < least {
            continue;
        }
        let is_like = |other: usize| {
            let other = context.requested(other);
            other == bytes || other == bytes / 2 || other == bytes.saturating_mul(2)
        };
        let Some(now) = context.asked_at(row) else { continue };
        let order = context.order(row);
        let before = order.saturating_sub(BEFORE)..order;
        let before = before.filter(|other| context.freed_at(*other) > now && is_like(*other));
        let after = (row.saturating_add(1)..context.lives().len())
            .take_while(|other| {
                let signs = context.signs_of(*other);
                signs.role == StackRole::Loss || signs.phase != StackPhase::Forward
            })
            .filter(|other| !context.signs_of(*other).has_python && is_like(*other));
        for other in before.chain([row]).chain(after.take(AFTER)) {
            if let Some(found) = found.get_mut(other) {
                *found = true;
            }
        }
    }
    found
}
