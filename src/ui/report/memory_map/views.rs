//! What the Memory page shows, and the choice of it.

use std::borrow::Cow;

use eframe::egui;

use crate::store::{ArenaId, System};
use crate::ui::report::tile_places;
use crate::ui::runs::{Run, Runs};
use crate::ui::selection::{Place, TitledPlace};
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

/// Whether all runs have memory by tile.
pub fn has_tiles(runs: &Runs) -> bool {
    let has_tiles = |run: &Run| run.report.memory.get().is_some_and(|it| !it.tiles.is_empty());
    runs.iter().all(has_tiles)
}

/// The ways to an arena: among the others where they are tiles, and to its map.
pub fn arena_places(runs: &Runs, arena: ArenaId) -> Vec<TitledPlace> {
    let mut places = tile_places(runs.system(), arena.tile());
    places.retain(|(_, place)| has_tiles(runs) || !matches!(place, Place::Tile(_)));
    places
}

impl MemoryView {
    /// In the order in which they are offered.
    const ALL: [Self; 6] = [
        Self::Tiles,
        Self::Differences,
        Self::OneTile,
        Self::AddressSteps,
        Self::AllTiles,
        Self::Grid,
    ];

    fn is_there(self, runs: &Runs) -> bool {
        match self {
            Self::Differences => !runs.is_one() && has_tiles(runs),
            Self::OneTile | Self::AddressSteps => true,
            Self::Tiles | Self::AllTiles | Self::Grid => has_tiles(runs),
        }
    }

    /// The view, or the first one that the runs have where they do not have this one.
    pub fn of(self, runs: &Runs) -> Self {
        if self.is_there(runs) {
            return self;
        }
        Self::ALL.into_iter().find(|view| view.is_there(runs)).unwrap_or(self)
    }

    /// Its title and its accessible name.
    fn names(self, system: &System) -> [Cow<'static, str>; 2] {
        match self {
            Self::Tiles => ["Tiles".into(), "View of tiles".into()],
            Self::Differences => ["Differences".into(), "View of the map of differences".into()],
            Self::OneTile => {
                let arena = system.an_arena;
                [format!("Map of {arena}").into(), format!("View of {arena}'s map").into()]
            }
            Self::AddressSteps => ["Address × step".into(), "View of addresses over steps".into()],
            Self::AllTiles => ["Map of all tiles".into(), "View of the map of all tiles".into()],
            Self::Grid => ["Grid".into(), "View of the grid of tiles".into()],
        }
    }
}

/// Draws the title of the Memory page with the choice of what it shows.
pub fn views_ui(ui: &mut egui::Ui, view: &mut MemoryView, runs: &Runs) {
    ui.heading("Memory");
    ui.add_space(4.0);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for which in MemoryView::ALL.into_iter().filter(|view| view.is_there(runs)) {
            let [title, name] = which.names(runs.system());
            let is_on = *view == which;
            let entry = ui.selectable_label(is_on, &*title);
            entry.widget_info(|| {
                egui::WidgetInfo::selected(egui::Role::Button, true, is_on, &*name)
            });
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
