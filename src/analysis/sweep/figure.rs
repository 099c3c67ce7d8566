//! The figures of a run that a sweep can be drawn by.

use super::SweepRun;
use crate::analysis::throughput;

/// A figure; its key is its name in JSON and as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Whether no tile is over.
    Fits,
    TilesOverLimit,
    /// Bytes of the fullest tile, gaps included.
    FullestTile,
    /// Bytes of all tiles, gaps excluded.
    Total,
    /// Bytes of all tiles, gaps included.
    IncludingGaps,
    /// Bytes of variables that live as long as the program.
    AlwaysLive,
    /// Always live + not always live at the peak, bytes.
    Peak,
    /// Bytes of code.
    Code,
    /// Cycles of all runs.
    Cycles,
    /// Samples per second, by cycles.
    Throughput,
    /// Samples per second, by elapsed time.
    ThroughputByElapsedTime,
    /// Warnings of the planner that it is at the minimum of memory.
    PlannerAtMinimum,
    /// A number of `app.json`, measured throughput for example: a position in [`super::Sweep::measures`].
    Measured(usize),
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
    /// Those that every sweep has.
    pub const ALL: [Self; 12] = [
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
        Self::PlannerAtMinimum,
    ];

    /// Its name in JSON and as an argument; that of a number of `app.json` only the sweep knows
    /// ([`super::Sweep::figure_key`]).
    pub fn key(self) -> &'static str {
        self.words()[0]
    }

    /// The title of its column in a table for programs: what it is, and its unit.
    pub fn column(self) -> &'static str {
        self.words()[1]
    }

    /// Its title for people.
    pub fn title(self) -> &'static str {
        self.words()[2]
    }

    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Fits => ["fits", "fits", "Fits"],
            Self::TilesOverLimit => {
                ["tiles-over-limit", "tiles_over_limit", "Tiles over the limit"]
            }
            Self::FullestTile => [
                "fullest-tile",
                "fullest_tile_including_gaps_bytes",
                "Fullest tile, including gaps",
            ],
            Self::Total => ["total", "total_bytes", "Total"],
            Self::IncludingGaps => {
                ["including-gaps", "including_gaps_bytes", "Total, including gaps"]
            }
            Self::AlwaysLive => ["always-live", "always_live_bytes", "Always live"],
            Self::Peak => ["peak", "peak_bytes", "Peak"],
            Self::Code => ["code", "code_bytes", "Code"],
            Self::Cycles => ["cycles", "cycles", "Cycles"],
            Self::Throughput => {
                ["throughput", "throughput_samples_per_second", throughput::BY_CYCLES]
            }
            Self::ThroughputByElapsedTime => [
                "throughput-by-elapsed-time",
                "throughput_by_elapsed_time_samples_per_second",
                throughput::BY_ELAPSED_TIME,
            ],
            Self::PlannerAtMinimum => {
                ["planner-at-minimum", "planner_at_minimum", "Planner at minimum memory"]
            }
            Self::Measured(_) => ["app", "app", "Number of app.json"],
        }
    }

    pub fn is_bytes(self) -> bool {
        matches!(
            self,
            Self::FullestTile
                | Self::Total
                | Self::IncludingGaps
                | Self::AlwaysLive
                | Self::Peak
                | Self::Code
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
            Self::Measured(place) => {
                return run.measured.get(place).copied().flatten().map(FigureValue::Rate);
            }
            Self::TilesOverLimit => run.tiles_over_limit,
            Self::FullestTile => run.fullest_tile.and_then(|tile| tile.including_gaps_bytes),
            Self::Total => run.total_bytes,
            Self::IncludingGaps => run.including_gaps_bytes,
            Self::AlwaysLive => run.always_live_bytes,
            Self::Peak => run.peak_bytes,
            Self::Code => run.code_bytes,
            Self::Cycles => run.cycles,
            Self::PlannerAtMinimum => run.planner_at_minimum,
        };
        count.map(FigureValue::Count)
    }
}
