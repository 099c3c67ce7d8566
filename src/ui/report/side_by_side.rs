//! Several runs side by side: the same thing of each, under its heading.

use eframe::egui;
use eframe::egui::{Rect, vec2};

use super::run_title_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;

/// Between neighbours, points.
const GAP: f32 = 14.0;

/// Draws something of each run, by its position, in a part of the space that is left.
pub fn side_by_side_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    mut of_run: impl FnMut(&mut egui::Ui, usize, &Run),
) {
    let space = ui.available_rect_before_wrap();
    let columns = match runs.len() {
        few @ ..=3 => few,
        4 => 2,
        5 | 6 => 3,
        _ => 4,
    };
    let rows = runs.len().div_ceil(columns);
    let (width, height) = (space.width() / columns as f32, space.height() / rows as f32);
    let stroke = egui::Stroke::new(1.0, Tokens::now(ui).border);
    for (place, run) in runs.iter().enumerate() {
        let (column, row) = (place % columns, place / columns);
        let left = space.left() + width * column as f32;
        let top = space.top() + height * row as f32;
        let mut rect = Rect::from_x_y_ranges(left..=left + width, top..=top + height);
        if column > 0 {
            ui.painter().vline(left, rect.y_range(), stroke);
            rect.min.x += GAP / 2.0;
        }
        if column + 1 < columns {
            rect.max.x -= GAP / 2.0;
        }
        if row + 1 < rows {
            rect.max.y -= GAP / 2.0;
        }
        let builder = egui::UiBuilder::new().id_salt(("run", place)).max_rect(rect);
        ui.scope_builder(builder, |ui| {
            ui.set_clip_rect(rect.expand(4.0).intersect(ui.clip_rect()));
            if !runs.is_one() {
                run_title_ui(ui, run);
            }
            of_run(ui, place, run);
        });
    }
}

/// The area of a run, by its position, where runs lie below each other: of many in two columns.
pub fn area_below(space: Rect, runs: usize, place: usize) -> Rect {
    let columns = if runs > 3 { 2 } else { 1 };
    let gap = GAP * (columns as f32 - 1.0);
    let size =
        (space.size() - vec2(gap, 0.0)) / vec2(columns as f32, runs.div_ceil(columns) as f32);
    let (column, row) = ((place % columns) as f32, (place / columns) as f32);
    Rect::from_min_size(space.min + vec2(column * (size.x + gap), row * size.y), size)
}
