//! How full the tiles are: how many have how many bytes around the limit, and all of them by number.

use eframe::egui::{self, Align2, ColorImage, Pos2, Rect, Sense, Stroke, Vec2};
use std::sync::Arc;

use crate::analysis::insights::fullest_tiles::Bin;
use crate::analysis::memory::cell;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::report::insights::RunPart;
use crate::ui::theme::{Tokens, fonts, fonts::size};
use crate::ui::units::Units;
use crate::ui::widget::bar::hatch;
use crate::ui::widget::picture::{ImageTexture, describe, paint_texture};

/// Room below the bars for figures, points.
const BELOW: f32 = 18.0;
/// Room above them for what they say, points.
const ABOVE: f32 = 20.0;
/// Least side of a tile in the strip, points.
const TILE: f32 = 3.0;

/// Draws the histogram in a height; a click on a bar selects its tiles.
pub fn histogram_ui(
    ui: &mut egui::Ui,
    (bins, limit): (&[Bin], u64),
    height: f32,
    target: &mut RunPart<'_>,
) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let size = Vec2::new(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let frame =
        Rect::from_min_max(rect.min + Vec2::new(0.0, ABOVE), rect.max - Vec2::new(0.0, BELOW));
    let most = bins.iter().map(|bin| bin.tiles).max().unwrap_or(0).max(1);
    let width = frame.width() / bins.len().max(1) as f32;
    let painter = ui.painter();
    let mut limit_at = None;
    let mut hovered = None;
    for (place, bin) in bins.iter().enumerate() {
        let left = frame.left() + width * place as f32;
        let part = frame.height() * bin.tiles as f32 / most as f32;
        // One tile among thousands is still to be seen.
        let part = if bin.tiles > 0 { part.max(2.0) } else { 0.0 };
        let x = left + 1.0..=left + width - 1.0;
        let bar = Rect::from_x_y_ranges(x, frame.bottom() - part..=frame.bottom());
        let is_over = bin.to_bytes > limit;
        painter.rect_filled(bar, 1, if is_over { tokens.over } else { tokens.temporary });
        if is_over {
            hatch(painter, bar, tokens.surface.gamma_multiply(0.5));
        }
        if bin.to_bytes == limit {
            limit_at = Some(left + width);
        }
        let column = Rect::from_x_y_ranges(left..=left + width, frame.y_range());
        if response.hover_pos().is_some_and(|at| column.contains(at)) {
            hovered = Some(bin);
        }
    }
    painter.hline(frame.x_range(), frame.bottom(), Stroke::new(1.0, tokens.border));
    let caption = fonts::regular(size::CAPTION);
    if let [first, .., last] = bins {
        let color = tokens.third_text;
        let (from, to) = (units.bytes(first.above_bytes), units.bytes(last.to_bytes));
        painter.text(rect.left_bottom(), Align2::LEFT_BOTTOM, from, caption.clone(), color);
        painter.text(rect.right_bottom(), Align2::RIGHT_BOTTOM, to, caption.clone(), color);
    }
    if let Some(x) = limit_at {
        let ends = [Pos2::new(x, rect.top()), Pos2::new(x, frame.bottom())];
        painter.extend(egui::Shape::dashed_line(&ends, Stroke::new(1.5, tokens.ink), 5.0, 4.0));
        let text = format!("Limit {}", units.bytes(limit));
        let font = fonts::semibold(size::CAPTION);
        let (at, align) = if x < rect.center().x {
            (Pos2::new(x + 5.0, rect.top()), Align2::LEFT_TOP)
        } else {
            (Pos2::new(x - 5.0, rect.top()), Align2::RIGHT_TOP)
        };
        painter.text(at, align, text, font, tokens.text);
    }
    describe(&response, "Histogram of tiles", || {
        let over: u64 = bins.iter().filter(|bin| bin.to_bytes > limit).map(|bin| bin.tiles).sum();
        format!("{} over the limit", grouped(over))
    });
    let Some(bin) = hovered else { return };
    if response.clicked() {
        target.show_tiles(tiles_between(target.report(), bin));
    }
    let (from, to) = (units.bytes(bin.above_bytes), units.bytes(bin.to_bytes));
    response
        .on_hover_text(format!("{} have {from} to {to}; click to select them", grouped(bin.tiles)));
}

fn tiles_between(report: &Report, bin: &Bin) -> TileSelection {
    let Some(memory) = report.memory.get() else { return TileSelection::default() };
    let tiles = memory.tiles.as_slice().iter().enumerate();
    let is_in = |(row, _): &(usize, &TileId)| {
        cell(&memory.including_gaps, *row)
            .is_some_and(|bytes| bytes > bin.above_bytes && bytes <= bin.to_bytes)
    };
    tiles.filter(is_in).map(|(_, tile)| *tile).collect()
}

/// All tiles by number, in rows; those over the limit in their colour, with a cross where there is room.
#[derive(Default)]
pub struct Strip {
    shown: Option<(Arc<Report>, bool, usize, Arc<ColorImage>)>,
    texture: ImageTexture,
}

impl Strip {
    pub fn ui(&mut self, ui: &mut egui::Ui, height: f32, target: &mut RunPart<'_>) {
        let report = Arc::clone(target.report());
        let (Some(memory), Some(limit)) = (report.memory.get(), report.bytes_per_tile()) else {
            return;
        };
        let tiles = memory.tiles.len();
        let space = Vec2::new(ui.available_width(), height.max(TILE));
        let columns = columns_of(tiles, space);
        let rows = tiles.div_ceil(columns).max(1);
        let side = Vec2::new(space.x / columns as f32, space.y / rows as f32);
        ui.label(fonts::caption(format!(
            "All {} {}, by number, {} a row",
            grouped(tiles as u64),
            report.system.arenas,
            grouped(columns as u64)
        )));
        let (rect, response) = ui.allocate_exact_size(space, Sense::click());
        let is_dark = ui.visuals().dark_mode;
        let is_same = |(of, dark, wide, _): &&(Arc<Report>, bool, usize, _)| {
            Arc::ptr_eq(of, &report) && *dark == is_dark && *wide == columns
        };
        if self.shown.as_ref().filter(is_same).is_none() {
            let image = Arc::new(image(&memory.including_gaps, limit, columns, Tokens::now(ui)));
            self.shown = Some((Arc::clone(&report), is_dark, columns, image));
        }
        if let Some((.., image)) = &self.shown {
            let texture = self.texture.of(ui, "strip of tiles", image);
            paint_texture(ui.painter(), texture, rect);
        }
        describe(&response, "All tiles by number", || grouped(tiles as u64));
        let Some(at) = response.hover_pos() else { return };
        let (column, row) = ((at.x - rect.left()) / side.x, (at.y - rect.top()) / side.y);
        let place = row.max(0.0) as usize * columns + (column.max(0.0) as usize).min(columns - 1);
        let Some(tile) = memory.tiles.get(place) else { return };
        if response.clicked() {
            target.show_tiles([tile].into_iter().collect());
        }
        let bytes = cell(&memory.including_gaps, place).unwrap_or(0);
        let units = Units::now(ui);
        let title = report.system.arena;
        response.on_hover_text(format!("{title} {tile}: {}", units.bytes(bytes)));
    }
}

/// Columns that make tiles about square.
fn columns_of(tiles: usize, space: Vec2) -> usize {
    let side = (space.x * space.y / tiles.max(1) as f32).sqrt().max(TILE);
    ((space.x / side) as usize).max(1)
}

/// A pixel a tile: the fuller the brighter, from the emptiest to the limit; over it in its colour.
fn image(bytes: &[Option<u64>], limit: u64, columns: usize, tokens: &Tokens) -> ColorImage {
    let least = bytes.iter().flatten().min().copied().unwrap_or(0).min(limit);
    let span = limit.saturating_sub(least).max(1) as f32;
    let color = |bytes: &Option<u64>| match bytes {
        None => tokens.surface,
        Some(bytes) if *bytes > limit => tokens.over,
        Some(bytes) => tokens.heat(bytes.saturating_sub(least) as f32 / span),
    };
    let rows = bytes.len().div_ceil(columns).max(1);
    let mut pixels: Vec<_> = bytes.iter().map(color).collect();
    pixels.resize(rows * columns, tokens.surface);
    ColorImage::new([columns, rows], pixels)
}
