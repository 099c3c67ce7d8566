//! The verdict: whether a run fits, or how it ended, and by how much.

use serde::Serialize;

use crate::text::words;

words! {
    /// How a run came out.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Outcome by key, title {
        /// Everything has room.
        Fits = "fits" | "Fits",
        /// More is needed than there is.
        DoesNotFit = "does-not-fit" | "Does not fit",
        /// It ran while it was recorded, and no request failed for good.
        Ran = "ran" | "Ran",
        /// It ended at a request that failed.
        OutOfMemory = "out-of-memory" | "Out of memory",
        /// Nobody knows: the capacity is not known, or the recording does not say.
        #[default]
        Unknown = "unknown" | "Whether it fits is not known",
    }
}

impl Outcome {
    /// The same in a word or two, for a table or a chip.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::DoesNotFit => "does not fit",
            Self::Ran => "ran",
            Self::OutOfMemory => "out of memory",
            Self::Unknown => "not known",
        }
    }

    /// Whether it fits; `None` where nobody knows. A run that ran says nothing of another one.
    pub fn fits(self) -> Option<bool> {
        match self {
            Self::Fits => Some(true),
            Self::DoesNotFit => Some(false),
            Self::Ran | Self::OutOfMemory | Self::Unknown => None,
        }
    }

    /// Whether it went well: it fits, or ran. `None` where nobody knows.
    pub fn went_well(self) -> Option<bool> {
        match self {
            Self::Fits | Self::Ran => Some(true),
            Self::DoesNotFit | Self::OutOfMemory => Some(false),
            Self::Unknown => None,
        }
    }
}

/// Whether a run fits, or how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Verdict {
    /// How it came out.
    pub outcome: Outcome,
    /// The key of what decides it: `curve`, `imbalance`, `placement` (of tiles), `capacity`, `refused`, `request-failed`,
    /// `cut`, `not-recorded`; `None` where it fits or ran, or nothing decides it.
    pub cause: Option<&'static str>,
    /// The same in a word or two, for a chip or a table: "221 tiles over", "out of memory".
    #[serde(skip)]
    pub short: String,
    /// Why, in a sentence without its full stop.
    pub text: String,
    /// Further sentences for the page and the terminal.
    #[serde(skip)]
    pub details: Vec<String>,
    /// The figures that say most.
    #[serde(skip)]
    pub figures: Vec<KeyFigure>,
    /// Bytes that are taken.
    pub used_bytes: Option<u64>,
    /// What these bytes and the capacity are of, where that is a part of the run: "the fullest tile".
    #[serde(skip)]
    pub used_of: Option<&'static str>,
    /// Bytes that there are.
    pub capacity_bytes: Option<u64>,
    /// Who says so: a file beside the run, an option of the command, or the run itself.
    pub capacity_from: Option<String>,
    /// Bytes that are too many; 0 where it fits.
    pub over_bytes: Option<u64>,
    /// Each device.
    pub devices: Vec<DeviceVerdict>,
}

/// A figure that says much about a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFigure {
    /// What it is.
    pub title: &'static str,
    /// Its bytes.
    pub bytes: u64,
    /// What it is of, in a few words.
    pub note: String,
    /// Whether it is too large.
    pub is_over: bool,
}

/// The verdict of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DeviceVerdict {
    /// Its number: an IPU, a GPU, a memory space, a chip.
    pub device: i64,
    /// Its name for people.
    pub name: String,
    /// How it came out.
    pub outcome: Outcome,
    /// The key of what decides it, as of [`Verdict::cause`].
    pub cause: Option<&'static str>,
    /// Bytes that are taken.
    pub used_bytes: Option<u64>,
    /// Bytes that it has.
    pub capacity_bytes: Option<u64>,
    /// Bytes that are too many; 0 where it fits.
    pub over_bytes: Option<u64>,
    /// Bytes at the peak of its curve.
    pub peak_bytes: Option<u64>,
    /// The step of that peak.
    pub peak_step: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ran_does_not_fit_elsewhere_for_sure() {
        assert_eq!((Outcome::Ran.fits(), Outcome::Ran.went_well()), (None, Some(true)));
        let failed = Outcome::OutOfMemory;
        assert_eq!((failed.fits(), failed.went_well()), (None, Some(false)));
        assert_eq!(Outcome::default().went_well(), None);
    }
}
