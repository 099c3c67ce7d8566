//! Fields that describe the device: its capacity, what others have of it, and which device is meant.

use eframe::egui::{self, Align2, TextEdit, Vec2};
use std::collections::BTreeMap;

use crate::text::size;
use crate::ui::theme::{CONTROL_HEIGHT, Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;

/// Width of a field, points.
const FIELD: f32 = 84.0;
/// Width of the choice of a device, points.
const DEVICE: f32 = 110.0;

/// A size that the user types.
#[derive(Default)]
pub struct Typed {
    text: String,
    /// What it says; `None` where it is empty or no size.
    pub bytes: Option<u64>,
    error: Option<String>,
}

impl Typed {
    fn read(&mut self) {
        let text = self.text.trim();
        (self.bytes, self.error) = match size::parse(text) {
            _ if text.is_empty() => (None, None),
            Ok(bytes) => (Some(bytes), None),
            Err(error) => (None, Some(error)),
        };
    }

    /// Draws the field with what is wrong in it; whether it was changed.
    pub fn ui(&mut self, ui: &mut egui::Ui, name: &str, hint: &str) -> bool {
        let label = ui.label(name);
        let field = TextEdit::singleline(&mut self.text)
            .hint_text(hint)
            .desired_width(FIELD)
            .min_size(Vec2::new(0.0, CONTROL_HEIGHT))
            .align(Align2::LEFT_CENTER);
        let field = ui.add(field).labelled_by(label.id);
        let has_changed = field.changed();
        if has_changed {
            self.read();
        }
        match (&self.error, self.bytes) {
            (Some(error), _) => {
                let text = fonts::caption(error).color(Tokens::now(ui).over);
                ui.label(text);
            }
            (None, Some(bytes)) => drop(field.on_hover_text(Units::now(ui).exact(bytes))),
            (None, None) => {}
        }
        has_changed
    }
}

/// A row of fields, in which words stand beside their middle.
pub fn fields_row_ui(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = CONTROL_HEIGHT;
        ui.horizontal_wrapped(add);
    });
}

/// What the devices of several runs are called by their numbers; those of one number that are called differently by it
/// alone.
pub fn device_titles(devices: impl Iterator<Item = (i64, String)>) -> BTreeMap<i64, String> {
    let mut titles: BTreeMap<i64, String> = BTreeMap::new();
    for (number, title) in devices {
        let known = titles.entry(number).or_insert_with(|| title.clone());
        if *known != title {
            *known = format!("Device {number}");
        }
    }
    titles
}

/// Which device is shown, of those with their titles; with the name of the choice, and what stands for none.
pub fn device_ui(
    ui: &mut egui::Ui,
    [name, none]: [&str; 2],
    device: &mut Option<i64>,
    devices: &BTreeMap<i64, String>,
) {
    let choices = std::iter::once(None).chain(devices.keys().copied().map(Some));
    choice_ui(ui, name, DEVICE, device, choices, |device| {
        let title = device.and_then(|number| devices.get(&number));
        title.map_or_else(|| none.to_owned(), String::clone)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_means_several_devices_is_called_by_itself() {
        let devices =
            [(0, "GPU 0"), (1, "GPU 1"), (0, "GPU 0"), (1, "Rank 3, GPU 0"), (2, "Rank 4, GPU 0")];
        let titles = device_titles(devices.map(|(at, title)| (at, title.to_owned())).into_iter());
        let titles: Vec<&str> = titles.values().map(String::as_str).collect();
        assert_eq!(titles, ["GPU 0", "Device 1", "Rank 4, GPU 0"]);
    }

    #[test]
    fn what_is_typed_is_a_size_or_says_why_not() {
        let typed = |text: &str| {
            let mut typed = Typed { text: text.to_owned(), ..Typed::default() };
            typed.read();
            (typed.bytes, typed.error.is_some())
        };
        assert_eq!(typed(" 8 GiB "), (Some(8 << 30), false));
        assert_eq!(typed(""), (None, false));
        assert_eq!(typed("8 apples"), (None, true));
    }
}
