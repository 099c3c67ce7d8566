//! The painting of the map of all tiles, and what the pointer learns.

use eframe::egui::{self, Align2, Pos2, Rect, RichText, Stroke, TextureId};

use crate::analysis::liveness::lifetimes::category_and_name;
use crate::analysis::memory::category_title;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::placement::chip_map::{ChipCell, ChipMap, rows_at};
use crate::store::target::Target;
use crate::store::{Report, TileId};
use crate::text::{grouped, shortened};
use crate::ui::report::tile_figures::tile_text;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::hatch;
use crate::ui::widget::picture::{grounded_text, paint_texture};
use crate::ui::widget::plane::PlacedPlane;
use crate::ui::widget::ticks;

/// Room for the numbers of tiles, and for addresses, points.
const LEFT: f32 = 40.0;
const BOTTOM: f32 = 34.0;
/// Variables in the tooltip.
const MOST_VARIABLES: usize = 6;
/// Longest name in the tooltip.
const NAME: usize = 60;

#[derive(Clone, Copy, Debug)]
pub struct ChipFrame {
    /// With its axes.
    pub outer: Rect,
    /// Without them.
    pub inner: Rect,
}

impl ChipFrame {
    pub fn new(outer: Rect) -> Self {
        let max = outer.max - egui::vec2(2.0, BOTTOM);
        let min = outer.min + egui::vec2(LEFT, 4.0);
        Self { outer, inner: Rect::from_min_max(min, max.max(min + egui::vec2(1.0, 1.0))) }
    }

    pub fn painter(self, ui: &egui::Ui, placed: PlacedPlane) -> MapPainter<'_> {
        MapPainter { ui, frame: self, placed, tokens: Tokens::now(ui) }
    }
}

pub struct MapPainter<'a> {
    ui: &'a egui::Ui,
    frame: ChipFrame,
    /// Addresses along x, tiles along y.
    placed: PlacedPlane,
    tokens: &'static Tokens,
}

impl MapPainter<'_> {
    pub fn inside(&self) -> egui::Painter {
        self.ui.painter().with_clip_rect(self.frame.inner)
    }

    pub fn place(&self, at: Pos2) -> Option<(TileId, u64)> {
        if !self.frame.inner.contains(at) {
            return None;
        }
        let (address, tile) = self.placed.position(at);
        let whole = |at: f64| (at + 0.5).floor().max(0.0);
        Some((TileId(whole(tile) as u32), whole(address) as u64))
    }

    /// A ground whose hatch shows through where nothing is placed.
    pub fn background(&self) {
        let stroke = Stroke::new(1.0, self.tokens.border);
        let kind = egui::StrokeKind::Outside;
        self.ui.painter().rect(self.frame.inner, 0, self.tokens.surface, stroke, kind);
        let mut hatched = hatch::begin(self.ui.ctx());
        hatched.add(self.frame.inner, self.tokens.gap);
        hatched.paint(self.ui.painter());
    }

    /// The picture, where the tiles and addresses lie that it was made for.
    pub fn picture(&self, map: &ChipMap, texture: TextureId) {
        let addresses = [map.addresses.start as f64, map.addresses.end as f64];
        let tiles = [f64::from(map.tiles.start), f64::from(map.tiles.end)];
        paint_texture(&self.inside(), texture, self.placed.rect_of(addresses, tiles));
    }

    /// Where IPUs begin, and the limit of a tile.
    pub fn borders(&self, target: Option<&Target>) {
        let Some(target) = target else { return };
        let (painter, inner) = (self.inside(), self.frame.inner);
        let per_ipu = target.tiles_per_device.unwrap_or(0);
        let first = (self.placed.y.0.max(0.0) as u64).checked_div(per_ipu);
        let last = (self.placed.y.1.max(0.0) as u64).checked_div(per_ipu);
        if let (Some(first), Some(last)) = (first, last)
            && let Some(ipus) = target.devices.filter(|ipus| *ipus > 1)
        {
            for ipu in (first..=last.min(ipus - 1)).take(64) {
                let y = self.placed.y_of((ipu * per_ipu) as f64);
                painter.hline(inner.x_range(), y, Stroke::new(1.5, self.tokens.text));
                let at = Pos2::new(inner.left() + 4.0, y.max(inner.top()) + 3.0);
                let title = format!("IPU {ipu}");
                grounded_text(&painter, at, Align2::LEFT_TOP, &title, self.tokens.text);
            }
        }
        if let Some(limit) = target.bytes_per_tile {
            let x = self.placed.x_of(limit as f64);
            let line = [Pos2::new(x, inner.top()), Pos2::new(x, inner.bottom())];
            let stroke = Stroke::new(2.0, self.tokens.ink);
            painter.extend(egui::Shape::dashed_line(&line, stroke, 8.0, 4.0));
            if inner.x_range().contains(x) {
                let at = Pos2::new(x - 4.0, inner.top() + 3.0);
                grounded_text(&painter, at, Align2::RIGHT_TOP, "Limit", self.tokens.text);
            }
        }
    }

    /// Marks the selected tiles at the left.
    pub fn selected(&self, tiles: &TileSelection) {
        let x = self.frame.inner.left() - 5.0;
        let mut drawn_to = f32::NEG_INFINITY;
        for range in tiles.ranges() {
            let top = self.placed.y_of(f64::from(*range.start())).max(self.frame.inner.top());
            let bottom =
                self.placed.y_of(f64::from(*range.end()) + 1.0).min(self.frame.inner.bottom());
            if bottom < top || bottom - drawn_to < 0.5 {
                continue;
            }
            drawn_to = bottom;
            let mark = Rect::from_x_y_ranges(x..=x + 4.0, top..=bottom.max(top + 2.0));
            self.ui.painter().rect_filled(mark, 0, self.tokens.accent);
        }
    }

    pub fn axes(&self, units: Units) {
        let (inner, painter) = (self.frame.inner, self.ui.painter());
        let (font, color) = (fonts::regular(11.0), self.tokens.weak_text);
        let [per_x, per_y] = self.placed.per_point();
        let step = ticks::bytes_step(per_x * 84.0, units);
        let top = self.placed.x.1;
        for address in ticks::multiples(step, (self.placed.x.0.max(0.0), top)) {
            let x = self.placed.x_of(address);
            painter.vline(x, inner.bottom()..=inner.bottom() + 4.0, Stroke::new(1.0, color));
            let text = ticks::bytes_text(address, step, top, units);
            if x < inner.right() - 20.0 {
                let at = Pos2::new(x, inner.bottom() + 5.0);
                painter.text(at, Align2::CENTER_TOP, text, font.clone(), color);
            }
        }
        let step = ticks::whole_step(per_y * 26.0);
        for tile in ticks::multiples(step, (self.placed.y.0.max(0.0), self.placed.y.1)) {
            // The middle of the line of the tile.
            let y = self.placed.y_of(tile + 0.5).max(inner.top());
            painter.hline(inner.left() - 10.0..=inner.left() - 6.0, y, Stroke::new(1.0, color));
            let at = Pos2::new(inner.left() - 13.0, y);
            painter.text(at, Align2::RIGHT_CENTER, format!("{tile}"), font.clone(), color);
        }
        let at = Pos2::new(inner.center().x, self.frame.outer.bottom());
        let title = "Address within the tile; a line for each tile";
        painter.text(at, Align2::CENTER_BOTTOM, title, font, color);
    }

    pub fn cursor(&self, tile: TileId, address: u64) {
        let stroke = Stroke::new(1.0, self.tokens.text.gamma_multiply(0.6));
        let inner = self.frame.inner;
        let y = self.placed.y_of(f64::from(tile.0) + 0.5);
        self.inside().hline(inner.x_range(), y, stroke);
        self.inside().vline(self.placed.x_of(address as f64 + 0.5), inner.y_range(), stroke);
    }
}

pub fn tooltip_ui(
    ui: &mut egui::Ui,
    report: &Report,
    tile: TileId,
    address: u64,
    step: Option<usize>,
    cell: Option<ChipCell>,
) {
    let units = Units::now(ui);
    // Of a tile that only another report has this one says nothing.
    let has_tile = report.arenas.get().is_some_and(|all| all.ids.position(tile.into()).is_some());
    let target = report.target.get().filter(|_| has_tile);
    let title = format!("{}, address {}", tile_text(target, tile), grouped(address));
    ui.label(RichText::new(title).strong());
    let Some(variables) = report.variables.get() else { return };
    let rows = rows_at(report, tile, address, step);
    if rows.is_empty() {
        ui.label(match (cell, step) {
            (Some(ChipCell::Beyond), _) => "Behind the last used byte, or no tile",
            (Some(ChipCell::Free), Some(_)) => "Free at this step, used at others",
            (_, Some(_)) => "No variable lives here at this step",
            _ => "No variable ever uses this byte",
        });
    }
    egui::Grid::new("variables here").num_columns(3).spacing([14.0, 2.0]).show(ui, |ui| {
        for row in rows.iter().take(MOST_VARIABLES) {
            let row = *row as usize;
            let (category, name) = category_and_name(report, variables, row);
            let category = category.and_then(|id| report.categories.get()?.name(id));
            ui.label(shortened(&name, NAME));
            let bytes = variables.size(row);
            ui.label(bytes.map_or(String::new(), |bytes| units.bytes(bytes)));
            ui.weak(category.map_or(String::new(), |name| category_title(&shortened(name, NAME))));
            ui.end_row();
        }
    });
    if rows.len() > MOST_VARIABLES {
        ui.weak(format!("and {} more", grouped((rows.len() - MOST_VARIABLES) as u64)));
    }
    ui.weak("A pixel shows what most of its bytes are; click to select the tile");
}
