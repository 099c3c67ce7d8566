//! The marks of runs in curves: a cross of what does not fit, a ring around the best.

use eframe::egui::{Painter, Pos2, Stroke, Vec2};

use crate::ui::theme::Tokens;

pub fn cross(painter: &Painter, at: Pos2, tokens: &Tokens) {
    let stroke = Stroke::new(1.8, tokens.over);
    for (x, y) in [(1.0, 1.0), (1.0, -1.0)] {
        let arm = Vec2::new(x, y) * 3.8;
        painter.line_segment([at - arm, at + arm], stroke);
    }
}

pub fn best_ring(painter: &Painter, at: Pos2, tokens: &Tokens) {
    painter.circle_stroke(at, 7.5, Stroke::new(2.2, tokens.fits));
}
