//! The bar at the bottom, and the page in place of a report that is not found yet.

use eframe::egui::{self, Align, Layout, ProgressBar, RichText};

use super::command::Command;
use super::loading::{Load, Stage};
use super::open_runs::OpenRuns;
use super::report::head::matched_ui;
use super::runs::Runs;
use super::theme::Tokens;
use super::theme::fonts::{self, size};
use crate::progress::Progress;
use crate::text::{grouped, shortened};

/// Draws the bar; `runs` are those whose files are found.
pub fn status_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    runs: Option<&Runs>,
    notice: Option<&str>,
    commands: &mut Vec<Command>,
) {
    let names = open.names();
    let loads: Vec<(&Load, Stage)> = open.iter().map(|run| (&run.load, run.load.stage())).collect();
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if let Some(runs) = runs {
            warnings_button_ui(ui, runs, commands);
            // Without a report its page has the progress.
            let mut working = loads.iter().zip(&names).filter(|((_, stage), _)| stage.is_working());
            if let Some(((load, stage), name)) = working.next() {
                if ui.button("Cancel").on_hover_text("What is read stays").clicked() {
                    commands.push(Command::Cancel);
                }
                bar_ui(ui, load.progress(), 140.0);
                match names.len() {
                    ..=2 => ui.label(stage.title()),
                    _ => ui.label(format!("{}: {}", shortened(name, 40), stage.title())),
                };
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.style_mut().override_font_id = Some(fonts::regular(size::CAPTION));
            let is_cancelled = |(_, stage): &(&Load, Stage)| matches!(stage, Stage::Cancelled);
            let text = if let Some(notice) = notice {
                RichText::new(notice).strong()
            } else if loads.iter().any(is_cancelled) {
                RichText::new("Cancelled: debug information and variables may be incomplete")
                    .strong()
            } else if loads.is_empty() {
                RichText::new("No report is open").weak()
            } else {
                let path = |(load, _): &(&Load, Stage)| {
                    shortened(&load.path.display().to_string(), 120).into_owned()
                };
                let paths: Vec<String> = match names.len() {
                    ..=2 => loads.iter().map(path).collect(),
                    _ => names.iter().map(|name| shortened(name, 40).into_owned()).collect(),
                };
                RichText::new(paths.join("  →  ")).weak()
            };
            ui.add(egui::Label::new(text).truncate());
            if let Some(runs) = runs.filter(|runs| runs.len() == open.len()) {
                ui.add_space(8.0);
                matched_ui(ui, runs);
            }
        });
    });
}

fn warnings_button_ui(ui: &mut egui::Ui, runs: &Runs, commands: &mut Vec<Command>) {
    let counts = runs.iter().map(|run| run.report.warnings.list().len() as u64);
    let count = counts.sum();
    let text = match count {
        0 => "No warnings".to_owned(),
        1 => "1 warning".to_owned(),
        count => format!("{} warnings", grouped(count)),
    };
    let mut text = RichText::new(text).font(fonts::medium(size::CAPTION));
    if count > 0 {
        text = text.color(Tokens::now(ui).note);
    }
    let button = egui::Button::new(text).frame_when_inactive(false);
    let button = ui.add_enabled(count > 0, button.min_size(egui::Vec2::ZERO));
    let button = button.on_hover_text("What is damaged or absent in the report");
    if button.on_disabled_hover_text("Nothing is damaged or absent").clicked() {
        commands.push(Command::ToggleWarnings);
    }
}

/// The part of the work that is done, where that is known.
fn bar_ui(ui: &mut egui::Ui, progress: &Progress, width: f32) {
    let (done, total) = progress.now();
    if total > 0 {
        let bar = ProgressBar::new((done as f32 / total as f32).min(1.0));
        ui.add(bar.desired_width(width).show_percentage()).accessible_name("Progress");
    }
}

/// Draws the page in place of a report that is not found, or not written, yet.
pub fn waiting_ui(ui: &mut egui::Ui, load: &Load, stage: &Stage, commands: &mut Vec<Command>) {
    let path = load.path.display().to_string();
    let about = match stage {
        Stage::WritingDemo => {
            "A ResNeXt-101 at six values of availableMemoryProportion, about 500 MB in the cache \
             directory; written once"
        }
        _ => &shortened(&path, 120),
    };
    if progress_ui(ui, stage.title(), about, load.progress()) {
        commands.push(Command::Cancel);
    }
}

/// Draws how far something is in place of it; says whether it shall stop.
pub fn progress_ui(ui: &mut egui::Ui, title: &str, about: &str, progress: &Progress) -> bool {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.28).floor());
        ui.label(RichText::new(title).strong().size(18.0));
        ui.weak(about);
        ui.add_space(8.0);
        bar_ui(ui, progress, 360.0);
        ui.add_space(8.0);
        ui.button("Cancel").clicked()
    })
    .inner
}
