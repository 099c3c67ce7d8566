//! The cards of an IPU report: each IPU against its own memory, what must go from the worst tiles, and what gaps take.

use super::insights::PoplarInsights;
use super::insights::advice::operation_title;
use super::insights::must_go::{GoingVariable, MustGo};
use super::insights::sentences::ipu_verdict_word;
use super::insights::verdict::{IpuVerdict, OverCause, TilesFailure};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::overflow::LostToGaps;
use crate::run::card::{
    BarColor, BarList, BarRow, Card, CardBar, CardCell, CardColumn, CardNote, CardRow, Link,
};
use crate::run::{Cell, Place};
use crate::store::target::Target;
use crate::store::{DeviceId, TileId};
use crate::text::size::Size;
use crate::text::{counted, grouped};

/// Variables that are named for a tile.
const MOST_VARIABLES: usize = 6;

/// The cards. What must go and gaps by their reasons are there once nothing more comes of what they go by.
pub(super) fn cards(
    found: &PoplarInsights,
    target: Option<&Target>,
    is_final: bool,
    size: Size<'_>,
) -> Vec<Card> {
    let ipus = (found.ipus.len() > 1).then(|| ipus_card(&found.ipus, target));
    let failure = found.verdict.as_ref().and_then(|verdict| verdict.failure.as_ref());
    let must_go = (is_final && !found.must_go.is_empty()).then(|| must_go_card(&found.must_go));
    let gaps = failure.filter(|_| is_final).and_then(|failure| gaps_card(failure, size));
    ipus.into_iter().chain(must_go).chain(gaps).collect()
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A cell that leads to tiles.
fn tiles_cell(cell: Cell, title: String, tiles: &TileSelection) -> CardCell {
    let place = Place { arena: Some(tiles.to_string()), ..Place::default() };
    let hover = "Select in Memory".to_owned();
    CardCell { link: Some(Link { title, hover, place, is_on_map: false }), ..cell.into() }
}

fn ipus_card(ipus: &[IpuVerdict], target: Option<&Target>) -> Card {
    let columns = [
        ("IPU", ""),
        ("Verdict", "Verdict"),
        ("Tiles over", "Tiles over"),
        ("Peak", "Peak"),
        ("Memory", "Memory"),
        ("Fullest tile", "Fullest tile"),
        ("Always live", "Always live"),
        ("Gaps", "Gaps"),
    ];
    let columns = columns.map(|(title, shown)| CardColumn::of(title, Some(shown)));
    let row = |ipu: &IpuVerdict| {
        let scope = Scope::Device(DeviceId(ipu.ipu));
        let tiles = TileSelection::of_scope(scope.tiles(target));
        let name = tiles_cell(text(ipu.ipu.to_string()), format!("IPU {}", ipu.ipu), &tiles);
        let word = CardCell { fits: Some(ipu.fits), ..text(ipu_verdict_word(ipu)).into() };
        let used = ipu.peak_bytes.unwrap_or(0);
        let cells = [
            Cell::Count(ipu.tiles_over),
            ipu.peak_bytes.into(),
            Cell::Bytes(ipu.limit_bytes),
            ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes).into(),
            ipu.always_live_bytes.into(),
            ipu.gap_bytes.into(),
        ];
        let whole = ipu.limit_bytes.saturating_add(ipu.limit_bytes / 8).max(used);
        CardRow {
            cells: [name, word].into_iter().chain(cells.map(CardCell::from)).collect(),
            bar: Some(CardBar { used, unused: 0, whole, limit: Some(ipu.limit_bytes) }),
            ..CardRow::default()
        }
    };
    Card::of_table("devices", "IPUs", columns.to_vec(), ipus.iter().map(row).collect())
}

fn must_go_card(must_go: &[MustGo]) -> Card {
    let of_group =
        |title, shown| CardColumn { is_of_group: true, ..CardColumn::of(title, Some(shown)) };
    let columns = vec![
        of_group("Tile", "Tile"),
        of_group("Over the limit", "Over"),
        of_group("Step", "At"),
        CardColumn { is_wide: true, ..CardColumn::of("Variable", Some("Variable")) },
        CardColumn::of("Operation", None),
        CardColumn::of("Frees", Some("Frees")),
    ];
    let about = "The fewest variables alive at the worst step that together cover the excess";
    let rows = must_go.iter().flat_map(rows_of_worst).collect();
    let about = about.to_owned();
    Card { about, ..Card::of_table("must-go", "What must be freed to fit", columns, rows) }
}

fn rows_of_worst(worst: &MustGo) -> Vec<CardRow> {
    let tile = match worst.tile {
        Some(tile) => {
            let tiles = TileSelection::one(TileId(tile));
            tiles_cell(text(tile.to_string()), String::new(), &tiles)
        }
        None => text("All").into(),
    };
    let over = CardCell { is_over: true, ..Cell::Bytes(worst.over_bytes).into() };
    let step = worst.step.map_or_else(CardCell::default, |step| {
        let place = Place { step: Some(step.into()), ..Place::default() };
        let link = Link { title: format!("Step {step}"), place, ..Link::default() };
        CardCell { link: Some(link), ..Cell::Count(step.into()).into() }
    });
    let of_place = [tile, over, step];
    let row = |variable: Option<&GoingVariable>| {
        let cells = variable.map_or_else(Default::default, |variable| {
            let operation = variable.operation.as_ref().map(operation_title);
            let of = operation.as_ref().map_or_else(String::new, |title| format!(", of {title}"));
            let place = Place { variable: Some(variable.name.clone()), ..Place::default() };
            let hover = format!("{}{of}", variable.name);
            let link = Link { hover, place, ..Link::default() };
            [
                CardCell { link: Some(link), ..text(variable.name.clone()).into() },
                operation.map_or(Cell::Empty, text).into(),
                Cell::Bytes(variable.bytes).into(),
            ]
        });
        CardRow { cells: of_place.iter().cloned().chain(cells).collect(), ..CardRow::default() }
    };
    let mut rows: Vec<CardRow> = worst.variables.iter().map(Some).map(row).collect();
    if rows.is_empty() {
        rows.push(row(None));
    }
    for folded in rows.iter_mut().skip(MOST_VARIABLES) {
        folded.is_folded = true;
    }
    let more = rows.len().saturating_sub(MOST_VARIABLES);
    let more = (more > 0).then(|| format!("and {} more", grouped(more as u64)));
    let rest = "Freeing all of them is not enough: gaps and shared addresses take the rest";
    let rest = (!worst.is_enough).then(|| rest.to_owned());
    let notes: Vec<String> = more.into_iter().chain(rest).collect();
    let last = rows.len().min(MOST_VARIABLES).saturating_sub(1);
    if let Some(last) = rows.get_mut(last).filter(|_| !notes.is_empty()) {
        last.note = Some(notes.join(". "));
    }
    rows
}

/// What gaps take on the tiles that are over, by their reasons, where the curve is not what fails.
fn gaps_card(failure: &TilesFailure, size: Size<'_>) -> Option<Card> {
    let gaps = failure.gaps.as_ref().filter(|gaps| !gaps.is_empty())?;
    let row = |lost: &LostToGaps| {
        let (gaps, tiles) = (counted(lost.count, "gap"), counted(lost.tiles, "tile"));
        let would_fit = grouped(lost.would_fit);
        let hover = format!("{gaps} on {tiles}; {would_fit} would fit without these alone");
        BarRow {
            color: BarColor::Gap,
            cells: [lost.count, lost.tiles, lost.would_fit].map(Cell::Count).to_vec(),
            ..BarRow::of(lost.reason.title(), hover, lost.bytes)
        }
    };
    let not_explained = failure.not_explained_bytes.filter(|bytes| *bytes > 0);
    let not_explained =
        not_explained.map(|bytes| format!("{} more are not explained by liveness", size(bytes)));
    let title = match failure.cause {
        Some(OverCause::Curve) => "Lost to gaps",
        _ => "Why the curve fits and the tiles do not",
    };
    let columns = ["Reason", "Size", "Gaps", "Tiles", "Tiles that would fit without"];
    let whole = gaps.iter().fold(0, |sum, lost| lost.bytes.saturating_add(sum));
    let list = BarList::of(&columns, Some(whole), gaps.iter().map(row).collect());
    Some(Card {
        about: gaps_sentence(failure, size),
        notes: not_explained.into_iter().map(CardNote::from).collect(),
        ..Card::of_bars("gaps", title, vec![list])
    })
}

fn gaps_sentence(failure: &TilesFailure, size: Size<'_>) -> String {
    let of = match failure.gaps_of_tiles {
        count if count < failure.tiles_over => {
            format!("; the reasons are given for the {} that are most over", counted(count, "tile"))
        }
        _ => String::new(),
    };
    let fit = match failure.would_fit_without_gaps {
        0 => "none would fit even without them".to_owned(),
        tiles => format!("without them {} would fit", grouped(tiles)),
    };
    let tiles = counted(failure.tiles_over, "tile");
    format!("{} of gaps on the {tiles}; {fit}{of}", size(failure.gap_bytes))
}
