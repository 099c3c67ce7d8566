//! The context menu: to copy the name of what was clicked, and to go where it is shown.

use eframe::egui::{self, Response};

use crate::ui::command::Command;
use crate::ui::selection::TitledJump;

/// Draws the entries.
pub fn place_menu_ui(
    ui: &mut egui::Ui,
    name: Option<&str>,
    places: &[TitledJump],
    commands: &mut Vec<Command>,
) {
    if let Some(name) = name.filter(|name| !name.is_empty())
        && ui.button("Copy name").clicked()
    {
        ui.copy_text(name.to_owned());
        ui.close();
    }
    for (title, place) in places {
        if ui.button(title).clicked() {
            commands.push(Command::GoTo(*place));
            ui.close();
        }
    }
}

/// The menu of a picture, which stays with what was clicked while the pointer goes on.
pub struct PictureMenu<T>(Option<T>);

impl<T> Default for PictureMenu<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> PictureMenu<T> {
    /// Opens it on a right click on something, and draws it while it is open.
    pub fn ui(
        &mut self,
        response: &Response,
        hovered: Option<T>,
        add: impl FnOnce(&mut egui::Ui, &T),
    ) {
        if response.secondary_clicked() {
            self.0 = hovered;
        }
        if let Some(clicked) = &self.0 {
            response.context_menu(|ui| add(ui, clicked));
        }
    }
}
