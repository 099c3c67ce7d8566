//! Conclusions that need several figures of a report: how much of a tile is always live, whether one IPU can hold the
//! model, whether a single variable is too large for it.

use super::verdict::{OverCause, TilesVerdict};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::largest::Largest;
use crate::analysis::memory::cell;
use crate::analysis::memory::selection::TileSelection;
use crate::run::{Conclusion, Evidence};
use crate::store::{Report, TileId};

/// The conclusions of a report; none where it is not known whether it fits.
pub(crate) fn conclusions(
    report: &Report,
    verdict: &TilesVerdict,
    largest: &Largest,
    owners: &Owners,
) -> Vec<Conclusion> {
    let all = [
        always_live_share(report, verdict, owners),
        split_the_model(verdict),
        largest_variable(verdict, largest),
    ];
    all.into_iter().flatten().collect()
}

/// What is always live leaves so much of the tile where it is most, and no proportion above that can fit. Said
/// where the report has a higher proportion: with a higher one than now there may be less code, and so more room.
fn always_live_share(
    report: &Report,
    verdict: &TilesVerdict,
    owners: &Owners,
) -> Option<Conclusion> {
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
    let evidence = vec![on_tile(tile, bytes)];
    Some(Conclusion { evidence, ..Conclusion::new("always-live-share", text) })
}

fn on_tile(tile: TileId, bytes: u64) -> Evidence {
    Evidence::of("always live on the tile that has most of it", bytes)
        .on_tiles(&TileSelection::one(tile))
}

fn split_the_model(verdict: &TilesVerdict) -> Option<Conclusion> {
    let worst = verdict.ipus.iter().max_by_key(|ipu| ipu.used_bytes)?;
    let bytes = worst.used_bytes.filter(|_| worst.needs_split())?;
    let times = bytes as f64 / worst.limit_bytes.max(1) as f64;
    let text = format!(
        "IPU {} needs {times:.1} times its memory. Above twice, split the model or use a smaller one",
        worst.ipu
    );
    let used = Evidence::of(format!("used on IPU {}", worst.ipu), bytes);
    let used = used.at(|place| place.device = Some(worst.ipu.into()));
    Some(Conclusion { evidence: vec![used], ..Conclusion::new("split-the-model", text) })
}

/// Said where what fails is how much there is at once, not how it lies. What is larger than an IPU may lie on
/// several of them: then it is said of one alone.
fn largest_variable(verdict: &TilesVerdict, largest: &Largest) -> Option<Conclusion> {
    let failure = verdict.failure.as_ref()?;
    (failure.cause == Some(OverCause::Curve)).then_some(())?;
    let variable = largest.variable.as_ref()?;
    let limit = verdict.ipus.iter().map(|ipu| ipu.limit_bytes).max()?.max(1);
    let (name, share) = (&variable.name, variable.bytes as f64 / limit as f64);
    let (id, text) = match (variable.bytes > limit, verdict.ipus.len()) {
        (true, 1) => (
            "variable-larger-than-an-ipu",
            format!(
                "{name} alone takes {share:.1} times the memory of an IPU: it must be split itself"
            ),
        ),
        (true, _) => return None,
        (false, _) => (
            "no-variable-larger-than-an-ipu",
            format!(
                "No variable is larger than an IPU; the largest, {name}, takes {:.1} % of one",
                share * 100.0
            ),
        ),
    };
    let evidence = Evidence::of(name.clone(), variable.bytes).of_variable(name);
    Some(Conclusion { evidence: vec![evidence], ..Conclusion::new(id, text) })
}
