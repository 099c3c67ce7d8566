//! The tiles of the chip as a grid, colored by one figure: unlike the graph over tiles it shows which neighbors in
//! software order stand out. Where tiles lie on the chip is not in the report. Several runs have a grid each in the
//! same colors, or one grid of the changes from the reference.

pub mod cores;
mod layout;
mod picture;
mod scale;

use eframe::egui::{self, Align, Layout, RichText, Sense, Stroke, Vec2};
use std::sync::Arc;

use super::MapView;
use super::summary::AskedTiles;
use super::tile_facts::{select_tile, tile_inspector_ui};
use super::tile_keys::{TileKeys, tile_keys};
use crate::analysis::memory::selection::TileSelection;
use crate::store::memory::TileMemory;
use crate::store::{DeviceId, TileId};
use crate::text::in_turn;
use crate::ui::command::ExportSource;
use crate::ui::report::side_by_side::{compared_run_ui, side_by_side_ui};
use crate::ui::report::tile_figures::{figure_title, tile_text};
use crate::ui::report::{PageContext, bytes_or_dash, change_color, change_text, tile_menu_ui};
use crate::ui::runs::{Needed, Run, RunId, Runs, RunsAnswer};
use crate::ui::theme::{Tokens, card_frame, fonts};
use crate::ui::units::Units;
use crate::ui::widget::diverging::{ChangeScale, change_scale_ui};
use crate::ui::widget::exports::{exportable, exports_ui, is_taken_out, scope_of_exports};
use crate::ui::widget::picture::{ImageTexture, at_pointer_ui, describe, link, to_end};
use crate::ui::widget::place_menu::PictureMenu;
use layout::{GridLayout, WAYS};
use picture::{GridPicture, TileGrids};
use scale::GridChoices;

const NOTE: &str = "Tiles in software order: the report does not say where they lie on the chip";

/// Room for the buttons that take it out, points.
const EXPORTS: f32 = 84.0;
/// The name of the picture.
const NAME: &str = "floor plan";

/// Every run, or what has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridShows {
    Runs,
    Difference,
}

#[derive(Clone, Debug, PartialEq)]
struct GridChoice {
    choices: GridChoices,
    changes: ChangeScale,
    /// The run whose change is shown, if that is shown.
    changed: Option<usize>,
    is_dark: bool,
}

#[derive(Default)]
pub struct TileGridView {
    choices: GridChoices,
    changes: ChangeScale,
    /// The run whose change is shown, if the user has chosen one.
    other: Option<RunId>,
    grids: RunsAnswer<GridChoice, Option<Arc<TileGrids>>>,
    textures: Vec<ImageTexture>,
    /// The tile under the pointer in one of the grids.
    pointed: Option<TileId>,
    menu: PictureMenu<TileId>,
}

impl TileGridView {
    /// The same figures of reports that were read again, and may be known by another name.
    pub fn of_other_figures(self, rename: impl Fn(RunId) -> RunId) -> Self {
        let Self { choices, changes, other, .. } = self;
        Self { choices, changes, other: other.map(rename), ..Self::default() }
    }

    /// Draws the grids in the space that is left; a click selects a tile, a drag several. `views` draws the choice
    /// of what is shown. Returns the map that the inspector leads to.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        shows: GridShows,
        asked: &mut AskedTiles,
        views: impl FnOnce(&mut egui::Ui),
    ) -> Option<MapView> {
        asked.head_ui(ui, page, views);
        let way = tile_inspector_ui(ui, page);
        let card = card_frame(Tokens::now(ui))
            .inner_margin(10)
            .show(ui, |ui| self.grids_ui(ui, page, shows));
        exportable(ui, NAME, card.response.rect);
        way.or(card.inner)
    }

    /// Returns the map of a tile that is to be opened.
    fn grids_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        shows: GridShows,
    ) -> Option<MapView> {
        let runs = page.runs;
        let other = runs.compared(self.other);
        let has_changes = shows == GridShows::Difference && !runs.is_one();
        let choice = GridChoice {
            choices: self.choices.clone(),
            changes: self.changes,
            changed: has_changes.then_some(other),
            is_dark: ui.visuals().dark_mode,
        };
        let (tokens, wanted) = (*Tokens::now(ui), choice.clone());
        let needs = (runs, &[Needed::Memory][..]);
        self.grids.ask("grids of tiles", ui.ctx(), needs, &choice, move |runs, _| {
            TileGrids::new(runs, &wanted, &tokens).map(Arc::new)
        });
        let grids = self.grids.last(runs).and_then(|(_, grids)| grids.clone());
        self.head_ui(ui, page, other, has_changes, grids.as_deref());
        let Some(grids) = grids else {
            ui.weak(self.grids.failure().unwrap_or("Drawing the tiles…"));
            return None;
        };
        let figure = figure_title(&self.choices.figure);
        self.textures.resize_with(grids.pictures.len(), ImageTexture::default);
        let selected = page.selection.tiles.clone();
        let shown = GridsShown {
            grids: &grids,
            figure: &figure,
            pointed: self.pointed,
            units: Units::now(ui),
            selected: &selected,
            title_of: &|tile| tile_text(runs.machine(), tile),
            device_title: &|ipu| runs.reference().report.device_title(DeviceId(ipu)),
            has_cells: false,
        };
        let mut answer = GridResponse::default();
        if let ([picture], [texture]) = (&grids.pictures[..], &mut self.textures[..]) {
            let name = if has_changes { "Grid of differences" } else { "Grid of tiles" };
            let of = (picture, grids.values_of_run(0));
            answer = shown.ui(ui, page, name, of, texture, Some(&mut self.menu));
        } else {
            side_by_side_ui(ui, runs, |ui, place, run| {
                let picture = grids.pictures.get(place).zip(self.textures.get_mut(place));
                let Some((picture, texture)) = picture else { return };
                let name = format!("Grid of tiles of {}", run.the());
                let of = (picture, grids.values_of_run(place));
                let of_run = shown.ui(ui, page, &name, of, texture, Some(&mut self.menu));
                answer = answer.or(of_run);
            });
        }
        answer.select(ui, &mut page.selection.tiles);
        link(ui, &mut self.pointed, answer.pointed, grids.pictures.len() > 1);
        answer.by_key.is_entered.then_some(MapView::OneTile)
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        other: usize,
        has_changes: bool,
        grids: Option<&TileGrids>,
    ) {
        let runs = page.runs;
        let memories: Vec<&TileMemory> =
            runs.iter().filter_map(|run| run.report.memory.get()).collect();
        ui.horizontal_top(|ui| {
            // In as many lines as it needs, beside the buttons.
            let width = (ui.available_width() - EXPORTS).max(120.0);
            let lines = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(Vec2::new(width, 20.0), lines, |ui| {
                ui.horizontal_wrapped(|ui| {
                    self.choices.figure_ui(ui, &memories);
                    if has_changes {
                        if let Some(other) = runs.get(other).filter(|_| runs.len() > 2) {
                            compared_run_ui(ui, runs, other, &mut self.other);
                        }
                        if let Some(other) = runs.get(other) {
                            let reference = runs.reference().title_in_text();
                            scope_of_exports(ui, &format!("{} − {reference}", other.title));
                        }
                        change_scale_ui(ui, &mut self.changes, grids.map(|grids| grids.most));
                    } else {
                        let over = grids.and_then(|grids| grids.over);
                        self.choices.scale_ui(ui, grids.and_then(|grids| grids.ends), over);
                    }
                });
            });
            if !is_taken_out(ui.ctx()) {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    let picture = || Some(ExportSource::Picture);
                    exports_ui(ui, "picture", NAME, true, page.commands, picture);
                });
            }
        });
        ui.add(egui::Label::new(fonts::caption(NOTE).weak()).wrap());
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct GridResponse {
    clicked: Option<TileId>,
    pointed: Option<TileId>,
    /// Where the drag began that goes on.
    dragged_from: Option<TileId>,
    by_key: TileKeys,
}

impl GridResponse {
    /// Of several grids the one that was used.
    fn or(self, other: Self) -> Self {
        Self {
            clicked: self.clicked.or(other.clicked),
            pointed: self.pointed.or(other.pointed),
            dragged_from: self.dragged_from.or(other.dragged_from),
            by_key: self.by_key.or(other.by_key),
        }
    }

    /// Selects what was clicked, dragged over, or reached by a key.
    fn select(&self, ui: &egui::Ui, selected: &mut TileSelection) {
        if let Some(tile) = self.clicked {
            select_tile(selected, tile, ui.input(|input| input.modifiers));
        }
        if let (Some(from), Some(tile)) = (self.dragged_from, self.pointed) {
            *selected = TileSelection::between(from, tile);
        }
        if let Some(tile) = self.by_key.reached {
            *selected = TileSelection::one(tile);
        }
    }
}

struct GridsShown<'a> {
    grids: &'a TileGrids,
    figure: &'a str,
    pointed: Option<TileId>,
    units: Units,
    selected: &'a TileSelection,
    title_of: &'a dyn Fn(TileId) -> String,
    /// What the grid of a device is called.
    device_title: &'a dyn Fn(u32) -> String,
    /// Whether each stands in a cell of its own, with its place and value where there is room.
    has_cells: bool,
}

impl GridsShown<'_> {
    fn ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        name: &str,
        (picture, values): (&GridPicture, &[Option<u64>]),
        texture: &mut ImageTexture,
        menu: Option<&mut PictureMenu<TileId>>,
    ) -> GridResponse {
        let (grid, tiles) = (&picture.grid, &self.grids.tiles);
        let texture = texture.of(ui, name, &picture.image);
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let layout = GridLayout::new(rect, grid);
        layout.paint(ui, grid, texture, (self.selected, tiles), self.device_title);
        if self.has_cells {
            let value = |row: usize| values.get(row).copied().flatten();
            layout.cells(ui, grid, |row| value(row).map(|bytes| self.units.bytes(bytes)));
        }
        *page.has_painted_graph = true;
        let chosen = self.selected.first();
        let chosen_row = chosen.and_then(|tile| tiles.position(tile));
        let by_key = tile_keys(ui, &response, rect, chosen, |pressed| {
            let beside = WAYS.into_iter().filter(|(key, _)| pressed(*key)).find_map(|(_, way)| {
                chosen_row.map_or(Some(0), |row| layout.beside(grid, row, way))
            });
            tiles.get(beside.or_else(|| to_end(pressed, tiles.len()))?)
        });
        describe(&response, name, || {
            let tile = chosen.zip(chosen_row).map(|(tile, row)| self.tile_text(tile, row));
            tile.map_or_else(|| self.figure.to_owned(), |tile| format!("{}; {tile}", self.figure))
        });
        let text = Tokens::now(ui).text;
        if let Some(row) = self.pointed.and_then(|tile| tiles.position(tile)) {
            layout.outline(ui, grid, row, Stroke::new(1.0, text));
        }
        let row = response.hover_pos().and_then(|at| layout.row_at(at, grid));
        let at = row.and_then(|row| Some((row, tiles.get(row)?)));
        if let Some(menu) = menu {
            tile_menu_ui(menu, &response, at.map(|(_, tile)| tile), page);
        }
        let Some((row, tile)) = at else {
            return GridResponse { by_key, ..GridResponse::default() };
        };
        let from = ui.input(|input| input.pointer.press_origin());
        let from = from.and_then(|from| tiles.get(layout.row_at(from, grid)?));
        layout.outline(ui, grid, row, Stroke::new(2.0, text));
        at_pointer_ui(&response, |ui| {
            self.tooltip_ui(ui, page.runs, row, &(self.title_of)(tile));
        });
        GridResponse {
            clicked: response.clicked().then_some(tile),
            pointed: Some(tile),
            dragged_from: from.filter(|_| response.dragged()),
            by_key,
        }
    }

    /// The chosen tile with its figure, of several runs in each, for those who cannot see the picture.
    fn tile_text(&self, tile: TileId, row: usize) -> String {
        let values: Vec<String> =
            self.grids.values_of(row).map(|bytes| bytes_or_dash(bytes, self.units)).collect();
        format!("{}: {}", (self.title_of)(tile), in_turn(&values))
    }

    fn tooltip_ui(&self, ui: &mut egui::Ui, runs: &Runs, row: usize, tile: &str) {
        let units = self.units;
        let values: Vec<Option<u64>> = self.grids.values_of(row).collect();
        if let [bytes] = values[..] {
            ui.label(RichText::new(tile).strong());
            ui.label(format!("{}: {}", self.figure, bytes_or_dash(bytes, units)));
            return;
        }
        ui.label(RichText::new(format!("{tile}: {}", self.figure)).strong());
        let first = values.first().copied().flatten();
        egui::Grid::new("tile of all").spacing([14.0, 2.0]).show(ui, |ui| {
            let change_ui = |ui: &mut egui::Ui, bytes: Option<u64>| {
                if let (Some(first), Some(bytes)) = (first, bytes) {
                    let text = change_text(first, bytes, units);
                    ui.colored_label(change_color(ui, first, bytes), text);
                }
            };
            for (place, (run, bytes)) in runs.iter().zip(&values).enumerate() {
                let run: &Run = run;
                ui.label(RichText::new(&*run.title).color(run.color(ui)));
                ui.label(bytes_or_dash(*bytes, units));
                if place > 0 && values.len() > 2 {
                    change_ui(ui, *bytes);
                }
                ui.end_row();
            }
            if let [Some(_), Some(target)] = values[..] {
                ui.weak("Difference");
                change_ui(ui, Some(target));
                ui.end_row();
            }
        });
    }
}
