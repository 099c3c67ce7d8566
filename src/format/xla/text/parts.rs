//! What the sections of XLA's texts have, gathered line by line.

use std::collections::HashMap;

use super::super::texts::Room;
use super::{AllocationLine, FromInstruction, TextValue, ValueLabel, ValueLine, lines};
use crate::budget;
use crate::store::hlo::Allocation;

/// Lines between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// What a line takes in lists and maps beside its letters.
const LINE: usize = 96;

/// In which part of the text a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Allocations,
    Used,
    Sequence,
    Ranges,
    /// XLA's own account, which is not read.
    Rest,
}

/// What was found.
pub(super) struct Gathered {
    /// Whether everything but live ranges is passed over.
    pub is_of_ranges_alone: bool,
    pub allocations: Vec<Allocation>,
    pub values: Vec<TextValue>,
    pub from_instructions: HashMap<String, FromInstruction>,
    pub sequence: Vec<String>,
    pub ranges: Vec<(ValueLabel, u32, u32)>,
    /// The last position, as the text says.
    pub end: Option<u32>,
    damaged: usize,
    beyond: usize,
    without_room: usize,
    room: Room,
}

impl Gathered {
    /// Of texts of so many bytes together.
    pub fn of(bytes: usize) -> Self {
        Self {
            is_of_ranges_alone: false,
            allocations: Vec::new(),
            values: Vec::new(),
            from_instructions: HashMap::new(),
            sequence: Vec::new(),
            ranges: Vec::new(),
            end: None,
            damaged: 0,
            beyond: 0,
            without_room: 0,
            room: Room::of(bytes),
        }
    }

    /// What was left out: how many, and of what.
    pub fn faults(&self) -> [(usize, &'static str); 3] {
        [
            (self.without_room, "lines take too much memory for the text; they are left out"),
            (self.damaged, "lines are not as XLA writes them; they are left out"),
            (self.beyond, "values end behind their allocation; they are left out"),
        ]
    }

    /// Reads a text.
    pub fn read(&mut self, text: &[u8], is_cancelled: &dyn Fn() -> bool) {
        let mut section = Section::None;
        for (number, line) in text.split(|letter| *letter == b'\n').enumerate() {
            if number.is_multiple_of(AT_ONCE) && is_cancelled() {
                return;
            }
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end();
            section = match line.trim_start() {
                "" => continue,
                "BufferAssignment:" => Section::Allocations,
                "Used values:" => Section::Used,
                "InstructionSequence:" => Section::Sequence,
                "BufferLiveRange:" => Section::Ranges,
                head if head.starts_with("HloLiveRange") => {
                    let end = head.split_once("(max ").and_then(|(_, rest)| rest.split_once(')'));
                    self.end = end.and_then(|(end, _)| end.parse().ok());
                    Section::Rest
                }
                head if head.starts_with("Total bytes used") => Section::None,
                head if head.starts_with("Live ranges at ") => Section::Rest,
                _ if self.is_of_ranges_alone && section != Section::Ranges => section,
                // What a line becomes takes less than its letters twice and this.
                _ if self.room.take(line.len().saturating_mul(2).saturating_add(LINE)).is_err() => {
                    self.without_room = self.without_room.saturating_add(1);
                    section
                }
                _ => {
                    if !self.add(section, line) {
                        self.damaged = self.damaged.saturating_add(1);
                    }
                    section
                }
            };
        }
    }

    /// Adds a line; whether it is as it should be.
    fn add(&mut self, section: Section, line: &str) -> bool {
        match section {
            Section::Allocations if line.starts_with(' ') => self.add_value(line),
            Section::Allocations => {
                let allocation = AllocationLine::of(line);
                let is_one = allocation.is_some();
                self.allocations.extend(allocation);
                is_one
            }
            Section::Used => {
                if let Some((name, said)) = FromInstruction::of(line) {
                    self.from_instructions.entry(name).or_insert(said);
                }
                true
            }
            Section::Sequence => {
                let Some((_, name)) = lines::sequence_line(line) else { return false };
                self.sequence.push(budget::cut(name, budget::NAME_BYTES).into_owned());
                true
            }
            Section::Ranges => {
                let range = lines::range_line(line);
                let is_one = range.is_some();
                self.ranges.extend(range);
                is_one
            }
            Section::None | Section::Rest => true,
        }
    }

    fn add_value(&mut self, line: &str) -> bool {
        let Some(ValueLine { label, bytes, offset, leaf }) = ValueLine::of(line) else {
            return false;
        };
        let Some(row) = self.allocations.len().checked_sub(1) else { return false };
        let room = self.allocations.get(row).map_or(0, |allocation| allocation.bytes);
        if offset.checked_add(bytes).is_none_or(|end| end > room) {
            self.beyond = self.beyond.saturating_add(1);
            return true;
        }
        self.values.push(TextValue {
            id: label.id.unwrap_or(0),
            name: budget::cut(&label.name, budget::NAME_BYTES).into_owned(),
            path: label.path,
            leaf,
            allocation: u32::try_from(row).unwrap_or(u32::MAX),
            offset,
            bytes,
        });
        true
    }
}
