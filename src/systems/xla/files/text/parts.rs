//! The sections of XLA's texts, gathered line by line.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::texts::Allowance;
use super::{AllocationLine, FromInstruction, TextValue, ValueLabel, ValueLine, lines};
use crate::store::hlo::BufferAllocation;

/// Lines between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// What a line takes in lists and maps beside its letters.
const LINE: usize = 96;

/// In which part of the text a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    None,
    Allocations,
    Used,
    /// The heading of live ranges: their parts follow.
    Lives,
    Sequence,
    Ranges,
    /// XLA's own account, which is not read.
    Rest,
}

pub(super) struct TextParts<'t> {
    /// Whether everything but live ranges is passed over.
    pub is_of_ranges_alone: bool,
    pub allocations: Vec<BufferAllocation>,
    pub values: Vec<TextValue<'t>>,
    pub from_instructions: HashMap<&'t str, FromInstruction<'t>>,
    pub sequence: Vec<&'t str>,
    pub ranges: Vec<(ValueLabel<'t>, u32, u32)>,
    /// The last position, as the text says.
    pub end: Option<u32>,
    /// What all allocations take, as the text says.
    total_bytes: Option<u64>,
    /// Values of which it says where they are, also if that is damaged.
    placed: usize,
    /// Those of which it says where they are used; `None` where it does so of none.
    used: Option<usize>,
    /// Whether the last allocation has no value yet.
    is_allocation_open: bool,
    /// Whether one of the texts ends within a part.
    has_cut_part: bool,
    damaged: usize,
    beyond: usize,
    without_room: usize,
    room: Allowance,
}

impl<'t> TextParts<'t> {
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
            total_bytes: None,
            placed: 0,
            used: None,
            is_allocation_open: false,
            has_cut_part: false,
            damaged: 0,
            beyond: 0,
            without_room: 0,
            room: Allowance::of(bytes),
        }
    }

    /// What was left out: how many, and of what.
    pub fn faults(&self) -> [(usize, &'static str); 3] {
        [
            (self.without_room, "lines take too much memory for the text; they are left out"),
            (self.damaged, "lines are not as XLA writes them; they are left out"),
            (self.beyond, "values end beyond their allocation; they are left out"),
        ]
    }

    /// Whether a text ends before its contents do. Where nothing follows the allocations, not even in another text, one
    /// that is cut behind a value cannot be told from a whole one.
    pub fn is_cut(&self) -> bool {
        let bytes = self.allocations.iter().map(|allocation| allocation.bytes);
        let bytes = bytes.fold(0_u64, u64::saturating_add);
        // What was left out for another reason is no sign of it.
        let is_all = self.without_room == 0 && self.damaged == 0;
        let lacks_bytes = self.total_bytes.is_some_and(|total| bytes < total);
        let lacks_values = self.used.is_some_and(|used| used != self.placed);
        self.has_cut_part || is_all && (lacks_bytes || lacks_values)
    }

    pub fn read(&mut self, text: &'t TextLines<'_>, is_cancelled: &dyn Fn() -> bool) {
        let mut section = Heading::None;
        let mut has_allocations = false;
        for (number, line) in text.whole.split('\n').enumerate() {
            if number.is_multiple_of(AT_ONCE) && is_cancelled() {
                return;
            }
            let line = line.trim_end();
            section = match line.trim_start() {
                "" => continue,
                "BufferAssignment:" => {
                    has_allocations = true;
                    Heading::Allocations
                }
                "Used values:" => {
                    self.used.get_or_insert(0);
                    Heading::Used
                }
                "InstructionSequence:" => Heading::Sequence,
                "BufferLiveRange:" => Heading::Ranges,
                head if head.starts_with("HloLiveRange") => {
                    let end = head.split_once("(max ").and_then(|(_, rest)| rest.split_once(')'));
                    self.end = end.and_then(|(end, _)| end.parse().ok());
                    if head.contains("not available") { Heading::Rest } else { Heading::Lives }
                }
                head if head.starts_with("Total bytes used") => {
                    let bytes = head.split_ascii_whitespace().nth(3);
                    self.total_bytes = bytes.and_then(|bytes| bytes.parse().ok());
                    Heading::None
                }
                head if head.starts_with("Live ranges at ") => Heading::Rest,
                _ if self.is_of_ranges_alone && section != Heading::Ranges => section,
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
        self.has_cut_part |= match section {
            Heading::Rest => false,
            // What uses values comes behind what all take, XLA's own account behind live ranges.
            Heading::None | Heading::Lives | Heading::Sequence | Heading::Ranges => true,
            // In a text with allocations live ranges come behind what uses values.
            Heading::Used if has_allocations => true,
            Heading::Allocations => self.is_allocation_open || text.has_cut_line,
            Heading::Used => text.has_cut_line,
        };
    }

    /// Adds a line; whether it is as it should be.
    fn add(&mut self, section: Heading, line: &'t str) -> bool {
        match section {
            Heading::Allocations if line.starts_with(' ') => self.add_value(line),
            Heading::Allocations => {
                let allocation = AllocationLine::of(line);
                let is_one = allocation.is_some();
                self.is_allocation_open |= is_one;
                self.allocations.extend(allocation);
                is_one
            }
            Heading::Used => {
                if let Some(used) = self.used.as_mut().filter(|_| FromInstruction::is_one(line)) {
                    *used = used.saturating_add(1);
                }
                if let Some((name, said)) = FromInstruction::of(line) {
                    self.from_instructions.entry(name).or_insert(said);
                }
                true
            }
            Heading::Sequence => {
                let Some((_, name)) = lines::sequence_line(line) else { return false };
                self.sequence.push(name);
                true
            }
            Heading::Ranges => {
                let range = lines::range_line(line);
                let is_one = range.is_some();
                self.ranges.extend(range);
                is_one
            }
            Heading::None | Heading::Lives | Heading::Rest => true,
        }
    }

    fn add_value(&mut self, line: &'t str) -> bool {
        self.is_allocation_open = false;
        self.placed = self.placed.saturating_add(1);
        let Some(ValueLine { label, bytes, offset, .. }) = ValueLine::of(line) else {
            return false;
        };
        let Some(row) = self.allocations.len().checked_sub(1) else { return false };
        let room = self.allocations.get(row).map_or(0, |allocation| allocation.bytes);
        if offset.checked_add(bytes).is_none_or(|end| end > room) {
            self.beyond = self.beyond.saturating_add(1);
            return true;
        }
        let number = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        let allocation = u32::try_from(row).unwrap_or(u32::MAX);
        self.values.push(TextValue { name: label.name, line, number, allocation });
        true
    }
}

/// The lines of a text that are ended; damaged letters are replaced.
pub(super) struct TextLines<'a> {
    whole: Cow<'a, str>,
    /// Whether a line follows that is not ended.
    has_cut_line: bool,
}

impl<'a> TextLines<'a> {
    pub fn of(text: &'a [u8]) -> Self {
        let whole = whole_lines(text);
        let has_cut_line = whole.len() < text.len();
        Self { whole: String::from_utf8_lossy(whole), has_cut_line }
    }
}

/// A text without a last line that is not ended: it may be cut within a number.
pub(in crate::systems::xla::files) fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|letter| *letter == b'\n');
    end.and_then(|end| text.get(..=end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOCATIONS: &str = "BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n value: <1 a @0> \
                               (size=64,offset=0): f32[16]{0}\nallocation 1: size 4, constant:\n value: <2 b @0> \
                               (size=4,offset=0): f32[]\n";
    const VALUES: &str = "\nTotal bytes used: 68 (68B)\n\nUsed values:\n<1 a @0>\n positions:\n  a\n uses:\n  (none)\n \
                          from instruction: %a = f32[16]{0} copy(%b)\n<2 b @0>\n positions:\n  b\n uses:\n  a, operand 0\n \
                          from instruction: %b = f32[] constant(0)\n";
    const LIVES: &str = "HloLiveRange (max 2):\n  InstructionSequence:\n    0:b\n    1:a\n  BufferLiveRange:\n    \
                         a{}:1-2\n    b{}:0-2\n";
    const ACCOUNT: &str = "  Live ranges at 1 (peak):\n    a{}: 64 bytes\n    b{}: 4 bytes\n";

    fn is_cut(texts: &[&str]) -> bool {
        let texts: Vec<_> = texts.iter().map(|text| TextLines::of(text.as_bytes())).collect();
        let mut gathered = TextParts::of(1000);
        for text in &texts {
            gathered.read(text, &|| false);
        }
        gathered.is_cut()
    }

    #[test]
    fn texts_that_are_cut_are_told_from_whole_ones() {
        // Old releases have all in one file, new ones in three.
        let lives = format!("{LIVES}{ACCOUNT}");
        let one = format!("{ALLOCATIONS}{VALUES}{lives}");
        assert!(!is_cut(&[&one]));
        assert!(!is_cut(&[ALLOCATIONS, VALUES, &lives]));
        assert!(!is_cut(&[ALLOCATIONS, VALUES, "HloLiveRange not available\n"]));
        assert!(!is_cut(&[ALLOCATIONS]));
        let account = one.find("(peak):\n").unwrap() + "(peak):\n".len();
        for end in 0..one.len() {
            // Behind a value, and before the first allocation, it may be the first of three files.
            let has_value =
                |text: &str| !text.lines().last().unwrap_or("").starts_with("allocation");
            let may_be_whole = end <= ALLOCATIONS.len() + 1
                && one[..end].ends_with('\n')
                && has_value(&one[..end]);
            let expected = end < account && !may_be_whole;
            assert_eq!(is_cut(&[&one[..end]]), expected, "one, cut at {end}");
        }
        for end in 0..ALLOCATIONS.len() {
            assert!(is_cut(&[&ALLOCATIONS[..end], VALUES]), "allocations, cut at {end}");
        }
        for end in 0..VALUES.len() {
            assert!(is_cut(&[ALLOCATIONS, &VALUES[..end], &lives]), "values, cut at {end}");
        }
        for end in 0..lives.find("(peak):\n").unwrap() {
            assert!(is_cut(&[ALLOCATIONS, &lives[..end]]), "live ranges, cut at {end}");
        }
    }

    #[test]
    fn a_text_that_ends_behind_the_line_of_an_allocation_is_cut() {
        let end = ALLOCATIONS.find(":\n value: <2").unwrap() + 2;
        assert!(is_cut(&[&ALLOCATIONS[..end]]));
    }

    #[test]
    fn a_line_that_is_not_ended_is_not_read() {
        let cut = ALLOCATIONS.find(", constant").unwrap() - 1;
        let text = TextLines::of(&ALLOCATIONS.as_bytes()[..cut]);
        let mut gathered = TextParts::of(1000);
        gathered.read(&text, &|| false);
        assert_eq!(gathered.allocations.len(), 1);
        assert_eq!(gathered.faults().map(|(count, _)| count), [0, 0, 0]);
    }
}
