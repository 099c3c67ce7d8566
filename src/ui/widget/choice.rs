//! Choices of one of several values: in a list that opens, or as tabs; in a picture that is taken out, what is chosen.

use eframe::egui::{
    self, Align2, ComboBox, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, Vec2,
    WidgetInfo, WidgetText,
};

use super::exports::is_taken_out;
use crate::text::grouped;
use crate::ui::theme::{CONTROL_HEIGHT, Tokens, fonts};

/// Most height of a list that is open, points.
const HEIGHT: f32 = 420.0;
/// Height of an entry there, points.
const ENTRY: f32 = 22.0;
/// At each side of a segment's title, points.
const SEGMENT_PADDING: f32 = 11.0;

/// A list that opens, under an accessible name, in a width of points.
pub fn choice_ui<T: PartialEq, W: Into<WidgetText>>(
    ui: &mut egui::Ui,
    name: &str,
    width: f32,
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> W,
) -> Response {
    let text = title(chosen).into();
    list_ui(ui, name, width, text, chosen, choices, title)
}

/// The same that says what it is for while it is closed: `Breakdown: region`.
pub fn named_choice_ui<T: PartialEq>(
    ui: &mut egui::Ui,
    name: &str,
    width: f32,
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> &'static str,
) -> Response {
    let text = format!("{name}: {}", title(chosen).to_lowercase()).into();
    list_ui(ui, name, width, text, chosen, choices, title)
}

fn list_ui<T: PartialEq, W: Into<WidgetText>>(
    ui: &mut egui::Ui,
    name: &str,
    width: f32,
    text: WidgetText,
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> W,
) -> Response {
    if is_taken_out(ui.ctx()) {
        return ui.label(text);
    }
    let combo = ComboBox::from_id_salt(name).selected_text(text).width(width).height(HEIGHT);
    let combo = combo.show_ui(ui, |ui| {
        ui.spacing_mut().interact_size.y = ENTRY;
        ui.spacing_mut().button_padding.y = 1.0;
        ui.spacing_mut().item_spacing.y = 1.0;
        for choice in choices {
            let title = title(&choice).into();
            ui.selectable_value(chosen, choice, title);
        }
    });
    combo.response.accessible_name(name)
}

/// A few choices side by side in one frame, of which one holds: tabs, modes, units.
pub fn segments_ui<T: Copy + PartialEq, S: Into<String>>(
    ui: &mut egui::Ui,
    hover: &str,
    now: &mut T,
    choices: impl IntoIterator<Item = (T, S)>,
) -> Response {
    let counted = choices.into_iter().map(|(choice, title)| (choice, title.into(), None));
    counted_segments_ui(ui, hover, now, counted)
}

/// The same with how many there are of each, behind its title; without a number that is not known.
pub fn counted_segments_ui<T: Copy + PartialEq, S: Into<String>>(
    ui: &mut egui::Ui,
    hover: &str,
    now: &mut T,
    choices: impl IntoIterator<Item = (T, S, Option<usize>)>,
) -> Response {
    if is_taken_out(ui.ctx()) {
        let chosen = choices.into_iter().find(|(choice, ..)| *choice == *now);
        return ui.label(chosen.map_or(String::new(), |(_, title, _)| title.into()));
    }
    let tokens = *Tokens::now(ui);
    let font = fonts::medium(12.0);
    let choices: Vec<(T, String, String, f32)> = choices
        .into_iter()
        .map(|(choice, title, count)| {
            let title = title.into();
            let shown = match count {
                Some(count) => format!("{title} {}", grouped(count as u64)),
                None => title.clone(),
            };
            let galley = ui.painter().layout_no_wrap(shown.clone(), font.clone(), tokens.text);
            (choice, title, shown, galley.size().x + 2.0 * SEGMENT_PADDING)
        })
        .collect();
    let width = choices.iter().map(|(.., width)| width).sum();
    let size = Vec2::new(width, CONTROL_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, 6, tokens.raised);
    let mut left = rect.left();
    for (choice, title, shown, width) in choices {
        let part =
            Rect::from_min_size(Pos2::new(left, rect.top()), Vec2::new(width, rect.height()));
        left += width;
        let is_on = *now == choice;
        let id = response.id.with(&title);
        let segment = ui.interact(part, id, Sense::click());
        if is_on {
            ui.painter().rect_filled(part, 6, tokens.selected);
            let line = Rect::from_min_max(part.left_bottom() - Vec2::new(0.0, 2.0), part.max);
            ui.painter().rect_filled(line, 0, tokens.accent);
        }
        if segment.has_focus() || (segment.hovered() && !is_on) {
            let stroke = Stroke::new(1.0, tokens.accent);
            ui.painter().rect_stroke(part, 6, stroke, StrokeKind::Inside);
        }
        let color = if is_on { tokens.text } else { tokens.weak_text };
        let middle = Align2::CENTER_CENTER;
        ui.painter().text(part.center(), middle, shown, font.clone(), color);
        segment.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, &title));
        if segment.clicked() {
            *now = choice;
        }
        if !hover.is_empty() {
            segment.on_hover_text(hover);
        }
    }
    let stroke = Stroke::new(1.0, tokens.border);
    ui.painter().rect_stroke(rect, 6, stroke, StrokeKind::Inside);
    response
}

/// Tabs in the head of a table.
pub fn tabs_ui<T: Copy + PartialEq>(
    ui: &mut egui::Ui,
    now: &mut T,
    tabs: impl IntoIterator<Item = (T, &'static str)>,
) {
    segments_ui(ui, "", now, tabs);
}

/// A line below the tab that is shown.
pub fn shown_tab_line(ui: &egui::Ui, tab: &Response) {
    let stroke = Stroke::new(2.0, Tokens::now(ui).accent);
    ui.painter().hline(tab.rect.x_range().shrink(4.0), tab.rect.bottom(), stroke);
}
