//! The pictures that `tilescope render` can draw: pages of the window, and single pictures of them. The command offers
//! them by name, the window's code draws them.

use clap::ValueEnum;

/// A page, or a picture of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The verdict, capacity, curve, tiles and advice: the whole page.
    Overview,
    /// How many tiles have how many bytes, around the limit.
    Histogram,
    /// Facts, options, files and phases of the compiler: the whole page.
    Summary,
    /// What the compiler spent its time on.
    CompilerPhases,
    /// Whether it fits, why not, and what to try: the whole page.
    Insights,
    /// Bytes of every tile.
    Memory,
    /// What differs between two runs, category by tile.
    MemoryDifferences,
    /// One tile: addresses over steps.
    Map,
    /// All tiles: a line of addresses for each.
    MapAllTiles,
    /// The tiles or cores as a grid, colored by their bytes.
    Grid,
    /// What differs between two runs, as a grid of tiles.
    GridDifferences,
    /// Bytes over steps.
    Liveness,
    /// What ran when on each IPU, and the memory below it.
    Trace,
    /// What every tile of an IPU does over time, too.
    TraceTiles,
    /// How long the largest variables of a step live.
    Lifetimes,
    /// The tree of programs: the whole page.
    Programs,
    /// What each operation takes and needs: the whole page.
    Operations,
    /// Two to eight runs side by side: the whole page.
    Compare,
    /// What the peak of one run lost and gained towards that of another.
    ComparePeak,
    /// All runs of a directory: the whole page.
    Sweep,
    /// A figure over two options that vary.
    SweepHeatMap,
    /// A figure along an option that varies.
    SweepCurves,
    /// Memory against throughput.
    SweepMemory,
}

impl View {
    /// Whether it is of all reports below a directory.
    pub fn is_sweep(self) -> bool {
        matches!(self, Self::Sweep | Self::SweepHeatMap | Self::SweepCurves | Self::SweepMemory)
    }

    /// Whether it is of two runs at least.
    pub fn needs_several(self) -> bool {
        matches!(
            self,
            Self::MemoryDifferences | Self::GridDifferences | Self::Compare | Self::ComparePeak
        )
    }

    /// Whether a step can be chosen.
    pub fn takes_step(self) -> bool {
        let is_map = matches!(self, Self::Map | Self::MapAllTiles | Self::Grid);
        is_map || matches!(self, Self::Liveness | Self::Lifetimes)
    }

    /// Whether a tile can be chosen.
    pub fn takes_tile(self) -> bool {
        let is_of_tiles = matches!(self, Self::Memory | Self::MemoryDifferences);
        is_of_tiles || self.takes_step() || self == Self::GridDifferences
    }

    /// Whether the tiles of one IPU can be chosen.
    pub fn takes_ipu(self) -> bool {
        matches!(self, Self::Memory | Self::MemoryDifferences | Self::Liveness | Self::Lifetimes)
    }
}
