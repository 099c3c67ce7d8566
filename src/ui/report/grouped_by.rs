//! The choice of what bytes are put together by.

use eframe::egui;

use crate::analysis::comparison::explanation::GroupedBy;
use crate::store::System;
use crate::ui::widget::choice::segments_ui;

pub fn grouped_by_segments_ui(ui: &mut egui::Ui, system: &System, by: &mut GroupedBy) {
    let choices = [
        (GroupedBy::Category, "Category"),
        (GroupedBy::Operation, "Operation"),
        (GroupedBy::Module, "Module"),
        (GroupedBy::Variable, system.item),
    ];
    segments_ui(ui, "How bytes are grouped", by, choices);
}

pub fn grouped_by_ui(ui: &mut egui::Ui, by: &mut GroupedBy) {
    ui.weak("by");
    for (value, title, hover) in [
        (GroupedBy::Category, "category", "Categories of memory"),
        (GroupedBy::Operation, "operation", "What the software layers called"),
        (GroupedBy::Module, "module", "Operations by the path in their names"),
        (GroupedBy::Variable, "variable", "Variables before lowering, by name"),
    ] {
        ui.selectable_value(by, value, title).on_hover_text(hover);
    }
}
