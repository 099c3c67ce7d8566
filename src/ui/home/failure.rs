//! In place of a report that could not be opened: why, and what to do; or which reports there are.

use eframe::egui::{self, RichText};
use std::path::{Path, PathBuf};

use crate::text::{clean, shortened};
use crate::ui::command::Command;
use crate::ui::loading::Failure;
use crate::ui::theme::{Tokens, card_frame};

/// Longest path that is shown.
const PATH: usize = 300;

/// Draws the failure, with a button for each report that may be meant; `open` is its command.
pub fn failure_ui(
    ui: &mut egui::Ui,
    failure: &Failure,
    open: impl Fn(PathBuf) -> Command,
    commands: &mut Vec<Command>,
) {
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
            ui.horizontal_wrapped(|ui| {
                for path in &failure.reports {
                    let name = name_of(path, error.file.as_deref());
                    if ui.button(shortened(&name, PATH)).clicked() {
                        commands.push(open(path.clone()));
                    }
                }
            });
        }
    });
}

/// What a report below a directory is called: its directory, or its file by a name of its own.
fn name_of(profile: &Path, below: Option<&Path>) -> String {
    let short = below.and_then(|below| profile.strip_prefix(below).ok()).unwrap_or(profile);
    match short.parent() {
        Some(directory) if short.ends_with("profile.pop") && !directory.as_os_str().is_empty() => {
            directory.display().to_string()
        }
        _ => short.display().to_string(),
    }
}
