//! Choices of one of several values: in a list that opens, or as tabs.

use eframe::egui::{self, ComboBox, Response, Stroke, WidgetText};

use crate::ui::theme::Tokens;

/// Most height of a list that is open, points.
const HEIGHT: f32 = 420.0;

/// A list that opens, under an accessible name, in a width of points.
pub fn choice_ui<T: PartialEq, W: Into<WidgetText>>(
    ui: &mut egui::Ui,
    (name, width): (&str, f32),
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> W,
) -> Response {
    let text = title(chosen).into();
    list_ui(ui, (name, width), text, chosen, choices, title)
}

/// The same that says what it is for while it is closed: `Breakdown: region`.
pub fn named_choice_ui<T: PartialEq>(
    ui: &mut egui::Ui,
    (name, width): (&str, f32),
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> &'static str,
) -> Response {
    let text = format!("{name}: {}", title(chosen).to_lowercase()).into();
    list_ui(ui, (name, width), text, chosen, choices, title)
}

fn list_ui<T: PartialEq, W: Into<WidgetText>>(
    ui: &mut egui::Ui,
    (name, width): (&str, f32),
    text: WidgetText,
    chosen: &mut T,
    choices: impl IntoIterator<Item = T>,
    title: impl Fn(&T) -> W,
) -> Response {
    let combo = ComboBox::from_id_salt(name).selected_text(text).width(width).height(HEIGHT);
    let combo = combo.show_ui(ui, |ui| {
        for choice in choices {
            let title = title(&choice).into();
            ui.selectable_value(chosen, choice, title);
        }
    });
    combo.response.accessible_name(name)
}

/// Tabs in the head of a table.
pub fn tabs_ui<T: Copy + PartialEq>(
    ui: &mut egui::Ui,
    now: &mut T,
    tabs: impl IntoIterator<Item = (T, &'static str)>,
) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (tab, title) in tabs {
            let entry = ui.selectable_value(now, tab, title);
            if *now == tab {
                shown_tab_line(ui, &entry);
            }
        }
    });
    ui.add_space(8.0);
}

/// A line below the tab that is shown.
pub fn shown_tab_line(ui: &egui::Ui, tab: &Response) {
    let stroke = Stroke::new(2.0, Tokens::now(ui).accent);
    ui.painter().hline(tab.rect.x_range().shrink(4.0), tab.rect.bottom(), stroke);
}
