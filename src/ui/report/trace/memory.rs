//! The liveness curve on the axis of the trace: what is alive, not always, while each step runs; a line for each IPU.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Align2, Mesh, Pos2, Rect, Shape, Stroke};

use super::data::ReadRun;
use super::lanes::GUTTER;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::flame::Placing;

/// IPUs that are named with their peaks below the title of the lane, and the height of a line there, points.
const MOST_NAMED: usize = 4;
const LINE: f32 = 12.5;
/// Its height, points.
pub const MEMORY: f32 = 64.0;

/// Draws it; where the pointer is, what is alive there.
pub fn memory_ui(ui: &egui::Ui, placing: Placing, read: &ReadRun, pointer: Option<Pos2>) {
    let (tokens, units) = (Tokens::now(ui), Units::now(ui));
    let rect = placing.rect;
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0, tokens.raised.gamma_multiply(0.35));
    let top = read.memory.iter().map(|of_ipu| of_ipu.most).max().unwrap_or(0).max(1);
    let pixels = ui.pixels_per_point();
    let (pixel, thick) = (1.0 / pixels, 1.2_f32.round_to_pixels(pixels));
    let y = |bytes: u64| {
        let height = bytes as f32 / top as f32 * (rect.height() - 6.0);
        (rect.bottom() - height).round_to_pixels(pixels)
    };
    let rect = rect.round_to_pixels(pixels);
    let columns = (rect.width() / pixel).ceil() as usize;
    let (is_one, font) = (read.memory.len() == 1, fonts::regular(fonts::size::CAPTION));
    for (place, of_ipu) in read.memory.iter().enumerate() {
        let color = if is_one { tokens.temporary } else { tokens.ordered(place) };
        let (mut area, mut line) = (Mesh::default(), Mesh::default());
        let found = of_ipu.columns((placing.from, placing.to), columns);
        // The height of the column before, from which the line goes up or down.
        let mut before = None;
        for (column, bytes) in found.into_iter().enumerate() {
            let left = rect.left() + column as f32 * pixel;
            // Beyond what was recorded there is nothing.
            let is_recorded = placing.place(left) < read.cycles.end as f64;
            let Some(bytes) = bytes.filter(|_| is_recorded) else { continue };
            let (x, top) = (left..=left + pixel, y(bytes));
            if is_one {
                let column = Rect::from_x_y_ranges(x.clone(), top..=rect.bottom());
                area.add_colored_rect(column, tokens.area(color));
            }
            let from = before.replace(top).unwrap_or(top);
            let upright = Rect::from_x_y_ranges(x, from.min(top)..=from.max(top) + thick);
            line.add_colored_rect(upright, color);
        }
        painter.add(Shape::mesh(area));
        painter.add(Shape::mesh(line));
        if (2..=MOST_NAMED).contains(&read.memory.len()) {
            let below = LINE * (place as f32 + 1.0) + 2.0;
            let at = Pos2::new(rect.left() - GUTTER, rect.top() + below);
            let device = read.report.system.device;
            let text = format!("{device} {}  {}", of_ipu.device, units.bytes(of_ipu.most));
            ui.painter().text(at, Align2::LEFT_TOP, text, font.clone(), color);
        }
    }
    let at = rect.right_top() + egui::vec2(-4.0, 2.0);
    let text = format!("peak {}", units.bytes(top));
    let text = painter.layout_no_wrap(text, font.clone(), tokens.third_text);
    let place = Align2::RIGHT_TOP.anchor_size(at, text.size());
    // The curve may reach up to it.
    painter.rect_filled(place.expand(2.0), 2, tokens.surface);
    painter.galley(place.min, text, tokens.third_text);
    if let Some(pointer) = pointer.filter(|pointer| rect.x_range().contains(pointer.x)) {
        let at = placing.place(pointer.x).max(0.0) as u64;
        painter.vline(pointer.x, rect.y_range(), Stroke::new(1.0, tokens.weak_text));
        let of_ipus = read.memory.iter().filter_map(|of_ipu| of_ipu.at(at));
        let texts: Vec<String> = of_ipus.map(|bytes| units.bytes(bytes)).collect();
        let (align, side) = if pointer.x > rect.center().x {
            (Align2::RIGHT_BOTTOM, -4.0)
        } else {
            (Align2::LEFT_BOTTOM, 4.0)
        };
        let place = Pos2::new(pointer.x + side, rect.bottom() - 2.0);
        painter.text(place, align, texts.join(" · "), font, tokens.text);
    }
}
