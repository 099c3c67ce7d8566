//! What would be reserved if segments could grow: the same requests and releases in segments that can, one for each pool
//! and stream (the rules of PyTorch's allocator with `expandable_segments:True`). A request takes the smallest free piece
//! that is large enough; only if there is none, the segment grows behind its last block, by whole pages.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::block_size::{SMALL_BYTES, rounded};
use super::failed_requests::FailedRequest;
use super::free_pieces::{MIDDLE_SEGMENT, SMALL_SEGMENT};
use super::lives::BlockLives;
use super::replay::EventPeak;
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice};

/// What growing segments take from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrownSegments {
    /// The most.
    pub most: EventPeak,
    /// Bytes of pages in which anything is in use when a request fails, with pages for that request; the others can be
    /// given back. `None` where none fails.
    pub needed_at_failure: Option<u64>,
}

impl GrownSegments {
    /// Of the requests of a device, with the one at which it ended.
    pub fn of(
        snapshot: &Snapshot,
        device: &SnapshotDevice,
        lives: &BlockLives,
        failed: Option<FailedRequest>,
    ) -> Self {
        let streams = snapshot.events.streams.get(device.events.clone()).unwrap_or_default();
        let actions = snapshot.events.actions.get(device.events.clone()).unwrap_or_default();
        let stream = |event: u32| streams.get(event as usize).copied().unwrap_or(0);
        let bytes_of = |row: usize| {
            let requested = lives.requested.get(row).copied().unwrap_or(0);
            rounded(requested, &snapshot.settings)
        };
        let mut all = GrowingHeap::default();
        let mut places = vec![0_u64; lives.len()];
        let mut next = 0_usize;
        while next < lives.len() && lives.allocation(next).is_none() {
            places[next] = all.pool(bytes_of(next), stream(0)).take(bytes_of(next));
            next += 1;
        }
        let mut most = EventPeak { bytes: all.mapped(), event: -1 };
        let mut needed_at_failure = None;
        for (event, freed) in (0_u32..).zip(lives.freed_by(device.events.len())) {
            if freed != BlockLives::NO_BLOCK {
                let row = freed as usize;
                let from = lives.allocation(row).map_or(0, stream);
                if let Some(place) = places.get(row) {
                    all.pool(bytes_of(row), from).give_back(*place, bytes_of(row));
                }
            }
            if failed.is_some_and(|failed| failed.event == event) {
                needed_at_failure = failed.map(|failed| all.needed_with(failed.bytes));
            }
            if actions.get(event as usize) != Some(&Action::Alloc)
                || lives.allocated_at.get(next) != Some(&event)
            {
                continue;
            }
            if let Some(place) = places.get_mut(next) {
                *place = all.pool(bytes_of(next), stream(event)).take(bytes_of(next));
            }
            next += 1;
            let mapped = all.mapped();
            if mapped > most.bytes {
                most = EventPeak { bytes: mapped, event: event.into() };
            }
        }
        Self { most, needed_at_failure }
    }
}

/// The segments of all pools and streams.
#[derive(Default)]
struct GrowingHeap(HashMap<(bool, u32), GrowingSegment>);

impl GrowingHeap {
    fn pool(&mut self, bytes: u64, stream: u32) -> &mut GrowingSegment {
        let is_small = bytes <= SMALL_BYTES;
        self.0.entry((is_small, stream)).or_insert_with(|| GrowingSegment {
            page: if is_small { SMALL_SEGMENT } else { MIDDLE_SEGMENT },
            ..GrowingSegment::default()
        })
    }

    fn mapped(&self) -> u64 {
        self.0.values().fold(0, |sum, segment| sum.saturating_add(segment.mapped))
    }

    fn needed_with(&self, bytes: u64) -> u64 {
        let page = if bytes <= SMALL_BYTES { SMALL_SEGMENT } else { MIDDLE_SEGMENT };
        let request = bytes.checked_next_multiple_of(page).unwrap_or(u64::MAX);
        let used = self.0.values().map(GrowingSegment::used_pages);
        used.fold(request, u64::saturating_add)
    }
}

/// A segment that can grow.
#[derive(Default)]
struct GrowingSegment {
    /// By how many bytes.
    page: u64,
    mapped: u64,
    /// Free pieces by their first byte.
    free: BTreeMap<u64, u64>,
    /// The same by their bytes.
    by_bytes: BTreeSet<(u64, u64)>,
}

impl GrowingSegment {
    /// Takes a block, and returns its first byte.
    fn take(&mut self, bytes: u64) -> u64 {
        let is_last = |(size, start): &(u64, u64)| start.saturating_add(*size) == self.mapped;
        let mut fitting = self.by_bytes.range((bytes, 0)..);
        // What can grow is taken last.
        let found = match fitting.next() {
            Some(last) if is_last(last) => fitting.next().or(Some(last)),
            found => found,
        };
        let (size, start) = match found.copied() {
            Some(found) => found,
            None => self.grown_for(bytes),
        };
        self.remove(start, size);
        self.add(start.saturating_add(bytes), size.saturating_sub(bytes));
        start
    }

    /// The last free piece after the segment grew so that it suffices.
    fn grown_for(&mut self, bytes: u64) -> (u64, u64) {
        let last = self.free.last_key_value().map(|(start, size)| (*start, *size));
        let last = last.filter(|(start, size)| start.saturating_add(*size) == self.mapped);
        let (start, size) = last.unwrap_or((self.mapped, 0));
        let more = bytes.saturating_sub(size).checked_next_multiple_of(self.page.max(1));
        let more = more.unwrap_or(0);
        self.remove(start, size);
        self.mapped = self.mapped.saturating_add(more);
        self.add(start, size.saturating_add(more));
        (size.saturating_add(more), start)
    }

    fn give_back(&mut self, place: u64, bytes: u64) {
        let (mut start, mut size) = (place, bytes);
        let before = self.free.range(..place).next_back().map(|(start, size)| (*start, *size));
        if let Some((first, of_first)) = before.filter(|(first, of)| first + of == place) {
            self.remove(first, of_first);
            (start, size) = (first, size.saturating_add(of_first));
        }
        let behind = place.saturating_add(bytes);
        if let Some(of_behind) = self.free.get(&behind).copied() {
            self.remove(behind, of_behind);
            size = size.saturating_add(of_behind);
        }
        self.add(start, size);
    }

    fn add(&mut self, start: u64, size: u64) {
        if size > 0 {
            self.free.insert(start, size);
            self.by_bytes.insert((size, start));
        }
    }

    fn remove(&mut self, start: u64, size: u64) {
        if size > 0 {
            self.free.remove(&start);
            self.by_bytes.remove(&(size, start));
        }
    }

    /// Bytes of pages in which anything is in use.
    fn used_pages(&self) -> u64 {
        let page = self.page.max(1);
        let free = self.free.iter().map(|(start, size)| {
            let first = start.checked_next_multiple_of(page).unwrap_or(u64::MAX);
            let end = start.saturating_add(*size) / page * page;
            end.saturating_sub(first)
        });
        self.mapped.saturating_sub(free.fold(0, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_segment_grows_only_where_nothing_fits() {
        let mut segment = GrowingSegment { page: 20 * MIB, ..GrowingSegment::default() };
        let first = segment.take(12 * MIB);
        let second = segment.take(12 * MIB);
        assert_eq!((first, second, segment.mapped), (0, 12 * MIB, 40 * MIB));
        segment.give_back(first, 12 * MIB);
        assert_eq!(segment.take(4 * MIB), 0, "the piece that cannot grow");
        assert_eq!(segment.take(20 * MIB), 24 * MIB);
        assert_eq!(segment.mapped, 60 * MIB);
        // Two neighbors join, and what lies between used pages cannot be given back.
        segment.give_back(0, 4 * MIB);
        assert_eq!(segment.free.get(&0), Some(&(12 * MIB)));
        segment.give_back(second, 12 * MIB);
        assert_eq!(segment.used_pages(), 40 * MIB);
    }
}
