//! The verdict in sentences, the same in the window and on a terminal. Sizes are written as the caller writes them.

use super::between::BetweenIpus;
use super::verdict::{CurveVerdict, IpuVerdict, OverCause, TilesFailure, TilesVerdict};
use crate::run::VerdictFigure;
use crate::text::size::Size;
use crate::text::{counted, grouped};

/// How many tiles are over, and where there are several IPUs on which of them.
pub(super) fn over_text(verdict: &TilesVerdict, failure: &TilesFailure, on: &str) -> String {
    let verb = if failure.tiles_over == 1 { "is" } else { "are" };
    let on = match failure.ipus.as_slice() {
        ipus if verdict.ipus.len() > 1 && !ipus.is_empty() => format!("{on} {}", ipu_list(ipus)),
        _ => String::new(),
    };
    let (over, tiles) = (grouped(failure.tiles_over), grouped(verdict.tiles));
    format!("{over} of {tiles} tiles {verb} over{on}")
}

/// What the verdict comes from, in one or two short sentences.
pub(crate) fn verdict_reason(verdict: &TilesVerdict, size: Size<'_>) -> String {
    if let Some(room) = &verdict.room {
        return format!("{} free on the fullest tile, {}", size(room.least_bytes), room.tile);
    }
    let Some(failure) = &verdict.failure else { return "No tile is over its limit".to_owned() };
    let over = over_text(verdict, failure, " on");
    let by = if failure.tiles_over == 1 { "by" } else { "by up to" };
    let worst = size(failure.worst_over_bytes);
    let cause = short_cause(verdict, failure, size).unwrap_or_default();
    format!("{over}, {by} {worst}. {cause}").trim_end().to_owned()
}

fn short_cause(verdict: &TilesVerdict, failure: &TilesFailure, size: Size<'_>) -> Option<String> {
    let worst = verdict.ipus.iter().find(|ipu| Some(ipu.ipu) == failure.worst_ipu)?;
    let of = match verdict.ipus.len() {
        1 => "The curve".to_owned(),
        _ => format!("The curve of IPU {}", worst.ipu),
    };
    Some(match failure.cause? {
        OverCause::Curve => {
            let over = worst.peak_bytes?.saturating_sub(worst.limit_bytes);
            format!("{of} is over, by {} at step {}.", size(over), worst.peak_step?)
        }
        OverCause::Imbalance => match worst.need_more_at_one_step {
            Some(1) => format!("{of} fits, but 1 tile needs more at one step than it has."),
            Some(count) => {
                format!(
                    "{of} fits, but {} tiles need more at one step than they have.",
                    grouped(count)
                )
            }
            None => format!("{of} fits; the load is uneven between tiles."),
        },
        OverCause::Placement => format!("{of} fits; the placement does not."),
    })
}

/// The figures that say most of a verdict.
pub(crate) fn verdict_figures(verdict: &TilesVerdict) -> Vec<VerdictFigure> {
    if let Some(room) = &verdict.room {
        let above = room.above_peak_bytes.map(|bytes| {
            let at = verdict.curve.map_or_else(String::new, |curve| match verdict.ipus.len() {
                1 => format!("step {}", curve.step),
                _ => format!("IPU {}, step {}", curve.ipu, curve.step),
            });
            VerdictFigure::of("Free above the peak", bytes, at)
        });
        let tile = format!("tile {}", room.tile);
        let tile = VerdictFigure::of("Free on the fullest tile", room.least_bytes, tile);
        return std::iter::once(tile).chain(above).map(of_room).collect();
    }
    let Some(failure) = &verdict.failure else { return Vec::new() };
    let over = |title, bytes, note: String| VerdictFigure {
        is_over: true,
        ..of_room(VerdictFigure::of(title, bytes, note))
    };
    let on = format!("on {}", counted(failure.tiles_over, "tile"));
    let without = match failure.would_fit_without_gaps {
        0 => "none fits without".to_owned(),
        1 => "1 tile fits without".to_owned(),
        tiles => format!("{} tiles fit without", grouped(tiles)),
    };
    vec![
        over("Most over", failure.worst_over_bytes, format!("tile {}", failure.worst_tile)),
        over("Over in all", failure.over_bytes, on),
        of_room(VerdictFigure::of("Gaps on these tiles", failure.gap_bytes, without)),
    ]
}

fn of_room(figure: VerdictFigure) -> VerdictFigure {
    VerdictFigure { is_of_room: true, ..figure }
}

/// Why it does not fit, or how much room there is.
pub(crate) fn verdict_sentences(verdict: &TilesVerdict, size: Size<'_>) -> Vec<String> {
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
    sentences.extend(cause_sentence(verdict, failure));
    if failure.cause.is_some_and(|cause| cause != OverCause::Curve) {
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

fn cause_sentence(verdict: &TilesVerdict, failure: &TilesFailure) -> Option<String> {
    let worst = verdict.ipus.iter().find(|ipu| Some(ipu.ipu) == failure.worst_ipu)?;
    let on = match verdict.ipus.len() {
        1 => "The".to_owned(),
        _ => format!("On IPU {} the", worst.ipu),
    };
    match failure.cause? {
        OverCause::Curve => None,
        OverCause::Imbalance => {
            let tiles = match worst.need_more_at_one_step {
                Some(1) => "1 tile needs".to_owned(),
                Some(tiles) => format!("{} tiles need", grouped(tiles)),
                None => "some tiles need".to_owned(),
            };
            Some(format!(
                "{on} curve fits, but {tiles} more at one step than a tile has: imbalance"
            ))
        }
        OverCause::Placement => Some(format!(
            "{on} curve fits, and no tile needs more at any one step than it has: the placement \
             is too large, because of gaps and because variables that never live together share \
             no addresses"
        )),
    }
}

fn gaps_sentence(failure: &TilesFailure, size: Size<'_>) -> String {
    let reasons: Vec<String> = failure
        .gaps
        .iter()
        .flatten()
        .map(|lost| {
            let tiles = counted(lost.tiles, "tile");
            format!("{} {} on {tiles}", lost.reason.key(), size(lost.bytes))
        })
        .collect();
    let of = match failure.gaps_of_tiles {
        count if count < failure.tiles_over => {
            format!("of the {} examined: ", counted(count, "tile"))
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
