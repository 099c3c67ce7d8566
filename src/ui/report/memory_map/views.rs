//! What the Memory page shows, and the choice of it.

use eframe::egui;

use crate::ui::widget::choice::shown_tab_line;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryView {
    #[default]
    Tiles,
    OneTile,
    AddressSteps,
    AllTiles,
    Grid,
    /// What has changed, tile by tile and category by category; of several runs only.
    Differences,
}

/// A view with its title and its accessible name.
type NamedView = (MemoryView, &'static str, &'static str);

const VIEWS: [NamedView; 6] = [
    (MemoryView::Tiles, "Tiles", "View of tiles"),
    (MemoryView::Differences, "Differences", "View of the map of differences"),
    (MemoryView::OneTile, "Map of a tile", "View of a tile's map"),
    (MemoryView::AddressSteps, "Address × step", "View of addresses over steps"),
    (MemoryView::AllTiles, "Map of all tiles", "View of the map of all tiles"),
    (MemoryView::Grid, "Grid", "View of the grid of tiles"),
];

/// Draws the title of the Memory page with the choice of what it shows.
pub fn views_ui(ui: &mut egui::Ui, view: &mut MemoryView, are_several: bool) {
    let views = VIEWS.iter().copied();
    let views = views.filter(|(which, ..)| *which != MemoryView::Differences || are_several);
    ui.heading("Memory");
    ui.add_space(4.0);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (which, title, name) in views {
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
