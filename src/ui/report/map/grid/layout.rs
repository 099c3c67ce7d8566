//! Where the tiles of a grid lie, and how they are painted.

use eframe::egui::{self, Align2, Color32, FontId, Pos2, Rect, Stroke, TextureId, Vec2};

use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_grid::{TileGrid, TilePlace};
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::ui::theme::Tokens;
use crate::ui::widget::hatch;

/// Room above the grid of an IPU for its name, points.
const LABEL: f32 = 18.0;

/// Where the grids of the IPUs lie: side by side, in as many lines as make tiles largest.
pub struct Layout {
    rect: Rect,
    across: usize,
    tile: f32,
    columns: usize,
    lines: usize,
}

impl Layout {
    pub fn new(rect: Rect, grid: &TileGrid) -> Self {
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

    pub fn row_at(&self, at: Pos2, grid: &TileGrid) -> Option<usize> {
        (0..grid.ipus.len()).find_map(|index| {
            let within = (at - self.corner(index)) / self.tile;
            if within.x < 0.0 || within.y < 0.0 {
                return None;
            }
            let (column, line) = (within.x as usize, within.y as usize);
            grid.row_at(TilePlace { grid: index, column, line })
        })
    }

    pub fn paint(
        &self,
        ui: &egui::Ui,
        grid: &TileGrid,
        texture: TextureId,
        selected: &TileSelection,
        tiles: &IdColumn<TileId>,
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
            // Tiles that are over are holes in the picture.
            painter.rect_filled(rect, 0, tokens.over);
            let mut hatched = hatch::begin(ui.ctx());
            hatched.add(rect, tokens.surface);
            hatched.paint(&painter);
            painter.image(texture, rect, uv, Color32::WHITE);
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
            if let Some(row) = tiles.position(tile) {
                self.outline(ui, grid, row, Stroke::new(2.0, tokens.text));
            }
        }
    }

    pub fn outline(&self, ui: &egui::Ui, grid: &TileGrid, row: usize, stroke: Stroke) {
        if let Some(place) = grid.place_of(row) {
            let rect = self.place(place);
            ui.painter().rect_stroke(rect, 0, stroke, egui::StrokeKind::Outside);
        }
    }
}
