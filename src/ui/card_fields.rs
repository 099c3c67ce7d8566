//! Fields that describe the device: its capacity, what others have of it, and which device is meant.

use eframe::egui::{self, Align2, ScrollArea, TextEdit, Vec2};
use std::collections::BTreeMap;

use crate::run::known_devices::KNOWN_DEVICES;
use crate::run::{CapacityArgument, Room};
use crate::store::Report;
use crate::text::size;
use crate::ui::theme::{CONTROL_HEIGHT, Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;

/// Width of a field, points.
const FIELD: f32 = 96.0;
/// Width of the choice of a device, points.
const DEVICE: f32 = 110.0;
/// Most height of the list of known devices, points.
const DEVICES: f32 = 320.0;

/// A size that the user types.
#[derive(Default)]
struct Typed {
    text: String,
    /// What it says; `None` where it is empty or no size.
    says: Option<CapacityArgument>,
    error: Option<String>,
}

impl Typed {
    fn read(&mut self, parse: impl Fn(&str) -> Result<CapacityArgument, String>) {
        let text = self.text.trim();
        (self.says, self.error) = match parse(text) {
            _ if text.is_empty() => (None, None),
            Ok(says) => (Some(says), None),
            Err(error) => (None, Some(error)),
        };
    }

    /// Draws the field with what is wrong in it; whether it was changed.
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        [name, hint]: [&str; 2],
        parse: impl Fn(&str) -> Result<CapacityArgument, String>,
    ) -> bool {
        let label = ui.label(name);
        let field = TextEdit::singleline(&mut self.text)
            .hint_text(hint)
            .desired_width(FIELD)
            .min_size(Vec2::new(0.0, CONTROL_HEIGHT))
            .align(Align2::LEFT_CENTER);
        let field = ui.add(field).labelled_by(label.id);
        let has_changed = field.changed();
        if has_changed {
            self.read(parse);
        }
        match (&self.error, self.says) {
            (Some(error), _) => {
                // What there is to choose from stands behind it.
                let short = error.split_once(": ").map_or(&**error, |(short, _)| short);
                let text = fonts::caption(short).color(Tokens::now(ui).over);
                ui.label(text).on_hover_text(error);
            }
            (None, Some(says)) => drop(field.on_hover_text(Units::now(ui).exact(says.bytes))),
            (None, None) => {}
        }
        has_changed
    }
}

/// What the user says of the device: its memory, by bytes or by the name of a known device, and what others have of it.
#[derive(Default)]
pub struct RoomFields {
    capacity: Typed,
    other: Typed,
}

impl RoomFields {
    /// Fields that say what a command line said.
    pub fn of(room: Room) -> Self {
        let mut fields = Self::default();
        if let Some(bytes) = room.capacity_bytes {
            fields.capacity.text = room.named.map_or_else(|| typed_text(bytes), str::to_owned);
            fields.capacity.says = Some(CapacityArgument { bytes, from: room.named });
        }
        if room.is_other_said {
            fields.other.text = typed_text(room.other_bytes);
            fields.other.says = Some(CapacityArgument { bytes: room.other_bytes, from: None });
        }
        fields
    }

    /// Draws them in a row of their own.
    pub fn row_ui(&mut self, ui: &mut egui::Ui) {
        fields_row_ui(ui, |ui| {
            self.ui(ui);
        });
    }

    /// The same within a row; whether one was changed.
    pub fn ui(&mut self, ui: &mut egui::Ui) -> bool {
        let mut has_changed =
            self.capacity.ui(ui, ["Capacity", "e.g. 16GiB"], CapacityArgument::parse);
        let menu = ui.menu_button("Known devices", |ui| {
            ScrollArea::vertical().max_height(DEVICES).show(ui, |ui| {
                for device in KNOWN_DEVICES {
                    let text = format!("{}  {}", device.name, Units::now(ui).bytes(device.bytes));
                    if ui.button(text).clicked() {
                        device.name.clone_into(&mut self.capacity.text);
                        self.capacity.read(CapacityArgument::parse);
                        has_changed = true;
                        ui.close();
                    }
                }
            });
        });
        menu.response.on_hover_text("Takes the memory of a known device");
        let bytes =
            |text: &str| size::parse(text).map(|bytes| CapacityArgument { bytes, from: None });
        has_changed | self.other.ui(ui, ["Other memory", "e.g. 600MiB"], bytes)
    }

    /// What they say.
    pub fn room(&self) -> Room {
        Room {
            capacity_bytes: self.capacity.says.map(|says| says.bytes),
            named: self.capacity.says.and_then(|says| says.from),
            other_bytes: self.other.says.map_or(0, |says| says.bytes),
            is_other_said: self.other.says.is_some(),
        }
    }
}

/// Bytes as one types them: `900MiB`.
fn typed_text(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.iter().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

/// Whether the user can say what the device of a run has: where all arenas are alike, as tiles are, the machine has what its
/// report states, and pictures of arenas go by that.
pub fn takes_capacity(report: &Report) -> bool {
    !report.arenas.get().is_some_and(|arenas| arenas.are_alike)
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
            typed.read(CapacityArgument::parse);
            (typed.says.map(|says| says.bytes), typed.error.is_some())
        };
        assert_eq!(typed(" 8 GiB "), (Some(8 << 30), false));
        assert_eq!(typed(""), (None, false));
        assert_eq!(typed("8 apples"), (None, true));
        assert_eq!(typed("v5e"), (Some(63 << 28), false));
    }
}
