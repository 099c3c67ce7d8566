//! In place of a report that could not be opened: why, and what to do; or which reports there are.

use eframe::egui::{self, Align, Layout};

use crate::text::{clean, local_time, shortened};
use crate::ui::command::Command;
use crate::ui::loading::LoadFailure;
use crate::ui::runs::{MOST_RUNS, RunId};
use crate::ui::theme::{Tokens, card_frame, fonts};
use crate::ui::units::Units;
use crate::ui::widget::sign::{Sign, answer_ui};

/// Longest path that is shown.
const PATH: usize = 300;
/// Most height of the list of reports, points.
const MOST_HEIGHT: f32 = 420.0;

/// Draws the failure, with a button for each report that may be meant: to open it, or in place of a run of several.
pub fn failure_ui(
    ui: &mut egui::Ui,
    failure: &LoadFailure,
    in_place_of: Option<RunId>,
    commands: &mut Vec<Command>,
) {
    let error = &failure.error;
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        // Several reports are a choice, not a mistake: lines of their own in the message, and
        // buttons here.
        let is_choice = !failure.reports.is_empty();
        if is_choice {
            ui.label(fonts::card_title("Which run?"));
        } else {
            ui.horizontal(|ui| answer_ui(ui, Sign::Note, "The run could not be opened"));
        }
        let lines = if is_choice { 1 } else { 20 };
        for line in error.message.lines().take(lines) {
            ui.label(shortened(line, 1000));
        }
        if let Some(file) = error.file.as_ref().filter(|_| !is_choice) {
            ui.weak(format!("File: {}", shortened(&file.display().to_string(), PATH)));
        }
        if let Some(at) = &error.at {
            ui.weak(format!("At: {}", clean(at)));
        }
        if failure.may_be_log {
            log_ui(ui, failure, commands);
        } else if let Some(hint) = error.hint.as_ref().filter(|_| !is_choice) {
            ui.label(&**hint);
        }
        if is_choice {
            ui.add_space(6.0);
            choice_ui(ui, failure, in_place_of, commands);
        }
    });
}

/// Draws what the window can do with a text that is no run, in place of the command for a terminal.
fn log_ui(ui: &mut egui::Ui, failure: &LoadFailure, commands: &mut Vec<Command>) {
    ui.label("A log or an error message can be explained without a run.");
    ui.add_space(4.0);
    let button = ui.button("Explain this file");
    if let Some(file) = failure.error.file.as_ref().filter(|_| button.clicked()) {
        commands.push(Command::OpenLog(file.clone()));
    }
}

/// Draws the reports that may be meant with what a glance at each said, and the way to all of them.
fn choice_ui(
    ui: &mut egui::Ui,
    failure: &LoadFailure,
    in_place_of: Option<RunId>,
    commands: &mut Vec<Command>,
) {
    let units = Units::now(ui);
    let area = egui::ScrollArea::vertical().max_height(MOST_HEIGHT).auto_shrink([false, true]);
    area.show(ui, |ui| {
        let grid = egui::Grid::new("reports that may be meant").num_columns(4);
        grid.spacing([18.0, 4.0]).show(ui, |ui| {
            for report in &failure.reports {
                if ui.button(shortened(&report.name, PATH)).clicked() {
                    let path = report.path.clone();
                    commands.push(match in_place_of {
                        None => Command::Open(path),
                        Some(run) => Command::OpenInPlace(run, path),
                    });
                }
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    if report.verdict.is_empty() {
                        ui.weak("being read");
                        return;
                    }
                    Sign::of(report.fits).ui(ui, 14.0);
                    ui.label(&report.verdict);
                });
                let bytes = report.bytes.map_or(String::new(), |bytes| units.bytes(bytes));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.label(fonts::number(bytes));
                });
                ui.weak(report.written.map_or(String::new(), local_time));
                ui.end_row();
            }
        });
    });
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let count = failure.reports.len();
        // In place of one run of several there is room for one.
        if in_place_of.is_none() && (2..=MOST_RUNS).contains(&count) {
            let all = ui.button(format!("Compare all {count}"));
            if all.on_hover_text("Each as a run, the first as the reference").clicked() {
                let paths = failure.reports.iter().map(|report| report.path.clone());
                commands.push(Command::Compare(paths.collect()));
            }
        }
        if let Some(directory) = &failure.error.file
            && ui.button("Open all in a sweep").clicked()
        {
            commands.push(Command::OpenSweep(directory.clone()));
        }
    });
}
