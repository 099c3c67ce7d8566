//! Reads a BufferAssignmentProto: values, which of them share memory, allocations, heap traces.

use std::cell::OnceCell;

use super::Proto;
use super::module::ModuleParts;
use super::texts::{Allowance, XlaTexts};
use super::wire::{Malformed, Wire, WireField};
use crate::store::hlo::{
    AllocationKind, Assigned, BufferAllocation, HeapEvent, HeapEventKind, HeapTrace, HloModule,
    HloValue, InstructionId, NO_ROW, ValueId,
};
use crate::store::names::{FastMap, NameId};

/// Rows between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// What rows take in the columns, and in the maps with which ids become rows.
const VALUE: usize = 128;
const ALIAS: usize = 32;
/// An allocation has lists of its own in what follows from it, and a row in what commands print.
const ALLOCATION: usize = 256;
const ASSIGNED: usize = 64;

/// An assignment as it is read: instructions and values by their ids.
#[derive(Default)]
pub(super) struct AssignmentParts<'a> {
    /// The messages of heap traces, until they are read.
    trace_messages: Vec<&'a [u8]>,
    /// Whether there was no room for some allocations: what all take is more than what is known.
    pub lacks_allocations: bool,
    values: Vec<(HloValue, Location)>,
    aliases: Vec<(i64, Location)>,
    allocations: Vec<BufferAllocation>,
    /// Of an allocation that is a parameter the path within its shape, by its row.
    parameter_paths: FastMap<usize, Vec<i64>>,
    assigned: Vec<(Assigned, i64)>,
    /// The rows of values by their ids.
    rows: FastMap<i64, u32>,
    traces: Vec<HeapTrace>,
}

/// Where a value is made: an instruction by id, or by name alone in old files, and the path within its shape.
#[derive(Clone, Debug)]
struct Location {
    instruction: Option<i64>,
    name: NameId,
    path: Vec<i64>,
}

impl Location {
    fn nowhere() -> Self {
        Self { instruction: None, name: NameId::NONE, path: Vec::new() }
    }

    fn read(message: &[u8], texts: &mut XlaTexts<'_>) -> Result<Self, Malformed> {
        let mut location = Self::nowhere();
        let mut has_name = false;
        texts.room.take(size_of::<Self>())?;
        Wire::of(message).each(|number, field| {
            match number {
                2 => {
                    location.name = texts.text(field.bytes());
                    has_name = true;
                }
                3 => field.add_numbers(&mut location.path, &mut texts.room)?,
                4 => location.instruction = Some(field.number()),
                _ => {}
            }
            Ok(())
        })?;
        if !has_name {
            // The id 0 is absent, as all numbers that are 0.
            location.instruction = location.instruction.or(Some(0));
        }
        Ok(location)
    }
}

/// A size or an offset: negative ones are damage.
fn size(field: WireField<'_>) -> Result<u64, Malformed> {
    u64::try_from(field.number())
        .map_err(|_| Malformed(format!("{} bytes, but sizes are not negative", field.number())))
}

impl<'a> AssignmentParts<'a> {
    /// Reads all but the heap traces. Of one that is cut what is whole is kept. Allocations come first: without them
    /// nothing is known of the program, whatever else the room is enough for.
    pub fn read(&mut self, message: &'a [u8], texts: &mut XlaTexts<'a>, reading: &Proto<'_>) {
        self.read_allocations(message, &mut texts.room, reading);
        self.lacks_allocations = texts.room.is_used_up;
        if !reading.is_over() {
            self.read_rows(message, texts, reading);
        }
        let ids = self.values.iter().map(|(value, _)| value.id);
        self.rows = ids.zip(0_u32..).collect();
    }

    /// Reads the heap traces. Events are the most of an assignment: when values are known, they need no room for their
    /// ids.
    pub fn read_traces(&mut self, texts: &mut XlaTexts<'a>, reading: &Proto<'_>) {
        for message in std::mem::take(&mut self.trace_messages) {
            if reading.is_over() {
                return;
            }
            if let Err(fault) = self.read_trace(message, texts) {
                reading.damaged("a heap trace", reading.offset(message), &fault);
            }
        }
    }

    /// Reads the allocations. What cannot be read of the message is said when the rest is.
    fn read_allocations(&mut self, message: &'a [u8], room: &mut Allowance, reading: &Proto<'_>) {
        let mut fields = Wire::of(message);
        let mut rows = 0_usize;
        loop {
            let at = reading.offset(fields.rest());
            let Ok(Some((number, field))) = fields.next_field() else { return };
            if let (3, WireField::Bytes(allocation)) = (number, field)
                && let Err(fault) = self.read_allocation(allocation, room)
            {
                reading.damaged("an allocation", at, &fault);
            }
            rows = rows.saturating_add(1);
            if rows.is_multiple_of(AT_ONCE) && reading.is_over() {
                return;
            }
        }
    }

    /// Reads values and aliases, and finds the heap traces.
    fn read_rows(&mut self, message: &'a [u8], texts: &mut XlaTexts<'a>, reading: &Proto<'_>) {
        let mut fields = Wire::of(message);
        let mut rows = 0_usize;
        loop {
            let at = reading.offset(fields.rest());
            let (part, done) = match fields.next_field() {
                Ok(None) => return,
                Ok(Some((1, WireField::Bytes(message)))) => {
                    ("a value", self.read_value(message, texts))
                }
                Ok(Some((2, WireField::Bytes(message)))) => {
                    ("an alias", self.read_alias(message, texts))
                }
                Ok(Some((4, WireField::Bytes(message)))) => {
                    let room = texts.room.take(size_of::<(&[u8], HeapTrace)>());
                    self.trace_messages.extend(room.is_ok().then_some(message));
                    ("a heap trace", room)
                }
                Ok(Some((_, field))) => {
                    reading.note_cut(&field);
                    ("", Ok(()))
                }
                Err(fault) => {
                    reading.damaged("the assignment", at, &fault);
                    return;
                }
            };
            if let Err(fault) = done {
                reading.damaged(part, at, &fault);
            }
            rows = rows.saturating_add(1);
            if rows.is_multiple_of(AT_ONCE) && reading.is_over() {
                return;
            }
        }
    }

    fn read_value(&mut self, message: &[u8], texts: &mut XlaTexts<'a>) -> Result<(), Malformed> {
        let mut value = HloValue { id: 0, bytes: 0, instruction: InstructionId::NONE, place: 0 };
        let mut location = None;
        Wire::of(message).each(|number, field| {
            match number {
                1 => value.id = field.number(),
                2 => value.bytes = size(field)?,
                3 => location = Some(Location::read(field.bytes(), texts)?),
                _ => {}
            }
            Ok(())
        })?;
        let location =
            location.ok_or_else(|| Malformed("it is not said where it is made".to_owned()))?;
        texts.room.take(VALUE)?;
        self.values.push((value, location));
        Ok(())
    }

    fn read_alias(&mut self, message: &[u8], texts: &mut XlaTexts<'a>) -> Result<(), Malformed> {
        let (mut source, mut location) = (0, Location::nowhere());
        Wire::of(message).each(|number, field| {
            match number {
                1 => source = field.number(),
                2 => location = Location::read(field.bytes(), texts)?,
                _ => {}
            }
            Ok(())
        })?;
        texts.room.take(ALIAS)?;
        self.aliases.push((source, location));
        Ok(())
    }

    fn read_allocation(&mut self, message: &[u8], room: &mut Allowance) -> Result<(), Malformed> {
        let row = self.allocations.len();
        let before = self.assigned.len();
        let mut path = Vec::new();
        let (mut number, mut bytes, mut color, mut parameter) = (0, 0, 0, 0);
        let [mut local, mut is_parameter, mut live_out, mut constant] = [false; 4];
        room.take(ALLOCATION)?;
        let read = Wire::of(message).each(|field_number, field| {
            match field_number {
                1 => number = field.number(),
                2 => bytes = size(field)?,
                3 => local = field.is_true(),
                5 => is_parameter = field.is_true(),
                6 => parameter = field.number(),
                7 => live_out = field.is_true(),
                8 => color = field.number(),
                9 => {
                    room.take(ASSIGNED)?;
                    self.assigned.push(read_assigned(field.bytes(), row)?);
                }
                10 => field.add_numbers(&mut path, room)?,
                12 => constant = field.is_true(),
                _ => {}
            }
            Ok(())
        });
        if let Err(fault) = read {
            self.assigned.truncate(before);
            return Err(fault);
        }
        let kind = AllocationKind::of([is_parameter, constant, local, live_out]);
        let parameter = is_parameter.then_some((parameter, 0));
        let is_live_out = live_out;
        self.allocations.push(BufferAllocation {
            number,
            bytes,
            kind,
            is_live_out,
            color,
            parameter,
        });
        if !path.is_empty() {
            self.parameter_paths.insert(row, path);
        }
        Ok(())
    }

    fn read_trace(&mut self, message: &[u8], texts: &mut XlaTexts<'a>) -> Result<(), Malformed> {
        let mut trace = HeapTrace::default();
        let mut events = 0_usize;
        Wire::of(message).each(|number, _| {
            events = events.saturating_add(usize::from(number == 1));
            Ok(())
        })?;
        // There can be more of them than of all else: what they take follows from their bytes alone.
        let bytes = events.saturating_mul(size_of::<HeapEvent>());
        if bytes > message.len().saturating_mul(2) {
            return Err(Malformed("its events take too much memory for their bytes".to_owned()));
        }
        texts.room.take(bytes)?;
        trace.events.reserve_exact(events);
        Wire::of(message).each(|number, field| {
            match number {
                1 => trace.events.push(read_event(field.bytes(), texts, &self.rows)?),
                2 => trace.is_of_whole_module = field.is_true(),
                _ => {}
            }
            Ok(())
        })?;
        self.traces.push(trace);
        Ok(())
    }

    /// Puts rows in place of ids.
    pub fn put_into(self, module: &mut HloModule, parts: &ModuleParts, reading: &Proto<'_>) {
        let places = ValueFinder::of(parts);
        let mut unknown = 0_usize;
        let mut made_at: FastMap<(InstructionId, u32), ValueId> = FastMap::default();
        let mut values = Vec::with_capacity(self.values.len());
        for (mut value, location) in self.values {
            let row = u32::try_from(values.len()).unwrap_or(NO_ROW);
            match places.find(&location, module) {
                Some((instruction, place)) => {
                    (value.instruction, value.place) = (instruction, place);
                    made_at.insert((instruction, place), ValueId(row));
                }
                None => unknown = unknown.saturating_add(1),
            }
            values.push(value);
        }
        let find = |id: i64| find(&self.rows, id);
        let mut aliases = Vec::with_capacity(self.aliases.len());
        for (source, location) in &self.aliases {
            let place = places.find(location, module);
            match (find(*source), place.and_then(|place| made_at.get(&place))) {
                (source, Some(other)) if source != ValueId::NONE => aliases.push((source, *other)),
                _ => unknown = unknown.saturating_add(1),
            }
        }
        let mut allocations = self.allocations;
        let parameters = module.entry_parameters();
        for (row, path) in self.parameter_paths {
            let allocation = allocations.get_mut(row);
            let Some((number, place)) = allocation.and_then(|one| one.parameter.as_mut()) else {
                continue;
            };
            let shape = parameters.get(number).map(|id| module.instructions.shape(*id));
            *place = shape.and_then(|shape| module.shapes.place(shape, path)).unwrap_or(0);
        }
        let (mut beyond, mut absent) = (0_usize, 0_usize);
        for (mut assigned, id) in self.assigned {
            assigned.value = find(id);
            let room = allocations.get(assigned.allocation as usize).map_or(0, |one| one.bytes);
            if assigned.value == ValueId::NONE {
                absent = absent.saturating_add(1);
            } else if assigned.offset.checked_add(assigned.bytes).is_none_or(|end| end > room) {
                beyond = beyond.saturating_add(1);
            } else {
                module.assigned.push(assigned);
            }
        }
        module.traces = self.traces;
        (module.values, module.aliases, module.allocations) = (values, aliases, allocations);
        let faults = [
            (beyond, "values end beyond their allocation; they are left out"),
            (absent, "places in allocations are of values that do not exist; they are left out"),
            (
                // A bare assignment has no instructions.
                if module.entry.is_some() { unknown } else { 0 },
                "values or aliases name an instruction, a place in its shape or a value that is not there",
            ),
        ];
        for (count, what) in faults {
            if count > 0 {
                reading.inconsistent(format!("{count} {what}"));
            }
        }
    }
}

/// Finds what a location names.
struct ValueFinder<'a> {
    by_id: &'a FastMap<i64, u32>,
    /// Made where an id is not known: old files have names alone.
    by_name: OnceCell<FastMap<NameId, u32>>,
}

impl<'a> ValueFinder<'a> {
    fn of(parts: &'a ModuleParts) -> Self {
        Self { by_id: &parts.rows, by_name: OnceCell::new() }
    }

    fn find(&self, location: &Location, module: &HloModule) -> Option<(InstructionId, u32)> {
        let by_id = location.instruction.and_then(|id| self.by_id.get(&id));
        let by_name = || {
            let names = || module.instructions.names.iter().copied().zip(0..).collect();
            self.by_name.get_or_init(names).get(&location.name)
        };
        let row = *by_id.or_else(by_name)?;
        let shape = module.instructions.shape(InstructionId(row));
        let place = module.shapes.place(shape, location.path.iter().copied())?;
        Some((InstructionId(row), place))
    }
}

fn read_assigned(message: &[u8], allocation: usize) -> Result<(Assigned, i64), Malformed> {
    let allocation = u32::try_from(allocation).unwrap_or(NO_ROW);
    let (mut id, mut offset, mut bytes) = (0, 0, 0);
    Wire::of(message).each(|number, field| {
        match number {
            1 => id = field.number(),
            2 => offset = size(field)?,
            3 => bytes = size(field)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((Assigned { allocation, value: ValueId::NONE, offset, bytes }, id))
}

fn find(rows: &FastMap<i64, u32>, id: i64) -> ValueId {
    ValueId(rows.get(&id).copied().unwrap_or(NO_ROW))
}

/// An event, by the rows of values.
fn read_event(
    message: &[u8],
    texts: &mut XlaTexts<'_>,
    rows: &FastMap<i64, u32>,
) -> Result<HeapEvent, Malformed> {
    let (mut value, mut shared_with) = (0, 0);
    let mut event = HeapEvent {
        kind: HeapEventKind::Alloc,
        value: ValueId::NONE,
        shared_with: ValueId::NONE,
        instruction: NameId::NONE,
    };
    Wire::of(message).each(|number, field| {
        match number {
            1 => {
                event.kind = match field.number() {
                    0 => HeapEventKind::Alloc,
                    1 => HeapEventKind::Free,
                    2 => HeapEventKind::ShareWith,
                    other => return Err(Malformed(format!("an event of the kind {other}"))),
                }
            }
            2 => value = field.number(),
            4 => event.instruction = texts.text(field.bytes()),
            5 => shared_with = field.number(),
            _ => {}
        }
        Ok(())
    })?;
    event.value = find(rows, value);
    if event.kind == HeapEventKind::ShareWith {
        event.shared_with = find(rows, shared_with);
    }
    Ok(event)
}
