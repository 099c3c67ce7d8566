//! Insights of an XLA module: whether it fits, what each memory space has, who owns its peak, what is lost to packing
//! and padding, and what to try; one function for commands and window.

pub mod advice;
mod as_it_ran;
pub mod conclusions;
pub mod paths;
mod saved;
#[cfg(test)]
mod tests;

use self::advice::advice;
use self::as_it_ran::while_it_ran;
use self::conclusions::conclusions;
use super::facts::padding_of;
use super::peaks::{NO_OPERATION, TemporaryPeak};
use super::program::AnalysedModule;
use crate::run::{
    AliveBy, AtLeast, DeviceVerdict, Ending, Insights, Need, Outcome, PeakRow, Room, StatedRoom,
    Verdict, VerdictFigure,
};
use crate::store::hlo::{AllocationKind, CapacityOf, Platform};
use crate::text::{bytes, clean, grouped};

/// Memory spaces that are spoken of; programs have up to four.
pub const MOST_SPACES: usize = 16;

/// Why a module fails that would fit by its figures.
pub const REFUSED: &str = "XLA refused it";

/// What a program needs of a memory space that reserves so much: a capacity is that of the main memory. Of one whose file
/// is cut it is only known that it takes so much at least; what XLA refused on the device does not fit, whatever figures
/// say that are rounded.
pub fn need_of_space(program: &AnalysedModule, color: i64, total_bytes: u64) -> Need {
    let is_main = color == 0;
    let capacity_bytes = program.beside.capacity_bytes.filter(|_| is_main);
    Need {
        device: Some(color),
        title: program.color_title(color),
        verb: "reserves",
        bytes: Some(total_bytes),
        at_least: program.is_cut.then_some(AtLeast::CUT),
        ending: if program.refusal.is_some() && is_main {
            Ending::Refused
        } else {
            Ending::NotKnown
        },
        stated: StatedRoom { capacity_bytes, other_bytes: None },
        refusal: REFUSED,
        is_beside: !is_main,
        ..Need::default()
    }
}

/// A memory space.
#[derive(Clone, Debug)]
pub struct SpaceInsights {
    /// Its number; the main memory has 0.
    pub color: i64,
    /// What it is called.
    pub title: String,
    /// The same within a sentence.
    pub in_text: String,
    /// Of all its allocations.
    pub total_bytes: u64,
    /// Bytes by what allocations are for, in the order of the kinds; none of those that it has not.
    pub by_kind: Vec<(AllocationKind, u64)>,
    /// The peak of what is temporary.
    pub peak: Option<PeakOfSpace>,
}

impl SpaceInsights {
    /// Of its temporary allocations.
    pub fn temporary_bytes(&self) -> u64 {
        let temporary = self.by_kind.iter().find(|(kind, _)| *kind == AllocationKind::Temporary);
        temporary.map_or(0, |(_, bytes)| *bytes)
    }

    /// Whether it is worth a sentence and a picture.
    pub fn is_large(&self) -> bool {
        self.color == 0 || self.total_bytes >= 64 << 10
    }
}

/// The peak of what is temporary in a memory space, and who owns it: each list adds up to its bytes.
#[derive(Clone, Debug)]
pub struct PeakOfSpace {
    /// Where and how much.
    pub at: TemporaryPeak,
    /// Name of the instruction there.
    pub instruction: String,
    /// By path of the operation.
    pub by_operation: Vec<PeakRow>,
    /// By line of the source.
    pub by_source: Vec<PeakRow>,
    /// By what values are for.
    pub by_category: Vec<PeakRow>,
    /// Padding of tiled shapes of what lives there.
    pub padding_bytes: u64,
}

impl PeakOfSpace {
    /// Bytes of temporary allocations that are never in use at once.
    pub fn lost_bytes(&self) -> u64 {
        self.at.allocated_bytes.saturating_sub(self.at.bytes)
    }

    /// The operation that owns most of it, where one is known.
    pub fn main_operation(&self) -> Option<&PeakRow> {
        self.by_operation.iter().find(|owner| owner.bytes > 0 && owner.name != NO_OPERATION)
    }
}

/// What a program says at first sight.
#[derive(Clone, Debug)]
pub struct ModuleInsights {
    /// Verdict, conclusions and advice.
    pub found: Insights,
    /// Its memory spaces, the main one first.
    pub spaces: Vec<SpaceInsights>,
}

impl ModuleInsights {
    /// Of a program.
    pub fn of(program: &AnalysedModule) -> Self {
        let colors = program.analysed.colors().take(MOST_SPACES);
        let spaces: Vec<SpaceInsights> = colors.map(|color| space(program, color)).collect();
        let verdict = verdict(program, &spaces);
        let found = Insights {
            advice: advice(program, &verdict, &spaces),
            conclusions: conclusions(program, &verdict, &spaces),
            not_advised: Vec::new(),
            verdict: Some(verdict),
        };
        Self { found, spaces }
    }

    /// The memory spaces that are worth a picture: some have a few bytes.
    pub fn large_spaces(&self) -> impl Iterator<Item = &SpaceInsights> {
        self.spaces.iter().filter(|space| space.is_large())
    }

    /// The main memory.
    pub fn main_space(&self) -> Option<&SpaceInsights> {
        self.spaces.iter().find(|space| space.color == 0)
    }
}

fn space(program: &AnalysedModule, color: i64) -> SpaceInsights {
    let analysed = &program.analysed;
    let of_kind = |kind: AllocationKind| {
        let of_kind = analysed.allocations_of(color, |one| one == kind);
        of_kind.fold(0_u64, |sum, (_, one)| sum.saturating_add(one.bytes))
    };
    let kinds = AllocationKind::ALL.iter().map(|kind| (*kind, of_kind(*kind)));
    let by_kind: Vec<_> = kinds.filter(|(_, bytes)| *bytes > 0).collect();
    SpaceInsights {
        color,
        title: program.color_title(color),
        in_text: program.color_words(color),
        total_bytes: by_kind.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes)),
        by_kind,
        peak: analysed.temporary_peak(color).map(|at| peak(program, at)),
    }
}

fn peak(program: &AnalysedModule, at: TemporaryPeak) -> PeakOfSpace {
    let analysed = &program.analysed;
    let module = &analysed.module;
    let instruction = analysed.schedule.instructions.get(at.position as usize);
    let shares = analysed.shares_at(at.color, at.position);
    PeakOfSpace {
        instruction: instruction
            .map_or_else(String::new, |id| module.instruction_name(*id).to_owned()),
        by_operation: analysed.owners(&shares, AliveBy::Operation),
        by_source: analysed.owners(&shares, AliveBy::Line),
        by_category: analysed.owners(&shares, AliveBy::Category),
        padding_bytes: padding_of(module, &shares),
        at,
    }
}

fn verdict(program: &AnalysedModule, spaces: &[SpaceInsights]) -> Verdict {
    let main = spaces.iter().find(|space| space.color == 0);
    let total_bytes = main.map_or(0, |space| space.total_bytes);
    let capacity_bytes = program.beside.capacity_bytes;
    let judged = need_of_space(program, 0, total_bytes).judge(Room::default());
    let (outcome, cause) = (judged.outcome, judged.cause);
    let over_bytes = capacity_bytes.map(|capacity| total_bytes.saturating_sub(capacity));
    let device = |space: &SpaceInsights| {
        let is_main = space.color == 0;
        let peak = space.peak.as_ref();
        let throughout = space.total_bytes.saturating_sub(space.temporary_bytes());
        DeviceVerdict {
            device: space.color,
            name: space.title.clone(),
            outcome: if is_main { outcome } else { Outcome::Unknown },
            cause: cause.filter(|_| is_main),
            used_bytes: Some(space.total_bytes),
            capacity_bytes: capacity_bytes.filter(|_| is_main),
            over_bytes: over_bytes.filter(|_| is_main),
            peak_bytes: peak.map(|peak| peak.at.bytes.saturating_add(throughout)),
            peak_step: peak.map(|peak| peak.at.position.into()),
        }
    };
    Verdict {
        outcome,
        cause,
        short: outcome.word().to_owned(),
        text: reason(program, total_bytes, over_bytes),
        details: Vec::new(),
        figures: figures(program, main),
        used_bytes: Some(total_bytes),
        at_least: program.is_cut.then_some(AtLeast::CUT),
        used_of: None,
        capacity_bytes,
        capacity_from: program.beside.capacity_from(),
        over_bytes,
        used_of_all: capacity_bytes.map(|capacity| (total_bytes, capacity)),
        failed: None,
        devices: spaces.iter().map(device).collect(),
    }
}

/// The figures of the main memory.
fn figures(program: &AnalysedModule, main: Option<&SpaceInsights>) -> Vec<VerdictFigure> {
    let Some(main) = main else { return Vec::new() };
    let temporary = main.temporary_bytes();
    let throughout = main.total_bytes.saturating_sub(temporary);
    let mut figures = vec![
        VerdictFigure::of("Memory", main.total_bytes, "all allocations"),
        VerdictFigure::of("Reserved throughout", throughout, "arguments, results, constants"),
        VerdictFigure::of("Temporary", temporary, "reserved for temporary values"),
    ];
    if let Some(peak) = &main.peak {
        let note = format!("in use at step {}", grouped(u64::from(peak.at.position)));
        figures.push(VerdictFigure::of("Temporary, peak", peak.at.bytes, note));
    }
    let as_it_ran = while_it_ran(program.beside.allocators(), main.total_bytes);
    figures.extend(as_it_ran.map(|(_, figure)| figure));
    figures
}

/// Whether so many bytes are more than the three quarters of a GPU's memory that JAX takes; only where the capacity is all of
/// that memory.
fn is_beyond_share(program: &AnalysedModule, bytes: u64) -> bool {
    let beside = &program.beside;
    let is_all = match beside.capacity_of {
        CapacityOf::File => beside.capacity_file.as_ref() == Some(&beside.device_file),
        CapacityOf::Limit => false,
        CapacityOf::Memory | CapacityOf::Preset(_) => true,
    };
    let is_more = || beside.capacity_bytes.is_some_and(|capacity| bytes > capacity / 4 * 3);
    program.platform == Some(Platform::Gpu) && is_all && is_more()
}

/// What the program takes, of how much, and what else decides whether it fits.
fn reason(program: &AnalysedModule, total_bytes: u64, over_bytes: Option<u64>) -> String {
    let of = program.color_words(0);
    let least = if program.is_cut { "at least " } else { "" };
    let mut reason = format!("The module reserves {least}{} of {of}", bytes(total_bytes));
    let says = if program.beside.capacity_of == CapacityOf::File { "says " } else { "" };
    let from = program.beside.capacity_from();
    let says = from.map_or_else(String::new, |from| format!(" ({says}{})", clean(&from)));
    let has = match program.beside.capacity_of {
        CapacityOf::Limit => "the allocator may take",
        _ => "the device has",
    };
    let device = program.beside.capacity_bytes.map(bytes);
    match (over_bytes, device) {
        (Some(over), Some(device)) if over > 0 => {
            return format!(
                "{reason}, more than the {device} that {has}{says}, {least}{} too many",
                bytes(over)
            );
        }
        (_, Some(device)) => {
            reason += &format!(", within the {device} that {has}{says}");
            if is_beyond_share(program, total_bytes) {
                reason +=
                    "; JAX takes 75 % of it unless XLA_PYTHON_CLIENT_MEM_FRACTION says otherwise";
            }
        }
        _ => {}
    }
    if let Some(refusal) = &program.refusal {
        let excess = refusal.excess_bytes.map(|excess| format!(", {} too many", bytes(excess)));
        let (excess, file) = (excess.unwrap_or_default(), clean(&refusal.file));
        reason += &format!("; XLA found no room for it{excess} (says {file})");
    } else if program.is_cut {
        reason += "; its file is cut, and the missing part may take more";
    } else if over_bytes.is_none() {
        reason += "; no file of the dump states the device's memory";
    }
    reason
}
