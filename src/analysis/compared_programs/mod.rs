//! Two programs of XLA: what each takes of a memory space, what is alive there at the peak of each, and what follows from
//! that (formats/xla.md 10).
//!
//! The peak of a side is that of its temporary allocations, for that is what another order, checkpointing or another
//! batch changes; what is reserved for as long as the program runs stands beside it by kind. Positions of two
//! compilations have nothing in common, and none is matched.

mod common_module;
mod conclusions;
mod figures;
mod parameters;
mod rows;

use crate::analysis::compared_snapshots::{DifferentSetting, Room};
use crate::run::Outcome as ProgramFit;
use crate::store::hlo::{InstructionId, Platform, plain_module_name};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::insights::outcome as outcome_of;
use crate::systems::xla::buffer_assignment::program::Program;
pub use crate::systems::xla::buffer_assignment::space::ProgramFigure;
use crate::systems::xla::buffer_assignment::space::SpaceFigures;
use crate::text::path_parts;

pub use self::common_module::common_module;
pub use self::conclusions::{ProgramConclusion, conclusions};
pub use self::figures::{ComparedFigure, compared_figures};
pub use self::parameters::OtherParameters;
pub use self::rows::{PairedBy, ProgramPeaks, ProgramRow, ValueKind};

/// Where a peak is, in words that two compilations can share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakPlace {
    /// The position.
    pub position: u32,
    /// What the instruction there does.
    pub opcode: String,
    /// Its name.
    pub instruction: String,
    /// The path of its operation, or of the nearest producer's; without numbers of the compiler.
    pub operation: Option<String>,
}

/// One side of the comparison.
#[derive(Clone, Debug)]
pub struct ComparedProgram {
    /// The name of its module; empty of a bare assignment.
    pub module: String,
    /// What it takes.
    pub figures: SpaceFigures,
    /// What it was compiled for.
    pub platform: Option<Platform>,
    /// Where the peak is of what is temporary; `None` where nothing is known of when values live, or nothing is
    /// temporary.
    pub peak: Option<PeakPlace>,
    /// Instructions of what is computed again in the backward pass; `None` where instructions are not known.
    pub recomputed: Option<u64>,
    /// What the memory space has, as something beside the module says.
    pub stated_capacity_bytes: Option<u64>,
    /// Whether its file ends before its contents do.
    pub is_cut: bool,
    /// Whether XLA found no room for it in the memory space of the device that it was compiled for.
    pub is_refused: bool,
}

/// Two programs, compared.
#[derive(Clone, Debug)]
pub struct ComparedPrograms {
    /// Source and target.
    pub sides: [ComparedProgram; 2],
    /// Flags that differ, in the order of the source.
    pub flags: Vec<DifferentSetting>,
    /// What each takes.
    pub figures: Vec<ComparedFigure>,
    /// Parameters of the program that are not of the same type and dimensions.
    pub parameters: OtherParameters,
    /// What is alive at the peak of each; `None` where of one of them the order of instructions is not
    /// known.
    pub peaks: Option<ProgramPeaks>,
}

/// A side has no such memory space: the source, which is 0, or the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchSpace(pub usize);

impl ComparedProgram {
    /// What a program takes of a memory space; `None` where it does not have it.
    pub fn of(program: &Program, color: i64) -> Option<Self> {
        let analysed = &program.analysed;
        // A program without any allocation takes nothing of the main memory.
        if color != 0 && !analysed.colors().any(|one| one == color) {
            return None;
        }
        let module = &analysed.module;
        let figures = SpaceFigures::of(analysed, color);
        let lives = figures.lives.filter(|lives| lives.temporary_peak_bytes > 0);
        Some(Self {
            module: module.name.clone(),
            figures,
            platform: program.platform,
            peak: lives.map(|lives| place_of(analysed, lives.position)),
            recomputed: module.entry.is_some().then(|| recomputed(analysed)),
            stated_capacity_bytes: program.beside.capacity_bytes.filter(|_| color == 0),
            is_cut: program.is_cut,
            is_refused: program.refusal.is_some() && color == 0,
        })
    }

    /// Whether both are of one module, as far as their names say.
    pub fn is_of_module_of(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|side| plain_module_name(&side.module));
        one == other || one.is_empty() || other.is_empty()
    }

    /// Whether its figures are of a whole program.
    pub fn is_whole(&self) -> bool {
        !self.is_cut
    }

    /// What the memory space has: what the user says, else what lies beside the module.
    pub fn capacity_bytes(&self, room: Room) -> Option<u64> {
        room.capacity_bytes.or(self.stated_capacity_bytes)
    }

    /// By how much it is over what there is, with what others have of it; `None` where that is not known.
    pub fn over_bytes(&self, room: Room) -> Option<u64> {
        let all = self.figures.total_bytes.saturating_add(room.other_bytes);
        Some(all.saturating_sub(self.capacity_bytes(room)?))
    }

    /// Whether it fits. What XLA refused says nothing of another device that the user names.
    pub fn fit(&self, room: Room) -> ProgramFit {
        let is_refused = self.is_refused && room.capacity_bytes.is_none();
        outcome_of(self.over_bytes(room), is_refused, self.is_cut)
    }
}

impl ComparedPrograms {
    /// Compares what two programs take of a memory space.
    ///
    /// # Errors
    /// When a side does not have it.
    pub fn of([source, target]: [&Program; 2], color: i64) -> Result<Self, NoSuchSpace> {
        let sides = [
            ComparedProgram::of(source, color).ok_or(NoSuchSpace(0))?,
            ComparedProgram::of(target, color).ok_or(NoSuchSpace(1))?,
        ];
        let positions = sides.each_ref().map(|side| side.figures.lives.map(|one| one.position));
        let peaks = match positions {
            [Some(first), Some(second)] => Some(rows::compared_peaks([
                (&source.analysed, color, first),
                (&target.analysed, color, second),
            ])),
            _ => None,
        };
        let modules = [source, target].map(|program| &program.analysed.module);
        Ok(Self {
            flags: DifferentSetting::between(
                [source, target].map(|program| &*program.beside.flags),
            ),
            figures: compared_figures(&sides.each_ref()),
            parameters: OtherParameters::between(modules),
            sides,
            peaks,
        })
    }
}

fn place_of(analysed: &Analysed, position: u32) -> PeakPlace {
    let module = &analysed.module;
    let instruction = analysed.schedule.instructions.get(position as usize).copied();
    let instruction = instruction.unwrap_or(InstructionId::NONE);
    let operation = module.nearest_operation(instruction).map(|name| module.texts.get(name));
    PeakPlace {
        position,
        opcode: module.opcode(instruction).to_owned(),
        instruction: module.instruction_name(instruction).to_owned(),
        operation: operation.map(|path| rows::without_numbers(path).into_owned()),
    }
}

/// How many instructions that run are of what `jax.checkpoint` computes again: a part of the path says so.
fn recomputed(analysed: &Analysed) -> u64 {
    const AGAIN: &str = "rematted_computation";
    let is_again = |id: &&InstructionId| {
        let path = analysed.module.op_name(**id);
        path.is_some_and(|path| path_parts(path).any(|part| part == AGAIN))
    };
    analysed.schedule.instructions.iter().filter(is_again).count() as u64
}
