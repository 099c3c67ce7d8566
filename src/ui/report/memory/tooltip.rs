//! What the pointer learns of a tile.

use eframe::egui;
use eframe::egui::RichText;

use crate::analysis::memory::{cell, gap_bytes};
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::ui::report::{against_limit, bytes_or_dash, tooltip_facts_ui};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Draws the facts of the tile in a row.
pub fn tile_ui(ui: &mut egui::Ui, report: &Report, memory: &TileMemory, row: usize) {
    let Some(tile) = memory.tiles.get(row) else { return };
    let (target, units) = (report.target.get(), Units::now(ui));
    let title = match target.and_then(|target| target.ipu_of(tile)) {
        Some(ipu) => format!("Tile {tile} of IPU {ipu}"),
        None => format!("Tile {tile}"),
    };
    ui.label(RichText::new(title).strong());
    let with_gaps = cell(&memory.including_gaps, row);
    tooltip_facts_ui(
        ui,
        "tile facts",
        &[
            ("Without gaps", bytes_or_dash(cell(&memory.total, row), units)),
            ("With gaps", bytes_or_dash(with_gaps, units)),
            ("Gaps", bytes_or_dash(gap_bytes(memory, row), units)),
            ("Always live", bytes_or_dash(cell(&memory.always_live, row), units)),
        ],
    );
    if let (Some(bytes), Some(limit)) = (with_gaps, target.and_then(|target| target.bytes_per_tile))
    {
        let text = against_limit(bytes, limit, units);
        if bytes > limit {
            ui.colored_label(Tokens::now(ui).bad, RichText::new(text).strong());
        } else {
            ui.label(text);
        }
    }
}
