//! The basis of every insight of a device, and the question that most of them ask: how high would the peak be if some
//! blocks were smaller?

use super::out_of_memory::left_for;
use crate::run::Evidence;
use crate::store::snapshot::{Snapshot, SnapshotDevice};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::failed_requests::FailedRequest;
use crate::systems::pytorch::allocator::free_pieces::AllocatorState;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::peak::PeakContents;
use crate::systems::pytorch::allocator::phases::{PhaseMoments, PhaseOfEvent};
use crate::systems::pytorch::allocator::replay::{EventPeak, Replay};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stack_signs::{AllSigns, StackSigns};
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
    /// The blocks that are.
    live_at_peak: &'a [usize],
    /// The last requests that failed.
    pub failed: &'a [FailedRequest],
    /// The one at which the run ended.
    pub ended_by: Option<FailedRequest>,
    /// What is there after that one.
    pub at_failure: Option<AllocatorState>,
    /// What the process could still have had from the device then.
    pub left_at_failure: Option<u64>,
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
            live_at_peak: replayed.live_at_peak(place),
            failed: &replayed.device_facts().get(place)?.oom,
            ended_by,
            at_failure,
            left_at_failure,
        })
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

    pub fn category(&self, row: usize) -> BlockCategory {
        self.categories.get(row).copied().unwrap_or(BlockCategory::Unknown)
    }

    /// What the stack of a block says.
    pub fn signs_of(&self, row: usize) -> StackSigns {
        self.lives().stacks.get(row).map(|stack| self.signs.of_stack(*stack)).unwrap_or_default()
    }

    pub fn phase(&self, event: i64) -> Option<PhaseOfEvent> {
        PhaseOfEvent::of(self.replayed, self.place, event)
    }

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

    /// The peak of the requested curve after each of some changes, everything else staying as it is: one pass over the
    /// blocks and one over the events for as many changes as a mask has bits.
    pub fn peaks_left(&self, changes: &[&BlockChange<'_>]) -> Vec<EventPeak> {
        let lives = self.lives();
        // An event completes one free at most, as the replay does it.
        let mut freed = vec![NO_BLOCK; self.device.events.len()];
        for (row, event) in (0..).zip(&lives.freed_at) {
            if let Some(block) = freed.get_mut(*event as usize) {
                *block = row;
            }
        }
        let of_some = |changes: &[&BlockChange<'_>]| self.peaks_left_of(changes, &freed);
        changes.chunks(u8::BITS as usize).flat_map(of_some).collect()
    }

    /// Of as many changes as a mask has bits, with the block that each event frees.
    fn peaks_left_of(&self, changes: &[&BlockChange<'_>], freed: &[u32]) -> Vec<EventPeak> {
        let lives = self.lives();
        let mask = |row: usize| {
            let bits =
                (0..).zip(changes).map(|(bit, change)| u8::from((change.acts_on)(row)) << bit);
            bits.fold(0_u8, |mask, bit| mask | bit)
        };
        let masks: Vec<u8> = (0..lives.len()).map(mask).collect();
        let mut now = vec![0_i64; changes.len()];
        let change = |now: &mut [i64], row: usize, sign: i64| {
            let (Some(bytes), Some(mask)) = (lives.requested.get(row), masks.get(row)) else {
                return;
            };
            for (bit, (sum, change)) in (0..).zip(now.iter_mut().zip(changes)) {
                let is_less = mask & (1 << bit) != 0;
                let left = if is_less { change.left.of(*bytes) } else { *bytes };
                let left = i64::try_from(left).unwrap_or(i64::MAX);
                *sum = sum.saturating_add(sign.saturating_mul(left));
            }
        };
        // Blocks from before the first event come first, then the others by their allocation.
        let mut next = 0_usize;
        while next < lives.len() && lives.allocation(next).is_none() {
            change(&mut now, next, 1);
            next += 1;
        }
        let at = |now: i64, event: i64| EventPeak { bytes: u64::try_from(now).unwrap_or(0), event };
        let mut peaks: Vec<EventPeak> = now.iter().map(|now| at(*now, -1)).collect();
        for (event, freed) in (0_u32..).zip(freed) {
            if *freed != NO_BLOCK {
                change(&mut now, *freed as usize, -1);
            }
            if lives.allocated_at.get(next) != Some(&event) {
                continue;
            }
            change(&mut now, next, 1);
            next += 1;
            for (peak, now) in peaks.iter_mut().zip(&now) {
                let then = at(*now, event.into());
                if then.bytes > peak.bytes {
                    *peak = then;
                }
            }
        }
        peaks
    }
}

/// No block is freed by an event.
const NO_BLOCK: u32 = u32::MAX;

/// Some blocks, and what would be left of each.
pub struct BlockChange<'a> {
    /// Whether a block is one of them.
    pub acts_on: Box<dyn Fn(usize) -> bool + Sync + 'a>,
    pub left: LeftOfBlock,
}

/// What would be left of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOfBlock {
    Nothing,
    Half,
    Quarter,
}

impl LeftOfBlock {
    pub fn of(self, bytes: u64) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Half => bytes / 2,
            Self::Quarter => bytes / 4,
        }
    }
}
