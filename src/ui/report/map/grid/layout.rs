//! Where the tiles of a grid lie, and how they are painted.

use eframe::egui::{self, Align2, Color32, FontId, Key, Pos2, Rect, Stroke, TextureId, Vec2};

use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_grid::{TileGrid, TilePlace};
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::hatch;

/// The keys that go to the tile beside, with the way: to the right, and down.
pub const WAYS: [(Key, [isize; 2]); 4] = [
    (Key::ArrowRight, [1, 0]),
    (Key::ArrowLeft, [-1, 0]),
    (Key::ArrowDown, [0, 1]),
    (Key::ArrowUp, [0, -1]),
];
/// From which size tiles are set apart by lines, and have names and values, points.
const LEAST_APART: f32 = 8.0;
const LEAST_NAMED: f32 = 58.0;
/// Room above the grid of an IPU for its name, points.
const LABEL: f32 = 18.0;

/// Where the grids of the IPUs lie: side by side, in as many lines as make tiles largest.
pub struct GridLayout {
    rect: Rect,
    across: usize,
    tile: f32,
    columns: usize,
    lines: usize,
}

impl GridLayout {
    pub fn new(rect: Rect, grid: &TileGrid) -> Self {
        let lines = grid.devices.iter().map(|ipu| ipu.lines).max().unwrap_or(1).max(1);
        let (count, columns) = (grid.devices.len().max(1), grid.columns.max(1));
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
        (0..grid.devices.len()).find_map(|index| {
            let within = (at - self.corner(index)) / self.tile;
            if within.x < 0.0 || within.y < 0.0 {
                return None;
            }
            let (column, line) = (within.x as usize, within.y as usize);
            grid.row_at(TilePlace { grid: index, column, line })
        })
    }

    /// The tile beside another, one to the right or down; at the edge of an IPU the nearest of the next one.
    pub fn beside(&self, grid: &TileGrid, row: usize, [right, down]: [isize; 2]) -> Option<usize> {
        let place = grid.place_of(row)?;
        let within = || {
            let column = place.column.checked_add_signed(right)?;
            let line = place.line.checked_add_signed(down)?;
            grid.row_at(TilePlace { column, line, ..place })
        };
        let beyond = || {
            let across = isize::try_from(self.across).ok()?;
            let next = place.grid.checked_add_signed(right + down * across)?;
            // To the side it stays within a line of grids.
            let is_beside = right == 0 || next / self.across == place.grid / self.across;
            let lines = grid.devices.get(next).filter(|_| is_beside)?.lines;
            let at = |along: usize| {
                let (column, line) =
                    if right == 0 { (place.column, along) } else { (along, place.line) };
                grid.row_at(TilePlace { grid: next, column, line })
            };
            let mut along = 0..if right == 0 { lines } else { grid.columns };
            if right + down > 0 { along.find_map(at) } else { along.rev().find_map(at) }
        };
        within().or_else(beyond)
    }

    pub fn paint(
        &self,
        ui: &egui::Ui,
        grid: &TileGrid,
        texture: TextureId,
        (selected, tiles): (&TileSelection, &IdColumn<TileId>),
        device_title: &dyn Fn(u32) -> String,
    ) {
        let tokens = Tokens::now(ui);
        let painter = ui.painter().with_clip_rect(self.rect);
        let lines: usize = grid.devices.iter().map(|ipu| ipu.lines).sum::<usize>().max(1);
        let mut first = 0;
        for (index, ipu) in grid.devices.iter().enumerate() {
            let size = Vec2::new(self.columns as f32, ipu.lines as f32) * self.tile;
            let rect = Rect::from_min_size(self.corner(index), size);
            let part = |line: usize| line as f32 / lines as f32;
            let uv = Rect::from_x_y_ranges(0.0..=1.0, part(first)..=part(first + ipu.lines));
            // Tiles that are over are holes in the picture.
            let ground = rect.shrink(0.5);
            painter.rect_filled(ground, 0, tokens.over);
            let mut hatched = hatch::begin(ui.ctx());
            hatched.add(ground, tokens.surface);
            hatched.paint(&painter);
            painter.image(texture, rect, uv, Color32::WHITE);
            let stroke = Stroke::new(1.0, tokens.border);
            painter.rect_stroke(rect, 0, stroke, egui::StrokeKind::Outside);
            if let Some(device) = ipu.device {
                let at = rect.left_top() - Vec2::new(0.0, 3.0);
                let font = FontId::proportional(12.5);
                let title = device_title(device);
                painter.text(at, Align2::LEFT_BOTTOM, title, font, tokens.weak_text);
            }
            first += ipu.lines;
        }
        for tile in selected.iter().take(4096) {
            if let Some(row) = tiles.position(tile) {
                self.outline(ui, grid, row, Stroke::new(2.0, tokens.text));
            }
        }
    }

    /// Sets the tiles apart by lines, where they are large; where there is room each has its column and line, and its value.
    pub fn cells(&self, ui: &egui::Ui, grid: &TileGrid, value: impl Fn(usize) -> Option<String>) {
        if self.tile < LEAST_APART {
            return;
        }
        let tokens = Tokens::now(ui);
        let painter = ui.painter().with_clip_rect(self.rect);
        let [small, usual] = [fonts::size::CAPTION, fonts::size::TABLE].map(fonts::regular);
        for row in grid.devices.iter().flat_map(|device| device.rows.clone()) {
            let Some(place) = grid.place_of(row) else { continue };
            let rect = self.place(place);
            let line = Stroke::new(1.0, tokens.surface);
            painter.rect_stroke(rect, 0, line, egui::StrokeKind::Inside);
            if self.tile < LEAST_NAMED {
                continue;
            }
            let (at, text) =
                (rect.min + Vec2::splat(4.0), format!("{}, {}", place.column, place.line));
            painter.text(at, Align2::LEFT_TOP, text, small.clone(), tokens.weak_text);
            if let Some(value) = value(row) {
                let at = rect.center();
                painter.text(at, Align2::CENTER_CENTER, value, usual.clone(), tokens.text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::memory::tile_grid::DeviceGrid;

    #[test]
    fn the_tile_beside_may_be_of_the_next_ipu() {
        // Two IPUs side by side, 3 tiles a line: 0 to 4, and 5 to 9.
        let of = |device, rows| DeviceGrid { device: Some(device), rows, lines: 2 };
        let grid = TileGrid { columns: 3, devices: vec![of(0, 0..5), of(1, 5..10)] };
        let wide = Rect::from_min_size(Pos2::ZERO, Vec2::new(800.0, 100.0));
        let layout = GridLayout::new(wide, &grid);
        assert_eq!(layout.across, 2);
        let [right, left, down, up] = [[1, 0], [-1, 0], [0, 1], [0, -1]];
        assert_eq!(layout.beside(&grid, 0, right), Some(1));
        assert_eq!(layout.beside(&grid, 1, down), Some(4));
        assert_eq!(layout.beside(&grid, 2, down), None, "the last line is not full");
        assert_eq!(layout.beside(&grid, 2, right), Some(5));
        assert_eq!(layout.beside(&grid, 8, left), Some(4), "the nearest there is");
        assert_eq!(layout.beside(&grid, 0, left), None);
        assert_eq!(layout.beside(&grid, 7, right), None);
        let high = Rect::from_min_size(Pos2::ZERO, Vec2::new(100.0, 800.0));
        let layout = GridLayout::new(high, &grid);
        assert_eq!(layout.beside(&grid, 3, down), Some(5));
        assert_eq!(layout.beside(&grid, 5, up), Some(3));
        assert_eq!(layout.beside(&grid, 2, right), None, "the next IPU lies below");
    }
}
