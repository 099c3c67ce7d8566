//! The tiles of the chip as a grid, coloured by one figure: unlike the graph over tiles it shows which
//! neighbours in software order stand out. Where tiles lie on the chip is not in the report.

use eframe::egui;
use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, ColorImage, ComboBox, FontId, Pos2, Rect, RichText, Sense, Stroke,
    TextureHandle, Vec2,
};

use crate::analysis::memory::category_title;
use crate::analysis::selection::TileSelection;
use crate::analysis::tile_grid::{TileFigure, TileGrid, TilePlace, extent, values};
use crate::store::TileId;
use crate::store::memory::{TileColumn, TileMemory};
use crate::text::shortened;
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, bytes_or_dash};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Tiles of a line at most, as long as a picture of all lines fits into a texture.
const COLUMNS: usize = 46;
/// Lines of a texture.
const MOST_LINES: usize = 2000;
/// Room above the grid of an IPU for its name, points.
const LABEL: f32 = 18.0;

/// What the colours reach from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// From the least to the most.
    LeastToMost,
    /// From nothing to the most.
    ZeroToMost,
    /// From nothing to the limit of a tile.
    ZeroToLimit,
}

impl Scale {
    fn title(self) -> &'static str {
        match self {
            Self::LeastToMost => "From least to most",
            Self::ZeroToMost => "From 0 to most",
            Self::ZeroToLimit => "From 0 to limit",
        }
    }
}

type Key = (TileFigure, Scale, bool);

/// A picture of all tiles, a pixel a tile.
#[derive(Clone, Debug)]
struct Made {
    values: TileColumn,
    grid: TileGrid,
    ends: Option<(u64, u64)>,
    image: Arc<ColorImage>,
}

/// What the grid remembers.
pub struct TileGridView {
    figure: TileFigure,
    scale: Scale,
    made: Latest<Key, Arc<Made>>,
    texture: Option<(Arc<Made>, TextureHandle)>,
}

impl Default for TileGridView {
    fn default() -> Self {
        Self {
            figure: TileFigure::IncludingGaps,
            scale: Scale::LeastToMost,
            made: Latest::default(),
            texture: None,
        }
    }
}

impl std::fmt::Debug for TileGridView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TileGridView").field(&self.figure).field(&self.scale).finish()
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
        let key: Key = (self.figure.clone(), self.scale, ui.visuals().dark_mode);
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
        let is_fresh = self.texture.as_ref().is_some_and(|(shown, _)| Arc::ptr_eq(shown, &made));
        if !is_fresh {
            let image = Arc::clone(&made.image);
            let texture = ui.load_texture("grid of tiles", image, egui::TextureOptions::NEAREST);
            self.texture = Some((Arc::clone(&made), texture));
        }
        let (_, texture) = self.texture.as_ref()?;
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
        let layout = Layout::new(rect, &made.grid);
        layout.paint(ui, &made.grid, texture, &page.selection.tiles, memory);
        *page.has_painted_graph = true;
        let figure = figure_title(&self.figure);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Grid of tiles");
            info.current_text_value = Some(figure.clone());
            info
        });
        let row = response.hover_pos().and_then(|at| layout.row_at(at, &made.grid))?;
        let tile = memory.tiles.get(row)?;
        layout.outline(ui, &made.grid, row, Stroke::new(2.0, Tokens::now(ui).text));
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
            let combo = ComboBox::from_id_salt("figure of tiles").width(210.0);
            let combo = combo.selected_text(figure_title(&self.figure)).show_ui(ui, |ui| {
                let figures = [
                    TileFigure::IncludingGaps,
                    TileFigure::Total,
                    TileFigure::Gaps,
                    TileFigure::OverLimit,
                    TileFigure::AlwaysLive,
                    TileFigure::NotAlwaysLiveMax,
                ];
                let categories = memory.categories.iter();
                let categories =
                    categories.map(|category| TileFigure::Category(category.name.clone()));
                for figure in figures.into_iter().chain(categories) {
                    let title = figure_title(&figure);
                    ui.selectable_value(&mut self.figure, figure, title);
                }
            });
            combo.response.accessible_name("Figure");
            let combo = ComboBox::from_id_salt("scale of tiles").width(150.0);
            let combo = combo.selected_text(self.scale.title()).show_ui(ui, |ui| {
                for scale in [Scale::LeastToMost, Scale::ZeroToMost, Scale::ZeroToLimit] {
                    ui.selectable_value(&mut self.scale, scale, scale.title());
                }
            });
            combo.response.accessible_name("Colour scale");
            if let Some((least, most)) = made.and_then(|made| made.ends) {
                let units = Units::now(ui);
                ui.label(units.bytes(least));
                scale_ui(ui);
                ui.label(units.bytes(most));
            }
            let note =
                "Tiles in software order: the report does not say where they lie on the chip";
            ui.add(egui::Label::new(RichText::new(note).weak()).truncate());
        });
    }
}

impl Made {
    fn new(report: &crate::store::Report, (figure, scale, _): &Key, tokens: &Tokens) -> Self {
        let none = TileMemory::default();
        let memory = report.memory.get().unwrap_or(&none);
        let target = report.target.get();
        let values = values(memory, target, figure);
        let tiles = memory.tiles.len();
        let per_ipu = target.and_then(|target| usize::try_from(target.tiles_per_ipu?).ok());
        // Few tiles stand in a square, not in a thin line.
        let square = per_ipu.unwrap_or(tiles).min(tiles).isqrt().max(1);
        let columns = COLUMNS.min(square + square / 2).max(tiles.div_ceil(MOST_LINES));
        let grid = TileGrid::new(memory, target, columns);
        let limit = target.and_then(|target| target.bytes_per_tile);
        let ends = extent(&values).map(|(least, most)| match scale {
            Scale::LeastToMost => (least, most),
            Scale::ZeroToMost => (0, most),
            Scale::ZeroToLimit => (0, limit.unwrap_or(most)),
        });
        let lines: usize = grid.ipus.iter().map(|ipu| ipu.lines).sum();
        let mut image = ColorImage::filled([columns, lines.max(1)], Color32::TRANSPARENT);
        let mut first = 0;
        for ipu in &grid.ipus {
            for (index, row) in ipu.rows.clone().enumerate() {
                let color = color(values.get(row).copied().flatten(), ends, tokens);
                if let Some(pixel) = image.pixels.get_mut(first * columns + index) {
                    *pixel = color;
                }
            }
            first += ipu.lines;
        }
        Self { values, grid, ends, image: Arc::new(image) }
    }
}

/// The colour of a value between two ends; what is not known has none.
fn color(value: Option<u64>, ends: Option<(u64, u64)>, tokens: &Tokens) -> Color32 {
    let (Some(value), Some((least, most))) = (value, ends) else { return tokens.surface };
    let span = most.saturating_sub(least).max(1) as f32;
    shade(value.saturating_sub(least) as f32 / span, tokens)
}

/// A colour of the scale: brightness tells more from less, whatever the eye.
fn shade(share: f32, tokens: &Tokens) -> Color32 {
    tokens.base_fill.lerp_to_gamma(tokens.top, share.clamp(0.0, 1.0))
}

fn scale_ui(ui: &mut egui::Ui) {
    let tokens = Tokens::now(ui);
    let (rect, _) = ui.allocate_exact_size(Vec2::new(96.0, 12.0), Sense::hover());
    for step in 0..24_u8 {
        let left = rect.left() + f32::from(step) * 4.0;
        let part = Rect::from_x_y_ranges(left..=left + 4.0, rect.y_range());
        ui.painter().rect_filled(part, 0, shade(f32::from(step) / 23.0, tokens));
    }
}

/// The name of a figure.
pub fn figure_title(figure: &TileFigure) -> String {
    match figure {
        TileFigure::IncludingGaps => "With gaps".to_owned(),
        TileFigure::Total => "Without gaps".to_owned(),
        TileFigure::Gaps => "Gaps".to_owned(),
        TileFigure::OverLimit => "Over the limit".to_owned(),
        TileFigure::AlwaysLive => "Always live".to_owned(),
        TileFigure::NotAlwaysLiveMax => "Not always live, at most".to_owned(),
        TileFigure::Category(name) => category_title(&shortened(name, 60)),
    }
}

/// Where the grids of the IPUs lie: side by side, in as many lines as make tiles largest.
struct Layout {
    rect: Rect,
    across: usize,
    tile: f32,
    columns: usize,
    lines: usize,
}

impl Layout {
    fn new(rect: Rect, grid: &TileGrid) -> Self {
        let lines = grid.ipus.iter().map(|ipu| ipu.lines).max().unwrap_or(1).max(1);
        let (count, columns) = (grid.ipus.len().max(1), grid.columns.max(1));
        let tile = |across: usize| {
            let down = count.div_ceil(across);
            let width = rect.width() / (across * (columns + 1)) as f32;
            let height = (rect.height() - LABEL * down as f32) / (down * (lines + 1)) as f32;
            width.min(height).max(0.1)
        };
        let across = (1..=count.min(64)).max_by(|a, b| tile(*a).total_cmp(&tile(*b))).unwrap_or(1);
        Self { rect, across, tile: tile(across), columns, lines }
    }

    /// Where the grid of an IPU begins.
    fn corner(&self, grid: usize) -> Pos2 {
        let (column, line) = (grid % self.across, grid / self.across);
        let step = Vec2::new(
            self.tile * (self.columns + 1) as f32,
            LABEL + self.tile * (self.lines + 1) as f32,
        );
        let at = Vec2::new(column as f32, line as f32) * step;
        self.rect.min + at + Vec2::new(0.0, LABEL)
    }

    fn place(&self, place: TilePlace) -> Rect {
        let at = Vec2::new(place.column as f32, place.line as f32) * self.tile;
        Rect::from_min_size(self.corner(place.grid) + at, Vec2::splat(self.tile))
    }

    /// The row of `memory_by_tile` at a place.
    fn row_at(&self, at: Pos2, grid: &TileGrid) -> Option<usize> {
        (0..grid.ipus.len()).find_map(|index| {
            let within = (at - self.corner(index)) / self.tile;
            if within.x < 0.0 || within.y < 0.0 {
                return None;
            }
            let (column, line) = (within.x as usize, within.y as usize);
            grid.row_at(TilePlace { grid: index, column, line })
        })
    }

    fn paint(
        &self,
        ui: &egui::Ui,
        grid: &TileGrid,
        texture: &TextureHandle,
        selected: &TileSelection,
        memory: &TileMemory,
    ) {
        let tokens = Tokens::now(ui);
        let painter = ui.painter().with_clip_rect(self.rect);
        let lines: usize = grid.ipus.iter().map(|ipu| ipu.lines).sum::<usize>().max(1);
        let mut first = 0;
        for (index, ipu) in grid.ipus.iter().enumerate() {
            let size = Vec2::new(self.columns as f32, ipu.lines as f32) * self.tile;
            let rect = Rect::from_min_size(self.corner(index), size);
            let part = |line: usize| line as f32 / lines as f32;
            let uv = Rect::from_x_y_ranges(0.0..=1.0, part(first)..=part(first + ipu.lines));
            painter.image(texture.id(), rect, uv, Color32::WHITE);
            let stroke = Stroke::new(1.0, tokens.border);
            painter.rect_stroke(rect, 0, stroke, egui::StrokeKind::Outside);
            if let Some(ipu) = ipu.ipu {
                let at = rect.left_top() - Vec2::new(0.0, 3.0);
                let font = FontId::proportional(12.5);
                painter.text(at, Align2::LEFT_BOTTOM, format!("IPU {ipu}"), font, tokens.weak_text);
            }
            first += ipu.lines;
        }
        for tile in selected.iter().take(4096) {
            if let Some(row) = memory.tiles.position(tile) {
                self.outline(ui, grid, row, Stroke::new(2.0, tokens.text));
            }
        }
    }

    fn outline(&self, ui: &egui::Ui, grid: &TileGrid, row: usize, stroke: Stroke) {
        if let Some(place) = grid.place_of(row) {
            let rect = self.place(place);
            ui.painter().rect_stroke(rect, 0, stroke, egui::StrokeKind::Outside);
        }
    }
}
