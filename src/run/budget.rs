//! The figures of a run that budgets limit, and its verdict.

use super::room::{KnownRoom, Room, StatedRoom};
use crate::analysis::derived::Derived;
use crate::format::{Error, ErrorKind};
use crate::text::{bytes, exact_bytes, words};

words! {
    /// A figure that has a budget.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BudgetFigure by key, option {
        /// Bytes of the fullest arena where each has a memory of its own, gaps included.
        FullestArena = "fullest_tile" | "max-tile-bytes",
        /// What the device must have.
        Total = "total" | "max-total-bytes",
        /// What is alive at the peak, always live or not.
        Peak = "peak" | "max-peak-bytes",
    }
}

/// What budgets are held against: the figures of a run, or of one of its devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetFacts {
    /// The device that the figures are of; `None` of all together.
    pub device: Option<i64>,
    /// Its title; empty of all together.
    pub title: String,
    /// The figures that such a run has.
    pub figures: Vec<BudgetedFigure>,
    /// Why they are no more than lower bounds.
    pub why_at_least: Option<&'static str>,
    /// Whether it fits.
    pub fit: FitFacts,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetedFigure {
    /// Which.
    pub figure: BudgetFigure,
    /// What it is of, and its verb: `["the fullest tile", "has"]`.
    pub subject: [&'static str; 2],
    /// Its bytes; `None` where they are not known.
    pub bytes: Option<u64>,
    /// Why they are not.
    pub why_unknown: &'static str,
    /// The arena that it is of, with its title.
    pub arena: Option<(u32, String)>,
    /// Whether it is of the recorded part of a run that began before.
    pub is_of_window: bool,
}

impl BudgetedFigure {
    /// A figure of what something is or has: its subject with its verb; of no arena and no recorded part.
    pub fn of(
        figure: BudgetFigure,
        subject: [&'static str; 2],
        bytes: Option<u64>,
        why_unknown: &'static str,
    ) -> Self {
        Self { figure, subject, bytes, why_unknown, arena: None, is_of_window: false }
    }
}

/// Whether a run fits, and by which figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitFacts {
    /// The most that there may be.
    pub limit: Option<u64>,
    /// What there is.
    pub actual: Option<u64>,
    /// The arena that decides.
    pub arena: Option<u32>,
    /// Whether it fits for sure.
    pub passed: bool,
    /// Why it does not pass, where that is not the limit.
    pub reason: Option<String>,
    /// The same in words, without the device.
    pub text: String,
}

/// Bytes that a device must have for a run.
#[derive(Clone, Copy, Debug)]
pub struct NeededBytes {
    /// "needs", "reserves".
    pub verb: &'static str,
    /// How many.
    pub bytes: u64,
    /// Whether it may be more.
    pub is_at_least: bool,
    /// Why the run does not pass even where they are within what there is.
    pub why_not: Option<&'static str>,
    /// Whether they are of the recorded part of a run that began before.
    pub is_of_window: bool,
    /// What states the capacity where the user does not, behind "that".
    pub stated_by: &'static str,
}

/// Why it cannot be said whether a run fits.
pub const UNKNOWN_CAPACITY: &str = "the capacity of the device is not known";

/// What is said of a figure of a recorded window.
pub const OF_WINDOW: &str = "; of the recorded window, whose beginning is cut off";

impl BudgetFacts {
    /// Of a run as a whole, by what it answers elsewhere.
    ///
    /// # Errors
    /// `usage` where a device is meant: nothing says what one of them has.
    pub fn of_answers(derived: &Derived, device: Option<i64>, room: Room) -> Result<Self, Error> {
        if let Some(device) = device {
            let message = format!("the figures of this run are of all devices, not of {device}");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let figure = |figure, subject, bytes| {
            BudgetedFigure::of(figure, [subject, "has"], bytes, "the run does not state it")
        };
        let answers = derived.answers();
        let total = answers.memory(derived).total_bytes;
        let peak = answers.peak_size(derived).map(|peak| peak.bytes);
        let verdict = derived.verdict().map(|verdict| (*verdict).clone()).unwrap_or_default();
        let stated = StatedRoom { capacity_bytes: verdict.capacity_bytes, other_bytes: None };
        let has_failed = verdict.outcome.went_well() == Some(false);
        let needed = verdict.used_bytes.or(peak).map(|bytes| NeededBytes {
            verb: "needs",
            bytes,
            is_at_least: false,
            why_not: (has_failed && room.capacity_bytes.is_none()).then_some("it did not fit"),
            is_of_window: false,
            stated_by: "",
        });
        let not_known = || {
            FitFacts::unknown(UNKNOWN_CAPACITY, "it is not known whether the run fits".to_owned())
        };
        Ok(Self {
            figures: vec![
                figure(BudgetFigure::Total, "the run", total),
                figure(BudgetFigure::Peak, "the peak", peak),
            ],
            fit: needed.map_or_else(not_known, |of| FitFacts::of_room(of, room.or_stated(stated))),
            ..Self::default()
        })
    }
}

impl FitFacts {
    /// Of a device that is one memory: what is needed against what others leave of it.
    pub fn of_room(needed: NeededBytes, known: Option<KnownRoom>) -> Self {
        let NeededBytes { verb, why_not, .. } = needed;
        let least = if needed.is_at_least { "at least " } else { "" };
        let needs = format!("it {verb} {least}{}", bytes(needed.bytes));
        let Some(known) = known else {
            return Self::unknown(
                UNKNOWN_CAPACITY,
                format!(
                    "{needs}, and the files do not state the capacity of the device: --capacity 16GiB sets it"
                ),
            );
        };
        let limit = known.capacity_bytes.saturating_sub(known.other_bytes);
        let all = needed.bytes.saturating_add(known.other_bytes);
        let over = all.saturating_sub(known.capacity_bytes);
        let by = match (known.is_stated, needed.stated_by) {
            (false, _) | (_, "") => String::new(),
            (true, by) => format!(" that {by}"),
        };
        let (before, after) = match (known.other_bytes, known.is_other_stated) {
            (0, _) => (String::new(), String::new()),
            (other, false) => (format!(" and others have {}", bytes(other)), String::new()),
            (other, true) => (
                String::new(),
                format!(", of which others had {} when that request failed", bytes(other)),
            ),
        };
        let compared = match (over, why_not) {
            (0, Some(why)) => format!("; {why}"),
            (0, None) => format!(", {} less", exact_bytes(limit.saturating_sub(needed.bytes))),
            (over, _) => format!(", {} too much", exact_bytes(over)),
        };
        let window = if needed.is_of_window { OF_WINDOW } else { "" };
        let capacity = bytes(known.capacity_bytes);
        Self {
            limit: Some(limit),
            actual: Some(needed.bytes),
            arena: None,
            passed: over == 0 && why_not.is_none(),
            reason: why_not.filter(|_| over == 0).map(str::to_owned),
            text: format!("{needs}{before} of the {capacity}{by}{after}{compared}{window}"),
        }
    }

    /// Where nobody knows, or no figure says it.
    pub fn unknown(reason: &str, text: String) -> Self {
        Self { reason: Some(reason.to_owned()), text, ..Self::default() }
    }
}
