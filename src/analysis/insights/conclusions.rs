//! What follows from the figures of one report and no single one of them says: how much of a tile is always live,
//! whether one IPU can hold the model, whether a single variable is too large for it.

use serde::Serialize;

use super::advice::Evidence;
use super::largest::Largest;
use super::sentences::Size;
use super::verdict::Verdict;
use crate::analysis::comparison::owners::Owners;
use crate::analysis::memory::cell;
use crate::store::{Report, TileId};

/// A sentence that follows from a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Conclusion {
    pub id: &'static str,
    /// A sentence without its full stop.
    pub text: String,
    pub evidence: Vec<Evidence>,
}

/// From how many times its memory on a model is to be split (docs/advice.md, Limits).
const SPLIT_FROM: u64 = 2;

/// The conclusions of a report; none where it is not known whether it fits.
pub(crate) fn conclusions(
    report: &Report,
    verdict: &Verdict,
    largest: &Largest,
    owners: &Owners,
    size: Size<'_>,
) -> Vec<Conclusion> {
    let all = [
        always_live_share(report, verdict, owners),
        split_the_model(verdict, size),
        largest_variable(verdict, largest, size),
    ];
    all.into_iter().flatten().collect()
}

/// What is always live leaves so much of the tile where it is most, and no proportion above that can fit. Said
/// where the report has a higher proportion: with a higher one than now there may be less code, and so more room.
fn always_live_share(report: &Report, verdict: &Verdict, owners: &Owners) -> Option<Conclusion> {
    let memory = report.memory.get()?;
    let rows = 0..memory.tiles.len();
    let (bytes, tile) = rows
        .filter_map(|row| Some((cell(&memory.always_live, row)?, memory.tiles.get(row)?)))
        .reduce(|most, next| if next.0 > most.0 { next } else { most })?;
    let proportions = owners.operations().iter();
    let highest = proportions
        .filter_map(|operation| operation.available_memory_proportion)
        .max_by(f64::total_cmp)?;
    let share = bytes as f64 / verdict.limit_bytes.max(1) as f64;
    // Rounded so that what is said is true: a proportion of the next hundredth does not fit.
    let left = ((1.0 - share).max(0.0) * 100.0).ceil() / 100.0;
    if highest <= left {
        return None;
    }
    let percent = share * 100.0;
    let text = if share >= 1.0 {
        format!("Always-live memory alone takes {percent:.0} % of tile {tile}: no proportion fits")
    } else {
        format!(
            "Always-live memory alone takes {percent:.0} % of tile {tile}; a plan that uses an \
             availableMemoryProportion above {left} cannot fit there"
        )
    };
    Some(Conclusion { id: "always-live-share", text, evidence: vec![on_tile(tile, bytes)] })
}

fn on_tile(tile: TileId, bytes: u64) -> Evidence {
    let tiles = crate::analysis::memory::selection::TileSelection::one(tile);
    Evidence::new("always live on the tile that has most of it").bytes(bytes).on(&tiles)
}

fn split_the_model(verdict: &Verdict, size: Size<'_>) -> Option<Conclusion> {
    let used = |ipu: &super::verdict::IpuVerdict| ipu.used_bytes.unwrap_or(0);
    let worst = verdict.ipus.iter().max_by_key(|ipu| used(ipu))?;
    let (bytes, limit) = (used(worst), worst.limit_bytes.max(1));
    (bytes / SPLIT_FROM > limit).then(|| Conclusion {
        id: "split-the-model",
        text: format!(
            "IPU {} needs {:.1} times its memory, {} of {}: more than twice is a matter of splitting the model, \
             or of a smaller one",
            worst.ipu,
            bytes as f64 / limit as f64,
            size(bytes),
            size(limit)
        ),
        evidence: vec![Evidence::new(format!("used on IPU {}", worst.ipu)).bytes(bytes)],
    })
}

/// Said where what fails is how much there is at once, not how it lies.
fn largest_variable(verdict: &Verdict, largest: &Largest, size: Size<'_>) -> Option<Conclusion> {
    let failure = verdict.failure.as_ref()?;
    (failure.cause == Some(super::verdict::Cause::Curve)).then_some(())?;
    let variable = largest.variable.as_ref()?;
    let limit = verdict.ipus.iter().map(|ipu| ipu.limit_bytes).max()?;
    let (name, bytes) = (&variable.name, size(variable.bytes));
    let (id, text) = if variable.bytes > limit {
        let text = format!("{name} alone is larger than an IPU, {bytes}: it must be split itself");
        ("variable-larger-than-an-ipu", text)
    } else {
        let text = format!("No variable is larger than an IPU; the largest, {name}, takes {bytes}");
        ("no-variable-larger-than-an-ipu", text)
    };
    let evidence = Evidence::new(name.clone()).bytes(variable.bytes).variable(name);
    Some(Conclusion { id, text, evidence: vec![evidence] })
}
