//! The palette: all commands in one list, found by typing parts of their titles; and what a text names:
//! tiles, a step, a variable, a path. Asked for a path, it lists what may be meant.

mod typed;

use eframe::egui::{
    self, Align2, Button, Id, IntoAtoms as _, Key, Modifiers, RichText, TextEdit, Vec2,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{Command, PickFor};
use super::job::Latest;
use super::keys::{TitledCommand, keys_text};
use super::reading::{RunGlance, glance_beside};
use super::recent::{RecentReport, titles};
use super::runs::{Needed, Needs, Runs, RunsAnswer};
use super::theme::{Tokens, fonts};
use super::widget::sign::Sign;
use crate::analysis::liveness::variable_search::{FoundVariables, find_variables};
use crate::analysis::operation_search::find_operations;
use crate::analysis::program::operations::OperationName;
use crate::store::System;
use crate::text::{grouped, shortened};

/// Width, points.
const WIDTH: f32 = 600.0;
/// The same where paths are listed, points.
const WIDE: f32 = 680.0;
/// Variables, and operations, that are listed.
const MOST_NAMES: usize = 12;
/// What of a run names its variables.
const NAMED: Needs = &[Needed::Liveness];
/// The same for its operations.
const WITH_OPERATIONS: Needs = &[Needed::Memory, Needed::Liveness, Needed::Debug];
/// Characters from which on variables are searched for.
const SHORTEST_NAME: usize = 2;
/// Longest name of a variable or a report.
const NAME: usize = 80;

#[derive(Default)]
pub struct Palette {
    pub is_open: bool,
    /// What a path is asked for; `None` for commands.
    purpose: Option<PickFor>,
    text: String,
    chosen: usize,
    variables: RunsAnswer<String, FoundVariables>,
    operations: RunsAnswer<String, (Vec<OperationName>, usize)>,
    /// How often it was opened: each time what is beside the report is looked at again.
    times: u64,
    beside: Latest<(PathBuf, u64), Arc<Vec<RunGlance>>>,
}

/// What the palette is about.
pub struct PaletteState<'a> {
    pub actions: &'a [TitledCommand],
    pub runs: Option<&'a Arc<Runs>>,
    /// Where the open reports are, the reference first.
    pub paths: &'a [&'a Path],
    pub recents: &'a [RecentReport],
    /// Why no further run can be opened.
    pub no_room: Option<&'static str>,
    pub is_picking: bool,
}

/// What can be typed.
fn hint(system: Option<&System>) -> String {
    match system {
        Some(system) => {
            let tile = if system.are_steps_matched { "tile 39, " } else { "" };
            let (step, item) = (system.step_in_text, system.an_item);
            format!("Type a part of a command, {tile}{step} 82, {item} or a path")
        }
        None => "Type a part of a command or a path".to_owned(),
    }
}

impl Palette {
    /// Opens the palette empty, or closes it.
    pub fn toggle(&mut self) {
        self.show(None, !self.is_open);
    }

    /// Opens it for a path.
    pub fn ask(&mut self, purpose: PickFor) {
        self.show(Some(purpose), true);
    }

    fn show(&mut self, purpose: Option<PickFor>, is_open: bool) {
        self.is_open = is_open;
        self.purpose = purpose;
        self.text.clear();
        self.chosen = 0;
        self.times = self.times.wrapping_add(1);
    }

    pub fn ui(&mut self, ui: &egui::Ui, state: &PaletteState<'_>, commands: &mut Vec<Command>) {
        let area = egui::Modal::default_area(Id::unique("palette"))
            .anchor(Align2::CENTER_TOP, Vec2::new(0.0, 60.0));
        let frame = egui::Frame::popup(ui.style()).inner_margin(12);
        let modal = egui::Modal::new(Id::unique("palette")).area(area).frame(frame);
        let shown = modal.show(ui.ctx(), |ui| {
            let room = ui.ctx().content_rect().width() - 48.0;
            ui.set_width(if self.purpose.is_some() { WIDE } else { WIDTH }.min(room));
            // Before the field, which knows these keys too.
            let (steps, is_entered) = ui.input_mut(|input| {
                let down = i32::from(input.consume_key(Modifiers::NONE, Key::ArrowDown));
                let up = i32::from(input.consume_key(Modifiers::NONE, Key::ArrowUp));
                (down - up, input.consume_key(Modifiers::NONE, Key::Enter))
            });
            let (hint, name) = match self.purpose {
                None => (hint(state.runs.map(|runs| runs.system())), "Command"),
                Some(purpose) if purpose.is_file() => {
                    ("Path of the log".to_owned(), "Path of the log")
                }
                Some(_) => ("Directory or file of a run".to_owned(), "Path of the run"),
            };
            if let Some(purpose) = self.purpose {
                ui.label(fonts::card_title(purpose.title()));
                ui.add_space(4.0);
            }
            let field =
                TextEdit::singleline(&mut self.text).hint_text(hint).desired_width(f32::INFINITY);
            let field = field.margin(egui::Margin::symmetric(10, 7));
            let field = ui.add(field).accessible_name(name);
            field.request_focus();
            let is_log = self.purpose.is_some_and(PickFor::is_file);
            let beside = if is_log { Vec::new() } else { self.beside(ui.ctx(), state) };
            let entries = match self.purpose {
                None => self.commands(ui.ctx(), state, &beside),
                Some(purpose) => paths(&self.text, purpose, state, beside),
            };
            if field.changed() {
                self.chosen = 0;
            }
            self.chosen = moved(self.chosen, steps, entries.len());
            ui.add_space(4.0);
            if entries.is_empty() {
                let item = state.runs.map_or("", |runs| runs.system().item_in_text);
                let item = if item.is_empty() { String::new() } else { format!(", {item}") };
                ui.weak(format!("No command{item} or operation has these words"));
            }
            let clicked = list_ui(ui, &entries, self.chosen, steps != 0);
            ui.add_space(4.0);
            let help = "↑ ↓ choose   ·   Enter runs it   ·   Esc closes";
            ui.label(fonts::caption(help).color(Tokens::now(ui).third_text));
            let chosen = clicked.or(is_entered.then_some(self.chosen));
            if let Some(action) = chosen.and_then(|chosen| entries.get(chosen))
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

    /// Commands, and what the text names.
    fn commands(
        &mut self,
        ctx: &egui::Context,
        state: &PaletteState<'_>,
        beside: &[TitledCommand],
    ) -> Vec<TitledCommand> {
        let text = self.text.trim().to_owned();
        let mut entries = typed::named(&text, state.runs.map(|runs| &**runs));
        if !entries.is_empty() {
            return entries;
        }
        let all = state.actions.iter().chain(beside);
        entries.extend(matching(all, &text).into_iter().cloned());
        let Some(runs) = state.runs.filter(|_| text.chars().count() >= SHORTEST_NAME) else {
            return entries;
        };
        let (name, wanted, system) = ("search for variables", text.clone(), *runs.system());
        self.variables.ask(name, ctx, (runs, NAMED), &text, move |runs, cancel| {
            find_variables(&runs.reports(), &wanted, MOST_NAMES, &|| cancel.is_cancelled())
        });
        if let Some(found) = self.variables.get((runs, NAMED), &text) {
            let select = |name: &String| {
                let title = format!("Select {} {}", system.item_in_text, shortened(name, NAME));
                TitledCommand::new(title, &[], Command::SelectVariable(name.clone()), None)
            };
            entries.extend(found.names.iter().map(select));
            entries.extend(more(system.items, found.count, found.names.len()));
        }
        entries.extend(self.operations(ctx, runs, &text));
        if typed::may_be_path(&text) {
            entries.extend(typed::open_path(&text, true));
        }
        entries
    }

    /// The operations that have the text in their names.
    fn operations(
        &mut self,
        ctx: &egui::Context,
        runs: &Arc<Runs>,
        text: &str,
    ) -> Vec<TitledCommand> {
        if !runs.are_read(WITH_OPERATIONS) {
            return Vec::new();
        }
        let (needs, key) = ((runs, WITH_OPERATIONS), text.to_owned());
        let wanted = key.clone();
        self.operations.ask("search for operations", ctx, needs, &key, move |runs, cancel| {
            let derived: Vec<_> = runs.iter().map(|run| Arc::clone(&run.derived)).collect();
            find_operations(&derived, &wanted, MOST_NAMES, &|| cancel.is_cancelled())
        });
        let Some((names, count)) = self.operations.get((runs, WITH_OPERATIONS), &key) else {
            return Vec::new();
        };
        let select = |name: &OperationName| {
            let title = format!("Select operation {}", shortened(name.name_or_none(), NAME));
            TitledCommand::new(title, &[], Command::SelectOperation(name.clone()), None)
        };
        let listed = names.iter().map(select);
        listed.chain(more("operations", *count, names.len())).collect()
    }

    /// Opening and comparing the reports beside the reference, with their verdicts.
    fn beside(&mut self, ctx: &egui::Context, state: &PaletteState<'_>) -> Vec<TitledCommand> {
        let Some(reference) = state.paths.first() else { return Vec::new() };
        let key = (reference.to_path_buf(), self.times);
        let known = self.beside.last().map_or_else(Arc::default, |(_, known)| Arc::clone(known));
        let path = key.0.clone();
        self.beside.ask("reports beside this one", ctx, &key, move |cancel| {
            Arc::new(glance_beside(&path, &known, cancel.progress()))
        });
        let Some(found) = self.beside.get(&key) else { return Vec::new() };
        let is_open =
            |glance: &&RunGlance| state.paths.iter().any(|path| path.starts_with(&glance.path));
        let mut actions = Vec::new();
        for glance in found.iter().filter(|glance| !is_open(glance)) {
            let about = format!("{}: {}", shortened(&glance.name, NAME), glance.verdict);
            let path = || glance.path.clone();
            let (open, add) = match self.purpose {
                Some(purpose) => (Some(purpose.command(path())), None),
                None => (Some(Command::Open(path())), Some(Command::AddRun(path()))),
            };
            for (does, command, why_not) in
                [("Open", open, None), ("Compare with", add, state.no_room)]
            {
                let title = format!("{does} {about}");
                let action = |command| TitledCommand {
                    fits: glance.fits,
                    ..TitledCommand::new(title, &[], command, why_not)
                };
                actions.extend(command.map(action));
            }
        }
        actions
    }
}

/// That others have the text in their names too.
fn more(what: &str, all: usize, listed: usize) -> Option<TitledCommand> {
    let more = all.checked_sub(listed).filter(|more| *more > 0)?;
    let title = format!("{} more {what} have it in their names", grouped(more as u64));
    Some(TitledCommand::impossible(title, "Type more".to_owned()))
}

/// The path that is typed, the system's dialog, and what may be meant: reports beside the open one, and recent
/// ones.
fn paths(
    text: &str,
    purpose: PickFor,
    state: &PaletteState<'_>,
    beside: Vec<TitledCommand>,
) -> Vec<TitledCommand> {
    let text = text.trim();
    let mut entries = Vec::new();
    if !text.is_empty() {
        let title = format!("Open {}", shortened(text, NAME));
        entries.push(TitledCommand::new(title, &[], purpose.command(typed::path_of(text)), None));
    }
    let picking = state.is_picking.then_some("The dialog is open");
    entries.push(TitledCommand::new("Browse…", &[], Command::Pick(purpose), picking));
    if purpose.is_file() {
        return entries;
    }
    let recents = state.recents.iter().zip(titles(state.recents)).map(|(report, title)| {
        let command = purpose.command(report.path.clone());
        TitledCommand::new(format!("Open {title}"), &[], command, None)
    });
    let all: Vec<TitledCommand> = beside.into_iter().chain(recents).collect();
    entries.extend(matching(&all, text).into_iter().cloned());
    entries
}

/// Draws the commands; returns the one that was clicked.
fn list_ui(
    ui: &mut egui::Ui,
    actions: &[TitledCommand],
    chosen: usize,
    has_moved: bool,
) -> Option<usize> {
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
            let title = RichText::new(&*action.title).font(fonts::regular(fonts::size::BODY));
            // The sign of a verdict stands before the title.
            let sign = action.fits.map(|fits| Sign::of(Some(fits)).atom(14.0));
            let content = match sign {
                Some(sign) => (sign, title).into_atoms(),
                None => title.into_atoms(),
            };
            let button = Button::selectable(index == chosen, content)
                .right_text(fonts::caption(right).color(Tokens::now(ui).third_text))
                .truncate()
                .min_size(Vec2::new(ui.available_width(), 28.0));
            let response = ui.add_enabled(action.why_not.is_none(), button);
            if index == chosen {
                let left = response.rect.left();
                let line = egui::Rect::from_x_y_ranges(left..=left + 3.0, response.rect.y_range());
                ui.painter().rect_filled(line, 2, Tokens::now(ui).accent);
            }
            let name = match &action.why_not {
                Some(why_not) => format!("{}: {why_not}", action.title),
                None => action.title.clone().into_owned(),
            };
            let response = response.accessible_name(name);
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
fn matching<'a>(
    actions: impl IntoIterator<Item = &'a TitledCommand>,
    text: &str,
) -> Vec<&'a TitledCommand> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let mut matching: Vec<&TitledCommand> = actions
        .into_iter()
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

    fn action(title: &'static str, why_not: Option<&'static str>) -> TitledCommand {
        TitledCommand {
            title: title.into(),
            keys: &[],
            command: Command::Reload,
            why_not: why_not.map(Into::into),
            fits: None,
        }
    }

    #[test]
    fn words_find_titles_in_any_order_and_case() {
        let actions =
            [action("Close run", Some("no")), action("Open run…", None), action("Keys", None)];
        let titles = |text: &str| -> Vec<&str> {
            matching(&actions, text).iter().map(|action| &*action.title).collect()
        };
        assert_eq!(titles(""), ["Open run…", "Keys", "Close run"]);
        assert_eq!(titles("RUN op"), ["Open run…"]);
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
