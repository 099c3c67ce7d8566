//! Bytes where several things have the same addresses: a byte counts to the first of them in some order, so that all
//! together add up to the addresses in use.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// How bytes are counted that several things have, for people.
pub const COUNTED_ONCE: &str = "Things that are alive together can have the same addresses. Each byte counts once, for \
                                the one there that lives the longest, so that the list adds up to the curve";

/// A thing that is alive: what comes first has its addresses before others.
pub type LifeOrder = (Reverse<u64>, u32, u64);

/// The place of a thing among all that are alive with it, by the number of steps of its life, the first of them and its
/// first address.
pub fn life_order(steps: impl IntoIterator<Item = Range<u32>>, address: u64) -> LifeOrder {
    let (mut length, mut first) = (0_u64, None);
    for range in steps {
        length = length.saturating_add(u64::from(range.end.saturating_sub(range.start)));
        first.get_or_insert(range.start);
    }
    (Reverse(length), first.unwrap_or(0), address)
}

/// The bytes that count to each of some things that are alive together, by their addresses.
pub fn counted_by_life(things: &[(LifeOrder, Range<u64>)]) -> Vec<u64> {
    let mut rows: Vec<usize> = (0..things.len()).collect();
    rows.sort_by_key(|row| things.get(*row).map(|(order, _)| *order));
    let ranges = rows.iter().filter_map(|row| things.get(*row)).map(|(_, range)| range.clone());
    let mut counted = vec![0; things.len()];
    for (row, bytes) in rows.iter().zip(counted_once(ranges)) {
        if let Some(cell) = counted.get_mut(*row) {
            *cell = bytes;
        }
    }
    counted
}

/// The bytes that count to each of some ranges of addresses, in the order given: what an earlier one has is not counted
/// again.
fn counted_once(ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<u64> {
    let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
    ranges.into_iter().map(|range| take(&mut taken, range)).collect()
}

/// Takes a range of addresses; how many bytes of it were free.
fn take(taken: &mut BTreeMap<u64, u64>, Range { start, end }: Range<u64>) -> u64 {
    let (mut from, mut to, mut overlap) = (start, end, 0_u64);
    let before = taken.range(..=start).next_back().filter(|(_, end)| **end >= start);
    let first = before.map_or(start, |(start, _)| *start);
    let touched: Vec<(u64, u64)> =
        taken.range(first..=end.max(first)).map(|(start, end)| (*start, *end)).collect();
    for (other_start, other_end) in touched {
        taken.remove(&other_start);
        overlap += other_end.min(end).saturating_sub(other_start.max(start));
        from = from.min(other_start);
        to = to.max(other_end);
    }
    if to > from {
        taken.insert(from, to);
    }
    end.saturating_sub(start).saturating_sub(overlap)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_taken_adds_up_to_the_union(ranges in prop::collection::vec((0..60_u64, 0..20_u64), 0..20)) {
            let ranges = ranges.iter().map(|(start, bytes)| *start..start + bytes);
            let mut is_taken = [false; 100];
            for (range, bytes) in ranges.clone().zip(counted_once(ranges)) {
                let range = range.start as usize..range.end as usize;
                let free = is_taken[range.clone()].iter().filter(|taken| !**taken).count() as u64;
                prop_assert_eq!(bytes, free);
                is_taken[range].fill(true);
            }
        }
    }
}
