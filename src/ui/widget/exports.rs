//! The buttons that take a picture or a table out of the window.

use eframe::egui::{self, Button};

use crate::ui::command::{Command, Export, ExportTo, Exported};

/// From the right to the left. `form` is "picture" or "as CSV"; `is_named` tells several on a page apart.
pub fn exports_ui(
    ui: &mut egui::Ui,
    (form, name, is_named): (&str, &str, bool),
    commands: &mut Vec<Command>,
    what: impl Fn() -> Option<Exported>,
) {
    let forms = [
        (ExportTo::File, "Save…", format!("Save {form}…")),
        (ExportTo::Clipboard, "Copy", format!("Copy {form}")),
    ];
    for (to, word, title) in forms {
        let of = if is_named { format!("{title}: {name}") } else { title.clone() };
        let button = ui.add(Button::new(word)).accessible_name(of).on_hover_text(title);
        if button.clicked()
            && let Some(what) = what()
        {
            commands.push(Command::Export(Export { name: name.to_owned(), to, what }));
        }
    }
}
