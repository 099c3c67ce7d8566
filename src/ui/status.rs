//! The bar at the bottom, and the page in place of a report that is not found yet.

use eframe::egui::{
    self, Align, Label, Layout, ProgressBar, Rect, RichText, StrokeKind, UiBuilder, Vec2,
};

use super::command::Command;
use super::loading::{Load, Stage};
use super::open_runs::OpenRuns;
use super::report::head::matched_ui;
use super::runs::Runs;
use super::theme::fonts::{self, size};
use super::theme::{BETWEEN_CARDS, Tokens};
use super::warnings::in_a_line;
use crate::progress::Progress;
use crate::text::shortened;

/// Height of the card with the answer, and of that with the progress in its place, points.
const ANSWER: f32 = 116.0;

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
                if ui.button("Cancel").on_hover_text("Keeps what has been read").clicked() {
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
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Truncate);
            let is_cancelled = |(_, stage): &(&Load, Stage)| matches!(stage, Stage::Cancelled);
            let text = if let Some(notice) = notice {
                RichText::new(notice).strong()
            } else if loads.iter().any(is_cancelled) {
                RichText::new("Canceled: parts of the run may be missing").strong()
            } else if loads.is_empty() {
                RichText::new("No run is open").weak()
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
            let most = if runs.is_some_and(Runs::is_one) { 1.0 } else { 0.62 };
            let room = ui.available_width() * most;
            ui.scope(|ui| {
                ui.set_max_width(room);
                ui.label(text);
            });
            if let Some(runs) = runs.filter(|runs| runs.len() == open.len()) {
                ui.add_space(8.0);
                matched_ui(ui, runs);
            }
        });
    });
}

fn warnings_button_ui(ui: &mut egui::Ui, runs: &Runs, commands: &mut Vec<Command>) {
    let line = in_a_line(runs);
    let has_any = line.is_some();
    let mut text = RichText::new(line.unwrap_or_else(|| "No warnings".to_owned()));
    text = text.font(fonts::medium(size::CAPTION));
    if has_any {
        text = text.color(Tokens::now(ui).note);
    }
    let button = egui::Button::new(text).frame_when_inactive(false);
    let button = ui.add_enabled(has_any, button.min_size(egui::Vec2::ZERO));
    let button = button.on_hover_text("Shows what is damaged or absent in the run");
    if button.on_disabled_hover_text("Nothing is damaged or absent").clicked() {
        commands.push(Command::ToggleWarnings);
    }
}

/// The part of the work that is done, where that is known; never all of it.
fn bar_ui(ui: &mut egui::Ui, progress: &Progress, width: f32) {
    let (done, total) = progress.now();
    if total > 0 && done >= total {
        // What was counted is done, and the work goes on.
        ui.label(fonts::caption("Finishing…").color(Tokens::now(ui).weak_text));
    } else if total > 0 {
        let share = done as f32 / total as f32;
        let bar = ProgressBar::new(share).desired_width(width).desired_height(8.0);
        let percent = fonts::caption(format!("{} %", Progress::percent(done, total)));
        let percent = percent.color(Tokens::now(ui).weak_text);
        let is_from_right = ui.layout().prefer_right_to_left();
        if is_from_right {
            ui.label(percent.clone());
        }
        ui.add(bar.fill(Tokens::now(ui).accent)).accessible_name("Progress");
        if !is_from_right {
            ui.label(percent);
        }
    }
}

/// Draws the page in place of a report that is not found, or not written, yet.
pub fn waiting_ui(ui: &mut egui::Ui, load: &Load, stage: &Stage, commands: &mut Vec<Command>) {
    let path = load.path.display().to_string();
    let about = match stage {
        Stage::WritingDemo => {
            "Runs of one model at several settings, written once to the cache directory"
        }
        _ => &shortened(&path, 120),
    };
    if progress_ui(ui, stage.title(), about, load.progress()) {
        commands.push(Command::Cancel);
    }
}

/// Draws how far something is in place of it, on the outlines of the cards that come; says whether it shall stop.
pub fn progress_ui(ui: &mut egui::Ui, title: &str, about: &str, progress: &Progress) -> bool {
    let page = ui.available_rect_before_wrap();
    outlines(ui, page);
    let mut card = page;
    card.set_height(ANSWER);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(card.shrink2(Vec2::new(20.0, 14.0))));
    ui.label(RichText::new(title).font(fonts::semibold(size::PAGE_TITLE)));
    ui.add(Label::new(RichText::new(about).weak()).truncate());
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if ui.button("Cancel").clicked() {
            return true;
        }
        ui.add_space(4.0);
        let width = (ui.available_width() - 60.0).clamp(80.0, 420.0);
        bar_ui(ui, progress, width);
        false
    })
    .inner
}

/// The answer on top, two pictures, three cards below, as on the first page.
fn outlines(ui: &egui::Ui, page: Rect) {
    let tokens = Tokens::now(ui);
    let edge = egui::Stroke::new(1.0, tokens.border);
    let card = |rect: Rect| {
        if rect.is_positive() {
            ui.painter().rect(rect, 8, tokens.surface, edge, StrokeKind::Inside);
            let title =
                Rect::from_min_size(rect.min + Vec2::new(14.0, 14.0), Vec2::new(96.0, 10.0));
            ui.painter().rect_filled(title.intersect(rect), 3, tokens.raised);
        }
    };
    let row = |top: f32, bottom: f32, shares: &[f32]| {
        let room = page.width() - BETWEEN_CARDS * (shares.len() as f32 - 1.0);
        let mut left = page.left();
        for share in shares {
            let right = left + room * share;
            card(Rect::from_x_y_ranges(left..=right, top..=bottom));
            left = right + BETWEEN_CARDS;
        }
    };
    let answer = Rect::from_min_size(page.min, Vec2::new(page.width(), ANSWER));
    ui.painter().rect(answer, 8, tokens.surface, edge, StrokeKind::Inside);
    let top = answer.bottom() + BETWEEN_CARDS;
    let middle = top + (page.bottom() - top - BETWEEN_CARDS) * 0.62;
    row(top, middle, &[0.64, 0.36]);
    row(middle + BETWEEN_CARDS, page.bottom(), &[1.0 / 3.0; 3]);
}
