//! The rail at the left: the pages that are there, and below them what concerns the report as a whole and the window.

use eframe::egui::{
    self, Align, Align2, AtomExt as _, Button, Layout, Rect, RichText, Sense, ThemePreference, Vec2,
};

use super::command::{Command, Page, Tool};
use super::icon::Icon;
use super::keys::{ActionState, TitledCommand, keys_text};
use super::pages::{PAGES, WhyNot};
use super::settings::SettingChange;
use super::theme::Tokens;
use super::theme::fonts::{self, size};

/// Height of an entry, points.
const ENTRY: f32 = 30.0;

pub struct MenuState<'a> {
    pub of_actions: &'a ActionState<'a>,
    /// The page that is shown; `None` on the home page.
    pub page: Option<Page>,
    pub tool: Option<Tool>,
    /// Whether a report was asked for and is not found yet.
    pub is_coming: bool,
    pub actions: &'a [TitledCommand],
}

pub fn menu_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 4.0;
    let is_collapsed = state.of_actions.is_menu_collapsed;
    head_ui(ui, state, commands);
    ui.add_space(8.0);
    for entry in &PAGES {
        let why_not = if state.is_coming {
            Some("Being read".into())
        } else {
            entry.why_not(state.of_actions.reports)
        };
        let entry = MenuEntry {
            icon: entry.icon,
            title: entry.title,
            is_shown: Some(entry.page) == state.page,
            why_not,
            keys: String::new(),
            command: Command::Go(entry.page),
        };
        entry.ui(ui, is_collapsed, commands);
    }
    for (tool, icon, title, action) in [
        (Tool::Sweep, Icon::Sweep, "Sweep", "Compare many runs in a sweep"),
        (Tool::Diagnose, Icon::Diagnose, "Explain an error", "Explain an error or a log"),
    ] {
        let action = state.actions.iter().find(|other| other.title == action);
        let entry = MenuEntry {
            icon,
            title,
            is_shown: state.tool == Some(tool),
            why_not: None,
            keys: action.map_or(String::new(), |action| keys_text(ui.ctx(), action.keys)),
            command: Command::Use(tool),
        };
        entry.ui(ui, is_collapsed, commands);
    }
    ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        // From the bottom to the top.
        small_entries_ui(ui, state, commands);
        ui.add_space(2.0);
        for (icon, title, action) in
            [(Icon::Commands, "Commands…", "Commands…"), (Icon::Open, "Open run…", "Open run…")]
        {
            let Some(action) = state.actions.iter().find(|other| other.title == action) else {
                continue;
            };
            let entry = MenuEntry {
                icon,
                title,
                is_shown: false,
                why_not: action.why_not.clone(),
                keys: keys_text(ui.ctx(), action.keys),
                command: action.command.clone(),
            };
            entry.ui(ui, is_collapsed, commands);
        }
    });
}

/// What is asked for seldom, as icons in a row, or one above the other.
fn small_entries_ui(ui: &mut egui::Ui, state: &MenuState<'_>, commands: &mut Vec<Command>) {
    let is_collapsed = state.of_actions.is_menu_collapsed;
    let (icon, title) = if is_collapsed {
        (Icon::Expand, "Expand menu")
    } else {
        (Icon::Collapse, "Collapse menu")
    };
    let (theme_icon, theme_title, next) = theme(ui);
    let theme_title = format!("Colors: {theme_title}");
    let ctx = ui.ctx().clone();
    let entry = |icon: Icon, title: &'static str, action: &str| {
        let action = state.actions.iter().find(|other| other.title == action)?;
        let hover = format!("{} ({})", action.title, keys_text(&ctx, action.keys));
        Some((icon, title, hover, action.why_not.clone(), action.command.clone()))
    };
    let hover = format!("{theme_title}; click for the next");
    let theme = (theme_icon, &*theme_title, hover, None, Command::Set(SettingChange::Theme(next)));
    let entries = [
        entry(Icon::Reload, "Reload", "Reload run"),
        entry(Icon::Close, "Close", "Close run"),
        entry(Icon::Keys, "Keys", "Keys"),
        Some(theme),
        entry(icon, title, title),
    ];
    let all = |ui: &mut egui::Ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(2.0);
        ui.spacing_mut().button_padding = Vec2::splat(4.0);
        for (icon, title, hover, why_not, command) in entries.into_iter().flatten() {
            let button = Button::new(icon.atom()).frame_when_inactive(false);
            let button = ui.add_enabled(why_not.is_none(), button).accessible_name(title);
            let why_not = why_not.unwrap_or_default();
            if button.on_hover_text(hover).on_disabled_hover_text(why_not).clicked() {
                commands.push(command);
            }
        }
    };
    if is_collapsed {
        all(ui);
    } else {
        ui.horizontal(all);
    }
}

/// The program's sign and name, and the way through earlier selections.
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
        ui.spacing_mut().item_spacing.x = 8.0;
        logo_ui(ui, 8.0);
        ui.label(RichText::new("Tilescope").font(fonts::semibold(15.0)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // Added from the left to the right all the same.
            let (size, layout) = (Vec2::new(42.0, 22.0), Layout::left_to_right(Align::Center));
            ui.allocate_ui_with_layout(size, layout, |ui| ways_ui(ui, commands));
        });
    });
}

/// The logo: four tiles of so many points.
pub fn logo_ui(ui: &mut egui::Ui, side: f32) {
    let gap = side / 4.0;
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(2.0 * side + gap), Sense::hover());
    let tokens = Tokens::now(ui);
    let [live, temporary, accent] = [tokens.always_live, tokens.temporary, tokens.accent];
    for (place, color) in [temporary, live, live, accent].into_iter().enumerate() {
        let at = Vec2::new((place % 2) as f32, (place / 2) as f32) * (side + gap);
        let tile = Rect::from_min_size(rect.min + at, Vec2::splat(side));
        ui.painter().rect_filled(tile, 2, color);
    }
}

struct MenuEntry<'a> {
    icon: Icon,
    title: &'a str,
    is_shown: bool,
    why_not: Option<WhyNot>,
    keys: String,
    command: Command,
}

impl MenuEntry<'_> {
    fn ui(self, ui: &mut egui::Ui, is_collapsed: bool, commands: &mut Vec<Command>) {
        let size = Vec2::new(ui.available_width(), ENTRY);
        let title = RichText::new(self.title).font(if self.is_shown {
            fonts::semibold(size::BODY)
        } else {
            fonts::regular(size::BODY)
        });
        let button = if is_collapsed {
            Button::selectable(self.is_shown, self.icon.atom())
        } else {
            let title = title.atom_grow(true).atom_align(Align2::LEFT_CENTER);
            Button::selectable(self.is_shown, (self.icon.atom(), title)).gap(10.0)
        };
        let is_enabled = self.why_not.is_none();
        let response = {
            let button = button.min_size(size).wrap_mode(egui::TextWrapMode::Extend);
            ui.add_enabled(is_enabled, button)
        };
        if self.is_shown {
            let left = response.rect.left();
            let line = Rect::from_x_y_ranges(left..=left + 3.0, response.rect.y_range());
            ui.painter().rect_filled(line, 2, Tokens::now(ui).accent);
        }
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
            commands.push(self.command);
        }
    }
}

/// The colors now, and those that come next.
fn theme(ui: &egui::Ui) -> (Icon, &'static str, ThemePreference) {
    const ALL: [(ThemePreference, &str, Icon); 3] = [
        (ThemePreference::System, "System", Icon::System),
        (ThemePreference::Light, "Light", Icon::Light),
        (ThemePreference::Dark, "Dark", Icon::Dark),
    ];
    let now = ui.options(|options| options.theme_preference);
    let place = ALL.iter().position(|(theme, _, _)| *theme == now).unwrap_or(0);
    let next = ALL.iter().cycle().nth(place + 1).map_or(ThemePreference::System, |next| next.0);
    let (_, title, icon) = ALL.get(place).copied().unwrap_or(ALL[0]);
    (icon, title, next)
}
