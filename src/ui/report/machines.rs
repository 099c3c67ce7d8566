//! Tiles of several runs beside each other: whether there are any, and what pairs of different machines mean.

use eframe::egui;

use crate::analysis::comparison::machine::are_same_machine;
use crate::ui::runs::{Run, Runs};

/// Whether all runs have memory by tile.
pub fn has_tiles(runs: &Runs) -> bool {
    let has_tiles = |run: &Run| run.report.memory.get().is_some_and(|it| !it.tiles.is_empty());
    runs.iter().all(has_tiles)
}

/// Says how tiles of different machines are paired, for none of one does what one of the other does.
pub fn pairing_ui(ui: &mut egui::Ui, runs: &Runs) {
    let first = &runs.reference().report;
    if has_tiles(runs) && runs.iter().any(|run| !are_same_machine([first, &run.report])) {
        let tile = runs.system().arena_in_text;
        ui.weak(format!(
            "Different machines: each {tile} is paired with that of the same number, only by \
             number, and is checked against its own limit"
        ));
    }
}
