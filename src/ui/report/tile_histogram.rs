//! A histogram of tiles by bytes with the limit: tiles over it are hatched. On Overview and Insights.

use eframe::egui::{self, Align2, Pos2, Rect, Sense, Stroke, Vec2};

use crate::analysis::memory::cell;
use crate::analysis::memory::fullest_tiles::Bin;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::text::{counted, grouped};
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::{Tokens, fonts, fonts::size};
use crate::ui::units::Units;
use crate::ui::widget::bar::over;
use crate::ui::widget::picture::describe;

/// Room below the bars for figures, points.
const BELOW: f32 = 18.0;
/// Room above them for what they say, points.
const ABOVE: f32 = 20.0;

/// Draws the histogram under an accessible name in a height; a click on a bar selects its tiles.
pub fn histogram_ui(
    ui: &mut egui::Ui,
    name: &str,
    bins: &[Bin],
    limit: Option<u64>,
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
    let is_over = |bin: &Bin| limit.is_some_and(|limit| bin.to_bytes > limit);
    let mut limit_at = None;
    let mut hovered = None;
    for (place, bin) in bins.iter().enumerate() {
        let left = frame.left() + width * place as f32;
        let part = frame.height() * bin.tiles as f32 / most as f32;
        // One tile among thousands is still to be seen.
        let part = if bin.tiles > 0 { part.max(2.0) } else { 0.0 };
        let x = left + 1.0..=left + width - 1.0;
        let bar = Rect::from_x_y_ranges(x, frame.bottom() - part..=frame.bottom());
        let is_over = is_over(bin);
        if is_over {
            over(painter, bar, 1, &tokens);
        } else {
            painter.rect_filled(bar, 1, tokens.temporary);
        }
        if Some(bin.to_bytes) == limit {
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
        let highest = format!("highest bar: {}", counted(most, "tile"));
        painter.text(rect.center_bottom(), Align2::CENTER_BOTTOM, highest, caption.clone(), color);
    }
    if let (Some(x), Some(limit)) = (limit_at, limit) {
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
    describe(&response, name, || {
        let over: u64 = bins.iter().filter(|bin| is_over(bin)).map(|bin| bin.tiles).sum();
        format!("{} over the limit", grouped(over))
    });
    let Some(bin) = hovered else { return };
    if response.clicked() {
        target.show_tiles(tiles_between(&target.run.report, bin));
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
