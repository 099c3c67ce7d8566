//! What of an allocation counts to each of its values (formats/xla.md 5.4).
//!
//! Values may have the same addresses: a result that is written over an operand, what a loop carries, what a fusion
//! reuses. An address counts to the value there that lives the longest, of those that live as long to the one that begins
//! first, so that at every position the bytes of all values add up to the addresses in use.

use std::collections::BTreeMap;
use std::ops::Range;

use super::in_use::PlacedValue;
use crate::analysis::placement::counted::{LifeOrder, counted_by_life, life_order};

/// How often values come to addresses and go, or are met there, at most; then nothing counts to any.
const MOST_MEETINGS: usize = 1 << 27;
/// How many values may be at pieces of addresses at a time, each counted at each of its pieces; beyond, nothing counts to any.
const MOST_PRESENT: usize = 1 << 24;
/// Shares of an allocation beside one for each value; beyond, nothing counts to any.
const MOST_SHARES: usize = 1 << 22;

/// Behind all positions.
const NEVER: u32 = u32::MAX;

/// Bytes that count to a value at some positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueShare {
    /// The row of the value among those of the allocation.
    pub row: u32,
    /// The positions.
    pub steps: Range<u32>,
    /// The bytes at each of them.
    pub bytes: u64,
}

/// By what the values of an allocation come first, each by all of its lives, which stand together.
fn life_orders(placed: &[PlacedValue]) -> Vec<LifeOrder> {
    let of_value = |lives: &[PlacedValue]| {
        let steps = lives.iter().map(|one| one.range.start..one.range.end.saturating_add(1));
        let address = lives.first().map_or(0, |one| one.assigned.offset);
        std::iter::repeat_n(life_order(steps, address), lives.len())
    };
    placed.chunk_by(|one, other| one.assigned == other.assigned).flat_map(of_value).collect()
}

fn addresses(one: &PlacedValue) -> Range<u64> {
    one.assigned.offset..one.assigned.offset.saturating_add(one.assigned.bytes)
}

/// The values of an allocation that live at a position, those that live the longest first, each with what counts to it.
pub fn shares_at(placed: &[PlacedValue], position: u32) -> Vec<(&PlacedValue, u64)> {
    let all = placed.iter().zip(life_orders(placed));
    let mut live: Vec<_> = all.filter(|(one, _)| one.range.has(position)).collect();
    live.sort_by_key(|(one, order)| (*order, one.assigned.value));
    let things: Vec<_> = live.iter().map(|(one, order)| (*order, addresses(one))).collect();
    live.into_iter().map(|(one, _)| one).zip(counted_by_life(&things)).collect()
}

/// What counts to the values of an allocation at all positions, those of a value one after the other; nothing where too
/// many values have too many addresses in common.
pub fn shares(placed: &[PlacedValue]) -> Vec<ValueShare> {
    let at = |row: &u32| placed.get(*row as usize);
    let mut rows: Vec<u32> = (0..placed.len() as u32).collect();
    let orders = life_orders(placed);
    rows.sort_by_key(|row| (orders.get(*row as usize), at(row).map(|one| one.assigned.value)));
    drop(orders);
    let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(placed.len().saturating_mul(2));
    for (rank, one) in (0_u32..).zip(rows.iter().filter_map(at)) {
        events.push((one.range.start, true, rank));
        // What ends at a position is still there at it.
        events.push((one.range.end.saturating_add(1), false, rank));
    }
    events.sort_unstable();
    let mut held = HeldAddresses::of(placed.len());
    // Since when each value has what it has; since `NEVER` where it is not there.
    let mut since: Vec<(u32, u64)> = vec![(NEVER, 0); placed.len()];
    let mut found = Vec::with_capacity(placed.len());
    for at_once in events.chunk_by(|one, other| one.0 == other.0) {
        for (_, is_coming, rank) in at_once {
            let row = rows.get(*rank as usize);
            let Some(one) = row.and_then(at) else { continue };
            held.change(*rank, addresses(one), *is_coming);
            let is_too_much = held.meetings > MOST_MEETINGS || held.present > MOST_PRESENT;
            if is_too_much || found.len() > MOST_SHARES.saturating_add(placed.len()) {
                return Vec::new();
            }
        }
        let Some((position, ..)) = at_once.first() else { continue };
        let mut changed = std::mem::take(&mut held.changed);
        changed.extend(at_once.iter().map(|(.., rank)| *rank));
        changed.sort_unstable();
        changed.dedup();
        for rank in changed {
            let (place, bytes) = (rank as usize, held.bytes_of(rank));
            let (Some(since), Some(row)) = (since.get_mut(place), rows.get(place)) else {
                continue;
            };
            let is_gone = at_once.binary_search(&(*position, false, rank)).is_ok();
            let (from, before) = *since;
            if (is_gone || before != bytes) && from < *position {
                found.push(ValueShare { row: *row, steps: from..*position, bytes: before });
            }
            *since = match from {
                _ if is_gone => (NEVER, 0),
                NEVER => (*position, bytes),
                from if before == bytes => (from, before),
                _ => (*position, bytes),
            };
        }
    }
    found.sort_by_key(|share| (share.row, share.steps.start));
    found
}

/// Who is at which addresses, as values come and go. Values are numbers in their order: the lowest has an address.
struct HeldAddresses {
    /// By the first address of a piece its end, and who is there, ascending.
    pieces: BTreeMap<u64, (u64, Vec<u32>)>,
    bytes: Vec<u64>,
    /// Values whose bytes changed.
    changed: Vec<u32>,
    meetings: usize,
    /// Values at all pieces together.
    present: usize,
}

impl HeldAddresses {
    fn of(values: usize) -> Self {
        let bytes = vec![0; values];
        Self { pieces: BTreeMap::new(), bytes, changed: Vec::new(), meetings: 0, present: 0 }
    }

    fn bytes_of(&self, rank: u32) -> u64 {
        self.bytes.get(rank as usize).copied().unwrap_or(0)
    }

    fn give(&mut self, rank: u32, bytes: u64) {
        if let Some(sum) = self.bytes.get_mut(rank as usize) {
            *sum = sum.saturating_add(bytes);
        }
        self.changed.push(rank);
    }

    fn take(&mut self, rank: u32, bytes: u64) {
        if let Some(sum) = self.bytes.get_mut(rank as usize) {
            *sum = sum.saturating_sub(bytes);
        }
        self.changed.push(rank);
    }

    /// Lets a piece begin at an address, where one lies across it.
    fn cut(&mut self, address: u64) {
        let before = self.pieces.range_mut(..address).next_back();
        if let Some((_, (end, here))) = before.filter(|(_, (end, _))| *end > address) {
            let rest = (*end, here.clone());
            *end = address;
            self.meetings = self.meetings.saturating_add(rest.1.len());
            self.present = self.present.saturating_add(rest.1.len());
            self.pieces.insert(address, rest);
        }
    }

    /// A value comes to addresses, or goes.
    fn change(&mut self, rank: u32, Range { start, end }: Range<u64>, is_coming: bool) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        let pieces: Vec<(u64, u64)> =
            self.pieces.range(start..end).map(|(from, (to, _))| (*from, *to)).collect();
        self.meetings = self.meetings.saturating_add(pieces.len());
        let mut free_from = start;
        for (from, to) in pieces {
            if is_coming {
                self.come_to_free(rank, free_from..from);
                free_from = to;
                self.come(rank, from..to);
            } else {
                self.go(rank, from..to);
            }
        }
        if is_coming {
            self.come_to_free(rank, free_from..end);
        }
    }

    fn come_to_free(&mut self, rank: u32, Range { start, end }: Range<u64>) {
        if start < end {
            self.pieces.insert(start, (end, vec![rank]));
            self.present = self.present.saturating_add(1);
            self.give(rank, end.saturating_sub(start));
        }
    }

    fn come(&mut self, rank: u32, Range { start, end }: Range<u64>) {
        let Some((_, here)) = self.pieces.get_mut(&start) else { return };
        let place = here.partition_point(|other| *other < rank);
        let first = here.first().copied();
        self.meetings = self.meetings.saturating_add(here.len().saturating_sub(place));
        here.insert(place, rank);
        self.present = self.present.saturating_add(1);
        if let Some(first) = first.filter(|_| place == 0) {
            let bytes = end.saturating_sub(start);
            self.take(first, bytes);
            self.give(rank, bytes);
        }
    }

    fn go(&mut self, rank: u32, Range { start, end }: Range<u64>) {
        let Some((_, here)) = self.pieces.get_mut(&start) else { return };
        let place = here.partition_point(|other| *other < rank);
        if here.get(place) != Some(&rank) {
            return;
        }
        self.meetings = self.meetings.saturating_add(here.len().saturating_sub(place));
        here.remove(place);
        self.present = self.present.saturating_sub(1);
        let next = here.first().copied();
        if next.is_none() {
            self.pieces.remove(&start);
        }
        if place == 0 {
            let bytes = end.saturating_sub(start);
            self.take(rank, bytes);
            if let Some(next) = next {
                self.give(next, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::hlo::{Assigned, ValueId};
    use crate::systems::xla::buffer_assignment::in_use::bytes_in_use;
    use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;

    const STEPS: u32 = 20;

    prop_compose! {
        fn lives()(lives in prop::collection::vec((0..40_u64, 0..16_u64, 0..12_u32, 0..8_u32), 0..14)) -> Vec<PlacedValue> {
            let one = |(row, (offset, bytes, start, length)): (u32, (u64, u64, u32, u32))| PlacedValue {
                assigned: Assigned { value: ValueId(row), allocation: 0, offset, bytes },
                range: LiveRange { start, end: start + length },
            };
            (0..).zip(lives).map(one).collect()
        }
    }

    proptest! {
        #[test]
        fn every_address_counts_once_at_every_position(placed in lives()) {
            let all = shares(&placed);
            let in_use = bytes_in_use(&placed);
            for step in 0..=STEPS {
                let changes = in_use.iter().rev().find(|(at, _)| *at <= step);
                let now: Vec<&ValueShare> =
                    all.iter().filter(|share| share.steps.contains(&step)).collect();
                let sum: u64 = now.iter().map(|share| share.bytes).sum();
                prop_assert_eq!(sum, changes.map_or(0, |(_, bytes)| *bytes));
                // The same as where one position is asked for, and every value that lives is there once.
                let mut found: Vec<(u32, u64)> =
                    now.iter().map(|share| (placed[share.row as usize].assigned.value.0, share.bytes)).collect();
                let at = shares_at(&placed, step);
                let mut expected: Vec<(u32, u64)> =
                    at.iter().map(|(one, bytes)| (one.assigned.value.0, *bytes)).collect();
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
            prop_assert!(all.is_sorted_by_key(|share| (share.row, share.steps.start)));
        }
    }
}
