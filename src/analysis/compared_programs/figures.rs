//! The figures of programs side by side: what is reserved by kind, what is in use, and counts.

use super::ComparedProgram;
use crate::analysis::buffer_assignment::space::SpaceFigures;
use crate::analysis::figures::difference::Difference;
use crate::analysis::variants::percent;
use crate::text::words;

words! {
    /// A figure; its key is its name in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ProgramFigure by key, title {
        /// All allocations.
        Total = "total_bytes" | "Reserved",
        /// Temporary allocations.
        Temporary = "temporary_bytes" | "Temporary",
        /// Parameters.
        Arguments = "argument_bytes" | "Parameters",
        /// Results in memory of their own.
        Outputs = "output_bytes" | "Results of their own",
        /// Constants.
        Constants = "constant_bytes" | "Constants",
        /// Scratch of small called computations.
        ThreadLocal = "thread_local_bytes" | "Thread-local",
        /// Parameters that results take over.
        Donated = "donated_bytes" | "Donated parameters",
        /// Results that a parameter could give memory to.
        Donatable = "donatable_bytes" | "Donatable results",
        /// In use at once at most.
        InUsePeak = "in_use_peak_bytes" | "In use at most",
        /// Of temporary allocations in use at once at most.
        TemporaryPeak = "temporary_peak_bytes" | "Temporary, in use at most",
        /// What temporary allocations have more.
        Lost = "lost_bytes" | "Lost to packing",
        /// Padding of what is alive at the peak.
        Padding = "padding_bytes" | "Padding at the peak",
        /// Positions of the schedule.
        Steps = "steps" | "Positions",
        /// Values that have a place.
        Values = "values" | "Values",
    }
}

impl ProgramFigure {
    /// The parts of the total, which add up to it.
    pub const PARTS: [Self; 5] =
        [Self::Temporary, Self::Arguments, Self::Outputs, Self::Constants, Self::ThreadLocal];

    /// Whether it is bytes; else it is a number.
    pub fn is_bytes(self) -> bool {
        !matches!(self, Self::Steps | Self::Values)
    }

    /// Of a program; `None` where it is not known.
    pub fn of(self, figures: &SpaceFigures) -> Option<u64> {
        let lives = figures.lives.as_ref();
        match self {
            Self::Total => Some(figures.total_bytes),
            Self::Temporary => Some(figures.temporary_bytes),
            Self::Arguments => Some(figures.parameter_bytes),
            Self::Outputs => Some(figures.output_bytes),
            Self::Constants => Some(figures.constant_bytes),
            Self::ThreadLocal => Some(figures.thread_local_bytes),
            Self::Donated => Some(figures.donated_bytes),
            Self::Donatable => figures.donatable_bytes,
            Self::InUsePeak => lives.map(|lives| lives.in_use_peak_bytes),
            Self::TemporaryPeak => lives.map(|lives| lives.temporary_peak_bytes),
            Self::Lost => figures.lost_bytes(),
            Self::Padding => lives.map(|lives| lives.padding_bytes),
            Self::Steps => lives.map(|lives| u64::from(lives.steps)),
            Self::Values => Some(figures.values),
        }
    }
}

/// A figure of several programs, the first of which is the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFigure {
    /// Which it is.
    pub figure: ProgramFigure,
    /// Of each program.
    pub values: Vec<Option<u64>>,
}

impl ComparedFigure {
    /// The figure of a program beside that of the first.
    pub fn difference(&self, place: usize) -> Difference {
        let value = |place: usize| self.values.get(place).copied().flatten();
        Difference::of([value(0), value(place)])
    }

    /// The figure of a program in percent of the first's, one decimal, half up.
    pub fn percent_of_source(&self, place: usize) -> Option<f64> {
        let value = |place: usize| self.values.get(place).copied().flatten();
        percent(value(place)?, value(0)?)
    }
}

/// All figures of programs.
pub fn compared_figures(sides: &[&ComparedProgram]) -> Vec<ComparedFigure> {
    let of = |figure: ProgramFigure| ComparedFigure {
        figure,
        values: sides.iter().map(|side| figure.of(&side.figures)).collect(),
    };
    ProgramFigure::ALL.into_iter().map(of).collect()
}
