//! All steps, or one: a slider over the slots of the runs' common axis, a number, and the ways to peaks.

use eframe::egui::{self, Button, DragValue, Pos2, Shape, Slider, Stroke};

use super::PageContext;
use super::moment::{Moment, step_id};
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::program::steps::name;
use crate::store::{StepId, System};
use crate::text::{grouped, shortened};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::widget::exports::is_taken_out;

/// Width of the slider, points.
const SLIDER: f32 = 340.0;

/// Draws the choice; the selection follows it everywhere. `none` says what is shown without a step: `All steps`. `peaks` are
/// steps of each run, as far as they are known, `of` says what they are the peaks of: `this tile`.
pub fn step_choice_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    none: &str,
    peaks: &[Option<usize>],
    of: &str,
) {
    let runs = page.runs;
    let Some(axis) = runs.axis() else {
        let coming = "Steps are being matched; until then all steps are shown";
        ui.weak(runs.why_not.as_deref().unwrap_or(coming));
        return;
    };
    let Some(last) = axis.len().checked_sub(1) else { return };
    let peaks: Vec<Option<usize>> =
        peaks.iter().enumerate().map(|(run, peak)| axis.slot(run, (*peak)?)).collect();
    let first_peak = peaks.iter().find_map(|peak| *peak);
    let selection = &mut *page.selection;
    let now = selection.slot(runs);
    if is_taken_out(ui.ctx()) {
        let text = now.map_or(none.to_owned(), |slot| slot_text(runs, axis, slot, first_peak, of));
        ui.label(text);
        return;
    }
    ui.horizontal(|ui| {
        let system = runs.system();
        if ui.selectable_label(now.is_none(), none).clicked() {
            selection.steps.clear();
        }
        let one = ui.selectable_label(now.is_some(), format!("At {}", a_step(system)));
        if one.clicked() && now.is_none() {
            selection.select_slot(runs, first_peak.unwrap_or(0));
        }
        let mut slot = now.or(first_peak).unwrap_or(0);
        ui.spacing_mut().slider_width = SLIDER.min(ui.available_width() * 0.5);
        let slider = ui.add(Slider::new(&mut slot, 0..=last).step_by(1.0).show_value(false));
        let slider = slider.accessible_name(system.step);
        let slider = slider.on_hover_text(format!("Arrow keys go {0} by {0}", system.step_in_text));
        for peak in peaks.iter().flatten() {
            peak_mark(ui, slider.rect, *peak as f32 / last.max(1) as f32);
        }
        let drag = ui.add(
            DragValue::new(&mut slot)
                .range(0..=last)
                .custom_formatter(|slot, _| step_number(runs, axis, slot as usize))
                .custom_parser(|text| parsed(runs, axis, text).map(|slot| slot as f64)),
        );
        let drag = drag.accessible_name(format!("{} number", system.step));
        let drag = drag.on_hover_text(format!("Click to type {}", a_step(system)));
        if slider.changed() || drag.changed() {
            selection.select_slot(runs, slot);
        }
        let mut buttons = |ui: &mut egui::Ui| {
            for (run, peak) in runs.iter().zip(&peaks) {
                let (title, hover) = peak_words(runs, run, of);
                let button = ui.add_enabled(peak.is_some(), Button::new(title));
                if let (true, Some(peak)) = (button.on_hover_text(hover).clicked(), peak) {
                    selection.select_slot(runs, *peak);
                }
            }
        };
        // More than two would not fit.
        if runs.len() > 2 {
            ui.menu_button("Peaks", buttons);
        } else {
            buttons(ui);
        }
        let text = match now {
            None => format!("{} {}", grouped(axis.len() as u64), system.steps),
            Some(slot) => slot_text(runs, axis, slot, first_peak, of),
        };
        ui.add(egui::Label::new(egui::RichText::new(text).weak()).truncate());
    });
}

/// `a step`, `an operation`.
fn a_step(system: &System) -> String {
    let word = system.step_in_text;
    let is_vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {word}", if is_vowel { "an" } else { "a" })
}

/// The title of the way to a peak, and what it says.
fn peak_words(runs: &Runs, run: &Run, of: &str) -> (String, String) {
    let hover = format!("The {} at which most is alive on {of}", runs.system().step_in_text);
    if runs.is_one() {
        return ("Peak".to_owned(), hover);
    }
    (format!("{}'s peak", run.title), format!("{hover} in {}", run.the()))
}

fn slot_text(runs: &Runs, axis: &StepAxis, slot: usize, peak: Option<usize>, of: &str) -> String {
    let mut title = format!("At {}", Moment::at_slot(axis, slot).title(runs));
    if runs.is_one() {
        let peak = if Some(slot) == peak { format!(", the peak of {of}") } else { String::new() };
        title = format!("{} {}{peak}", runs.system().step, step_number(runs, axis, slot));
    }
    let mut steps = steps_there(runs, axis, slot);
    match steps.find_map(|(_, run, step)| name(&run.report, None, step)) {
        Some(name) => format!("{title}: {}", shortened(name, 80)),
        None => title,
    }
}

fn steps_there<'a>(
    runs: &'a Runs,
    axis: &'a StepAxis,
    slot: usize,
) -> impl Iterator<Item = (usize, &'a Run, usize)> {
    let there = move |(place, run)| Some((place, run, axis.step(place, slot)?));
    runs.iter().enumerate().filter_map(there)
}

/// What stands before the number of a step that the reference does not have.
fn prefix(runs: &Runs, place: usize) -> String {
    match (runs.len(), place) {
        (_, 0) => String::new(),
        (2, _) => "T".to_owned(),
        _ => format!("{}:", place.saturating_add(1)),
    }
}

/// The number of the first run's step that is there.
fn step_number(runs: &Runs, axis: &StepAxis, slot: usize) -> String {
    let first = steps_there(runs, axis, slot).next();
    first.map_or_else(String::new, |(place, run, step)| {
        format!("{}{}", prefix(runs, place), step_id(&run.report, step))
    })
}

fn parsed(runs: &Runs, axis: &StepAxis, text: &str) -> Option<usize> {
    let text = text.trim().to_uppercase();
    let of_run = |(place, run): (usize, &Run)| {
        let id = text.strip_prefix(&prefix(runs, place))?.trim().parse().ok()?;
        axis.slot(place, run.report.steps.get()?.ids.position(StepId(id))?)
    };
    runs.iter().enumerate().find_map(of_run)
}

/// A triangle above the place of the peak on the slider.
fn peak_mark(ui: &egui::Ui, slider: egui::Rect, share: f32) {
    // As far from its ends as the middle of egui's handle is.
    let ends = slider.x_range().shrink(slider.height() / 2.5);
    let x = ends.min + (ends.max - ends.min) * share;
    let top = slider.top() - 1.0;
    let points = vec![Pos2::new(x - 4.0, top), Pos2::new(x + 4.0, top), Pos2::new(x, top + 5.0)];
    ui.painter().add(Shape::convex_polygon(points, Tokens::now(ui).accent, Stroke::NONE));
}
