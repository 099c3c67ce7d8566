//! The ranges of addresses that ever were segments of a device, each with the time at which it was one. A range that
//! is given back and taken again as it was is one with two times; the pieces of an expandable segment that touch each
//! other, at whatever time, are one.

use std::collections::HashMap;
use std::ops::Range;

use super::lives::BlockLives;
use super::replay::Replay;
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRange {
    /// Its first byte.
    pub address: u64,
    pub bytes: u64,
    /// Whether it consists of pieces that are mapped.
    pub is_expandable: bool,
    /// From which event to which it was there, half-open, ascending; −1 is before the first, `i64::MAX` never.
    pub times: Vec<Range<i64>>,
}

impl SegmentRange {
    /// Whether a block at an address that is handed out by an event lies in it.
    pub fn holds(&self, address: u64, event: i64) -> bool {
        let is_within = address.checked_sub(self.address).is_some_and(|offset| offset < self.bytes);
        // A range may come and go as often as there are events.
        let before = self.times.partition_point(|times| times.start <= event);
        let last = before.checked_sub(1).and_then(|at| self.times.get(at));
        is_within && last.is_some_and(|times| times.contains(&event))
    }
}

/// Ranges of addresses that lie over one another and are looked at for one address.
const MOST_OVER: usize = 64;

/// Of ranges by address the last that begins at an address or before and of which something holds, a place among them.
pub fn range_at<T>(
    ranges: &[T],
    address: u64,
    start: impl Fn(&T) -> u64,
    holds: impl Fn(&T) -> bool,
) -> Option<usize> {
    let behind = ranges.partition_point(|range| start(range) <= address);
    let before = (0..behind).rev().take(MOST_OVER);
    before.into_iter().find(|at| ranges.get(*at).is_some_and(&holds))
}

/// The range that a block lies in: the one that has its address and was there when it was handed out; a place among
/// those of its device.
pub fn range_of_block(ranges: &[SegmentRange], lives: &BlockLives, row: usize) -> Option<usize> {
    let address = *lives.addresses.get(row)?;
    let event = lives.allocation(row).map_or(-1, i64::from);
    range_at(ranges, address, |range| range.address, |range| range.holds(address, event))
}

/// The ranges of a device, by address, then by bytes.
pub fn segment_ranges(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    replay: &Replay,
) -> Vec<SegmentRange> {
    let mut plain = PlainRanges::default();
    let mut pieces: Vec<Range<u64>> = Vec::new();
    for held in &replay.start_ranges {
        if held.is_expandable {
            pieces.push(held.start..held.end);
        } else {
            plain.open(held.start, held.end - held.start, -1);
        }
    }
    let events = &snapshot.events;
    for (event, row) in (0_i64..).zip(device.events.clone()) {
        let Some(action) = events.actions.get(row) else { break };
        if !matches!(action, Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap) {
            continue;
        }
        let (address, bytes) = (events.addresses[row], events.sizes[row]);
        match action {
            Action::SegmentAlloc => plain.open(address, bytes, event),
            Action::SegmentFree => plain.close(address, bytes, event),
            _ => pieces.push(address..address.saturating_add(bytes)),
        }
    }
    let mut ranges = plain.ranges;
    pieces.sort_unstable_by_key(|piece| piece.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| piece.start <= last.end) {
            Some(last) => last.end = last.end.max(piece.end),
            None => joined.push(piece),
        }
    }
    ranges.extend(joined.into_iter().map(|piece| SegmentRange {
        address: piece.start,
        bytes: piece.end - piece.start,
        is_expandable: true,
        times: vec![-1..i64::MAX],
    }));
    ranges.sort_by_key(|range| (range.address, range.bytes));
    ranges
}

/// The ranges that are no pieces, found by address and bytes.
#[derive(Default)]
struct PlainRanges {
    ranges: Vec<SegmentRange>,
    rows: HashMap<(u64, u64), usize>,
}

impl PlainRanges {
    fn open(&mut self, address: u64, bytes: u64, event: i64) {
        let row = *self.rows.entry((address, bytes)).or_insert(self.ranges.len());
        if row == self.ranges.len() {
            let is_expandable = false;
            self.ranges.push(SegmentRange { address, bytes, is_expandable, times: Vec::new() });
        }
        let times = &mut self.ranges[row].times;
        // One that was not given back is still there.
        if times.last().is_none_or(|times| times.end != i64::MAX) {
            times.push(event..i64::MAX);
        }
    }

    fn close(&mut self, address: u64, bytes: u64, event: i64) {
        let row = self.rows.get(&(address, bytes));
        let times = row.and_then(|row| self.ranges[*row].times.last_mut());
        if let Some(times) = times.filter(|times| times.end == i64::MAX) {
            times.end = event;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_a_block_while_it_is_there() {
        let range = SegmentRange {
            address: 512,
            bytes: 1024,
            is_expandable: false,
            times: vec![-1..3, 7..9, 12..i64::MAX],
        };
        for (address, event, expected) in [
            (512, -1, true),
            (512, 2, true),
            (512, 3, false),
            (1535, 8, true),
            (1535, 9, false),
            (1536, 8, false),
            (511, 8, false),
            (600, 1 << 40, true),
        ] {
            assert_eq!(range.holds(address, event), expected, "{address} {event}");
        }
        let never = SegmentRange { times: Vec::new(), ..range };
        assert!(!never.holds(512, 0));
    }
}
