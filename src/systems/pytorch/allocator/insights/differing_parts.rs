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
    /// The block that each event frees, or [`Self::NO_BLOCK`]. An event completes one free at most, as the replay does it.
    pub freed: Vec<u32>,
}

impl DifferingParts {
    pub const NO_BLOCK: u32 = u32::MAX;

    pub fn of(context: &DeviceContext<'_>) -> Self {
        let lives = context.lives();
        let mut freed = vec![Self::NO_BLOCK; context.device.events.len()];
        for (row, event) in (0..).zip(&lives.freed_at) {
            if let Some(block) = freed.get_mut(*event as usize) {
                *block = row;
            }
        }
        let end = u32::try_from(freed.len()).unwrap_or(u32::MAX);
        let begins = context.moments.phases.iter().filter(|(_, phase)| *phase == Phase::Forward);
        let begins = begins.map(|(event, _)| *event).filter(|event| *event > 0);
        let begins: Vec<u32> = std::iter::once(0).chain(begins).collect();
        // After a failure each step counts for itself.
        let are_worth_it = begins.len() >= LEAST_STEPS && context.ended_by.is_none();
        let parts = are_worth_it.then(|| differing(context, &begins, end)).flatten();
        let parts = parts.unwrap_or_else(|| {
            let early = lives.allocated_at.partition_point(|event| *event == u32::MAX);
            let carried = (0..u32::try_from(early).unwrap_or(u32::MAX)).collect();
            vec![DifferingPart { events: 0..end, first_row: early, carried }]
        });
        Self { parts, freed }
    }
}

/// The steps that differ; `None` where too much is there when they begin.
fn differing(context: &DeviceContext<'_>, begins: &[u32], end: u32) -> Option<Vec<DifferingPart>> {
    let lives = context.lives();
    let mut signs = vec![0_u64; begins.len()];
    let mut first_rows = vec![lives.len(); begins.len()];
    let end_of = |step: usize| begins.get(step.saturating_add(1)).copied().unwrap_or(end);
    // When a block goes, counted from the begin of a step; of one that outlives the step it does not matter.
    let goes = |step: usize, freed: u32| {
        let begin = begins.get(step).copied().unwrap_or(0);
        if freed < end_of(step) { freed.saturating_sub(begin) } else { u32::MAX }
    };
    let hasher = FixedState::default();
    let mut carried = 0_usize;
    for row in 0..lives.len() {
        let (asked_at, freed) = (context.asked_at(row), context.freed_at(row));
        let what = (context.stack(row).0, context.requested(row), context.category(row) as u8);
        let sign = |when: (Option<u32>, u32)| hasher.hash_one((what, when));
        let own = asked_at.map(|event| begins.partition_point(|begin| *begin <= event) - 1);
        if let (Some(step), Some(event)) = (own, asked_at) {
            let begin = begins.get(step).copied().unwrap_or(0);
            if let (Some(sum), Some(first)) = (signs.get_mut(step), first_rows.get_mut(step)) {
                *sum = sum.wrapping_add(sign((Some(event - begin), goes(step, freed))));
                *first = (*first).min(row);
            }
        }
        let later = own.map_or(0, |step| step.saturating_add(1));
        for (step, begin) in begins.iter().enumerate().skip(later) {
            if *begin > freed {
                break;
            }
            carried += 1;
            if let Some(sum) = signs.get_mut(step) {
                *sum = sum.wrapping_add(sign((None, goes(step, freed))));
            }
        }
        if carried > MOST_CARRIED {
            return None;
        }
    }
    let mut seen = HashSet::new();
    let is_new = |step: &usize| {
        let length = begins.get(*step).map(|begin| end_of(*step).saturating_sub(*begin));
        signs.get(*step).is_some_and(|sign| seen.insert((*sign, length)))
    };
    let kept: Vec<usize> = (0..begins.len()).filter(is_new).collect();
    let mut parts: Vec<DifferingPart> = kept
        .iter()
        .filter_map(|step| {
            let begin = *begins.get(*step)?;
            let first_row = *first_rows.get(*step)?;
            Some(DifferingPart { events: begin..end_of(*step), first_row, carried: Vec::new() })
        })
        .collect();
    let starts: Vec<u32> = parts.iter().map(|part| part.events.start).collect();
    for row in 0..lives.len() {
        let freed = context.freed_at(row);
        let from = match context.asked_at(row) {
            Some(event) => starts.partition_point(|start| *start <= event),
            None => 0,
        };
        for part in parts.iter_mut().skip(from) {
            if part.events.start > freed {
                break;
            }
            part.carried.push(u32::try_from(row).unwrap_or(u32::MAX));
        }
    }
    Some(parts)
}
