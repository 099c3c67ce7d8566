//! Runs side by side: the same thing of each, under its title.

use eframe::egui;
use eframe::egui::ScrollArea;

use super::run_title_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;

/// Between the runs, points.
const GAP: f32 = 14.0;
/// Narrowest part of a run where there are more than two, points.
const LEAST_WIDTH: f32 = 380.0;

/// Draws something of each run beside that of the others; of one alone in all the space. What does not
/// fit beside each other is reached by scrolling.
pub fn beside_ui(ui: &mut egui::Ui, runs: &Runs, mut part: impl FnMut(&mut egui::Ui, &Run)) {
    let count = runs.len() as f32;
    let width = (ui.available_width() - GAP * (count - 1.0)) / count;
    match runs.len() {
        1 => part(ui, runs.reference()),
        2 => parts_ui(ui, runs, width, &mut part),
        _ => {
            let area = ScrollArea::horizontal().id_salt("runs side by side").auto_shrink(false);
            area.show(ui, |ui| parts_ui(ui, runs, width.max(LEAST_WIDTH), &mut part));
        }
    }
}

fn parts_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    width: f32,
    part: &mut impl FnMut(&mut egui::Ui, &Run),
) {
    let space = ui.available_rect_before_wrap();
    let mut left = space.left();
    for run in runs.iter() {
        let rect = egui::Rect::from_x_y_ranges(left..=left + width, space.y_range());
        let builder = egui::UiBuilder::new().id_salt(run.id).max_rect(rect);
        ui.scope_builder(builder, |ui| {
            ui.set_clip_rect(rect.expand(4.0).intersect(ui.clip_rect()));
            run_title_ui(ui, run);
            part(ui, run);
        });
        if left > space.left() {
            let stroke = egui::Stroke::new(1.0, Tokens::now(ui).border);
            ui.painter().vline(left - GAP / 2.0, space.y_range(), stroke);
        }
        left += width + GAP;
    }
}
