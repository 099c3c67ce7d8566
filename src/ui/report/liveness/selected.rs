//! The line that says what is selected: steps, operation, variable.

use eframe::egui;
use eframe::egui::RichText;

use super::derived::Derived;
use super::marks::Marks;
use super::tables::step_title;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::text::{grouped, shortened};
use crate::ui::legacy::OperationName;
use crate::ui::report::PageContext;
use crate::ui::units::Units;

/// Longest name in the line.
const NAME: usize = 40;
/// Room for a button, points.
pub const BUTTON: f32 = 142.0;

/// Draws a text that gives way where there is no room for it beside what follows.
pub fn yielding_label(ui: &mut egui::Ui, text: RichText, following: f32) {
    let galley = egui::WidgetText::from(text.clone()).into_galley(
        ui,
        Some(egui::TextWrapMode::Extend),
        f32::INFINITY,
        egui::TextStyle::Body,
    );
    let room = (ui.available_width() - following).max(24.0);
    if galley.size().x <= room {
        ui.label(text);
        return;
    }
    ui.scope(|ui| {
        ui.set_max_width(room);
        ui.add(egui::Label::new(text).truncate());
    });
}

/// Draws the line; where nothing is selected it says how to select.
pub fn selected_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    derived: &Derived,
    marks: &Marks,
) {
    let units = Units::now(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        match *page.selection.steps {
            [] => {
                if let Some(peak) = derived.peak {
                    let text = format!("Peak: {}", step_text(page.report, derived, peak, units));
                    yielding_label(ui, RichText::new(shortened(&text, 120)), 0.0);
                }
                let hint = "Click the curve to select a step, Shift-click for one more";
                if page.selection.variable.is_none() && page.selection.operation.is_none() {
                    ui.add(egui::Label::new(RichText::new(hint).weak()).truncate());
                }
            }
            [step] => {
                let text = format!("Selected: {}", step_text(page.report, derived, step, units));
                let buttons = if page.selection.operation.is_none() { 2.0 } else { 1.0 };
                let following = buttons * BUTTON + others_width(page);
                yielding_label(ui, RichText::new(shortened(&text, 110)).strong(), following);
                if ui.button("Deselect step").clicked() {
                    page.selection.steps.clear();
                }
                mark_operation_ui(ui, page, step);
            }
            [first, ..] => {
                let count = page.selection.steps.len();
                let text = format!(
                    "Selected: {count} steps, compared with {}",
                    step_title(page.report, first).to_lowercase()
                );
                yielding_label(ui, RichText::new(text).strong(), BUTTON + others_width(page));
                if ui.button("Deselect steps").clicked() {
                    page.selection.steps.clear();
                }
            }
        }
        if let Some(operation) = page.selection.operation.clone() {
            ui.separator();
            let kind = operation.kind.as_deref().unwrap_or("operation");
            let name = operation.name.as_deref().unwrap_or("without a name");
            let steps = marks.steps_of_operation().map_or(0, <[u32]>::len) as u64;
            let text = format!(
                "{} {}: {} steps",
                shortened(kind, NAME),
                shortened(name, NAME),
                grouped(steps)
            );
            let following = if page.selection.variable.is_some() { 2.0 } else { 1.0 } * BUTTON;
            yielding_label(ui, RichText::new(text), following);
            if ui.button("Deselect operation").clicked() {
                page.selection.operation = None;
            }
        }
        if let Some(variable) = page.selection.variable.clone() {
            ui.separator();
            let life = match marks.life(page.selection) {
                Some(life) => format!(
                    ": {} at most, alive at {} of {} steps",
                    units.bytes(life.most_bytes),
                    grouped(life.steps),
                    grouped(derived.len() as u64)
                ),
                None => String::new(),
            };
            let button = ui.button("Deselect variable");
            if button.clicked() {
                page.selection.variable = None;
            }
            let text = format!("{}{life}", shortened(&variable, NAME));
            ui.add(egui::Label::new(text).truncate());
        }
    });
}

/// Room for what stands behind the steps.
fn others_width(page: &PageContext<'_>) -> f32 {
    let selection = &page.selection;
    let others = [selection.operation.is_some(), selection.variable.is_some()];
    others.into_iter().filter(|is_there| *is_there).count() as f32 * (BUTTON + 40.0)
}

/// Offers to mark all steps of the operation of the selected one.
fn mark_operation_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>, step: usize) {
    if page.selection.operation.is_some() {
        return;
    }
    let operation = steps::facts(page.report, step).and_then(|facts| facts.operation);
    let Some(operation) = operation else { return };
    let button = ui.button("Mark its operation");
    if button.on_hover_text("Marks every step of the same operation on the curve").clicked() {
        page.selection.operation =
            Some(OperationName { kind: operation.kind, name: operation.name });
    }
}

/// A step in a line: its number, what it does, how much is alive.
pub fn step_text(report: &Report, derived: &Derived, step: usize, units: Units) -> String {
    let facts = steps::facts(report, step);
    let id = facts.as_ref().map_or(step as u64, |facts| u64::from(facts.step.0));
    let kind = facts.as_ref().and_then(|facts| facts.kind.as_deref()).unwrap_or("unknown kind");
    let name = facts.as_ref().and_then(|facts| facts.name.as_deref()).unwrap_or("");
    let name = if name.is_empty() { String::new() } else { format!(" {}", shortened(name, NAME)) };
    let bytes = units.exact(derived.not_always_live_at(step));
    let tile = derived.worst_arena_at(step);
    let tile = tile.map_or(String::new(), |tile| format!(" on tile {tile}"));
    format!("step {id}, {}{name}, {bytes} not always live{tile}", shortened(kind, NAME))
}
