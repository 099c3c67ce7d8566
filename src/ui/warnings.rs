//! The list of what is damaged or absent in the open reports, and the same in a few words.

use crate::store::{Report, WarningCode};
use crate::text::{capitalised, counted, shortened};
use crate::ui::runs::Runs;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::sign::Sign;
use eframe::egui;

/// Longest message.
const MESSAGE: usize = 1000;

/// What a kind of warning says, for people.
fn words(code: WarningCode) -> &'static str {
    match code {
        WarningCode::MissingFile => "A file is missing",
        WarningCode::Truncated => "A file is cut off",
        WarningCode::UnsupportedVersion => "A format that is not known here",
        WarningCode::Inconsistent => "Parts contradict each other",
        WarningCode::NoExecution => "No execution profile",
        WarningCode::NoDebugInfo => "No debug information",
        WarningCode::Unfinished => "Interrupted while it was written",
        WarningCode::UnknownValue => "A value that is not known here",
    }
}

/// What a report lacks as a whole, in words; `None` where it is complete as far as is known.
pub fn incompleteness(report: &Report) -> Option<String> {
    lacks(report, report.warnings.has(WarningCode::NoExecution))
}

/// The same but for the execution, of which facts say that it was not recorded.
pub fn incompleteness_beside_execution(report: &Report) -> Option<String> {
    lacks(report, false)
}

fn lacks(report: &Report, is_not_executed: bool) -> Option<String> {
    let has = |code: WarningCode| report.warnings.has(code);
    let mut lacks = Vec::new();
    if has(WarningCode::Truncated) {
        lacks.push("a file is cut off");
    }
    if has(WarningCode::MissingFile) {
        lacks.push("a file is missing");
    }
    if is_not_executed {
        lacks.push("no execution profile");
    }
    if has(WarningCode::NoDebugInfo) {
        lacks.push("no debug information");
    }
    let is_interrupted = has(WarningCode::Unfinished);
    match (is_interrupted, lacks.is_empty()) {
        (true, true) => Some("Interrupted: the report is incomplete".to_owned()),
        (true, false) => Some(format!("Interrupted: {}", lacks.join(", "))),
        (false, true) => None,
        (false, false) => Some(capitalised(&lacks.join(", "))),
    }
}

/// What is said of all warnings of the open runs in a line; `None` where there are none.
pub fn in_a_line(runs: &Runs) -> Option<String> {
    let count = runs.iter().map(|run| run.report.warnings.count()).sum::<usize>();
    if count == 0 {
        return None;
    }
    let counted = counted(count as u64, "warning");
    let incomplete = runs.iter().find_map(|run| Some((run, incompleteness(&run.report)?)));
    Some(match incomplete {
        Some((_, lacks)) if runs.is_one() => format!("{lacks} · {counted}"),
        Some((run, lacks)) => format!("{}: {lacks} · {counted}", shortened(&run.name, 30)),
        None => counted,
    })
}

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
            ui.weak("Everything that can be read is shown");
            for run in runs.iter() {
                let warnings = run.report.warnings.list();
                if !runs.is_one() && !warnings.is_empty() {
                    ui.separator();
                    ui.label(fonts::card_title(&*run.title));
                }
                for warning in warnings {
                    ui.separator();
                    ui.horizontal(|ui| {
                        Sign::Note.ui(ui, 14.0);
                        ui.label(fonts::number(words(warning.code)));
                        let file = fonts::caption(shortened(&warning.file, 200));
                        ui.label(file.color(Tokens::now(ui).third_text));
                    });
                    ui.label(shortened(&warning.message, MESSAGE));
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn an_interrupted_report_says_so() {
        let report = Report::new(PathBuf::from("r"));
        assert_eq!(incompleteness(&report), None);
        report.warnings.add(WarningCode::Inconsistent, "profile.pop", "two parts");
        assert_eq!(incompleteness(&report), None);
        report.warnings.add(WarningCode::NoExecution, "profile.pop", "the tables are empty");
        assert_eq!(incompleteness(&report).as_deref(), Some("No execution profile"));
        assert_eq!(incompleteness_beside_execution(&report), None);
        report.warnings.add(WarningCode::Unfinished, "profile.pop", "a journal");
        let expected = "Interrupted: no execution profile";
        assert_eq!(incompleteness(&report).as_deref(), Some(expected));
    }
}
