//! The home page: how to open a report; and the page in place of one that could not be opened.

use eframe::egui;
use std::path::{Path, PathBuf};

use eframe::egui::{Key, RichText, TextEdit};

use super::command::Command;
use super::loading::Failure;
use super::theme::{Tokens, card_frame};
use crate::text::{clean, shortened};

/// Longest path that is shown.
const PATH: usize = 300;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct HomePage {
    path: String,
    /// What happened last, such as a cancelled loading.
    pub notice: Option<String>,
}

impl HomePage {
    /// Puts a path into the field.
    pub fn set_path(&mut self, path: &Path) {
        self.path = path.display().to_string();
    }

    /// Draws the page, with a failure on top if there is one.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        failure: Option<&Failure>,
        is_picking: bool,
        commands: &mut Vec<Command>,
    ) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(720.0);
            ui.add_space(24.0);
            if let Some(failure) = failure {
                failure_ui(ui, failure, commands);
                ui.add_space(12.0);
            }
            if let Some(notice) = &self.notice {
                ui.label(RichText::new(notice).strong());
                ui.add_space(8.0);
            }
            self.open_ui(ui, is_picking, commands);
            ui.add_space(12.0);
            demo_ui(ui, commands);
        });
    }

    fn open_ui(&mut self, ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
        card_frame(Tokens::now(ui)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.heading("Open a report");
            ui.label(
                "A report is the directory that Poplar writes with autoReport.all: \
                 profile.pop, debug.cbor and more",
            );
            ui.add_space(8.0);
            let button = ui.add_enabled(!is_picking, egui::Button::new("Open report…"));
            let button = button.on_disabled_hover_text("The dialog is open");
            if button.clicked() {
                commands.push(Command::Pick);
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let label = ui.label("Path");
                let width = ui.available_width() - 70.0;
                let field = ui
                    .add(
                        TextEdit::singleline(&mut self.path)
                            .hint_text("Directory or file of a report")
                            .desired_width(width),
                    )
                    .labelled_by(label.id);
                let is_entered =
                    field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
                let path = self.path.trim();
                let open = ui.add_enabled(!path.is_empty(), egui::Button::new("Open"));
                let open = open.on_disabled_hover_text("Enter a path first");
                if (open.clicked() || is_entered) && !path.is_empty() {
                    commands.push(Command::Open(PathBuf::from(path)));
                }
            });
            ui.add_space(8.0);
            ui.weak("Or drop a directory anywhere on this window");
        });
    }
}

/// What a report below a directory is called: its directory from there, or its file where that has a
/// name of its own.
fn name_of(profile: &Path, below: Option<&Path>) -> String {
    let short = below.and_then(|below| profile.strip_prefix(below).ok()).unwrap_or(profile);
    match short.parent() {
        Some(directory) if short.ends_with("profile.pop") && !directory.as_os_str().is_empty() => {
            directory.display().to_string()
        }
        _ => short.display().to_string(),
    }
}

fn demo_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.heading("See how it looks");
        ui.label(
            "One model at six values of availableMemoryProportion: why 0.8 does not fit, why 0.6 \
             does not either although its curve is below the limit, and why 0.35 does",
        );
        ui.add_space(8.0);
        if ui.button("Open demo report").clicked() {
            commands.push(Command::Demo);
        }
    });
}

fn failure_ui(ui: &mut egui::Ui, failure: &Failure, commands: &mut Vec<Command>) {
    let error = &failure.error;
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        // Several reports are a choice, not a mistake: lines of their own in the message, and
        // buttons here.
        let is_choice = !failure.reports.is_empty();
        let title = if is_choice { "Which report?" } else { "The report could not be opened" };
        let color = if is_choice { ui.visuals().strong_text_color() } else { Tokens::now(ui).bad };
        ui.colored_label(color, RichText::new(title).strong().size(16.0));
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
        if let Some(hint) = error.hint.as_ref().filter(|_| !is_choice) {
            ui.label(&**hint);
        }
        if is_choice {
            ui.add_space(6.0);
            for path in &failure.reports {
                let name = name_of(path, error.file.as_deref());
                if ui.button(shortened(&name, PATH)).clicked() {
                    commands.push(Command::Open(path.clone()));
                }
            }
        }
    });
}
