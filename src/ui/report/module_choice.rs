//! The choice of the open module: a dump has dozens, of which one is shown at a time. A list opens with the largest first
//! and a field in which a part of a name is typed.

use eframe::egui::{
    self, Align2, Button, Color32, FontId, Key, Modifiers, Pos2, Rect, Response, RichText, Role,
    ScrollArea, Sense, TextEdit, Vec2, WidgetInfo,
};
use std::sync::Arc;

use crate::run::ModuleOfRun;
use crate::text::{clean, counted, grouped};
use crate::ui::command::Command;
use crate::ui::runs::{Run, RunId};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::exports::is_taken_out;

/// Widths of the button and of the list, the height of an entry, and the most of all entries, points.
const WIDTH: f32 = 260.0;
const LIST: f32 = 520.0;
const ROW: f32 = 36.0;
const HEIGHT: f32 = 396.0;
/// Beside the name in an entry, and between it and the bytes, points.
const MARGIN: f32 = 8.0;
const GAP: f32 = 14.0;
/// Least of a file's name that is worth showing beside the name of a module, points.
const LEAST_BESIDE: f32 = 40.0;

/// What was typed into the list that is open, and what that finds.
#[derive(Clone, Default)]
struct OpenList {
    text: String,
    chosen: usize,
    /// The run and the text that it was found for, and places among the modules of the run.
    found: Option<(RunId, String, Arc<Vec<usize>>)>,
}

/// The choice of the module, where there are several.
pub fn module_choice_ui(ui: &mut egui::Ui, run: &Run, commands: &mut Vec<Command>) {
    let modules = run.derived.answers().modules();
    let Some(open) = modules.first().filter(|_| modules.len() > 1) else { return };
    let units = Units::now(ui);
    let (bytes, width) = (units.bytes(open.main_bytes), ui.available_width().min(WIDTH));
    let font = egui::TextStyle::Body.resolve(ui.style());
    let room = width
        - 2.0 * ui.spacing().button_padding.x
        - text_width(ui, &format!(", {bytes} ▾"), &font);
    let text = format!("{}, {bytes}", name_kept(ui, open, room, &font));
    if is_taken_out(ui.ctx()) {
        ui.label(text);
        return;
    }
    let button = ui.add(
        // The font that the room is measured in.
        Button::new(RichText::new(format!("{text} ▾")).font(font))
            .wrap_mode(egui::TextWrapMode::Extend)
            .min_size(Vec2::new(width, 0.0)),
    );
    button.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, "Module");
        info.current_text_value = Some(format!("{}, {bytes}", open.title));
        info
    });
    let id = button.id.with("modules");
    let popup = egui::Popup::from_toggle_button_response(&button);
    let popup = popup.close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let shown = popup.show(|ui| {
        let mut list: OpenList = ui.data(|data| data.get_temp(id)).unwrap_or_default();
        let chosen = list.ui(ui, run.id, modules);
        ui.data_mut(|data| data.insert_temp(id, list));
        if chosen.is_some() {
            ui.close();
        }
        chosen
    });
    if shown.is_none() {
        ui.data_mut(|data| data.remove_temp::<OpenList>(id));
    }
    if let Some(one) = shown.and_then(|shown| modules.get(shown.inner?)).filter(|one| *one != open)
    {
        commands.push(Command::OpenModule(run.id, one.key.clone()));
    }
    let count = grouped(modules.len() as u64);
    button.on_hover_text(format!("{}\nShown, of {count} in this run", clean(&open.title)));
}

impl OpenList {
    /// Draws the field and the entries; returns the place of the one that was chosen.
    fn ui(&mut self, ui: &mut egui::Ui, run: RunId, modules: &[ModuleOfRun]) -> Option<usize> {
        ui.set_width(LIST.min(ui.ctx().content_rect().width() - 48.0));
        // Before the field, which knows these keys too.
        let (down, up, is_entered) = ui.input_mut(|input| {
            let mut is_pressed = |key| input.consume_key(Modifiers::NONE, key);
            (is_pressed(Key::ArrowDown), is_pressed(Key::ArrowUp), is_pressed(Key::Enter))
        });
        let field = TextEdit::singleline(&mut self.text).hint_text("Type a part of the name");
        let field = ui.add(field.desired_width(f32::INFINITY)).accessible_name("Find a module");
        field.request_focus();
        if field.changed() {
            self.chosen = 0;
        }
        let found = self.found(run, modules);
        let last = found.len().saturating_sub(1);
        self.chosen = match (down, up) {
            (true, _) if self.chosen >= last => 0,
            (true, _) => self.chosen.saturating_add(1),
            (_, true) => self.chosen.checked_sub(1).unwrap_or(last),
            _ => self.chosen.min(last),
        };
        let all = grouped(modules.len() as u64);
        let count = match found.len() {
            some if some < modules.len() => format!("{} of {all}", grouped(some as u64)),
            _ => all,
        };
        let count = format!("{count}, the largest modules first");
        ui.label(fonts::caption(count).color(Tokens::now(ui).third_text));
        let mut chosen = if is_entered { found.get(self.chosen).copied() } else { None };
        ui.spacing_mut().item_spacing.y = 1.0;
        let area = ScrollArea::vertical().max_height(HEIGHT).auto_shrink([false, true]);
        let at = self.chosen as f32 * (ROW + 1.0);
        let area = area.min_scrolled_height(HEIGHT.min(ui.ctx().content_rect().height() / 2.0));
        area.show_rows(ui, ROW, found.len(), |ui, rows| {
            if down || up {
                let top = ui.min_rect().top() - rows.start as f32 * (ROW + 1.0) + at;
                let rect = Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=top + ROW);
                ui.scroll_to_rect(rect, None);
            }
            for row in rows {
                let Some((place, one)) =
                    found.get(row).and_then(|place| Some((*place, modules.get(*place)?)))
                else {
                    continue;
                };
                if entry_ui(ui, one, place == 0, row == self.chosen).clicked() {
                    chosen = Some(place);
                }
            }
        });
        chosen
    }

    /// The places of the modules that have the text in their names, the largest first.
    fn found(&mut self, run: RunId, modules: &[ModuleOfRun]) -> Arc<Vec<usize>> {
        let wanted = self.text.trim().to_lowercase();
        if let Some((of, text, found)) = &self.found
            && *of == run
            && *text == wanted
        {
            return Arc::clone(found);
        }
        let found = Arc::new(found(modules, &wanted));
        self.found = Some((run, wanted, Arc::clone(&found)));
        found
    }
}

/// The places of the modules that have a text in lower case in their names or files, the largest first.
fn found(modules: &[ModuleOfRun], wanted: &str) -> Vec<usize> {
    let has = |text: &str| text.to_lowercase().contains(wanted);
    let is_found = |(_, one): &(usize, &ModuleOfRun)| {
        has(&one.title) || has(&one.key) || one.name.as_deref().is_some_and(has)
    };
    let mut found: Vec<(usize, &ModuleOfRun)> =
        modules.iter().enumerate().filter(is_found).collect();
    found.sort_by_key(|(_, one)| one.place);
    found.into_iter().map(|(place, _)| place).collect()
}

/// An entry: the name with the bytes, and below it which of that name it is.
fn entry_ui(ui: &mut egui::Ui, one: &ModuleOfRun, is_open: bool, is_chosen: bool) -> Response {
    let (tokens, bytes) = (*Tokens::now(ui), Units::now(ui).bytes(one.main_bytes));
    let size = Vec2::new(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let title = clean(&one.title);
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, true, is_chosen, format!("{title}, {bytes}"))
    });
    if is_chosen || response.hovered() {
        let fill = if is_chosen { tokens.selected } else { tokens.raised };
        ui.painter().rect_filled(rect, 4, fill);
    }
    let (strong, weak) = (fonts::medium(fonts::size::BODY), fonts::regular(fonts::size::CAPTION));
    let rect = rect.shrink2(Vec2::new(MARGIN, 3.0));
    let text = |at: Pos2, align: Align2, text: String, font: &FontId, color: Color32| {
        ui.painter().text(at, align, text, font.clone(), color);
    };
    let room = rect.width() - GAP - text_width(ui, &bytes, &strong);
    let shown = name_kept(ui, one, room, &strong);
    text(rect.left_top(), Align2::LEFT_TOP, shown, &strong, tokens.text);
    text(rect.right_top(), Align2::RIGHT_TOP, bytes, &strong, tokens.text);
    let open = if is_open { "open · " } else { "" };
    let allocations = match one.allocations {
        0 => String::new(),
        count => counted(count, "allocation"),
    };
    let right = format!("{open}{allocations}");
    let room = rect.width() - GAP - text_width(ui, &right, &weak);
    let key = end_kept(ui, &clean(&one.key), room, &weak);
    text(rect.left_bottom(), Align2::LEFT_BOTTOM, key, &weak, tokens.weak_text);
    text(rect.right_bottom(), Align2::RIGHT_BOTTOM, right, &weak, tokens.weak_text);
    response
}

/// The title of a module as far as there is room: its name is whole, the file or what else is beside it gives way.
fn name_kept(ui: &egui::Ui, one: &ModuleOfRun, room: f32, font: &FontId) -> String {
    let (title, name) = (clean(&one.title), one.name.as_deref().map(clean));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return end_kept(ui, &title, room, font);
    };
    // The title of a module whose name others have too is its file. Else it begins with the name.
    let beside = match title.strip_prefix(&*name) {
        Some("") => return name.into_owned(),
        Some(rest) => rest.to_owned(),
        None => format!(", {title}"),
    };
    let room = room - text_width(ui, &name, font);
    match end_kept(ui, &beside, room, font) {
        cut if text_width(ui, &cut, font) < LEAST_BESIDE => name.into_owned(),
        cut => format!("{name}{cut}"),
    }
}

/// A name as far as there is room: its end tells it from others, so its beginning is left out.
fn end_kept(ui: &egui::Ui, name: &str, room: f32, font: &FontId) -> String {
    if text_width(ui, name, font) <= room {
        return name.to_owned();
    }
    let starts: Vec<usize> = name.char_indices().map(|(at, _)| at).collect();
    let from = |at: &usize| format!("…{}", name.get(*at..).unwrap_or_default());
    let first = starts.partition_point(|at| text_width(ui, &from(at), font) > room);
    starts.get(first).map_or_else(|| "…".to_owned(), from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_by_names_and_files_the_largest_first() {
        let module = |title: &str, key: &str, place| ModuleOfRun {
            key: key.to_owned(),
            title: title.to_owned(),
            place,
            ..ModuleOfRun::default()
        };
        // The one that is open is the first.
        let modules = [
            module("jit_eval", "x.xplane.pb#3", 2),
            module("jit_Train", "x.xplane.pb#1", 0),
            module("jit_init", "x.xplane.pb#2", 1),
        ];
        assert_eq!(found(&modules, ""), [1, 2, 0]);
        assert_eq!(found(&modules, "train"), [1]);
        assert_eq!(found(&modules, "#3"), [0]);
        assert!(found(&modules, "none").is_empty());
    }
}
