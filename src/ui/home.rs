//! The home page: how to open a run, how to record one, and what was opened before.

pub mod failure;
mod recents;
mod two_reports;
mod ways;

use eframe::egui::{self, Button, CollapsingHeader, Key, Label, RichText, TextEdit, Vec2};
use std::path::{Path, PathBuf};

use super::command::Command;
use super::icon::Icon;
use super::loading::LoadFailure;
use super::menu::logo_ui;
use super::recent::{RecentComparison, RecentReport};
use super::runs::RunId;
use super::theme::fonts::{self, size};
use super::theme::{BETWEEN_CARDS, Tokens, card_frame};
use super::widget::sign::{Sign, answer_ui};
use crate::systems::of_process;
use crate::systems::system::{Capture, RunSystem};

/// Widest contents, points.
const WIDTH: f32 = 1080.0;
/// Height of the field for a path, points.
const FIELD: f32 = 28.0;
/// Width of the button beside it, points.
const OPEN: f32 = 60.0;
/// Between cards, points.
const GAP: f32 = BETWEEN_CARDS;
const COMPARE: &str = "Compare two runs…";
const DEMO: &str = "Open demo";

#[derive(Default)]
pub struct HomePage {
    path: String,
    pub recents: recents::Recents,
    pub two_reports: two_reports::TwoReports,
    /// What happened last, such as a canceled loading.
    pub notice: Option<String>,
}

pub struct HomeState<'a> {
    /// Why nothing of what was asked for could be opened.
    pub failures: &'a [(RunId, LoadFailure)],
    pub is_picking: bool,
    pub recents: &'a [RecentReport],
    pub comparisons: &'a [RecentComparison],
    pub sweeps: &'a [RecentReport],
}

impl HomePage {
    pub fn set_path(&mut self, path: &Path) {
        self.path = path.display().to_string();
    }

    /// Draws the page, with a failure on top if there is one.
    pub fn ui(&mut self, ui: &mut egui::Ui, state: &HomeState<'_>, commands: &mut Vec<Command>) {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let width = ui.available_width().min(WIDTH);
            let left = ((ui.available_width() - width) / 2.0).floor();
            let mut rect = ui.available_rect_before_wrap();
            rect.min.x += left;
            rect.max.x = rect.min.x + width;
            ui.scope_builder(egui::UiBuilder::new().max_rect(rect), |ui| {
                ui.add_space(((ui.clip_rect().height() - 720.0) / 3.0).clamp(8.0, 96.0).floor());
                head_ui(ui);
                ui.add_space(GAP + 4.0);
                for (id, failure) in state.failures {
                    let in_place_of = (state.failures.len() != 1).then_some(*id);
                    failure::failure_ui(ui, failure, in_place_of, commands);
                    ui.add_space(GAP);
                }
                if let Some(notice) = &self.notice {
                    ui.horizontal(|ui| answer_ui(ui, Sign::Plain, notice));
                    ui.add_space(8.0);
                }
                ways::ways_ui(ui, state.is_picking, commands);
                ui.add_space(GAP);
                if self.two_reports.is_open {
                    self.two_reports.ui(ui, state, commands);
                } else {
                    self.path_ui(ui, commands);
                }
                ui.add_space(GAP + 4.0);
                self.recents.ui(ui, state, commands);
                capture_ui(ui, state);
            });
        });
    }

    fn path_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        card_frame(Tokens::now(ui)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            self.field_ui(ui, commands);
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                let compare = Button::new((Icon::Compare.atom(), COMPARE));
                if ui.add(compare).accessible_name(COMPARE).clicked() {
                    commands.push(Command::ChooseTwo);
                }
                let demo = Button::new((Icon::Demo.atom(), DEMO));
                if ui.add(demo).accessible_name(DEMO).clicked() {
                    commands.push(Command::Demo);
                }
                ui.add_space(4.0);
                let about = "The demo: one model at six settings, which of them fit, and why";
                ui.label(fonts::caption(about).color(Tokens::now(ui).weak_text));
            });
        });
    }

    fn field_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        ui.horizontal(|ui| {
            ui.set_min_height(FIELD);
            let label = ui.label("Path");
            let width = ui.available_width() - OPEN - ui.spacing().item_spacing.x;
            let field = TextEdit::singleline(&mut self.path)
                .hint_text("Directory or file of a run; or drop one on this window")
                .desired_width(width)
                .min_size(Vec2::new(0.0, FIELD))
                .align(egui::Align2::LEFT_CENTER);
            let field = ui.add(field).labelled_by(label.id);
            let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let path = self.path.trim();
            let button = Button::new("Open").min_size(Vec2::new(OPEN, FIELD));
            let open = ui.add_enabled(!path.is_empty(), button);
            let open = open.on_disabled_hover_text("Enter a path first");
            if (open.clicked() || is_entered) && !path.is_empty() {
                commands.push(Command::Open(PathBuf::from(path)));
            }
        });
    }
}

/// The logo, the name, what it is for.
fn head_ui(ui: &mut egui::Ui) {
    ui.horizontal(|ui| {
        logo_ui(ui, 16.0);
        ui.add_space(6.0);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.label(RichText::new("Open a run").font(fonts::semibold(size::VERDICT)));
            ui.weak("Find out whether it fits, what fills the memory, and what to change");
        });
    });
}

/// How runs are recorded: of the system whose run was opened last; the others fold out.
fn capture_ui(ui: &mut egui::Ui, state: &HomeState<'_>) {
    let last = state.recents.iter().find_map(|run| run.known.system.as_deref());
    let is_last = |system: &&&dyn RunSystem| Some(system.words().name) == last;
    let (of_last, others): (Vec<&&dyn RunSystem>, Vec<_>) = of_process().iter().partition(is_last);
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        for capture in of_last.iter().filter_map(|system| system.capture()) {
            ui.label(fonts::card_title(capture.title));
            code_ui(ui, capture);
        }
        let headers = |ui: &mut egui::Ui| {
            for capture in others.iter().filter_map(|system| system.capture()) {
                CollapsingHeader::new(capture.title).show(ui, |ui| code_ui(ui, capture));
            }
        };
        if of_last.is_empty() {
            ui.label(fonts::card_title("Record a run"));
            headers(ui);
        } else {
            CollapsingHeader::new("Other systems").show(ui, headers);
        }
    });
}

fn code_ui(ui: &mut egui::Ui, capture: &Capture) {
    ui.horizontal(|ui| {
        let copy = ui.button("Copy").on_hover_text("Copy this to the clipboard");
        if copy.accessible_name(format!("Copy: {}", capture.title)).clicked() {
            ui.copy_text(capture.code.to_owned());
        }
        ui.add(Label::new(RichText::new(capture.code).monospace()).wrap());
    });
    ui.add_space(4.0);
    ui.add(Label::new(RichText::new(capture.hint).weak()).wrap());
}
