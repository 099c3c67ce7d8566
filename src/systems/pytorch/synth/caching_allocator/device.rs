//! The memory of a device as segments are taken from it: how much is left, and at which addresses.

use super::CardMemory;

/// The first address that is handed out.
const FIRST: u64 = 0x7f00_0000_0000;

/// What is free, and where.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    card: CardMemory,
    taken: u64,
    next: u64,
    /// Ranges that were given back, by address, with the bytes of each.
    holes: Vec<(u64, u64)>,
}

impl DeviceMemory {
    pub(super) fn new(card: CardMemory) -> Self {
        Self { card, taken: 0, next: FIRST, holes: Vec::new() }
    }

    /// Bytes that nobody has.
    pub(super) fn free_bytes(&self) -> u64 {
        let capacity = self.card.capacity();
        capacity.saturating_sub(self.card.other_bytes).saturating_sub(self.taken)
    }

    /// The address of a range, in the first hole that is large enough or behind all others; `None` where too little is
    /// free.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        if bytes > self.free_bytes() {
            return None;
        }
        self.taken += bytes;
        let hole = self.holes.iter().position(|(_, free)| *free >= bytes);
        let Some(place) = hole else {
            let address = self.next;
            self.next += bytes;
            return Some(address);
        };
        let (address, free) = &mut self.holes[place];
        let taken = *address;
        *address += bytes;
        *free -= bytes;
        if *free == 0 {
            self.holes.remove(place);
        }
        Some(taken)
    }

    pub(super) fn give_back(&mut self, address: u64, bytes: u64) {
        self.taken -= bytes;
        let place = self.holes.partition_point(|(other, _)| *other < address);
        self.holes.insert(place, (address, bytes));
        // From the far side on, so that `place` keeps its meaning.
        for first in [Some(place), place.checked_sub(1)].into_iter().flatten() {
            if let [(at, free), (next, more), ..] = self.holes[first..]
                && at + free == next
            {
                self.holes[first].1 = free + more;
                self.holes.remove(first + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_joined_and_taken_again() {
        let mut device =
            DeviceMemory::new(CardMemory { capacity_bytes: Some(100), other_bytes: 10 });
        let taken: Vec<u64> = (0..9).filter_map(|_| device.take(10)).collect();
        assert_eq!(taken.len(), 9);
        assert_eq!((device.take(1), device.free_bytes()), (None, 0));
        for place in [2, 4, 3] {
            device.give_back(taken[place], 10);
        }
        assert_eq!(device.holes, [(taken[2], 30)]);
        assert_eq!(device.take(25), Some(taken[2]));
        assert_eq!(device.take(5), Some(taken[2] + 25));
        assert_eq!((device.holes.len(), device.free_bytes()), (0, 0));
    }
}
