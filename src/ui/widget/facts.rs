//! Names and values, one below the other, under a title.

use eframe::egui::{self, Label, RichText};

use crate::text::unbroken;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};

/// A name and its value; both clean.
pub type FactRow = (String, String);

pub fn facts_ui(ui: &mut egui::Ui, title: &str, facts: &[FactRow]) {
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(fonts::card_title(title));
        ui.add_space(4.0);
        if facts.is_empty() {
            ui.weak("Not recorded");
        }
        for (name, value) in facts {
            fact_ui(ui, name, value);
        }
    });
    ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
}

pub fn fact_ui(ui: &mut egui::Ui, name: &str, value: &str) {
    ui.horizontal_top(|ui| {
        let width = ui.available_width();
        let name_width = (width * 0.44).min(170.0);
        ui.scope(|ui| {
            ui.set_width(name_width);
            ui.add(Label::new(RichText::new(name).size(size::TABLE).weak()).wrap());
        });
        ui.scope(|ui| {
            ui.set_width((width - name_width - 16.0).max(40.0));
            ui.add(Label::new(RichText::new(unbroken(value)).size(size::TABLE)).wrap());
        });
    });
}

/// A text where a picture or table would be, that says why there is none.
pub fn absent_ui(ui: &mut egui::Ui, title: &str, reason: &str) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.3).min(120.0));
        ui.label(RichText::new(title).strong().size(15.0));
        ui.label(RichText::new(reason).weak());
    });
}
