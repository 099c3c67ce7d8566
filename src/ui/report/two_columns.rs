//! Two columns of cards beside each other; what is drawn afterwards lies below the longer one.

use eframe::egui::{self, Rect, Sense, UiBuilder};

use crate::ui::theme::BETWEEN_CARDS;

/// Draws both; the left one has a share of the width.
pub fn two_columns_ui(
    ui: &mut egui::Ui,
    share: f32,
    mut column: impl FnMut(&mut egui::Ui, PageColumn),
) {
    let space = ui.available_rect_before_wrap();
    let middle = space.left() + (space.width() - BETWEEN_CARDS) * share;
    let mut bottom = space.top();
    for (place, x) in [
        (PageColumn::Left, space.left()..=middle),
        (PageColumn::Right, middle + BETWEEN_CARDS..=space.right()),
    ] {
        let rect = Rect::from_x_y_ranges(x, space.y_range());
        let mut ui = ui.new_child(UiBuilder::new().id_salt(place).max_rect(rect));
        column(&mut ui, place);
        bottom = bottom.max(ui.min_rect().bottom());
    }
    let all = Rect::from_x_y_ranges(space.x_range(), space.top()..=bottom);
    ui.allocate_rect(all, Sense::hover());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageColumn {
    Left,
    Right,
}
