//! Memory: bytes of every tile as pictures and tables, and what differs between runs.

mod arranged;
mod axis;
mod choices;
mod compute;
mod details;
mod difference_map;
mod difference_paint;
mod inspector;
mod legend;
mod listed;
mod over_tiles;
mod picture;
mod select;
mod series;
mod stack;
mod statistics;
mod tabs;
mod tiles;
mod tooltip;
mod variables;
mod views;

use eframe::egui::{self, Margin};
use std::sync::Arc;

use super::machines::pairing_ui;
use super::{PageContext, have_arenas_ui, is_limit_near, most_of_tables, tables_height};
use crate::analysis::liveness::Scope;
use crate::store::TileId;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::selection::Jump;
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::widget::card::table_card_ui;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::inspector::is_beside;
use crate::views::View;
use arranged::{ArrangedTiles, DividedTiles, TilesChoice, memories};
use choices::MemoryChoices;
use difference_map::DifferenceMapView;
use inspector::TileInspector;
use picture::TilesShown;
use statistics::statistics_ui;
use views::{MemoryView, views_ui};

/// Least height of a page that has an inspector where that is not beside it, points.
const WITH_INSPECTOR: f32 = 760.0;
/// Least height of the pictures with what is above them, points.
const PICTURES: f32 = 220.0;
const NEEDS: Needs = &[Needed::Memory];

#[derive(Default)]
pub struct MemoryPage {
    view: MemoryView,
    choices: MemoryChoices,
    divided: RunsAnswer<TilesChoice, Option<Arc<DividedTiles>>>,
    pictures: picture::MemoryPictures,
    selecting: select::Selecting,
    tabs: tabs::Tabs,
    differences: DifferenceMapView,
    inspector: TileInspector,
    shown: Vec<RunId>,
    /// A tile that shall be visible.
    wanted_tile: Option<TileId>,
}

impl RunsPage for MemoryPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let shown: Vec<RunId> = page.runs.iter().map(|run| run.id).collect();
        if self.shown != shown {
            // Only choices stay.
            let Self { view, choices, wanted_tile, .. } = std::mem::take(self);
            *self = Self { view, choices, shown, wanted_tile, ..Self::default() };
        }
        if !have_arenas_ui(ui, page.runs) || !has_alike(ui, page.runs) {
            return;
        }
        if let Some(tile) = self.wanted_tile.take() {
            self.pictures.reveal = Some(tile);
        }
        self.view = self.view.of(page.runs);
        pairing_ui(ui, page.runs);
        self.tiles_ui(ui, page);
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        // What was read and worked out goes, what was chosen and is visible stays.
        let before = std::mem::take(self);
        let Self { view, mut choices, pictures, tabs, differences, .. } = before;
        choices.series.rename(from, to);
        let rename = |run: RunId| if run == from { to } else { run };
        let shown = before.shown.into_iter().map(rename).collect();
        *self = Self {
            view,
            choices,
            pictures: pictures.of_other_figures(),
            tabs: tabs.of_other_figures(),
            differences: differences.of_other_figures(rename),
            shown,
            ..Self::default()
        };
    }

    fn show_place(&mut self, place: Jump) {
        if let Jump::Tile(tile) = place {
            self.view = MemoryView::Tiles;
            self.wanted_tile = Some(tile);
        }
    }

    fn show_view(&mut self, view: View, scope: Scope) {
        self.view = match view {
            View::MemoryDifferences => MemoryView::Differences,
            _ => MemoryView::Tiles,
        };
        self.choices.tiles.ipu = match scope {
            Scope::Device(device) => Some(device.0),
            _ => None,
        };
    }
}

impl MemoryPage {
    fn tiles_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        let before = self.divided.last(runs).and_then(|(_, divided)| divided.clone());
        let choice = self.choices.tiles.clone();
        let work = move |runs: &Runs, _: &_| {
            DividedTiles::new(runs, &choice, before.as_deref()).map(Arc::new)
        };
        self.divided.ask("arrange tiles", ui.ctx(), (runs, NEEDS), &self.choices.tiles, work);
        // After the question: this frame shows what has come, for no other may follow.
        let Some(divided) = self.divided.last(runs).and_then(|(_, divided)| divided.clone()) else {
            ui.weak(self.divided.failure().unwrap_or(""));
            return;
        };
        let tiles = &divided.tiles;
        let memories = memories(runs).unwrap_or_default();
        self.selecting.follow(&page.selection.tiles, &tiles.axis, &memories);
        let limit = runs.iter().filter_map(|run| run.report.bytes_per_tile()).max();
        let is_scaled = limit.map(|limit| {
            let wanted = self.choices.is_scaled_to_limit;
            self.choices.has_limit && wanted.unwrap_or_else(|| is_limit_near(tiles.top(), limit))
        });
        let has_differences = self.view == MemoryView::Differences;
        self.head_ui(ui, page, tiles, is_scaled);
        let selected = &mut page.selection.tiles;
        let statistics = |ui: &mut egui::Ui| {
            if !has_differences {
                statistics_ui(ui, runs, tiles);
            }
        };
        if self.selecting.ui(ui, runs.machine(), &tiles.axis.tiles, selected, statistics) {
            self.pictures.reveal = selected.first();
        }
        ui.add_space(2.0);
        // Where there is no room for an inspector, tooltips say what it would.
        let has_room = is_beside(ui) || ui.available_height() >= WITH_INSPECTOR;
        if !has_differences && has_room {
            let pointed = self.pictures.hovered().and_then(|position| tiles.axis.tile(position));
            let selected = page.selection.tiles.first().and_then(|_| self.selecting.cursor());
            let fullest = tiles.figures.first().and_then(|figures| figures.fullest);
            self.inspector.ui(ui, page, tiles, pointed.or(selected).or(fullest));
        }
        let max = most_of_tables(ui, PICTURES);
        let share = match runs.pictures().len() {
            _ if has_differences => 0.34,
            1 => 0.42,
            _ => 0.29,
        };
        split::below(ui, "memory details", tables_height(ui, share), 60.0..=max, |ui| {
            let chosen = table_card_ui(ui, |ui| self.tabs.ui(ui, page, tiles, &mut self.selecting));
            self.pictures.reveal = self.pictures.reveal.take().or(chosen);
        });
        split::rest(ui, Margin { bottom: 6, ..Margin::ZERO }, |ui| {
            if has_differences {
                self.differences.ui(ui, page, &divided, &mut self.selecting);
                return;
            }
            let scaled = limit.filter(|_| is_scaled == Some(true));
            let shown = TilesShown { runs, divided: &divided, scaled };
            card_frame(Tokens::now(ui)).inner_margin(Margin::symmetric(10, 8)).show(ui, |ui| {
                ui.set_min_size(ui.available_size());
                self.pictures.ui(ui, page, &shown, &mut self.choices, &mut self.selecting);
            });
        });
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &ArrangedTiles,
        is_scaled: Option<bool>,
    ) {
        let before = self.choices.tiles.clone();
        let view = &mut self.view;
        let is_divided = *view != MemoryView::Differences;
        let runs = page.runs;
        let views = |ui: &mut egui::Ui| views_ui(ui, view, runs);
        self.choices.head_ui(ui, page, tiles, is_divided, is_scaled, views);
        if !self.choices.tiles.has_tiles_of(&before) {
            self.pictures.view.reset();
            self.differences.view.reset();
        }
    }
}

/// Whether the arenas of all runs have figures side by side, as tiles have; says where else they are.
fn has_alike(ui: &mut egui::Ui, runs: &Runs) -> bool {
    let is_absent = |run: &Run| run.report.memory.absence().is_some_and(|it| !it.is_explained());
    let is_alike = !runs.iter().any(is_absent);
    if !is_alike {
        let system = runs.system();
        let why = format!(
            "The {} of a run are of different kinds and sizes: the page Map shows each, of all open runs",
            system.arenas
        );
        absent_ui(ui, &format!("There is no picture of bytes by {}", system.arena_in_text), &why);
    }
    is_alike
}
