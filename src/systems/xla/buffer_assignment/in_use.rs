//! Bytes in use of an allocation: the union of the addresses of what lives at a position (formats/xla.md 5.4).

use super::live_ranges::{LiveRange, LiveRanges};
use crate::store::hlo::{Assigned, HloModule};

/// A value in its place, with its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedValue {
    /// Where it is.
    pub assigned: Assigned,
    /// When it lives.
    pub range: LiveRange,
}

/// The values of each allocation that have a life, by the allocation's row.
pub fn placed_by_allocation(module: &HloModule, ranges: &LiveRanges) -> Vec<Vec<PlacedValue>> {
    let mut placed = vec![Vec::new(); module.allocations.len()];
    for assigned in &module.assigned {
        let list = placed.get_mut(assigned.allocation as usize);
        if let (Some(list), Some(range)) = (list, ranges.get(assigned.value)) {
            list.push(PlacedValue { assigned: *assigned, range });
        }
    }
    placed
}

/// How many bytes a list of ranges of addresses covers, as ranges come and go: a tree over the addresses at which one
/// begins or ends, with how often each part of it is covered.
struct Union {
    edges: Vec<u64>,
    times: Vec<u32>,
    covered: Vec<u64>,
}

impl Union {
    fn over(placed: &[PlacedValue]) -> Self {
        let mut edges: Vec<u64> = placed
            .iter()
            .flat_map(|one| [one.assigned.offset, one.assigned.offset + one.assigned.bytes])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let nodes = edges.len().max(1).next_power_of_two() * 2;
        Self { edges, times: vec![0; nodes], covered: vec![0; nodes] }
    }

    fn bytes(&self) -> u64 {
        self.covered.get(1).copied().unwrap_or(0)
    }

    fn change(&mut self, one: &PlacedValue, is_coming: bool) {
        let edge = |address: u64| self.edges.partition_point(|edge| *edge < address);
        let from = edge(one.assigned.offset);
        let to = edge(one.assigned.offset + one.assigned.bytes);
        self.change_node(1, (0, self.times.len() / 2), (from, to), is_coming);
    }

    /// Changes the parts `from..to` below a node that stands for the parts `start..end`.
    fn change_node(
        &mut self,
        node: usize,
        (start, end): (usize, usize),
        (from, to): (usize, usize),
        is_coming: bool,
    ) {
        if from >= end || to <= start {
            return;
        }
        if from <= start && end <= to {
            let times = self.times[node];
            self.times[node] = if is_coming { times + 1 } else { times.saturating_sub(1) };
        } else {
            let middle = usize::midpoint(start, end);
            self.change_node(node * 2, (start, middle), (from, to), is_coming);
            self.change_node(node * 2 + 1, (middle, end), (from, to), is_coming);
        }
        let address =
            |place: usize| self.edges.get(place).or(self.edges.last()).copied().unwrap_or(0);
        self.covered[node] = if self.times[node] > 0 {
            address(end) - address(start)
        } else if end - start > 1 {
            self.covered[node * 2] + self.covered[node * 2 + 1]
        } else {
            0
        };
    }
}

/// A curve that changes at some positions: where, and the bytes from there on.
pub type CurveChanges = Vec<(u32, u64)>;

/// The bytes in use of an allocation: at each position at which they change. Before the first there are none.
pub fn bytes_in_use(placed: &[PlacedValue]) -> CurveChanges {
    // What ends at a position is still there at it: it goes at the next.
    let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(placed.len() * 2);
    for (row, one) in (0_u32..).zip(placed) {
        if one.assigned.bytes > 0 {
            events.push((one.range.start, true, row));
            events.push((one.range.end.saturating_add(1), false, row));
        }
    }
    events.sort_unstable();
    let mut union = Union::over(placed);
    let mut changes = CurveChanges::new();
    for (place, (position, is_coming, row)) in events.iter().enumerate() {
        union.change(&placed[*row as usize], *is_coming);
        let is_last = events.get(place + 1).is_none_or(|next| next.0 != *position);
        let before = changes.last().map_or(0, |(_, bytes)| *bytes);
        if is_last && before != union.bytes() {
            changes.push((*position, union.bytes()));
        }
    }
    changes
}

/// The sum of several curves.
pub fn sum<'a>(curves: impl IntoIterator<Item = &'a CurveChanges>) -> CurveChanges {
    let mut differences: Vec<(u32, i128)> = Vec::new();
    for curve in curves {
        let mut before = 0;
        for (position, bytes) in curve {
            differences.push((*position, i128::from(*bytes) - before));
            before = i128::from(*bytes);
        }
    }
    // Each curve is in order already: sorting merges them.
    differences.sort_by_key(|(position, _)| *position);
    let mut level = 0_i128;
    let mut changes = CurveChanges::new();
    for at_once in differences.chunk_by(|one, other| one.0 == other.0) {
        let difference: i128 = at_once.iter().map(|(_, difference)| difference).sum();
        level += difference;
        let bytes = u64::try_from(level).unwrap_or(u64::MAX);
        if let Some((position, _)) = at_once.first().filter(|_| difference != 0) {
            changes.push((*position, bytes));
        }
    }
    changes
}

/// The largest bytes of a curve, and all positions up to the last one at which it has them, as ranges with both ends
/// included; one range of everything where it never has any.
pub fn peak(changes: &CurveChanges, end: u32) -> (u64, Vec<(u32, u32)>) {
    let most = changes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut add = |start: u32, last: u32, bytes: u64| {
        if bytes != most || start > last {
            return;
        }
        match ranges.last_mut() {
            Some((_, before)) if before.saturating_add(1) == start => *before = last,
            _ => ranges.push((start, last)),
        }
    };
    let first = changes.first().map_or(end.saturating_add(1), |(position, _)| *position);
    if let Some(last) = first.checked_sub(1) {
        add(0, last.min(end), 0);
    }
    for (place, (position, bytes)) in changes.iter().enumerate() {
        let next = changes.get(place + 1).map_or(end.saturating_add(1), |(next, _)| *next);
        add(*position, next.saturating_sub(1).min(end), *bytes);
    }
    (most, ranges)
}
