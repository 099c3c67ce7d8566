//! The tiles of two reports as grids: side by side in the same colours, or one grid of what has changed.

use std::sync::Arc;

use eframe::egui;
use eframe::egui::{ColorImage, RichText, Sense, Stroke, TextureHandle};

use super::layout::Layout;
use super::scale::{Choices, color, figure_title};
use super::{GridPicture, NOTE, texture_of};
use crate::analysis::memory::cell;
use crate::analysis::memory::paired_tiles::PairedTiles;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_grid::{extent, values};
use crate::store::ids::IdColumn;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::{Report, TileId};
use crate::ui::job::Latest;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::halves::{halves_ui, side_color};
use crate::ui::report::{PageContext, bytes_or_dash, change_color, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::diverging::{ChangeScale, change_scale_ui, diverging};

/// What is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shows {
    /// Both reports, side by side.
    #[default]
    Both,
    /// What has changed.
    Difference,
}

/// What pictures were made for.
type Key = (Choices, Shows, ChangeScale, bool);

/// Pictures that a job has made: of either report, or one of what has changed.
#[derive(Debug)]
struct Made {
    /// The tiles of both.
    tiles: IdColumn<TileId>,
    /// The figure in the source and in the target, by tile of both.
    values: [TileColumn; 2],
    pictures: Vec<GridPicture>,
    /// The ends of the colours of both.
    ends: Option<(u64, u64)>,
    /// The largest change.
    most: u64,
}

/// What the grids remember.
#[derive(Default)]
pub struct TileGridPair {
    choices: Choices,
    shows: Shows,
    changes: ChangeScale,
    made: Latest<Key, Option<Arc<Made>>>,
    textures: [Option<(Arc<ColorImage>, TextureHandle)>; 2],
    /// The tile under the pointer in one of the grids.
    pointed: Option<TileId>,
}

impl std::fmt::Debug for TileGridPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TileGridPair").field(&self.choices).field(&self.shows).finish()
    }
}

impl Made {
    fn new(
        reports: [&Report; 2],
        (choices, shows, changes, _): &Key,
        tokens: &Tokens,
    ) -> Option<Self> {
        let [source, target] = reports.map(|report| report.memory.get());
        let memories: [&TileMemory; 2] = [source?, target?];
        let paired = PairedTiles::new(memories);
        let all: Vec<u32> = (0..u32::try_from(paired.tiles.len()).unwrap_or(u32::MAX)).collect();
        let rows = paired.rows_of(&all);
        let targets = reports.map(|report| report.target.get());
        let values = Side::BOTH.map(|side| {
            let own = values(side.of(memories), side.of(targets), &choices.figure);
            let rows = side.of(rows.each_ref()).iter();
            rows.map(|row| cell(&own, *row as usize)).collect::<TileColumn>()
        });
        let known = values.each_ref().map(extent).into_iter().flatten();
        let limit = targets.into_iter().flatten().filter_map(|target| target.bytes_per_tile).max();
        let ends = known.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let ends = ends.map(|ends| choices.scale.ends(ends, limit));
        let [of_source, of_target] = &values;
        let change = |row: usize| {
            let (source, target) = (cell(of_source, row)?, cell(of_target, row)?);
            let change = i128::from(target) - i128::from(source);
            i64::try_from(change).ok()
        };
        let changed = (0..paired.tiles.len()).filter_map(change);
        let most = changed.map(i64::unsigned_abs).max().unwrap_or(0);
        let machine = targets[0].filter(|target| target.tiles_per_ipu.is_some()).or(targets[1]);
        let picture = |color: &dyn Fn(usize) -> egui::Color32| {
            GridPicture::new(&paired.tiles, machine, color)
        };
        let pictures = match shows {
            Shows::Both => {
                let of =
                    |values: &TileColumn| picture(&|row| color(cell(values, row), ends, tokens));
                values.iter().map(of).collect()
            }
            Shows::Difference => vec![picture(&|row| match change(row) {
                Some(change) => diverging(changes.share(change, most), tokens),
                None => tokens.surface,
            })],
        };
        Some(Self { tiles: paired.tiles, values, pictures, ends, most })
    }

    /// The figure of a tile in both.
    fn values_of(&self, tile: TileId) -> [Option<u64>; 2] {
        let row = self.tiles.position(tile);
        self.values.each_ref().map(|values| cell(values, row?))
    }
}

impl TileGridPair {
    /// Draws the grids in the space that is left; a click selects a tile.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        memories: [&TileMemory; 2],
    ) {
        let reports = [page.report, pair.target];
        let key: Key = (self.choices.clone(), self.shows, self.changes, ui.visuals().dark_mode);
        let (for_job, tokens, wanted) = (reports.map(Arc::clone), *Tokens::now(ui), key.clone());
        self.made.ask("grids of both", ui.ctx(), &key, move |_| {
            let reports = for_job.each_ref().map(|report| &**report);
            Made::new(reports, &wanted, &tokens).map(Arc::new)
        });
        let made = self.made.last().and_then(|(_, made)| made.clone());
        self.head_ui(ui, memories, made.as_deref());
        let Some(made) = made else {
            ui.weak(self.made.failure().unwrap_or("Drawing the tiles…"));
            return;
        };
        let figure = figure_title(&self.choices.figure);
        let pointed = self.pointed;
        let mut answers = [Answer::default(); 2];
        let [of_source, of_target] = &mut self.textures;
        if let [picture] = &made.pictures[..] {
            let shown =
                Shown { name: "Grid of differences", made: &made, picture, figure: &figure };
            answers[0] = shown.ui(ui, page, of_source, None);
        } else {
            halves_ui(ui, page, pair, |ui, side, page| {
                let Some(picture) = made.pictures.get(side.of([0, 1])) else { return };
                let name = side.of(["Grid of tiles of the source", "Grid of tiles of the target"]);
                let shown = Shown { name, made: &made, picture, figure: &figure };
                let texture = match side {
                    Side::Source => &mut *of_source,
                    Side::Target => &mut *of_target,
                };
                let answer = shown.ui(ui, page, texture, pointed);
                *side.of(answers.each_mut()) = answer;
            });
        }
        if let Some(tile) = answers.iter().find_map(|answer| answer.clicked) {
            page.selection.tiles = TileSelection::one(tile);
        }
        let now = answers.iter().find_map(|answer| answer.pointed);
        if self.pointed != now {
            self.pointed = now;
            // The other grid was drawn before this was known.
            ui.request_repaint();
        }
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, memories: [&TileMemory; 2], made: Option<&Made>) {
        ui.horizontal(|ui| {
            self.choices.figure_ui(ui, &memories);
            ui.spacing_mut().item_spacing.x = 4.0;
            for (shows, title, name) in [
                (Shows::Both, "Both", "Grids of both"),
                (Shows::Difference, "Difference", "Grid of the difference"),
            ] {
                let is_on = self.shows == shows;
                let entry = ui.selectable_label(is_on, title).accessible_name(name);
                if entry.on_hover_text("Both side by side, or target − source").clicked() {
                    self.shows = shows;
                    ui.request_repaint();
                }
            }
            ui.separator();
            ui.spacing_mut().item_spacing.x = 8.0;
            match self.shows {
                Shows::Both => self.choices.scale_ui(ui, made.and_then(|made| made.ends)),
                Shows::Difference => {
                    change_scale_ui(ui, &mut self.changes, made.map(|made| made.most));
                }
            }
            ui.add(egui::Label::new(RichText::new(NOTE).weak()).truncate());
        });
    }
}

/// What the user did to a grid.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    clicked: Option<TileId>,
    pointed: Option<TileId>,
}

/// A grid that is shown.
struct Shown<'a> {
    name: &'static str,
    made: &'a Made,
    picture: &'a GridPicture,
    figure: &'a str,
}

impl Shown<'_> {
    /// Draws it in the space that is left; `pointed` is what the pointer is over elsewhere.
    fn ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        texture: &mut Option<(Arc<ColorImage>, TextureHandle)>,
        pointed: Option<TileId>,
    ) -> Answer {
        let (grid, tiles) = (&self.picture.grid, &self.made.tiles);
        let texture = texture_of(ui, self.name, texture, &self.picture.image);
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
        let layout = Layout::new(rect, grid);
        layout.paint(ui, grid, &texture, &page.selection.tiles, tiles);
        *page.has_painted_graph = true;
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, self.name);
            info.current_text_value = Some(self.figure.to_owned());
            info
        });
        let text = Tokens::now(ui).text;
        if let Some(row) = pointed.and_then(|tile| tiles.position(tile)) {
            layout.outline(ui, grid, row, Stroke::new(1.0, text));
        }
        let row = response.hover_pos().and_then(|at| layout.row_at(at, grid));
        let Some((row, tile)) = row.and_then(|row| Some((row, tiles.get(row)?))) else {
            return Answer::default();
        };
        layout.outline(ui, grid, row, Stroke::new(2.0, text));
        let ipu = page.report.target.get().and_then(|target| target.ipu_of(tile));
        let values = self.made.values_of(tile);
        egui::Tooltip::for_widget(&response).at_pointer().show(|ui| {
            let ipu = ipu.map_or(String::new(), |ipu| format!(" of IPU {ipu}"));
            ui.label(RichText::new(format!("Tile {tile}{ipu}: {}", self.figure)).strong());
            values_ui(ui, values);
        });
        Answer { clicked: response.clicked().then_some(tile), pointed: Some(tile) }
    }
}

/// The figures of a tile with their difference.
fn values_ui(ui: &mut egui::Ui, values: [Option<u64>; 2]) {
    let units = Units::now(ui);
    egui::Grid::new("tile of both").num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
        for side in Side::BOTH {
            ui.label(RichText::new(side.title()).color(side_color(ui, side)));
            ui.label(bytes_or_dash(side.of(values), units));
            ui.end_row();
        }
        if let [Some(source), Some(target)] = values {
            ui.weak("Difference");
            let text = change_text(source, target, units);
            ui.colored_label(change_color(ui, source, target), text);
            ui.end_row();
        }
    });
}
