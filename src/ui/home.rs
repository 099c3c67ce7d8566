//! The home page: how to open a report, and what was opened before.

pub mod failure;
mod recents;
mod two_reports;
mod ways;

use eframe::egui::{self, Button, CollapsingHeader, Key, Label, RichText, TextEdit, Vec2};
use std::path::{Path, PathBuf};

use super::command::Command;
use super::icon::Icon;
use super::loading::Failure;
use super::menu::logo_ui;
use super::recent::{RecentComparison, RecentReport};
use super::runs::RunId;
use super::theme::fonts::{self, size};
use super::theme::{BETWEEN_CARDS, Tokens, card_frame};
use super::widget::sign::{Sign, answer_ui};

/// Widest contents, points.
const WIDTH: f32 = 1080.0;
/// Height of the field for a path, points.
const FIELD: f32 = 28.0;
/// Width of the button beside it, points.
const OPEN: f32 = 60.0;
/// Between cards, points.
const GAP: f32 = BETWEEN_CARDS;
const COMPARE: &str = "Compare two reports…";
const DEMO: &str = "Open demo report";
/// What makes PyTorch record a memory snapshot, also of a run that runs out of memory.
const RECORD: &str = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # before the model is made\n\
                      try: train(steps=3)  # the second step is the one that repeats\n\
                      finally: torch.cuda.memory._dump_snapshot(\"run.pickle\")  # also after an out-of-memory error";
/// What makes XLA write the programs that it compiles, with their buffer assignment.
const DUMP: &str =
    r#"export XLA_FLAGS="--xla_dump_to=./dump --xla_dump_hlo_as_text --xla_dump_hlo_as_proto""#;
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
                ui.add_space(((ui.clip_rect().height() - 720.0) / 3.0).clamp(8.0, 96.0).floor());
                head_ui(ui);
                ui.add_space(GAP + 4.0);
                for (id, failure) in state.failures {
                    let in_place_of = (state.failures.len() != 1).then_some(*id);
                    failure::failure_ui(ui, failure, in_place_of, commands);
                    ui.add_space(GAP);
                }
                if let Some(notice) = &self.notice {
                    ui.horizontal(|ui| answer_ui(ui, Sign::Note, notice));
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
                capture_ui(ui);
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
                let about = "The demo: one model at six values of availableMemoryProportion, why \
                             0.8 and 0.6 do not fit, and 0.35 does";
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

/// The logo, the name, what it is for.
fn head_ui(ui: &mut egui::Ui) {
    ui.horizontal(|ui| {
        logo_ui(ui, 16.0);
        ui.add_space(6.0);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.label(RichText::new("Open a report").font(fonts::semibold(size::VERDICT)));
            ui.weak(
                "Whether a program fits, what fills its memory, what to change: from reports of Poplar, \
                 memory snapshots of PyTorch and dumps of XLA",
            );
        });
    });
}

fn capture_ui(ui: &mut egui::Ui) {
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(fonts::card_title("Write a report"));
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
        ui.add_space(4.0);
        CollapsingHeader::new("Record a memory snapshot of PyTorch").show(ui, record_ui);
        CollapsingHeader::new("Dump programs of XLA").show(ui, dump_ui);
    });
}

fn record_ui(ui: &mut egui::Ui) {
    ui.horizontal(|ui| {
        let copy = ui.button("Copy").on_hover_text("Copy the lines to the clipboard");
        if copy.accessible_name("Copy the lines of Python").clicked() {
            ui.copy_text(RECORD.to_owned());
        }
        ui.add(Label::new(RichText::new(RECORD).monospace()).wrap());
    });
    ui.add_space(4.0);
    let hint = "Open the file, or a directory with one of each variant: then a sweep says which fits the card. \
                docs/capture/pytorch.py records variant after variant";
    ui.add(Label::new(RichText::new(hint).weak()).wrap());
}

fn dump_ui(ui: &mut egui::Ui) {
    ui.horizontal(|ui| {
        let copy = ui.button("Copy").on_hover_text("Copy the line to the clipboard");
        if copy.accessible_name("Copy the flags of XLA").clicked() {
            ui.copy_text(DUMP.to_owned());
        }
        ui.add(Label::new(RichText::new(DUMP).monospace()).wrap());
    });
    ui.add_space(4.0);
    let hint = "Set it before the first compilation: JAX, TensorFlow with tf.function(jit_compile=True), PyTorch/XLA. A \
                program that does not fit is dumped too. tilescope summary reads the directory";
    ui.add(Label::new(RichText::new(hint).weak()).wrap());
}
