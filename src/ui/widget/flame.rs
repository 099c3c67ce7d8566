//! Nested spans of time as rows of rectangles: what was done within what, and for how long.
//!
//! A click, or Enter, gives a span the whole width; arrows go to spans beside, above and below.

use eframe::egui::{self, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Vec2, WidgetInfo};

use super::picture::{pressed_keys, text_within};
use crate::ui::theme::Tokens;

/// Height of a row, points.
pub const FLAME_ROW: f32 = 20.0;
/// Narrowest span with its name inside, points.
const NAMED: f32 = 34.0;
/// Spans narrower than this leave no room between them, points.
const NARROW: f32 = 3.0;

/// A span. Spans are in the order of their starts, what contains before what is contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameFrame {
    /// Its name; clean.
    pub name: String,
    /// How many spans contain it.
    pub depth: usize,
    pub start: u64,
    pub duration: u64,
    /// Duration without what it contains.
    pub own: u64,
}

impl FlameFrame {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.duration)
    }
}

#[derive(Default)]
pub struct Flame {
    /// What the whole width stands for at least, so that pictures below each other have one scale.
    pub span: u64,
    /// The span that has the whole width.
    pub zoomed: Option<usize>,
    /// The span that was clicked last, or that arrows went to.
    pub chosen: Option<usize>,
}

impl Flame {
    pub fn is_zoomed(&self) -> bool {
        self.zoomed.is_some()
    }

    pub fn reset(&mut self) {
        self.zoomed = None;
    }

    /// Draws the picture; its value is the text of the chosen span. Returns the span under the pointer.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        frames: &[FlameFrame],
        text: impl Fn(&FlameFrame) -> String,
    ) -> (Response, Option<usize>) {
        let rows = frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
        let size = Vec2::new(ui.available_width(), rows as f32 * FLAME_ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let hovered = response.hover_pos().and_then(|pointer| {
            let scale = self.scale(frames, rect);
            frames.iter().position(|frame| scale.rect(frame).is_some_and(|r| r.contains(pointer)))
        });
        if response.clicked()
            && let Some(clicked) = hovered
        {
            self.chosen = Some(clicked);
            self.zoomed = Some(clicked);
        }
        if response.double_clicked() {
            self.reset();
        }
        self.keys(ui, &response, frames);
        let scale = self.scale(frames, rect);
        self.paint(ui, &response, frames, &scale, hovered);
        response.widget_info(|| {
            let chosen = self.chosen.or(self.zoomed).and_then(|chosen| frames.get(chosen));
            let value = chosen.map_or_else(|| format!("{} spans", frames.len()), &text);
            let mut info = WidgetInfo::labeled(Role::Image, true, name);
            info.current_text_value = Some(value);
            info
        });
        (response, hovered)
    }

    fn scale(&self, frames: &[FlameFrame], rect: Rect) -> Scale {
        let zoomed = self.zoomed.and_then(|zoomed| frames.get(zoomed));
        let (start, end) = match zoomed {
            Some(frame) => (frame.start, frame.end()),
            None => {
                let start = frames.iter().map(|frame| frame.start).min().unwrap_or(0);
                let end = frames.iter().map(FlameFrame::end).max().unwrap_or(0);
                (start, end.max(start.saturating_add(self.span)))
            }
        };
        let span = end.saturating_sub(start).max(1);
        Scale { rect, start, end, per_unit: f64::from(rect.width()) / span as f64 }
    }

    /// Arrows, Enter and 0, while the picture has the focus.
    fn keys(&mut self, ui: &egui::Ui, response: &Response, frames: &[FlameFrame]) {
        if !response.has_focus() || frames.is_empty() {
            return;
        }
        let pressed = pressed_keys(ui, response, true);
        let now = self.chosen;
        let depth = now.and_then(|now| frames.get(now)).map_or(0, |frame| frame.depth);
        let moved = if pressed(Key::ArrowRight) {
            after(frames, now, |frame| frame.depth == depth)
        } else if pressed(Key::ArrowLeft) {
            before(frames, now, |frame| frame.depth == depth)
        } else if pressed(Key::ArrowDown) {
            after(frames, now, |_| true)
                .filter(|next| frames.get(*next).is_some_and(|f| f.depth > depth))
        } else if pressed(Key::ArrowUp) {
            before(frames, now, |frame| frame.depth < depth)
        } else {
            None
        };
        if let Some(moved) = moved {
            self.chosen = Some(moved);
        } else if now.is_none() && [Key::ArrowRight, Key::ArrowDown].into_iter().any(&pressed) {
            self.chosen = Some(0);
        }
        if pressed(Key::Enter) {
            self.zoomed = self.chosen;
        }
        if pressed(Key::Num0) {
            self.reset();
        }
    }

    fn paint(
        &self,
        ui: &egui::Ui,
        response: &Response,
        frames: &[FlameFrame],
        scale: &Scale,
        hovered: Option<usize>,
    ) {
        let tokens = Tokens::now(ui);
        let painter = ui.painter_at(response.rect);
        // Where the last span of each row ends: what falls onto the same point is not drawn again.
        let mut painted_to: Vec<f32> = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let Some(rect) = scale.rect(frame) else { continue };
            if painted_to.len() <= frame.depth {
                painted_to.resize(frame.depth + 1, f32::NEG_INFINITY);
            }
            if let Some(to) = painted_to.get_mut(frame.depth) {
                if rect.right() <= *to {
                    continue;
                }
                *to = rect.right();
            }
            // Contained spans are told apart from what contains them by place, not by colour alone.
            let fill = tokens.area(if frame.depth % 2 == 0 {
                tokens.always_live
            } else {
                tokens.temporary
            });
            let is_marked = hovered == Some(index) || self.chosen == Some(index);
            let fill = if is_marked { tokens.selected } else { fill };
            painter.rect_filled(rect, 2, fill);
            if self.chosen == Some(index) {
                painter.rect_stroke(rect, 2, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
            }
            if rect.width() >= NAMED {
                let inside = rect.shrink2(Vec2::new(5.0, 0.0));
                text_within(&painter, inside, frame.name.clone(), 12.5, tokens.text);
            }
        }
        if response.has_focus() {
            let stroke = Stroke::new(1.0, tokens.accent);
            painter.rect_stroke(response.rect, 2, stroke, StrokeKind::Inside);
        }
    }
}

fn after(
    frames: &[FlameFrame],
    now: Option<usize>,
    is_meant: impl Fn(&FlameFrame) -> bool,
) -> Option<usize> {
    let first = now? + 1;
    let rest = frames.get(first..)?;
    rest.iter().position(is_meant).map(|place| first + place)
}

fn before(
    frames: &[FlameFrame],
    now: Option<usize>,
    is_meant: impl Fn(&FlameFrame) -> bool,
) -> Option<usize> {
    frames.get(..now?)?.iter().rposition(is_meant)
}

/// From time to points.
#[derive(Clone, Copy, Debug)]
struct Scale {
    rect: Rect,
    start: u64,
    end: u64,
    per_unit: f64,
}

impl Scale {
    fn x(&self, time: u64) -> f32 {
        let time = time.clamp(self.start, self.end).saturating_sub(self.start);
        self.rect.left() + (time as f64 * self.per_unit) as f32
    }

    /// Where a span is drawn; `None` when it is outside of what is shown.
    fn rect(&self, frame: &FlameFrame) -> Option<Rect> {
        if frame.end() < self.start || frame.start > self.end {
            return None;
        }
        let (left, right) = (self.x(frame.start), self.x(frame.end()));
        let is_narrow = right - left < NARROW;
        // A span beside the one that is shown touches it in one point only.
        if is_narrow && frame.duration > 0 && (frame.end() == self.start || frame.start == self.end)
        {
            return None;
        }
        let gap = if is_narrow { 0.0 } else { 1.0 };
        let right = (right - gap).max(left + 1.0);
        let top = self.rect.top() + frame.depth as f32 * FLAME_ROW;
        Some(Rect::from_min_max(egui::pos2(left, top), egui::pos2(right, top + FLAME_ROW - 1.0)))
    }
}
