//! The allocator of a bank, which stands for all banks of its kind: first fit, of L1 from the highest address down, of DRAM
//! from the lowest up.

use super::chip::{BLOCK_BYTES, DRAM_BASE, FLOOR, TensorPlace};

/// What is free of a bank.
#[derive(Clone, Debug)]
pub struct FreeOfBank {
    place: TensorPlace,
    /// From where to where, by address; neighbors are one range.
    free: Vec<[u64; 2]>,
    taken_bytes: u64,
}

impl FreeOfBank {
    /// A bank without buffers.
    pub fn new(place: TensorPlace) -> Self {
        let base = match place {
            TensorPlace::Dram => DRAM_BASE,
            TensorPlace::L1 => FLOOR,
        };
        Self { place, free: vec![[base, base + place.bank_bytes()]], taken_bytes: 0 }
    }

    /// Takes bytes; gives their address, or nothing where they do not fit in one piece.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.next_multiple_of(BLOCK_BYTES);
        let fits = |[from, to]: &[u64; 2]| to - from >= bytes;
        let at = match self.place {
            TensorPlace::Dram => self.free.iter().position(fits),
            TensorPlace::L1 => self.free.iter().rposition(fits),
        }?;
        let range = &mut self.free[at];
        let address = match self.place {
            TensorPlace::Dram => {
                range[0] += bytes;
                range[0] - bytes
            }
            TensorPlace::L1 => {
                range[1] -= bytes;
                range[1]
            }
        };
        if range[0] == range[1] {
            self.free.remove(at);
        }
        self.taken_bytes += bytes;
        Some(address)
    }

    /// Gives bytes back.
    pub fn give_back(&mut self, address: u64, bytes: u64) {
        let bytes = bytes.next_multiple_of(BLOCK_BYTES);
        let at = self.free.partition_point(|[from, _]| *from < address);
        self.free.insert(at, [address, address + bytes]);
        for at in [at + 1, at] {
            if at > 0 && at < self.free.len() && self.free[at - 1][1] == self.free[at][0] {
                self.free[at - 1][1] = self.free[at][1];
                self.free.remove(at);
            }
        }
        self.taken_bytes -= bytes;
    }

    /// Bytes that are taken.
    pub fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// Bytes of the largest free range.
    pub fn largest_free_bytes(&self) -> u64 {
        self.free.iter().map(|[from, to]| to - from).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::tenstorrent::synth::chip::L1_BANK_BYTES;

    #[test]
    fn what_is_given_back_is_taken_again_from_the_top() {
        let mut bank = FreeOfBank::new(TensorPlace::L1);
        let end = FLOOR + L1_BANK_BYTES;
        let [a, b, c] = [100, 64, 32].map(|bytes| bank.take(bytes).unwrap());
        assert_eq!([a, b, c], [end - 128, end - 192, end - 224]);
        bank.give_back(b, 64);
        assert_eq!(bank.take(96), Some(end - 320), "it does not fit in between");
        assert_eq!(bank.take(33), Some(b));
        assert_eq!(bank.taken_bytes(), 128 + 64 + 32 + 96);
        for (address, bytes) in [(a, 100), (c, 32), (end - 320, 96), (b, 33)] {
            bank.give_back(address, bytes);
        }
        assert_eq!((bank.taken_bytes(), bank.largest_free_bytes()), (0, L1_BANK_BYTES));
        assert_eq!(bank.take(L1_BANK_BYTES + 1), None);
        let mut dram = FreeOfBank::new(TensorPlace::Dram);
        assert_eq!([dram.take(40), dram.take(1)], [Some(DRAM_BASE), Some(DRAM_BASE + 64)]);
    }
}
