//! The step in which memory ended, and the one before that went the same way: what the rest of it would have needed is what
//! that one needed.

use std::collections::HashMap;

use super::context::DeviceContext;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::phases::Phase;

/// How many of a hundred bytes must be asked for by the same stacks in blocks of the same size.
const LEAST_EQUAL_PERCENT: u64 = 95;
/// Phases that are looked at for the begin of a step.
const MOST_PHASES: usize = 128;
/// Fewest requests that say so.
const LEAST_REQUESTS: usize = 8;

/// Two steps that ask for the same; events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedStep {
    /// Where the one begins in which memory ended.
    pub begins: u32,
    /// Where the one before begins.
    pub like: u32,
}

impl UnfinishedStep {
    /// Of a device; `None` where memory did not end, or in no step that is like the one before.
    pub fn of(context: &DeviceContext<'_>) -> Option<Self> {
        let failed = context.ended_by?.event;
        let begins = step_begins(context, failed);
        let (last, earlier) = begins.split_last()?;
        let begins = *last;
        let row = context.lives().first_from(begins);
        let stack = context.stack(row);
        // The one before begins where the same stack asks; before the first a model is made.
        let after = earlier.last().copied().unwrap_or(0);
        let is_like = |other: &usize| {
            context.stack(*other) == stack
                && context.asked_at(*other).is_some_and(|event| event >= after)
        };
        let other = (0..row).find(is_like)?;
        // Libraries try a workspace here and none there, so the order is not the same.
        let mut before: HashMap<(StackId, u64), usize> = HashMap::new();
        let kind = |row: usize| (context.stack(row), context.requested(row));
        for other in other..row {
            *before.entry(kind(other)).or_default() += 1;
        }
        let failed_row = context.rows().end.checked_sub(1)?;
        let until = context.order(failed_row);
        let (mut all, mut equal) = (0_u64, 0_u64);
        for row in (row..until).chain([failed_row]) {
            let bytes = context.requested(row);
            all = all.saturating_add(bytes);
            if let Some(left) = before.get_mut(&kind(row)).filter(|left| **left > 0) {
                *left -= 1;
                equal = equal.saturating_add(bytes);
            }
        }
        let is_the_same =
            until.saturating_sub(row) >= LEAST_REQUESTS && equal >= all / 100 * LEAST_EQUAL_PERCENT;
        is_the_same.then_some(Self { begins, like: context.asked_at(other)? })
    }
}

/// The events at which the last two steps begin before another event: forward passes that follow a step of the optimizer, or
/// that begin without gradients after a backward pass. A step of the optimizer that allocates nothing leaves no other sign.
fn step_begins(context: &DeviceContext<'_>, before: u32) -> Vec<u32> {
    let moments = context.moments;
    let gradients: Vec<usize> = (0..context.lives().len())
        .filter(|row| context.category(*row) == BlockCategory::Gradient)
        .collect();
    let has_gradients = |event: u32| {
        let is_alive = |row: &usize| {
            context.asked_at(*row).is_none_or(|from| from < event) && context.freed_at(*row) > event
        };
        gradients.iter().any(is_alive)
    };
    let phases = moments.phases.iter().zip(moments.phases.iter().skip(1)).rev();
    let begins = phases.take(MOST_PHASES).filter_map(|((_, was), (event, is))| {
        let is_one = *is == Phase::Forward
            && match was {
                Phase::Optimizer => true,
                Phase::Backward => !has_gradients(*event),
                Phase::Forward => false,
            };
        (is_one && *event < before).then_some(*event)
    });
    let mut last: Vec<u32> = begins.take(2).collect();
    last.reverse();
    last
}
