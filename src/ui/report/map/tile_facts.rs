//! The inspector of the maps of all tiles: what is on the selected tile, in each run; and how tiles are selected.

use eframe::egui::{self, Modifiers, RichText};

use super::MapView;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_grid::TileFigure;
use crate::analysis::memory::{category_on_tile, category_title, cell, gap_bytes};
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::{grouped, shortened};
use crate::ui::report::category_colors::category_color;
use crate::ui::report::tile_figures::{figure_title, tile_text};
use crate::ui::report::{PageContext, room_of, run_title_ui};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, inspector_ui, part_ui, title_ui};
use crate::ui::widget::sign::answer_ui;

/// Categories that are shown.
const MOST: usize = 9;

/// Selects a tile in place of all others; with Shift all from the first selected one, with Ctrl one more or less.
pub fn select_tile(selected: &mut TileSelection, tile: TileId, modifiers: Modifiers) {
    match selected.first() {
        Some(first) if modifiers.shift => *selected = TileSelection::between(first, tile),
        _ if modifiers.command => selected.toggle(tile),
        _ => *selected = TileSelection::one(tile),
    }
}

/// Docks the inspector of the first selected tile; returns the way to its map.
pub fn tile_inspector_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>) -> Option<MapView> {
    let mut way = None;
    let (runs, selected) = (page.runs, &page.selection.tiles);
    inspector_ui(ui, |ui| {
        let Some(tile) = selected.first() else {
            title_ui(ui, "Tile", "None selected", "Click a tile to select it");
            return;
        };
        let kind = match selected.count() {
            1 => "Selected tile".to_owned(),
            count => format!("First of {} selected tiles", grouped(count)),
        };
        title_ui(ui, &kind, &tile_text(runs.machine(), tile), "");
        if ui.button(format!("Map of tile {tile}")).clicked() {
            way = Some(MapView::OneTile);
        }
        ui.add_space(4.0);
        for run in runs.iter() {
            if !runs.is_one() {
                run_title_ui(ui, run);
            }
            run_ui(ui, &run.report, tile);
        }
    });
    way
}

fn run_ui(ui: &mut egui::Ui, report: &Report, tile: TileId) {
    let (units, limit) = (Units::now(ui), report.bytes_per_tile());
    let Some(memory) = report.memory.get() else { return };
    let Some(row) = memory.tiles.position(tile) else {
        ui.weak("This run has no such tile");
        return;
    };
    let end = cell(&memory.including_gaps, row);
    if let (Some(end), Some(limit)) = (end, limit) {
        let (sign, room) = room_of(end, limit, units);
        ui.horizontal(|ui| answer_ui(ui, sign, &room));
        let bar = Bar {
            parts: &[(end, Tokens::now(ui).temporary)],
            whole: limit.max(end).saturating_add(limit / 12),
            limit: Some(limit),
        };
        ui.add_space(4.0);
        bar.ui(ui, egui::vec2(ui.available_width(), 10.0));
        ui.add_space(6.0);
    }
    for (figure, bytes) in [
        (TileFigure::IncludingGaps, end),
        (TileFigure::Total, cell(&memory.total, row)),
        (TileFigure::Gaps, gap_bytes(memory, row)),
        (TileFigure::AlwaysLive, cell(&memory.always_live, row)),
        (TileFigure::NotAlwaysLiveMax, cell(&memory.not_always_live_max, row)),
    ] {
        let text = bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes));
        fact_ui(ui, &figure_title(&figure), &text);
    }
    categories_ui(ui, memory, tile, units);
    ui.add_space(6.0);
}

/// What the tile consists of, most bytes first.
fn categories_ui(ui: &mut egui::Ui, memory: &TileMemory, tile: TileId, units: Units) {
    let bytes_of = |category| {
        let bytes = category_on_tile(category, tile);
        Some(bytes.not_overlapped?.saturating_add(bytes.overlapped?))
    };
    let known = memory.categories.iter();
    let mut known: Vec<(&str, u64)> =
        known.filter_map(|category| Some((&*category.name, bytes_of(category)?))).collect();
    known.retain(|(_, bytes)| *bytes > 0);
    if known.is_empty() {
        return;
    }
    known.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    ui.add_space(6.0);
    ui.label(RichText::new("Variables by category").font(fonts::semibold(13.0)));
    ui.label(fonts::caption("each counted once, also where they share addresses").weak());
    let whole = known.first().map_or(1, |(_, bytes)| *bytes);
    let tokens = Tokens::now(ui);
    for (name, bytes) in known.into_iter().take(MOST) {
        let parts = [(bytes, category_color(name, tokens))];
        let bar = Bar { parts: &parts, whole, limit: None };
        part_ui(ui, &category_title(&shortened(name, 40)), &units.bytes(bytes), &bar);
    }
}
