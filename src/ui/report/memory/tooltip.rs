//! What the pointer learns of a tile.

use eframe::egui;
use eframe::egui::RichText;

use super::select::tile_text;
use super::stack::Stack;
use crate::analysis::memory::{cell, gap_bytes};
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::text::shortened;
use crate::ui::report::{against_limit, bytes_or_dash, tooltip_facts_ui};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Longest name of a part.
const LONGEST_TITLE: usize = 60;

/// Draws the facts of the tile in a row, with its parts.
pub fn tile_ui(
    ui: &mut egui::Ui,
    report: &Report,
    memory: &TileMemory,
    stack: Option<&Stack>,
    row: usize,
) {
    let Some(tile) = memory.tiles.get(row) else { return };
    let (target, units) = (report.target.get(), Units::now(ui));
    ui.label(RichText::new(tile_text(target, tile)).strong());
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
    if let Some(stack) = stack {
        let parts: Vec<_> = stack
            .at(row)
            .into_iter()
            .map(|(title, bytes)| (shortened(title, LONGEST_TITLE), units.bytes(bytes)))
            .collect();
        let facts: Vec<_> = parts.iter().map(|(title, bytes)| (&**title, bytes.clone())).collect();
        ui.separator();
        if facts.is_empty() {
            ui.weak("The parts of this tile are not known");
        }
        tooltip_facts_ui(ui, "tile parts", &facts);
        ui.separator();
    }
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
