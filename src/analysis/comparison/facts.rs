//! The facts of runs side by side, and whether a report with tiles fits.

use std::borrow::Cow;

use crate::analysis::memory::{over_limit_bytes, totals};
use crate::store::Report;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactGroup {
    pub title: Cow<'static, str>,
    pub facts: Vec<ComparedFact>,
}

/// A fact of all reports; `None` where a report does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFact {
    pub name: Cow<'static, str>,
    pub said: Vec<Option<Said>>,
}

/// What a fact says, as a figure where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes; what the text says beside them comes before and after.
    Bytes(String, u64, String),
    /// Things; the text says of how many.
    Count(u64, String),
    /// Words, clean.
    Words(String),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Whether no tile is over its limit.
    pub fits: bool,
    pub tiles: u64,
    pub tiles_over: Option<u64>,
    /// By how much the fullest is over.
    pub most_over: Option<u64>,
}

impl Fit {
    /// Of a report; `None` where it is not known.
    pub fn of(report: &Report) -> Option<Self> {
        let memory = report.memory.get()?;
        let target = report.target.get();
        let totals = totals(memory, target);
        Some(Self {
            fits: totals.fits?,
            tiles: memory.tiles.len() as u64,
            tiles_over: totals.tiles_over_limit,
            most_over: totals.fullest.and_then(|row| over_limit_bytes(memory, target, row)),
        })
    }
}
