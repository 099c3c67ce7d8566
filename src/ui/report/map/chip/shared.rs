//! State shared by maps of all tiles that move together: the visible part, and what colors tell.

use eframe::egui::{self, Vec2};

use super::colors::{ChipColors, legend_ui};
use crate::analysis::placement::chip_map::ColourBy;
use crate::store::Report;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::ui::report::is_limit_near;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::exports::is_taken_out;
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::plane::{Extent, Plane};

pub struct SharedChips {
    /// Addresses along x, tiles along y.
    pub plane: Plane,
    pub colour_by: ColourBy,
    pub menu: PictureMenu<TileId>,
}

impl Default for SharedChips {
    fn default() -> Self {
        Self {
            plane: Plane::downward(),
            colour_by: ColourBy::Category,
            menu: PictureMenu::default(),
        }
    }
}

/// Tiles along y; along x addresses up to the limit, where it is near, or to the fullest tile.
pub fn extent_of(report: &Report) -> Extent {
    let last = tiles_of(report).and_then(|tiles| tiles.as_slice().last().copied());
    let most = report
        .memory
        .get()
        .and_then(|memory| memory.including_gaps.iter().flatten().max().copied());
    // A limit far above what is used would press everything to the left.
    let is_near = |limit: &u64| most.is_none_or(|most| is_limit_near(most, *limit));
    let limit = report.bytes_per_tile().filter(is_near);
    let bytes = most.into_iter().chain(limit).max().unwrap_or(1);
    Extent {
        y: last.map_or(1, |tile| tile.0 as usize + 1),
        x: usize::try_from(bytes).unwrap_or(usize::MAX).max(1),
    }
}

/// The tiles of a report, ascending.
pub fn tiles_of(report: &Report) -> Option<&IdColumn<TileId>> {
    let of_memory = report.memory.get().map(|memory| &memory.tiles);
    let of_variables = || report.variables.get().map(|variables| &variables.tiles);
    of_memory.filter(|tiles| !tiles.is_empty()).or_else(of_variables)
}

impl SharedChips {
    pub fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        colors: &ChipColors,
        extent: Extent,
        is_at_step: bool,
    ) {
        ui.horizontal_wrapped(|ui| {
            let choices = [ColourBy::Category, ColourBy::Liveness, ColourBy::Gaps];
            let title = |by: &ColourBy| colour_title(*by);
            choice_ui(ui, "Color", 150.0, &mut self.colour_by, choices, title);
            if is_taken_out(ui.ctx()) {
                legend_ui(ui, colors, self.colour_by, is_at_step);
                return;
            }
            let is_zoomed = self.plane.is_zoomed();
            let all = ui.add_enabled(is_zoomed, egui::Button::new("Show all"));
            if all.on_hover_text("Key 0, or double-click in the map").clicked() {
                self.plane.reset();
            }
            for (sign, name, factor) in [("−", "Zoom out", 1.0 / 1.5), ("+", "Zoom in", 1.5)] {
                let button = egui::Button::new(sign).min_size(Vec2::new(24.0, 22.0));
                if ui.add(button).accessible_name(name).clicked() {
                    self.plane.zoom_middle(extent, factor);
                }
            }
            legend_ui(ui, colors, self.colour_by, is_at_step);
        });
    }
}

pub fn colour_title(colour_by: ColourBy) -> &'static str {
    match colour_by {
        ColourBy::Category => "By category",
        ColourBy::Liveness => "By liveness",
        ColourBy::Gaps => "By gaps",
    }
}
