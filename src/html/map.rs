//! What lies where over the steps, as a picture of cells.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::palette::GroupColors;
use crate::analysis::derived::Derived;
use crate::progress::Progress;
use crate::run::arena_map::{CellKind, MapCells, MapWindow};
use crate::run::{ArenaMap, ArenasOf};
use crate::text::{bytes, clean, counted};

/// Cells along the steps and along the addresses of the only map of a page; of several each has fewer.
const CELLS: [usize; 2] = [360, 120];

/// The map of the device that is looked at first; nothing of a run without one. `of` are the runs of the page.
pub(super) fn map_markup(
    derived: &Derived,
    palette: &GroupColors,
    of: usize,
    progress: &Progress,
) -> Markup {
    let answers = derived.answers();
    let titles = answers.arena_maps(derived);
    let device = answers.first_arena_map(derived, None);
    let wanted = ArenasOf { device, selected: Vec::new() };
    let map = (!titles.is_empty()).then(|| answers.arena_map(derived, &wanted, progress)).flatten();
    let drawn = map.and_then(|map| Some((drawn(&*map, palette, of, progress)?, map)));
    let Some(((columns, rows, picture), map)) = drawn else { return html! {} };
    let (words, legend) = (derived.report().system, map.legend());
    let shown = map.axis().arenas.iter();
    let whole = shown.clone().fold(0_u64, |sum, arena| sum.saturating_add(arena.bytes));
    let device = titles.get(device).filter(|_| titles.len() > 1);
    let device = device.map_or_else(String::new, |device| format!(", {}", clean(device)));
    let more = match legend.more {
        0 => String::new(),
        more => format!("; {more} more are not shown"),
    };
    let said = format!(
        "{} with {} in all{more}",
        counted(shown.len() as u64, words.arena_in_text),
        bytes(whole)
    );
    html! {
        figure.map {
            figcaption { "Addresses over " (words.steps) (device) span.note { (said) } }
            svg viewBox=(format!("0 0 {columns} {rows}")) preserveAspectRatio="none" shape-rendering="crispEdges" role="img" aria-label=(said) {
                (picture)
            }
            ul.key {
                @for category in &legend.categories {
                    li { i class=(palette.category(category)) {} (clean(category)) }
                }
                li { i.free {} "Free" }
            }
        }
    }
}

/// The picture with its size in cells; `None` of a map without steps or addresses.
fn drawn(
    map: &dyn ArenaMap,
    palette: &GroupColors,
    of: usize,
    progress: &Progress,
) -> Option<(usize, usize, Markup)> {
    let shrunk = (of.max(1) as f64).sqrt();
    let [columns, rows] = CELLS.map(|cells| (cells as f64 / shrunk) as usize);
    let steps = map.steps();
    if steps == 0 || map.axis().arenas.is_empty() {
        return None;
    }
    let window =
        MapWindow { x: (0.0, steps as f64), y: (0.0, map.axis().length as f64), columns, rows };
    let cells = map.cells(window, &|| progress.is_cancelled())?;
    Some((columns, rows, paths(map, &cells, palette)))
}

/// A path for each color, with a rectangle for each run of cells of a row that share it.
fn paths(map: &dyn ArenaMap, cells: &MapCells, palette: &GroupColors) -> Markup {
    let color = |column: usize, row: usize| {
        let (kind, block) = cells.get(column, row)?;
        let category = || {
            let category = map.category(u32::try_from(block?).ok()?)?;
            Some(palette.category(map.legend().categories.get(category)?))
        };
        match kind {
            CellKind::None => None,
            CellKind::Free | CellKind::Rounding => Some("free".to_owned()),
            CellKind::Block | CellKind::Pending | CellKind::Edge => {
                Some(category().unwrap_or_else(|| "rest".to_owned()))
            }
        }
    };
    let mut by_color: BTreeMap<String, String> = BTreeMap::new();
    for row in 0..cells.rows {
        let mut column = 0;
        while column < cells.columns {
            let of_run = color(column, row);
            let mut end = column.saturating_add(1);
            while end < cells.columns && color(end, row) == of_run {
                end = end.saturating_add(1);
            }
            if let Some(color) = of_run {
                let path = by_color.entry(color).or_default();
                let width = end.saturating_sub(column);
                // Writing into a string does not fail.
                let _ = write!(path, "M{column} {row}h{width}v1h-{width}z");
            }
            column = end;
        }
    }
    let mut markup = String::new();
    for (color, path) in by_color {
        let _ = write!(markup, "<path class=\"{color}\" d=\"{path}\"/>");
    }
    PreEscaped(markup)
}
