//! What is said first of a run of any system, in a word or two: whether it fits, or how it ended.

use super::facts::Fit;
use crate::run::{Outcome as ProgramFit, Verdict};
use crate::store::System;
use crate::systems::pytorch::allocator::run_end::Outcome;
use crate::text::grouped;

/// What is said first of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerdict {
    /// Of a program of Poplar: whether each tile has room.
    Tiles(Fit),
    /// Of a memory snapshot: what became of the run.
    Ended(Outcome),
    /// Of a program of XLA: whether it fits, and what is left of the device's memory, below 0 where it takes more.
    Program(ProgramFit, Option<i128>),
}

impl From<&Verdict> for RunVerdict {
    fn from(of: &Verdict) -> Self {
        let used = of.used_bytes.unwrap_or(0);
        let free = |capacity| i128::from(capacity).saturating_sub(i128::from(used));
        // What XLA refused may be within what the device has: figures of texts are rounded.
        let says_so = |free: &i128| of.outcome.fits() == Some(*free >= 0);
        Self::Program(of.outcome, of.capacity_bytes.map(free).filter(says_so))
    }
}

impl RunVerdict {
    /// Whether it fits; `None` where nobody knows: of a run that ended, too, for what it would need elsewhere is not said.
    pub fn fits(self) -> Option<bool> {
        match self {
            Self::Tiles(fit) => Some(fit.fits),
            Self::Ended(_) => None,
            Self::Program(fit, _) => fit.fits(),
        }
    }

    /// Whether it went well: it fits, or ran; `None` where nobody knows.
    pub fn went_well(self) -> Option<bool> {
        match self {
            Self::Ended(outcome) => outcome.finished(),
            _ => self.fits(),
        }
    }

    /// The same in words; with what is counted where its system is given: `221 tiles over`.
    pub fn text(self, system: Option<&System>) -> String {
        let fit = match self {
            Self::Tiles(fit) => fit,
            Self::Ended(Outcome::Ran) => return "ran".to_owned(),
            Self::Ended(Outcome::OutOfMemory) => return "out of memory".to_owned(),
            Self::Ended(Outcome::Cut) => return "the file is cut".to_owned(),
            Self::Program(ProgramFit::Fits, _) => return "fits".to_owned(),
            Self::Program(ProgramFit::DoesNotFit, _) => return "does not fit".to_owned(),
            Self::Ended(Outcome::NotRecorded) | Self::Program(..) => {
                return "not known".to_owned();
            }
        };
        match fit.tiles_over {
            _ if fit.fits => "fits".to_owned(),
            Some(over) => match system {
                Some(system) if over == 1 => format!("1 {} over", system.arena_in_text),
                Some(system) => format!("{} {} over", grouped(over), system.arenas),
                None => format!("{} over", grouped(over)),
            },
            None => "does not fit".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_says_whether_it_went_well_in_its_own_words() {
        let fit = Fit { fits: false, tiles: 9, tiles_over: Some(2), most_over: None };
        for (verdict, went_well, text) in [
            (RunVerdict::Tiles(fit), Some(false), "2 tiles over"),
            (RunVerdict::Tiles(Fit { fits: true, ..fit }), Some(true), "fits"),
            (RunVerdict::Tiles(Fit { tiles_over: None, ..fit }), Some(false), "does not fit"),
            (RunVerdict::Ended(Outcome::OutOfMemory), Some(false), "out of memory"),
            (RunVerdict::Ended(Outcome::Cut), None, "the file is cut"),
            (RunVerdict::Program(ProgramFit::DoesNotFit, Some(-7)), Some(false), "does not fit"),
            (RunVerdict::Program(ProgramFit::Unknown, None), None, "not known"),
        ] {
            assert_eq!(verdict.went_well(), went_well);
            assert_eq!(verdict.text(Some(&System::POPLAR)), text);
        }
        assert_eq!(RunVerdict::Ended(Outcome::Ran).fits(), None, "nobody says that it fits");
        let one = RunVerdict::Tiles(Fit { tiles_over: Some(1), ..fit });
        assert_eq!(one.text(Some(&System::POPLAR)), "1 tile over");
        assert_eq!(one.text(None), "1 over");
    }
}
