//! The calls in the source that instructions come from, as newer releases have them (formats/xla.md 4.3).

use serde::{Deserialize, Serialize};

use super::InstructionId;
use crate::store::names::NameId;

/// Frames of a stack that are followed outwards; those of a damaged file may lead to themselves.
const MOST: usize = 64;

/// A call in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HloFrame {
    /// The file.
    pub file: NameId,
    /// The line.
    pub line: u32,
    /// The function that the line is in.
    pub function: NameId,
    /// The number of the frame that calls it, from 1; 0 is none.
    pub parent: u32,
}

/// All calls, and the innermost one of each instruction.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Frames {
    /// The frames by their number, which counts from 1; `None` of one that is damaged.
    pub all: Vec<Option<HloFrame>>,
    /// The number of the innermost frame of each instruction; 0 is none.
    pub of_instructions: Vec<u32>,
}

impl Frames {
    /// The frame of a number.
    pub fn frame(&self, number: u32) -> Option<&HloFrame> {
        self.all.get(usize::try_from(number).ok()?.checked_sub(1)?)?.as_ref()
    }

    /// The frames of an instruction, the innermost first.
    pub fn of(&self, id: InstructionId) -> impl Iterator<Item = &HloFrame> {
        let number = self.of_instructions.get(id.0 as usize).copied().unwrap_or(0);
        let outwards = |frame: &&HloFrame| self.frame(frame.parent);
        std::iter::successors(self.frame(number), outwards).take(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lead_outwards_and_a_ring_ends() {
        let frame = |line: u32, parent: u32| {
            Some(HloFrame { file: NameId::NONE, line, function: NameId::NONE, parent })
        };
        let frames = Frames {
            all: vec![frame(42, 0), frame(24, 1), None, frame(8, 2), frame(7, 5), frame(6, 3)],
            of_instructions: vec![4, 0, 5, 6, 9],
        };
        let lines =
            |id: u32| frames.of(InstructionId(id)).map(|frame| frame.line).collect::<Vec<_>>();
        assert_eq!(lines(0), [8, 24, 42]);
        assert!([1, 4, 9].into_iter().all(|id| lines(id).is_empty()));
        assert_eq!(lines(2).len(), MOST);
        assert_eq!(lines(3), [6], "one that is damaged has none outside");
    }
}
