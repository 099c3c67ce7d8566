//! The page in place of the others while a run could not be opened: why, and what can be done.

use eframe::egui;

use super::command::{Command, PickFor};
use super::home::failure::failure_ui;
use super::keys::RunEntry;
use super::open_runs::OpenRuns;
use crate::text::shortened;

/// Longest name of a run.
const NAME: usize = 40;

/// Draws why runs could not be opened, in place of the page. The others stay open.
pub fn failures_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    entries: &[RunEntry],
    commands: &mut Vec<Command>,
) {
    let is_pair = open.len() == 2;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (place, (run, entry)) in open.iter().zip(entries).enumerate() {
            let Some(failure) = run.failure() else { continue };
            let name = shortened(&entry.name, NAME);
            ui.heading(match (is_pair, place) {
                (true, 0) => "The source of the comparison",
                (true, _) => "The target of the comparison",
                (false, _) => &*name,
            });
            ui.add_space(6.0);
            let id = run.id;
            failure_ui(ui, &failure, Some(id), commands);
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let (title, command) = if is_pair && place == 1 {
                    ("End comparison".to_owned(), Command::EndComparison)
                } else {
                    (format!("Close {name}"), Command::CloseRun(id))
                };
                if ui.button(title).clicked() {
                    commands.push(command);
                }
                let other = ui.button("Choose another…");
                let other = other.accessible_name(format!("Choose another instead of {name}"));
                if other.clicked() {
                    commands.push(Command::AskPath(PickFor::InPlaceOf(id)));
                }
            });
            ui.add_space(16.0);
        }
    });
}
