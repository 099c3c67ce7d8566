//! The table of variants in words: its columns, what stands in them, and the sentences below it. The command and the
//! window have the same.

use super::{PeakFrom, Variant, VariantTable};
use crate::store::snapshot::device_title;
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::systems::xla::buffer_assignment::space::ProgramFigure;

/// A figure of a variant that has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantColumn {
    /// Handed out at the end.
    Allocated,
    /// The most that was handed out.
    MaxAllocated,
    /// Taken from the device at the end.
    Reserved,
    /// The most that was taken from the device.
    MaxReserved,
    /// The most that was asked for at once.
    RequestedPeak,
    /// The request that failed.
    FailedRequest,
    /// What the device must have.
    Needed,
    /// By how much that is over its capacity.
    OverCapacity,
    /// What nvidia-smi said.
    Smi,
    /// A figure of a program of XLA.
    Program(ProgramFigure),
}

/// What stands of a program of XLA.
const OF_PROGRAMS: [ProgramFigure; 9] = [
    ProgramFigure::Total,
    ProgramFigure::Temporary,
    ProgramFigure::TemporaryPeak,
    ProgramFigure::Lost,
    ProgramFigure::Padding,
    ProgramFigure::Arguments,
    ProgramFigure::Donated,
    ProgramFigure::Outputs,
    ProgramFigure::InUsePeak,
];

impl VariantColumn {
    /// Those that a table has: nvidia-smi's only where somebody says it.
    pub fn of(table: &VariantTable) -> Vec<Self> {
        let has_smi = table.rows.iter().any(|row| row.smi_bytes.is_some());
        let mut columns = if table.is_of_programs() {
            OF_PROGRAMS.into_iter().map(Self::Program).chain([Self::OverCapacity]).collect()
        } else {
            vec![
                Self::Allocated,
                Self::MaxAllocated,
                Self::Reserved,
                Self::MaxReserved,
                Self::RequestedPeak,
                Self::FailedRequest,
                Self::Needed,
                Self::OverCapacity,
            ]
        };
        columns.extend(has_smi.then_some(Self::Smi));
        columns
    }

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::MaxAllocated => "max allocated",
            Self::Reserved => "reserved",
            Self::MaxReserved => "max reserved",
            Self::RequestedPeak => "requested peak",
            Self::FailedRequest => "failed request",
            Self::Needed => "needed",
            Self::OverCapacity => "over capacity",
            Self::Smi => "nvidia-smi",
            Self::Program(figure) => match figure {
                ProgramFigure::Total => "reserved",
                ProgramFigure::Temporary => "temporary",
                ProgramFigure::TemporaryPeak => "temporary in use",
                ProgramFigure::Lost => "lost to packing",
                ProgramFigure::Padding => "padding",
                ProgramFigure::Arguments => "parameters",
                ProgramFigure::Donated => "donated",
                ProgramFigure::Outputs => "own results",
                ProgramFigure::InUsePeak => "most in use",
                other => other.title(),
            },
        }
    }

    /// Its name in JSON and among comma-separated values.
    pub fn key(self) -> &'static str {
        match self {
            Self::Allocated => "allocated_bytes",
            Self::MaxAllocated => "max_allocated_bytes",
            Self::Reserved => "reserved_bytes",
            Self::MaxReserved => "max_reserved_bytes",
            Self::RequestedPeak => "requested_peak_bytes",
            Self::FailedRequest => "oom_request_bytes",
            Self::Needed => "needed_bytes",
            Self::OverCapacity => "oversubscription_bytes",
            Self::Smi => "smi_bytes",
            Self::Program(figure) => figure.key(),
        }
    }

    /// Bytes of a variant; `None` where that is not known or does not apply.
    pub fn bytes(self, table: &VariantTable, row: &Variant) -> Option<u64> {
        let took = row.snapshot();
        match self {
            Self::Allocated => took.map(|took| took.allocated_bytes),
            Self::MaxAllocated => took.map(|took| took.max_allocated_bytes),
            Self::Reserved => took.map(|took| took.reserved_bytes),
            Self::MaxReserved => took.map(|took| took.max_reserved_bytes),
            Self::RequestedPeak => took.map(|took| took.requested_peak_bytes),
            Self::FailedRequest => took.and_then(|took| took.failed_request_bytes),
            Self::Needed => Some(row.needed_bytes),
            Self::OverCapacity => table.oversubscription_bytes(row),
            Self::Smi => row.smi_bytes,
            Self::Program(figure) => row.program().and_then(|program| figure.of(program)),
        }
    }

    /// Whether a column of percents follows.
    pub fn has_percent(self) -> bool {
        match self {
            Self::MaxAllocated | Self::MaxReserved | Self::RequestedPeak | Self::Smi => true,
            Self::Program(figure) => {
                matches!(figure, ProgramFigure::Total | ProgramFigure::TemporaryPeak)
            }
            _ => false,
        }
    }

    /// Whether a column of percents of the variant before follows as well: compilations have an order, and so have the
    /// values that vary.
    pub fn has_percent_of_previous(self) -> bool {
        matches!(self, Self::MaxAllocated | Self::MaxReserved | Self::Program(ProgramFigure::Total))
    }

    /// Whether the bytes are a lower bound.
    pub fn is_at_least(self, row: &Variant) -> bool {
        let took = row.snapshot();
        match self {
            Self::Program(_) => row.is_cut,
            Self::MaxAllocated => {
                took.is_some_and(|took| took.max_allocated_from == PeakFrom::AtLeast)
            }
            Self::MaxReserved => {
                took.is_some_and(|took| took.max_reserved_from == PeakFrom::AtLeast)
            }
            Self::RequestedPeak => took.is_some_and(|took| took.recorded != Recorded::Whole),
            Self::Needed => !row.is_comparable() || Self::MaxReserved.is_at_least(row),
            _ => false,
        }
    }
}

/// Whether a variant ran to its end.
pub fn ran(row: &Variant) -> &'static str {
    match row.outcome {
        Outcome::Ran if row.program().is_some() => "compiled",
        Outcome::Ran => "yes",
        Outcome::OutOfMemory => "out of memory",
        Outcome::Cut => "file is cut",
        Outcome::NotRecorded => "not recorded",
    }
}

impl VariantTable {
    /// What is said of each variant besides its figures.
    pub fn state_title(&self) -> &'static str {
        if self.is_of_programs() { "state" } else { "ran" }
    }

    /// The name of a variant.
    pub fn name(&self, place: Option<usize>) -> Option<&str> {
        Some(&self.rows.get(place?)?.name)
    }

    /// What the percents are of.
    pub fn reference_text(&self) -> String {
        match self.name(self.reference) {
            Some(name) => format!("reference, 100 %: {name}"),
            None if self.is_of_programs() => {
                "No variant is whole and fits, so nothing is given in percent".to_owned()
            }
            None => "No variant ran and fits, so nothing is given in percent".to_owned(),
        }
    }

    /// Which variant needs least.
    pub fn least_text(&self, bytes: impl Fn(u64) -> String) -> Option<String> {
        let place = self.least_needed()?;
        let row = self.rows.get(place)?;
        let least = if VariantColumn::Needed.is_at_least(row) { "at least " } else { "" };
        Some(format!("least needed: {}, {least}{}", row.name, bytes(row.needed_bytes)))
    }

    /// How many fit; `None` where no capacity is known.
    pub fn capacity_text(&self, bytes: impl Fn(u64) -> String) -> Option<String> {
        let capacity = bytes(self.capacity_bytes?);
        let other = match self.other_bytes {
            0 => String::new(),
            other => format!(", of which others have {}", bytes(other)),
        };
        let fit = self.rows.iter().filter(|row| self.fits(row) == Some(true)).count();
        Some(format!("Capacity {capacity}{other}: {fit} of {} fit", self.rows.len()))
    }

    /// The capacity that an error text beside a variant states.
    pub fn stated_capacity_bytes(&self) -> Option<u64> {
        self.rows.iter().find_map(|row| row.stated_capacity_bytes)
    }

    /// Of which rank the figures of each variant are that has several.
    pub fn rank_texts(&self) -> impl Iterator<Item = String> {
        self.rows.iter().filter_map(|row| Some(format!("{}: {}", row.name, rank_text(row)?)))
    }

    /// What has to be said of variants whose figures are not all that they took.
    pub fn footnotes(&self) -> Vec<&'static str> {
        let mut notes: Vec<&str> = self.rows.iter().flat_map(footnotes).collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }
}

/// Of which of its ranks the figures of a variant are.
pub fn rank_text(row: &Variant) -> Option<String> {
    let of = device_title(0, Some(row.rank?));
    Some(format!("Of {of}, one of {} devices.", row.devices.len()))
}

/// What has to be said of a variant whose figures are not all that it took.
pub fn footnotes(row: &Variant) -> Vec<&'static str> {
    let recorded = row.snapshot().map(|took| took.recorded);
    let notes = [
        (row.is_cut, "A file that is cut says what was in it until there, not what the run took."),
        (
            row.outcome == Outcome::OutOfMemory,
            "A variant that ran out of memory needs at least what it had and the segment for what it asked; nobody \
             knows what would have come after.",
        ),
        (
            recorded == Some(Recorded::Nothing) && !row.is_cut,
            "A snapshot without events says what was there when it was taken, not what the run took at most.",
        ),
        (
            row.outcome == Outcome::NotRecorded && recorded != Some(Recorded::Nothing),
            "Where a rank has no events nobody knows whether it ran, nor what it took at most.",
        ),
        (
            recorded == Some(Recorded::Window),
            "Events that begin when blocks were there already are a window of a run: before it, more may have been \
             taken than its peaks say.",
        ),
    ];
    notes.into_iter().filter_map(|(applies, note)| applies.then_some(note)).collect()
}
