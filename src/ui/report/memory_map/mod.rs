//! The memory map: every variable of a tile at its address, with the gaps between and why they are.

mod choices;
mod hatch;
mod paint;
pub mod pair;
mod picture;
mod read;
mod reasons;
mod search;
mod steps;
mod tables;
mod tile;
mod tooltip;
mod words;

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use super::{PageContext, tables_height};
use crate::store::memory::TileMemory;
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::Choices;
use paint::Scene;
pub use picture::Hit;
use picture::{PictureOf, picture_ui};
use read::{AtStep, Marks};
pub use read::{Origin, Reading, TileData};
pub use steps::steps_ui;
use tables::{Chosen, Tables};
pub use tile::{TileChoice, facts_ui};
pub use tooltip::hit_ui;
pub use words::reason_title;

/// Least height of the picture with what is above it, points.
const PICTURE: f32 = 200.0;
/// What is shown beside something that fills the picture, as a part of its size.
const MARGIN: f64 = 0.25;

/// What the Memory page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryView {
    /// Bytes of every tile.
    #[default]
    Tiles,
    /// The addresses of one tile.
    OneTile,
    /// The addresses of one tile over all steps.
    AddressSteps,
    /// The addresses of all tiles.
    AllTiles,
    /// The tiles as a grid.
    Grid,
    /// What has changed, tile by tile and category by category; of two reports only.
    Differences,
}

/// A view with its title and its accessible name.
type NamedView = (MemoryView, &'static str, &'static str);

/// What there is to see of one report.
const VIEWS: [NamedView; 5] = [
    (MemoryView::Tiles, "Tiles", "View of tiles"),
    (MemoryView::OneTile, "Map of a tile", "View of a tile's map"),
    (MemoryView::AddressSteps, "Address × step", "View of addresses over steps"),
    (MemoryView::AllTiles, "Map of all tiles", "View of the map of all tiles"),
    (MemoryView::Grid, "Grid", "View of the grid of tiles"),
];

/// Draws the title of the Memory page with the choice of what it shows.
pub fn views_ui(ui: &mut egui::Ui, view: &mut MemoryView) {
    choice_ui(ui, view, &VIEWS);
}

/// The same of two reports.
pub fn views_of_two_ui(ui: &mut egui::Ui, view: &mut MemoryView) {
    let [tiles, rest @ ..] = VIEWS;
    let differences = (MemoryView::Differences, "Differences", "View of the map of differences");
    let [tile, steps, all, grid] = rest;
    choice_ui(ui, view, &[tiles, differences, tile, steps, all, grid]);
}

fn choice_ui(ui: &mut egui::Ui, view: &mut MemoryView, views: &[NamedView]) {
    ui.heading("Memory");
    ui.add_space(4.0);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (which, title, name) in views.iter().copied() {
            let is_on = *view == which;
            let entry = ui.selectable_label(is_on, title);
            entry.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_on, name));
            if is_on {
                let stroke = egui::Stroke::new(2.0, Tokens::now(ui).accent);
                let line = entry.rect.x_range().shrink(4.0);
                ui.painter().hline(line, entry.rect.bottom(), stroke);
            }
            if entry.clicked() {
                *view = which;
                ui.request_repaint();
            }
        }
    });
}

/// What the map remembers.
#[derive(Debug, Default)]
pub struct MemoryMap {
    tile: TileChoice,
    reading: Reading,
    choices: Choices,
    search: search::Search,
    view: View,
    /// The tile that the view is of.
    viewed: Option<crate::store::TileId>,
    toolbar: Toolbar,
    overview: BinCache,
    hatching: hatch::Hatching,
    tables: Tables,
    /// The row of the variable that was chosen.
    chosen: Option<u32>,
}

impl MemoryMap {
    /// Draws the map of a tile.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
        view: &mut MemoryView,
    ) {
        let tile = self.tile.tile(page.report, &page.selection.tiles, memory);
        let origin = Origin { report: Arc::clone(page.report), other: None };
        let data = self.reading.tile(ui.ctx(), &origin, tile);
        let step = page.selection.step();
        ui.horizontal(|ui| {
            views_ui(ui, view);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.choices.ui(ui, step.is_some());
            });
        });
        let Some(data) = data else {
            ui.horizontal(|ui| self.tile.ui(ui, page, memory));
            match self.reading.why_not() {
                Some(why_not) => absent_ui(ui, "The map is not in this report", why_not),
                None => absent_ui(ui, "The tile is being read", ""),
            }
            return;
        };
        self.follow(page, &data);
        let marks = self.reading.marks(
            ui.ctx(),
            page.report,
            &data,
            (&self.search.text, page.selection.variable.as_deref()),
        );
        ui.horizontal(|ui| {
            self.tile.ui(ui, page, memory);
            ui.separator();
            if let Some(place) = self.search.ui(ui, &marks)
                && let Some(block) = data.map.blocks.get(place as usize)
            {
                self.choose(page, &data, Some(block.row));
                self.show(&data, block.offset..block.end, 3.0);
            }
            ui.separator();
            facts_ui(ui, page.report, &data);
        });
        steps_ui(ui, page, data.peak);
        let step = page.selection.step();
        let at_step =
            step.and_then(|step| self.reading.at_step(ui.ctx(), page.report, &data, step));
        let overview = Overview {
            values: Values::Known(&data.crowd),
            len: data.len(),
            base: 0,
            version: data.version,
            top: data.crowd.iter().max().copied().unwrap_or(0),
            cache: &mut self.overview,
        };
        self.toolbar.ui(ui, "memory map", &mut self.view, overview, page.commands);
        let max = (ui.available_height() - PICTURE).max(80.0);
        let chosen = split::below(ui, "memory map tables", tables_height(ui), 60.0..=max, |ui| {
            self.tables.ui(ui, page, &data, at_step.as_ref(), self.chosen)
        });
        match chosen {
            Some(Chosen::Gap(bytes)) => self.show(&data, bytes, 1.0),
            Some(Chosen::Variable(row)) => {
                self.choose(page, &data, Some(row));
                if let Some(bytes) = bytes_of(&data, row) {
                    self.show(&data, bytes, 1.0);
                }
            }
            None => {}
        }
        egui::CentralPanel::default()
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { bottom: 6, ..Default::default() }),
            )
            .show(ui, |ui| self.picture_ui(ui, page, &data, at_step.as_deref(), &marks));
    }

    /// Forgets what belongs to another tile or to another selection.
    fn follow(&mut self, page: &PageContext<'_>, data: &TileData) {
        if self.viewed != Some(data.tile) {
            self.viewed = Some(data.tile);
            self.view.reset();
            self.chosen = None;
        }
        let name = self.chosen.and_then(|row| data.unlowered_name(page.report, row));
        if name.is_some() && name != page.selection.variable {
            self.chosen = None;
        }
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        data: &Arc<TileData>,
        at_step: Option<&AtStep>,
        marks: &Marks,
    ) {
        let step = page.selection.step();
        let legend = self.choices.legend_ui(ui, page.report, data, step);
        let interleaved = page.report.target.get().and_then(|target| target.interleaved_start);
        let scene = Scene { data, at_step, marks, chosen: self.chosen, interleaved };
        let value = value_text(data, self.chosen, Units::now(ui));
        let of = PictureOf {
            name: "Memory map of a tile",
            value: &value,
            len: data.len(),
            has_keys: true,
            pointed: None,
        };
        let answer = picture_ui(ui, &mut self.view, &mut self.hatching, scene, &self.choices, of);
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(legend.union(answer.rect));
        if let Some(hit) = answer.hovered {
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| tooltip::hit_ui(ui, page.report, data, scene.gaps(), hit));
        }
        let bytes = |hit: Hit| match hit {
            Hit::Variable(row) => bytes_of(data, row),
            Hit::Gap(place) => scene.gaps().get(place).map(|gap| gap.bytes.clone()),
            Hit::Ground => None,
        };
        if let Some(bytes) = answer.zoomed.and_then(bytes) {
            self.show(data, bytes, MARGIN);
        }
        if let Some(clicked) = answer.clicked {
            let row = match clicked {
                Hit::Variable(row) => Some(row),
                _ => None,
            };
            self.choose(page, data, row);
        }
    }

    /// Chooses a variable, which selects the one that it was lowered from.
    fn choose(&mut self, page: &mut PageContext<'_>, data: &TileData, row: Option<u32>) {
        self.chosen = row;
        page.selection.variable = row.and_then(|row| data.unlowered_name(page.report, row));
    }

    /// Lets bytes fill the picture, with a margin as a part of their number.
    fn show(&mut self, data: &TileData, bytes: Range<u64>, margin: f64) {
        let size = (bytes.end.saturating_sub(bytes.start) as f64).max(1.0);
        let (start, end) = (bytes.start as f64 - 0.5, bytes.end as f64 - 0.5);
        self.view.show(data.len(), start - size * margin, end + size * margin);
    }
}

fn bytes_of(data: &TileData, row: u32) -> Option<Range<u64>> {
    let variable = data.variables.placements.get(row as usize)?;
    Some(variable.offset..variable.end())
}

/// What is chosen, for those who cannot see the picture.
fn value_text(data: &TileData, chosen: Option<u32>, units: Units) -> String {
    let variable = chosen.and_then(|row| Some((row, bytes_of(data, row)?)));
    let Some((row, bytes)) = variable else { return format!("Tile {}", data.tile) };
    let name = crate::text::shortened(data.name(row), 100);
    format!("{name}, {} at address {}", units.exact(bytes.end - bytes.start), bytes.start)
}
