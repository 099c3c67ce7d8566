//! The bar above the pages while several runs are open: which, how shown, what can be done with each.

use eframe::egui::{
    self, Align, Button, Color32, Label, Layout, Response, RichText, Role, Sense, Stroke,
    StrokeKind, UiBuilder, Vec2, WidgetInfo,
};

use super::command::{Command, PickFor};
use super::home::failure::failure_ui;
use super::icon::Icon;
use super::keys::{self, RunEntry, loading_actions, showing_actions};
use super::open_runs::{OpenRun, OpenRuns};
use super::runs::{Arrangement, Run, Runs, StepsBy};
use super::theme::Tokens;
use crate::text::{grouped, shortened};

/// Longest name of a run, where there are two.
const NAME: usize = 40;
/// Longest name of a run, where there are more.
const SHORT_NAME: usize = 18;
/// Longest path.
const PATH: usize = 300;
/// Side of the patch of colour before a name, points.
const PATCH: f32 = 12.0;
/// Width of the button that opens what can be done with a run, points.
const MORE: f32 = 16.0;
/// Between the parts of a run, points.
const BETWEEN: f32 = 2.0;

/// Draws the bar; `matched` are the runs as soon as all are found.
pub fn bar_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    entries: &[RunEntry],
    matched: Option<&Runs>,
    commands: &mut Vec<Command>,
) {
    let runs: Vec<BarRun> = open
        .iter()
        .zip(entries)
        .enumerate()
        .map(|(place, (run, entry))| BarRun { run, entry, place })
        .collect();
    if let [source, target] = &*runs {
        ui.horizontal(|ui| {
            source.role_ui(ui, "Source", commands);
            let swap = ui.button("⇄").accessible_name("Swap source and target");
            if swap.on_hover_text(with_keys(ui, "Swap source and target", keys::SWAP)).clicked() {
                commands.push(Command::Swap);
            }
            target.role_ui(ui, "Target", commands);
            let at_right = Layout::right_to_left(Align::Center);
            ui.with_layout(at_right, |ui| end_and_choices_ui(ui, open, matched, commands));
        });
        return;
    }
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        let line = Vec2::new(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(line, Layout::right_to_left(Align::Center), |ui| {
            end_and_choices_ui(ui, open, matched, commands);
        });
        ui.add_space(8.0);
        // What does not fit beside the choices goes on below.
        ui.with_layout(Layout::left_to_right(Align::Min).with_main_wrap(true), |ui| {
            ui.spacing_mut().item_spacing = Vec2::new(6.0, 4.0);
            ui.spacing_mut().button_padding.x = 3.0;
            for run in &runs {
                run.ui(ui, commands);
            }
        });
    });
}

/// What ends the comparison, and before it how it is shown; from the right to the left.
fn end_and_choices_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    matched: Option<&Runs>,
    commands: &mut Vec<Command>,
) {
    let end = Button::new(Icon::Close.atom()).frame_when_inactive(false);
    let end = ui.add(end).accessible_name("End comparison");
    let stays = if open.len() == 2 { "source" } else { "reference" };
    let hover = format!("End the comparison; the {stays} stays open");
    if end.on_hover_text(hover).clicked() {
        commands.push(Command::EndComparison);
    }
    choices_ui(ui, open, matched, commands);
}

struct BarRun<'a> {
    run: &'a OpenRun,
    entry: &'a RunEntry,
    place: usize,
}

impl BarRun<'_> {
    /// Draws its role and its name; a click on the name opens what can be done with it.
    fn role_ui(&self, ui: &mut egui::Ui, role: &str, commands: &mut Vec<Command>) {
        let mut color = Tokens::now(ui).run(self.place);
        if self.run.is_hidden {
            color = color.gamma_multiply(0.4);
        }
        ui.label(RichText::new(role).strong().color(color));
        let name = self.run.load.report().map_or("not read yet", |_| &*self.entry.name);
        let text = self.styled(ui, name, NAME);
        let label = ui.add(Label::new(text).selectable(false).sense(Sense::click()));
        let all = showing_actions(self.entry, self.place == 0).chain(loading_actions(self.entry));
        self.menu_ui(&label, all, commands);
        label.on_hover_text(self.path());
    }

    /// Its colour hides it, its name makes it the reference, a button opens what else can be done.
    fn ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let text = self.styled(ui, &self.entry.name, SHORT_NAME);
        let is_reference = self.place == 0;
        let name = Button::selectable(is_reference, text);
        let galley = egui::WidgetText::from(self.styled(ui, &self.entry.name, SHORT_NAME));
        let wrap = Some(egui::TextWrapMode::Extend);
        let galley = galley.into_galley(ui, wrap, f32::INFINITY, egui::TextStyle::Button);
        let padding = 2.0 * ui.spacing().button_padding.x;
        let width = PATCH + BETWEEN + galley.size().x + padding + BETWEEN + MORE;
        let size = Vec2::new(width, ui.spacing().interact_size.y);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        let layout = Layout::left_to_right(Align::Center);
        let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
        let ui = &mut ui;
        ui.spacing_mut().item_spacing.x = BETWEEN;
        self.patch_ui(ui, commands);
        let name = ui.add(name);
        let hover = if is_reference {
            let name = name.accessible_name(format!("{} is the reference", self.entry.name));
            name.on_hover_text(format!("All others are compared with it\n{}", self.path()))
        } else {
            let does = format!("Make {} the reference", self.entry.name);
            let name = name.accessible_name(&does);
            name.on_hover_text(format!("{does}\n{}", self.path()))
        };
        if hover.clicked() && !is_reference {
            commands.push(Command::MakeReference(self.run.id));
        }
        ui.spacing_mut().button_padding.x = 1.0;
        let more = Button::new("…").frame_when_inactive(false).min_size(Vec2::new(MORE, 0.0));
        let more = ui.add(more).accessible_name(format!("More for {}", self.entry.name));
        self.menu_ui(&more, loading_actions(self.entry), commands);
    }

    /// The patch of its colour. The reference is always shown.
    fn patch_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let is_reference = self.place == 0;
        let sense = if is_reference { Sense::hover() } else { Sense::click() };
        let (rect, patch) = ui.allocate_exact_size(Vec2::splat(PATCH), sense);
        let color = Tokens::now(ui).run(self.place);
        let fill = if self.run.is_hidden { Color32::TRANSPARENT } else { color };
        ui.painter().rect(rect, 3, fill, Stroke::new(1.5, color), StrokeKind::Inside);
        if is_reference {
            return;
        }
        if patch.hovered() || patch.has_focus() {
            let stroke = Stroke::new(1.0, Tokens::now(ui).text);
            ui.painter().rect_stroke(rect.expand(1.5), 4, stroke, StrokeKind::Outside);
        }
        let does = if self.run.is_hidden { "Show" } else { "Hide" };
        let name = format!("{does} {}", self.entry.name);
        patch.widget_info(|| {
            WidgetInfo::selected(Role::CheckBox, true, !self.run.is_hidden, name.clone())
        });
        if patch.on_hover_text(name).clicked() {
            commands.push(Command::HideRun(self.run.id, !self.run.is_hidden));
        }
    }

    /// What can be done with it, below the widget that opens it.
    fn menu_ui(
        &self,
        opener: &Response,
        actions: impl IntoIterator<Item = (String, Command)>,
        commands: &mut Vec<Command>,
    ) {
        egui::Popup::menu(opener).show(|ui| {
            ui.weak(shortened(&self.path(), 120));
            for (title, command) in actions {
                if ui.button(title).clicked() {
                    commands.push(command);
                }
            }
        });
    }

    /// Its name in the colour of its state.
    fn styled(&self, ui: &egui::Ui, name: &str, longest: usize) -> RichText {
        let text = RichText::new(shortened(name, longest));
        match self.run.load.stage() {
            _ if self.run.is_hidden => text.weak().strikethrough(),
            stage if stage.failure().is_some() => text.color(Tokens::now(ui).bad),
            _ => text,
        }
    }

    fn path(&self) -> String {
        shortened(&self.run.load.path.display().to_string(), PATH).into_owned()
    }
}

/// What something does, with its keys: `Swap source and target (F6)`.
fn with_keys(ui: &egui::Ui, does: &str, keys: &[egui::KeyboardShortcut]) -> String {
    format!("{does} ({})", keys::keys_text(ui.ctx(), keys))
}

/// Arrangement and alignment, from the right to the left.
fn choices_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    runs: Option<&Runs>,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.x = 4.0;
    let what = if open.len() == 2 { "two reports" } else { "several runs" };
    for (arrangement, title) in
        [(Arrangement::SideBySide, "Side by side"), (Arrangement::Overlaid, "Overlaid")]
    {
        let entry = ui.selectable_label(open.arrangement == arrangement, title);
        let hover = format!("How pictures of {what} are shown");
        if entry.on_hover_text(with_keys(ui, &hover, keys::ARRANGE)).clicked() {
            commands.push(Command::Arrange(arrangement));
        }
    }
    ui.separator();
    for (steps_by, title, hover) in [
        (StepsBy::Index, "By index", "Step 7 of one report is step 7 of the other"),
        (StepsBy::Matching, "By name", "Steps belong together by name and order"),
    ] {
        let entry = ui.selectable_label(open.steps_by == steps_by, title);
        let entry = entry.accessible_name(format!("Align steps {}", title.to_lowercase()));
        if entry.on_hover_text(with_keys(ui, hover, keys::ALIGN)).clicked() {
            commands.push(Command::AlignSteps(steps_by));
        }
    }
    match runs {
        Some(runs) if runs.is_one() => {}
        Some(runs) if runs.len() > 2 => several_matched_ui(ui, runs, open.steps_by),
        Some(runs) => matched_ui(ui, runs, open.steps_by),
        // As long as a run cannot be opened, none is matched.
        None if open.iter().any(|run| run.failure().is_some()) => {}
        None => {
            ui.weak("Steps are being matched");
        }
    }
}

/// How many steps of the reference a run has too, and how sure that is.
fn matched_ui(ui: &mut egui::Ui, runs: &Runs, steps_by: StepsBy) {
    let Some(pair) = runs.get(1).and_then(|run| run.pair.as_ref()) else {
        let coming = "Steps are being matched, and aligned by number until then";
        ui.weak(runs.why_not.as_deref().unwrap_or(coming));
        return;
    };
    let counts = &pair.step_counts;
    let number = |count: usize| grouped(count as u64);
    let text = match (counts.only_source, counts.only_target) {
        _ if steps_by == StepsBy::Index => "Steps aligned by number".to_owned(),
        (0, 0) => format!("{} steps matched", number(counts.matched)),
        (0, only) => {
            format!("{} steps matched, {} only in the target", number(counts.matched), number(only))
        }
        (only, 0) => {
            format!("{} steps matched, {} only in the source", number(counts.matched), number(only))
        }
        (source, target) => format!(
            "{} steps matched, {} in one only",
            number(counts.matched),
            number(source.saturating_add(target))
        ),
    };
    let hover = format!(
        "By name {} steps are matched: {} by name and operation, {} where numbers in names differ, {} by their place; {} only in \
         the source, {} only in the target",
        number(counts.matched),
        number(counts.exact),
        number(counts.likely),
        number(counts.weak),
        number(counts.only_source),
        number(counts.only_target)
    );
    ui.weak(text).on_hover_text(hover);
}

/// The same of several runs, one a line.
fn several_matched_ui(ui: &mut egui::Ui, runs: &Runs, steps_by: StepsBy) {
    let matched = |run: &Run| {
        let counts = &run.pair.as_ref()?.step_counts;
        let matched = grouped(counts.matched as u64);
        let (before, after) = (counts.only_source as u64, counts.only_target as u64);
        Some(format!(
            "{}: {matched} steps matched, {} only in the reference, {} only here",
            run.title,
            grouped(before),
            grouped(after)
        ))
    };
    let lines: Vec<String> = runs.iter().skip(1).filter_map(matched).collect();
    let text = match &runs.why_not {
        Some(why_not) => why_not.clone(),
        None if lines.len() + 1 < runs.len() => "Steps are being matched".to_owned(),
        None if steps_by == StepsBy::Index => "Steps aligned by number".to_owned(),
        None => "Steps matched".to_owned(),
    };
    ui.weak(text).on_hover_text(lines.join("\n"));
}

/// Draws why runs could not be opened, in place of the page. The others stay open.
pub fn failures_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    entries: &[RunEntry],
    commands: &mut Vec<Command>,
) {
    let is_pair = open.len() == 2;
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (place, (run, entry)) in open.iter().zip(entries).enumerate() {
            let Some(failure) = run.failure() else { continue };
            let name = shortened(&entry.name, NAME);
            ui.heading(match (is_pair, place) {
                (true, 0) => "The source of the comparison",
                (true, _) => "The target of the comparison",
                (false, _) => &*name,
            });
            ui.add_space(6.0);
            let id = run.id;
            failure_ui(ui, &failure, |path| Command::OpenInPlace(id, path), commands);
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let (title, command) = if is_pair && place == 1 {
                    ("End comparison".to_owned(), Command::EndComparison)
                } else {
                    (format!("Close {name}"), Command::CloseRun(id))
                };
                if ui.button(title).clicked() {
                    commands.push(command);
                }
                let other = ui.button("Choose another…");
                let other = other.accessible_name(format!("Choose another in place of {name}"));
                if other.clicked() {
                    commands.push(Command::AskPath(PickFor::InPlaceOf(id)));
                }
            });
            ui.add_space(16.0);
        }
    });
}
