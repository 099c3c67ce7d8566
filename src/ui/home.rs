//! The home page: how to open a report, and what was opened before.

pub mod failure;
mod recents;
mod two_reports;

use eframe::egui::{self, Align, Button, Key, Label, Layout, RichText, TextEdit, Vec2};
use std::path::{Path, PathBuf};

use super::command::{Command, PickFor};
use super::icon::Icon;
use super::loading::Failure;
use super::recent::{RecentComparison, RecentReport};
use super::runs::RunId;
use super::theme::{Tokens, card_frame};

/// Widest contents, points.
const WIDTH: f32 = 1080.0;
/// Height of the three cards' contents, points.
const CARD: f32 = 96.0;
/// Height of the path's field, points.
const FIELD: f32 = 28.0;
/// Width of the button beside it, points.
const OPEN: f32 = 60.0;
/// Between cards, points.
const GAP: f32 = 12.0;
/// What makes Poplar write reports.
const CAPTURE: &str =
    r#"export POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"./report"}'"#;

#[derive(Default)]
pub struct HomePage {
    path: String,
    pub recents: recents::Recents,
    pub two_reports: two_reports::TwoReports,
    /// What happened last, such as a cancelled loading.
    pub notice: Option<String>,
}

pub struct HomeState<'a> {
    /// Why nothing of what was asked for could be opened.
    pub failures: &'a [(RunId, Failure)],
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
                ui.add_space(((ui.clip_rect().height() - 640.0) / 3.0).clamp(8.0, 120.0).floor());
                ui.label(RichText::new("Open a report").strong().size(24.0));
                ui.weak(
                    "A report is the directory that Poplar writes with autoReport.all: \
                     profile.pop, debug.cbor and more",
                );
                ui.add_space(GAP);
                for (id, failure) in state.failures {
                    let open = |path| match state.failures.len() {
                        1 => Command::Open(path),
                        _ => Command::OpenInPlace(*id, path),
                    };
                    failure::failure_ui(ui, failure, open, commands);
                    ui.add_space(GAP);
                }
                if let Some(notice) = &self.notice {
                    ui.label(RichText::new(notice).strong());
                    ui.add_space(8.0);
                }
                cards_ui(ui, state.is_picking, commands);
                ui.add_space(GAP);
                if self.two_reports.is_open {
                    self.two_reports.ui(ui, state, commands);
                } else {
                    self.path_ui(ui, commands);
                }
                ui.add_space(GAP);
                self.recents.ui(ui, state, commands);
                ui.add_space(GAP);
                capture_ui(ui);
            });
        });
    }

    fn path_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        ui.horizontal(|ui| {
            ui.set_min_height(FIELD);
            let label = ui.label("Path");
            let width = ui.available_width() - OPEN - ui.spacing().item_spacing.x;
            let field = TextEdit::singleline(&mut self.path)
                .hint_text("Directory or file of a report; or drop one on this window")
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

fn cards_ui(ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
    let cards = [
        Card {
            icon: Icon::Open,
            title: "Open report…",
            text: "Choose the directory of a report",
            command: Some(Command::Pick(PickFor::Open)),
            why_not: is_picking.then_some("The dialog is open"),
        },
        Card {
            icon: Icon::Compare,
            title: "Compare two reports…",
            text: "What changed from one run to another",
            command: Some(Command::ChooseTwo),
            why_not: None,
        },
        Card {
            icon: Icon::Demo,
            title: "Open demo report",
            text: "One model at six values of availableMemoryProportion: why 0.8 and 0.6 do not \
                   fit, and 0.35 does",
            command: Some(Command::Demo),
            why_not: None,
        },
    ];
    ui.spacing_mut().item_spacing.x = GAP;
    let is_narrow = ui.available_width() < 640.0;
    if is_narrow {
        for card in cards {
            card.ui(ui, commands);
            ui.add_space(GAP - 4.0);
        }
    } else {
        ui.columns_const(|columns: &mut [egui::Ui; 3]| {
            for (ui, card) in columns.iter_mut().zip(cards) {
                card.ui(ui, commands);
            }
        });
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

struct Card {
    icon: Icon,
    title: &'static str,
    text: &'static str,
    command: Option<Command>,
    why_not: Option<&'static str>,
}

impl Card {
    fn ui(self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        card_frame(Tokens::now(ui)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.set_height(CARD);
            let size = Vec2::new(ui.available_width(), 36.0);
            let title = RichText::new(self.title).size(15.0);
            let button = Button::new((self.icon.atom(), title)).right_text("").min_size(size);
            let response = ui.add_enabled(self.why_not.is_none(), button);
            let response = response.accessible_name(self.title);
            if response.clicked() {
                commands.extend(self.command);
            }
            ui.add_space(4.0);
            // Columns spread the words of a line over their width.
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.add(Label::new(RichText::new(self.text).weak()).wrap());
                if let Some(why_not) = self.why_not {
                    ui.add(Label::new(why_not).wrap());
                }
            });
        });
    }
}

fn capture_ui(ui: &mut egui::Ui) {
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new("Write a report").strong().size(15.0));
        ui.label("Set this before the program is compiled, in the shell that runs it");
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            if ui.button("Copy").on_hover_text("Copy the line to the clipboard").clicked() {
                ui.copy_text(CAPTURE.to_owned());
            }
            ui.add(Label::new(RichText::new(CAPTURE).monospace()).wrap());
        });
        ui.add_space(4.0);
        let hint = "A program that does not fit is reported too. With \
                    \"autoReport.outputExecutionProfile\":\"false\" its memory is as without a \
                    report";
        ui.add(Label::new(RichText::new(hint).weak()).wrap());
    });
}
