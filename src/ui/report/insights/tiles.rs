//! How full the tiles are: a histogram with the limit, and the fullest.

use eframe::egui::{self, Align2, Rect, Sense, Stroke, Vec2};

use super::RunPart;
use crate::analysis::insights::Insights;
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::text::grouped;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::bar::{Bar, hatch};
use crate::ui::widget::card::card_ui;
use crate::ui::widget::picture::describe;

/// Height of the histogram, points.
const HISTOGRAM: f32 = 118.0;
/// Below the bars, for the axis, and above them, for the name of the limit.
const AXIS: f32 = 18.0;
const HEADROOM: f32 = 18.0;

pub fn tiles_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    if page.report().memory.get().is_none() {
        return;
    }
    card_ui(ui, "Tiles", |ui| {
        let units = Units::now(ui);
        let tokens = *Tokens::now(ui);
        histogram_ui(ui, page, found, units);
        ui.add_space(4.0);
        let limit = page.report().bytes_per_tile();
        let most = found.fullest_tiles.iter().map(|tile| tile.bytes).max().unwrap_or(0);
        egui::Grid::new("fullest tiles").num_columns(4).spacing([12.0, 4.0]).show(ui, |ui| {
            for full in &found.fullest_tiles {
                if ui.link(format!("Tile {}", full.tile)).clicked() {
                    page.show_tiles(TileSelection::one(TileId(full.tile)));
                }
                let whole = limit.map_or(most, |limit| limit.saturating_add(limit / 8).max(most));
                let bar = Bar { parts: &[(full.bytes, tokens.temporary)], whole, limit };
                bar.ui(ui, Vec2::new(110.0, 7.0));
                ui.label(fonts::number(units.bytes(full.bytes)));
                match full.over_limit_bytes {
                    Some(over @ 1..) => {
                        let text = format!("+{} over", units.bytes(over));
                        ui.label(fonts::number(text).color(tokens.over));
                    }
                    Some(_) => {
                        let free = limit.unwrap_or(0).saturating_sub(full.bytes);
                        ui.weak(format!("{} free", units.bytes(free)));
                    }
                    None => drop(ui.weak("limit not known")),
                }
                ui.end_row();
            }
        });
    });
}

fn histogram_ui(ui: &mut egui::Ui, page: &RunPart<'_>, found: &Insights, units: Units) {
    let bins = &found.histogram;
    let most = bins.iter().map(|bin| bin.tiles).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let tokens = *Tokens::now(ui);
    let limit = page.report().bytes_per_tile();
    let size = Vec2::new(ui.available_width(), HISTOGRAM);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let frame =
        Rect::from_min_max(rect.min + Vec2::new(0.0, HEADROOM), rect.max - Vec2::new(0.0, AXIS));
    let width = frame.width() / bins.len().max(1) as f32;
    let is_over = |bin: &crate::analysis::insights::fullest_tiles::Bin| {
        limit.is_some_and(|limit| bin.above_bytes >= limit)
    };
    let mut hovered = None;
    for (place, bin) in bins.iter().enumerate() {
        let left = frame.left() + width * place as f32;
        let height = frame.height() * bin.tiles as f32 / most as f32;
        // One tile among thousands is still to be seen.
        let height = if bin.tiles > 0 { height.max(2.0) } else { 0.0 };
        let x = left + 1.0..=left + width - 1.0;
        let bar = Rect::from_x_y_ranges(x, frame.bottom() - height..=frame.bottom());
        let color = if is_over(bin) { tokens.over } else { tokens.temporary };
        ui.painter().rect_filled(bar, 1, color);
        if is_over(bin) {
            hatch(ui.painter(), bar, tokens.surface.gamma_multiply(0.5));
        }
        let column = Rect::from_x_y_ranges(left..=left + width, frame.y_range());
        if response.hover_pos().is_some_and(|at| column.contains(at)) {
            hovered = Some(bin);
        }
    }
    ui.painter().hline(frame.x_range(), frame.bottom(), Stroke::new(1.0, tokens.border));
    limit_ui(ui, bins.iter().position(is_over), (limit, found), (rect, frame, width), units);
    let tiles = grouped(bins.iter().map(|bin| bin.tiles).sum());
    describe(&response, &format!("Histogram of {tiles} tiles"), || {
        let over = bins.iter().filter(|bin| is_over(bin)).map(|bin| bin.tiles).sum();
        format!("{} over the limit", grouped(over))
    });
    if let Some(bin) = hovered {
        let (from, to) = (units.bytes(bin.above_bytes), units.bytes(bin.to_bytes));
        response.on_hover_text(format!("{} tiles have {from} to {to}", grouped(bin.tiles)));
    }
}

/// The axis, and the limit: a line with its name, at the first bin that is over, or behind the last.
fn limit_ui(
    ui: &egui::Ui,
    first_over: Option<usize>,
    (limit, found): (Option<u64>, &Insights),
    (rect, frame, width): (Rect, Rect, f32),
    units: Units,
) {
    let tokens = *Tokens::now(ui);
    let font = fonts::regular(size::CAPTION);
    let bins = &found.histogram;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return };
    let painter = ui.painter();
    let weak = tokens.third_text;
    let (from, to) = (units.bytes(first.above_bytes), units.bytes(last.to_bytes));
    painter.text(rect.left_bottom(), Align2::LEFT_BOTTOM, from, font.clone(), weak);
    painter.text(rect.right_bottom(), Align2::RIGHT_BOTTOM, to, font.clone(), weak);
    painter.text(rect.center_bottom(), Align2::CENTER_BOTTOM, "bytes with gaps", font, weak);
    let Some(limit) = limit else { return };
    let place = match first_over {
        Some(place) => place as f32,
        None => {
            (limit as f32 / last.to_bytes.max(1) as f32 * bins.len() as f32).min(bins.len() as f32)
        }
    };
    let x = frame.left() + width * place;
    painter.vline(x, rect.top()..=frame.bottom(), Stroke::new(1.5, tokens.ink));
    let over =
        found.verdict.as_ref().and_then(|verdict| Some(verdict.failure.as_ref()?.tiles_over));
    let text = match over {
        Some(over) => format!("Limit {} · {} over", units.bytes(limit), grouped(over)),
        None => format!("Limit {}", units.bytes(limit)),
    };
    let is_left = x > rect.center().x;
    let (align, at) = match is_left {
        true => (Align2::RIGHT_TOP, egui::pos2(x - 5.0, rect.top())),
        false => (Align2::LEFT_TOP, egui::pos2(x + 5.0, rect.top())),
    };
    painter.text(at, align, text, fonts::semibold(size::CAPTION), tokens.text);
}
