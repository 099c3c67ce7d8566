//! The tooltip of a tile.

use eframe::egui::{self, Grid, RichText};
use std::cmp::Reverse;

use super::arranged::DividedTiles;
use crate::analysis::memory::cell;
use crate::analysis::memory::united_tiles::largest_change;
use crate::text::shortened;
use crate::ui::report::room::against_limit;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::report::{bytes_or_dash, change_color, change_text};
use crate::ui::runs::{PerRun, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Longest name of a part.
const LONGEST_TITLE: usize = 40;
/// Longest title of a run of many.
const LONGEST_RUN: usize = 16;

pub fn tile_ui(ui: &mut egui::Ui, runs: &Runs, divided: &DividedTiles, position: usize) {
    let (tiles, units) = (&divided.tiles, Units::now(ui));
    let Some(tile) = tiles.axis.tile(position) else { return };
    ui.label(RichText::new(tile_text(runs.machine(), tile)).strong());
    let whole = tiles.figures_at(runs, Some(position));
    figures_ui(ui, "tile figures", runs, &whole, runs.is_one());
    if divided.stacks.is_some() {
        ui.separator();
        let parts = parts(runs, divided, position);
        if parts.is_empty() {
            ui.weak("The parts of this tile are not known");
        }
        figures_ui(ui, "tile parts", runs, &parts, false);
    }
    ui.separator();
    let with_gaps = whole.first().map_or(&[][..], |(_, bytes)| bytes);
    for (place, (run, bytes)) in runs.iter().zip(with_gaps).enumerate() {
        let limit = run.report.bytes_per_tile();
        let (text, is_over) = match (tiles.row(place, position), bytes, limit) {
            (None, ..) => ("it does not have this tile".to_owned(), false),
            (_, Some(bytes), Some(limit)) => {
                (against_limit(run, *bytes, limit, units), *bytes > limit)
            }
            _ => continue,
        };
        let text = if runs.is_one() { text } else { format!("{}: {text}", run.title) };
        let text = RichText::new(text);
        let bad = Tokens::now(ui).over;
        ui.label(if is_over { text.color(bad).strong() } else { text });
    }
}

/// The parts of the tile: of one run the largest first, of several what has changed most.
fn parts(
    runs: &Runs,
    divided: &DividedTiles,
    position: usize,
) -> Vec<(String, PerRun<Option<u64>>)> {
    let Some(stacks) = &divided.stacks else { return Vec::new() };
    let titles = stacks.first().map_or(&[][..], |stack| &stack.parts[..]).iter();
    let titles = titles.map(|part| shortened(&part.title, LONGEST_TITLE).into_owned());
    let of_part = |(part, title): (usize, String)| {
        let of_run = |(place, stack): (usize, &super::stack::TileStack)| {
            cell(&stack.parts.get(part)?.bytes, divided.tiles.row(place, position)?)
        };
        (title, stacks.iter().enumerate().map(of_run).collect())
    };
    let has_bytes =
        |(_, bytes): &(String, PerRun<Option<u64>>)| bytes.iter().flatten().any(|bytes| *bytes > 0);
    let mut parts: Vec<_> = titles.enumerate().map(of_part).filter(has_bytes).collect();
    parts.sort_by_key(|(_, bytes)| {
        let known = bytes.iter().map(|bytes| Some(bytes.unwrap_or(0)));
        let nothing = runs.is_one().then_some(Some(0));
        Reverse(largest_change(nothing.into_iter().chain(known)))
    });
    parts
}

/// Figures of all runs; of two with the difference, of more in the colors of growth and shrinkage.
fn figures_ui(
    ui: &mut egui::Ui,
    id: &str,
    runs: &Runs,
    figures: &[(impl AsRef<str>, PerRun<Option<u64>>)],
    is_exact: bool,
) {
    let units = Units::now(ui);
    let text = |bytes: Option<u64>| match bytes {
        Some(bytes) if !is_exact => units.bytes(bytes),
        bytes => bytes_or_dash(bytes, units),
    };
    Grid::new(id).spacing([14.0, 2.0]).show(ui, |ui| {
        if !runs.is_one() {
            ui.label("");
            for run in runs.iter() {
                let title = shortened(&run.title, LONGEST_RUN);
                ui.label(RichText::new(title).color(run.color(ui)));
            }
            if runs.len() == 2 {
                ui.weak("Difference");
            }
            ui.end_row();
        }
        for (title, bytes) in figures {
            ui.weak(title.as_ref());
            let first = bytes.first().copied().flatten();
            for bytes in bytes {
                let text = RichText::new(text(*bytes));
                let changed = first.zip(*bytes).filter(|_| runs.len() > 2);
                ui.label(match changed {
                    Some((first, bytes)) => text.color(change_color(ui, first, bytes)),
                    None => text,
                });
            }
            if let [Some(source), Some(target)] = bytes[..] {
                let change = RichText::new(change_text(source, target, units));
                ui.label(change.color(change_color(ui, source, target)));
            }
            ui.end_row();
        }
    });
}
