//! Memory: bytes of every tile as a picture, and where they go as tables.

mod axis;
mod choices;
mod compute;
mod details;
mod over_tiles;
pub mod pair;
mod picture;
mod select;
mod shown;
mod stack;
mod tabs;
mod tiles;
mod tooltip;
mod variables;

use eframe::egui;
use eframe::egui::{Label, RichText};
use std::sync::Arc;

use super::address_steps::AddressStepsView;
use super::chip_map::ChipMapView;
use super::memory_map::{MemoryMap, MemoryView, views_ui};
use super::tile_grid::TileGridView;
use super::{PageContext, RunsContext, is_limit_near, part_or_reason, tables_height};
use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::runs::Run;
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::facts::absent_ui;
use choices::Choices;
use shown::{Key, Made, TileFigures};

/// Least height of the picture with what is above it, points.
const PICTURE: f32 = 220.0;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct MemoryPage {
    choices: Choices,
    made: Latest<Key, Option<Made>>,
    picture: picture::TilePicture,
    selecting: select::Selecting,
    tabs: tabs::Tabs,
    view: MemoryView,
    map: MemoryMap,
    all_tiles: ChipMapView,
    address_steps: AddressStepsView,
    grid: TileGridView,
}

impl MemoryPage {
    /// Draws a map, where that is shown; says whether it is.
    pub fn maps_ui(&mut self, ui: &mut egui::Ui, page: &mut RunsContext<'_>) -> bool {
        let has_memory =
            |run: &Run| run.report.memory.get().is_some_and(|memory| !memory.tiles.is_empty());
        if !page.runs.iter().all(has_memory) {
            return false;
        }
        let view = &mut self.view;
        match view {
            MemoryView::OneTile => self.map.ui(ui, page, |ui| views_ui(ui, view, false)),
            MemoryView::AddressSteps => {
                self.address_steps.ui(ui, page, |ui| views_ui(ui, view, false));
            }
            MemoryView::AllTiles => {
                ui.horizontal(|ui| {
                    views_ui(ui, view, false);
                    map_of_tile_ui(ui, &page.selection.tiles, view);
                });
                self.all_tiles.ui(ui, page);
            }
            _ => return false,
        }
        true
    }

    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let found = part_or_reason(ui, &report.memory, page.is_working, "Memory");
        let Some(memory) = found else { return };
        if memory.tiles.is_empty() {
            absent_ui(ui, "No tiles", "The report lists none");
            return;
        }
        if self.view == MemoryView::Grid {
            return self.grid_ui(ui, page, memory);
        }
        let before = self.made.last().and_then(|(_, made)| made.clone());
        let (key, for_job) = (self.choices.key.clone(), Arc::clone(report));
        let work = move |_: &_| Made::new(&for_job, &key, before);
        self.made.ask("arrange tiles", ui.ctx(), &self.choices.key, work);
        // After the question: this frame shows what has come, for no other may follow.
        let Some(made) = self.made.last().and_then(|(_, made)| made.clone()) else {
            ui.weak(self.made.failure().unwrap_or(""));
            return;
        };
        let shown = &*made.shown;
        self.selecting.follow(&page.selection.tiles, &shown.axis, &[memory]);

        let limit = report.target.get().and_then(|target| target.bytes_per_tile);
        let is_scaled = limit.map(|limit| {
            let wanted = self.choices.is_scaled_to_limit;
            self.choices.has_limit
                && wanted.unwrap_or_else(|| is_limit_near(shown.figures.top(), limit))
        });
        let before = self.choices.key.clone();
        let view = &mut self.view;
        self.choices.head_ui(ui, &shown.axis.ipus, is_scaled, |ui| views_ui(ui, view, false));
        if !self.choices.key.has_tiles_of(&before) {
            self.picture.view.reset();
        }
        if self.selecting.ui(ui, report.target.get(), &memory.tiles, &mut page.selection.tiles) {
            self.picture.reveal = page.selection.tiles.first();
        }
        statistics_ui(ui, report, &shown.figures);
        ui.add_space(2.0);
        let max = (ui.available_height() - PICTURE).max(80.0);
        split::below(ui, "memory details", tables_height(ui), 60.0..=max, |ui| {
            let chosen = self.tabs.ui(ui, page, memory, &made.shown, &mut self.selecting);
            self.picture.reveal = self.picture.reveal.take().or(chosen);
        });
        egui::CentralPanel::default()
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() }),
            )
            .show(ui, |ui| {
                let scaled = limit.filter(|_| is_scaled == Some(true));
                let parts = picture::Parts { memory, made: &made, limit, scaled };
                self.picture.ui(ui, page, &parts, &mut self.choices, &mut self.selecting);
            });
    }
}

impl MemoryPage {
    /// The tiles as a grid.
    fn grid_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, memory: &TileMemory) {
        self.view_ui(ui, page);
        if let Some(tile) = self.grid.ui(ui, page, memory) {
            page.selection.tiles = TileSelection::one(tile);
        }
    }

    /// The choice of what is shown, and the way from a tile to its map.
    fn view_ui(&mut self, ui: &mut egui::Ui, page: &PageContext<'_>) {
        ui.horizontal(|ui| {
            views_ui(ui, &mut self.view, false);
            map_of_tile_ui(ui, &page.selection.tiles, &mut self.view);
        });
    }
}

/// The way from the selected tile to its map.
fn map_of_tile_ui(ui: &mut egui::Ui, selected: &TileSelection, view: &mut MemoryView) {
    if let (1, Some(tile)) = (selected.count(), selected.first()) {
        ui.separator();
        if ui.button(format!("Map of tile {tile}")).clicked() {
            *view = MemoryView::OneTile;
        }
    } else {
        ui.weak("Click a tile to select it");
    }
}

/// Statistics of the tiles that are shown.
fn statistics_ui(ui: &mut egui::Ui, report: &Report, shown: &TileFigures) {
    let (figures, units) = (&shown.statistics, Units::now(ui));
    ui.horizontal_wrapped(|ui| {
        ui.weak("With gaps");
        for (name, bytes) in [
            ("least", figures.min),
            ("median", figures.median),
            ("99th percentile", figures.p99),
            ("most", figures.max),
        ] {
            ui.weak(name);
            let text = bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes));
            let label = ui.add(Label::new(RichText::new(text).strong()).extend());
            if let Some(bytes) = bytes {
                label.on_hover_text(units.exact(bytes));
            }
        }
        if let Some(tile) = shown.fullest {
            ui.weak(format!("(tile {tile})"));
        }
        ui.separator();
        let tiles = grouped(shown.tiles);
        match shown.over_limit {
            Some(0) => {
                ui.add(Label::new(format!("No tile of {tiles} is over the limit")).extend());
            }
            Some(over) => {
                let verb = if over == 1 { "is" } else { "are" };
                let over = format!("{} of {tiles} tiles {verb} over the limit", grouped(over));
                let text = RichText::new(over).strong().color(Tokens::now(ui).bad);
                ui.add(Label::new(text).extend());
            }
            None if report.target.get().is_some_and(|target| target.bytes_per_tile.is_some()) => {
                ui.weak("Of some tiles the bytes are not known");
            }
            None => {
                ui.weak("The limit of a tile is not known");
            }
        }
    });
}
