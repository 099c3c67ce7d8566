//! What a step did, as its system says it: facts, and the calls that led there.

use eframe::egui;

use super::allocations::stack::stack_ui;
use crate::run::Cell;
use crate::run::beside_curve::StepSaid;
use crate::text::grouped;
use crate::ui::units::Units;
use crate::ui::widget::inspector::{fact_ui, section_ui};

pub fn step_said_ui(ui: &mut egui::Ui, said: &StepSaid) {
    let units = Units::now(ui);
    for (name, cell) in &said.facts {
        let value = match cell {
            Cell::Text(text) => text.clone(),
            Cell::Bytes(bytes) => units.exact(*bytes),
            Cell::Count(count) => grouped(*count),
            Cell::Empty => continue,
        };
        fact_ui(ui, name, &value);
    }
    if said.has_stacks {
        section_ui(ui, said.stack_title);
        stack_ui(ui, &said.stack);
    }
}
