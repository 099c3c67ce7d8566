//! The figures of a run that a sweep can be drawn by: those that its system gives it, and the numbers of `app.json`.

use super::SweepRun;
use crate::analysis::throughput;
use crate::text::words;

words! {
    /// What a figure counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FigureUnit by key {
        /// Bytes.
        Bytes = "bytes",
        /// Things.
        Count = "count",
        /// Samples per second.
        SamplesPerSecond = "samples-per-second",
        /// The number of a thing: where something is, not how much.
        Place = "place",
        /// Any number.
        Number = "number",
    }
}

/// Which percents stand beside a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percents {
    /// None.
    No,
    /// Of the reference.
    OfReference,
    /// Of the reference, and of the run before.
    OfBoth,
}

/// A kind of figure, as the system declares it that has it.
#[derive(Debug, PartialEq, Eq)]
pub struct FigureKind {
    /// Its name in JSON, and as the title of a column for programs.
    pub key: &'static str,
    /// Its name as an argument.
    pub word: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// The same above a column.
    pub column: &'static str,
    /// What it counts.
    pub unit: FigureUnit,
    /// Which percents stand beside it.
    pub percents: Percents,
    /// Its place among the columns of tables: the lowest first; `None` where tables do not have it.
    pub rank: Option<u8>,
}

impl FigureKind {
    /// Bytes without percents: its key and its name as an argument, what it is and what stands above its column.
    pub const fn bytes(
        [key, word]: [&'static str; 2],
        [title, column]: [&'static str; 2],
        rank: Option<u8>,
    ) -> Self {
        let (unit, percents) = (FigureUnit::Bytes, Percents::No);
        Self { key, word, title, column, unit, percents, rank }
    }
}

/// What the device must have, or the part of it that decides.
pub static NEEDED: FigureKind =
    FigureKind::bytes(["needed_bytes", "needed"], ["Needed", "needed"], Some(1));

/// All that is placed.
pub static TOTAL: FigureKind =
    FigureKind::bytes(["total_bytes", "total"], ["Total", "total"], Some(10));

/// What is alive at the peak.
pub static PEAK: FigureKind = FigureKind::bytes(["peak_bytes", "peak"], ["Peak", "peak"], Some(13));

/// Samples per second, by cycles.
pub static THROUGHPUT: FigureKind = FigureKind {
    unit: FigureUnit::SamplesPerSecond,
    ..FigureKind::bytes(
        ["throughput_samples_per_second", "throughput"],
        [throughput::BY_CYCLES, "samples/s"],
        Some(0),
    )
};

/// Cycles of all recorded runs of the program.
pub static CYCLES: FigureKind = FigureKind {
    unit: FigureUnit::Count,
    ..FigureKind::bytes(["cycles", "cycles"], ["Cycles", "cycles"], Some(30))
};

/// The value of a figure, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum FigureValue {
    /// How many.
    Count(u64),
    /// How much of what has no whole numbers.
    Rate(f64),
}

impl FigureValue {
    /// The number to draw.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Rate(rate) => rate,
        }
    }

    /// Where it is a whole number.
    pub fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            Self::Rate(_) => None,
        }
    }
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepFigure {
    /// What it is.
    pub kind: &'static FigureKind,
    /// How much; `None` where it is not known.
    pub value: Option<FigureValue>,
    /// Whether it is a lower bound.
    pub is_at_least: bool,
    /// Where it is from, by a key, where there are several possibilities.
    pub from: Option<&'static str>,
}

impl SweepFigure {
    /// Bytes or things.
    pub fn count(kind: &'static FigureKind, count: Option<u64>) -> Self {
        Self { kind, value: count.map(FigureValue::Count), is_at_least: false, from: None }
    }

    /// What has no whole numbers.
    pub fn rate(kind: &'static FigureKind, rate: Option<f64>) -> Self {
        Self { kind, value: rate.map(FigureValue::Rate), is_at_least: false, from: None }
    }

    /// The same as a lower bound, if it is one.
    #[must_use]
    pub fn at_least(self, is_at_least: bool) -> Self {
        Self { is_at_least, ..self }
    }

    /// The same with where it is from.
    #[must_use]
    pub fn from(self, from: &'static str) -> Self {
        Self { from: Some(from), ..self }
    }
}

/// A figure that runs of a sweep can have.
#[derive(Clone, Copy, Debug)]
pub enum FigureToSweep {
    /// One of a system.
    Known(&'static FigureKind),
    /// A number of `app.json`, measured throughput for example: a position in [`super::Sweep::measures`].
    Measured(usize),
}

impl PartialEq for FigureToSweep {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => one.key == other.key,
            (Self::Measured(one), Self::Measured(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for FigureToSweep {}

impl FigureToSweep {
    /// What it counts.
    pub fn unit(self) -> FigureUnit {
        match self {
            Self::Known(kind) => kind.unit,
            Self::Measured(_) => FigureUnit::Number,
        }
    }

    /// Whether it is bytes.
    pub fn is_bytes(self) -> bool {
        self.unit() == FigureUnit::Bytes
    }

    /// Whether it has the key.
    pub fn is(self, kind: &FigureKind) -> bool {
        matches!(self, Self::Known(known) if known.key == kind.key)
    }

    /// What a run has of it; `None` where nobody says.
    pub fn of(self, run: &SweepRun) -> Option<FigureValue> {
        match self {
            Self::Known(kind) => run.figure(kind)?.value,
            Self::Measured(place) => {
                run.measured.get(place).copied().flatten().map(FigureValue::Rate)
            }
        }
    }

    /// Whether what a run has is a lower bound.
    pub fn is_at_least(self, run: &SweepRun) -> bool {
        match self {
            Self::Known(kind) => run.figure(kind).is_some_and(|figure| figure.is_at_least),
            Self::Measured(_) => false,
        }
    }
}
