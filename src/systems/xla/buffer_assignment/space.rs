//! The memory that a module takes in one memory space (formats/xla.md 4.1, 5.4): the sizes of its allocations by kind,
//! and the bytes of the temporary ones in use at their peak.

use super::analysed::Analysed;
use super::facts::padding_of;
use super::in_use;
use super::trace_lives::TraceLives;
use crate::store::hlo::AllocationKind;
use crate::text::words;

words! {
    /// A figure; its key is its name in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ModuleFigure by key, title {
        /// All allocations.
        Total = "total_bytes" | "All allocations",
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
        InUsePeak = "in_use_peak_bytes" | "Values in use at most",
        /// Of temporary allocations in use at once at most.
        TemporaryPeak = "temporary_peak_bytes" | "Temporary, most in use",
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

impl ModuleFigure {
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

/// What a program takes of a memory space, bytes. The first five add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceFigures {
    pub color: i64,
    pub temporary_bytes: u64,
    /// Parameters, donated or not.
    pub parameter_bytes: u64,
    /// Results that are in no parameter.
    pub output_bytes: u64,
    /// Constants.
    pub constant_bytes: u64,
    /// Scratch of small called computations.
    pub thread_local_bytes: u64,
    /// All of them: what the device must have.
    pub total_bytes: u64,
    /// Parameters whose memory results take over.
    pub donated_bytes: u64,
    /// Results that could take over the memory of a parameter and do not, of the main memory; `None` where the program
    /// is not known.
    pub donatable_bytes: Option<u64>,
    /// What is known where the order of instructions is known.
    pub lives: Option<SpaceLives>,
    /// Where it is not, the most of temporary allocations in XLA's own simulation, if that is known and this the main
    /// memory.
    pub traced_peak_bytes: Option<u64>,
    /// Values that have a place.
    pub values: u64,
}

/// What is in use of a memory space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceLives {
    /// The most of all allocations but the thread-local ones.
    pub in_use_peak_bytes: u64,
    /// The most of the temporary ones: the union of addresses.
    pub temporary_peak_bytes: u64,
    /// The first position at which that is in use.
    pub position: u32,
    /// Padding of the temporary values that live there.
    pub padding_bytes: u64,
    /// Length of the schedule.
    pub steps: u32,
}

impl SpaceFigures {
    pub fn of(analysed: &Analysed, color: i64) -> Self {
        let mut figures = Self { color, ..Self::default() };
        for (_, one) in analysed.allocations_of(color, |_| true) {
            let sum = match one.kind {
                AllocationKind::Parameter => &mut figures.parameter_bytes,
                AllocationKind::Constant => &mut figures.constant_bytes,
                AllocationKind::ThreadLocal => &mut figures.thread_local_bytes,
                AllocationKind::LiveOut => &mut figures.output_bytes,
                AllocationKind::Temporary => &mut figures.temporary_bytes,
            };
            *sum = sum.saturating_add(one.bytes);
            figures.total_bytes = figures.total_bytes.saturating_add(one.bytes);
            if one.is_donated() {
                figures.donated_bytes = figures.donated_bytes.saturating_add(one.bytes);
            }
        }
        let module = &analysed.module;
        let is_of =
            |row: u32| module.allocations.get(row as usize).is_some_and(|one| one.color == color);
        figures.values = module.assigned.iter().filter(|one| is_of(one.allocation)).count() as u64;
        figures.donatable_bytes =
            (module.entry.is_some() && color == 0).then(|| analysed.donatable_bytes());
        figures.lives = module.has_schedule().then(|| SpaceLives::of(analysed, color));
        let traced = if color == 0 { TraceLives::of(analysed) } else { None };
        figures.traced_peak_bytes = traced.map(|traced| traced.peak().0);
        figures
    }

    /// What temporary allocations have more than is ever in use of them at once.
    pub fn lost_bytes(&self) -> Option<u64> {
        Some(self.temporary_bytes.saturating_sub(self.lives?.temporary_peak_bytes))
    }

    /// The most of temporary allocations at once, also where only XLA's own simulation says it.
    pub fn temporary_peak_bytes(&self) -> Option<u64> {
        self.lives.map(|lives| lives.temporary_peak_bytes).or(self.traced_peak_bytes)
    }

    /// What is reserved for as long as the program runs: all but the temporary allocations.
    pub fn throughout_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.temporary_bytes)
    }
}

impl SpaceLives {
    fn of(analysed: &Analysed, color: i64) -> Self {
        let rows = analysed.allocations_of(color, |kind| kind != AllocationKind::ThreadLocal);
        let curves = rows.filter_map(|(row, _)| analysed.in_use.get(row));
        let steps = analysed.schedule.end();
        let (in_use_peak_bytes, _) = in_use::peak(&in_use::sum(curves), steps);
        let empty = Self { in_use_peak_bytes, steps, ..Self::default() };
        let Some(peak) = analysed.temporary_peak(color) else { return empty };
        let live = analysed.shares_at(color, peak.position);
        Self {
            temporary_peak_bytes: peak.bytes,
            position: peak.position,
            padding_bytes: padding_of(&analysed.module, &live),
            ..empty
        }
    }
}
