//! The text that XLA writes of a buffer assignment (formats/xla.md 7): allocations, values, live ranges; in one file or
//! in three, by release. It has all figures of the proto, and of the program what the instructions of values say.

mod lines;
mod parts;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use self::lines::{AllocationLine, FromInstruction, ValueLabel, ValueLine, WrittenArray};
pub(super) use self::parts::whole_lines;
use self::parts::{TextLines, TextParts};
use super::ReadModule;
use crate::limits;
use crate::store::hlo::{
    Assigned, BufferAllocation, ElementType, HloModule, HloValue, InstructionId, NO_ROW, ShapeId,
    StatedLives, ValueId,
};
use crate::store::names::{Interner, NameId};
use crate::store::report::FileStatus;

/// Parts of shapes between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// Elements of tuples that are made for values of which the text names the place.
const SMALL_TUPLES: usize = 1 << 16;

/// A value that the text places. Its line is taken apart again when the instruction is made: there may be a million.
struct TextValue<'t> {
    name: &'t str,
    line: &'t str,
    /// How many are before it.
    number: u32,
    /// The row of its allocation.
    allocation: u32,
}

/// A module as its texts describe it, cut where one of them ends before its contents do; `None` where no allocation is
/// among them.
///
/// `note` is told of what is left out.
pub fn read_texts(
    texts: &[&[u8]],
    note: &mut dyn FnMut(String),
    is_cancelled: &dyn Fn() -> bool,
) -> Option<ReadModule> {
    let bytes = texts.iter().map(|text| text.len()).fold(0, usize::saturating_add);
    let lines: Vec<TextLines<'_>> = texts.iter().map(|text| TextLines::of(text)).collect();
    let mut gathered = TextParts::of(bytes);
    for text in &lines {
        gathered.read(text, is_cancelled);
    }
    if gathered.allocations.is_empty() || is_cancelled() {
        return None;
    }
    for (count, what) in gathered.faults() {
        if count > 0 {
            note(format!("{count} {what}"));
        }
    }
    let left = bytes.saturating_add(SMALL_TUPLES);
    let mut making = Making::of(left, is_cancelled);
    let mut values = std::mem::take(&mut gathered.values);
    let left_out = making.make(&mut values, &gathered);
    drop(values);
    if is_cancelled() {
        return None;
    }
    if left_out > 0 {
        note(format!(
            "{left_out} values have places in tuples of more elements than the text has letters; they are left out"
        ));
    }
    let status = if gathered.is_cut() { FileStatus::Truncated } else { FileStatus::Ok };
    Some(ReadModule { module: making.finish(gathered), status })
}

/// A module while it is made.
struct Making<'a> {
    module: HloModule,
    names: Interner,
    rows: HashMap<NameId, InstructionId>,
    values: HashMap<(NameId, Box<[u32]>), ValueId>,
    /// Parts of shapes that may still be made.
    left: usize,
    /// Those that were made since it was asked whether anybody still waits.
    since_asked: usize,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Making<'a> {
    /// One that may make so many parts of shapes.
    fn of(left: usize, is_cancelled: &'a dyn Fn() -> bool) -> Self {
        let (module, names, rows, values) = Default::default();
        Self { module, names, rows, values, left, since_asked: 0, is_cancelled }
    }

    /// Takes room for parts of a shape; `None` where there is none left, or nobody waits.
    fn take(&mut self, parts: usize) -> Option<()> {
        self.left = self.left.checked_sub(parts)?;
        self.since_asked = self.since_asked.saturating_add(parts);
        if self.since_asked >= AT_ONCE {
            self.since_asked = 0;
            if (self.is_cancelled)() {
                self.left = 0;
                return None;
            }
        }
        Some(())
    }

    /// Makes the instructions with their shapes, and the values; how many were left out.
    fn make(&mut self, all: &mut [TextValue<'_>], gathered: &TextParts<'_>) -> usize {
        let has_ranges = !gathered.ranges.is_empty();
        // The places of each instruction of which a value is known stand together.
        all.sort_unstable_by_key(|value| (value.name, value.number));
        let mut left_out = 0_usize;
        for values in all.chunk_by(|one, other| one.name == other.name) {
            let Some(name) = values.first().map(|value| value.name) else { continue };
            let lines = values.iter().filter_map(|value| Some((ValueLine::of(value.line)?, value)));
            let lines: Vec<(ValueLine<'_>, &TextValue<'_>)> = lines.collect();
            let leaves: BTreeMap<&[u32], &ValueLine<'_>> =
                lines.iter().map(|(line, _)| (line.label.path(), line)).collect();
            let is_tuple = lines.iter().any(|(line, _)| line.label.path.is_some());
            let shape = if is_tuple {
                self.written_tuple(&leaves).or_else(|| self.tuple(&leaves, 0, 0))
            } else {
                let leaf = lines.first().and_then(|(line, _)| line.leaf());
                self.take(1).map(|()| self.array(leaf))
            };
            let Some(shape) = shape else {
                left_out = left_out.saturating_add(values.len());
                continue;
            };
            let said = gathered.from_instructions.get(name);
            let instruction = self.instruction(name, shape, said);
            for (line, value) in &lines {
                self.value(line, value.allocation, instruction, has_ranges);
            }
        }
        left_out
    }

    fn array(&mut self, leaf: Option<WrittenArray<'_>>) -> ShapeId {
        let WrittenArray { kind, dimensions, layout } = leaf.unwrap_or_default();
        let is_known = !layout.is_empty();
        let layout = if is_known { self.names.intern(layout) } else { NameId::NONE };
        let id = self.module.shapes.open_laid_out(kind, &dimensions, layout);
        self.module.shapes.close(id, &[]);
        id
    }

    /// The shape of an instruction as it is written with the value that is its whole tuple; `None` where there is none, or
    /// it has not all places of which a value is known.
    fn written_tuple(&mut self, leaves: &BTreeMap<&[u32], &ValueLine<'_>>) -> Option<ShapeId> {
        let whole: &[u32] = &[];
        let mut text = leaves.get(whole)?.shape;
        if !text.starts_with('(') {
            return None;
        }
        let shape = self.written_shape(&mut text, 0)?;
        let shapes = &self.module.shapes;
        let has =
            |path: &&[u32]| shapes.place(shape, path.iter().map(|one| i64::from(*one))).is_some();
        leaves.keys().all(has).then_some(shape)
    }

    /// Takes the shape with which a text begins off it: a tuple, or an array.
    fn written_shape(&mut self, text: &mut &str, level: usize) -> Option<ShapeId> {
        if level > limits::TUPLE_LEVELS {
            return None;
        }
        lines::skip_comments(text)?;
        self.take(1)?;
        let Some(rest) = text.strip_prefix('(') else {
            let leaf = lines::take_array(text)?;
            return Some(self.array(Some(leaf)));
        };
        *text = rest;
        let id = self.module.shapes.open(ElementType::TUPLE, &[]);
        let mut made = Vec::new();
        loop {
            lines::skip_comments(text)?;
            if let Some(rest) = text.strip_prefix(')') {
                *text = rest;
                self.module.shapes.close(id, &made);
                return Some(id);
            }
            if !made.is_empty() {
                *text = text.strip_prefix(',')?;
            }
            made.push(self.written_shape(text, level.saturating_add(1))?);
        }
    }

    /// A tuple with the elements of which a value is known, others of unknown type between them.
    fn tuple(
        &mut self,
        leaves: &BTreeMap<&[u32], &ValueLine<'_>>,
        depth: usize,
        level: usize,
    ) -> Option<ShapeId> {
        if level > limits::TUPLE_LEVELS {
            return None;
        }
        let mut elements: BTreeMap<u32, BTreeMap<&[u32], &ValueLine<'_>>> = BTreeMap::new();
        for (path, value) in leaves {
            if let Some(element) = path.get(depth) {
                elements.entry(*element).or_default().insert(*path, *value);
            }
        }
        let count = elements.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        self.take(usize::try_from(count).ok()?.saturating_add(1))?;
        let id = self.module.shapes.open(ElementType::TUPLE, &[]);
        let mut made = Vec::new();
        for element in 0..count {
            let within = elements.remove(&element).unwrap_or_default();
            let below = depth.saturating_add(1);
            let is_tuple = within.keys().any(|path| path.len() > below);
            let leaf = within.values().next().and_then(|line| line.leaf());
            made.push(if is_tuple {
                self.tuple(&within, below, level.saturating_add(1))?
            } else {
                self.array(leaf)
            });
        }
        self.module.shapes.close(id, &made);
        Some(id)
    }

    fn instruction(
        &mut self,
        name: &str,
        shape: ShapeId,
        said: Option<&FromInstruction<'_>>,
    ) -> InstructionId {
        let name = self.names.intern(&known_as(name));
        let mut text = |text: Option<&str>| {
            text.filter(|text| !text.is_empty())
                .map_or(NameId::NONE, |text| self.names.intern(text))
        };
        let opcode = text(said.map(|said| said.opcode));
        let op_name = text(said.map(|said| said.op_name.as_ref()));
        let file = text(said.map(|said| said.source_file.as_ref()));
        let instructions = &mut self.module.instructions;
        let id = InstructionId(u32::try_from(instructions.len()).unwrap_or(NO_ROW));
        instructions.names.push(name);
        instructions.opcodes.push(opcode);
        instructions.shapes.push(shape);
        instructions.op_names.push(op_name);
        instructions.sources.push((file, said.map_or(0, |said| said.source_line)));
        instructions.numbers.push(NO_ROW);
        instructions.operands.push([]);
        instructions.called.push([]);
        self.rows.insert(name, id);
        id
    }

    fn value(
        &mut self,
        said: &ValueLine<'_>,
        allocation: u32,
        instruction: InstructionId,
        has_ranges: bool,
    ) {
        let path = said.label.path();
        let shape = self.module.instructions.shape(instruction);
        let place = self.module.shapes.place(shape, path.iter().map(|one| i64::from(*one)));
        let row = ValueId(u32::try_from(self.module.values.len()).unwrap_or(NO_ROW));
        let place = place.unwrap_or(0);
        self.module.values.push(HloValue { id: said.id, bytes: said.bytes, instruction, place });
        self.module.assigned.push(Assigned {
            allocation,
            value: row,
            offset: said.offset,
            bytes: said.bytes,
        });
        if has_ranges {
            let name = self.names.find(&known_as(said.label.name));
            self.values.insert((name, path.into()), row);
        }
    }

    fn finish(mut self, gathered: TextParts<'_>) -> HloModule {
        let mut sequence = Vec::with_capacity(gathered.sequence.len());
        for name in &gathered.sequence {
            let known = self.rows.get(&self.names.find(&known_as(name))).copied();
            let said = gathered.from_instructions.get(name);
            sequence.push(known.unwrap_or_else(|| self.instruction(name, ShapeId::NONE, said)));
        }
        let mut ranges = vec![None; self.module.values.len()];
        for (label, start, end) in gathered.ranges {
            let key = (self.names.find(&known_as(label.name)), label.path.unwrap_or_default());
            let row = self.values.get(&key).and_then(|row| usize::try_from(row.0).ok());
            let is_possible = start <= end && end as usize <= sequence.len();
            if let Some(slot) = row.and_then(|row| ranges.get_mut(row)).filter(|_| is_possible) {
                *slot = Some((start, end));
            }
        }
        // In the order of their allocations, as a proto has them.
        self.module.assigned.sort_by_key(|one| (one.allocation, one.value));
        let has_lives = !sequence.is_empty() && ranges.iter().any(Option::is_some);
        self.module.stated = has_lives.then_some(StatedLives { sequence, ranges });
        self.module.texts = self.names.into_names();
        self.module.allocations = gathered.allocations;
        self.module
    }
}

/// What is known of a name that may be too long.
fn known_as(name: &str) -> Cow<'_, str> {
    limits::cut(name, limits::NAME_BYTES)
}

/// The allocations that a text names, without their values.
pub fn allocations(text: &[u8]) -> Vec<BufferAllocation> {
    let lines = whole_lines(text).split(|letter| *letter == b'\n');
    let lines = lines.filter(|line| line.starts_with(b"allocation "));
    lines.filter_map(|line| AllocationLine::of(&String::from_utf8_lossy(line))).collect()
}

/// When values live, as a text says it.
#[derive(Debug, Default)]
pub struct PrintedLives {
    /// The last position.
    pub end: Option<u32>,
    /// The name of the instruction that makes a value, the path within its tuple, the first and the last position.
    pub ranges: Vec<(String, Vec<u32>, u32, u32)>,
}

/// The live ranges of a text, for comparison with what follows from the proto.
pub fn printed_lives(text: &[u8], is_cancelled: &dyn Fn() -> bool) -> PrintedLives {
    let lines = TextLines::of(text);
    let mut gathered = TextParts::of(text.len());
    gathered.is_of_ranges_alone = true;
    gathered.read(&lines, is_cancelled);
    let ranges = gathered.ranges.into_iter().map(|(label, start, end)| {
        (label.name.to_owned(), label.path.unwrap_or_default().into_vec(), start, end)
    });
    PrintedLives { end: gathered.end, ranges: ranges.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shapes of values of a text of one allocation, by name.
    fn titles(values: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut text = "BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n".to_owned();
        for (label, shape) in values {
            text += &format!(" value: <1 {label} @0> (size=4,offset=0): {shape}\n");
        }
        let found = read_texts(&[text.as_bytes()], &mut |_| {}, &|| false).unwrap();
        let module = found.module;
        let values = (0..module.values.len() as u32).map(ValueId);
        let title = |id| {
            let shape = module.shapes.whole_title(module.value_shape(id), Some(&module.texts));
            (module.value_name(id), shape)
        };
        values.map(title).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn a_tuple_has_the_shape_that_is_written_with_it() {
        let values = [
            ("w{}", "(f32[2]{0}, /*index=1*/(s32[], pred[3]{0:T(8,128)}), ())"),
            ("w{1,1}", "pred[3]{0:T(8,128)}"),
        ];
        let expected = [
            ("w{}", "(f32[2]{0}, (s32[], pred[3]{0:T(8,128)}), ())"),
            ("w{1,1}", "pred[3]{0:T(8,128)}"),
        ];
        assert_eq!(titles(&values), pairs(&expected));
    }

    #[test]
    fn a_tuple_that_is_damaged_has_what_is_known_of_its_places() {
        for written in ["(f32[2]", "(f32[2] s32[])", "(", "(f32[2])", &"(".repeat(1000)] {
            let values = [("w{}", written), ("w{1}", "s32[7]")];
            let expected = [("w{}", "(type0[], s32[7])"), ("w{1}", "s32[7]")];
            assert_eq!(titles(&values), pairs(&expected), "{written}");
        }
        assert_eq!(titles(&[("w{1}", "s32[7]")]), pairs(&[("w{1}", "s32[7]")]));
    }

    #[test]
    fn a_tuple_whose_comment_does_not_end_is_left_where_it_begins() {
        // Looking for the end at each of the elements would take hours.
        let written = format!("({}f32[2])", "f32[2] ,/*".repeat(1 << 20));
        let expected = [("w{}", "(type0[], s32[7])"), ("w{1}", "s32[7]")];
        assert_eq!(titles(&[("w{}", &written), ("w{1}", "s32[7]")]), pairs(&expected));
    }

    #[test]
    fn making_ends_where_nobody_waits() {
        let mut text = "BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n".to_owned();
        let elements = "f32[2], ".repeat(100 * AT_ONCE);
        text += &format!(" value: <1 w{{}} @0> (size=4,offset=0): ({elements}s32[])\n");
        let asked = std::cell::Cell::new(0);
        let is_cancelled = || {
            asked.set(asked.get() + 1);
            asked.get() > 5
        };
        assert!(read_texts(&[text.as_bytes()], &mut |_| {}, &is_cancelled).is_none());
        assert!(asked.get() < 10, "{}", asked.get());
    }
}
