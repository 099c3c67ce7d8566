//! The bar on top: the open runs, a field for whatever one looks for, units, pictures. Where it is narrow, names get
//! shorter, then words give way to signs, and at last the runs have rows of their own.

use eframe::egui::{self, Align, Button, Layout, RichText, Vec2};

use super::command::{Command, PickFor, Tool};
use super::icon::Icon;
use super::keys::{self, RunEntry, TitledCommand, keys_text};
use super::open_runs::OpenRuns;
use super::run_chips::{ChipDetail, Chips};
use super::settings::SettingChange;
use super::theme::{Tokens, fonts};
use super::units::Units;
use super::widget::choice::segments_ui;
use crate::store::System;

/// Height of a row of the bar, points.
const ROW: f32 = 28.0;
/// Between the controls of the bar, points.
const SPACING: f32 = 8.0;

pub struct TopBar<'a> {
    pub open: &'a OpenRuns,
    pub entries: &'a [RunEntry],
    pub tool: Option<Tool>,
    pub actions: &'a [TitledCommand],
    pub units: Units,
    /// The system of the reports; `None` where none is open.
    pub system: Option<&'a System>,
}

/// How much is said at the right.
#[derive(Clone, Copy, PartialEq)]
enum Right {
    Full,
    Short,
    Signs,
}

impl Right {
    /// How wide the field is, points.
    fn field(self) -> f32 {
        match self {
            Self::Full => 250.0,
            Self::Short => 130.0,
            Self::Signs => 68.0,
        }
    }

    /// Of all controls.
    fn width(self) -> f32 {
        let export = if self == Self::Full { 140.0 } else { 36.0 };
        self.field() + export + 112.0 + 3.0 * SPACING
    }
}

impl TopBar<'_> {
    pub fn ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        ui.spacing_mut().item_spacing = Vec2::new(SPACING, 4.0);
        let chips = (self.tool.is_none() && self.open.len() > 0)
            .then(|| Chips::of(ui, self.open, self.entries));
        let room = ui.available_width();
        let levels = [
            (Right::Full, ChipDetail::Words),
            (Right::Short, ChipDetail::Words),
            (Right::Short, ChipDetail::Names),
            (Right::Signs, ChipDetail::Names),
            (Right::Signs, ChipDetail::ShortNames),
        ];
        let needed = |right: Right, detail: ChipDetail| {
            let of_chips =
                |chips: &Chips<'_>| chips.width(detail, SPACING) + self.buttons_width(detail);
            right.width() + chips.as_ref().map_or(0.0, of_chips) + 2.0 * SPACING
        };
        let fitting = levels.into_iter().find(|(right, detail)| needed(*right, *detail) <= room);
        let (right, detail) = fitting.unwrap_or((Right::Signs, ChipDetail::Names));
        // Of a fixed height: the bar had two rows where it was narrower a moment ago.
        let row = Vec2::new(room, ROW);
        ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), |ui| {
            self.export_ui(ui, right, commands);
            self.units_ui(ui, commands);
            self.field_ui(ui, right, commands);
            let Some(chips) = &chips else { return };
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if fitting.is_some() {
                    chips.ui(ui, detail, commands);
                }
                self.add_ui(ui, detail, commands);
            });
        });
        if let Some(chips) = chips.as_ref().filter(|_| fitting.is_none()) {
            chips.rows_ui(ui, commands);
        }
    }

    /// Of what [`Self::add_ui`] adds.
    fn buttons_width(&self, detail: ChipDetail) -> f32 {
        let add = if detail == ChipDetail::ShortNames { 32.0 } else { 84.0 };
        let end = if self.open.len() > 1 { 36.0 + SPACING } else { 0.0 };
        let swap = if self.open.len() == 2 { 36.0 + SPACING } else { 0.0 };
        add + end + swap
    }

    fn add_ui(&self, ui: &mut egui::Ui, detail: ChipDetail, commands: &mut Vec<Command>) {
        let titles = ["Compare with…", "Compare two runs…"];
        let action = self.actions.iter().find(|action| titles.contains(&&*action.title));
        let why_not = action.and_then(|action| action.why_not.as_deref());
        let title = if detail == ChipDetail::ShortNames { "+" } else { "+ Add run" };
        let button = ui.add_enabled(why_not.is_none(), Button::new(title));
        let button = button.accessible_name("+ Add run").on_hover_text("Compare with another run");
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
            commands.push(Command::Set(SettingChange::Units(now)));
        }
    }

    fn export_ui(&self, ui: &mut egui::Ui, right: Right, commands: &mut Vec<Command>) {
        let title = "Export picture…";
        let button = match right {
            Right::Full => Button::new((Icon::Save.atom(), title)),
            _ => Button::new(Icon::Save.atom()),
        };
        let action = self.actions.iter().find(|action| action.title == title);
        let keys = action.map_or(String::new(), |action| keys_text(ui.ctx(), action.keys));
        let button = ui.add(button).accessible_name(title);
        let hover = format!("A picture of the page as PNG or SVG, light or dark ({keys})");
        if button.on_hover_text(hover).clicked() {
            commands.push(Command::ExportPicture);
        }
    }

    /// What looks like a field opens the palette, which is one.
    fn field_ui(&self, ui: &mut egui::Ui, right: Right, commands: &mut Vec<Command>) {
        let tokens = Tokens::now(ui);
        let places = match self.system {
            // What the palette finds by a number or a name.
            Some(system) => {
                let arena = Some(system.arena_in_text).filter(|_| system.are_steps_matched);
                let places =
                    [arena, Some(system.step_in_text), Some(system.item_in_text), Some("file")];
                places.into_iter().flatten().collect::<Vec<_>>().join(", ")
            }
            None => "file".to_owned(),
        };
        let hint = match right {
            Right::Full => format!("Go to {places}…"),
            Right::Short | Right::Signs => "Go to…".to_owned(),
        };
        let text = RichText::new(hint).color(tokens.third_text).font(fonts::regular(12.0));
        let mut button = Button::new(text).fill(tokens.page);
        let action = self.actions.iter().find(|action| action.title == "Commands…");
        if let Some(action) = action.filter(|_| right != Right::Signs) {
            let keys = fonts::caption(keys_text(ui.ctx(), action.keys));
            button = button.right_text(keys.color(tokens.third_text));
        }
        let button = ui.add(button.min_size(Vec2::new(right.field(), 0.0)));
        let button = button.accessible_name(format!("Go to {places} or command"));
        if button.clicked() {
            commands.push(Command::TogglePalette);
        }
    }
}
