//! The search for variables by name.

use eframe::egui::{self, Button, Key, RichText, TextEdit};

use super::read::TileMarks;
use crate::text::grouped;

/// Room for all of it, points.
pub const WIDTH: f32 = 236.0;

#[derive(Default)]
pub struct VariableSearch {
    pub text: String,
    /// The place in what was found, by the text that it is of.
    at: Option<(String, usize)>,
    /// Whether the next one is to be gone to as soon as it is known.
    is_wanted: bool,
}

impl VariableSearch {
    /// Draws the field, the number of hits, and the buttons; returns the block to go to, a position. `item` is what is looked
    /// for, in a word.
    pub fn ui(&mut self, ui: &mut egui::Ui, item: &str, marks: &TileMarks) -> Option<u32> {
        let label = ui.label("Find");
        let field = TextEdit::singleline(&mut self.text).hint_text(item).desired_width(104.0);
        let field = ui.add(field).labelled_by(label.id);
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        // Until the text that is there now was looked for, what is known is of another one.
        let is_known = marks.of.search == self.text.trim();
        self.is_wanted = (self.is_wanted && !field.changed()) || is_entered;
        let count = marks.found_blocks.len();
        let at = self.at.as_ref().filter(|(text, at)| *text == self.text && *at < count);
        let at = at.map(|(_, at)| *at);
        let is_on = is_known && count > 0 && !self.text.trim().is_empty();
        let mut wanted = None;
        ui.spacing_mut().item_spacing.x = 4.0;
        let button = ui.add_enabled(is_on, Button::new("‹")).accessible_name("Find previous");
        if button.on_hover_text("The previous one").clicked() {
            wanted = Some(at.map_or(count, |at| at).checked_sub(1).unwrap_or(count - 1));
        }
        let button = ui.add_enabled(is_on, Button::new("›")).accessible_name("Find next");
        if button.on_hover_text("The next one (Enter)").clicked() || (self.is_wanted && is_on) {
            wanted = Some(at.map_or(0, |at| (at + 1) % count));
        }
        self.is_wanted &= !is_known;
        if is_entered {
            field.request_focus();
        }
        if let Some(wanted) = wanted {
            self.at = Some((self.text.clone(), wanted));
        }
        if is_known && !self.text.trim().is_empty() {
            let text = match (wanted.or(at), count) {
                (_, 0) => "Not found".to_owned(),
                (Some(at), _) => format!("{} of {}", grouped(at as u64 + 1), grouped(count as u64)),
                (None, _) => format!("{} found", grouped(count as u64)),
            };
            ui.add(egui::Label::new(RichText::new(text).weak()).extend());
        }
        marks.found_blocks.get(wanted?).copied()
    }
}
