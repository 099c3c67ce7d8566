//! The palette: all commands in one list, found by typing parts of their titles.

use eframe::egui::{self, Align2, Button, Id, Key, Modifiers, RichText, TextEdit, Vec2};

use super::command::Command;
use super::keys::{Action, keys_text};

/// Width, points.
const WIDTH: f32 = 520.0;

#[derive(Default)]
pub struct Palette {
    pub is_open: bool,
    text: String,
    chosen: usize,
}

impl Palette {
    /// Opens the palette empty, or closes it.
    pub fn toggle(&mut self) {
        *self = Self { is_open: !self.is_open, ..Self::default() };
    }

    pub fn ui(&mut self, ui: &egui::Ui, actions: &[Action], commands: &mut Vec<Command>) {
        let area = egui::Modal::default_area(Id::unique("palette"))
            .anchor(Align2::CENTER_TOP, Vec2::new(0.0, 60.0));
        let modal = egui::Modal::new(Id::unique("palette")).area(area);
        let shown = modal.show(ui.ctx(), |ui| {
            ui.set_width(WIDTH);
            // Before the field, which knows these keys too.
            let (steps, is_entered) = ui.input_mut(|input| {
                let down = i32::from(input.consume_key(Modifiers::NONE, Key::ArrowDown));
                let up = i32::from(input.consume_key(Modifiers::NONE, Key::ArrowUp));
                (down - up, input.consume_key(Modifiers::NONE, Key::Enter))
            });
            let field = TextEdit::singleline(&mut self.text)
                .hint_text("Type a part of a command")
                .desired_width(f32::INFINITY);
            let field = ui.add(field).accessible_name("Command");
            field.request_focus();
            let matching = matching(actions, &self.text);
            if field.changed() {
                self.chosen = 0;
            }
            self.chosen = moved(self.chosen, steps, matching.len());
            ui.add_space(4.0);
            let clicked = list_ui(ui, &matching, self.chosen, steps != 0);
            let chosen = clicked.or(is_entered.then_some(self.chosen));
            if let Some(action) = chosen.and_then(|chosen| matching.get(chosen))
                && action.why_not.is_none()
            {
                commands.push(action.command.clone());
                ui.close();
            }
        });
        if shown.should_close() {
            self.is_open = false;
        }
    }
}

/// Draws the commands; returns the one that was clicked.
fn list_ui(
    ui: &mut egui::Ui,
    actions: &[&Action],
    chosen: usize,
    has_moved: bool,
) -> Option<usize> {
    if actions.is_empty() {
        ui.weak("No command has these words");
    }
    let mut clicked = None;
    let height = (ui.ctx().content_rect().height() - 200.0).clamp(80.0, 560.0);
    let area = egui::ScrollArea::vertical().min_scrolled_height(height).max_height(height);
    area.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for (index, action) in actions.iter().enumerate() {
            let right = match &action.why_not {
                Some(why_not) => why_not.clone().into_owned(),
                None => keys_text(ui.ctx(), action.keys),
            };
            let button = Button::selectable(index == chosen, &*action.title)
                .right_text(RichText::new(right).weak())
                .truncate()
                .min_size(Vec2::new(ui.available_width(), 24.0));
            let response = ui.add_enabled(action.why_not.is_none(), button);
            let response = response.accessible_name(&*action.title);
            if index == chosen && has_moved {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                clicked = Some(index);
            }
        }
    });
    clicked
}

/// The actions that have all the words in their titles, those that can be done first.
fn matching<'a>(actions: &'a [Action], text: &str) -> Vec<&'a Action> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let mut matching: Vec<&Action> = actions
        .iter()
        // The palette is open already.
        .filter(|action| !matches!(action.command, Command::TogglePalette))
        .filter(|action| {
            let title = action.title.to_lowercase();
            words.iter().all(|word| title.contains(word))
        })
        .collect();
    matching.sort_by_key(|action| action.why_not.is_some());
    matching
}

/// The choice after steps up or down; the ends are joined.
fn moved(chosen: usize, steps: i32, count: usize) -> usize {
    match (steps, count.checked_sub(1)) {
        (_, None) => 0,
        (0, Some(last)) => chosen.min(last),
        (1.., Some(last)) if chosen >= last => 0,
        (1.., Some(_)) => chosen + 1,
        (_, Some(last)) => chosen.checked_sub(1).unwrap_or(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(title: &'static str, why_not: Option<&'static str>) -> Action {
        Action {
            title: title.into(),
            keys: &[],
            command: Command::Reload,
            why_not: why_not.map(Into::into),
        }
    }

    #[test]
    fn words_find_titles_in_any_order_and_case() {
        let actions = [
            action("Close report", Some("no")),
            action("Open report…", None),
            action("Keys", None),
        ];
        let titles = |text: &str| -> Vec<&str> {
            matching(&actions, text).iter().map(|action| &*action.title).collect()
        };
        assert_eq!(titles(""), ["Open report…", "Keys", "Close report"]);
        assert_eq!(titles("REP op"), ["Open report…"]);
        assert_eq!(titles("xyz"), Vec::<&str>::new());
    }

    #[test]
    fn arrows_go_round() {
        assert_eq!(moved(0, -1, 3), 2);
        assert_eq!(moved(2, 1, 3), 0);
        assert_eq!(moved(7, 0, 3), 2);
        assert_eq!(moved(1, 1, 0), 0);
    }
}
