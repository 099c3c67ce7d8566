//! What the sections of XLA's texts have, gathered line by line.

use std::collections::HashMap;

use super::{AllocationLine, FromInstruction, TextValue, ValueLabel, ValueLine, lines};
use crate::budget;
use crate::store::hlo::Allocation;

/// Lines between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

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
#[derive(Default)]
pub(super) struct Gathered {
    pub allocations: Vec<Allocation>,
    pub values: Vec<TextValue>,
    pub from_instructions: HashMap<String, FromInstruction>,
    pub sequence: Vec<String>,
    pub ranges: Vec<(ValueLabel, u32, u32)>,
    pub moment: Option<u32>,
    damaged: usize,
    beyond: usize,
}

impl Gathered {
    /// What was left out: how many, and of what.
    pub fn faults(&self) -> [(usize, &'static str); 2] {
        [
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
                head if head.starts_with("HloLiveRange") => Section::Rest,
                head if head.starts_with("Total bytes used") => Section::None,
                head if head.starts_with("Live ranges at ") => {
                    let moment = head.strip_prefix("Live ranges at ");
                    let moment = moment.and_then(|rest| rest.split(' ').next());
                    self.moment = moment.and_then(|moment| moment.parse().ok());
                    Section::Rest
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
