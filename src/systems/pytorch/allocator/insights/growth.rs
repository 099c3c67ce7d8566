//! References that grow: user frames that have more bytes alive each time the optimizer begins a step than the time
//! before. At that point of a step activations are gone and gradients there, so a run that keeps nothing has the same
//! each time. At least three steps are needed; if there are many, some spread over all of them are examined.

use std::collections::HashMap;

use serde::Serialize;

use super::context::DeviceContext;
use crate::run::Evidence;
use crate::store::snapshot::Frame;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title, user_frame};

/// Steps that are looked at.
const MOST_STEPS: usize = 16;
/// Fewest steps by which growth is told.
const LEAST_STEPS: usize = 3;
/// Frames that are listed.
const MOST_FRAMES: usize = 5;
/// Growth below this share of the peak is not worth a word.
const LEAST_SHARE: u64 = 200;

/// A user frame that has more alive from step to step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrowingFrame {
    pub name: String,
    /// Bytes that it has alive where the first and the last of the steps that were looked at begin.
    pub first_bytes: u64,
    /// The same of the last.
    pub last_bytes: u64,
    /// Steps between the two.
    pub steps: usize,
    /// The events at which they begin.
    pub events: (u32, u32),
}

impl GrowingFrame {
    /// By how much it grew.
    pub fn grown_bytes(&self) -> u64 {
        self.last_bytes.saturating_sub(self.first_bytes)
    }

    /// By how much it grew with each step.
    pub fn bytes_by_step(&self) -> u64 {
        self.grown_bytes() / (self.steps.max(1) as u64)
    }

    /// Evidence of the growth, at the last of the steps.
    pub fn evidence(&self, context: &DeviceContext<'_>, text: impl Into<String>) -> Evidence {
        let frame = (self.name != NO_STACK).then(|| self.name.clone());
        context.evidence_of_frame(text, self.grown_bytes(), frame).at_step(self.events.1)
    }
}

/// The frames of a device that grow, those that grow most first.
pub fn growing_frames(context: &DeviceContext<'_>) -> Vec<GrowingFrame> {
    let all = &context.moments.optimizer_steps;
    let steps = spread(all);
    if steps.len() < LEAST_STEPS {
        return Vec::new();
    }
    let (lives, snapshot) = (context.lives(), context.snapshot);
    let mut changes: HashMap<Option<Frame>, Vec<i64>> = HashMap::new();
    for row in 0..lives.len() {
        // What the optimizer keeps comes with its first step.
        if context.signs_of(row).is_optimizer()
            || matches!(context.category(row), BlockCategory::Parameter)
        {
            continue;
        }
        let from = lives
            .allocation(row)
            .map_or(0, |event| steps.partition_point(|(_, step)| *step <= event));
        let until = match lives.freed_at[row] {
            BlockLives::OPEN => steps.len(),
            event => steps.partition_point(|(_, step)| *step < event),
        };
        if from >= until {
            continue;
        }
        let frame = user_frame(snapshot, lives.stacks[row]).copied();
        let sums = changes.entry(frame).or_insert_with(|| vec![0; steps.len() + 1]);
        let bytes = i64::try_from(lives.requested[row]).unwrap_or(i64::MAX);
        sums[from] = sums[from].saturating_add(bytes);
        sums[until] = sums[until].saturating_sub(bytes);
    }
    let least = context.peak.bytes / LEAST_SHARE;
    let growing = changes.into_iter().filter_map(|(frame, changes)| {
        let mut now = 0_i64;
        let levels: Vec<i64> = changes
            .iter()
            .take(steps.len())
            .map(|change| {
                now = now.saturating_add(*change);
                now
            })
            .collect();
        let grows = levels.windows(2).all(|pair| matches!(pair, [before, after] if after > before));
        let [first, .., last] = levels.as_slice() else { return None };
        let (first_step, last_step) = (steps.first()?, steps.last()?);
        let found = GrowingFrame {
            name: frame.map_or_else(|| NO_STACK.to_owned(), |frame| frame_title(snapshot, &frame)),
            first_bytes: u64::try_from(*first).unwrap_or(0),
            last_bytes: u64::try_from(*last).unwrap_or(0),
            steps: last_step.0.saturating_sub(first_step.0),
            events: (first_step.1, last_step.1),
        };
        (grows && found.grown_bytes() > least).then_some(found)
    });
    let mut growing: Vec<GrowingFrame> = growing.collect();
    growing.sort_by(|a, b| b.grown_bytes().cmp(&a.grown_bytes()).then_with(|| a.name.cmp(&b.name)));
    growing.truncate(MOST_FRAMES);
    growing
}

/// Some of the steps, with their numbers, from the first to the last.
fn spread(steps: &[u32]) -> Vec<(usize, u32)> {
    let all = steps.len();
    let most = all.min(MOST_STEPS);
    let number = |place: usize| place * all.saturating_sub(1) / most.saturating_sub(1).max(1);
    (0..most).filter_map(|place| Some((number(place), *steps.get(number(place))?))).collect()
}
