//! A card: a title, what stands at the right of it, and its contents.

use eframe::egui::{self, Align, Layout, Margin, Vec2};

use super::column_widths::text_width;
use super::exports::{exportable, exports_ui};
use crate::ui::command::{Command, ExportSource, Sheet};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame, fonts};

/// Around the buttons in the title of a card, points.
const LOW: Vec2 = Vec2::new(4.0, 0.0);

/// Draws a card in the width that is there.
pub fn card_ui<R>(ui: &mut egui::Ui, title: &str, contents: impl FnOnce(&mut egui::Ui) -> R) -> R {
    card_with_ui(ui, title, |_| {}, contents)
}

/// A card around a table, which has a head of its own, in the height that is there.
pub fn table_card_ui<R>(ui: &mut egui::Ui, table: impl FnOnce(&mut egui::Ui) -> R) -> R {
    let frame = card_frame(Tokens::now(ui)).inner_margin(Margin::symmetric(10, 6));
    let inner = frame.show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        table(ui)
    });
    inner.inner
}

/// A card with a picture: the same as [`card_with_ui`], with the buttons that take it out at the end of its title.
pub fn picture_card_ui<R>(
    ui: &mut egui::Ui,
    title: &str,
    commands: &mut Vec<Command>,
    at_right: impl FnOnce(&mut egui::Ui),
    contents: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    let at_right = |ui: &mut egui::Ui| {
        low_exports_ui(ui, "picture", title, commands, || Some(ExportSource::Picture));
        at_right(ui);
    };
    card_with_ui(ui, title, at_right, contents)
}

/// The buttons that take something out, no higher than the title beside them.
fn low_exports_ui(
    ui: &mut egui::Ui,
    form: &str,
    title: &str,
    commands: &mut Vec<Command>,
    what: impl Fn() -> Option<ExportSource>,
) {
    let before = std::mem::replace(&mut ui.spacing_mut().button_padding, LOW);
    exports_ui(ui, form, title, true, commands, what);
    ui.spacing_mut().button_padding = before;
}

/// A card with a list: the same as [`card_with_ui`], with the buttons that take the list out as a table.
pub fn listed_card_ui<R>(
    ui: &mut egui::Ui,
    title: &str,
    commands: &mut Vec<Command>,
    sheet: impl Fn() -> Sheet,
    at_right: impl FnOnce(&mut egui::Ui),
    contents: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    let at_right = |ui: &mut egui::Ui| {
        low_exports_ui(ui, "as CSV", title, commands, || Some(ExportSource::Table(sheet())));
        at_right(ui);
    };
    card_with_ui(ui, title, at_right, contents)
}

/// The same as [`card_ui`], with something at the right of its title, added from the right to the left.
pub fn card_with_ui<R>(
    ui: &mut egui::Ui,
    title: &str,
    at_right: impl FnOnce(&mut egui::Ui),
    contents: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    let inner = card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            let label = egui::Label::new(fonts::card_title(title));
            if text_width(ui, title, &fonts::semibold(fonts::size::CARD_TITLE))
                < ui.available_width()
            {
                ui.horizontal(|ui| {
                    ui.add(label);
                    ui.with_layout(Layout::right_to_left(Align::Center), at_right);
                });
            } else {
                // A title with long names would make the card wider than its place.
                ui.add(label.wrap());
                ui.with_layout(Layout::right_to_left(Align::Min), at_right);
            }
            ui.add_space(4.0);
            contents(ui)
        })
        .inner
    });
    exportable(ui, title, inner.response.rect);
    ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
    inner.inner
}
