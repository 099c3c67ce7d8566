//! The views of the Memory page for several runs: their tiles, or the differences.

use eframe::egui;

use crate::ui::runs::Runs;
use crate::ui::widget::choice::shown_tab_line;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryView {
    #[default]
    Tiles,
    /// What has changed, tile by tile and category by category; of several runs only.
    Differences,
}

impl MemoryView {
    /// The view, or that of tiles where the runs do not have this one.
    pub fn of(self, runs: &Runs) -> Self {
        if runs.is_one() { Self::Tiles } else { self }
    }
}

/// Draws the title of the Memory page, and of several runs the choice of what it shows.
pub fn views_ui(ui: &mut egui::Ui, view: &mut MemoryView, runs: &Runs) {
    ui.heading("Memory");
    if runs.is_one() {
        return;
    }
    ui.add_space(4.0);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (which, title, name) in [
            (MemoryView::Tiles, "Tiles", "View of tiles"),
            (MemoryView::Differences, "Differences", "View of the map of differences"),
        ] {
            let is_on = *view == which;
            let entry = ui.selectable_label(is_on, title);
            entry.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_on, name));
            if is_on {
                shown_tab_line(ui, &entry);
            }
            if entry.clicked() {
                *view = which;
                ui.request_repaint();
            }
        }
    });
}
