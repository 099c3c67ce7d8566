//! Memory of two reports: bytes of every tile in both, what differs, and the maps of both.

mod compute;
mod details;
mod listed;
mod made;
mod map;
mod map_paint;
mod picture;
mod series;
mod statistics;
mod tabs;
mod tiles;
mod tooltip;
mod variables;

use std::sync::Arc;

use eframe::egui;
use eframe::egui::Margin;

use super::choices::Choices;
use super::map_of_tile_ui;
use super::select::Selecting;
use super::shown::Key;
use crate::store::memory::TileMemory;
use crate::ui::job::Latest;
use crate::ui::legacy::{Arrangement, Pair, Side};
use crate::ui::report::address_steps::AddressStepsView;
use crate::ui::report::chip_map::ChipMapView;
use crate::ui::report::halves::{report_name, side_title_ui};
use crate::ui::report::memory_map::{MemoryMap, MemoryView, views_ui};
use crate::ui::report::tile_grid::pair::TileGridPair;
use crate::ui::report::{PageContext, RunsContext, is_limit_near, part_or_reason, tables_height};
use crate::ui::runs::Run;
use crate::ui::split;
use crate::ui::widget::facts::absent_ui;
use made::{PairMade, machine};
use map::DifferenceMapView;
use picture::{PairPicture, Parts};
use series::Series;
use statistics::statistics_ui;
use tabs::PairTabs;

/// Least height of the pictures with what is above them, points.
const PICTURES: f32 = 220.0;

/// What the page remembers.
#[derive(Debug)]
pub struct MemoryPairPage {
    view: MemoryView,
    choices: Choices,
    series: Series,
    made: Latest<Key, Option<PairMade>>,
    picture: PairPicture,
    selecting: Selecting,
    tabs: PairTabs,
    map: DifferenceMapView,
    one_tile: MemoryMap,
    all_tiles: ChipMapView,
    address_steps: AddressStepsView,
    grid: TileGridPair,
}

impl Default for MemoryPairPage {
    fn default() -> Self {
        Self {
            view: MemoryView::default(),
            choices: Choices::of_two(),
            series: Series::default(),
            made: Latest::default(),
            picture: PairPicture::default(),
            selecting: Selecting::default(),
            tabs: PairTabs::default(),
            map: DifferenceMapView::default(),
            one_tile: MemoryMap::default(),
            all_tiles: ChipMapView::default(),
            address_steps: AddressStepsView::default(),
            grid: TileGridPair::default(),
        }
    }
}

impl MemoryPairPage {
    /// Forgets what is the other way round now; choices stay.
    pub fn swapped(&mut self) {
        let Self { view, choices, mut series, .. } = std::mem::take(self);
        series.swap();
        *self = Self { view, choices, series, ..Self::default() };
    }

    /// Draws a map, where that is shown; says whether it is.
    pub fn maps_ui(&mut self, ui: &mut egui::Ui, page: &mut RunsContext<'_>) -> bool {
        let has_memory =
            |run: &Run| run.report.memory.get().is_some_and(|memory| !memory.tiles.is_empty());
        if !page.runs.iter().all(has_memory) {
            return false;
        }
        let view = &mut self.view;
        match view {
            MemoryView::OneTile => self.one_tile.ui(ui, page, |ui| views_ui(ui, view, true)),
            MemoryView::AddressSteps => {
                self.address_steps.ui(ui, page, |ui| views_ui(ui, view, true));
            }
            MemoryView::AllTiles => {
                ui.horizontal(|ui| {
                    views_ui(ui, view, true);
                    map_of_tile_ui(ui, &page.selection.tiles, view);
                });
                self.all_tiles.ui(ui, page);
            }
            _ => return false,
        }
        true
    }

    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let Some(memories) = memories(ui, page, pair) else { return };
        match self.view {
            MemoryView::Grid => {
                self.view_ui(ui, page);
                self.grid.ui(ui, page, pair, memories);
            }
            _ => self.tiles_ui(ui, page, pair, memories),
        }
    }

    /// The choice of what is shown, and the way from a tile to its map.
    fn view_ui(&mut self, ui: &mut egui::Ui, page: &PageContext<'_>) {
        ui.horizontal(|ui| {
            views_ui(ui, &mut self.view, true);
            map_of_tile_ui(ui, &page.selection.tiles, &mut self.view);
        });
    }

    /// Bytes of every tile.
    fn tiles_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        memories: [&TileMemory; 2],
    ) {
        let reports = [page.report, pair.target];
        let before = self.made.last().and_then(|(_, made)| made.clone());
        let (key, [source, target]) = (self.choices.key.clone(), reports.map(Arc::clone));
        let work = move |_: &_| PairMade::new(&source, &target, &key, before);
        self.made.ask("arrange tiles of two reports", ui.ctx(), &self.choices.key, work);
        let Some(made) = self.made.last().and_then(|(_, made)| made.clone()) else {
            ui.weak(self.made.failure().unwrap_or(""));
            return;
        };
        let shown = &*made.shown;
        self.selecting.follow(&page.selection.tiles, &shown.axis, &memories);
        let limits =
            reports.map(|report| report.target.get().and_then(|target| target.bytes_per_tile));
        let limit = limits.into_iter().flatten().max();
        let is_scaled = limit.map(|limit| {
            let wanted = self.choices.is_scaled_to_limit;
            self.choices.has_limit && wanted.unwrap_or_else(|| is_limit_near(shown.top(), limit))
        });
        self.head_ui(ui, &shown.axis.ipus, is_scaled);
        let machine = machine(reports.map(|report| report.target.get()));
        if self.selecting.ui(ui, machine, &shown.axis.tiles, &mut page.selection.tiles) {
            self.picture.reveal = page.selection.tiles.first();
        }
        if self.view != MemoryView::Differences {
            statistics_ui(ui, shown);
            ui.add_space(2.0);
        }
        let max = (ui.available_height() - PICTURES).max(80.0);
        let share = match (self.view, pair.arrangement) {
            (MemoryView::Differences, _) => 0.8,
            (_, Arrangement::Overlaid) => 1.0,
            (_, Arrangement::SideBySide) => 0.7,
        };
        let height = tables_height(ui) * share;
        split::below(ui, "memory details of two", height, 60.0..=max, |ui| {
            let chosen = self.tabs.ui(ui, (&mut *page, pair), &made.shown, &mut self.selecting);
            self.picture.reveal = self.picture.reveal.take().or(chosen);
        });
        egui::CentralPanel::default()
            .frame(egui::Frame::new().inner_margin(Margin { bottom: 6, ..Margin::ZERO }))
            .show(ui, |ui| {
                if self.view == MemoryView::Differences {
                    self.map.ui(ui, (page, pair), &made, &mut self.selecting);
                    return;
                }
                let scaled = limit.filter(|_| is_scaled == Some(true));
                let parts = Parts { memories, made: &made, limits, scaled };
                let choices = (&mut self.choices, &mut self.series);
                self.picture.ui(ui, (page, pair), &parts, choices, &mut self.selecting);
            });
    }

    /// What is shown, and the choices, with what follows from them.
    fn head_ui(&mut self, ui: &mut egui::Ui, ipus: &[u32], is_scaled: Option<bool>) {
        let (before, had_gaps) = (self.choices.key.clone(), self.choices.has_gaps);
        let view = &mut self.view;
        if *view == MemoryView::Differences {
            self.choices.tiles_head_ui(ui, ipus, |ui| views_ui(ui, view, true));
        } else {
            self.choices.head_ui(ui, ipus, is_scaled, |ui| views_ui(ui, view, true));
        }
        let key = &self.choices.key;
        if !key.has_tiles_of(&before) {
            self.picture.view.reset();
            self.map.view.reset();
        }
        if key.breakdown.is_some() != before.breakdown.is_some() {
            self.series.follow_stack(key.breakdown.is_some());
        }
        if self.choices.has_gaps != had_gaps {
            self.series.include_gaps(self.choices.has_gaps);
        }
    }
}

/// Memory by tile of both, or in its place why one of them has none.
fn memories<'a>(
    ui: &mut egui::Ui,
    page: &PageContext<'a>,
    pair: &Pair<'a>,
) -> Option<[&'a TileMemory; 2]> {
    let mut found = Vec::new();
    for side in Side::BOTH {
        let report = side.of([page.report, pair.target]);
        let is_working = side.of([page.is_working, pair.is_target_working]);
        if report.memory.get().is_some_and(|memory| !memory.tiles.is_empty()) {
            found.extend(report.memory.get());
            continue;
        }
        side_title_ui(ui, side, &report_name(report));
        let what = format!("Memory of the {}", side.title().to_lowercase());
        let found = part_or_reason(ui, &report.memory, is_working, &what);
        if found.is_some() {
            absent_ui(ui, "No tiles", "The report lists none");
        }
        return None;
    }
    <[&TileMemory; 2]>::try_from(found).ok()
}
