//! The segments of a device on one axis (formats/pytorch.md 5): side by side in the order of their addresses, the room
//! between them not to scale; what lies in them over steps, as cells of a picture; what of each is free after an event.
//!
//! A free piece is a part of a segment between blocks that are in use, or between one and the end of the segment. Only
//! the mapped parts of an expandable segment count.

use std::collections::BTreeMap;
use std::ops::Range;

use super::free_pieces::reserved_after;
use super::lives::BlockLives;
use super::replayed::ReplayedSnapshot;
use super::segment_ranges::{SegmentRange, range_at, range_of_block};
use crate::run::arena_map::{
    ArenaAxis, ArenaUse, ArenasAt, CellKind, MapCells, MapWindow, PlacedArena,
};
use crate::store::snapshot::{Action, SnapshotDevice};

/// The axis of all ranges that ever were segments of a device.
pub fn segment_axis(replayed: &ReplayedSnapshot, place: usize) -> ArenaAxis {
    let arena = |(number, range): (u64, &SegmentRange)| PlacedArena {
        name: format!("{:#x}", range.address),
        number,
        address: range.address,
        bytes: range.bytes,
        is_in_pieces: range.is_expandable,
        from_step: range.times.first().map_or(-1, |times| times.start),
        ..PlacedArena::default()
    };
    ArenaAxis::of((0..).zip(replayed.segments(place)).map(arena).collect())
}

/// The segment that a block lies in: the one that holds its address and was there.
pub fn segment_of(replayed: &ReplayedSnapshot, (place, row): (usize, usize)) -> Option<usize> {
    range_of_block(replayed.segments(place), &replayed.replays.get(place)?.lives, row)
}

/// When a range of addresses was taken from the device.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeldSpan {
    segment: usize,
    addresses: Range<u64>,
    /// From which event to which, half-open; −1 is before the first, `i64::MAX` never.
    events: Range<i64>,
}

/// When each part of the segments was taken.
fn held_spans(replayed: &ReplayedSnapshot, place: usize) -> Vec<HeldSpan> {
    let ranges = replayed.segments(place);
    let mut spans = Vec::new();
    for (segment, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_expandable) {
        for events in &range.times {
            let addresses = range.address..range.address.saturating_add(range.bytes);
            spans.push(HeldSpan { segment, addresses, events: events.clone() });
        }
    }
    if ranges.iter().all(|range| !range.is_expandable) {
        return spans;
    }
    let Some((device, replay)) = replayed.device(place) else { return spans };
    let segment_at = |address: u64| {
        let holds = |range: &SegmentRange| {
            range.is_expandable && address.saturating_sub(range.address) < range.bytes
        };
        range_at(ranges, address, |range| range.address, holds)
    };
    // Mapped pieces by their first byte: the byte behind them, and since when.
    let mut open: BTreeMap<u64, (u64, i64)> = BTreeMap::new();
    let expandable = replay.start_ranges.iter().filter(|held| held.is_expandable);
    for held in expandable {
        open.insert(held.start, (held.end, -1));
    }
    let mut close = |addresses: Range<u64>, events: Range<i64>| {
        if let Some(segment) = segment_at(addresses.start) {
            spans.push(HeldSpan { segment, addresses, events });
        }
    };
    let events = &replayed.snapshot.events;
    for (event, row) in (0_i64..).zip(device.events.clone()) {
        let Some(action) = events.actions.get(row) else { break };
        let address = events.addresses.get(row).copied().unwrap_or(0);
        let end = address.saturating_add(events.sizes.get(row).copied().unwrap_or(0));
        match action {
            Action::SegmentMap if end > address => {
                open.insert(address, (end, event));
            }
            Action::SegmentUnmap => {
                let touched: Vec<(u64, (u64, i64))> = open
                    .range(..end)
                    .rev()
                    .take_while(|(_, (until, _))| *until > address)
                    .map(|(start, piece)| (*start, *piece))
                    .collect();
                for (start, (until, since)) in touched {
                    open.remove(&start);
                    close(start.max(address)..until.min(end), since..event);
                    if start < address {
                        open.insert(start, (address, since));
                    }
                    if end < until {
                        open.insert(end, (until, since));
                    }
                }
            }
            _ => {}
        }
    }
    for (start, (end, since)) in open {
        close(start..end, since..i64::MAX);
    }
    spans
}

/// The picture of a part of the axes; `None` when it was canceled.
pub fn map_cells(
    replayed: &ReplayedSnapshot,
    place: usize,
    axis: &ArenaAxis,
    window: MapWindow,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<MapCells> {
    let mut cells = MapCells::none(&window)?;
    let (device, replay) = replayed.device(place)?;
    let last = f64::from(device.steps());
    let step_of = |event: i64| match u32::try_from(event) {
        Ok(event) if (event as usize) < device.events.len() => f64::from(event),
        _ if event < 0 => 0.0,
        _ => last,
    };
    for span in held_spans(replayed, place) {
        let x = (step_of(span.events.start), step_of(span.events.end));
        let y = [span.addresses.start, span.addresses.end];
        let y = y.map(|address| axis.along(span.segment, address));
        cells.fill(&window, x, (y[0], y[1]), CellKind::Free, MapCells::NO_BLOCK);
    }
    let lives = &replay.lives;
    let ranges = replayed.segments(place);
    // Blocks come mostly from the segment of the one before.
    let mut segment = 0_usize;
    for row in 0..lives.len() {
        if row.is_multiple_of(8192) && is_cancelled() {
            return None;
        }
        let from = lives.allocation(row).map_or(0.0, |event| step_of(event.into()));
        let until = |event: u32| match event {
            BlockLives::OPEN => last,
            event => step_of(event.into()),
        };
        let to = until(lives.freed_at[row]);
        if to < window.x.0 || from > window.x.1 {
            continue;
        }
        let (address, bytes) = (lives.addresses[row], lives.bytes[row]);
        let event = lives.allocation(row).map_or(-1, i64::from);
        if !ranges.get(segment).is_some_and(|range| range.holds(address, event)) {
            let Some(found) = segment_of(replayed, (place, row)) else { continue };
            segment = found;
        }
        let end = address.saturating_add(bytes);
        let y = (axis.along(segment, address), axis.along(segment, end));
        if y.1 < window.y.0 || y.0 > window.y.1 {
            continue;
        }
        cells.block(
            &window,
            row,
            (from, until(lives.requested_free_at[row]).min(to), to),
            (y, axis.along(segment, address.saturating_add(lives.requested[row].min(bytes)))),
        );
    }
    Some(cells)
}

/// What of each segment is free after a step.
pub fn segments_at(
    replayed: &ReplayedSnapshot,
    place: usize,
    axis: &ArenaAxis,
    step: u32,
) -> ArenasAt {
    let mut arenas = vec![ArenaUse::default(); axis.arenas.len()];
    let Some((device, replay)) = replayed.device(place) else { return ArenasAt::of(arenas) };
    let event = event_at(device, step);
    let lives = &replay.lives;
    let of_row = |row: usize| {
        let address = lives.addresses[row];
        address..address.saturating_add(lives.bytes[row])
    };
    let mut alive: Vec<Range<u64>> = lives.live_after(event).map(of_row).collect();
    alive.sort_unstable_by_key(|block| (block.start, block.end));
    for held in reserved_after(&replayed.snapshot, device, replay, event).iter() {
        // Of several of one address the one that is as large.
        let is_it = |segment: &PlacedArena| {
            let end = segment.address.saturating_add(segment.bytes);
            held.end <= end
                && segment.is_in_pieces == held.is_expandable
                && (held.is_expandable || segment.bytes == held.end - held.start)
        };
        let start = |segment: &PlacedArena| segment.address;
        let Some(place) = range_at(&axis.arenas, held.start, start, is_it) else { continue };
        let Some(of) = arenas.get_mut(place) else { continue };
        let first = alive.partition_point(|block| block.end <= held.start);
        let within = alive.get(first..).unwrap_or(&[]).iter();
        let within = within.take_while(|block| block.start < held.end);
        of.add(held.start..held.end, within.cloned());
    }
    ArenasAt::of(arenas)
}

/// The last event of a device up to a step; −1 is before the first.
pub fn event_at(device: &SnapshotDevice, step: u32) -> i64 {
    i64::from(step).min(i64::try_from(device.events.len()).unwrap_or(i64::MAX) - 1)
}

#[cfg(test)]
mod tests;
