//! Map: where things lie in memory, and when. One tile as addresses over steps, all tiles as lines of addresses,
//! the floor plan of tiles, or of cores, by one figure; of several runs also what differs there. The arenas of a device, or several
//! that are selected, lie side by side.

mod arenas;
mod chip;
mod grid;
mod summary;
mod tile;
mod tile_facts;
mod tile_keys;

use eframe::egui;

use super::category_colors::AskedColors;
use super::machines::{has_tiles, pairing_ui};
use super::{PageContext, have_arenas_ui, tile_places};
use crate::analysis::liveness::Scope;
use crate::store::ArenaId;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::selection::{Jump, TitledJump};
use crate::ui::units::Units;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::inspector::fact_ui;
use crate::views::View;
use arenas::ArenasMap;
use chip::ChipMapView;
use grid::cores::{self, CoreGridView, have_cores};
use grid::{GridShows, TileGridView};
use summary::AskedTiles;
use tile::OneTileView;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapView {
    #[default]
    OneTile,
    /// The arenas of a device side by side.
    Arenas,
    AllTiles,
    /// The tiles by one figure, or cores that are no arenas.
    FloorPlan,
    /// What has changed from the reference, tile by tile; of several runs only.
    Differences,
}

#[derive(Default)]
pub struct MapPage {
    /// `None` until one is chosen.
    view: Option<MapView>,
    colors: AskedColors,
    tiles: AskedTiles,
    one_tile: OneTileView,
    all_tiles: ChipMapView,
    grid: TileGridView,
    cores: CoreGridView,
    arenas: ArenasMap,
    /// The runs of the frame before.
    shown: Vec<RunId>,
}

/// What the device around arenas of a run can hold, where they have no limit of their own and that is known.
fn limit_around_ui(ui: &mut egui::Ui, run: &Run, around: Scope, units: Units) {
    if let Some(limit) = run.derived.limit_bytes(around) {
        fact_ui(ui, "Limit of the device", &units.bytes(limit));
    }
}

impl RunsPage for MapPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let shown: Vec<RunId> = page.runs.iter().map(|run| run.id).collect();
        if self.shown != shown {
            let view = self.view;
            *self = Self { view, shown, ..Self::default() };
        }
        if !have_arenas_ui(ui, page.runs) {
            return;
        }
        pairing_ui(ui, page.runs);
        let shown = MapView::of(self.view, page.runs);
        let (runs, mut view) = (page.runs, shown);
        let views = |ui: &mut egui::Ui| views_ui(ui, &mut view, runs);
        // The inspector leads to the other maps.
        let wanted = match shown {
            MapView::OneTile => {
                self.one_tile.ui(ui, page, &mut self.colors, &mut self.tiles, views)
            }
            MapView::Arenas => {
                self.arenas.ui(ui, page, views);
                None
            }
            MapView::AllTiles => {
                self.all_tiles.ui(ui, page, &mut self.colors, &mut self.tiles, views)
            }
            MapView::FloorPlan if !has_tiles(runs) => {
                self.cores.ui(ui, page, views);
                None
            }
            MapView::FloorPlan => self.grid.ui(ui, page, GridShows::Runs, &mut self.tiles, views),
            MapView::Differences => {
                self.grid.ui(ui, page, GridShows::Difference, &mut self.tiles, views)
            }
        };
        view = wanted.unwrap_or(view);
        if view != shown {
            self.view = Some(view);
            ui.request_repaint();
        }
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        // What was read and worked out goes, what was chosen and is visible stays.
        self.arenas.run_renamed(from, to);
        let before = std::mem::take(self);
        let rename = |run: RunId| if run == from { to } else { run };
        *self = Self {
            view: before.view,
            one_tile: before.one_tile.of_other_figures(),
            all_tiles: before.all_tiles.of_other_figures(),
            grid: before.grid.of_other_figures(rename),
            cores: before.cores.of_other_figures(),
            arenas: before.arenas,
            shown: before.shown.into_iter().map(rename).collect(),
            ..Self::default()
        };
    }

    fn show_place(&mut self, place: Jump) {
        if let Jump::Map(_) = place {
            self.view = Some(MapView::OneTile);
        }
    }

    fn show_view(&mut self, view: View, _scope: Scope) {
        self.view = match view {
            View::MapAllTiles => Some(MapView::AllTiles),
            View::Grid => Some(MapView::FloorPlan),
            View::GridDifferences => Some(MapView::Differences),
            _ => None,
        };
    }
}

impl MapView {
    /// In the order in which they are offered.
    const ALL: [Self; 5] =
        [Self::OneTile, Self::Arenas, Self::AllTiles, Self::FloorPlan, Self::Differences];

    fn is_there(self, runs: &Runs) -> bool {
        match self {
            Self::OneTile | Self::Arenas => true,
            Self::AllTiles => has_tiles(runs),
            Self::FloorPlan => has_tiles(runs) || have_cores(runs),
            Self::Differences => !runs.is_one() && has_tiles(runs),
        }
    }

    /// The view that was chosen, as far as the runs have it.
    fn of(chosen: Option<Self>, runs: &Runs) -> Self {
        let first = if ArenasMap::are_first(runs) { Self::Arenas } else { Self::OneTile };
        chosen.filter(|view| view.is_there(runs)).unwrap_or(first)
    }

    fn title(self, runs: &Runs) -> String {
        let system = runs.system();
        match self {
            Self::OneTile => format!("One {}", system.arena_in_text),
            Self::Arenas => arenas::title(system),
            Self::AllTiles => "All tiles".to_owned(),
            Self::FloorPlan if !has_tiles(runs) => cores::TITLE.to_owned(),
            Self::FloorPlan => "Floor plan".to_owned(),
            Self::Differences => "Differences".to_owned(),
        }
    }
}

/// The way from an arena to the place that it has among the others, where they are tiles.
fn arena_places(runs: &Runs, arena: ArenaId) -> Vec<TitledJump> {
    let mut places = tile_places(runs.system(), arena.tile());
    places.retain(|(_, place)| has_tiles(runs) && matches!(place, Jump::Tile(_)));
    places
}

/// Draws the title of the page with the choice of what it shows.
fn views_ui(ui: &mut egui::Ui, view: &mut MapView, runs: &Runs) {
    ui.heading("Map");
    ui.add_space(4.0);
    let views = MapView::ALL.into_iter().filter(|view| view.is_there(runs));
    let views: Vec<_> = views.map(|view| (view, view.title(runs))).collect();
    segments_ui(ui, "", view, views);
}
