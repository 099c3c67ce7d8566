//! The parts of a run that differ. Training repeats its steps, and of steps that ask for the same, with the same blocks there
//! when they begin, it is enough to look at one.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::context::DeviceContext;
use crate::systems::pytorch::allocator::phases::Phase;

/// Fewer steps are not worth the search.
const LEAST_STEPS: usize = 4;
/// Blocks that are there when steps begin, summed over the steps, of which more would take longer than they save.
const MOST_CARRIED: usize = 1 << 24;

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingPart {
    pub events: Range<u32>,
    /// The first block that it asks for; a row.
    pub first_row: usize,
    /// The blocks that are there when it begins; rows.
    pub carried: Vec<u32>,
}

/// The parts of a run that differ, in their order; of equal ones the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingParts {
    pub parts: Vec<DifferingPart>,
    /// The block that each event frees, or `BlockLives::NO_BLOCK`.
    pub freed: Vec<u32>,
}

impl DifferingParts {
    pub fn of(context: &DeviceContext<'_>) -> Self {
        let freed = context.lives().freed_by(context.device.events.len());
        let end = u32::try_from(freed.len()).unwrap_or(u32::MAX);
        let begins = context.moments.phases.iter().filter(|(_, phase)| *phase == Phase::Forward);
        let begins = begins.map(|(event, _)| *event).filter(|event| *event > 0);
        let begins: Vec<u32> = std::iter::once(0).chain(begins).collect();
        // After a failure each step counts for itself.
        let are_worth_it = begins.len() >= LEAST_STEPS && context.ended_by.is_none();
        let parts = are_worth_it.then(|| differing(context, &begins, end)).flatten();
        let parts = parts.unwrap_or_else(|| {
            let first_row = context.lives().first_from(0);
            let carried = (0..u32::try_from(first_row).unwrap_or(u32::MAX)).collect();
            vec![DifferingPart { events: 0..end, first_row, carried }]
        });
        Self { parts, freed }
    }
}

/// The steps that differ; `None` where too much is there when they begin.
fn differing(context: &DeviceContext<'_>, begins: &[u32], end: u32) -> Option<Vec<DifferingPart>> {
    let lives = context.lives();
    let ends = begins.iter().skip(1).copied().chain([end]);
    let step = |(begin, end): (&u32, u32)| DifferingPart {
        events: *begin..end,
        first_row: lives.first_from(*begin),
        carried: Vec::new(),
    };
    // Each with a number that is the same for steps that do the same.
    let mut steps: Vec<(u64, DifferingPart)> =
        begins.iter().zip(ends).map(|pair| (0, step(pair))).collect();
    let hasher = FixedState::default();
    let mut carried = 0_usize;
    for row in 0..lives.len() {
        let (asked_at, freed) = (context.asked_at(row), context.freed_at(row));
        let what = (context.stack(row).0, context.requested(row), context.category(row) as u8);
        // When it is asked for and when it goes, from the begin of the step; of one that outlives it that does not matter.
        let sign = |events: &Range<u32>, asked_at: Option<u32>| {
            let asked = asked_at.map(|event| event.saturating_sub(events.start));
            let goes = (freed < events.end).then(|| freed.saturating_sub(events.start));
            hasher.hash_one((what, asked, goes))
        };
        let later = asked_at.map_or(0, |event| begins.partition_point(|begin| *begin <= event));
        let own = asked_at.and_then(|_| steps.get_mut(later.checked_sub(1)?));
        if let Some((sum, part)) = own {
            *sum = sum.wrapping_add(sign(&part.events, asked_at));
        }
        for (sum, part) in steps.iter_mut().skip(later) {
            if part.events.start > freed {
                break;
            }
            carried += 1;
            *sum = sum.wrapping_add(sign(&part.events, None));
            part.carried.push(u32::try_from(row).unwrap_or(u32::MAX));
        }
        if carried > MOST_CARRIED {
            return None;
        }
    }
    let mut seen = HashSet::new();
    steps.retain(|(sum, part)| seen.insert((*sum, part.events.len())));
    Some(steps.into_iter().map(|(_, part)| part).collect())
}
