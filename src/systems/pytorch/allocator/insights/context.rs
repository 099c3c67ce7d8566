//! The basis of every insight of a device: its blocks with what is known of each, and the moment that memory must suffice
//! for. That is the peak of the requested curve, or the request at which the run ended, if more is asked for then: it
//! counts as a block, the last row, that lives for a moment.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::differing_parts::DifferingParts;
use super::out_of_memory::left_for;
use super::unfinished_step::UnfinishedStep;
use super::what_if::BlockChange;
use crate::run::{Evidence, SavedOf};
use crate::store::snapshot::{Snapshot, SnapshotDevice, StackId};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::failed_requests::FailedRequest;
use crate::systems::pytorch::allocator::free_pieces::AllocatorState;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::peak::PeakContents;
use crate::systems::pytorch::allocator::phases::{PhaseMoments, PhaseOfEvent};
use crate::systems::pytorch::allocator::replay::{EventPeak, Replay};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stack_signs::{AllSigns, StackPhase, StackSigns};
use crate::systems::pytorch::allocator::stated_failure::{StatedFailure, text_of};

/// A device with what is known of it.
pub struct DeviceContext<'a> {
    pub replayed: &'a ReplayedSnapshot,
    pub place: usize,
    pub snapshot: &'a Snapshot,
    pub device: &'a SnapshotDevice,
    pub replay: &'a Replay,
    pub categories: &'a [BlockCategory],
    /// What stacks say.
    pub signs: &'a AllSigns,
    /// Where phases and steps begin.
    pub moments: &'a PhaseMoments,
    /// What is alive at the peak.
    pub peak: &'a PeakContents,
    /// The moment that memory must suffice for, and the bytes that are asked for then.
    pub most: EventPeak,
    /// The blocks that are alive then.
    live_at_most: Cow<'a, [usize]>,
    /// Whether anything is kept for a backward pass.
    pub records_graph: bool,
    /// The last requests that failed.
    pub failed: &'a [FailedRequest],
    /// The one at which the run ended.
    pub ended_by: Option<FailedRequest>,
    /// What is there after that one.
    pub at_failure: Option<AllocatorState>,
    /// What the process could still have had from the device then.
    pub left_at_failure: Option<u64>,
    /// The step in which it ended, where the one before tells of the rest of it.
    pub unfinished: Option<UnfinishedStep>,
    /// Its parts that differ, once they were asked for.
    pub parts: OnceLock<DifferingParts>,
}

impl<'a> DeviceContext<'a> {
    /// Of a device at a place of a snapshot.
    pub fn of(
        replayed: &'a ReplayedSnapshot,
        place: usize,
        stated: &[StatedFailure],
    ) -> Option<Self> {
        let (device, replay) = replayed.device(place)?;
        let (snapshot, ended_by) = (&replayed.snapshot, replayed.ended_by(place));
        let state = |failed: FailedRequest| {
            AllocatorState::after(snapshot, device, replay, failed.event.into())
        };
        let at_failure = ended_by.map(state);
        let left_at_failure = ended_by.zip(at_failure.as_ref()).and_then(|(failed, state)| {
            let text = text_of(stated, device.number, &failed);
            left_for(failed, text, state.reserved_bytes)
        });
        let (peak, live_at_peak) = (replayed.peak(place)?, replayed.live_at_peak(place));
        let mut most = EventPeak { bytes: peak.bytes, event: peak.event };
        let mut live_at_most = Cow::Borrowed(live_at_peak);
        if let Some(failed) = ended_by {
            let lives = &replay.lives;
            let mut live: Vec<usize> = lives.live_after(failed.event.into()).collect();
            let bytes = live.iter().map(|row| lives.requested[*row]);
            let bytes = bytes.fold(failed.bytes, u64::saturating_add);
            if bytes > most.bytes {
                live.push(lives.len());
                most = EventPeak { bytes, event: failed.event.into() };
                live_at_most = Cow::Owned(live);
            }
        }
        let mut context = Self {
            replayed,
            place,
            snapshot,
            device,
            replay,
            categories: replayed.categories(place),
            records_graph: replayed.categories(place).contains(&BlockCategory::Activation),
            signs: replayed.signs(),
            moments: replayed.moments(place)?,
            peak,
            most,
            live_at_most,
            failed: &replayed.device_facts().get(place)?.oom,
            ended_by,
            at_failure,
            left_at_failure,
            unfinished: None,
            parts: OnceLock::new(),
        };
        context.unfinished = UnfinishedStep::of(&context);
        Some(context)
    }

    /// What the device is called, where the run has several.
    pub fn device_name(&self) -> Option<String> {
        (self.snapshot.devices.len() > 1).then(|| self.device.title())
    }

    /// Evidence with its bytes, at an event of the device.
    pub fn evidence(&self, text: impl Into<String>, bytes: u64, event: i64) -> Evidence {
        let device = self.device.number;
        Evidence::of(text, bytes).at_step(event).at(|place| place.device = Some(device))
    }

    /// Evidence with its bytes, at a user frame where there is one.
    pub fn evidence_of_frame(
        &self,
        text: impl Into<String>,
        bytes: u64,
        frame: Option<String>,
    ) -> Evidence {
        Evidence::of(text, bytes).at(|place| {
            place.device = Some(self.device.number);
            place.frame = frame;
        })
    }

    pub fn lives(&self) -> &'a BlockLives {
        &self.replay.lives
    }

    /// Rows of blocks, with that of the request at which the run ended.
    pub fn rows(&self) -> Range<usize> {
        0..self.lives().len() + usize::from(self.ended_by.is_some())
    }

    /// Whether a row is the request at which the run ended.
    pub fn is_failed(&self, row: usize) -> bool {
        self.ended_by.is_some() && row == self.lives().len()
    }

    /// Bytes that were asked for.
    pub fn requested(&self, row: usize) -> u64 {
        let failed = || self.ended_by.map_or(0, |failed| failed.bytes);
        self.lives().requested.get(row).copied().unwrap_or_else(failed)
    }

    /// The event that asked for a block; `None` if it lived before the first.
    pub fn asked_at(&self, row: usize) -> Option<u32> {
        if self.is_failed(row) {
            return self.ended_by.map(|failed| failed.event);
        }
        self.lives().allocation(row)
    }

    /// The event since which a block can be used again.
    pub fn freed_at(&self, row: usize) -> u32 {
        let failed = || self.ended_by.map_or(0, |failed| failed.event);
        self.lives().freed_at.get(row).copied().unwrap_or_else(failed)
    }

    /// The place of a block in the order of requests.
    pub fn order(&self, row: usize) -> usize {
        match self.asked_at(row).filter(|_| self.is_failed(row)) {
            Some(event) => self.lives().first_from(event),
            None => row,
        }
    }

    pub fn stack(&self, row: usize) -> StackId {
        let failed = || {
            let row = self.device.events.start.checked_add(self.ended_by?.event as usize)?;
            self.snapshot.events.stacks.get(row).copied()
        };
        let stack = self.lives().stacks.get(row).copied();
        stack.or_else(failed).unwrap_or(StackId::NONE)
    }

    /// The category of a block; a request that failed is taken to be what its stack says.
    pub fn category(&self, row: usize) -> BlockCategory {
        if self.is_failed(row) {
            let signs = self.signs_of(row);
            let is_kept = signs.is_of_network() && self.records_graph;
            let is_forward = signs.phase == StackPhase::Forward;
            return if is_kept && is_forward {
                BlockCategory::Activation
            } else {
                BlockCategory::Temporary
            };
        }
        self.categories.get(row).copied().unwrap_or(BlockCategory::Unknown)
    }

    /// What the stack of a block says.
    pub fn signs_of(&self, row: usize) -> StackSigns {
        self.signs.of_stack(self.stack(row))
    }

    pub fn phase(&self, event: i64) -> Option<PhaseOfEvent> {
        PhaseOfEvent::of(self.replayed, self.place, event)
    }

    pub fn state_after(&self, event: i64) -> AllocatorState {
        AllocatorState::after(self.snapshot, self.device, self.replay, event)
    }

    /// The blocks of which something holds and for which memory must suffice at once, the largest first.
    pub fn at_most(&self, holds: impl Fn(usize) -> bool) -> Vec<usize> {
        let live = self.live_at_most.iter().copied();
        let mut rows: Vec<usize> = live.filter(|row| holds(*row)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(self.requested(*row)));
        rows
    }

    /// Whether the request at which the run ended is one of them.
    pub fn has_failed_at_most(&self) -> bool {
        self.live_at_most.last().is_some_and(|row| self.is_failed(*row))
    }

    /// What the most is.
    pub fn most_is_of(&self) -> SavedOf {
        if self.has_failed_at_most() { SavedOf::WantedAtFailure } else { SavedOf::RequestedPeak }
    }

    /// Bytes that were asked for of some blocks.
    pub fn bytes_of(&self, rows: &[usize]) -> u64 {
        rows.iter().fold(0, |sum, row| sum.saturating_add(self.requested(*row)))
    }

    /// The same of all of a category that are alive at the moment that memory must suffice for.
    pub fn bytes_at_most(&self, category: BlockCategory) -> u64 {
        self.bytes_of(&self.at_most(|row| self.category(row) == category))
    }
}

/// Questions about the passes of a run.
impl DeviceContext<'_> {
    /// Whether gradients are computed, as far as it is recorded.
    pub fn is_training(&self) -> bool {
        !self.moments.backward.is_empty() || !self.moments.optimizer_steps.is_empty()
    }

    /// Whether a block of a pass is there when a later forward pass begins.
    pub fn outlives_pass(&self, row: usize) -> bool {
        let until = self.freed_at(row);
        self.asked_at(row).is_some_and(|from| self.moments.has_forward_within(from, until))
    }

    /// The most bytes of gradients that are there at once.
    pub fn most_of_gradients(&self) -> u64 {
        let is_other = |row: usize| self.category(row) != BlockCategory::Gradient;
        let gradients = BlockChange::without(is_other);
        self.after_changes(&[&gradients]).first().map_or(0, |after| after.most.bytes)
    }

    /// Whether modules of a network asked for anything.
    pub fn has_network(&self) -> bool {
        self.rows().any(|row| self.signs_of(row).is_call)
    }

    /// Whether distributed training asked for anything.
    pub fn is_distributed(&self) -> bool {
        self.rows().any(|row| self.signs_of(row).is_distributed)
    }
}
