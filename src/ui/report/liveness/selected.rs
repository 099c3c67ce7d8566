//! The selection in the inspector: a moment, an operation, a variable, each with the way back.

use eframe::egui::{self, Label, RichText};

use super::marks::StepMarks;
use super::timelines::SlotTimelines;
use super::words::{moment_text, selected_moment};
use crate::analysis::program::operations::OperationName;
use crate::analysis::program::steps;
use crate::text::{capitalised, grouped, shortened, unbroken};
use crate::ui::report::PageContext;
use crate::ui::report::moment::Moment;
use crate::ui::report::variable_details::{ShownDetails, WantedVariable};
use crate::ui::runs::{Run, Runs};
use crate::ui::selection::Selection;
use crate::ui::units::Units;

/// Longest name in the line.
const NAME: usize = 40;

/// Draws what is selected, and what can be done with it.
pub fn selection_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    timelines: &SlotTimelines,
    marks: &StepMarks,
    details: &mut ShownDetails,
) {
    let (runs, units) = (page.runs, Units::now(ui));
    let slots = page.selection.slots(runs);
    let moment = selected_moment(timelines, &slots);
    if !slots.is_empty() {
        ui.horizontal_wrapped(|ui| {
            let system = runs.system();
            let what = if slots.len() > 1 { system.steps } else { system.step_in_text };
            if ui.button(format!("Deselect {what}")).clicked() {
                page.selection.steps.clear();
            }
            mark_operation_ui(ui, page.selection, runs, &moment);
        });
        let text = moment_text(&moment, runs, timelines, units);
        let text = selected_text(runs, &moment, &text, slots.len());
        ui.add(Label::new(RichText::new(unbroken(&text)).small()).wrap());
    } else if runs.len() == 2 {
        // The highest step of each, of which the inspector is about one; of more there is no room for them.
        let text = format!("Peaks: {}", moment_text(&moment, runs, timelines, units));
        ui.add(Label::new(RichText::new(unbroken(&text)).small()).wrap());
    }
    if page.selection.operation().is_some() || page.selection.variable().is_some() {
        others_ui(ui, page.selection, runs, timelines, marks, units);
    }
    if let Some(variable) = page.selection.variable().filter(|_| runs.is_one()) {
        details.ui(ui, runs.reference(), WantedVariable::Named(variable.clone()));
    }
}

fn selected_text(runs: &Runs, moment: &Moment, text: &str, count: usize) -> String {
    let steps = runs.system().steps;
    match (runs.is_one(), count) {
        (true, 1) => format!("Selected: {text}"),
        (true, count) => {
            format!("Selected: {count} {steps}, compared with {}", moment.title(runs))
        }
        (false, 1) => text.to_owned(),
        (false, count) => format!("{count} {steps} are selected, the first is compared: {text}"),
    }
}

/// Offers to mark all steps of the operation of the selected one.
fn mark_operation_ui(ui: &mut egui::Ui, selection: &mut Selection, runs: &Runs, moment: &Moment) {
    let operation = |(place, run): (usize, &Run)| {
        steps::facts(&run.report, None, moment.step_there(place)?)?.operation
    };
    if selection.operation().is_none()
        && let Some(operation) = runs.iter().enumerate().find_map(operation)
    {
        let button = ui.button("Mark its operation");
        let step = runs.system().step_in_text;
        if button.on_hover_text(format!("Marks every {step} of the same operation")).clicked() {
            selection.select_operation(Some(OperationName::of(&operation)));
        }
    }
}

fn others_ui(
    ui: &mut egui::Ui,
    selection: &mut Selection,
    runs: &Runs,
    timelines: &SlotTimelines,
    marks: &StepMarks,
    units: Units,
) {
    if let Some(operation) = selection.operation().cloned() {
        if ui.button("Deselect operation").clicked() {
            selection.select_operation(None);
        }
        let kind = operation.kind.as_deref().unwrap_or("operation");
        let name = operation.name_or_none();
        let marked = marks.marked(runs).map(|marked| &marked.of_operation);
        let count =
            |place: usize| marked.and_then(|marked| marked.get(place)).copied().unwrap_or(0);
        let counts = (0..runs.len()).map(|place| grouped(count(place) as u64));
        let text = format!(
            "{} {}: {}",
            shortened(kind, NAME),
            shortened(name, NAME),
            steps_text(runs, &counts.collect::<Vec<_>>())
        );
        ui.add(Label::new(text).wrap());
    }
    if let Some(variable) = selection.variable().cloned() {
        if ui.button(format!("Deselect {}", runs.system().item_in_text)).clicked() {
            selection.select_variable(None);
        }
        let lives = marks.lives(runs, selection);
        let of_run = |(place, run): (usize, &Run)| {
            let life = lives.and_then(|lives| lives.get(place)?.as_ref());
            let life = life.filter(|life| life.steps > 0).map(|life| {
                let steps = grouped(life.steps);
                let of = if runs.is_one() {
                    format!(" of {}", grouped(timelines.len() as u64))
                } else {
                    String::new()
                };
                let word = runs.system().steps;
                format!("{} at most, alive at {steps}{of} {word}", units.bytes(life.most_bytes))
            });
            let life = life.unwrap_or_else(|| "none".to_owned());
            if runs.is_one() { life } else { format!("{} {life}", run.title_in_text()) }
        };
        let texts: Vec<String> = runs.iter().enumerate().map(of_run).collect();
        let text = match lives {
            Some(_) => format!("{}: {}", shortened(&variable, NAME), texts.join("; ")),
            None => shortened(&variable, NAME).into_owned(),
        };
        ui.add(Label::new(unbroken(&text)).wrap());
    }
}

/// Numbers of steps in words: of two runs `1 steps of the source, 9 of the target`.
fn steps_text(runs: &Runs, counts: &[String]) -> String {
    let word = runs.system().steps;
    match (counts, runs.len()) {
        ([count], _) => format!("{count} {word}"),
        ([source, target], 2) => format!("{source} {word} of the source, {target} of the target"),
        (counts, _) => {
            let text =
                |(run, count): (&Run, &String)| format!("{count} of {}", run.title_in_text());
            let texts: Vec<String> = runs.iter().zip(counts).map(text).collect();
            capitalised(&format!("{word} {}", texts.join(", ")))
        }
    }
}
