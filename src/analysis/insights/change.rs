//! Insights of two reports: what a change of a program brought, and whether the trade was worth it.
//!
//! Figures are those of [`crate::analysis::comparison`]: what is alive at each report's own peak, of all tiles
//! together, and what its change consists of. Temporaries are what is not always live there.

use serde::Serialize;

use super::verdict::{Verdict, verdict};
use crate::analysis::comparison::contribution::{
    Contribution, Contributor, Grouping, OperationName, Part,
};
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::figures::difference::Difference;
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

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeInsight {
    pub kind: ChangeKind,
    /// A sentence without its full stop, which ends with what the figures below are of.
    pub what: String,
    pub bytes: Option<Difference>,
    pub cycles: Option<Difference>,
    pub is_better: bool,
    /// What contributes most to the change, largest first.
    pub largest: Vec<LargestChange>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestChange {
    /// The category, by its name in the file.
    pub category: Option<String>,
    pub operation: Option<OperationName>,
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
    let fits = fits(source, target);
    let over = fits.as_ref().and_then(|fits| fits.over.change()).unwrap_or(0);
    let of_peak = explanation.into_iter().flat_map(|found| {
        [temporaries(found), always_live(found), trade(found, over)].into_iter().flatten()
    });
    let fits = fits.map(|fits| fits.insight);
    fits.into_iter()
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

struct Fits {
    insight: ChangeInsight,
    over: Difference,
}

fn fits(source: &Report, target: &Report) -> Option<Fits> {
    let (before, after) = (verdict(source, None)?, verdict(target, None)?);
    let failure = |verdict: &Verdict| {
        verdict.failure.as_ref().map_or((0, 0), |failure| (failure.tiles_over, failure.over_bytes))
    };
    let ((tiles_before, over_before), (tiles_after, over_after)) =
        (failure(&before), failure(&after));
    let over = Difference::of(Some(over_before), Some(over_after));
    let (what, bytes) = match (before.fits, after.fits) {
        (true, true) => {
            ("It fits as before; the fullest tile".to_owned(), fullest(source, target)?)
        }
        (false, true) => ("It fits now; over the limit".to_owned(), over),
        (true, false) => (
            format!("It does not fit any more, on {} tiles; over the limit", grouped(tiles_after)),
            over,
        ),
        (false, false) => (
            format!(
                "It still does not fit, on {} tiles after {}; over the limit",
                grouped(tiles_after),
                grouped(tiles_before)
            ),
            over,
        ),
    };
    Some(Fits { insight: insight(ChangeKind::Fits, what, bytes), over })
}

fn fullest(source: &Report, target: &Report) -> Option<Difference> {
    let bytes = |report: &Report| {
        let memory = report.memory.get()?;
        cell(&memory.including_gaps, totals(memory, report.target.get()).fullest?)
    };
    Some(Difference::of(Some(bytes(source)?), Some(bytes(target)?)))
}

fn less_or_more(
    value: &Difference,
    less: &'static str,
    more: &'static str,
) -> Option<&'static str> {
    let change = value.change().filter(|change| *change != 0)?;
    Some(if change < 0 { less } else { more })
}

fn temporaries(explanation: &Explanation) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(Part::NotAlwaysLive);
    let [less, more] =
        ["Temporaries are smaller at the peak", "Temporaries are larger at the peak"];
    let what = less_or_more(&bytes, less, more)?;
    let operations = explanation.by_owner.as_ref().and_then(|owner| owner.operations.as_ref());
    let largest = operations.map(|rows| largest(rows, Part::NotAlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight(ChangeKind::Temporaries, what, bytes) })
}

fn always_live(explanation: &Explanation) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(Part::AlwaysLive);
    let what = less_or_more(&bytes, "Less is always live", "More is always live")?;
    let categories = explanation.by_category.as_ref();
    let largest = categories.map(|rows| largest(rows, Part::AlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight(ChangeKind::AlwaysLive, what, bytes) })
}

/// Where temporaries went one way and always live the other: which outweighs. A lower peak is worth nothing
/// where tiles are over by more than before.
fn trade(explanation: &Explanation, over_change: i64) -> Option<ChangeInsight> {
    let part = |part| explanation.whole.of(part).change();
    let (temporaries, always_live) = (part(Part::NotAlwaysLive)?, part(Part::AlwaysLive)?);
    if temporaries.signum() * always_live.signum() >= 0 {
        return None;
    }
    let peak = explanation.whole.of(Part::All);
    let (less, more, names) = if temporaries < 0 {
        (temporaries, always_live, ("temporaries", "always live"))
    } else {
        (always_live, temporaries, ("always live", "temporaries"))
    };
    let ratio = less.unsigned_abs() as f64 / more.unsigned_abs().max(1) as f64;
    let (worth, is_better) = match (peak.change()? < 0, over_change > 0) {
        (true, false) => ("was worth it", true),
        (true, true) => ("was not worth it, for tiles are over by more", false),
        (false, _) => ("was not worth it", false),
    };
    let what = format!(
        "The trade {worth}: {ratio:.1} bytes less {} for each byte more {}; the peak",
        names.0, names.1
    );
    Some(ChangeInsight { is_better, ..insight(ChangeKind::Trade, what, peak) })
}

fn balance(source: &Report, target: &Report, peak: Option<Difference>) -> Option<ChangeInsight> {
    let bytes = fullest(source, target)?;
    let what = match (peak?.change()?.signum(), bytes.change()?.signum()) {
        (-1, 1) => "Although the peak is lower the fullest tile is fuller, by imbalance or gaps",
        (1, -1) => "Although the peak is higher the fullest tile is less full, by balance or gaps",
        _ => return None,
    };
    Some(insight(ChangeKind::Balance, what, bytes))
}

fn cycles(source: &Report, target: &Report) -> Option<ChangeInsight> {
    let cycles = |report: &Report| report.execution.get()?.cycles;
    let both = Difference::of(Some(cycles(source)?), Some(cycles(target)?));
    let [less, more] =
        ["The recorded runs take fewer cycles", "The recorded runs take more cycles"];
    let what = less_or_more(&both, less, more)?;
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
