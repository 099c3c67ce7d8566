//! Memory: temporaries, what is always live, the trade between both, and the fullest tile.

use super::fit::FitOfBoth;
use super::{ChangeEvidence, ChangeInsight, ChangeKind, largest};
use crate::analysis::comparison::contribution::LifePart;
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::figures::difference::Difference;

fn changed(
    kind: ChangeKind,
    [less, more]: [&'static str; 2],
    evidence: ChangeEvidence,
    figure: Difference,
    fit: &FitOfBoth,
) -> Option<ChangeInsight> {
    let change = figure.change().filter(|change| *change != 0)?;
    let is_better = fit.is_less_better().then_some(change < 0);
    let what = if change < 0 { less } else { more };
    Some(ChangeInsight::new(kind, what, is_better).with([evidence]))
}

/// What is not always live at the peaks. Where the peak has moved, they are of different steps, so that no
/// operation says what the change consists of.
pub fn temporaries(
    explanation: &Explanation,
    fit: &FitOfBoth,
    has_moved: bool,
) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(LifePart::NotAlwaysLive);
    let words = ["Temporaries are smaller at the peak", "Temporaries are larger at the peak"];
    let evidence = ChangeEvidence::bytes("not_always_live_bytes", bytes).titled("Not always live");
    let insight = changed(ChangeKind::Temporaries, words, evidence, bytes, fit)?;
    let operations = explanation.by_owner.as_ref().and_then(|owner| owner.operations.as_ref());
    let operations = operations.filter(|_| !has_moved);
    let largest = operations.map(|rows| largest(rows, LifePart::NotAlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight })
}

pub fn always_live(explanation: &Explanation, fit: &FitOfBoth) -> Option<ChangeInsight> {
    let bytes = explanation.whole.of(LifePart::AlwaysLive);
    let words = ["Less is always live", "More is always live"];
    let evidence = ChangeEvidence::bytes("always_live_bytes", bytes).titled("Always live");
    let insight = changed(ChangeKind::AlwaysLive, words, evidence, bytes, fit)?;
    let categories = explanation.by_category.as_ref();
    let largest = categories.map(|rows| largest(rows, LifePart::AlwaysLive)).unwrap_or_default();
    Some(ChangeInsight { largest, ..insight })
}

/// Where temporaries went one way and always live the other: which outweighs. It is worth it only where it
/// decides that the program fits, for a lower peak is worth nothing by itself.
pub fn trade(explanation: &Explanation, fit: &FitOfBoth) -> Option<ChangeInsight> {
    let part = |part| explanation.whole.of(part).change();
    let (temporaries, always_live) = (part(LifePart::NotAlwaysLive)?, part(LifePart::AlwaysLive)?);
    if temporaries.signum() * always_live.signum() >= 0 || !fit.is_same_machine {
        return None;
    }
    let peak = explanation.whole.of(LifePart::All);
    let (less, more, names) = if temporaries < 0 {
        (temporaries, always_live, ("temporaries", "always live"))
    } else {
        (always_live, temporaries, ("always live", "temporaries"))
    };
    let ratio = less.unsigned_abs() as f64 / more.unsigned_abs().max(1) as f64;
    let is_lower = peak.change()? < 0;
    let over = fit.over().change();
    let (worth, is_better) = match (fit.fits(), over) {
        ([Some(false), Some(true)], _) if is_lower => {
            ("The trade was worth it: it fits now", Some(true))
        }
        ([Some(true), Some(false)], _) => {
            ("The trade was not worth it: it no longer fits", Some(false))
        }
        ([Some(false), Some(false)], Some(change)) if change < 0 => {
            ("The trade was not enough: it still does not fit", None)
        }
        ([Some(false), Some(false)], Some(change)) if change > 0 => {
            ("The trade was not worth it: tiles are over by more", Some(false))
        }
        ([Some(true), Some(true)], _) => ("The trade is no gain by itself: both fit", None),
        _ => ("Memory was traded", None),
    };
    let what = format!("{worth}: {ratio:.1} bytes less {} for each byte more {}", names.0, names.1);
    let evidence = ChangeEvidence::bytes("peak_bytes", peak).titled("The peak");
    Some(ChangeInsight::new(ChangeKind::Trade, what, is_better).with([evidence]))
}

pub fn balance(peak: Option<Difference>, fit: &FitOfBoth) -> Option<ChangeInsight> {
    if !fit.is_same_machine {
        return None;
    }
    let bytes = fit.fullest;
    let words = match (peak?.change()?.signum(), bytes.change()?.signum()) {
        (-1, 1) => "The peak is lower, but the fullest tile is fuller, by imbalance or gaps",
        (1, -1) => "The peak is higher, but the fullest tile is less full, by balance or gaps",
        _ => return None,
    };
    let evidence = ChangeEvidence::bytes("fullest_tile_including_gaps_bytes", bytes);
    let evidence = evidence.titled("The fullest tile, with gaps");
    changed(ChangeKind::Balance, [words; 2], evidence, bytes, fit)
}
