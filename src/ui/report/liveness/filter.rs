//! The filter over the steps of all runs: its field, and what it found.

use eframe::egui::{self, Label, TextEdit};

use super::marks::StepMarks;
use super::timelines::SlotTimelines;
use crate::text::{capitalised, grouped};
use crate::ui::report::moment::Moment;
use crate::ui::runs::{Run, Runs};
use crate::ui::units::Units;

pub fn field_ui(ui: &mut egui::Ui, runs: &Runs, marks: &mut StepMarks) {
    let name = format!("Filter {}", runs.system().steps);
    let field = TextEdit::singleline(&mut marks.text).hint_text(&*name);
    let field = ui.add(field.desired_width(120.0)).accessible_name(name);
    field.on_hover_text("A part of a name, a kind or an operation, such as conv");
}

/// Draws what was found; returns the slot of the largest when it is asked for.
pub fn found_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    timelines: &SlotTimelines,
    marks: &StepMarks,
) -> Option<usize> {
    if let Some(failure) = marks.failure() {
        ui.colored_label(ui.visuals().error_fg_color, failure);
        return None;
    }
    let (Some(counts), Some(marked)) = (marks.counts(runs), marks.marked(runs)) else {
        ui.weak("Looking…");
        return None;
    };
    let Some(slot) = marked.largest else {
        ui.label(format!("No {} matches", runs.system().step_in_text));
        return None;
    };
    let bytes = Units::now(ui).bytes(timelines.peak_bytes_at(slot));
    let title = Moment::at_slot(&timelines.axis, slot).title(runs);
    let button = ui.button(format!("Largest: {title}, {bytes}"));
    let peaks = peaks_text(marked.peaks, marked.largest_peaks, timelines.peaks.len());
    let steps = runs.system().steps;
    let text = match &*counts {
        [count] => {
            let of = grouped(timelines.len() as u64);
            format!("{} of {of} {steps} match {peaks}", grouped(*count as u64))
        }
        counts => {
            let count = |(run, count): (&Run, &usize)| {
                format!("{} {}", run.title_in_text(), grouped(*count as u64))
            };
            let counts: Vec<String> = runs.iter().zip(counts).map(count).collect();
            capitalised(&format!("{} {steps} match, {peaks}", counts.join(", ")))
        }
    };
    ui.add(Label::new(text).truncate());
    button.on_hover_text("Select it").clicked().then_some(slot)
}

/// How many peaks match, and how many of the largest, one after the other.
fn peaks_text(found: usize, largest: usize, peaks: usize) -> String {
    let grouped = |number: usize| grouped(number as u64);
    match (found, largest) {
        (found, _) if found == peaks => format!("and all {} peaks", grouped(peaks)),
        (found, first @ 2..) => format!(
            "and {} of {} peaks, the {} largest among them",
            grouped(found),
            grouped(peaks),
            grouped(first)
        ),
        (found, _) => format!("and {} of {} peaks", grouped(found), grouped(peaks)),
    }
}
