//! What the map of a device is made of beside its picture: its segments on one axis, and what of each is free after an
//! event.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::snapshot::Action;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::segment_map::{
    PlacedSegment, SegmentAxis, SegmentUse, SegmentsAt, event_at,
};
use crate::systems::pytorch::blocks::BlockList;
use crate::systems::pytorch::event_said::event_of_step;
use crate::ui::job::Cancel;
use crate::ui::report::allocations::rows::AllocationRows;
use crate::ui::widget::rows::{Listed, Value};

/// What is known of a moment.
pub struct MapMoment {
    pub step: usize,
    pub at: SegmentsAt,
    /// Bytes of blocks in use by what they are for.
    pub by_category: Vec<(BlockCategory, u64)>,
    pub segments: Arc<Listed<SegmentRow>>,
    /// Blocks that are alive, of a segment if one is chosen.
    pub blocks: Arc<AllocationRows>,
    pub listed_bytes: u64,
    /// Bytes that were asked for and not given at this event.
    pub failed: Option<u64>,
}

/// A segment in the table.
pub struct SegmentRow {
    /// Its place on the axis.
    pub place: usize,
    pub address: String,
    pub bytes: u64,
    pub active: u64,
    pub free: u64,
    pub largest: u64,
    pub pieces: u64,
    pub blocks: u64,
    pub from_event: i64,
    pub is_expandable: bool,
    pub is_there: bool,
}

impl MapMoment {
    pub fn of(
        replayed: &Arc<ReplayedSnapshot>,
        (place, axis): (usize, &SegmentAxis),
        (step, segment): (usize, Option<usize>),
        cancel: &Cancel,
    ) -> Option<Self> {
        let (device, replay) = replayed.device(place)?;
        replayed.categories(place);
        replayed.index(place);
        let at_step = u32::try_from(step).unwrap_or(u32::MAX);
        let at = SegmentsAt::of(replayed, (place, axis), at_step);
        let event = event_at(replayed, device, at_step);
        let categories = replayed.categories(place);
        let lives = &replay.lives;
        let (mut by_category, mut listed, mut listed_bytes) = (BTreeMap::new(), Vec::new(), 0_u64);
        for (place_in_list, row) in lives.live_after(event).enumerate() {
            if place_in_list.is_multiple_of(4096) && cancel.is_cancelled() {
                return None;
            }
            if let Some(category) = categories.get(row) {
                let sum: &mut u64 = by_category.entry(*category).or_default();
                *sum = sum.saturating_add(lives.bytes[row]);
            }
            let is_listed = segment
                .is_none_or(|wanted| axis.segment_of(replayed, (place, row)) == Some(wanted));
            if is_listed {
                listed_bytes = listed_bytes.saturating_add(lives.requested[row]);
                listed.push((place as u32, row as u32));
            }
        }
        let mut by_category: Vec<(BlockCategory, u64)> = by_category.into_iter().collect();
        by_category.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let row = |(place, (segment, of)): (usize, (&PlacedSegment, &SegmentUse))| {
            segment_row(place, segment, of)
        };
        let rows = axis.segments.iter().zip(&at.segments).enumerate().map(row).collect();
        Some(Self {
            step,
            by_category,
            segments: Arc::new(Listed { rows, cell: segment_cell }),
            blocks: Arc::new(AllocationRows::of(Arc::new(BlockList::of(replayed, listed)))),
            listed_bytes,
            failed: failed_bytes(replayed, (place, step)),
            at,
        })
    }
}

fn segment_row(place: usize, segment: &PlacedSegment, of: &SegmentUse) -> SegmentRow {
    SegmentRow {
        place,
        address: format!("{:#x}", segment.address),
        bytes: segment.bytes,
        active: of.active,
        free: of.free(),
        largest: of.largest.1,
        pieces: of.pieces,
        blocks: of.blocks,
        from_event: segment.from_event,
        is_expandable: segment.is_expandable,
        is_there: of.reserved > 0,
    }
}

fn segment_cell(row: &SegmentRow, column: usize) -> Value<'_> {
    match column {
        0 => Value::text(&*row.address),
        1 => Value::Id(row.place as u64),
        2 => Value::Bytes(row.bytes),
        _ if !row.is_there && column < 8 => Value::Nothing,
        3 => Value::Bytes(row.active),
        4 => Value::Bytes(row.free),
        5 => Value::Bytes(row.largest),
        6 => Value::Count(row.pieces),
        7 => Value::Count(row.blocks),
        // Its pieces come and go.
        8 if row.is_expandable => Value::Nothing,
        8 => match u64::try_from(row.from_event) {
            Ok(event) => Value::Id(event),
            Err(_) => Value::text("before"),
        },
        _ => Value::text(match (row.is_there, row.is_expandable) {
            (false, _) => "not there at this event",
            (true, true) => "expandable",
            (true, false) => "",
        }),
    }
}

/// What was asked for at an event of a device at which a request failed.
fn failed_bytes(replayed: &ReplayedSnapshot, (place, step): (usize, usize)) -> Option<u64> {
    let (of, event) = event_of_step(replayed, step)?;
    let (device, _) = replayed.device(of).filter(|_| of == place)?;
    let row = device.events.start.saturating_add(event as usize);
    let is_failed = replayed.snapshot.events.actions.get(row) == Some(&Action::OutOfMemory);
    replayed.snapshot.events.sizes.get(row).copied().filter(|_| is_failed)
}
