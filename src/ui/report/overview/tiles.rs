//! The fill of all tiles, by number.

use eframe::egui::{self, ColorImage, Sense, Vec2};
use std::sync::Arc;

use crate::analysis::memory::cell;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::job::{Made, Same};
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::picture::{ImageTexture, describe, paint_texture};

/// Least side of a tile in the strip, points.
const TILE: f32 = 3.0;

/// All tiles by number, in rows; those over the limit in their color.
#[derive(Default)]
pub struct TilesOverview {
    /// Of a report, a theme and a number of columns.
    image: Made<(Same<Report>, bool, usize), Arc<ColorImage>>,
    texture: ImageTexture,
}

impl TilesOverview {
    pub fn ui(&mut self, ui: &mut egui::Ui, height: f32, target: &mut RunPart<'_>) {
        let report = Arc::clone(&target.run.report);
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
        let key = (Same(Arc::clone(&report)), ui.visuals().dark_mode, columns);
        let image = self
            .image
            .of(key, |_| Arc::new(image(&memory.including_gaps, limit, columns, Tokens::now(ui))));
        paint_texture(ui.painter(), self.texture.of(ui, "strip of tiles", image), rect);
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

/// A pixel a tile: the fuller the brighter, from the emptiest to the limit; over it in its color.
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
