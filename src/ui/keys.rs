//! The commands and keys of the window: the one table behind keyboard, palette and the list of keys.

use eframe::egui::{self, Key, KeyboardShortcut, Modifiers, ThemePreference};
use std::borrow::Cow;

use super::command::{Command, PickFor, Tool};
use super::pages::{PAGES, WhyNot};
use super::recent::{RecentComparison, RecentReport, titles};
use super::runs::{Arrangement, MOST_RUNS, RunId, StepsBy};
use super::settings::SettingChange;
use super::theme::{Tokens, fonts};
use super::units::Units;
use crate::store::Report;
use crate::text::shortened;

/// Width of the list of keys where there is room for two columns, points.
const TWO_COLUMNS: f32 = 860.0;

#[derive(Clone)]
pub struct TitledCommand {
    pub title: Cow<'static, str>,
    /// Its keys, each by itself.
    pub keys: &'static [KeyboardShortcut],
    pub command: Command,
    pub why_not: Option<WhyNot>,
    /// Whether the report fits that it is about.
    pub fits: Option<bool>,
}

impl TitledCommand {
    pub fn new(
        title: impl Into<Cow<'static, str>>,
        keys: &'static [KeyboardShortcut],
        command: Command,
        why_not: Option<&'static str>,
    ) -> Self {
        Self { title: title.into(), keys, command, why_not: why_not.map(Cow::Borrowed), fits: None }
    }

    /// One that cannot be done, with the reason.
    pub fn impossible(title: String, why_not: String) -> Self {
        let why_not = Some(why_not.into());
        Self {
            title: title.into(),
            keys: &[],
            command: Command::TogglePalette,
            why_not,
            fits: None,
        }
    }
}

#[derive(Clone, Copy, Default)]
pub struct ActionState<'a> {
    /// Those that are shown, the reference first.
    pub reports: &'a [&'a Report],
    /// Whether a report is open or was asked for.
    pub source: SourceState,
    /// How several runs are shown and their steps aligned; `None` where there is one.
    pub comparison: Option<(Arrangement, StepsBy)>,
    /// Whether steps of the runs have more in common than their numbers.
    pub can_be_aligned: bool,
    /// Whether there are selections before and after this one.
    pub ways: (bool, bool),
    pub is_menu_collapsed: bool,
    pub units: Units,
    pub recents: &'a [RecentReport],
    pub comparisons: &'a [RecentComparison],
    /// The open runs, the reference first.
    pub runs: &'a [RunEntry],
}

/// An open run as the lists of actions name it.
#[derive(Clone)]
pub struct RunEntry {
    pub id: RunId,
    pub name: String,
    pub is_hidden: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceState {
    #[default]
    None,
    Reading,
    /// It is read, or cannot be.
    Settled,
}

/// Ctrl, or Cmd, and a key.
pub const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const PALETTE: &[KeyboardShortcut] = &[command(Key::P)];
const KEYS: &[KeyboardShortcut] = &[plain(Key::F1)];
const OPEN: &[KeyboardShortcut] = &[command(Key::O)];
const COMPARE: &[KeyboardShortcut] = &[command(Key::D)];
const SWEEP: &[KeyboardShortcut] = &[command(Key::M)];
const DIAGNOSE: &[KeyboardShortcut] = &[command(Key::E)];
pub const SWAP: &[KeyboardShortcut] = &[plain(Key::F6)];
pub const ARRANGE: &[KeyboardShortcut] = &[plain(Key::F7)];
pub const ALIGN: &[KeyboardShortcut] = &[plain(Key::F8)];
const RELOAD: &[KeyboardShortcut] = &[command(Key::R), plain(Key::F5)];
const CLOSE: &[KeyboardShortcut] = &[command(Key::W)];
const EXPORT: &[KeyboardShortcut] = &[command(Key::S)];
const MENU: &[KeyboardShortcut] = &[command(Key::B)];
const BACK: &[KeyboardShortcut] = &[KeyboardShortcut::new(Modifiers::ALT, Key::ArrowLeft)];
const FORWARD: &[KeyboardShortcut] = &[KeyboardShortcut::new(Modifiers::ALT, Key::ArrowRight)];
const COLOURS: [(&str, ThemePreference); 3] = [
    ("Colors: light", ThemePreference::Light),
    ("Colors: dark", ThemePreference::Dark),
    ("Colors: same as the system", ThemePreference::System),
];
/// Keys and movements that pictures, tables and splitters know themselves.
pub const IN_PICTURES: [(&str, &str); 16] = [
    ("Wheel", "Zoom at the pointer"),
    ("Ctrl and wheel", "Zoom the bytes of a curve at the pointer"),
    ("+ and −", "Zoom at the center"),
    ("Drag", "Move the zoomed view"),
    ("Drag, Shift-drag in Memory", "Select several, if nothing is zoomed; with Shift always"),
    ("Drag over addresses and steps", "Zoom into the dragged range; with Shift, move"),
    ("Wheel over the strip of a map", "Zoom addresses alone"),
    ("Page up, Page down", "Show the previous or the next part"),
    ("Double-click, or 0", "Show all again"),
    ("Click", "Select"),
    ("Shift-click", "Select one more"),
    ("Tab", "Go to the next control or picture"),
    ("Arrows, Home, End", "Select in the picture or list that has the focus"),
    ("Enter", "Open what is selected, or zoom to it on a map"),
    ("Double-click on a splitter", "Reset its position"),
    ("Ctrl + and Ctrl −", "Make everything larger or smaller"),
];

/// Everything that can be done, in the order of the lists.
pub fn actions(state: &ActionState<'_>) -> Vec<TitledCommand> {
    let no_report = (state.source == SourceState::None).then_some("No run is open");
    let not_read = match state.source {
        SourceState::Reading => Some("Runs are still being read"),
        SourceState::None | SourceState::Settled => {
            state.reports.is_empty().then_some("No run is open")
        }
    };
    let action = |title: &'static str, keys, command, why_not| {
        TitledCommand::new(title, keys, command, why_not)
    };
    let not_reading = (state.source != SourceState::Reading).then_some("Nothing is being read");
    let has_none = |report: &Report| report.warnings.count() == 0;
    let no_warnings = state.reports.first().copied().is_none_or(has_none).then_some("No warnings");
    let mut actions = vec![
        action("Open run…", OPEN, Command::AskPath(PickFor::Open), None),
        compare_action(state),
        action("Open demo", &[], Command::Demo, None),
        action("Reload run", RELOAD, Command::Reload, no_report),
        action("Close run", CLOSE, Command::Close, no_report),
        action("Cancel reading", &[], Command::Cancel, not_reading),
        action("Show warnings", &[], Command::ToggleWarnings, no_warnings),
        action("Compare many runs in a sweep", SWEEP, Command::Use(Tool::Sweep), None),
        action("Export picture…", EXPORT, Command::ExportPicture, None),
        action("Export report (HTML)…", &[], Command::ExportReport, not_read),
        action("Explain an error or a log", DIAGNOSE, Command::Use(Tool::Diagnose), None),
        action("Commands…", PALETTE, Command::TogglePalette, None),
        action("Keys", KEYS, Command::ToggleKeys, None),
    ];
    for entry in &PAGES {
        actions.push(TitledCommand {
            title: format!("Go to {}", entry.title).into(),
            keys: entry.keys,
            command: Command::Go(entry.page),
            why_not: entry.why_not(state.reports),
            fits: None,
        });
    }
    actions.extend(comparison_actions(state));
    let (can_go_back, can_go_forward) = state.ways;
    let none_before = (!can_go_back).then_some("No selection before this one");
    let none_after = (!can_go_forward).then_some("No selection after this one");
    let menu = if state.is_menu_collapsed { "Expand menu" } else { "Collapse menu" };
    let units = match state.units {
        Units::Binary => "Units: bytes",
        Units::Bytes => "Units: KiB and MiB",
    };
    actions.extend([
        action("Back to the selection before, and its page", BACK, Command::Back, none_before),
        action(
            "Forward to the next selection, and its page",
            FORWARD,
            Command::Forward,
            none_after,
        ),
        action(menu, MENU, Command::Set(SettingChange::Menu(!state.is_menu_collapsed)), None),
        action(units, &[], Command::Set(SettingChange::Units(state.units.other())), None),
    ]);
    actions.extend(
        COLOURS.map(|(title, theme)| {
            action(title, &[], Command::Set(SettingChange::Theme(theme)), None)
        }),
    );
    if let [run] = state.runs {
        let command = Command::AskPath(PickFor::LogOf(run.id));
        actions.push(TitledCommand::new("Add a log to this run…", &[], command, None));
    }
    if state.runs.len() > 1 {
        for (place, run) in state.runs.iter().enumerate() {
            let of_run = showing_actions(run, place == 0).chain(loading_actions(run));
            actions.extend(
                of_run.map(|(title, command)| TitledCommand::new(title, &[], command, None)),
            );
        }
    }
    actions
}

/// What can be done with what was open before: for the palette alone, for names take time to tell apart.
pub fn recent_actions(state: &ActionState<'_>) -> Vec<TitledCommand> {
    let mut actions = Vec::new();
    let titles = titles(state.recents);
    for (report, title) in state.recents.iter().zip(&titles) {
        let command = Command::Open(report.path.clone());
        actions.push(TitledCommand::new(format!("Open {title}"), &[], command, None));
    }
    for comparison in state.comparisons {
        let command = Command::Compare(comparison.paths());
        actions.push(TitledCommand::new(
            format!("Compare {}", comparison.title),
            &[],
            command,
            None,
        ));
    }
    if state.source != SourceState::None {
        for (report, title) in state.recents.iter().zip(&titles) {
            let title = format!("Compare with {title}");
            let command = Command::AddRun(report.path.clone());
            actions.push(TitledCommand::new(title, &[], command, no_room(state)));
        }
    }
    actions
}

/// How one of several runs can be shown, by name. The reference always is, as it is.
pub fn showing_actions(
    run: &RunEntry,
    is_reference: bool,
) -> impl Iterator<Item = (String, Command)> + use<> {
    let (id, name) = (run.id, shortened(&run.name, 80));
    let show = if run.is_hidden { "Show" } else { "Hide" };
    let actions = [
        (format!("Make {name} the reference"), Command::MakeReference(id)),
        (format!("{show} {name}"), Command::HideRun(id, !run.is_hidden)),
    ];
    actions.into_iter().filter(move |_| !is_reference)
}

/// What else can be done with one of several runs, by name.
pub fn loading_actions(run: &RunEntry) -> [(String, Command); 3] {
    let (id, name) = (run.id, shortened(&run.name, 80));
    [
        (format!("Reload {name}"), Command::ReloadRun(id)),
        (format!("Add a log to {name}…"), Command::AskPath(PickFor::LogOf(id))),
        (format!("Close {name}"), Command::CloseRun(id)),
    ]
}

/// Why no further run can be opened.
pub fn no_room(state: &ActionState<'_>) -> Option<&'static str> {
    (state.runs.len() >= MOST_RUNS).then_some("No more runs can be open")
}

/// The way to a comparison: of the open report with another, or of two.
fn compare_action(state: &ActionState<'_>) -> TitledCommand {
    let (title, command) = match state.source {
        SourceState::None => ("Compare two runs…", Command::ChooseTwo),
        _ => ("Compare with…", Command::AskPath(PickFor::Run)),
    };
    TitledCommand::new(title, COMPARE, command, no_room(state))
}

fn comparison_actions(state: &ActionState<'_>) -> Vec<TitledCommand> {
    let why_not = state.comparison.is_none().then_some("Open a second run to compare");
    let (arrangement, steps_by) = state.comparison.unwrap_or_default();
    let (arrange, other_arrangement) = match arrangement {
        Arrangement::Overlaid => ("Show the runs side by side", Arrangement::SideBySide),
        Arrangement::SideBySide => ("Show the runs overlaid", Arrangement::Overlaid),
    };
    let steps = state.reports.first().map_or("steps", |report| report.system.steps);
    let (align, other_alignment) = match steps_by {
        StepsBy::Matching => (format!("Show {steps} by number"), StepsBy::Index),
        StepsBy::Index => (format!("Show {steps} by what they share"), StepsBy::Matching),
    };
    let are_aligned = state.reports.is_empty() || state.can_be_aligned;
    let swap = if state.runs.len() > 2 {
        "Swap the reference and the second run"
    } else {
        "Swap source and target"
    };
    [
        (Cow::Borrowed(swap), SWAP, Command::Swap),
        (arrange.into(), ARRANGE, Command::Arrange(other_arrangement)),
        (align.into(), ALIGN, Command::AlignSteps(other_alignment)),
        ("End comparison".into(), &[][..], Command::EndComparison),
    ]
    .into_iter()
    .filter(|(.., command)| are_aligned || !matches!(command, Command::AlignSteps(_)))
    .map(|(title, keys, command)| TitledCommand::new(title, keys, command, why_not))
    .collect()
}

/// The actions whose keys were pressed in this frame; nobody else sees those keys.
pub fn pressed(ui: &egui::Ui, state: &ActionState<'_>) -> Vec<TitledCommand> {
    let is_any = ui.input(|input| {
        input.events.iter().any(|event| matches!(event, egui::Event::Key { pressed: true, .. }))
    });
    if !is_any {
        return Vec::new();
    }
    let mut actions = actions(state);
    ui.input_mut(|input| {
        actions.retain(|action| action.keys.iter().any(|key| input.consume_shortcut(key)));
    });
    actions
}

/// Keys as people know them: `Ctrl+R or F5`.
pub fn keys_text(ctx: &egui::Context, keys: &[KeyboardShortcut]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| ctx.format_shortcut(key)).collect();
    keys.join(" or ")
}

pub fn keys_ui(ui: &egui::Ui, is_open: &mut bool, actions: &[TitledCommand]) {
    let frame = egui::Frame::popup(ui.style()).inner_margin(16);
    let modal = egui::Modal::new(egui::Id::unique("keys")).frame(frame);
    let shown = modal.show(ui.ctx(), |ui| {
        let window = ui.ctx().content_rect().size();
        let is_wide = window.x >= TWO_COLUMNS + 80.0;
        ui.set_width(if is_wide { TWO_COLUMNS } else { (window.x - 80.0).clamp(240.0, 460.0) });
        ui.horizontal(|ui| {
            ui.heading("Keys");
            let at_right = egui::Layout::right_to_left(egui::Align::Center);
            ui.with_layout(at_right, |ui| {
                let button = ui.button("Close").accessible_name("Close the list of keys");
                if button.clicked() {
                    ui.close();
                }
            });
        });
        ui.add_space(8.0);
        let height = (window.y - 160.0).max(120.0);
        let area = egui::ScrollArea::vertical().min_scrolled_height(height).max_height(height);
        area.show(ui, |ui| {
            let with_keys = actions.iter().filter(|action| !action.keys.is_empty());
            let rows: Vec<(String, &str)> = with_keys
                .map(|action| (keys_text(ui.ctx(), action.keys), &*action.title))
                .collect();
            let in_window = |ui: &mut egui::Ui| {
                let rows = rows.iter().map(|(keys, does)| (&**keys, *does));
                section_ui(ui, "In the window", 128.0, rows);
            };
            let in_pictures = |ui: &mut egui::Ui| {
                section_ui(ui, "In pictures and tables", 176.0, IN_PICTURES.into_iter());
            };
            if is_wide {
                ui.columns_const(|[left, right]: &mut [egui::Ui; 2]| {
                    in_window(left);
                    in_pictures(right);
                });
            } else {
                in_window(ui);
                ui.add_space(12.0);
                in_pictures(ui);
            }
        });
    });
    if shown.should_close() {
        *is_open = false;
    }
}

/// Keys at the left, as wide as all of them need, what they do at the right.
fn section_ui<'a>(
    ui: &mut egui::Ui,
    title: &str,
    width: f32,
    rows: impl Iterator<Item = (&'a str, &'a str)>,
) {
    ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
        ui.label(fonts::card_title(title));
        ui.add_space(4.0);
        for (keys, does) in rows {
            ui.horizontal_top(|ui| {
                caps_ui(ui, keys, width);
                ui.add(egui::Label::new(egui::RichText::new(does).weak()).wrap());
            });
        }
    });
}

/// Keys as caps: `Ctrl+R or F5` are two.
fn caps_ui(ui: &mut egui::Ui, keys: &str, width: f32) {
    let tokens = *Tokens::now(ui);
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, 20.0), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, keys));
    let mut left = rect.left();
    for key in keys.split(" or ").flat_map(|keys| keys.split(", ")) {
        let key = key.trim_end_matches(',');
        let font = fonts::medium(fonts::size::CAPTION);
        let galley = ui.painter().layout_no_wrap(key.to_owned(), font, tokens.text);
        let size = egui::vec2(galley.size().x + 12.0, 19.0);
        let cap = egui::Rect::from_min_size(egui::pos2(left, rect.top() - 1.0), size);
        let edge = egui::Stroke::new(1.0, tokens.border);
        ui.painter().rect(cap, 4, tokens.raised, edge, egui::StrokeKind::Inside);
        ui.painter().galley(cap.center() - galley.size() / 2.0, galley, tokens.text);
        left = cap.right() + 6.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_actions_have_the_same_keys() {
        let state = ActionState::default();
        let mut seen: Vec<KeyboardShortcut> = Vec::new();
        for action in actions(&state) {
            for key in action.keys {
                assert!(!seen.contains(key), "{key:?} of {}", action.title);
                let is_typed = key.modifiers == Modifiers::NONE;
                let is_function_key = key.logical_key.name().len() > 1;
                assert!(!is_typed || is_function_key, "{key:?} is a character that people type");
                seen.push(*key);
            }
        }
        assert!(seen.len() > 8);
    }
}
