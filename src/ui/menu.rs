//! The side menu: pages, and below them what concerns the report as a whole and the window.

use eframe::egui::{self, Align, Button, Layout, RichText, ThemePreference, Vec2};

use super::command::{Command, Page, Tool};
use super::icon::Icon;
use super::keys::{Action, ActionState, keys_text};
use super::pages::{PAGES, WhyNot};
use super::settings::Change;
use super::units::Units;

/// Height of an entry, points.
const ENTRY: f32 = 26.0;

pub struct MenuState<'a> {
    pub of_actions: &'a ActionState<'a>,
    /// The page that is shown; `None` on the home page.
    pub page: Option<Page>,
    pub tool: Option<Tool>,
    /// Whether a report was asked for and is not found yet.
    pub is_coming: bool,
    pub actions: &'a [Action],
}

pub fn menu_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    head_ui(ui, state, commands);
    ui.add_space(6.0);
    for entry in &PAGES {
        let why_not = if state.is_coming {
            Some("Being read".into())
        } else {
            entry.why_not(state.of_actions.report, state.of_actions.comparison.is_some())
        };
        let entry = Entry {
            icon: entry.icon,
            title: entry.title,
            is_shown: entry.page().is_some() && entry.page() == state.page,
            why_not,
            keys: String::new(),
            command: entry.page().map(Command::Go),
        };
        entry.ui(ui, state.of_actions.is_menu_collapsed, commands);
    }
    ui.add_space(8.0);
    for (tool, icon, title, action) in [
        (Tool::Sweep, Icon::Sweep, "Sweep", "Compare many runs in a sweep"),
        (Tool::Diagnose, Icon::Diagnose, "Explain an error", "Explain an error or a log"),
    ] {
        let action = state.actions.iter().find(|other| other.title == action);
        let entry = Entry {
            icon,
            title,
            is_shown: state.tool == Some(tool),
            why_not: None,
            keys: action.map_or(String::new(), |action| keys_text(ui.ctx(), action.keys)),
            command: Some(Command::Use(tool)),
        };
        entry.ui(ui, state.of_actions.is_menu_collapsed, commands);
    }
    ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        theme_ui(ui, state.of_actions.is_menu_collapsed, commands);
        units_ui(ui, state, commands);
        ui.add_space(4.0);
        let (icon, title) = if state.of_actions.is_menu_collapsed {
            (Icon::Expand, "Expand menu")
        } else {
            (Icon::Collapse, "Collapse menu")
        };
        let compare = ["Compare with…", "Compare two reports…"];
        let is_there = |title: &&str| state.actions.iter().any(|action| action.title == **title);
        let compare = compare.into_iter().find(is_there).unwrap_or_default();
        // From the bottom to the top.
        for (icon, title, action) in [
            (icon, title, title),
            (Icon::Keys, "Keys", "Keys"),
            (Icon::Commands, "Commands…", "Commands…"),
            (Icon::Close, "Close", "Close report"),
            (Icon::Reload, "Reload", "Reload report"),
            (Icon::Compare, "Compare…", compare),
            (Icon::Open, "Open report…", "Open report…"),
        ] {
            let Some(action) = state.actions.iter().find(|other| other.title == action) else {
                continue;
            };
            let entry = Entry {
                icon,
                title,
                is_shown: false,
                why_not: action.why_not.clone(),
                keys: keys_text(ui.ctx(), action.keys),
                command: Some(action.command.clone()),
            };
            entry.ui(ui, state.of_actions.is_menu_collapsed, commands);
        }
    });
}

/// The program's name, and the way through earlier selections.
fn head_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    let ways_ui = |ui: &mut egui::Ui, commands: &mut Vec<Command>| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.spacing_mut().button_padding = Vec2::splat(2.0);
        for (icon, name, command) in
            [(Icon::Back, "Back", Command::Back), (Icon::Forward, "Forward", Command::Forward)]
        {
            let action = state.actions.iter().find(|action| action.title.starts_with(name));
            let why_not = action.and_then(|action| action.why_not.as_deref());
            let button = Button::new(icon.atom()).frame_when_inactive(false);
            let response = ui.add_enabled(why_not.is_none(), button).accessible_name(name);
            let keys = action.map_or(String::new(), |action| keys_text(ui.ctx(), action.keys));
            let title = action.map_or("", |action| &*action.title);
            let response = response.on_hover_text(format!("{title} ({keys})"));
            if response.on_disabled_hover_text(why_not.unwrap_or_default()).clicked() {
                commands.push(command);
            }
        }
    };
    if state.of_actions.is_menu_collapsed {
        ui.horizontal(|ui| ways_ui(ui, commands));
        return;
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new("Tilescope").strong().size(17.0));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // Added from the left to the right all the same.
            let (size, layout) = (Vec2::new(42.0, 22.0), Layout::left_to_right(Align::Center));
            ui.allocate_ui_with_layout(size, layout, |ui| ways_ui(ui, commands));
        });
    });
}

struct Entry<'a> {
    icon: Icon,
    title: &'a str,
    is_shown: bool,
    why_not: Option<WhyNot>,
    keys: String,
    command: Option<Command>,
}

impl Entry<'_> {
    fn ui(self, ui: &mut egui::Ui, is_collapsed: bool, commands: &mut Vec<Command>) {
        let size = Vec2::new(ui.available_width(), ENTRY);
        let button = if is_collapsed {
            Button::selectable(self.is_shown, self.icon.atom())
        } else {
            // The empty text at the right keeps the title at the left.
            Button::selectable(self.is_shown, (self.icon.atom(), self.title)).right_text("")
        };
        let is_enabled = self.why_not.is_none();
        let response = ui.add_enabled(is_enabled, button.min_size(size));
        let mut response = response.accessible_name(self.title);
        if is_collapsed || !self.keys.is_empty() {
            let keys = if self.keys.is_empty() { "" } else { &format!(" ({})", self.keys) };
            response = response.on_hover_text(format!("{}{keys}", self.title));
        }
        if let Some(why_not) = self.why_not {
            let title = if is_collapsed { &format!("{}: ", self.title) } else { "" };
            response = response.on_disabled_hover_text(format!("{title}{why_not}"));
        }
        if response.clicked() {
            commands.extend(self.command);
        }
    }
}

fn theme_ui(ui: &mut egui::Ui, is_collapsed: bool, commands: &mut Vec<Command>) {
    const ALL: [(ThemePreference, &str, Icon); 3] = [
        (ThemePreference::System, "System", Icon::System),
        (ThemePreference::Light, "Light", Icon::Light),
        (ThemePreference::Dark, "Dark", Icon::Dark),
    ];
    let now = ui.options(|options| options.theme_preference);
    if is_collapsed {
        let place = ALL.iter().position(|(theme, _, _)| *theme == now).unwrap_or(0);
        let next = ALL.iter().cycle().nth(place + 1).map_or(ThemePreference::System, |next| next.0);
        let Some((_, title, icon)) = ALL.get(place) else { return };
        let size = Vec2::new(ui.available_width(), ENTRY);
        let button = Button::new(icon.atom()).frame_when_inactive(false).min_size(size);
        let response = ui.add(button).accessible_name(format!("Colours: {title}"));
        if response.on_hover_text(format!("Colours: {title}; the next on a click")).clicked() {
            commands.push(Command::Set(Change::Theme(next)));
        }
        return;
    }
    choices_ui(ui, |ui| {
        for (theme, title, _) in ALL {
            let button = ui.add(Button::selectable(now == theme, title));
            if button.on_hover_text("Colours of the window").clicked() {
                commands.push(Command::Set(Change::Theme(theme)));
            }
        }
    });
}

fn units_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    let (short, long) = match state.of_actions.units {
        Units::Binary => ("KiB", "KiB and MiB"),
        Units::Bytes => ("B", "Bytes"),
    };
    if state.of_actions.is_menu_collapsed {
        let size = Vec2::new(ui.available_width(), ENTRY);
        let button = Button::new(short).frame_when_inactive(false).min_size(size);
        let response = ui.add(button).accessible_name(format!("Units: {long}"));
        if response.on_hover_text(format!("Units: {long}; the other on a click")).clicked() {
            commands.push(Command::Set(Change::Units(state.of_actions.units.other())));
        }
        return;
    }
    choices_ui(ui, |ui| {
        for (units, title) in [(Units::Binary, "KiB, MiB"), (Units::Bytes, "Bytes")] {
            let button = ui.add(Button::selectable(state.of_actions.units == units, title));
            if button.on_hover_text("Unit of bytes").clicked() {
                commands.push(Command::Set(Change::Units(units)));
            }
        }
    });
}

fn choices_ui(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 6.0;
        add(ui);
    });
}
