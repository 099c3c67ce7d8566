//! How high would the requested curve be if some blocks were smaller, everything else staying as it is?

use rayon::prelude::*;

use super::context::DeviceContext;
use super::differing_parts::DifferingParts;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replay::EventPeak;

/// What a technique does to blocks.
pub struct BlockChange<'a> {
    /// Bytes left of a block, by its row and the bytes that it has now.
    left: Box<dyn Fn(usize, u64) -> u64 + Sync + 'a>,
    /// Bytes that are needed besides, at any time.
    besides: u64,
    /// Bytes that are needed in place of what is taken away, as far as that much is.
    in_place: u64,
}

impl<'a> BlockChange<'a> {
    /// Of each block so much is left.
    pub fn to(left: impl Fn(usize, u64) -> u64 + Sync + 'a) -> Self {
        Self { left: Box::new(left), besides: 0, in_place: 0 }
    }

    /// One of so many parts of some blocks is left; of no parts nothing.
    pub fn part_of(parts: u64, acts_on: impl Fn(usize) -> bool + Sync + 'a) -> Self {
        Self::to(
            move |row, bytes| {
                if acts_on(row) { bytes.checked_div(parts).unwrap_or(0) } else { bytes }
            },
        )
    }

    /// Some blocks are gone.
    pub fn without(is_gone: impl Fn(usize) -> bool + Sync + 'a) -> Self {
        Self::part_of(0, is_gone)
    }

    /// The same, and bytes are needed besides.
    pub fn needing(self, besides: u64) -> Self {
        Self { besides, ..self }
    }

    /// The same in place of what is taken away, as far as that much is.
    pub fn needing_in_place(self, in_place: u64) -> Self {
        Self { in_place, ..self }
    }

    /// Bytes left of a block.
    pub fn left_of(&self, row: usize, bytes: u64) -> u64 {
        (self.left)(row, bytes)
    }
}

/// What is asked for after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterChange {
    /// The most at once.
    pub most: EventPeak,
    /// The most that the whole of the step in which memory ended would ask for, where that can be told.
    pub unfinished_step: Option<u64>,
}

impl DeviceContext<'_> {
    /// What is asked for after each of some changes: one pass over the parts of the run that differ for each.
    pub fn after_changes(&self, changes: &[&BlockChange<'_>]) -> Vec<AfterChange> {
        let parts = self.parts.get_or_init(|| DifferingParts::of(self));
        changes.par_iter().map(|change| self.after_change(change, parts)).collect()
    }

    fn after_change(&self, change: &BlockChange<'_>, parts: &DifferingParts) -> AfterChange {
        let lives = self.lives();
        // What is left of a block, and what is taken away.
        let of = |row: usize| {
            let bytes = self.requested(row);
            let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
            let left = signed(change.left_of(row, bytes));
            (left, signed(bytes).saturating_sub(left))
        };
        let besides = i64::try_from(change.besides).unwrap_or(i64::MAX);
        let in_place = i64::try_from(change.in_place).unwrap_or(i64::MAX);
        let at = |now: i64, event: i64| EventPeak { bytes: u64::try_from(now).unwrap_or(0), event };
        let with = |now: i64, taken: i64| now.saturating_add(in_place.min(taken.max(0)));
        let mut most = EventPeak { bytes: 0, event: -1 };
        let mut reaches = |then: EventPeak| {
            if then.bytes > most.bytes {
                most = then;
            }
        };
        // Of the step before the one in which memory ended: what was there when it began, the most that it asked for, and
        // what it made once for all later ones.
        let (mut at_like, mut of_like, mut once, mut at_begin) = (0_i64, 0_i64, 0_i64, 0_i64);
        let unfinished = self.unfinished;
        let within = unfinished.map_or(0..0, |step| step.like..step.begins);
        for part in &parts.parts {
            let (mut now, mut taken) = (besides, 0_i64);
            for row in &part.carried {
                let (left, away) = of(*row as usize);
                (now, taken) = (now.saturating_add(left), taken.saturating_add(away));
            }
            if part.events.start == 0 {
                reaches(at(with(now, taken), -1));
            }
            let mut next = part.first_row;
            let range = part.events.start as usize..part.events.end as usize;
            let freed = parts.freed.get(range).unwrap_or_default();
            for (event, freed) in part.events.clone().zip(freed) {
                if event == within.start {
                    at_like = now;
                }
                if event == within.end {
                    at_begin = now;
                }
                if *freed != BlockLives::NO_BLOCK {
                    let (left, away) = of(*freed as usize);
                    (now, taken) = (now.saturating_sub(left), taken.saturating_sub(away));
                }
                let then = match self.ended_by.filter(|failed| failed.event == event) {
                    Some(_) => {
                        let (left, away) = of(lives.len());
                        with(now.saturating_add(left), taken.saturating_add(away))
                    }
                    None if lives.allocated_at.get(next) == Some(&event) => {
                        let (left, away) = of(next);
                        (now, taken) = (now.saturating_add(left), taken.saturating_add(away));
                        if within.contains(&event) && is_made_once(self.category(next)) {
                            once = once.saturating_add(left);
                        }
                        next += 1;
                        with(now, taken)
                    }
                    None => continue,
                };
                if within.contains(&event) {
                    of_like = of_like.max(then.saturating_sub(once));
                }
                reaches(at(then, event.into()));
            }
        }
        let whole = of_like.saturating_add(at_begin.saturating_sub(at_like));
        let unfinished_step = unfinished.and_then(|_| u64::try_from(whole).ok());
        AfterChange { most, unfinished_step: unfinished_step.map(|bytes| bytes.max(most.bytes)) }
    }
}

/// Whether later steps find what an earlier one made.
fn is_made_once(category: BlockCategory) -> bool {
    matches!(
        category,
        BlockCategory::OptimizerState | BlockCategory::Workspace | BlockCategory::Parameter
    )
}
