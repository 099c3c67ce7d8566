//! The map of all tiles: a line for each tile, addresses from left to right, as one picture that shows
//! what most bytes of a pixel are. Zoomed in, single variables of single tiles appear.

mod colors;
mod half;
mod paint;
pub mod pair;
mod shared;

use eframe::egui;
use std::sync::Arc;

use crate::store::{Report, TileId};
use crate::ui::report::{PageContext, missing_ui, unread_ui};
use crate::ui::theme::Tokens;
use colors::Colors;
use half::{Half, HalfOf};
use shared::{Extent, Shared};

/// What the map remembers.
#[derive(Default)]
pub struct ChipMapView {
    shared: Shared,
    colors: Option<(bool, Arc<Colors>)>,
    map: Half,
}

impl std::fmt::Debug for ChipMapView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChipMapView").field(&self.shared).finish()
    }
}

impl ChipMapView {
    /// Draws the map in the space that is left; returns a tile that was clicked. `step` is the one
    /// that is shown, `None` for all steps.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        step: Option<usize>,
    ) -> Option<TileId> {
        let report = page.report;
        if !has_variables(ui, report, page.is_working) {
            return None;
        }
        let is_dark = ui.visuals().dark_mode;
        if self.colors.as_ref().is_none_or(|(made_for, _)| *made_for != is_dark) {
            let colors = Colors::new(report, report.variables.get()?, Tokens::now(ui));
            self.colors = Some((is_dark, Arc::new(colors)));
        }
        let colors = self.colors.as_ref().map(|(_, colors)| Arc::clone(colors))?;
        let extent = Extent::of(report);
        self.shared.head_ui(ui, &colors, extent, step.is_some());
        let of = HalfOf {
            name: "Map of all tiles",
            colors: &colors,
            step,
            extent,
            has_keys: true,
            pointed: None,
        };
        self.map.ui(ui, page, &mut self.shared, &of).clicked
    }
}

/// Whether the lowered variables are there; says why not.
fn has_variables(ui: &mut egui::Ui, report: &Report, is_working: bool) -> bool {
    if report.variables.get().is_some() {
        return true;
    }
    if report.variables.is_settled() {
        missing_ui(ui, "Variables", report.variables.absence());
    } else {
        unread_ui(ui, "Variables", is_working);
    }
    false
}
