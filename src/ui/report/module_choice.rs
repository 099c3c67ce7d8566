//! The choice of the open module: a dump has dozens, of which one is shown at a time.

use eframe::egui;

use crate::text::{counted, shortened};
use crate::ui::command::Command;
use crate::ui::runs::Run;
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;

/// Longest name, and width, points.
const NAME: usize = 40;
const WIDTH: f32 = 260.0;

/// The choice of the module, where there are several.
pub fn module_choice_ui(ui: &mut egui::Ui, run: &Run, commands: &mut Vec<Command>) {
    let modules = run.derived.answers().modules();
    if modules.len() < 2 {
        return;
    }
    let units = Units::now(ui);
    let title = |place: &usize| {
        let Some(one) = modules.get(*place) else { return String::new() };
        format!("{}, {}", shortened(&one.title, NAME), units.bytes(one.main_bytes))
    };
    let (mut chosen, width) = (0, ui.available_width().min(WIDTH));
    let hover = format!("The module that is shown, of {}", counted(modules.len() as u64, "module"));
    choice_ui(ui, "Module", width, &mut chosen, 0..modules.len(), title).on_hover_text(hover);
    if let Some(one) = modules.get(chosen).filter(|_| chosen > 0) {
        commands.push(Command::OpenModule(run.id, one.key.clone()));
    }
}
