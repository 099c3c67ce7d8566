//! The figures of a run that a sweep can be drawn by.

use super::SweepRun;
use crate::analysis::throughput;
use crate::text::words;

words! {
    /// A figure; its key is its name in JSON and as an argument.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Figure by key {
        /// Whether no tile is over.
        Fits = "fits",
        TilesOverLimit = "tiles-over-limit",
        /// Bytes of the fullest tile, gaps included.
        FullestTile = "fullest-tile",
        /// Bytes of all tiles, gaps excluded.
        Total = "total",
        /// Bytes of all tiles, gaps included.
        IncludingGaps = "including-gaps",
        /// Bytes of variables that live as long as the program.
        AlwaysLive = "always-live",
        /// Always live + not always live at the peak, bytes.
        Peak = "peak",
        /// Bytes of code.
        Code = "code",
        /// Cycles of all runs.
        Cycles = "cycles",
        /// Samples per second, by cycles.
        Throughput = "throughput",
        /// Samples per second, by elapsed time.
        ThroughputByElapsedTime = "throughput-by-elapsed-time",
    }
}

/// The value of a figure, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum FigureValue {
    Flag(bool),
    Count(u64),
    Rate(f64),
}

impl FigureValue {
    /// The number to draw; 1 for yes.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Flag(flag) => f64::from(u8::from(flag)),
            Self::Count(count) => count as f64,
            Self::Rate(rate) => rate,
        }
    }
}

impl Figure {
    pub const ALL: [Self; 11] = [
        Self::Fits,
        Self::TilesOverLimit,
        Self::FullestTile,
        Self::Total,
        Self::IncludingGaps,
        Self::AlwaysLive,
        Self::Peak,
        Self::Code,
        Self::Cycles,
        Self::Throughput,
        Self::ThroughputByElapsedTime,
    ];

    /// The title of its column in a table for programs: what it is, and its unit.
    pub fn column(self) -> &'static str {
        self.titles().0
    }

    pub fn title(self) -> &'static str {
        self.titles().1
    }

    /// For programs and for people.
    fn titles(self) -> (&'static str, &'static str) {
        match self {
            Self::Fits => ("fits", "Fits"),
            Self::TilesOverLimit => ("tiles_over_limit", "Tiles over the limit"),
            Self::FullestTile => {
                ("fullest_tile_including_gaps_bytes", "Fullest tile, including gaps")
            }
            Self::Total => ("total_bytes", "Total"),
            Self::IncludingGaps => ("including_gaps_bytes", "Total, including gaps"),
            Self::AlwaysLive => ("always_live_bytes", "Always live"),
            Self::Peak => ("peak_bytes", "Peak"),
            Self::Code => ("code_bytes", "Code"),
            Self::Cycles => ("cycles", "Cycles"),
            Self::Throughput => ("throughput_samples_per_second", throughput::BY_CYCLES),
            Self::ThroughputByElapsedTime => {
                ("throughput_by_elapsed_time_samples_per_second", throughput::BY_ELAPSED_TIME)
            }
        }
    }

    pub fn is_bytes(self) -> bool {
        !matches!(
            self,
            Self::Fits
                | Self::TilesOverLimit
                | Self::Cycles
                | Self::Throughput
                | Self::ThroughputByElapsedTime
        )
    }

    /// What a run has of it; `None` where the report does not say.
    pub fn of(self, run: &SweepRun) -> Option<FigureValue> {
        let count = match self {
            Self::Fits => return run.fits.map(FigureValue::Flag),
            Self::Throughput => {
                return run.throughput_samples_per_second.map(FigureValue::Rate);
            }
            Self::ThroughputByElapsedTime => {
                let found = run.throughput_by_elapsed_time_samples_per_second;
                return found.map(FigureValue::Rate);
            }
            Self::TilesOverLimit => run.tiles_over_limit,
            Self::FullestTile => run.fullest_tile.and_then(|tile| tile.including_gaps_bytes),
            Self::Total => run.total_bytes,
            Self::IncludingGaps => run.including_gaps_bytes,
            Self::AlwaysLive => run.always_live_bytes,
            Self::Peak => run.peak_bytes,
            Self::Code => run.code_bytes,
            Self::Cycles => run.cycles,
        };
        count.map(FigureValue::Count)
    }
}
