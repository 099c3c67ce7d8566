//! A bar on a track: parts of a whole, beginning at 0, with the limit as a tick, and what lies beyond it hatched.

use eframe::egui::{self, Color32, Painter, Pos2, Rect, Response, Sense, Stroke, Vec2};

use crate::ui::theme::Tokens;

/// Between lines of a hatch, points.
const HATCH: f32 = 5.0;
/// Width of the tick at a limit, and least width of what is seen beyond it, points.
const TICK: f32 = 2.0;
const LEAST_OVER: f32 = 4.0;

/// Parts, and the whole that the track stands for, in any one unit.
#[derive(Clone, Copy, Debug)]
pub struct Bar<'a> {
    pub parts: &'a [(u64, Color32)],
    pub whole: u64,
    /// What lies beyond is over.
    pub limit: Option<u64>,
}

impl Bar<'_> {
    pub fn paint(&self, painter: &Painter, rect: Rect, tokens: &Tokens) {
        painter.rect_filled(rect, 2, tokens.raised);
        let x = |value: u64| {
            let share = value as f64 / self.whole.max(1) as f64;
            rect.left() + rect.width() * share.clamp(0.0, 1.0) as f32
        };
        let mut from = 0_u64;
        for (size, color) in self.parts {
            let to = from.saturating_add(*size);
            let part = Rect::from_x_y_ranges(x(from)..=x(to), rect.y_range());
            painter.rect_filled(part, 2, *color);
            from = to;
        }
        let Some(limit) = self.limit else { return };
        if from > limit {
            let end = x(from).max(x(limit) + TICK / 2.0 + LEAST_OVER);
            let over = Rect::from_x_y_ranges(x(limit)..=end, rect.y_range());
            self::over(painter, over, 0, tokens);
        }
        if limit <= self.whole {
            let tick = Rect::from_center_size(
                Pos2::new(x(limit), rect.center().y),
                Vec2::new(TICK, rect.height() + 6.0),
            );
            painter.rect_filled(tick, 0, tokens.ink);
        }
    }

    pub fn ui(&self, ui: &mut egui::Ui, size: Vec2) -> Response {
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        self.paint(ui.painter(), rect, Tokens::now(ui));
        response
    }
}

/// How much of a whole something would bring for sure, and at most: solid what is sure, striped what may be.
pub fn share_ui(ui: &mut egui::Ui, size: Vec2, [sure, most]: [f64; 2]) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let tokens = Tokens::now(ui);
    ui.painter().rect_filled(rect, 3, tokens.raised);
    let part = |share: f64| {
        let width = rect.width() * share.clamp(0.0, 1.0) as f32;
        Rect::from_min_size(rect.min, Vec2::new(width, rect.height()))
    };
    ui.painter().rect_filled(part(most), 3, tokens.accent);
    if sure < most {
        hatch(ui.painter(), part(most), tokens.surface.gamma_multiply(0.75));
        if sure > 0.0 {
            ui.painter().rect_filled(part(sure), 3, tokens.accent);
        }
    }
    response
}

/// What is over: red, with a hatch, so that it is told apart without colors.
pub fn over(painter: &Painter, rect: Rect, corner: u8, tokens: &Tokens) {
    painter.rect_filled(rect, corner, tokens.over);
    hatch(painter, rect, tokens.surface.gamma_multiply(0.5));
}

/// Lines that rise across a rectangle.
pub fn hatch(painter: &Painter, rect: Rect, color: Color32) {
    if rect.width() <= 0.0 {
        return;
    }
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let ends = [Pos2::new(x, rect.bottom()), Pos2::new(x + rect.height(), rect.top())];
        painter.line_segment(ends, Stroke::new(1.5, color));
        x += HATCH;
    }
}
