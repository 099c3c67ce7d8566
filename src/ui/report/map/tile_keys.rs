//! Keys that move from tile to tile in the pictures of all tiles, and open one.

use eframe::egui::{self, Key, Rect, Response, StrokeKind};

use crate::store::TileId;
use crate::ui::widget::picture::{focus, pressed_keys};

#[derive(Clone, Copy, Debug, Default)]
pub struct TileKeys {
    /// The tile that was reached.
    pub reached: Option<TileId>,
    /// Whether the chosen tile is to be opened.
    pub is_entered: bool,
}

/// What the keys do that are pressed while a picture has the focus; `next` says which tile one leads to.
pub fn tile_keys(
    ui: &egui::Ui,
    response: &Response,
    rect: Rect,
    chosen: Option<TileId>,
    next: impl FnOnce(&dyn Fn(Key) -> bool) -> Option<TileId>,
) -> TileKeys {
    focus(ui, response, rect, StrokeKind::Inside);
    if !response.has_focus() {
        return TileKeys::default();
    }
    let pressed = pressed_keys(ui, response, true);
    let reached = next(&pressed);
    if reached.is_some() {
        ui.request_repaint();
    }
    TileKeys { reached, is_entered: pressed(Key::Enter) && chosen.is_some() }
}

impl TileKeys {
    /// Of several pictures the one with the focus.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            reached: self.reached.or(other.reached),
            is_entered: self.is_entered || other.is_entered,
        }
    }
}
