//! The segments of a device on one axis (formats/pytorch.md 5): side by side in the order of their addresses, the room
//! between them not to scale; what lies in them over steps, as cells of a picture; what of each is free after an event.
//!
//! A free piece is a part of a segment between blocks that are in use, or between one and the end of the segment. Of an
//! expandable segment only the parts that are mapped count.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lives::BlockLives;
use super::replayed::ReplayedSnapshot;
use super::reserved::{Held, Reserved};
use super::segment_ranges::{SegmentRange, range_at, range_of_block};
use crate::store::snapshot::{Action, SnapshotDevice};

/// A segment on the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSegment {
    /// Its first byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether it consists of pieces that are mapped.
    pub is_expandable: bool,
    /// Where it begins on the axis.
    pub start: u64,
    /// Its length there: not less than can be seen.
    pub length: u64,
    /// The first event after which it was there; −1 is before the first.
    pub from_event: i64,
}

/// The segments of a device, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentAxis {
    /// The segments.
    pub segments: Vec<PlacedSegment>,
    /// The length of the axis.
    pub length: u64,
}

impl SegmentAxis {
    /// Of all ranges that ever were segments of a device.
    pub fn of(replayed: &ReplayedSnapshot, place: usize) -> Self {
        let ranges = replayed.segments(place);
        let count = (ranges.len() as u64).max(1);
        let total = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.bytes)).max(1);
        let (least, gap) = (total / count / 4, total / count / 5);
        let mut start = 0_u64;
        let mut segments = Vec::with_capacity(ranges.len());
        for range in ranges {
            let length = range.bytes.max(least).max(1);
            segments.push(PlacedSegment {
                address: range.address,
                bytes: range.bytes,
                is_expandable: range.is_expandable,
                start,
                length,
                from_event: range.times.first().map_or(-1, |times| times.start),
            });
            start = start.saturating_add(length).saturating_add(gap);
        }
        let length = start.saturating_sub(gap).max(1);
        Self { segments, length }
    }

    /// The segment at a place of the axis; the nearest one below it in the room between two.
    pub fn at(&self, along: f64) -> Option<usize> {
        let behind = self.segments.partition_point(|segment| segment.start as f64 <= along);
        behind.checked_sub(1)
    }

    /// The address of a place of the axis, and its segment.
    pub fn address(&self, along: f64) -> Option<(usize, u64)> {
        let at = self.at(along)?;
        let segment = self.segments.get(at)?;
        let share = (along - segment.start as f64) / segment.length as f64;
        let offset = (share * segment.bytes as f64) as u64;
        (share < 1.0).then_some((at, segment.address.saturating_add(offset)))
    }

    /// Where an address of a segment lies on the axis.
    pub fn along(&self, segment: usize, address: u64) -> f64 {
        self.segments.get(segment).map_or(0.0, |segment| {
            let offset = address.saturating_sub(segment.address) as f64;
            segment.start as f64 + offset * segment.length as f64 / segment.bytes.max(1) as f64
        })
    }

    /// The segment that a block lies in: the one that holds its address and was there.
    pub fn segment_of(
        &self,
        replayed: &ReplayedSnapshot,
        (place, row): (usize, usize),
    ) -> Option<usize> {
        range_of_block(replayed.segments(place), &replayed.replays.get(place)?.lives, row)
    }
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

/// What a cell of the picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CellKind {
    /// Not taken from the device.
    #[default]
    None,
    /// Reserved, not in use.
    Free,
    /// A block that is handed out.
    Block,
    /// One that was given back, and waits for another stream.
    Pending,
    /// The end of a block that nobody asked for.
    Rounding,
    /// The edge of a block.
    Edge,
}

/// A picture of cells, the first row on top.
#[derive(Clone, Debug, Default)]
pub struct MapCells {
    /// Cells of a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// What each shows.
    pub kinds: Vec<CellKind>,
    /// The block that it shows; [`Self::NO_BLOCK`] of others.
    pub blocks: Vec<u32>,
    /// How much of it blocks cover, of 255: where many share a cell, much of it may be free.
    pub covered: Vec<u8>,
}

/// What part of the axes a picture shows, and with how many cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapWindow {
    /// Steps along x.
    pub x: (f64, f64),
    /// Places of the segment axis along y, which goes up.
    pub y: (f64, f64),
    /// Cells along x.
    pub columns: usize,
    /// Cells along y.
    pub rows: usize,
}

impl MapCells {
    /// The block of a cell that shows none.
    pub const NO_BLOCK: u32 = u32::MAX;

    /// The picture of a part of the axes; `None` when it was cancelled.
    pub fn of(
        replayed: &ReplayedSnapshot,
        (place, axis): (usize, &SegmentAxis),
        window: MapWindow,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let MapWindow { columns, rows, .. } = window;
        let count = columns.checked_mul(rows).filter(|count| *count <= MOST_CELLS)?;
        let mut cells = Self {
            columns,
            rows,
            kinds: vec![CellKind::None; count],
            blocks: vec![Self::NO_BLOCK; count],
            covered: vec![0; count],
        };
        let (device, replay) = replayed.device(place)?;
        let steps = replayed.axis();
        let last = f64::from(steps.len());
        let step_of = |event: i64| match u32::try_from(event) {
            Ok(event) if (event as usize) < device.events.len() => {
                f64::from(steps.step(device, event))
            }
            _ if event < 0 => 0.0,
            _ => last,
        };
        for span in held_spans(replayed, place) {
            let x = (step_of(span.events.start), step_of(span.events.end));
            let y = [span.addresses.start, span.addresses.end];
            let y = y.map(|address| axis.along(span.segment, address));
            cells.fill(&window, x, (y[0], y[1]), (CellKind::Free, Self::NO_BLOCK));
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
                let Some(found) = axis.segment_of(replayed, (place, row)) else { continue };
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

    /// A block: its edge, where it is asked for, what was not, and where it waits.
    fn block(
        &mut self,
        window: &MapWindow,
        row: usize,
        (from, given_back, to): (f64, f64, f64),
        (y, asked): ((f64, f64), f64),
    ) {
        let block = row as u32;
        if !self.add_small(window, (from, to), y, block) {
            self.fill(window, (from, to), y, (CellKind::Block, block));
        }
        if given_back < to {
            self.fill_if_seen(window, (given_back, to), y, (CellKind::Pending, block));
        }
        if asked < y.1 {
            self.fill_if_seen(window, (from, to), (asked, y.1), (CellKind::Rounding, block));
        }
        let (Some(x_cells), Some(y_cells)) =
            (cells_of(window.x, window.columns, (from, to)), cells_of(window.y, window.rows, y))
        else {
            return;
        };
        // An edge needs room beside it.
        let is_high = y_cells.len() >= 4;
        if x_cells.len() >= 4 && (is_high || y_cells.len() >= 3) {
            let left = x_cells.start..x_cells.start + 1;
            self.set(left, y_cells.clone(), (CellKind::Edge, block));
        }
        if is_high {
            let top = y_cells.end - 1..y_cells.end;
            self.set(x_cells, top, (CellKind::Edge, block));
        }
    }

    /// Adds a block that is less than two cells wide or high to what covers its cells; says whether it is.
    fn add_small(&mut self, window: &MapWindow, x: (f64, f64), y: (f64, f64), block: u32) -> bool {
        let width = (x.1 - x.0) * window.columns as f64 / (window.x.1 - window.x.0);
        let height = (y.1 - y.0) * window.rows as f64 / (window.y.1 - window.y.0);
        if width >= 2.0 && height >= 2.0 {
            return false;
        }
        let cells = cells_of(window.x, window.columns, x);
        let Some((x, y)) = cells.zip(cells_of(window.y, window.rows, y)) else { return true };
        let share = (width.min(1.0) * height.min(1.0) * 255.0).ceil().clamp(1.0, 255.0) as u8;
        for row in y {
            let Some(first) = self.rows.checked_sub(row + 1).map(|row| row * self.columns) else {
                continue;
            };
            for at in first + x.start..first + x.end {
                let (Some(covered), Some(kind), Some(shown)) =
                    (self.covered.get_mut(at), self.kinds.get_mut(at), self.blocks.get_mut(at))
                else {
                    continue;
                };
                *covered = covered.saturating_add(share);
                (*kind, *shown) = (CellKind::Block, block);
            }
        }
        true
    }

    fn fill(&mut self, window: &MapWindow, x: (f64, f64), y: (f64, f64), what: (CellKind, u32)) {
        let x = cells_of(window.x, window.columns, x);
        let y = cells_of(window.y, window.rows, y);
        if let Some((x, y)) = x.zip(y) {
            self.set(x, y, what);
        }
    }

    /// The same, unless it would be less than a cell, and so hide what it is a part of.
    fn fill_if_seen(
        &mut self,
        window: &MapWindow,
        x: (f64, f64),
        y: (f64, f64),
        what: (CellKind, u32),
    ) {
        let width = (x.1 - x.0) * window.columns as f64 / (window.x.1 - window.x.0);
        let height = (y.1 - y.0) * window.rows as f64 / (window.y.1 - window.y.0);
        if width >= 1.0 && height >= 1.0 {
            self.fill(window, x, y, what);
        }
    }

    fn set(&mut self, x: Range<usize>, y: Range<usize>, (kind, block): (CellKind, u32)) {
        for row in y {
            // Rows go down, places go up.
            let Some(first) = self.rows.checked_sub(row + 1).map(|row| row * self.columns) else {
                continue;
            };
            let cells = first + x.start..first + x.end;
            if let Some(kinds) = self.kinds.get_mut(cells.clone()) {
                kinds.fill(kind);
            }
            if let Some(blocks) = self.blocks.get_mut(cells.clone()) {
                blocks.fill(block);
            }
            let covers = if block == Self::NO_BLOCK { 0 } else { u8::MAX };
            if let Some(covered) = self.covered.get_mut(cells) {
                covered.fill(covers);
            }
        }
    }

    /// What a cell shows, by its column and its row from the top.
    pub fn get(&self, column: usize, row: usize) -> Option<(CellKind, Option<usize>)> {
        let at = (column < self.columns).then(|| row.checked_mul(self.columns))??;
        let at = at.checked_add(column)?;
        let block = *self.blocks.get(at)?;
        let block = (block != Self::NO_BLOCK).then_some(block as usize);
        Some((*self.kinds.get(at)?, block))
    }
}

/// Cells of a picture at most.
const MOST_CELLS: usize = 1 << 24;

/// The cells that a part of an axis covers, at least one; `None` where it is outside.
fn cells_of(window: (f64, f64), count: usize, part: (f64, f64)) -> Option<Range<usize>> {
    let per_cell = (window.1 - window.0) / count.max(1) as f64;
    if part.1 < window.0 || part.0 > window.1 || per_cell <= 0.0 || part.1 < part.0 {
        return None;
    }
    let cell = |at: f64| (at - window.0) / per_cell;
    let first = (cell(part.0).round().max(0.0) as usize).min(count.saturating_sub(1));
    let end = (cell(part.1).round().max(0.0) as usize).clamp(first + 1, count.max(first + 1));
    (first < count).then_some(first..end)
}

/// What of a segment is free after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentUse {
    /// Bytes that are taken from the device; 0 where it is not there.
    pub reserved: u64,
    /// Bytes of blocks that are in use.
    pub active: u64,
    /// Blocks that are in use.
    pub blocks: u64,
    /// Free pieces.
    pub pieces: u64,
    /// The largest of them: its first byte, and its bytes.
    pub largest: (u64, u64),
}

impl SegmentUse {
    /// Bytes that are reserved and not in use.
    pub fn free(&self) -> u64 {
        self.reserved.saturating_sub(self.active)
    }
}

/// What of each segment is free after a step, and what of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentsAt {
    /// By segment of the axis.
    pub segments: Vec<SegmentUse>,
    /// All of them.
    pub whole: SegmentUse,
    /// How many are there.
    pub count: u64,
}

impl SegmentsAt {
    /// After a step.
    pub fn of(
        replayed: &ReplayedSnapshot,
        (place, axis): (usize, &SegmentAxis),
        step: u32,
    ) -> Self {
        let mut at = Self::default();
        at.segments.resize(axis.segments.len(), SegmentUse::default());
        let Some((device, replay)) = replayed.device(place) else { return at };
        let event = event_at(replayed, device, step);
        let mut alive: Vec<(u64, u64)> = Vec::new();
        let lives = &replay.lives;
        for row in lives.live_after(event) {
            let (address, bytes) = (lives.addresses[row], lives.bytes[row]);
            alive.push((address, address.saturating_add(bytes)));
        }
        alive.sort_unstable();
        for held in held_at(replayed, place, event) {
            // Of several of one address the one that is as large.
            let is_it = |segment: &PlacedSegment| {
                let end = segment.address.saturating_add(segment.bytes);
                held.end <= end
                    && segment.is_expandable == held.is_expandable
                    && (held.is_expandable || segment.bytes == held.end - held.start)
            };
            let start = |segment: &PlacedSegment| segment.address;
            let Some(place) = range_at(&axis.segments, held.start, start, is_it) else { continue };
            let Some(of) = at.segments.get_mut(place) else { continue };
            of.reserved = of.reserved.saturating_add(held.end - held.start);
            let first = alive.partition_point(|(_, end)| *end <= held.start);
            let mut free_from = held.start;
            let within = alive.get(first..).unwrap_or(&[]);
            let within = within.iter().take_while(|(start, _)| *start < held.end);
            let piece = |of: &mut SegmentUse, from: u64, to: u64| {
                if let Some(bytes) = to.checked_sub(from).filter(|bytes| *bytes > 0) {
                    of.pieces = of.pieces.saturating_add(1);
                    if bytes > of.largest.1 {
                        of.largest = (from, bytes);
                    }
                }
            };
            for (start, end) in within {
                piece(of, free_from, *start);
                of.active = of.active.saturating_add(end.min(&held.end) - start.max(&held.start));
                of.blocks = of.blocks.saturating_add(1);
                free_from = (*end).max(free_from);
            }
            piece(of, free_from, held.end);
        }
        for of in at.segments.iter().filter(|of| of.reserved > 0) {
            at.count = at.count.saturating_add(1);
            let whole = &mut at.whole;
            whole.reserved = whole.reserved.saturating_add(of.reserved);
            whole.active = whole.active.saturating_add(of.active);
            whole.blocks = whole.blocks.saturating_add(of.blocks);
            whole.pieces = whole.pieces.saturating_add(of.pieces);
            if of.largest.1 > whole.largest.1 {
                whole.largest = of.largest;
            }
        }
        at
    }
}

/// The last event of a device up to a step; −1 is before the first.
pub fn event_at(replayed: &ReplayedSnapshot, device: &SnapshotDevice, step: u32) -> i64 {
    let axis = replayed.axis();
    let count = device.events.len() as u32;
    // Steps of a device ascend with its events.
    let (mut low, mut high) = (0_u32, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if axis.step(device, middle) <= step {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    i64::from(low) - 1
}

/// What is taken from a device after an event.
fn held_at(replayed: &ReplayedSnapshot, place: usize, event: i64) -> Vec<Held> {
    let Some((device, replay)) = replayed.device(place) else { return Vec::new() };
    let mut reserved = Reserved::default();
    for held in &replay.start_ranges {
        reserved.add(held.start, held.end - held.start, held.is_expandable);
    }
    let events = &replayed.snapshot.events;
    for (number, row) in (0_i64..).zip(device.events.clone()) {
        if number > event {
            break;
        }
        let Some(action) = events.actions.get(row) else { break };
        let address = events.addresses.get(row).copied().unwrap_or(0);
        let bytes = events.sizes.get(row).copied().unwrap_or(0);
        // What contradicts the state changes nothing, as in the replay.
        let _is_good = match action {
            Action::SegmentAlloc => reserved.add(address, bytes, false),
            Action::SegmentMap => reserved.add(address, bytes, true),
            Action::SegmentFree => reserved.remove(address, bytes, false),
            Action::SegmentUnmap => reserved.remove(address, bytes, true),
            _ => continue,
        };
    }
    reserved.iter().collect()
}

#[cfg(test)]
mod tests;
