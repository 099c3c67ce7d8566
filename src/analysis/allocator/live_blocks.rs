//! The blocks that live at a moment of a replay, by address: short sorted lists one after the other, so that the place
//! of a block and the one behind it are found by one search, and nothing is allocated for a block.

/// Blocks of a list; a longer one becomes two.
const MOST: usize = 64;

/// A block that lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) address: u64,
    /// Its row among the lives.
    pub(super) row: u32,
    /// Whether it waits for its free to be completed.
    pub(super) is_pending: bool,
}

/// A place between blocks: before the first one at an address or behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    list: usize,
    at: usize,
}

/// Blocks by address, each address once.
#[derive(Debug, Default)]
pub(super) struct LiveBlocks {
    /// The first address of each list.
    firsts: Vec<u64>,
    /// None of them is empty.
    lists: Vec<Vec<Live>>,
    len: usize,
    /// Where the block is that was found last: one that is given back is mostly free at the next event.
    last: Option<Place>,
}

impl LiveBlocks {
    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where a block at an address is or would be.
    #[inline]
    pub(super) fn place(&self, address: u64) -> Place {
        let list = self.firsts.partition_point(|first| *first <= address).saturating_sub(1);
        let blocks = self.lists.get(list).map_or(&[][..], Vec::as_slice);
        Place { list, at: blocks.partition_point(|block| block.address < address) }
    }

    #[inline]
    fn at(&self, place: Place) -> Option<&Live> {
        self.lists.get(place.list)?.get(place.at)
    }

    /// The first block at a place or behind it.
    #[inline]
    pub(super) fn next(&self, place: Place) -> Option<&Live> {
        let here = self.at(place);
        here.or_else(|| self.lists.get(place.list + 1)?.first())
    }

    /// Adds a block at its place.
    #[inline]
    pub(super) fn insert(&mut self, place: Place, block: Live) {
        self.len += 1;
        let Some(blocks) = self.lists.get_mut(place.list) else {
            self.firsts.push(block.address);
            self.lists.push(vec![block]);
            return;
        };
        blocks.insert(place.at, block);
        if place.at == 0 {
            self.firsts[place.list] = block.address;
        }
        if blocks.len() > MOST {
            let behind = blocks.split_off(MOST / 2);
            if let Some(first) = behind.first() {
                self.firsts.insert(place.list + 1, first.address);
                self.lists.insert(place.list + 1, behind);
            }
        }
    }

    /// The block at an address.
    #[inline]
    pub(super) fn get(&self, address: u64) -> Option<&Live> {
        self.at(self.place(address)).filter(|block| block.address == address)
    }

    /// The same, to change whether it waits.
    #[inline]
    pub(super) fn get_mut(&mut self, address: u64) -> Option<&mut Live> {
        let place = self.place(address);
        self.last = Some(place);
        let block = self.lists.get_mut(place.list)?.get_mut(place.at)?;
        (block.address == address).then_some(block)
    }

    /// Takes the block at an address away.
    #[inline]
    pub(super) fn remove(&mut self, address: u64) -> Option<Live> {
        let is_at = |place: &Place| self.at(*place).is_some_and(|block| block.address == address);
        let last = self.last.filter(is_at);
        let Place { list, at } = last.unwrap_or_else(|| self.place(address));
        let blocks = self.lists.get_mut(list)?;
        if blocks.get(at)?.address != address {
            return None;
        }
        let block = blocks.remove(at);
        self.len -= 1;
        match blocks.first() {
            Some(first) => self.firsts[list] = first.address,
            None => {
                self.firsts.remove(list);
                self.lists.remove(list);
            }
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the map of the standard library.
        #[test]
        fn it_is_a_map_by_address(
            steps in proptest::collection::vec((0_u64..400, 0_u8..4), 0..1500)
        ) {
            let mut blocks = LiveBlocks::default();
            let mut expected: BTreeMap<u64, Live> = BTreeMap::new();
            for (row, (address, what)) in (0..).zip(steps) {
                let block = Live { address, row, is_pending: false };
                match what {
                    0 | 1 => {
                        let place = blocks.place(address);
                        let next = expected.range(address..).next().map(|(_, block)| *block);
                        prop_assert_eq!(blocks.next(place).copied(), next);
                        if next.is_none_or(|next| next.address != address) {
                            blocks.insert(place, block);
                            expected.insert(address, block);
                        }
                    }
                    2 => prop_assert_eq!(blocks.remove(address), expected.remove(&address)),
                    _ => {
                        if let Some(block) = blocks.get_mut(address) {
                            block.is_pending = true;
                        }
                        if let Some(block) = expected.get_mut(&address) {
                            block.is_pending = true;
                        }
                    }
                }
                prop_assert_eq!(blocks.get(address), expected.get(&address));
                prop_assert_eq!(blocks.len(), expected.len());
            }
        }
    }
}
