//! A program that XLA compiled, and where it put its values: instructions, schedule, allocations (formats/xla.md 3).
//!
//! Rows stand for the ids of the file, which are opaque numbers: an id that names nothing is [`NO_ROW`].

mod allocator_record;
mod dump;
mod frames;
mod shapes;

pub use allocator_record::{
    AllocatorCall, AllocatorEvent, AllocatorFigures, AllocatorRecord, RecordedBlock,
};
pub use dump::{
    BesideModule, CapacityOf, ListedModule, ProfiledMemory, StatedFigure, StatedOf, XlaClaims,
    plain_module_name,
};
pub use frames::{Frames, HloFrame};
pub use shapes::{ElementType, ShapeId, Shapes};

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::column::number;
use super::list_at;
use super::names::{NameId, Names};
use crate::text::words;

/// In place of a row that does not exist.
pub const NO_ROW: u32 = u32::MAX;

number! {
    /// A row of [`Instructions`].
    pub struct InstructionId(pub u32);
}

number! {
    /// A row of [`HloModule::values`].
    pub struct ValueId(pub u32);
}

impl InstructionId {
    /// None.
    pub const NONE: Self = Self(NO_ROW);
}

impl ValueId {
    /// None.
    pub const NONE: Self = Self(NO_ROW);
}

words! {
    /// For what a program was compiled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Platform by as_str {
        /// The host.
        Cpu = "cpu",
        /// A graphics card.
        Gpu = "gpu",
        /// A TPU.
        Tpu = "tpu",
    }
}

/// Lists of numbers, end to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lists {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    /// Appends a list.
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    /// The list of a row; empty where there is none.
    pub fn of(&self, row: u32) -> &[u32] {
        list_at(&self.items, &self.ends, row as usize)
    }
}

/// Columns of the instructions of all computations, one computation after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    /// Names.
    pub names: Vec<NameId>,
    /// What each does, as XLA writes it: `fusion`, `while`.
    pub opcodes: Vec<NameId>,
    /// How the parts of a fusion are put together, as XLA writes it: `kLoop`; [`NameId::NONE`] of what is no fusion.
    /// Empty where the file says it of none.
    pub fusion_kinds: Vec<NameId>,
    /// What it makes.
    pub shapes: Vec<ShapeId>,
    /// Path of the operation that it comes from; [`NameId::NONE`] where the file has none.
    pub op_names: Vec<NameId>,
    /// The file of the source, and its line; [`NameId::NONE`] where the file has none.
    pub sources: Vec<(NameId, u32)>,
    /// The number of a parameter within its computation, of a `parameter`; the element that is taken, of a
    /// `get-tuple-element`.
    pub numbers: Vec<u32>,
    /// Rows of the operands.
    pub operands: Lists,
    /// Rows of the computations that it calls.
    pub called: Lists,
}

impl Instructions {
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The shape of an instruction.
    pub fn shape(&self, id: InstructionId) -> ShapeId {
        self.shapes.get(id.0 as usize).copied().unwrap_or(ShapeId::NONE)
    }
}

/// A computation: the entry, a body of a loop, what a fusion is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Computation {
    /// Its name.
    pub name: NameId,
    /// Its instructions.
    pub instructions: Range<u32>,
    /// The one whose value is its result.
    pub root: InstructionId,
    /// The order in which they run; empty where the file has none, as of what is called in a fusion.
    pub sequence: Vec<InstructionId>,
}

words! {
    /// What an allocation is for (formats/xla.md 4.1), the first that applies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AllocationKind by as_str, in_text {
        /// A parameter of the program; donated where results are left in it.
        Parameter = "parameter" | "parameter",
        /// A constant.
        Constant = "constant" | "constant",
        /// Scratch of small called computations.
        ThreadLocal = "thread_local" | "thread-local",
        /// Results.
        LiveOut = "live_out" | "output",
        /// Temporary values.
        Temporary = "temp" | "temporary",
    }
}

impl AllocationKind {
    /// The first that applies of what an allocation is said to be: parameter, constant, thread-local, live out.
    pub fn of([is_parameter, is_constant, is_local, is_live_out]: [bool; 4]) -> Self {
        match () {
            () if is_parameter => Self::Parameter,
            () if is_constant => Self::Constant,
            () if is_local => Self::ThreadLocal,
            () if is_live_out => Self::LiveOut,
            () => Self::Temporary,
        }
    }
}

/// A range of memory in which values are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferAllocation {
    /// Its number in the file.
    pub number: i64,
    /// Bytes.
    pub bytes: u64,
    /// What it is for.
    pub kind: AllocationKind,
    /// Whether results are in it.
    pub is_live_out: bool,
    /// The memory space.
    pub color: i64,
    /// Of a parameter its number, and the element of it.
    pub parameter: Option<(i64, u32)>,
}

impl BufferAllocation {
    /// Whether it is a parameter whose memory results take over.
    pub fn is_donated(&self) -> bool {
        self.kind == AllocationKind::Parameter && self.is_live_out
    }
}

/// A thing that an instruction makes at a place of its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HloValue {
    /// Its id in the file.
    pub id: i64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// The instruction, or [`InstructionId::NONE`].
    pub instruction: InstructionId,
    /// Where in its shape: a number of [`Shapes::place`].
    pub place: u32,
}

/// A value that has its place in an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Assigned {
    /// A row of [`HloModule::allocations`].
    pub allocation: u32,
    /// The value.
    pub value: ValueId,
    /// Its first byte within the allocation.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

words! {
    /// What happens in a heap trace.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HeapEventKind by as_str {
        /// A value takes memory.
        Alloc = "allocate",
        /// It gives it back.
        Free = "free",
        /// It is put where another one is.
        ShareWith = "share",
    }
}

/// An event of a heap trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapEvent {
    /// What happens.
    pub kind: HeapEventKind,
    /// The value.
    pub value: ValueId,
    /// The value with which it shares memory.
    pub shared_with: ValueId,
    /// Name of the instruction that makes the value.
    pub instruction: NameId,
}

/// What XLA's simulation of an allocation did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HeapTrace {
    /// Its events.
    pub events: Vec<HeapEvent>,
    /// Whether they are in the order of the schedule.
    pub is_of_whole_module: bool,
}

/// The order of instructions and the lives of values as XLA states them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedLives {
    /// The instructions by position.
    pub sequence: Vec<InstructionId>,
    /// The first and the last position at which a value lives, by the value's row.
    pub ranges: Vec<Option<(u32, u32)>>,
}

/// A module with its buffer assignment. Of a bare assignment there are no instructions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HloModule {
    /// Its name, empty of a bare assignment.
    pub name: String,
    /// Texts.
    pub texts: Names,
    /// Shapes.
    pub shapes: Shapes,
    /// Computations.
    pub computations: Vec<Computation>,
    /// The one that is the program, a row of `computations`.
    pub entry: Option<u32>,
    /// Instructions.
    pub instructions: Instructions,
    /// The calls in the source that instructions come from.
    pub frames: Frames,
    /// Parameters whose memory a result takes over: the number, and the place in its shape.
    pub donated: Vec<(i64, u32)>,
    /// Values by their row.
    pub values: Vec<HloValue>,
    /// Pairs of values that share their memory.
    pub aliases: Vec<(ValueId, ValueId)>,
    /// Allocations.
    pub allocations: Vec<BufferAllocation>,
    /// Where values are placed, allocation by allocation.
    pub assigned: Vec<Assigned>,
    /// Heap traces.
    pub traces: Vec<HeapTrace>,
    /// Where the program itself is not known: what XLA says of its order.
    pub stated: Option<StatedLives>,
}

impl HloModule {
    /// Whether the order of instructions is known: without it no more is known of when values live than what a heap trace
    /// says.
    pub fn has_schedule(&self) -> bool {
        let entry = self.entry.and_then(|row| self.computations.get(row as usize));
        entry.is_some_and(|entry| !entry.sequence.is_empty()) || self.stated.is_some()
    }

    /// The instructions of the parameters of the program, by number.
    pub fn entry_parameters(&self) -> HashMap<i64, InstructionId> {
        let entry = self.entry.and_then(|row| self.computations.get(row as usize));
        let instructions = entry.map_or(0..0, |entry| entry.instructions.clone());
        let parameters =
            instructions.map(InstructionId).filter(|id| self.opcode(*id) == "parameter");
        let number = |id: InstructionId| self.instructions.numbers.get(id.0 as usize).copied();
        parameters.filter_map(|id| Some((i64::from(number(id)?), id))).collect()
    }

    /// The word for what an instruction does.
    pub fn opcode(&self, id: InstructionId) -> &str {
        let name = self.instructions.opcodes.get(id.0 as usize);
        name.map_or("", |name| self.texts.get(*name))
    }

    /// How the parts of a fusion are put together; `None` of what is no fusion.
    pub fn fusion_kind(&self, id: InstructionId) -> Option<&str> {
        let name = *self.instructions.fusion_kinds.get(id.0 as usize)?;
        (name != NameId::NONE).then(|| self.texts.get(name))
    }

    /// The name of an instruction.
    pub fn instruction_name(&self, id: InstructionId) -> &str {
        let name = self.instructions.names.get(id.0 as usize);
        name.map_or("", |name| self.texts.get(*name))
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> Option<&HloValue> {
        self.values.get(id.0 as usize)
    }

    /// The name of a value as XLA prints it: that of its instruction, and where that makes a tuple the place in braces.
    pub fn value_name(&self, id: ValueId) -> String {
        let Some(value) = self.value(id) else { return String::new() };
        let name = self.instruction_name(value.instruction);
        let shape = self.instructions.shape(value.instruction);
        if !self.shapes.is_tuple(shape) {
            return name.to_owned();
        }
        let index: Vec<String> =
            self.shapes.index_of(shape, value.place).iter().map(u32::to_string).collect();
        format!("{name}{{{}}}", index.join(","))
    }

    /// The shape of a value.
    pub fn value_shape(&self, id: ValueId) -> ShapeId {
        let Some(value) = self.value(id) else { return ShapeId::NONE };
        self.shapes.part(self.instructions.shape(value.instruction), value.place)
    }

    /// The path of the operation that an instruction comes from.
    pub fn op_name(&self, id: InstructionId) -> Option<&str> {
        let name = *self.instructions.op_names.get(id.0 as usize)?;
        (name != NameId::NONE).then(|| self.texts.get(name))
    }

    /// The path of the operation that an instruction comes from; of one without that of the nearest producer through its
    /// first operands.
    pub fn nearest_operation(&self, id: InstructionId) -> Option<NameId> {
        /// Instructions through which a producer is looked for.
        const MOST: usize = 64;
        let mut at = id.0;
        for _ in 0..MOST {
            let name = *self.instructions.op_names.get(at as usize)?;
            if name != NameId::NONE {
                return Some(name);
            }
            at = *self.instructions.operands.of(at).first()?;
        }
        None
    }

    /// Whether the operation of an instruction is that of the nearest producer, for it has none itself.
    pub fn is_operation_by_operand(&self, id: InstructionId) -> bool {
        self.op_name(id).is_none() && self.nearest_operation(id).is_some()
    }

    /// The calls in the source that an instruction comes from, the innermost first: `file:line function`. Empty where the
    /// file has at most the innermost place. The innermost line is that of [`Self::source`]: the frames of an expression of
    /// several lines may have another one of these.
    pub fn stack(&self, id: InstructionId) -> Vec<String> {
        let text = |name: NameId| if name == NameId::NONE { "" } else { self.texts.get(name) };
        let stated = self.instructions.sources.get(id.0 as usize).copied();
        let title = |(place, frame): (usize, &HloFrame)| {
            let stated = stated.filter(|(file, _)| place == 0 && *file == frame.file);
            let line = stated.map_or(frame.line, |(_, line)| line);
            let place = format!("{}:{line} {}", text(frame.file), text(frame.function));
            place.trim_end().to_owned()
        };
        self.frames.of(id).enumerate().map(title).collect()
    }

    /// The place in the source that an instruction comes from, the innermost one: `file:line`.
    pub fn source(&self, id: InstructionId) -> Option<String> {
        let (file, line) = *self.instructions.sources.get(id.0 as usize)?;
        (file != NameId::NONE).then(|| format!("{}:{line}", self.texts.get(file)))
    }
}
