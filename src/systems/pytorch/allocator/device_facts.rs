//! The figures of a device and of a snapshot as the commands and the window give them: counts, the state at the end,
//! the state before the first event, peaks with what is alive there, requests that failed.

use std::collections::BTreeMap;

use super::annotations::open_at;
use super::failed_requests::{FailedRequest, failed_requests};
use super::free_pieces::AllocatorState;
use super::lives::BlockLives;
use super::replay::{EventPeak, Replay, StartState};
use super::replayed::ReplayedSnapshot;
use super::run_end::Recorded;
use super::user_frame::user_frame_title;
use crate::store::snapshot::{
    Action, BlockState, RankDevice, Snapshot, SnapshotDevice, device_title,
};

/// Blocks that are named of a peak.
const LARGEST: usize = 5;

/// The facts of one device. Bytes are integers, addresses texts in hexadecimal.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DeviceFacts {
    /// Its number.
    pub device: i64,
    /// Which device of which rank it is, in a run of several.
    #[serde(flatten)]
    pub rank: Option<RankDevice>,
    /// Number of events.
    pub events: usize,
    /// How many events there are of each action.
    pub actions: BTreeMap<&'static str, u64>,
    /// Number of segments at the end.
    pub segments: usize,
    /// Number of blocks at the end, also free ones.
    pub blocks: usize,
    /// How much of the run they are.
    #[serde(skip)]
    pub recorded: Recorded,
    /// The state at the end.
    pub end: EndState,
    /// The state before the first event.
    pub start: StartState,
    /// Whether nothing was there before the first event.
    pub history_complete: bool,
    /// The peak of the requested curve.
    pub requested_peak: RequestedPeak,
    /// The peak of the reserved curve.
    pub reserved_peak_bytes: u64,
    /// The peak of the allocated curve.
    pub allocated_peak: AllocatedPeak,
    /// The peak of the active curve.
    pub active_peak_bytes: u64,
    /// The last requests that failed, at most a thousand.
    pub oom: Vec<FailedRequest>,
    /// The one at which it ended: nothing as large was handed out after it.
    #[serde(skip)]
    pub ended_by: Option<FailedRequest>,
    /// The state after that; at the end its exception has let go of everything.
    #[serde(skip)]
    pub at_failure: Option<EndState>,
    /// Events that contradict the state, backwards, forwards and at the end.
    pub replay_mismatches: u64,
}

/// The state at the end, bytes (formats/pytorch.md 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct EndState {
    /// Of blocks that are handed out.
    pub allocated_bytes: u64,
    /// The same with those that wait for another stream.
    pub active_bytes: u64,
    /// Of segments.
    pub reserved_bytes: u64,
    /// What was asked for of active blocks.
    pub requested_bytes: u64,
    /// What active blocks have more than was asked for.
    pub rounding_bytes: u64,
    /// Of blocks that are free within their segment.
    pub inactive_bytes: u64,
    /// How many those are.
    pub inactive_blocks: u64,
    /// The largest of them.
    pub largest_inactive_bytes: u64,
}

impl EndState {
    /// At another moment; of which blocks wait for another stream is not known there.
    fn of(state: &AllocatorState) -> Self {
        Self {
            allocated_bytes: state.active_bytes,
            active_bytes: state.active_bytes,
            reserved_bytes: state.reserved_bytes,
            requested_bytes: state.active_bytes.saturating_sub(state.rounding_bytes),
            rounding_bytes: state.rounding_bytes,
            inactive_bytes: state.free_bytes(),
            inactive_blocks: state.pieces.len() as u64,
            largest_inactive_bytes: state.largest_piece().map_or(0, |piece| piece.bytes),
        }
    }
}

/// The peak of the requested curve, and what is alive there.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RequestedPeak {
    /// Bytes.
    pub bytes: u64,
    /// The event; −1 is before the first.
    pub event: i64,
    /// Blocks whose free is not completed after it.
    pub live_blocks: usize,
    /// Named parts of the run that it is within, outermost first; `None` where it has no time.
    pub annotations: Option<Vec<String>>,
    /// The largest blocks.
    pub top: Vec<LargeBlock>,
}

/// A block by what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LargeBlock {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Its first byte.
    pub address: String,
    /// The event that handed it out; `None` if that was before the first.
    pub alloc_event: Option<u32>,
    /// The user frame of its allocation.
    pub frame: Option<String>,
}

/// The peak of the allocated curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AllocatedPeak {
    /// Bytes.
    pub bytes: u64,
    /// The event; −1 is before the first.
    pub event: i64,
    /// Whether the sizes of all blocks are known; else it is at least that.
    pub exact: bool,
}

/// The figures of pinned host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HostFacts {
    /// Of which rank it is, in a run of several.
    #[serde(flatten)]
    pub rank: Option<RankDevice>,
    /// Number of segments at the end.
    pub segments: usize,
    /// Number of events.
    pub events: usize,
    /// Bytes of segments at the end.
    pub reserved_bytes: u64,
    /// Bytes of blocks that are handed out at the end.
    pub allocated_bytes: u64,
    /// The peak of the allocated curve.
    pub allocated_peak_bytes: u64,
    /// Events that contradict the state.
    pub replay_mismatches: u64,
}

impl DeviceFacts {
    /// What the device is called.
    pub fn title(&self) -> String {
        device_title(self.device, self.rank)
    }

    /// The facts of a device at a place; `None` where there is none.
    pub fn of(replayed: &ReplayedSnapshot, place: usize) -> Option<Self> {
        let snapshot = &replayed.snapshot;
        let (device, replay) = replayed.device(place)?;
        let actions = snapshot.events.actions.get(device.events.clone()).unwrap_or_default();
        let mut counts = [0_u64; Action::ALL.len()];
        for action in actions {
            if let Some(count) = counts.get_mut(*action as usize) {
                *count = count.saturating_add(1);
            }
        }
        let named = Action::ALL.iter().map(|action| (action.as_str(), counts[*action as usize]));
        let Replay { allocated_peak, .. } = *replay;
        let ended_by = replayed.ended_by(place);
        Some(Self {
            device: device.number,
            rank: device.rank,
            events: actions.len(),
            actions: named.filter(|(_, count)| *count > 0).collect(),
            segments: device.segments.len(),
            blocks: snapshot.blocks_of(device).count(),
            recorded: replayed.recorded(place),
            end: replayed.end_state(place),
            start: replay.start,
            history_complete: replay.is_complete,
            requested_peak: requested_peak(replayed, place, device, replay),
            reserved_peak_bytes: replay.reserved_peak.bytes,
            allocated_peak: AllocatedPeak {
                bytes: allocated_peak.bytes,
                event: allocated_peak.event,
                exact: replay.is_exact,
            },
            active_peak_bytes: replay.active_peak.bytes,
            oom: failed_requests(snapshot, device),
            ended_by,
            at_failure: ended_by.map(|failed| {
                let event = failed.event.into();
                EndState::of(&AllocatorState::after(snapshot, device, replay, event))
            }),
            replay_mismatches: replay.mismatches,
        })
    }
}

impl HostFacts {
    /// The figures of pinned host memory that has been replayed.
    pub fn of(snapshot: &Snapshot, device: &SnapshotDevice, replay: &Replay) -> Self {
        let end = end_state(snapshot, device);
        Self {
            rank: device.rank,
            segments: device.segments.len(),
            events: device.events.len(),
            reserved_bytes: end.reserved_bytes,
            allocated_bytes: end.allocated_bytes,
            allocated_peak_bytes: replay.allocated_peak.bytes,
            replay_mismatches: replay.mismatches,
        }
    }
}

pub(super) fn end_state(snapshot: &Snapshot, device: &SnapshotDevice) -> EndState {
    let mut end = EndState::default();
    let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
    for segment in snapshot.segments_of(device) {
        add(&mut end.allocated_bytes, segment.allocated_bytes);
        add(&mut end.active_bytes, segment.active_bytes);
        add(&mut end.reserved_bytes, segment.bytes);
    }
    for block in snapshot.blocks_of(device) {
        if block.state == BlockState::Inactive {
            add(&mut end.inactive_bytes, block.bytes);
            add(&mut end.inactive_blocks, 1);
            end.largest_inactive_bytes = end.largest_inactive_bytes.max(block.bytes);
        } else {
            add(&mut end.requested_bytes, block.requested_bytes);
            add(&mut end.rounding_bytes, block.bytes.saturating_sub(block.requested_bytes));
        }
    }
    end
}

fn requested_peak(
    replayed: &ReplayedSnapshot,
    place: usize,
    device: &SnapshotDevice,
    replay: &Replay,
) -> RequestedPeak {
    let snapshot = &replayed.snapshot;
    let EventPeak { bytes, event } = replay.requested_peak;
    let live = replayed.live_at_peak(place);
    let row_of_event = usize::try_from(event).ok().map(|event| device.events.start + event);
    let time = row_of_event.and_then(|row| snapshot.events.time(row));
    let annotations = time.map(|time| {
        let spans = replayed.annotated_spans(place);
        open_at(snapshot, spans, time).into_iter().map(str::to_owned).collect()
    });
    let live_blocks = live.len();
    let top = largest(&replay.lives, live.to_vec()).into_iter();
    let top = top.map(|row| LargeBlock {
        bytes: replay.lives.requested[row],
        address: format!("{:#x}", replay.lives.addresses[row]),
        alloc_event: replay.lives.allocation(row),
        frame: user_frame_title(snapshot, replay.lives.stacks[row]),
    });
    RequestedPeak { bytes, event, live_blocks, annotations, top: top.collect() }
}

/// The largest of some blocks: by what was asked for, then by the event of the allocation (those from before the first
/// come first), then by address.
fn largest(lives: &BlockLives, mut rows: Vec<usize>) -> Vec<usize> {
    let order = |row: &usize| {
        let bytes = std::cmp::Reverse(lives.requested[*row]);
        (bytes, lives.allocation(*row).map_or(-1, i64::from), lives.addresses[*row])
    };
    if rows.len() > LARGEST {
        rows.select_nth_unstable_by_key(LARGEST, order);
        rows.truncate(LARGEST);
    }
    rows.sort_unstable_by_key(order);
    rows
}
