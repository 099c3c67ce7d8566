//! The selected and ticked runs of a sweep, and the actions for them.

use eframe::egui::{self, Button, Label, RichText};
use std::path::PathBuf;

use crate::text::grouped;
use crate::ui::command::Command;
use crate::ui::runs::MOST_RUNS;
use crate::ui::theme::fonts;

/// The runs that can be chosen.
pub struct Choosable<'a> {
    pub name: &'a dyn Fn(usize) -> String,
    /// `None` where there is nothing to open.
    pub path: &'a dyn Fn(usize) -> Option<PathBuf>,
}

impl Choosable<'_> {
    /// Draws the selected runs, at most two, and the ticked ones, the reference first, with what can be done with
    /// them; `more` is added for one that is selected alone.
    pub fn ui(
        &self,
        ui: &mut egui::Ui,
        selected: &[usize],
        ticked: &[usize],
        commands: &mut Vec<Command>,
        more: impl FnOnce(&mut egui::Ui, usize),
    ) {
        let weak = |ui: &mut egui::Ui, text: &str| {
            ui.add(Label::new(fonts::caption(text).weak()).truncate());
        };
        self.ticked_ui(ui, ticked, commands);
        match *selected {
            [] => weak(ui, "Click a run to select it, Shift-click a second one to compare"),
            [run] => {
                ui.label(RichText::new(format!("Selected: {}", (self.name)(run))));
                if let Some(path) = (self.path)(run)
                    && ui.button("Open").clicked()
                {
                    commands.push(Command::Open(path));
                }
                more(ui, run);
                weak(ui, "Shift-click another to compare");
            }
            [source, target, ..] => {
                let name = self.name;
                ui.label(RichText::new(format!("Selected: {} → {}", name(source), name(target))));
                if let (Some(source), Some(target)) = ((self.path)(source), (self.path)(target))
                    && ui.button("Compare").accessible_name("Compare the selected runs").clicked()
                {
                    commands.push(Command::Compare(vec![source, target]));
                }
            }
        }
    }

    fn ticked_ui(&self, ui: &mut egui::Ui, ticked: &[usize], commands: &mut Vec<Command>) {
        let Some(reference) = ticked.first() else { return };
        let count = ticked.len();
        let title = match count {
            1 => "Open the ticked run".to_owned(),
            _ => format!("Open the {} ticked runs", grouped(count as u64)),
        };
        let open = ui.add_enabled(count <= MOST_RUNS, Button::new(title));
        let name = (self.name)(*reference);
        let hover = format!("{name}, which was ticked first, is the reference");
        let open = if count > 1 { open.on_hover_text(hover) } else { open };
        let too_many = format!("{MOST_RUNS} runs at most are open together");
        if open.on_disabled_hover_text(too_many).clicked() {
            let paths = ticked.iter().filter_map(|run| (self.path)(*run));
            commands.push(Command::Compare(paths.collect()));
        }
        ui.separator();
    }
}

pub fn select(selected: &mut Vec<usize>, run: usize, is_added: bool) {
    if !is_added {
        *selected = vec![run];
    } else if let Some(place) = selected.iter().position(|other| *other == run) {
        selected.remove(place);
    } else {
        selected.truncate(1);
        selected.push(run);
    }
}
