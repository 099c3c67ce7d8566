//! The inspector: what is known of the one thing that is pointed at or selected, docked at the right of a page, or
//! under its picture where the page is narrow.

use eframe::egui::{self, Align, Layout, Margin, RichText, ScrollArea, Vec2};

use super::bar::Bar;
use super::column_widths::text_width;
use super::exports::scrolled_of_exports;
use crate::text::clean;
use crate::ui::theme::fonts::size;
use crate::ui::theme::{Tokens, card_frame, fonts};
use crate::ui::units::Units;

/// Its width, points.
pub const WIDTH: f32 = 280.0;
/// Least width of a page that has it at the right, points: 1,100 of the window without the rail.
const LEAST_PAGE: f32 = 900.0;
/// Its height under the picture: a share of the page, in points between these.
const SHARE: f32 = 0.2;
const LEAST_HEIGHT: f32 = 96.0;
const HEIGHT: f32 = 190.0;
/// Between a name and its value, at least, points.
const BETWEEN: f32 = 12.0;
/// Between it and the page, points.
const GAP: i8 = 12;

/// Whether there is room for it at the right.
pub fn is_beside(ui: &egui::Ui) -> bool {
    ui.available_width() >= LEAST_PAGE
}

/// Docks it; what is drawn afterwards has the rest of the page.
pub fn inspector_ui(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
    let mut frame = card_frame(Tokens::now(ui));
    // Of the margin at the right, room for the bar that scrolls, which would cover values.
    let bar = ui.spacing().scroll.bar_width.clamp(0.0, f32::from(frame.inner_margin.right));
    frame.inner_margin.right -= bar as i8;
    let (panel, margin) = if is_beside(ui) {
        let margin = Margin { left: GAP, ..Margin::ZERO };
        (egui::Panel::right("inspector").exact_size(WIDTH + f32::from(GAP)), margin)
    } else {
        let margin = Margin { top: GAP, ..Margin::ZERO };
        let height = (ui.available_height() * SHARE).clamp(LEAST_HEIGHT, HEIGHT);
        (egui::Panel::bottom("inspector below").exact_size(height), margin)
    };
    let panel = panel.resizable(false).show_separator_line(false);
    panel.frame(frame.outer_margin(margin)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let area = ScrollArea::vertical().id_salt("inspector").auto_shrink(false);
        let area = area.show(ui, |ui| {
            ui.set_max_width(ui.available_width() - bar.floor());
            contents(ui);
        });
        scrolled_of_exports(ui, &area);
    });
}

/// What is inspected: what kind of thing, its name, what it belongs to.
pub fn title_ui(ui: &mut egui::Ui, kind: &str, name: &str, of: &str) {
    ui.label(fonts::caption(kind).color(Tokens::now(ui).third_text));
    words_ui(ui, RichText::new(name).font(fonts::semibold(16.0)));
    if !of.is_empty() {
        words_ui(ui, fonts::caption(of).color(Tokens::now(ui).weak_text));
    }
    ui.add_space(6.0);
}

/// A heading of a part of what is known.
pub fn section_ui(ui: &mut egui::Ui, title: &str) {
    ui.add_space(6.0);
    ui.separator();
    ui.label(fonts::card_title(title));
}

/// Words in as many lines as they need, which columns would stretch to their width.
pub fn words_ui(ui: &mut egui::Ui, words: RichText) {
    ui.vertical(|ui| ui.add(egui::Label::new(words).wrap()));
}

/// A name at the left, its value at the right; a value too long for that has lines of its own, as no part of it is left
/// out.
pub fn fact_ui(ui: &mut egui::Ui, name: &str, value: &str) {
    let widths = text_width(ui, name, &fonts::regular(size::TABLE))
        + text_width(ui, value, &fonts::semibold(size::TABLE));
    if widths + BETWEEN > ui.available_width() {
        ui.label(RichText::new(name).size(size::TABLE).weak());
        words_ui(ui, fonts::number(clean(value)));
        return;
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new(name).size(size::TABLE).weak());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(fonts::number(value)));
    });
}

/// The same of bytes, with all digits beside them.
pub fn exact_fact_ui(ui: &mut egui::Ui, name: &str, bytes: u64) {
    let (text, tokens) = (Units::now(ui).exact(bytes), Tokens::now(ui));
    let (short, digits) = text.split_at(text.find(" (").unwrap_or(text.len()));
    let value = ui.painter().layout_job(fonts::line([
        (short, fonts::semibold(size::TABLE), tokens.text),
        (digits, fonts::regular(size::CAPTION), tokens.weak_text),
    ]));
    let of_name = text_width(ui, name, &fonts::regular(size::TABLE));
    let name = RichText::new(name).size(size::TABLE).weak();
    if of_name + value.size().x + BETWEEN > ui.available_width() {
        ui.label(name);
        ui.label(value);
        return;
    }
    ui.horizontal(|ui| {
        ui.label(name);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(value));
    });
}

/// A part of a whole: its name and size, and below them a bar.
pub fn part_ui(ui: &mut egui::Ui, name: &str, size: &str, bar: &Bar<'_>) {
    fact_ui(ui, name, size);
    bar.ui(ui, Vec2::new(ui.available_width(), 5.0));
    ui.add_space(3.0);
}

/// The same with a line for each, for long names or several sizes.
pub fn wide_part_ui(ui: &mut egui::Ui, name: &str, size: &str, bar: &Bar<'_>) {
    ui.add(egui::Label::new(RichText::new(name).size(12.0).weak()).truncate());
    words_ui(ui, fonts::number(size));
    bar.ui(ui, Vec2::new(ui.available_width(), 5.0));
    ui.add_space(3.0);
}
