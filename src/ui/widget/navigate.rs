//! Zooming and panning an axis with wheel, drag and keys; all pictures do it alike.

use eframe::egui::{self, Key, Response};

use super::view::VisibleRange;

/// Where positions lie in the window.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The place of position 0, points; it may be far outside.
    pub origin: f64,
    pub per_point: f64,
}

/// The wheel zooms, drag pans where `can_pan`. Says whether anything moved.
pub fn navigate(
    ui: &egui::Ui,
    response: &Response,
    axis: Axis,
    view: &mut VisibleRange,
    len: usize,
    can_pan: bool,
) -> bool {
    let before = *view;
    let per_point = axis.per_point;
    if response.dragged() && can_pan {
        view.pan(len, -f64::from(response.drag_delta().x) * per_point);
    }
    if let Some(pointer) = response.hover_pos() {
        let center = (f64::from(pointer.x) - axis.origin) * per_point;
        let (wheel, pinch) = ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
        if wheel.y != 0.0 {
            view.zoom(len, f64::from(wheel.y / 200.0).exp(), center);
        }
        if wheel.x != 0.0 {
            view.pan(len, -f64::from(wheel.x) * per_point);
        }
        // With Ctrl the wheel is for the axis of bytes.
        if (pinch - 1.0).abs() > f32::EPSILON && !ui.input(|input| input.modifiers.command) {
            view.zoom(len, f64::from(pinch), center);
        }
    }
    *view != before
}

/// Keys zoom and pan, 0 resets. Says whether anything moved.
pub fn navigate_by_key(ui: &egui::Ui, view: &mut VisibleRange, len: usize) -> bool {
    let before = *view;
    let (start, end) = view.range(len);
    zoom_by_key(ui, view, len);
    for (key, way) in [(Key::PageUp, start - end), (Key::PageDown, end - start)] {
        if is_pressed(ui, key) {
            view.pan(len, way);
        }
    }
    *view != before
}

/// Keys zoom, 0 resets.
pub fn zoom_by_key(ui: &egui::Ui, view: &mut VisibleRange, len: usize) {
    let (start, end) = view.range(len);
    let middle = f64::midpoint(start, end);
    if is_pressed(ui, Key::Num0) {
        view.reset();
    }
    if is_pressed(ui, Key::Plus) || is_pressed(ui, Key::Equals) {
        view.zoom(len, 1.5, middle);
    }
    if is_pressed(ui, Key::Minus) {
        view.zoom(len, 1.0 / 1.5, middle);
    }
}

/// Whether a key is pressed that nobody types. With Ctrl these keys change the size of everything.
pub fn is_pressed(ui: &egui::Ui, key: Key) -> bool {
    let is_free = |input: &egui::InputState| !input.modifiers.command && !input.modifiers.alt;
    !ui.text_edit_focused() && ui.input(|input| is_free(input) && input.key_pressed(key))
}
