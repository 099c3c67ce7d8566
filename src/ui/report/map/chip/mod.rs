//! The map of all tiles: a line for each tile, addresses from left to right, as one picture for each run
//! that shows what most bytes of a pixel are. Zoomed in, single variables of single tiles appear.

mod colors;
mod paint;
mod picture;
mod shared;

use eframe::egui::{self, Align, Layout};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::category_colors::{AskedColors, CategoryColors};
use super::super::side_by_side::side_by_side_ui;
use super::super::step_choice::step_choice_ui;
use super::super::{ARE, PageContext, part_or_reason};
use super::MapView;
use super::summary::AskedTiles;
use super::tile_facts::{select_tile, tile_inspector_ui};
use super::tile_keys::TileKeys;
use crate::analysis::liveness::{Scope, peak};
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::ui::command::ExportSource;
use crate::ui::job::{Made, Same};
use crate::ui::runs::{Needed, PerRun, Run, RunId, Runs, RunsAnswer};
use crate::ui::theme::{CONTROL_HEIGHT, Tokens, card_frame};
use crate::ui::widget::exports::{exportable, exports_ui};
use crate::ui::widget::picture::link;
use crate::ui::widget::plane::Extent;
use colors::ChipColors;
use picture::{ChipPicture, ChipPictureOf};
use shared::{SharedChips, extent_of};

#[derive(Default)]
pub struct ChipMapView {
    shared: SharedChips,
    peaks: RunsAnswer<(), PerRun<Option<usize>>>,
    /// Of a theme and of categories.
    colors: Made<(bool, Same<CategoryColors>), PerRun<Arc<ChipColors>>>,
    pictures: BTreeMap<RunId, ChipPicture>,
    /// Where the pointer is in the map of a run.
    pointed: Option<(RunId, (TileId, u64))>,
}

impl ChipMapView {
    /// The same part of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        Self { shared: self.shared, ..Self::default() }
    }

    /// Draws the choice of a step and the map of each run; a click selects a tile. `views` draws the choice of
    /// what is shown. Returns the map that the inspector leads to.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        categories: &mut AskedColors,
        asked: &mut AskedTiles,
        views: impl FnOnce(&mut egui::Ui),
    ) -> Option<MapView> {
        let runs = page.runs;
        asked.head_ui(ui, page, views);
        let way = tile_inspector_ui(ui, page);

        let card = card_frame(Tokens::now(ui))
            .inner_margin(7)
            .show(ui, |ui| self.maps_ui(ui, page, categories));
        exportable(ui, &name(runs), card.response.rect);
        way.or(card.inner)
    }

    /// Returns the map of a tile that is to be opened.
    fn maps_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        categories: &mut AskedColors,
    ) -> Option<MapView> {
        let runs = page.runs;
        let needs = (runs, &[Needed::Liveness][..]);
        self.peaks.ask("peaks of liveness", ui.ctx(), needs, &(), |runs, cancel| {
            let is_cancelled = || cancel.is_cancelled();
            runs.each(|run| {
                let timeline = run.derived.timeline(Scope::Everything, &is_cancelled)?;
                peak(&timeline.curve.not_always_live)
            })
        });
        let peaks = self.peaks.last(runs).map_or(&[][..], |((), peaks)| peaks.as_slice());
        ui.horizontal(|ui| {
            ui.set_min_height(CONTROL_HEIGHT);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let picture = || Some(ExportSource::Picture);
                exports_ui(ui, "picture", &name(runs), true, page.commands, picture);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    step_choice_ui(ui, page, "All steps", peaks, "all tiles");
                });
            });
        });
        self.pictures.retain(|id, _| runs.position(*id).is_some());
        // Where no run has variables, one picture says why, without a legend.
        if !runs.iter().any(|run| run.report.variables.get().is_some()) {
            has_variables(ui, runs.reference());
            return None;
        }
        let Some(found) = categories.ask(ui, runs) else {
            ui.weak(categories.waiting());
            return None;
        };
        let key = (ui.visuals().dark_mode, Same(found));
        let colors = self.colors.of(key, |(_, Same(categories))| {
            let of_run = |run| Arc::new(ChipColors::new(categories, run, Tokens::now(ui)));
            (0..runs.len()).map(of_run).collect()
        });
        let extents = runs.iter().map(|run| extent_of(&run.report));
        let larger = |a: Extent, b: Extent| Extent { x: a.x.max(b.x), y: a.y.max(b.y) };
        let extent = extents.fold(Extent { x: 1, y: 1 }, larger);
        let slot = page.selection.slot(runs);
        if let Some(of_reference) = colors.first() {
            self.shared.head_ui(ui, of_reference, extent, slot.is_some());
        }
        let (mut pointed, mut by_key) = (None, TileKeys::default());
        side_by_side_ui(ui, runs, |ui, place, run| {
            let Some(colors) = colors.get(place).filter(|_| has_variables(ui, run)) else { return };
            let of_run = if runs.is_one() { String::new() } else { format!(" of {}", run.the()) };
            let of = ChipPictureOf {
                name: &format!("Map of all tiles{of_run}"),
                run,
                colors,
                step: slot.and_then(|slot| runs.axis()?.step_at_or_before(place, slot)),
                extent,
                has_keys: place == 0,
                pointed: self.pointed.filter(|(other, _)| *other != run.id).map(|(_, at)| at),
            };
            let picture = self.pictures.entry(run.id).or_default();
            let answer = picture.ui(ui, page, &mut self.shared, &of);
            pointed = pointed.or(answer.pointed.map(|at| (run.id, at)));
            if let Some(tile) = answer.clicked {
                let modifiers = ui.input(|input| input.modifiers);
                select_tile(&mut page.selection.tiles, tile, modifiers);
            }
            by_key = by_key.or(answer.by_key);
        });
        if let Some(tile) = by_key.reached {
            page.selection.tiles = TileSelection::one(tile);
        }
        link(ui, &mut self.pointed, pointed, !runs.is_one());
        by_key.is_entered.then_some(MapView::OneTile)
    }
}

/// The name of the picture.
fn name(runs: &Runs) -> String {
    format!("map of all {}", runs.system().arenas)
}

/// Whether the lowered variables are there; says why not.
fn has_variables(ui: &mut egui::Ui, run: &Run) -> bool {
    part_or_reason(ui, &run.report.variables, run.is_working, ("Variables", ARE)).is_some()
}
