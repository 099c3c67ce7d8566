//! A picture for each run: where they lie, and what stands above them.

use eframe::egui;
use eframe::egui::{Rect, RichText, Vec2};

use crate::text::shortened;
use crate::ui::runs::{Run, Runs};

/// The areas of runs in a space, in rows of so many columns with gaps between.
pub fn run_areas(space: Rect, runs: usize, columns: usize, gap: Vec2) -> Vec<Rect> {
    let columns = columns.clamp(1, runs.max(1));
    let rows = runs.div_ceil(columns).max(1);
    let number = Vec2::new(columns as f32, rows as f32);
    let size = (space.size() - (number - Vec2::splat(1.0)) * gap) / number;
    let area = |run: usize| {
        let place = Vec2::new((run % columns) as f32, (run / columns) as f32);
        Rect::from_min_size(space.min + place * (size + gap), size)
    };
    (0..runs).map(area).collect()
}

/// What stands above the picture of a run: its title in its colour, and the directory where the title
/// is a role; nothing where there is one run.
pub fn run_title_ui(ui: &mut egui::Ui, runs: &Runs, run: &Run) {
    if runs.is_one() {
        return;
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new(shortened(&run.title, 60)).strong().color(run.color(ui)));
        if runs.len() == 2 {
            ui.weak(shortened(&run.name, 60));
        }
    });
}
