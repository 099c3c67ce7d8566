//! Insights of two reports: what a change of a program brought, and whether the trade was worth it.
//!
//! Figures are those of [`crate::analysis::comparison`]: what is alive at each report's own peak, of all tiles
//! together, and what its change consists of. Temporaries are what is not always live there.

use serde::Serialize;

use super::verdict::{Verdict, verdict};
use crate::analysis::comparison::contribution::{
    Contribution, Contributor, Grouping, OperationName, Part,
};
use crate::analysis::comparison::difference::Difference;
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::memory::{cell, totals};
use crate::store::Report;
use crate::text::grouped;

/// Contributions that are named for each figure.
const LARGEST: usize = 3;

/// What an insight of two reports is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Whether it fits: bytes that tiles are over; where both fit, bytes on the fullest tile.
    Fits,
    /// What is not always live at the peak.
    Temporaries,
    /// What is always live.
    AlwaysLive,
    /// Temporaries against always live: the peak as a whole.
    Trade,
    /// The fullest tile, where it went another way than the peak.
    Balance,
    /// Cycles of the recorded runs.
    Cycles,
}

/// One insight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeInsight {
    /// What it is about.
    pub kind: ChangeKind,
    /// A sentence without its full stop and without the figures below.
    pub what: String,
    /// Bytes in both reports.
    pub bytes: Option<Difference>,
    /// Cycles in both reports.
    pub cycles: Option<Difference>,
    /// Whether it is for the better.
    pub is_better: bool,
    /// What contributes most to the change, largest first.
    pub largest: Vec<LargestChange>,
}

/// What contributes to a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestChange {
    /// The category, by its name in the file.
    pub category: Option<String>,
    /// The operation.
    pub operation: Option<OperationName>,
    /// Bytes in both reports.
    pub bytes: Difference,
}

/// The insights, in the order of [`ChangeKind`]; what has not changed is left out. `explanation` is that of the
/// peaks of everything.
pub fn change_insights(
    source: &Report,
    target: &Report,
    explanation: Option<&Explanation>,
) -> Vec<ChangeInsight> {
    let peak = explanation.map(|found| found.whole.of(Part::All));
    let of_peak = explanation.into_iter().flat_map(|found| {
        [temporaries(found), always_live(found), trade(found)].into_iter().flatten()
    });
    fits(source, target)
        .into_iter()
        .chain(of_peak)
        .chain(balance(source, target, peak))
        .chain(cycles(source, target))
        .collect()
}

fn insight(kind: ChangeKind, what: impl Into<String>, bytes: Difference) -> ChangeInsight {
    ChangeInsight {
        kind,
        what: what.into(),
        bytes: Some(bytes),
        cycles: None,
        is_better: bytes.change().is_some_and(|change| change < 0),
        largest: Vec::new(),
    }
}

fn fits(source: &Report, target: &Report) -> Option<ChangeInsight> {
    let (before, after) = (verdict(source, None)?, verdict(target, None)?);
    let over = |verdict: &Verdict| verdict.failure.as_ref().map_or(0, |failure| failure.over_bytes);
    let tiles = |verdict: &Verdict| {
        grouped(verdict.failure.as_ref().map_or(0, |failure| failure.tiles_over))
    };
    let (what, bytes) = match (before.fits, after.fits) {
        (false, true) => {
            ("It fits now".to_owned(), Difference::of(Some(over(&before)), Some(over(&after))))
        }
        (true, false) => (
            format!("It does not fit any more: {} tiles are over", tiles(&after)),
            Difference::of(Some(over(&before)), Some(over(&after))),
        ),
        (false, false) => (
            format!(
                "It still does not fit: {} tiles are over, {} were before",
                tiles(&after),
                tiles(&before)
            ),
            Difference::of(Some(over(&before)), Some(over(&after))),
        ),
        (true, true) => ("It fits as before".to_owned(), fullest(source, target)?),
    };
    Some(insight(ChangeKind::Fits, what, bytes))
}

fn fullest(source: &Report, target: &Report) -> Option<Difference> {
    let bytes = |report: &Report| {
        let memory = report.memory.get()?;
        cell(&memory.including_gaps, totals(memory, report.target.get()).fullest?)
    };
    Some(Difference::of(Some(bytes(source)?), Some(bytes(target)?)))
}

fn temporaries(explanation: &Explanation) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(Part::NotAlwaysLive);
    let what = match bytes.change()? {
        0 => return None,
        change if change < 0 => "Temporaries at the peak are smaller",
        _ => "Temporaries at the peak are larger",
    };
    let operations = explanation.by_owner.as_ref().map(|owner| &owner.operations);
    let largest = operations.map(|rows| largest(rows, Part::NotAlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight(ChangeKind::Temporaries, what, bytes) })
}

fn always_live(explanation: &Explanation) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(Part::AlwaysLive);
    let what = match bytes.change()? {
        0 => return None,
        change if change < 0 => "Less is always live",
        _ => "More is always live",
    };
    let categories = explanation.by_category.as_ref();
    let largest = categories.map(|rows| largest(rows, Part::AlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight(ChangeKind::AlwaysLive, what, bytes) })
}

/// Where temporaries went one way and always live the other: which outweighs.
fn trade(explanation: &Explanation) -> Option<ChangeInsight> {
    let part = |part| explanation.whole.of(part).change();
    let (temporaries, always_live) = (part(Part::NotAlwaysLive)?, part(Part::AlwaysLive)?);
    if temporaries.signum() * always_live.signum() >= 0 {
        return None;
    }
    let peak = explanation.whole.of(Part::All);
    let ratio = |less: i64, more: i64| {
        format!("{:.1}", less.unsigned_abs() as f64 / more.unsigned_abs().max(1) as f64)
    };
    let (less, more, names) = if temporaries < 0 {
        (temporaries, always_live, ("temporaries", "always live"))
    } else {
        (always_live, temporaries, ("always live", "temporaries"))
    };
    let worth = if peak.change()? < 0 { "was worth it" } else { "was not worth it" };
    let what = format!(
        "The trade {worth} for the peak: {} bytes less {} for each byte more {}",
        ratio(less, more),
        names.0,
        names.1
    );
    Some(insight(ChangeKind::Trade, what, peak))
}

fn balance(source: &Report, target: &Report, peak: Option<Difference>) -> Option<ChangeInsight> {
    let bytes = fullest(source, target)?;
    let what = match (peak?.change()?.signum(), bytes.change()?.signum()) {
        (-1, 1) => "The fullest tile is fuller although the peak is lower: balance or gaps",
        (1, -1) => "The fullest tile is less full although the peak is higher: balance or gaps",
        _ => return None,
    };
    Some(insight(ChangeKind::Balance, what, bytes))
}

fn cycles(source: &Report, target: &Report) -> Option<ChangeInsight> {
    let cycles = |report: &Report| report.execution.get()?.cycles;
    let both = Difference::of(Some(cycles(source)?), Some(cycles(target)?));
    let what = match both.change()? {
        0 => return None,
        change if change < 0 => "The recorded runs take fewer cycles",
        _ => "The recorded runs take more cycles",
    };
    Some(ChangeInsight {
        bytes: None,
        cycles: Some(both),
        ..insight(ChangeKind::Cycles, what, both)
    })
}

/// The largest contributions that have a name.
fn largest(rows: &Grouping, part: Part) -> Vec<LargestChange> {
    let named = rows.ranked(part).into_iter().filter_map(|(row, bytes)| {
        let Contribution { contributor, .. } = row;
        let (category, operation) = match contributor {
            Contributor::Category(name) => (Some(name.clone()), None),
            Contributor::Operation(name) => (None, Some(name.clone())),
            _ => return None,
        };
        Some(LargestChange { category, operation, bytes })
    });
    named.take(LARGEST).collect()
}
