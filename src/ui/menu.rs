//! The side menu: pages, and below them what concerns the report as a whole and the theme.

use eframe::egui;
use eframe::egui::{Button, RichText, ThemePreference, Vec2};

use super::command::{Command, Page};
use crate::store::Report;

/// What the menu needs to know.
#[derive(Debug)]
pub struct MenuState<'a> {
    /// The report, if one is open.
    pub report: Option<&'a Report>,
    /// Whether a report is open or was asked for.
    pub has_source: bool,
    /// The page that is shown; `None` on the home page.
    pub page: Option<Page>,
}

/// Draws the menu.
pub fn menu_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.label(RichText::new("Tilescope").strong().size(17.0));
    ui.add_space(8.0);
    let pages = [
        (Page::Summary, "Summary", state.report.is_some_and(|report| report.about.is_settled())),
        (Page::Memory, "Memory", state.report.is_some_and(|report| report.memory.is_settled())),
        (
            Page::Liveness,
            "Liveness",
            state.report.is_some_and(|report| report.liveness.is_settled()),
        ),
    ];
    for (page, title, is_there) in pages {
        let why = if state.page.is_some() { "Being read" } else { "Open a report first" };
        if entry_ui(ui, title, is_there, state.page == Some(page), why) {
            commands.push(Command::Go(page));
        }
    }
    for title in ["Insights", "Program tree", "Operations", "Execution trace"] {
        entry_ui(ui, title, false, false, "Comes with a later version");
    }
    ui.with_layout(egui::Layout::bottom_up(egui::Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.add_space(4.0);
        theme_ui(ui);
        ui.add_space(8.0);
        if entry_ui(ui, "Close", state.has_source, false, "No report is open") {
            commands.push(Command::Close);
        }
        if entry_ui(ui, "Reload", state.has_source, false, "No report is open") {
            commands.push(Command::Reload);
        }
        if entry_ui(ui, "Open report…", true, false, "") {
            commands.push(Command::Pick);
        }
    });
}

fn entry_ui(ui: &mut egui::Ui, title: &str, is_enabled: bool, is_shown: bool, why: &str) -> bool {
    let size = Vec2::new(ui.available_width(), 26.0);
    let button = Button::selectable(is_shown, title).min_size(size).right_text("");
    // The empty text at the right keeps the title at the left; it would be part of the name.
    let response = ui.add_enabled(is_enabled, button).accessible_name(title);
    response.on_disabled_hover_text(why).clicked()
}

fn theme_ui(ui: &mut egui::Ui) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 6.0;
        let now = ui.options(|options| options.theme_preference);
        for (preference, title) in [
            (ThemePreference::System, "System"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::Dark, "Dark"),
        ] {
            let button = ui.add(Button::selectable(now == preference, title));
            if button.on_hover_text("Colours of the window").clicked() {
                ui.set_theme(preference);
            }
        }
    });
}
