//! The inspector of the maps of all tiles: what is on the selected tile, in each run; and how tiles are selected.

use eframe::egui::{self, Modifiers};

use super::MapView;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_details::categories_of_tile;
use crate::analysis::memory::tile_grid::TileFigure;
use crate::analysis::memory::{cell, gap_bytes};
use crate::store::TileId;
use crate::store::memory::TileMemory;
use crate::text::grouped;
use crate::ui::report::category_colors::tile_category;
use crate::ui::report::room::{room_box_ui, room_of};
use crate::ui::report::tile_figures::{figure_title, tile_text};
use crate::ui::report::{PageContext, run_title_ui};
use crate::ui::runs::Run;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, inspector_ui, part_ui, title_ui};

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
            run_ui(ui, run, tile);
        }
    });
    way
}

fn run_ui(ui: &mut egui::Ui, run: &Run, tile: TileId) {
    let report = &run.report;
    let (units, limit) = (Units::now(ui), report.bytes_per_tile());
    let Some(memory) = report.memory.get() else { return };
    let Some(row) = memory.tiles.position(tile) else {
        ui.weak("This run has no such tile");
        return;
    };
    let end = cell(&memory.including_gaps, row);
    if let (Some(end), Some(limit)) = (end, limit) {
        room_box_ui(ui, run, false, room_of(end, limit, units), |ui| {
            let bar = Bar {
                parts: &[(end, Tokens::now(ui).temporary)],
                whole: limit.max(end).saturating_add(limit / 12),
                limit: Some(limit),
            };
            ui.add_space(4.0);
            bar.ui(ui, egui::vec2(ui.available_width(), 10.0));
        });
        ui.add_space(4.0);
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
    categories_ui(ui, memory, row, units);
    ui.add_space(6.0);
}

/// What the tile consists of, as the inspector of Memory has it.
fn categories_ui(ui: &mut egui::Ui, memory: &TileMemory, row: usize, units: Units) {
    let known = categories_of_tile(memory, row);
    let Some(whole) = cell(&memory.total, row).filter(|_| !known.is_empty()) else { return };
    ui.add_space(6.0);
    ui.label(fonts::card_title("By category"));
    for (name, bytes) in known {
        let (color, title) = tile_category(name, Tokens::now(ui));
        let bar = Bar { parts: &[(bytes, color)], whole, limit: None };
        part_ui(ui, &title, &units.bytes(bytes), &bar);
    }
}
