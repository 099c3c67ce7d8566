//! The verdict: whether a run fits, or how it ended, and by how much.

use serde::Serialize;

use super::evidence::Evidence;
use super::need::AtLeast;
use crate::text::{capitalised, words};

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
        Unknown = "unknown" | "It is not known whether it fits",
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
    /// `cut`, `not-recorded`, `recorded-window`, `one-step`, `capacity-not-known`; `None` where it fits or ran, or nothing decides it.
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
    pub figures: Vec<VerdictFigure>,
    /// Bytes that are taken.
    pub used_bytes: Option<u64>,
    /// Why it may be more than these bytes.
    #[serde(skip)]
    pub at_least: Option<AtLeast>,
    /// What these bytes and the capacity are of, where that is a part of the run: "the fullest tile".
    #[serde(skip)]
    pub used_of: Option<&'static str>,
    /// Bytes that there are.
    pub capacity_bytes: Option<u64>,
    /// Who says so: a file beside the run, an option of the command, or the run itself.
    pub capacity_from: Option<String>,
    /// Bytes that are too many; 0 where it fits.
    pub over_bytes: Option<u64>,
    /// What is taken of what there is in all, where that says something beside the bytes above.
    #[serde(skip)]
    pub used_of_all: Option<(u64, u64)>,
    /// What failed, and where that is: `the request`, `the 221 tiles`.
    #[serde(skip)]
    pub failed: Option<Evidence>,
    /// Each device.
    pub devices: Vec<DeviceVerdict>,
}

impl Verdict {
    /// Of one device of a run, in no words of its system.
    pub fn of_device(device: &DeviceVerdict) -> Self {
        Self {
            outcome: device.outcome,
            cause: device.cause,
            short: device.outcome.word().to_owned(),
            used_bytes: device.used_bytes,
            capacity_bytes: device.capacity_bytes,
            over_bytes: device.over_bytes,
            devices: vec![device.clone()],
            ..Self::default()
        }
    }

    /// Bytes that are free, below 0 where there are too few; `None` where they do not say what the outcome says: figures
    /// of error texts are rounded.
    pub fn free_bytes(&self) -> Option<i128> {
        let free = i128::from(self.capacity_bytes?).saturating_sub(self.used_bytes?.into());
        (self.outcome.fits() == Some(free >= 0)).then_some(free)
    }

    /// What is used and the capacity are of, with its preposition: " on the fullest tile".
    pub fn on_what(&self) -> String {
        self.used_of.map_or_else(String::new, |of| format!(" on {of}"))
    }

    /// The same in a sentence for the head of a page; `size` writes bytes.
    pub fn headline(&self, size: &dyn Fn(u64) -> String) -> String {
        let title = self.outcome.title();
        let bytes = |bytes: i128| size(u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX));
        let of = self.on_what();
        match (self.outcome, self.free_bytes()) {
            (Outcome::Fits, Some(free)) => format!("{title}: {} are free{of}", bytes(free)),
            (Outcome::DoesNotFit, Some(free)) if self.used_of.is_some() => {
                format!("{title}: {}, by {} at most", self.text, bytes(free))
            }
            (Outcome::DoesNotFit, Some(free)) => format!("{title}: {} too many", bytes(free)),
            (Outcome::Unknown, _) if self.short != self.outcome.word() => capitalised(&self.short),
            _ => title.to_owned(),
        }
    }

    /// The same where several runs share a line.
    pub fn short_with(&self, size: &dyn Fn(u64) -> String) -> String {
        let short = capitalised(&self.short);
        match self.over_bytes.filter(|over| *over > 0 && self.used_of.is_some()) {
            Some(over) => format!("{short}, by up to {}", size(over)),
            None => short,
        }
    }
}

/// A figure that says much about a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictFigure {
    /// What it is.
    pub title: &'static str,
    /// Its bytes.
    pub bytes: u64,
    /// What it is of, in a few words.
    pub note: String,
    /// Whether it is too large.
    pub is_over: bool,
    /// Whether it is of the device, as its files say: what the user says of it takes its place.
    pub is_of_room: bool,
}

impl VerdictFigure {
    /// One that is not too large.
    pub fn of<N: Into<String>>(title: &'static str, bytes: u64, note: N) -> Self {
        Self { title, bytes, note: note.into(), is_over: false, is_of_room: false }
    }
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
    fn what_is_free_or_too_much_is_said_of_what_it_is_of() {
        let size = |bytes: u64| format!("{bytes} B");
        let tiles = Verdict {
            outcome: Outcome::DoesNotFit,
            short: "1 tile over".to_owned(),
            text: "1 of 4 tiles is over".to_owned(),
            used_bytes: Some(105),
            used_of: Some("the fullest tile"),
            capacity_bytes: Some(100),
            over_bytes: Some(5),
            ..Verdict::default()
        };
        assert_eq!(tiles.free_bytes(), Some(-5));
        let said = "Does not fit: 1 of 4 tiles is over, by 5 B at most";
        assert_eq!(tiles.headline(&size), said);
        assert_eq!(tiles.short_with(&size), "1 tile over, by up to 5 B");
        let fits = Verdict {
            outcome: Outcome::Fits,
            short: "fits".to_owned(),
            used_bytes: Some(98),
            over_bytes: Some(0),
            ..tiles
        };
        assert_eq!(fits.headline(&size), "Fits: 2 B are free on the fullest tile");
        assert_eq!(fits.short_with(&size), "Fits");
        // What was refused may be within what a rounded text says that there is.
        let refused = Verdict {
            outcome: Outcome::DoesNotFit,
            short: "does not fit".to_owned(),
            used_of: None,
            ..fits
        };
        assert_eq!((refused.free_bytes(), refused.headline(&size)), (None, "Does not fit".into()));
        let cut = Verdict { short: "the file is cut".to_owned(), ..Verdict::default() };
        assert_eq!(cut.headline(&size), "The file is cut");
    }

    #[test]
    fn a_run_that_ran_does_not_fit_elsewhere_for_sure() {
        assert_eq!((Outcome::Ran.fits(), Outcome::Ran.went_well()), (None, Some(true)));
        let failed = Outcome::OutOfMemory;
        assert_eq!((failed.fits(), failed.went_well()), (None, Some(false)));
        assert_eq!(Outcome::default().went_well(), None);
    }
}
