//! The chip of synthetic reports: one of Wormhole on a board n150.

/// Columns and rows of worker cores.
pub const GRID: [u64; 2] = [8, 8];
/// Worker cores, each a bank of L1.
pub const CORES: u64 = GRID[0] * GRID[1];
/// The id of the mesh, which buffers and tensors have.
pub const MESH: u64 = 1;
/// Bytes of L1 of a core.
pub const WORKER_L1_BYTES: u64 = 1_499_136;
/// The first address of a core that circular buffers can have.
pub const FLOOR: u64 = 105_824;
/// Bytes for buffers of a bank of L1.
pub const L1_BANK_BYTES: u64 = 1_368_736;
/// Banks of DRAM.
pub const DRAM_BANKS: u64 = 12;
/// The first address of a bank of DRAM that buffers can have.
pub const DRAM_BASE: u64 = 1_048_640;
/// Bytes of a bank of DRAM.
pub const DRAM_BANK_BYTES: u64 = 1 << 30;
/// The smallest block that is allocated, bytes.
pub const BLOCK_BYTES: u64 = 32;
/// A tile of 32 × 32 numbers in bfloat16, which is a page, bytes.
pub const PAGE_BYTES: u64 = 2048;

/// All worker cores as a range: `[0-0 - 7-7]`.
pub fn all_cores() -> String {
    let [x, y] = GRID;
    format!("[0-0 - {}-{}]", x - 1, y - 1)
}

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum TensorPlace {
    /// In the banks of DRAM.
    Dram,
    /// In the L1 of all cores.
    L1,
}

impl TensorPlace {
    /// Its number as `buffer_type`.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// Its name in texts of TT-NN.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L1 => "L1",
        }
    }

    /// Banks over which pages are dealt.
    pub fn banks(self) -> u64 {
        match self {
            Self::Dram => DRAM_BANKS,
            Self::L1 => CORES,
        }
    }

    /// Bytes of one bank that buffers can have.
    pub fn bank_bytes(self) -> u64 {
        match self {
            Self::Dram => DRAM_BANK_BYTES - DRAM_BASE,
            Self::L1 => L1_BANK_BYTES,
        }
    }
}
