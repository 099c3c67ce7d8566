//! The list of what is damaged or absent in the open reports.

use crate::text::shortened;
use crate::ui::runs::Runs;
use eframe::egui;

/// Longest message.
const MESSAGE: usize = 1000;

/// Draws the list of each report in a window of its own.
pub fn warnings_ui(ui: &egui::Ui, is_open: &mut bool, runs: &Runs) {
    egui::Window::new("Warnings")
        .open(is_open)
        // Above the button that opens it.
        .anchor(egui::Align2::RIGHT_BOTTOM, [-14.0, -44.0])
        .default_size([640.0, 320.0])
        .collapsible(false)
        .vscroll(true)
        .show(ui.ctx(), |ui| {
            ui.weak("What can be read is shown all the same");
            for run in runs.iter() {
                let warnings = run.report.warnings.list();
                if !runs.is_one() && !warnings.is_empty() {
                    ui.separator();
                    ui.heading(&*run.title);
                }
                for warning in warnings {
                    ui.separator();
                    ui.horizontal(|ui| {
                        ui.strong(warning.code.as_str());
                        ui.weak(shortened(&warning.file, 200));
                    });
                    ui.label(shortened(&warning.message, MESSAGE));
                }
            }
        });
}
