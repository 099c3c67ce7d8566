//! The painting of the map of differences: names of rows, the picture, tiles below, what is selected.

use eframe::egui::{self, Align2, Color32, FontId, Pos2, Rect, Stroke, StrokeKind, TextureId};
use std::ops::Range;

use super::axis::TileAxis;
use super::difference_map::DifferencePicture;
use crate::analysis::comparison::difference_map::DifferenceMap;
use crate::text::shortened;
use crate::ui::report::category_colors::category_color;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::CellValue;
use crate::ui::widget::ticks;

/// Room for the names and changes of rows, points.
const LEFT: f32 = 248.0;
/// Room for the numbers of tiles, points.
const BOTTOM: f32 = 34.0;
/// Rows are not higher than this, points.
const HIGHEST: f32 = 30.0;
/// Longest name of a row.
const NAME: usize = 26;
/// The patch in the color of a category.
const PATCH: egui::Vec2 = egui::Vec2::splat(8.0);

#[derive(Clone, Copy, Debug)]
pub struct DifferenceLayout {
    pub plot: Rect,
    pub rows: usize,
    /// The visible positions.
    pub range: (f64, f64),
    height: f32,
}

impl DifferenceLayout {
    pub fn new(space: Rect, rows: usize, range: (f64, f64)) -> Self {
        let room = (space.height() - BOTTOM).max(1.0);
        let height = (room / rows.max(1) as f32).min(HIGHEST);
        let min = space.min + egui::vec2(LEFT, 2.0);
        let max = Pos2::new(space.right() - 2.0, min.y + height * rows as f32);
        Self { plot: Rect::from_min_max(min, max.max(min)), rows, range, height }
    }

    /// Positions of a point.
    pub fn per_point(&self) -> f64 {
        (self.range.1 - self.range.0) / f64::from(self.plot.width().max(1.0))
    }

    fn x(&self, position: f64) -> f32 {
        self.plot.left() + ((position - self.range.0) / self.per_point()) as f32
    }

    fn row(&self, row: usize) -> Rect {
        let top = self.plot.top() + self.height * row as f32;
        Rect::from_x_y_ranges(self.plot.x_range(), top..=top + self.height)
    }

    /// The rows with what is written beside and below them.
    pub fn whole(&self) -> Rect {
        let mut whole = self.plot;
        whole.min.x -= LEFT;
        whole.max.y += BOTTOM;
        whole
    }

    /// The row and the position at a place.
    pub fn place(&self, at: Pos2, len: usize) -> Option<(usize, usize)> {
        if !self.plot.contains(at) {
            return None;
        }
        let row = ((at.y - self.plot.top()) / self.height.max(0.1)) as usize;
        let position = self.range.0 + f64::from(at.x - self.plot.left()) * self.per_point();
        let position = (position + 0.5).floor().max(0.0) as usize;
        (row < self.rows && position < len).then_some((row, position))
    }

    /// Paints the tiles; the title stands below them.
    pub fn paint(
        &self,
        ui: &egui::Ui,
        axis: &TileAxis,
        title: &str,
        picture: Option<(&DifferencePicture, TextureId)>,
        selected: &[Range<usize>],
        hovered: Option<(usize, usize)>,
    ) {
        let (tokens, inside) = (Tokens::now(ui), ui.painter().with_clip_rect(self.plot));
        ui.painter().rect_filled(self.plot, 0, tokens.surface);
        let len = axis.len();
        if let Some((made, texture)) = picture {
            let columns = made.cells.first().map_or(0, Vec::len);
            let end = (made.first + columns * made.width).min(len);
            // The last column may stand for fewer tiles.
            let share = (end - made.first.min(end)) as f32 / (columns * made.width).max(1) as f32;
            let x = self.x(made.first as f64 - 0.5)..=self.x(end as f64 - 0.5);
            let rect = Rect::from_x_y_ranges(x, self.plot.y_range());
            let uv = Rect::from_min_max(Pos2::ZERO, Pos2::new(share, 1.0));
            inside.image(texture, rect, uv, Color32::WHITE);
        }
        if self.height > 10.0 {
            let stroke = Stroke::new(1.0, tokens.page);
            for row in 1..self.rows {
                inside.hline(self.plot.x_range(), self.row(row).top(), stroke);
            }
        }
        self.tiles_ui(ui, axis, title);
        self.selected_ui(&inside, tokens, selected);
        if let Some((row, position)) = hovered {
            let x = self.x(position as f64 - 0.5)..=self.x(position as f64 + 0.5);
            let cell = Rect::from_x_y_ranges(x, self.row(row).y_range());
            let cell = cell.expand2(egui::vec2((4.0 - cell.width()).max(0.0) / 2.0, 0.0));
            inside.rect_stroke(cell, 0, Stroke::new(1.5, tokens.text), StrokeKind::Outside);
        }
    }

    /// The names of the rows, with their changes over all tiles.
    pub fn rows_ui(&self, ui: &egui::Ui, map: &DifferenceMap, hovered: Option<usize>) {
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let size = (self.height - 1.0).clamp(7.0, 12.5);
        let font = FontId::proportional(size);
        for (index, row) in map.rows.iter().enumerate() {
            let middle = self.row(index).center().y;
            let left = Pos2::new(self.plot.left() - LEFT, middle);
            let color = if hovered == Some(index) { tokens.accent } else { tokens.text };
            let patch = Rect::from_center_size(left + egui::vec2(4.0, 0.0), PATCH);
            ui.painter().rect_filled(patch, 0, row_color(&row.key, tokens));
            let title = shortened(&row.title, NAME);
            let left = left + egui::vec2(PATCH.x + 5.0, 0.0);
            ui.painter().text(left, Align2::LEFT_CENTER, title, font.clone(), color);
            let color = match row.total {
                1.. => tokens.more,
                0 => tokens.weak_text,
                _ => tokens.less,
            };
            let right = Pos2::new(self.plot.left() - 8.0, middle);
            let change = CellValue::Change(row.total).shown(units);
            ui.painter().text(right, Align2::RIGHT_CENTER, change, font.clone(), color);
        }
    }

    /// Numbers of tiles, and where IPUs begin.
    fn tiles_ui(&self, ui: &egui::Ui, axis: &TileAxis, title: &str) {
        let (painter, tokens) = (ui.painter(), Tokens::now(ui));
        let (font, color) = (FontId::proportional(12.0), tokens.weak_text);
        let step = ticks::whole_step(self.per_point() * 72.0);
        for position in ticks::multiples(step, (self.range.0.max(0.0), self.range.1)) {
            let x = self.x(position);
            let Some(tile) = axis.tile(position as usize) else { continue };
            let tick = self.plot.bottom()..=self.plot.bottom() + 4.0;
            painter.vline(x, tick, Stroke::new(1.0, color));
            if x < self.plot.right() - 16.0 {
                let at = Pos2::new(x, self.plot.bottom() + 4.0);
                painter.text(at, Align2::CENTER_TOP, tile.to_string(), font.clone(), color);
            }
        }
        for (position, _) in &axis.borders {
            let x = self.x(*position as f64 - 0.5);
            if *position > 0 && self.plot.x_range().contains(x) {
                painter.vline(x, self.plot.y_range(), Stroke::new(1.0, tokens.weak_text));
            }
        }
        let at = Pos2::new(self.plot.center().x, self.plot.bottom() + BOTTOM - 2.0);
        painter.text(at, Align2::CENTER_BOTTOM, title, font, color);
    }

    /// The selected tiles, below the picture and through it.
    fn selected_ui(&self, inside: &egui::Painter, tokens: &Tokens, selected: &[Range<usize>]) {
        let mut drawn_to = f32::NEG_INFINITY;
        let first = selected.partition_point(|range| (range.end as f64) < self.range.0);
        for range in selected.iter().skip(first) {
            let x = self.x(range.start as f64 - 0.5)..=self.x(range.end as f64 - 0.5);
            if *x.start() > self.plot.right() {
                break;
            }
            if *x.end() - drawn_to < 1.0 {
                continue;
            }
            drawn_to = *x.end();
            let rect = Rect::from_x_y_ranges(x, self.plot.y_range());
            let rect = rect.expand2(egui::vec2((2.0 - rect.width()).max(0.0) / 2.0, 0.0));
            inside.rect_stroke(rect, 0, Stroke::new(1.0, tokens.text), StrokeKind::Outside);
        }
    }
}

/// The color of a row; what is no category is gray.
fn row_color(key: &str, tokens: &Tokens) -> Color32 {
    match key {
        "gaps" => tokens.gap,
        "overlapped" | "total" => tokens.raised,
        category => category_color(category, tokens),
    }
}
