//! Passes without a backward pass: those that ran out of memory before it, those of a recording that ends before it, and
//! those of inference, which record no graph.
//!
//! Where an earlier pass with a backward pass allocated by the same stacks in the same order, a block is what its
//! partner there was. Else a graph is recorded if much of what modules asked for is alive together at the end of it.

use std::collections::HashMap;
use std::ops::Range;

use super::blocks::{BlockEvidence, LetGo};
use super::passes::RunPass;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::stack_signs::StackPhase;

/// Fewest blocks that are alive together where a graph is recorded.
const LEAST_ALIVE: usize = 8;
/// How many times the largest of them they are at least.
const LEAST_TIMES: u64 = 4;
/// Or, without the largest, which may be a loss that is not done yet, how many times the second largest.
const LEAST_TIMES_OF_SECOND: u64 = 6;
/// How many times as large as all others a block is that must be the input of a loss.
const FAR_LARGER: u64 = 2;
/// The part of all that modules asked for that they are at least: caches of keys and values are alive too.
const LEAST_PART: u64 = 3;

/// The event at which what a graph keeps is alive: the request that failed, or the last of a module.
pub fn end_of_forward(blocks: &BlockEvidence<'_>, pass: &RunPass) -> u32 {
    let last = blocks.event(pass.last_forward);
    let of_calls = pass.calls.map_or(last, |(_, last)| blocks.event(last));
    blocks.failed_within(last..pass.end).unwrap_or(of_calls)
}

/// Whether what is alive at an event says that the pass records a graph.
pub fn records_graph(blocks: &BlockEvidence<'_>, pass: &RunPass, at: u32) -> bool {
    let (mut alive, mut alive_bytes, mut all_bytes) = (0_usize, 0_u64, 0_u64);
    let (mut largest, mut second) = (0_u64, 0_u64);
    for row in pass.rows.clone() {
        let (signs, bytes) = (blocks.signs(row), blocks.bytes(row));
        let is_of_autocast = blocks.let_go(row) == LetGo::ByAutocast;
        let may_be_kept = signs.phase == StackPhase::Forward && signs.is_of_network();
        if !may_be_kept || signs.records_no_graph || is_of_autocast {
            continue;
        }
        all_bytes = all_bytes.saturating_add(bytes);
        if blocks.until(row) > at {
            alive += 1;
            alive_bytes = alive_bytes.saturating_add(bytes);
            second = second.max(bytes.min(largest));
            largest = largest.max(bytes);
        }
    }
    alive >= LEAST_ALIVE
        && (alive_bytes > largest.saturating_mul(LEAST_TIMES)
            || alive_bytes - largest > second.saturating_mul(LEAST_TIMES_OF_SECOND))
        && alive_bytes >= all_bytes / LEAST_PART
}

/// The block that a forward pass computed last, which no graph keeps yet. Where a request failed and one block is far larger
/// than all others, it is that one: a loss keeps what it makes of it.
pub fn result(blocks: &BlockEvidence<'_>, pass: &RunPass, at: u32) -> Option<usize> {
    let (first, last) = pass.calls?;
    if blocks.failed.binary_search(&at).is_err() {
        return Some(last);
    }
    let (mut largest, mut second) = ((0, last), 0);
    for row in first..=last {
        let bytes = blocks.bytes(row);
        if blocks.signs(row).is_call && blocks.until(row) > at {
            second = second.max(bytes.min(largest.0));
            largest = largest.max((bytes, row));
        }
    }
    Some(if largest.0 / FAR_LARGER > second { largest.1 } else { last })
}

/// The blocks of an earlier forward pass, by what each was for its stack: its first, its second …
pub struct Partners(HashMap<(StackId, u32), usize>);

impl Partners {
    pub fn of(blocks: &BlockEvidence<'_>, rows: Range<usize>) -> Self {
        let mut partners = HashMap::new();
        for_each_forward(blocks, rows, |row, key| {
            partners.insert(key, row);
        });
        Self(partners)
    }

    /// The partner of each block of a forward pass; `None` where too few have one.
    pub fn pairs(
        &self,
        blocks: &BlockEvidence<'_>,
        rows: Range<usize>,
    ) -> Option<Vec<(usize, usize)>> {
        let (mut pairs, mut count) = (Vec::new(), 0_usize);
        for_each_forward(blocks, rows, |row, key| {
            count += 1;
            pairs.extend(self.0.get(&key).map(|partner| (row, *partner)));
        });
        // Four of five.
        (count > 0 && pairs.len() * 5 >= count * 4).then_some(pairs)
    }
}

/// Does something with each block of the forward passes of rows that outlives its call, with its stack and how many that
/// had asked for before: a library may try a workspace here and none there.
fn for_each_forward(
    blocks: &BlockEvidence<'_>,
    rows: Range<usize>,
    mut each: impl FnMut(usize, (StackId, u32)),
) {
    let mut counts: HashMap<StackId, u32> = HashMap::new();
    // The first of another stack.
    let mut next = rows.start;
    for row in rows.clone().filter(|row| blocks.phase(*row) == StackPhase::Forward) {
        let stack = blocks.lives.stacks[row];
        if next <= row {
            next = row + 1;
            while next < rows.end && blocks.lives.stacks[next] == stack {
                next += 1;
            }
        }
        if next < rows.end && blocks.until(row) < blocks.event(next) {
            continue;
        }
        let count = counts.entry(stack).or_default();
        each(row, (stack, *count));
        *count += 1;
    }
}
