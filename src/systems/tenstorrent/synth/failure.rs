//! How an operation fails, with the words of TT-NN.

use super::chip::{TensorPlace, WORKER_L1_BYTES, all_cores};

/// Why a run ended, with the figures of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenFailure {
    /// A buffer does not fit.
    OutOfMemory {
        /// Where it should lie.
        place: TensorPlace,
        /// Its bytes on all banks.
        bytes: u64,
        /// Its bytes on a bank.
        bytes_per_bank: u64,
        /// What is taken of a bank.
        allocated_bytes: u64,
        /// The largest free range of a bank.
        largest_free_bytes: u64,
    },
    /// Circular buffers would reach into a buffer.
    Clash {
        /// The address of the lowest buffer.
        lowest: u64,
        /// The address behind them.
        end: u64,
    },
    /// Circular buffers alone are more than a core has.
    Beyond {
        /// The address behind them.
        end: u64,
    },
}

impl WrittenFailure {
    /// Bytes of a bank that are missing.
    pub fn missing_bytes(&self) -> u64 {
        match *self {
            Self::OutOfMemory {
                place,
                bytes_per_bank,
                allocated_bytes,
                largest_free_bytes,
                ..
            } => {
                let bank = place.bank_bytes();
                let free = bank - allocated_bytes;
                let most = [bank, free, largest_free_bytes].into_iter();
                let most = most.filter(|most| bytes_per_bank > *most).max();
                most.map_or(0, |most| bytes_per_bank - most)
            }
            Self::Clash { lowest, end } => end - lowest,
            Self::Beyond { end } => end - WORKER_L1_BYTES,
        }
    }

    /// The message.
    pub fn message(&self) -> String {
        let (file, info) = match *self {
            Self::OutOfMemory {
                place,
                bytes,
                bytes_per_bank,
                allocated_bytes,
                largest_free_bytes,
            } => {
                let (word, bank) = (place.word(), place.bank_bytes());
                let (banks, free) = (place.banks(), bank - allocated_bytes);
                let info = format!(
                    "Out of Memory: Not enough space to allocate {bytes} B {word} buffer across {banks} banks, where each bank \
                     needs to store {bytes_per_bank} B, but bank size is {bank} B (allocated: {allocated_bytes} B, free: \
                     {free} B, largest free block: {largest_free_bytes} B)."
                );
                ("allocator/bank_manager.cpp:514", info)
            }
            Self::Clash { lowest, end } => {
                let cores = all_cores();
                let info = format!(
                    "Statically allocated circular buffers in program 7 clash with L1 buffers on core range {cores}. L1 buffer \
                     allocated at {lowest} and static circular buffer region ends at {end}"
                );
                ("program/program.cpp:1010", info)
            }
            Self::Beyond { end } => {
                let cores = all_cores();
                let info = format!(
                    "Statically allocated circular buffers on core range {cores} grow to {end} B which is beyond max L1 size of \
                     {WORKER_L1_BYTES} B"
                );
                ("program/program.cpp:990", info)
            }
        };
        format!(
            "TT_FATAL @ /project/tt_metal/impl/{file}: false\ninfo:\n{info}\nbacktrace:\n --- encoder\n"
        )
    }
}
