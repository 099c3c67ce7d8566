//! What the Memory page shows, and the choice of it.

use eframe::egui;

use crate::ui::runs::{Run, Runs};
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

/// What there is to see, with its title and its accessible name.
fn views(runs: &Runs) -> Vec<(MemoryView, String, String)> {
    let system = runs.system();
    let map = format!("Map of {}", system.an_arena);
    let all = [
        (MemoryView::Tiles, "Tiles", "View of tiles"),
        (MemoryView::Differences, "Differences", "View of the map of differences"),
        (MemoryView::OneTile, &*map, &*format!("View of {}'s map", system.an_arena)),
        (MemoryView::AddressSteps, "Address × step", "View of addresses over steps"),
        (MemoryView::AllTiles, "Map of all tiles", "View of the map of all tiles"),
        (MemoryView::Grid, "Grid", "View of the grid of tiles"),
    ];
    let is_there = |view: &MemoryView| match view {
        MemoryView::Differences => !runs.is_one() && has_tiles(runs),
        MemoryView::OneTile | MemoryView::AddressSteps => true,
        MemoryView::Tiles | MemoryView::AllTiles | MemoryView::Grid => has_tiles(runs),
    };
    let there = all.into_iter().filter(|(view, ..)| is_there(view));
    there.map(|(view, title, name)| (view, title.to_owned(), name.to_owned())).collect()
}

/// Whether all runs have memory by tile.
pub fn has_tiles(runs: &Runs) -> bool {
    let has_tiles = |run: &Run| run.report.memory.get().is_some_and(|it| !it.tiles.is_empty());
    runs.iter().all(has_tiles)
}

impl MemoryView {
    /// The view, or the first one that the runs have where they do not have this one.
    pub fn of(self, runs: &Runs) -> Self {
        let views = views(runs);
        let is_there = views.iter().any(|(view, ..)| *view == self);
        let first = views.first().map_or(self, |(view, ..)| *view);
        if is_there { self } else { first }
    }
}

/// Draws the title of the Memory page with the choice of what it shows.
pub fn views_ui(ui: &mut egui::Ui, view: &mut MemoryView, runs: &Runs) {
    ui.heading("Memory");
    ui.add_space(4.0);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (which, title, name) in views(runs) {
            let is_on = *view == which;
            let entry = ui.selectable_label(is_on, title);
            entry
                .widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_on, &name));
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
