//! The tiles of the chip as a grid, coloured by one figure: unlike the graph over tiles it shows which
//! neighbours in software order stand out. Where tiles lie on the chip is not in the report.

mod layout;
pub mod pair;
mod scale;

use eframe::egui;
use std::sync::Arc;

use eframe::egui::{Color32, ColorImage, RichText, Sense, Stroke, TextureHandle};

use crate::analysis::memory::tile_grid::{TileGrid, extent, values};
use crate::store::ids::IdColumn;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;
use crate::store::{Report, TileId};
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, bytes_or_dash};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use layout::Layout;
pub use scale::figure_title;
use scale::{Choices, color};

/// What is said beside every grid.
const NOTE: &str = "Tiles in software order: the report does not say where they lie on the chip";
/// Tiles of a line at most, as long as a picture of all lines fits into a texture.
const COLUMNS: usize = 46;
/// Lines of a texture.
const MOST_LINES: usize = 2000;
type Key = (Choices, bool);

/// A picture of all tiles, a pixel a tile.
#[derive(Clone, Debug)]
pub struct GridPicture {
    /// Where tiles stand.
    pub grid: TileGrid,
    /// Their colours.
    pub image: Arc<ColorImage>,
}

/// The picture of a figure.
#[derive(Clone, Debug)]
struct Made {
    values: TileColumn,
    ends: Option<(u64, u64)>,
    picture: GridPicture,
}

/// What the grid remembers.
#[derive(Default)]
pub struct TileGridView {
    choices: Choices,
    made: Latest<Key, Arc<Made>>,
    texture: Option<(Arc<ColorImage>, TextureHandle)>,
}

impl std::fmt::Debug for TileGridView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TileGridView").field(&self.choices).finish()
    }
}

impl TileGridView {
    /// Draws the grid in the space that is left; returns a tile that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
    ) -> Option<TileId> {
        let key: Key = (self.choices.clone(), ui.visuals().dark_mode);
        let (report, tokens, wanted) = (Arc::clone(page.report), *Tokens::now(ui), key.clone());
        self.made.ask("grid of tiles", ui.ctx(), &key, move |_| {
            Arc::new(Made::new(&report, &wanted, &tokens))
        });
        let made = self.made.last().map(|(_, made)| Arc::clone(made));
        self.head_ui(ui, memory, made.as_deref());
        let Some(made) = made else {
            ui.weak(self.made.failure().unwrap_or("Drawing the tiles…"));
            return None;
        };
        let texture = texture_of(ui, "grid of tiles", &mut self.texture, &made.picture.image);
        let grid = &made.picture.grid;
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
        let layout = Layout::new(rect, grid);
        layout.paint(ui, grid, &texture, &page.selection.tiles, &memory.tiles);
        *page.has_painted_graph = true;
        let figure = figure_title(&self.choices.figure);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Grid of tiles");
            info.current_text_value = Some(figure.clone());
            info
        });
        let row = response.hover_pos().and_then(|at| layout.row_at(at, grid))?;
        let tile = memory.tiles.get(row)?;
        layout.outline(ui, grid, row, Stroke::new(2.0, Tokens::now(ui).text));
        let units = Units::now(ui);
        let ipu = page.report.target.get().and_then(|target| target.ipu_of(tile));
        egui::Tooltip::for_widget(&response).at_pointer().show(|ui| {
            let ipu = ipu.map_or(String::new(), |ipu| format!(" of IPU {ipu}"));
            ui.label(RichText::new(format!("Tile {tile}{ipu}")).strong());
            let bytes = made.values.get(row).copied().flatten();
            ui.label(format!("{figure}: {}", bytes_or_dash(bytes, units)));
        });
        response.clicked().then_some(tile)
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, memory: &TileMemory, made: Option<&Made>) {
        ui.horizontal(|ui| {
            self.choices.figure_ui(ui, &[memory]);
            self.choices.scale_ui(ui, made.and_then(|made| made.ends));
            ui.add(egui::Label::new(RichText::new(NOTE).weak()).truncate());
        });
    }
}

impl Made {
    fn new(report: &Report, (choices, _): &Key, tokens: &Tokens) -> Self {
        let none = TileMemory::default();
        let memory = report.memory.get().unwrap_or(&none);
        let target = report.target.get();
        let values = values(memory, target, &choices.figure);
        let limit = target.and_then(|target| target.bytes_per_tile);
        let ends = extent(&values).map(|ends| choices.scale.ends(ends, limit));
        let picture = GridPicture::new(&memory.tiles, target, |row| {
            color(values.get(row).copied().flatten(), ends, tokens)
        });
        Self { values, ends, picture }
    }
}

impl GridPicture {
    /// Gives every tile, by its row, a colour.
    pub fn new(
        tiles: &IdColumn<TileId>,
        target: Option<&Target>,
        color: impl Fn(usize) -> Color32,
    ) -> Self {
        let count = tiles.len();
        let per_ipu = target.and_then(|target| usize::try_from(target.tiles_per_ipu?).ok());
        // Few tiles stand in a square, not in a thin line.
        let square = per_ipu.unwrap_or(count).min(count).isqrt().max(1);
        let columns = COLUMNS.min(square + square / 2).max(count.div_ceil(MOST_LINES));
        let grid = TileGrid::new(tiles, target, columns);
        let lines: usize = grid.ipus.iter().map(|ipu| ipu.lines).sum();
        let mut image = ColorImage::filled([columns, lines.max(1)], Color32::TRANSPARENT);
        let mut first = 0;
        for ipu in &grid.ipus {
            for (index, row) in ipu.rows.clone().enumerate() {
                if let Some(pixel) = image.pixels.get_mut(first * columns + index) {
                    *pixel = color(row);
                }
            }
            first += ipu.lines;
        }
        Self { grid, image: Arc::new(image) }
    }
}

/// The texture of a picture, which is made again when there is another picture.
pub fn texture_of(
    ui: &egui::Ui,
    name: &str,
    kept: &mut Option<(Arc<ColorImage>, TextureHandle)>,
    image: &Arc<ColorImage>,
) -> TextureHandle {
    match kept {
        Some((shown, texture)) if Arc::ptr_eq(shown, image) => texture.clone(),
        _ => {
            let options = egui::TextureOptions::NEAREST;
            let texture = ui.load_texture(name, Arc::clone(image), options);
            *kept = Some((Arc::clone(image), texture.clone()));
            texture
        }
    }
}
