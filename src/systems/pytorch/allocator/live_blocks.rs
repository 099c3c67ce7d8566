//! The blocks that live at a moment of a replay, by address: short sorted lists one after the other, so that the place
//! of a block and the one behind it are found by one search, and nothing is allocated for a block.

/// Blocks of a list; a longer one becomes two.
const MOST: usize = 64;

/// A block that lives: what of it is asked for when it is given back, so that its row is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    /// Bytes that were asked for.
    pub(super) requested: u64,
    /// Bytes that it takes.
    pub(super) bytes: u64,
    /// Its row among the lives.
    pub(super) row: u32,
    /// Whether it waits for its free to be completed.
    pub(super) is_pending: bool,
}

/// A place between blocks: before the first one at an address or behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    list: usize,
    at: usize,
}

/// A short list: addresses, and the blocks that are there. What is searched is not spread among the rest.
#[derive(Debug, Default)]
struct LiveList {
    addresses: Vec<u64>,
    blocks: Vec<Live>,
}

/// Blocks by address, each address once.
#[derive(Debug, Default)]
pub(super) struct LiveBlocks {
    /// The first address of each list.
    firsts: Vec<u64>,
    /// None of them is empty.
    lists: Vec<LiveList>,
    len: usize,
    /// Where the block is that was found last: one that is given back is mostly free at the next event.
    last: Option<BlockPlace>,
}

impl LiveBlocks {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where a block at an address is or would be.
    #[inline]
    pub(super) fn place(&self, address: u64) -> BlockPlace {
        let list = self.firsts.partition_point(|first| *first <= address).saturating_sub(1);
        let addresses = self.lists.get(list).map_or(&[][..], |list| &list.addresses);
        BlockPlace { list, at: addresses.partition_point(|block| *block < address) }
    }

    #[inline]
    fn address_at(&self, place: BlockPlace) -> Option<u64> {
        self.lists.get(place.list)?.addresses.get(place.at).copied()
    }

    /// The address of the first block at a place or behind it.
    #[inline]
    pub(super) fn next(&self, place: BlockPlace) -> Option<u64> {
        let here = self.address_at(place);
        here.or_else(|| self.lists.get(place.list + 1)?.addresses.first().copied())
    }

    /// Adds a block at its place.
    #[inline]
    pub(super) fn insert(&mut self, place: BlockPlace, address: u64, block: Live) {
        self.len += 1;
        let Some(list) = self.lists.get_mut(place.list) else {
            self.firsts.push(address);
            self.lists.push(LiveList { addresses: vec![address], blocks: vec![block] });
            return;
        };
        list.addresses.insert(place.at, address);
        list.blocks.insert(place.at, block);
        if place.at == 0 {
            self.firsts[place.list] = address;
        }
        if list.blocks.len() > MOST {
            let addresses = list.addresses.split_off(MOST / 2);
            let blocks = list.blocks.split_off(MOST / 2);
            if let Some(first) = addresses.first() {
                self.firsts.insert(place.list + 1, *first);
                self.lists.insert(place.list + 1, LiveList { addresses, blocks });
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, address: u64) -> Option<&Live> {
        let place = self.place(address);
        let list = self.lists.get(place.list)?;
        list.blocks.get(place.at).filter(|_| list.addresses.get(place.at) == Some(&address))
    }

    /// The same, to change whether it waits.
    #[inline]
    pub(super) fn get_mut(&mut self, address: u64) -> Option<&mut Live> {
        let place = self.place(address);
        self.last = Some(place);
        let list = self.lists.get_mut(place.list)?;
        let is_there = list.addresses.get(place.at) == Some(&address);
        list.blocks.get_mut(place.at).filter(|_| is_there)
    }

    /// Takes the block at an address away.
    #[inline]
    pub(super) fn remove(&mut self, address: u64) -> Option<Live> {
        let last = self.last.filter(|place| self.address_at(*place) == Some(address));
        let BlockPlace { list: place, at } = last.unwrap_or_else(|| self.place(address));
        let list = self.lists.get_mut(place)?;
        if *list.addresses.get(at)? != address {
            return None;
        }
        list.addresses.remove(at);
        let block = list.blocks.remove(at);
        self.len -= 1;
        match list.addresses.first() {
            Some(first) => self.firsts[place] = *first,
            None => {
                self.firsts.remove(place);
                self.lists.remove(place);
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
                let block = Live { requested: address, bytes: 512, row, is_pending: false };
                match what {
                    0 | 1 => {
                        let place = blocks.place(address);
                        let next = expected.range(address..).next().map(|(next, _)| *next);
                        prop_assert_eq!(blocks.next(place), next);
                        if next != Some(address) {
                            blocks.insert(place, address, block);
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
