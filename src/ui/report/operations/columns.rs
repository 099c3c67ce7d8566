//! The figures that have a column. The choice is kept from run to run: the window puts in what the settings have.

use eframe::egui::{self, Id};

use crate::analysis::operations::OperationFigure;
use crate::ui::command::Command;
use crate::ui::settings::SettingChange;

const AT_FIRST: [OperationFigure; 8] = [
    OperationFigure::PeakLive,
    OperationFigure::WorstLive,
    OperationFigure::AlwaysLive,
    OperationFigure::Variables,
    OperationFigure::Code,
    OperationFigure::Cycles,
    OperationFigure::EstimatedCycles,
    OperationFigure::Steps,
];

/// The chosen figures, by the keys that they have in JSON; in the order of [`OperationFigure::ALL`] unless as at first.
pub fn now(ctx: &egui::Context) -> Vec<OperationFigure> {
    let keys: Vec<String> = ctx.data(|data| data.get_temp(key())).unwrap_or_default();
    let chosen = |figure: &OperationFigure| keys.iter().any(|key| key == figure.key());
    let found: Vec<OperationFigure> = OperationFigure::ALL.into_iter().filter(chosen).collect();
    if found.is_empty() { AT_FIRST.to_vec() } else { found }
}

/// Makes these the chosen ones.
pub fn apply(ctx: &egui::Context, keys: Vec<String>) {
    ctx.data_mut(|data| data.insert_temp(key(), keys));
}

pub fn menu_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    let shown = now(ui.ctx());
    ui.menu_button("Columns ▾", |ui| {
        for figure in OperationFigure::ALL {
            let mut is_shown = shown.contains(&figure);
            // One column stays, or there would be nothing to see.
            let is_last = is_shown && shown.len() == 1;
            let choice =
                ui.add_enabled(!is_last, egui::Checkbox::new(&mut is_shown, figure.title()));
            if choice.changed() {
                let is_wanted = |other: &OperationFigure| {
                    if *other == figure { is_shown } else { shown.contains(other) }
                };
                let keys = OperationFigure::ALL.into_iter().filter(is_wanted);
                let keys: Vec<String> = keys.map(|figure| figure.key().to_owned()).collect();
                apply(ui.ctx(), keys.clone());
                commands.push(Command::Set(SettingChange::OperationColumns(keys)));
            }
        }
    });
}

fn key() -> Id {
    Id::unique("columns of operations")
}
