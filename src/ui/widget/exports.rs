//! The buttons that take a picture or a table out of the window.

use eframe::egui::{self, Button};

use crate::ui::command::{Command, Export, ExportTo, Exported};
use crate::ui::icon::Icon;

/// From the right to the left. `form` is "picture" or "as CSV"; `is_named` tells several on a page apart.
pub fn exports_ui(
    ui: &mut egui::Ui,
    (form, name, is_named): (&str, &str, bool),
    commands: &mut Vec<Command>,
    what: impl Fn() -> Option<Exported>,
) {
    let forms = [
        (ExportTo::File, Icon::Save, format!("Save {form}…")),
        (ExportTo::Clipboard, Icon::Copy, format!("Copy {form}")),
    ];
    for (to, icon, title) in forms {
        let of = if is_named { format!("{title}: {name}") } else { title.clone() };
        let button = Button::new(icon.atom()).frame_when_inactive(false);
        let button = ui.add(button).accessible_name(of).on_hover_text(title);
        if button.clicked()
            && let Some(what) = what()
        {
            commands.push(Command::Export(Export { name: name.to_owned(), to, what }));
        }
    }
}
