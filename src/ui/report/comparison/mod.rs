//! Comparison: what changed from the source to the target, and what that consists of.

use eframe::egui;

use super::PageContext;
use crate::ui::comparison::Pair;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct ComparisonPage {}

impl ComparisonPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, _page: &mut PageContext<'_>, _pair: &Pair<'_>) {
        ui.heading("Comparison");
    }
}
