//! Reads the module of an HloProto: computations, instructions, schedule, donations, frames of the source.

use std::ops::Range;

use super::Proto;
use super::texts::XlaTexts;
use super::wire::{Malformed, Wire, WireField};
use crate::limits;
use crate::store::hlo::{
    Computation, Frames, HloFrame, InstructionId, Instructions, Lists, NO_ROW, ShapeId,
};
use crate::store::names::{FastMap, NameId};

/// Instructions between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// What an instruction and a computation take in the columns and in the maps of their ids.
const INSTRUCTION: usize = 128;
const COMPUTATION: usize = 128;

/// A module as it is read: what is named by an id is looked up when all of it is there.
#[derive(Default)]
pub(super) struct ModuleParts {
    pub name: String,
    pub computations: Vec<Computation>,
    pub entry: Option<u32>,
    pub instructions: Instructions,
    pub rows: FastMap<i64, u32>,
    /// The calls in the source, with the innermost one of each instruction.
    pub frames: Frames,
    /// Donations: the number of the parameter and the path within its shape.
    pub donations: Vec<(i64, Vec<i64>)>,
    computation_ids: Vec<i64>,
    root_ids: Vec<i64>,
    /// Ids of the operands and of the computations that are called, of each instruction end to end.
    operand_ids: IdLists,
    called_ids: IdLists,
}

/// Lists of ids end to end.
#[derive(Default)]
struct IdLists {
    ids: Vec<i64>,
    ends: Vec<usize>,
}

impl IdLists {
    fn rows(self, rows: &FastMap<i64, u32>) -> Lists {
        let mut lists = Lists::default();
        let mut start = 0;
        for end in self.ends {
            let ids = self.ids.get(start..end).unwrap_or(&[]);
            lists.push(ids.iter().map(|id| rows.get(id).copied().unwrap_or(NO_ROW)));
            start = end;
        }
        lists
    }
}

/// The name of a module, as much of it as is shown.
pub(super) fn module_name(bytes: &[u8]) -> String {
    limits::cut(&String::from_utf8_lossy(bytes), limits::WORD_BYTES).into_owned()
}

/// Numbers and texts of an instruction.
#[derive(Default)]
struct OneInstruction<'a> {
    /// 0 where it is absent, as all numbers of proto3.
    id: i64,
    name: &'a [u8],
    opcode: &'a [u8],
    shape: Option<&'a [u8]>,
    metadata: &'a [u8],
    fusion_kind: &'a [u8],
    parameter: i64,
    element: i64,
}

impl ModuleParts {
    /// Reads a module. Of one that is cut what is whole is kept.
    pub fn read<'a>(&mut self, message: &'a [u8], texts: &mut XlaTexts<'a>, reading: &Proto<'_>) {
        let mut fields = Wire::of(message);
        let mut entry_id = 0;
        let (mut schedule, mut frames, mut aliases) = (None, None, None);
        loop {
            let at = reading.offset(fields.rest());
            match fields.next_field() {
                Ok(None) => break,
                Ok(Some((1, WireField::Bytes(name)))) => self.name = module_name(name),
                Ok(Some((3, field))) => {
                    reading.note_cut(&field);
                    self.read_computation(field.bytes(), texts, reading);
                }
                Ok(Some((6, field))) => entry_id = field.number(),
                Ok(Some((7, field))) => schedule = Some(field.bytes()),
                Ok(Some((8, field))) => aliases = Some(field.bytes()),
                Ok(Some((17, field))) => frames = Some(field.bytes()),
                Ok(Some((_, field))) => reading.note_cut(&field),
                Err(fault) => {
                    reading.damaged("the module", at, &fault);
                    break;
                }
            }
            if reading.is_over() {
                return;
            }
        }
        let rows: FastMap<i64, u32> = self.computation_ids.iter().copied().zip(0_u32..).collect();
        self.entry = rows.get(&entry_id).copied();
        for (computation, root) in self.computations.iter_mut().zip(&self.root_ids) {
            computation.root = InstructionId(self.rows.get(root).copied().unwrap_or(NO_ROW));
        }
        self.instructions.operands = std::mem::take(&mut self.operand_ids).rows(&self.rows);
        self.instructions.called = std::mem::take(&mut self.called_ids).rows(&rows);
        let mut read = |part: &str, message: Option<&'a [u8]>, read: ReadField<'a>| {
            let Some(message) = message else { return };
            if let Err(fault) = read(self, message, texts, &rows) {
                reading.damaged(part, reading.offset(message), &fault);
            }
        };
        read("the schedule", schedule, Self::read_schedule);
        read("the donations", aliases, Self::read_donations);
        read("the frames of the source", frames, Self::read_frames);
    }

    fn read_computation<'a>(
        &mut self,
        message: &'a [u8],
        texts: &mut XlaTexts<'a>,
        reading: &Proto<'_>,
    ) {
        let first = self.instructions.len() as u32;
        let (mut id, mut root, mut name) = (0, 0, NameId::NONE);
        let mut fields = Wire::of(message);
        loop {
            let at = reading.offset(fields.rest());
            let done = match fields.next_field() {
                Ok(None) => break,
                Ok(Some((1, WireField::Bytes(text)))) => {
                    name = texts.text(text);
                    Ok(())
                }
                Ok(Some((2, WireField::Bytes(message)))) => self.read_instruction(message, texts),
                Ok(Some((5, field))) => {
                    id = field.number();
                    Ok(())
                }
                Ok(Some((6, field))) => {
                    root = field.number();
                    Ok(())
                }
                Ok(Some(_)) => Ok(()),
                Err(fault) => {
                    reading.damaged("a computation", at, &fault);
                    break;
                }
            };
            if let Err(fault) = done {
                reading.damaged("an instruction", at, &fault);
            }
            if self.instructions.len().is_multiple_of(AT_ONCE) && reading.is_over() {
                return;
            }
        }
        if texts.room.take(COMPUTATION).is_err() {
            return;
        }
        self.computation_ids.push(id);
        self.root_ids.push(root);
        self.computations.push(Computation {
            name,
            instructions: Range { start: first, end: self.instructions.len() as u32 },
            root: InstructionId::NONE,
            sequence: Vec::new(),
        });
    }

    fn read_instruction<'a>(
        &mut self,
        message: &'a [u8],
        texts: &mut XlaTexts<'a>,
    ) -> Result<(), Malformed> {
        let mut one = OneInstruction::default();
        let (operands_before, called_before) =
            (self.operand_ids.ids.len(), self.called_ids.ids.len());
        let room = &mut texts.room;
        room.take(INSTRUCTION)?;
        let read = Wire::of(message).each(|number, field| {
            match number {
                1 => one.name = field.bytes(),
                2 => one.opcode = field.bytes(),
                3 => one.shape = Some(field.bytes()),
                7 => one.metadata = field.bytes(),
                9 => one.parameter = field.number(),
                11 => one.fusion_kind = field.bytes(),
                13 => one.element = field.number(),
                35 => one.id = field.number(),
                36 => field.add_numbers(&mut self.operand_ids.ids, room)?,
                38 => field.add_numbers(&mut self.called_ids.ids, room)?,
                _ => {}
            }
            Ok(())
        });
        let kept = read.and_then(|()| {
            if one.opcode.is_empty() {
                return Err(Malformed("it has no opcode".to_owned()));
            }
            let shape = one.shape.map_or(Ok(ShapeId::NONE), |shape| texts.shape(shape))?;
            Ok((shape, Metadata::of(one.metadata)?))
        });
        let (shape, metadata) = match kept {
            Ok(kept) => kept,
            Err(fault) => {
                self.operand_ids.ids.truncate(operands_before);
                self.called_ids.ids.truncate(called_before);
                return Err(fault);
            }
        };
        let opcode = texts.text(one.opcode);
        let number = match one.opcode {
            b"get-tuple-element" => one.element,
            _ => one.parameter,
        };
        let instructions = &mut self.instructions;
        self.rows.entry(one.id).or_insert(instructions.names.len() as u32);
        instructions.names.push(texts.text(one.name));
        instructions.opcodes.push(opcode);
        instructions.fusion_kinds.push(texts.text_if_any(one.fusion_kind));
        instructions.shapes.push(shape);
        instructions.op_names.push(texts.text_if_any(metadata.op_name));
        let file = texts.text_if_any(metadata.file);
        instructions.sources.push((file, metadata.line));
        self.frames.of_instructions.push(metadata.frame);
        instructions.numbers.push(u32::try_from(number).unwrap_or(NO_ROW));
        self.operand_ids.ends.push(self.operand_ids.ids.len());
        self.called_ids.ends.push(self.called_ids.ids.len());
        Ok(())
    }

    fn read_schedule<'a>(
        &mut self,
        message: &'a [u8],
        texts: &mut XlaTexts<'a>,
        computations: &FastMap<i64, u32>,
    ) -> Result<(), Malformed> {
        let mut absent = 0_usize;
        Wire::of(message).each(|number, entry| {
            if number != 1 {
                return Ok(());
            }
            let (mut key, mut sequence) = (0, &[][..]);
            Wire::of(entry.bytes()).each(|number, field| {
                match number {
                    1 => key = field.number(),
                    2 => sequence = field.bytes(),
                    _ => {}
                }
                Ok(())
            })?;
            let mut ids = Vec::new();
            Wire::of(sequence).each(|number, field| match number {
                1 => field.add_numbers(&mut ids, &mut texts.room),
                _ => Ok(()),
            })?;
            let found: Vec<InstructionId> = (ids.iter())
                .filter_map(|id| self.rows.get(id).map(|row| InstructionId(*row)))
                .collect();
            absent = absent.saturating_add(ids.len().saturating_sub(found.len()));
            let row = computations.get(&key).and_then(|row| usize::try_from(*row).ok());
            match row.and_then(|row| self.computations.get_mut(row)) {
                Some(computation) => computation.sequence = found,
                None => absent = absent.saturating_add(found.len()),
            }
            Ok(())
        })?;
        if absent > 0 {
            return Err(Malformed(format!("{absent} of its instructions are not in the module")));
        }
        Ok(())
    }

    fn read_donations<'a>(
        &mut self,
        message: &'a [u8],
        texts: &mut XlaTexts<'a>,
        _computations: &FastMap<i64, u32>,
    ) -> Result<(), Malformed> {
        Wire::of(message).each(|number, entry| {
            if number != 1 {
                return Ok(());
            }
            let (mut parameter, mut index) = (0, Vec::new());
            texts.room.take(size_of::<(i64, Vec<i64>)>())?;
            Wire::of(entry.bytes()).each(|number, field| {
                match number {
                    2 => parameter = field.number(),
                    3 => field.add_numbers(&mut index, &mut texts.room)?,
                    _ => {}
                }
                Ok(())
            })?;
            self.donations.push((parameter, index));
            Ok(())
        })
    }

    fn read_frames<'a>(
        &mut self,
        message: &'a [u8],
        texts: &mut XlaTexts<'a>,
        _computations: &FastMap<i64, u32>,
    ) -> Result<(), Malformed> {
        let (mut files, mut functions) = (Vec::new(), Vec::new());
        let (mut locations, mut frames) = (Vec::new(), Vec::new());
        Wire::of(message).each(|number, field| {
            match number {
                1 => {
                    texts.room.take(size_of::<NameId>())?;
                    files.push(texts.text(field.bytes()));
                }
                2 => {
                    texts.room.take(size_of::<NameId>())?;
                    functions.push(texts.text(field.bytes()));
                }
                3 => {
                    texts.room.take(size_of::<[i64; 3]>())?;
                    locations.push(first_numbers::<3>(field.bytes())?);
                }
                4 => {
                    texts.room.take(size_of::<([i64; 2], Option<HloFrame>)>())?;
                    frames.push(first_numbers::<2>(field.bytes())?);
                }
                _ => {}
            }
            Ok(())
        })?;
        // All of them count from 1.
        let name = |names: &[NameId], number: i64| {
            let row = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            row.and_then(|row| names.get(row)).copied().unwrap_or(NameId::NONE)
        };
        let frame = |[location, parent]: [i64; 2]| {
            let row = usize::try_from(location).ok()?.checked_sub(1)?;
            let [file, function, line] = *locations.get(row)?;
            Some(HloFrame {
                file: name(&files, file),
                line: u32::try_from(line).unwrap_or(0),
                function: name(&functions, function),
                parent: u32::try_from(parent).unwrap_or(0),
            })
        };
        self.frames.all = frames.into_iter().map(frame).collect();
        let numbers = &self.frames.of_instructions;
        for (source, number) in self.instructions.sources.iter_mut().zip(numbers) {
            if let Some(found) = self.frames.frame(*number) {
                *source = (found.file, found.line);
            }
        }
        Ok(())
    }
}

type ReadField<'a> =
    fn(&mut ModuleParts, &'a [u8], &mut XlaTexts<'a>, &FastMap<i64, u32>) -> Result<(), Malformed>;

/// Where an instruction comes from.
#[derive(Default)]
struct Metadata<'a> {
    op_name: &'a [u8],
    file: &'a [u8],
    line: u32,
    frame: u32,
}

impl<'a> Metadata<'a> {
    fn of(message: &'a [u8]) -> Result<Self, Malformed> {
        let mut metadata = Self::default();
        Wire::of(message).each(|number, field| {
            let as_number = || u32::try_from(field.number()).unwrap_or(0);
            match number {
                2 => metadata.op_name = field.bytes(),
                3 => metadata.file = field.bytes(),
                4 => metadata.line = as_number(),
                15 => metadata.frame = as_number(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(metadata)
    }
}

/// The fields 1, 2, … of a message of numbers; 0 where one is absent.
fn first_numbers<const COUNT: usize>(message: &[u8]) -> Result<[i64; COUNT], Malformed> {
    let mut numbers = [0; COUNT];
    Wire::of(message).each(|number, field| {
        let row = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        if let Some(slot) = row.and_then(|row| numbers.get_mut(row)) {
            *slot = field.number();
        }
        Ok(())
    })?;
    Ok(numbers)
}
