//! The legend of a picture: a patch and a word for each series.

use eframe::egui;
use eframe::egui::{Color32, Sense, Stroke, StrokeKind, Vec2};

/// One entry.
#[derive(Clone, Copy, Debug)]
pub enum Patch {
    /// An area with a line.
    Area(Color32, Color32),
    /// A line.
    Line(Color32),
    /// A dashed line.
    Dashes(Color32),
}

/// Draws entries side by side.
pub fn legend_ui(ui: &mut egui::Ui, entries: &[(Patch, &str)]) {
    for (patch, title) in entries {
        let (rect, _) = ui.allocate_exact_size(Vec2::new(18.0, 12.0), Sense::hover());
        let painter = ui.painter();
        let middle = rect.center().y;
        match patch {
            Patch::Area(fill, line) => {
                let stroke = Stroke::new(1.0, *line);
                painter.rect(rect, 2, *fill, stroke, StrokeKind::Inside);
            }
            Patch::Line(line) => {
                painter.hline(rect.x_range(), middle, Stroke::new(2.0, *line));
            }
            Patch::Dashes(line) => {
                let stroke = Stroke::new(2.0, *line);
                painter.hline(rect.left()..=rect.left() + 7.0, middle, stroke);
                painter.hline(rect.right() - 7.0..=rect.right(), middle, stroke);
            }
        }
        ui.label(*title);
    }
}
