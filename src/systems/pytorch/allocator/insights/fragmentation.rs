//! Fragmentation: what is reserved and not in use, at the peak, where most was reserved, where the run ended for want of
//! memory, and at the end. No setting of the allocator can save more than what was reserved at most beyond the most that
//! was in use.

use serde::Serialize;

use super::context::DeviceContext;
use crate::store::snapshot::Action;
use crate::systems::pytorch::allocator::free_pieces::{AllocatorState, FreePiece};
use crate::text::words;

words! {
    /// A moment of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SnapshotMoment by key, title {
        /// The peak of the requested curve.
        Peak = "peak" | "Peak",
        /// The peak of the reserved curve.
        ReservedPeak = "reserved_peak" | "Most reserved",
        /// The request at which the run ended.
        OutOfMemory = "out_of_memory" | "Out of memory",
        /// The last event.
        End = "end" | "End",
    }
}

/// What is reserved and free.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fragmentation {
    /// At each moment, each event once.
    pub moments: Vec<FreeAt>,
    /// Whether segments can grow; `None` where the file does not say.
    pub expandable_segments: Option<bool>,
    /// What was reserved at most beyond the most that was in use; `None` where the first events are cut off, and more may
    /// have been in use before.
    pub most_saved_bytes: Option<u64>,
}

/// What is reserved and free at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FreeAt {
    /// What the moment is; several where they are the same event.
    pub moments: Vec<SnapshotMoment>,
    /// Its event; −1 is before the first.
    pub event: i64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
    /// Bytes of blocks in use.
    pub active_bytes: u64,
    /// Bytes that are free within segments.
    pub free_bytes: u64,
    pub pieces: usize,
    pub largest_piece_bytes: u64,
    pub largest_piece_address: Option<String>,
    /// Of what is free, what is in segments for requests of at most 1 MiB.
    pub in_small_segments_bytes: u64,
    /// Of what is free, segments in which nothing is in use.
    pub in_empty_segments_bytes: u64,
    /// What blocks in use have more than was asked for.
    pub rounding_bytes: u64,
}

impl Fragmentation {
    pub fn of(context: &DeviceContext<'_>) -> Self {
        let (replay, most_reserved) = (context.replay, handed_out_after(context));
        let unused = replay.reserved_peak.bytes.saturating_sub(replay.active_peak.bytes);
        let last = i64::try_from(context.device.events.len()).unwrap_or(i64::MAX) - 1;
        let mut moments: Vec<FreeAt> = Vec::new();
        let failure = context.ended_by.map(|failed| i64::from(failed.event));
        let wanted = [
            (SnapshotMoment::Peak, Some(context.peak.event)),
            (SnapshotMoment::ReservedPeak, Some(most_reserved)),
            (SnapshotMoment::OutOfMemory, failure),
            (SnapshotMoment::End, Some(last)),
        ];
        for (moment, event) in wanted {
            let Some(event) = event else { continue };
            match moments.iter_mut().find(|other| other.event == event) {
                Some(same) => same.moments.push(moment),
                None => match context.at_failure.as_ref().filter(|state| state.event == event) {
                    Some(state) => moments.push(FreeAt::of(moment, state)),
                    None => moments.push(FreeAt::of(moment, &context.state_after(event))),
                },
            }
        }
        Self {
            moments,
            expandable_segments: expandable_segments(context),
            most_saved_bytes: replay.is_complete.then_some(unused),
        }
    }

    pub fn at(&self, moment: SnapshotMoment) -> Option<&FreeAt> {
        self.moments.iter().find(|one| one.moments.contains(&moment))
    }
}

impl FreeAt {
    /// What the moment is called.
    pub fn title(&self) -> String {
        let titles = self.moments.iter().map(|moment| moment.title());
        crate::text::capitalised(&titles.collect::<Vec<_>>().join(", ").to_lowercase())
    }

    fn of(moment: SnapshotMoment, state: &AllocatorState) -> Self {
        let sum_of = |holds: fn(&FreePiece) -> bool| {
            let pieces = state.pieces.iter().filter(|piece| holds(piece));
            pieces.fold(0_u64, |sum, piece| sum.saturating_add(piece.bytes))
        };
        let largest = state.largest_piece();
        Self {
            moments: vec![moment],
            event: state.event,
            reserved_bytes: state.reserved_bytes,
            active_bytes: state.active_bytes,
            free_bytes: state.free_bytes(),
            pieces: state.pieces.len(),
            largest_piece_bytes: largest.map_or(0, |piece| piece.bytes),
            largest_piece_address: largest.map(|piece| format!("{:#x}", piece.address)),
            in_small_segments_bytes: sum_of(|piece| piece.is_small),
            in_empty_segments_bytes: sum_of(|piece| piece.is_whole_segment),
            rounding_bytes: state.rounding_bytes,
        }
    }
}

/// The event at which a block is handed out of the segment by which most is reserved: it is the next one.
fn handed_out_after(context: &DeviceContext<'_>) -> i64 {
    let event = context.replay.reserved_peak.event;
    let next = usize::try_from(event).ok().map(|event| context.device.events.start + event + 1);
    let next = next.filter(|row| context.device.events.contains(row));
    let action = next.and_then(|row| context.snapshot.events.actions.get(row));
    if action == Some(&Action::Alloc) { event + 1 } else { event }
}

/// Whether segments can grow, by what the allocator was told, or by what it did.
fn expandable_segments(context: &DeviceContext<'_>) -> Option<bool> {
    let snapshot = context.snapshot;
    let segments = snapshot.segments_of(context.device);
    let actions = snapshot.events.actions.get(context.device.events.clone()).unwrap_or_default();
    if segments.iter().any(|segment| segment.is_expandable) || actions.contains(&Action::SegmentMap)
    {
        return Some(true);
    }
    let told = snapshot.settings.all.iter().find(|(name, _)| name == "expandable_segments");
    let told = told.map(|(_, value)| value.eq_ignore_ascii_case("true"));
    // Segments of which none can grow were made without it.
    told.filter(|is_on| !is_on).or_else(|| (!segments.is_empty()).then_some(false))
}
