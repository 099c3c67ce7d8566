//! The fields for two reports that are to be compared.

use eframe::egui::{self, Button, ComboBox, Key, TextEdit};
use std::path::{Path, PathBuf};

use super::HomeState;
use crate::analysis::figures::difference::Side;
use crate::text::shortened;
use crate::ui::command::{Command, PickFor};
use crate::ui::recent::titles;
use crate::ui::theme::{Tokens, card_frame, fonts};

/// Width of what stands beside a field, points.
const BESIDE: f32 = 206.0;

#[derive(Default)]
pub struct TwoReports {
    pub is_open: bool,
    paths: [String; 2],
}

impl TwoReports {
    pub fn name(&mut self, side: Side, path: &Path) {
        let [source, target] = &mut self.paths;
        let field = if side == Side::Source { source } else { target };
        *field = path.display().to_string();
        self.is_open = true;
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, state: &HomeState<'_>, commands: &mut Vec<Command>) {
        card_frame(Tokens::now(ui)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.label(fonts::card_title("Compare two runs"));
            ui.weak("Differences are target minus source");
            ui.add_space(4.0);
            let mut is_entered = false;
            for (side, path) in Side::BOTH.into_iter().zip(&mut self.paths) {
                is_entered |= field_ui(ui, side, path, state, commands);
            }
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                let [source, target] = self.paths.each_ref().map(|path| path.trim());
                let is_complete = !source.is_empty() && !target.is_empty();
                let compare = ui.add_enabled(is_complete, Button::new("Compare"));
                let compare = compare.on_disabled_hover_text("Name both runs first");
                if (compare.clicked() || is_entered) && is_complete {
                    let pair = (PathBuf::from(source), PathBuf::from(target));
                    commands.push(Command::Compare(vec![pair.0, pair.1]));
                }
                if ui.button("Swap").on_hover_text("Swap source and target").clicked() {
                    self.paths.swap(0, 1);
                }
                if ui.button("Cancel").clicked() {
                    self.is_open = false;
                }
            });
        });
    }
}

/// A path with the ways to name it; returns whether Enter was pressed in it.
fn field_ui(
    ui: &mut egui::Ui,
    side: Side,
    path: &mut String,
    state: &HomeState<'_>,
    commands: &mut Vec<Command>,
) -> bool {
    ui.horizontal(|ui| {
        let title = side.title();
        let label = ui.add_sized([48.0, 20.0], egui::Label::new(title));
        let width = (ui.available_width() - BESIDE).max(120.0);
        let field =
            TextEdit::singleline(path).hint_text("Directory or file of a run").desired_width(width);
        let field = ui.add(field).labelled_by(label.id);
        let browse = ui.add_enabled(!state.is_picking, Button::new("Browse…"));
        let browse = browse.accessible_name(format!("Browse for the {}", title.to_lowercase()));
        if browse.on_disabled_hover_text("The dialog is open").clicked() {
            commands.push(Command::Pick(PickFor::Field(side)));
        }
        let recents = ComboBox::from_id_salt(title).selected_text("Recent").width(84.0);
        let recents = recents.show_ui(ui, |ui| {
            for (recent, title) in state.recents.iter().zip(titles(state.recents)) {
                let name = shortened(&title, 80);
                if ui.selectable_label(false, name).clicked() {
                    commands.push(Command::NameReport(side, recent.path.clone()));
                }
            }
        });
        let name = format!("Recent runs for the {}", title.to_lowercase());
        recents.response.accessible_name(name);
        field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
    })
    .inner
}
