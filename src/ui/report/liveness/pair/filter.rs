//! The filter over the steps of both reports: its field, and what it found.

use eframe::egui;
use eframe::egui::{Label, TextEdit};

use super::Both;
use super::derived::PairDerived;
use super::marks::PairMarks;
use super::places::Places;
use crate::text::grouped;
use crate::ui::report::liveness::filter::peaks_text;
use crate::ui::units::Units;

/// Draws the field and what was found; returns the slot of the largest when it is asked for.
pub fn filter_ui(
    ui: &mut egui::Ui,
    both: &Both<'_>,
    derived: &PairDerived,
    marks: &mut PairMarks,
) -> Option<usize> {
    let label = ui.label("Filter steps");
    let field = TextEdit::singleline(&mut marks.text);
    ui.add(field.hint_text("Name, kind, operation, such as conv").desired_width(230.0))
        .labelled_by(label.id);
    if marks.text.trim().is_empty() {
        return None;
    }
    if let Some(failure) = marks.failure() {
        ui.colored_label(ui.visuals().error_fg_color, failure);
        return None;
    }
    let (Some(counts), Some(marked)) = (marks.counts(both), marks.marked()) else {
        ui.weak("Looking…");
        return None;
    };
    let Some(slot) = marked.largest else {
        ui.label("No step matches");
        return None;
    };
    let units = Units::now(ui);
    let bytes = derived.highest_at(slot);
    let title = Places::at_slot(&derived.axis, slot).title(both.plain());
    let button = ui.button(format!("Largest: {title}, {}", units.bytes(bytes)));
    let [source, target] = counts.map(|count| grouped(count as u64));
    let peaks = peaks_text(marked.peaks, marked.largest_peaks, derived.peaks.len());
    let text = format!("Source {source}, target {target} steps match, {peaks}");
    ui.add(Label::new(text).truncate());
    button.on_hover_text("Select it").clicked().then_some(slot)
}
