//! The views of Memory that show addresses: the map of a tile and the maps of all tiles.

use std::sync::Arc;

use eframe::egui;

use crate::analysis::liveness::peak;
use crate::analysis::liveness::{Scope, scope_curve::scope_curve};
use crate::analysis::memory::selection::TileSelection;
use crate::ui::job::Latest;
use crate::ui::legacy::with_page;
use crate::ui::report::RunsContext;
use crate::ui::report::chip_map::ChipMapView;
use crate::ui::report::chip_map::pair::ChipMapPair;
use crate::ui::report::memory_map::pair::{MemoryMapPair, slots_ui};
use crate::ui::report::memory_map::{MemoryMap, MemoryView, steps_ui, views_of_two_ui};

/// What the maps remember.
#[derive(Debug, Default)]
pub struct Maps {
    tile: MemoryMap,
    tile_pair: MemoryMapPair,
    all_tiles: ChipMapView,
    all_tiles_pair: ChipMapPair,
    /// The steps of the peaks of everything.
    peaks: Latest<Vec<bool>, Vec<Option<usize>>>,
}

impl Maps {
    /// The map of a tile.
    pub fn tile_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut RunsContext<'_>,
        view: &mut MemoryView,
    ) {
        let runs = Arc::clone(page.runs);
        let Some(memory) = runs.reference().report.memory.get() else { return };
        with_page(page, |page, pair| match pair {
            None => self.tile.ui(ui, page, memory, view),
            Some(pair) => {
                let views = |ui: &mut egui::Ui| views_of_two_ui(ui, view);
                self.tile_pair.ui(ui, (page, pair), memory, views);
            }
        });
    }

    /// The maps of all tiles, with the step that they show.
    pub fn all_tiles_ui(&mut self, ui: &mut egui::Ui, page: &mut RunsContext<'_>) {
        let reports: Vec<_> = page.runs.iter().map(|run| Arc::clone(&run.report)).collect();
        let key = reports.iter().map(|report| report.liveness.is_settled()).collect();
        self.peaks.ask("peaks of liveness", ui.ctx(), &key, move |_| {
            let curve = |report| scope_curve(report, Scope::Everything, &|| false);
            reports.iter().map(|report| peak(&curve(report)?.not_always_live)).collect()
        });
        let peaks = self.peaks.last().map(|(_, peaks)| peaks.clone()).unwrap_or_default();
        let peak = |run: usize| peaks.get(run).copied().flatten();
        with_page(page, |page, pair| match pair {
            None => {
                steps_ui(ui, page, peak(0));
                let step = page.selection.step();
                if let Some(tile) = self.all_tiles.ui(ui, page, step) {
                    page.selection.tiles = TileSelection::one(tile);
                }
            }
            Some(pair) => {
                slots_ui(ui, page, pair, [peak(0), peak(1)], "on all tiles");
                self.all_tiles_pair.ui(ui, page, pair);
            }
        });
    }
}
