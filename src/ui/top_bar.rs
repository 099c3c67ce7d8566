//! The bar on top: the open runs, a field for whatever one looks for, units, pictures.

use eframe::egui::{self, Align, Button, Layout, RichText, Vec2};

use super::command::{Command, PickFor, Tool};
use super::icon::Icon;
use super::keys::{self, Action, RunEntry, keys_text};
use super::open_runs::OpenRuns;
use super::run_chips::chips_ui;
use super::settings::Change;
use super::theme::{Tokens, fonts};
use super::units::Units;
use super::widget::choice::segments_ui;

/// Height of a row of runs, points.
const ROW: f32 = 28.0;
/// Widest field, points.
const FIELD: f32 = 250.0;

pub struct TopBar<'a> {
    pub open: &'a OpenRuns,
    pub entries: &'a [RunEntry],
    pub tool: Option<Tool>,
    pub actions: &'a [Action],
    pub units: Units,
}

impl TopBar<'_> {
    pub fn ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            self.units_ui(ui, commands);
            self.field_ui(ui, commands);
            ui.add_space(4.0);
            // As high as its rows: a layout that wraps takes all the height that it is given.
            let size = Vec2::new(ui.available_width(), ROW);
            let wrapped = Layout::left_to_right(Align::Center).with_main_wrap(true);
            ui.allocate_ui_with_layout(size, wrapped, |ui| {
                ui.spacing_mut().item_spacing = Vec2::new(8.0, 4.0);
                if self.tool.is_none() && self.open.len() > 0 {
                    chips_ui(ui, self.open, self.entries, commands);
                    self.add_ui(ui, commands);
                }
            });
        });
    }

    fn add_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let titles = ["Compare with…", "Compare two reports…"];
        let action = self.actions.iter().find(|action| titles.contains(&&*action.title));
        let why_not = action.and_then(|action| action.why_not.as_deref());
        let button = ui.add_enabled(why_not.is_none(), Button::new("+ Add run"));
        let button = button.on_hover_text("Compare with another report");
        if button.on_disabled_hover_text(why_not.unwrap_or_default()).clicked() {
            commands.push(Command::AskPath(PickFor::Run));
        }
        if self.open.len() > 1 {
            let end = Button::new(Icon::Close.atom()).frame_when_inactive(false);
            let end = ui.add(end).accessible_name("End comparison");
            let hover = "End the comparison; the reference stays open";
            if end.on_hover_text(hover).clicked() {
                commands.push(Command::EndComparison);
            }
        }
        if self.open.len() == 2 {
            let swap = Button::new("⇄").frame_when_inactive(false);
            let swap = ui.add(swap).accessible_name("Swap source and target");
            let keys = keys_text(ui.ctx(), keys::SWAP);
            if swap.on_hover_text(format!("Swap source and target ({keys})")).clicked() {
                commands.push(Command::Swap);
            }
        }
    }

    fn units_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let mut now = self.units;
        let choices = [(Units::Binary, "KiB"), (Units::Bytes, "Bytes")];
        segments_ui(ui, "Unit of bytes", &mut now, choices);
        if now != self.units {
            commands.push(Command::Set(Change::Units(now)));
        }
    }

    /// What looks like a field opens the palette, which is one.
    fn field_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let tokens = Tokens::now(ui);
        let is_short = ui.available_width() < 700.0 || self.open.len() > 3;
        let (hint, width) = if is_short {
            ("Go to…", 130.0)
        } else {
            ("Go to tile, step, variable, file…", FIELD)
        };
        let action = self.actions.iter().find(|action| action.title == "Commands…");
        let keys = action.map_or(String::new(), |action| keys_text(ui.ctx(), action.keys));
        let text = RichText::new(hint).color(tokens.third_text).font(fonts::regular(12.0));
        let keys = fonts::caption(keys).color(tokens.third_text);
        let button = Button::new(text).right_text(keys).fill(tokens.page);
        let button = ui.add(button.min_size(Vec2::new(width, 0.0)));
        let button = button.accessible_name("Go to a tile, step, variable, file or command");
        if button.clicked() {
            commands.push(Command::TogglePalette);
        }
    }
}
