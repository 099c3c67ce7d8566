//! A list of rows of one height, of which only those in sight are laid out, however many there are.
//!
//! A scroll area would measure it in points of 32 bits, in which the rows of a list of a million no longer lie evenly;
//! so it counts in rows, with a bar of its own.

use eframe::egui::{self, Id, Pos2, Rect, Response, Role, Sense, UiBuilder, Vec2, WidgetInfo};

use crate::ui::theme::{ROW_HEIGHT, Tokens};

/// Width of the bar, points.
const BAR: f32 = 8.0;
/// Least height of its handle, points.
const LEAST_HANDLE: f32 = 24.0;

#[derive(Debug, Default)]
pub struct LongList {
    /// The row at the top, with how much of it is scrolled out.
    top: f64,
    /// A row that is to come into sight.
    wanted: Option<usize>,
    /// Rows that are in sight.
    in_sight: f64,
}

impl LongList {
    /// Scrolls until a row is in sight.
    pub fn show(&mut self, row: usize) {
        self.wanted = Some(row);
    }

    /// How many whole rows are in sight.
    pub fn page(&self) -> usize {
        (self.in_sight.floor() as usize).max(1)
    }

    /// Draws the rows in sight in all the space that is left; the response is that of the list.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        name: &str,
        len: usize,
        mut row: impl FnMut(&mut egui::Ui, Rect, usize),
    ) -> Response {
        let space = ui.available_rect_before_wrap();
        let id = ui.scope_id().with(("long list", name));
        let rect =
            Rect::from_min_max(space.min, Pos2::new(space.right() - BAR - 2.0, space.bottom()));
        let list = ui.interact(rect, id, Sense::click());
        list.widget_info(|| WidgetInfo::labeled(Role::List, true, name));
        ui.advance_cursor_after_rect(space);
        self.in_sight = f64::from(rect.height() / ROW_HEIGHT);
        if ui.rect_contains_pointer(space) {
            let wheel = ui.input(|input| input.smooth_scroll_delta().y);
            self.top -= f64::from(wheel / ROW_HEIGHT);
        }
        self.bar_ui(
            ui,
            id,
            Rect::from_min_max(Pos2::new(space.right() - BAR, space.top()), space.max),
            len,
        );
        if let Some(wanted) = self.wanted.take() {
            let wanted = wanted as f64;
            // Not at the very edge: what is around it matters.
            let around = (self.in_sight / 4.0).floor().min(3.0);
            if wanted < self.top + around {
                self.top = wanted - around;
            } else if wanted + 1.0 + around > self.top + self.in_sight {
                self.top = wanted + 1.0 + around - self.in_sight;
            }
        }
        self.top = self.top.clamp(0.0, (len as f64 - self.in_sight).max(0.0));
        let first = self.top.floor() as usize;
        let last = ((self.top + self.in_sight).ceil() as usize).min(len);
        ui.scope_builder(UiBuilder::new().id_salt(name).max_rect(rect), |ui| {
            ui.set_clip_rect(rect.intersect(ui.clip_rect()));
            for place in first..last {
                let y = rect.top() + ((place as f64 - self.top) as f32) * ROW_HEIGHT;
                let place_rect = Rect::from_min_size(
                    Pos2::new(rect.left(), y),
                    Vec2::new(rect.width(), ROW_HEIGHT),
                );
                row(ui, place_rect, place);
            }
        });
        list
    }

    /// The bar at the right; nothing of a list that is wholly in sight.
    fn bar_ui(&mut self, ui: &egui::Ui, id: Id, track: Rect, len: usize) {
        let all = len as f64;
        if all <= self.in_sight {
            return;
        }
        let height = (f64::from(track.height()) * self.in_sight / all) as f32;
        let height = height.clamp(LEAST_HANDLE.min(track.height()), track.height());
        let (room, hidden) = (f64::from(track.height() - height).max(1.0), all - self.in_sight);
        let bar = ui.interact(track, id.with("bar"), Sense::click_and_drag());
        if let Some(pointer) = bar.interact_pointer_pos() {
            let at = f64::from(pointer.y - track.top() - height / 2.0);
            self.top = (at / room).clamp(0.0, 1.0) * hidden;
        }
        let top = track.top() + ((self.top / hidden).clamp(0.0, 1.0) * room) as f32;
        let handle =
            Rect::from_min_size(Pos2::new(track.left(), top), Vec2::new(track.width(), height));
        let tokens = Tokens::now(ui);
        let is_held = bar.hovered() || bar.dragged();
        let color = if is_held { tokens.third_text } else { tokens.border };
        ui.painter().rect_filled(track, 4, tokens.raised.gamma_multiply(0.5));
        ui.painter().rect_filled(handle, 4, color);
    }
}
