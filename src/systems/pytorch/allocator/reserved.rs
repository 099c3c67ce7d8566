//! The memory that is taken from a device: ranges of addresses. Pieces that are mapped into an expandable segment are
//! one range with those that they touch; other segments stay for themselves.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentReach {
    end: u64,
    is_expandable: bool,
}

/// A range that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Held {
    /// Its first byte.
    pub start: u64,
    /// The first byte behind it.
    pub end: u64,
    /// Whether it consists of pieces that are mapped.
    pub is_expandable: bool,
}

/// The ranges, and how many bytes they have together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reserved {
    ranges: BTreeMap<u64, SegmentReach>,
    bytes: u64,
}

impl Reserved {
    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The range that holds an address.
    #[inline]
    pub fn at(&self, address: u64) -> Option<Held> {
        let (start, reach) = self.ranges.range(..=address).next_back()?;
        let held = Held { start: *start, end: reach.end, is_expandable: reach.is_expandable };
        (address < reach.end).then_some(held)
    }

    /// All ranges, by address.
    pub fn iter(&self) -> impl Iterator<Item = Held> {
        self.ranges.iter().map(|(start, reach)| Held {
            start: *start,
            end: reach.end,
            is_expandable: reach.is_expandable,
        })
    }

    /// Adds a range; returns whether it was not there.
    pub fn add(&mut self, start: u64, bytes: u64, is_expandable: bool) -> bool {
        let end = start.saturating_add(bytes);
        if end <= start {
            return bytes == 0;
        }
        let before = self.ranges.range(..end).next_back().map(|(start, reach)| (*start, *reach));
        if before.is_some_and(|(_, reach)| reach.end > start) {
            return false;
        }
        self.bytes = self.bytes.saturating_add(end - start);
        let (mut start, mut end) = (start, end);
        if is_expandable {
            if let Some((first, reach)) = before
                && reach.is_expandable
                && reach.end == start
            {
                start = first;
            }
            if let Some(behind) = self.ranges.get(&end).copied()
                && behind.is_expandable
            {
                self.ranges.remove(&end);
                end = behind.end;
            }
        }
        self.ranges.insert(start, SegmentReach { end, is_expandable });
        true
    }

    /// Takes a range away; returns whether it was there as a whole: of a segment that is not expandable from its first
    /// byte to its last.
    pub fn remove(&mut self, start: u64, bytes: u64, is_expandable: bool) -> bool {
        let end = start.saturating_add(bytes);
        if end <= start {
            return bytes == 0;
        }
        let Some(held) = self.at(start).filter(|held| held.is_expandable == is_expandable) else {
            return false;
        };
        if end > held.end || (!is_expandable && (held.start, held.end) != (start, end)) {
            return false;
        }
        self.bytes = self.bytes.saturating_sub(end - start);
        self.ranges.remove(&held.start);
        if held.start < start {
            self.ranges.insert(held.start, SegmentReach { end: start, is_expandable });
        }
        if end < held.end {
            self.ranges.insert(end, SegmentReach { end: held.end, is_expandable });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(reserved: &Reserved) -> Vec<(u64, u64)> {
        reserved.iter().map(|held| (held.start, held.end)).collect()
    }

    #[test]
    fn segments_stay_for_themselves_and_mapped_pieces_join() {
        let mut reserved = Reserved::default();
        assert!(reserved.add(0, 10, false) && reserved.add(10, 10, false));
        assert_eq!(ranges(&reserved), [(0, 10), (10, 20)]);
        assert!(!reserved.add(5, 1, false) && !reserved.remove(0, 5, false));
        assert!(reserved.add(100, 10, true) && reserved.add(120, 10, true));
        assert!(reserved.add(110, 10, true));
        assert_eq!(ranges(&reserved), [(0, 10), (10, 20), (100, 130)]);
        // Unmapping the middle leaves two.
        assert!(reserved.remove(105, 10, true));
        assert_eq!(ranges(&reserved), [(0, 10), (10, 20), (100, 105), (115, 130)]);
        assert_eq!(reserved.bytes(), 40);
        assert!(!reserved.remove(10, 10, true) && reserved.remove(10, 10, false));
    }

    proptest! {
        /// Against a set of addresses.
        #[test]
        fn what_was_added_and_not_removed_is_there(
            steps in proptest::collection::vec((0..60_u64, 1..9_u64, any::<bool>()), 0..40)
        ) {
            let mut reserved = Reserved::default();
            let mut taken = std::collections::BTreeSet::new();
            for (start, bytes, adds) in steps {
                let range = start..start + bytes;
                if adds {
                    let is_free = range.clone().all(|address| !taken.contains(&address));
                    prop_assert_eq!(reserved.add(start, bytes, true), is_free);
                    if is_free {
                        taken.extend(range);
                    }
                } else {
                    let is_there = range.clone().all(|address| taken.contains(&address));
                    prop_assert_eq!(reserved.remove(start, bytes, true), is_there);
                    if is_there {
                        range.for_each(|address| { taken.remove(&address); });
                    }
                }
                prop_assert_eq!(reserved.bytes(), taken.len() as u64);
                for address in 0..70 {
                    prop_assert_eq!(reserved.at(address).is_some(), taken.contains(&address));
                }
            }
        }
    }
}
