//! What every insight of a device is worked out from, and the question that most ask: how high the peak would be if
//! some blocks were smaller.

use crate::analysis::allocator::categories::BlockCategory;
use crate::analysis::allocator::failed_requests::FailedRequest;
use crate::analysis::allocator::free_pieces::AllocatorState;
use crate::analysis::allocator::lives::BlockLives;
use crate::analysis::allocator::peak::PeakContents;
use crate::analysis::allocator::phases::{Moments, PhaseOfEvent};
use crate::analysis::allocator::replay::{Peak, Replay};
use crate::analysis::allocator::replayed::ReplayedSnapshot;
use crate::analysis::allocator::stack_signs::{AllSigns, StackSigns};
use crate::store::snapshot::{Snapshot, SnapshotDevice};

/// A device with what is known of it.
pub struct Context<'a> {
    /// All of it, replayed.
    pub replayed: &'a ReplayedSnapshot,
    /// The place of the device.
    pub place: usize,
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The device.
    pub device: &'a SnapshotDevice,
    /// Its replay.
    pub replay: &'a Replay,
    /// What each block is for.
    pub categories: &'a [BlockCategory],
    /// What stacks say.
    pub signs: &'a AllSigns,
    /// Where phases and steps begin.
    pub moments: &'a Moments,
    /// What is alive at the peak.
    pub peak: &'a PeakContents,
    /// The blocks that are.
    live_at_peak: Vec<usize>,
    /// The last requests that failed.
    pub failed: &'a [FailedRequest],
    /// The one at which the run ended.
    pub ended_by: Option<FailedRequest>,
    /// What is there after that one.
    pub at_failure: Option<AllocatorState>,
}

impl<'a> Context<'a> {
    /// Of a device at a place of a snapshot.
    pub fn of(replayed: &'a ReplayedSnapshot, place: usize) -> Option<Self> {
        let (device, replay) = replayed.device(place)?;
        let (snapshot, ended_by) = (&replayed.snapshot, replayed.ended_by(place));
        let state = |failed: FailedRequest| {
            AllocatorState::after(snapshot, device, replay, failed.event.into())
        };
        Some(Self {
            replayed,
            place,
            snapshot,
            device,
            replay,
            categories: replayed.categories(place),
            signs: replayed.signs(),
            moments: replayed.moments(place)?,
            peak: replayed.peak(place)?,
            live_at_peak: replay.lives.live_after(replay.requested_peak.event).collect(),
            failed: &replayed.device_facts().get(place)?.oom,
            ended_by,
            at_failure: ended_by.map(state),
        })
    }

    /// The blocks with their lives.
    pub fn lives(&self) -> &'a BlockLives {
        &self.replay.lives
    }

    /// The category of a block.
    pub fn category(&self, row: usize) -> BlockCategory {
        self.categories.get(row).copied().unwrap_or(BlockCategory::Unknown)
    }

    /// What the stack of a block says.
    pub fn signs_of(&self, row: usize) -> StackSigns {
        self.lives().stacks.get(row).map(|stack| self.signs.of_stack(*stack)).unwrap_or_default()
    }

    /// The phase that an event is in.
    pub fn phase(&self, event: i64) -> Option<PhaseOfEvent> {
        PhaseOfEvent::of(self.replayed, self.place, event)
    }

    /// The state after an event.
    pub fn state_after(&self, event: i64) -> AllocatorState {
        AllocatorState::after(self.snapshot, self.device, self.replay, event)
    }

    /// The blocks that are alive at the peak of the requested curve and of which something holds, the largest first.
    pub fn at_peak(&self, holds: impl Fn(usize) -> bool) -> Vec<usize> {
        let lives = self.lives();
        let live = self.live_at_peak.iter().copied();
        let mut rows: Vec<usize> = live.filter(|row| holds(*row)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(lives.requested[*row]));
        rows
    }

    /// Bytes that were asked for of some blocks.
    pub fn bytes_of(&self, rows: &[usize]) -> u64 {
        rows.iter().fold(0, |sum, row| sum.saturating_add(self.lives().requested[*row]))
    }

    /// The peak of the requested curve if of each block only as much were left as `left` says of it and its bytes.
    pub fn peak_left(&self, left: impl Fn(usize, u64) -> u64) -> Peak {
        let lives = self.lives();
        let mut changes = vec![0_i64; self.device.events.len().saturating_add(1)];
        let mut change = |place: usize, bytes: i64| {
            if let Some(sum) = changes.get_mut(place) {
                *sum = sum.saturating_add(bytes);
            }
        };
        for row in 0..lives.len() {
            let bytes = i64::try_from(left(row, lives.requested[row])).unwrap_or(i64::MAX);
            change(lives.allocation(row).map_or(0, |event| event as usize + 1), bytes);
            if lives.freed_at[row] != BlockLives::OPEN {
                change(lives.freed_at[row] as usize + 1, -bytes);
            }
        }
        let mut peak = Peak { bytes: 0, event: -1 };
        let mut now = 0_i64;
        for (event, change) in (-1_i64..).zip(changes) {
            now = now.saturating_add(change);
            let bytes = u64::try_from(now).unwrap_or(0);
            if event == -1 || bytes > peak.bytes {
                peak = Peak { bytes, event };
            }
        }
        peak
    }
}
