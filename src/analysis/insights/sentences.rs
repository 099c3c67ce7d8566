//! The verdict in sentences, the same in the window and on a terminal. Sizes are written as the caller writes them.

use super::between::BetweenIpus;
use super::verdict::{Cause, CurveVerdict, Failure, IpuVerdict, Verdict};
use crate::analysis::memory::selection::TileSelection;
use crate::text::{count_of, grouped};

/// How a number of bytes is written.
pub(crate) type Size<'a> = &'a dyn Fn(u64) -> String;

/// The verdict in one line.
pub(crate) fn verdict_title(verdict: &Verdict) -> String {
    let Some(failure) = &verdict.failure else { return "It fits".to_owned() };
    let verb = if failure.tiles_over == 1 { "is" } else { "are" };
    let on = match failure.ipus.as_slice() {
        ipus if verdict.ipus.len() > 1 && !ipus.is_empty() => format!(", on {}", ipu_list(ipus)),
        _ => String::new(),
    };
    let (over, tiles) = (grouped(failure.tiles_over), grouped(verdict.tiles));
    format!("It does not fit: {over} of {tiles} tiles {verb} over{on}")
}

/// Why it does not fit, or how much room there is.
pub(crate) fn verdict_sentences(verdict: &Verdict, size: Size<'_>) -> Vec<String> {
    let several = verdict.ipus.len() > 1;
    let mut sentences = Vec::new();
    if let Some(room) = &verdict.room {
        let (least, tile) = (size(room.least_bytes), room.tile);
        sentences.push(format!("{least} are left on the fullest tile ({tile})"));
    }
    sentences.extend(verdict.curve.map(|curve| curve_sentence(&curve, several, size)));
    let Some(failure) = &verdict.failure else { return sentences };
    let over = size(failure.over_bytes);
    let (worst, tile) = (size(failure.worst_over_bytes), failure.worst_tile);
    sentences.push(format!("{over} over the limit in all; most on tile {tile}: {worst}"));
    sentences.extend(cause_sentence(failure, several));
    if failure.cause.is_some_and(|cause| cause != Cause::Curve) {
        sentences.push(gaps_sentence(failure, size));
    }
    sentences.extend(failure.between_ipus.as_ref().map(|found| between_sentence(found, size)));
    sentences
}

/// IPUs by their numbers: `IPU 0, IPU 2`.
pub(crate) fn ipu_list(ipus: &[u32]) -> String {
    let titles: Vec<String> = ipus.iter().map(|ipu| format!("IPU {ipu}")).collect();
    titles.join(", ")
}

/// Whether an IPU fits, or by what it fails.
pub(crate) fn ipu_verdict_word(ipu: &IpuVerdict) -> &'static str {
    match (ipu.fits, ipu.cause) {
        (true, _) => "fits",
        (false, Some(cause)) => cause.word(),
        (false, None) => "does not fit",
    }
}

fn curve_sentence(curve: &CurveVerdict, several: bool, size: Size<'_>) -> String {
    let of = if several { format!("of IPU {}", curve.ipu) } else { "of the curve".to_owned() };
    let verb = if curve.fits() { "is within" } else { "is above" };
    let (bytes, limit) = (size(curve.bytes), size(curve.limit_bytes));
    format!("The peak {of}, {bytes} at step {}, {verb} its {limit}", curve.step)
}

fn cause_sentence(failure: &Failure, several: bool) -> Option<String> {
    let on = match failure.worst_ipu {
        Some(ipu) if several => format!("On IPU {ipu} the"),
        _ => "The".to_owned(),
    };
    match failure.cause? {
        Cause::Curve => None,
        Cause::Imbalance => {
            let tiles = failure.need_more_at_one_step.map_or("some tiles need".to_owned(), |tiles| {
                count_of(tiles, "tile needs", "tiles need")
            });
            Some(format!("{on} curve fits, but {tiles} more at one step than a tile has: imbalance"))
        }
        Cause::Placement => Some(format!(
            "{on} curve fits, and no tile needs more at any one step than it has: gaps, and variables that \
             never live together but share no addresses, make it too much (placement)"
        )),
    }
}

fn gaps_sentence(failure: &Failure, size: Size<'_>) -> String {
    let reasons: Vec<String> = failure
        .gaps
        .iter()
        .flatten()
        .map(|lost| {
            let tiles = count_of(lost.tiles, "tile", "tiles");
            format!("{} {} on {tiles}", lost.reason.key(), size(lost.bytes))
        })
        .collect();
    let looked_at = failure.gaps_of.as_ref().and_then(|tiles| tiles.parse::<TileSelection>().ok());
    let of = match looked_at.map(|tiles| tiles.count()) {
        Some(count) if count < failure.tiles_over => {
            format!("of the {} tiles looked at: ", grouped(count))
        }
        _ => String::new(),
    };
    let reasons =
        if reasons.is_empty() { String::new() } else { format!(" ({of}{})", reasons.join(", ")) };
    let would_fit = match failure.would_fit_without_gaps {
        0 => "none of them would fit even without gaps".to_owned(),
        tiles => format!("without any gap {} of them would fit", grouped(tiles)),
    };
    format!("{} are lost to gaps on these tiles{reasons}; {would_fit}", size(failure.gap_bytes))
}

fn between_sentence(found: &BetweenIpus, size: Size<'_>) -> String {
    let room = if found.has_room() { "have room" } else { "have room only" };
    format!(
        "Imbalance between IPUs: about {} ({:.1} %) would have to move from {}; the others ({}) {room} for {}",
        size(found.move_bytes),
        found.percent(),
        ipu_list(&found.full),
        ipu_list(&found.others),
        size(found.room_bytes)
    )
}
