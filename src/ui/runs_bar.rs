//! The bar above the pages while several runs are open: which they are, how they are shown, and what
//! can be done with each.

use eframe::egui;

use eframe::egui::{Align, Button, Label, Layout, RichText, Sense};

use super::command::Command;
use super::home::failure::failure_ui;
use super::icon::Icon;
use super::loading::Failure;
use super::open_runs::{OpenRun, OpenRuns};
use super::runs::{Arrangement, Run, Runs, StepsBy, report_name};
use super::theme::Tokens;
use crate::text::{grouped, shortened};

/// Longest name of a run, where there are two.
const NAME: usize = 40;
/// Longest name of a run, where there are more.
const SHORT_NAME: usize = 18;

/// Draws the bar.
pub fn bar_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    runs: Option<&Runs>,
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        let is_pair = open.len() == 2;
        for (place, run) in open.iter().enumerate() {
            let role = match (is_pair, place) {
                (true, 0) => "Source",
                (true, _) => "Target",
                (false, 0) => "Reference",
                (false, _) => "●",
            };
            let mut color = Tokens::now(ui).run(place);
            if run.is_hidden {
                color = color.gamma_multiply(0.4);
            }
            ui.label(RichText::new(role).strong().color(color));
            name_ui(ui, run, if is_pair { NAME } else { SHORT_NAME }, place, commands);
            if is_pair && place == 0 {
                let swap = ui.button("⇄").accessible_name("Swap source and target");
                if swap.on_hover_text("Swap source and target (F6)").clicked() {
                    commands.push(Command::Swap);
                }
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let end = Button::new(Icon::Close.atom()).frame_when_inactive(false);
            let end = ui.add(end).accessible_name("End comparison");
            let stays = if is_pair { "source" } else { "reference" };
            let hover = format!("End the comparison; the {stays} stays open");
            if end.on_hover_text(hover).clicked() {
                commands.push(Command::EndComparison);
            }
            choices_ui(ui, open, runs, commands);
        });
    });
}

/// The name of a run; a click opens what can be done with it.
fn name_ui(
    ui: &mut egui::Ui,
    run: &OpenRun,
    longest: usize,
    place: usize,
    commands: &mut Vec<Command>,
) {
    let name = match run.load.report() {
        Some(report) => report_name(&report.path),
        None => "not read yet".to_owned(),
    };
    let mut text = RichText::new(shortened(&name, longest));
    if run.is_hidden {
        text = text.weak().strikethrough();
    }
    let label = ui.add(Label::new(text).selectable(false).sense(Sense::click()));
    egui::Popup::menu(&label).show(|ui| {
        let path = run.load.path.display().to_string();
        ui.weak(shortened(&path, 120));
        let mut offer = |ui: &mut egui::Ui, title: &str, command: Command| {
            if ui.button(title).clicked() {
                commands.push(command);
            }
        };
        if place > 0 {
            offer(ui, "Make it the reference", Command::MakeReference(run.id));
            let title = if run.is_hidden { "Show" } else { "Hide" };
            offer(ui, title, Command::HideRun(run.id, !run.is_hidden));
        }
        offer(ui, "Read it again", Command::ReloadRun(run.id));
        offer(ui, "Close it", Command::CloseRun(run.id));
    });
    label.on_hover_text(shortened(&run.load.path.display().to_string(), 300));
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
        if entry.on_hover_text(format!("How pictures of {what} are shown (F7)")).clicked() {
            commands.push(Command::Arrange(arrangement));
        }
    }
    ui.separator();
    for (steps_by, title, hover) in [
        (StepsBy::Index, "By index", "Step 7 of one report is step 7 of the other (F8)"),
        (StepsBy::Matching, "By name", "Steps belong together by name and order (F8)"),
    ] {
        let entry = ui.selectable_label(open.steps_by == steps_by, title);
        let entry = entry.accessible_name(format!("Align steps {}", title.to_lowercase()));
        if entry.on_hover_text(hover).clicked() {
            commands.push(Command::AlignSteps(steps_by));
        }
    }
    match runs {
        Some(runs) if runs.len() > 2 => several_matched_ui(ui, runs),
        Some(runs) => matched_ui(ui, runs),
        None => {
            ui.weak("Steps are being matched");
        }
    }
}

/// How many steps of the reference a run has too, and how sure that is.
fn matched_ui(ui: &mut egui::Ui, runs: &Runs) {
    let Some(pair) = runs.get(1).and_then(|run| run.pair.as_ref()) else {
        ui.weak(runs.why_not.as_deref().unwrap_or("Steps are being matched"));
        return;
    };
    let counts = pair.matching.steps.counts();
    let number = |count: usize| grouped(count as u64);
    let total = counts.matched.saturating_add(counts.only_source);
    let text = format!("{} of {} steps matched", number(counts.matched), number(total));
    let hover = format!(
        "{} by name and operation, {} where numbers in names differ, {} by their place; {} only in \
         the source, {} only in the target",
        number(counts.exact),
        number(counts.likely),
        number(counts.weak),
        number(counts.only_source),
        number(counts.only_target)
    );
    ui.weak(text).on_hover_text(hover);
}

/// The same of several runs, one a line.
fn several_matched_ui(ui: &mut egui::Ui, runs: &Runs) {
    let matched = |run: &Run| {
        let counts = run.pair.as_ref()?.matching.steps.counts();
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
        None => "Steps matched".to_owned(),
    };
    ui.weak(text).on_hover_text(lines.join("\n"));
}

/// Draws why a run could not be opened, in place of the page.
pub fn failure_of_run_ui(
    ui: &mut egui::Ui,
    run: &OpenRun,
    failure: &Failure,
    is_pair: bool,
    commands: &mut Vec<Command>,
) {
    ui.heading(if is_pair { "The target of the comparison" } else { "A run of the comparison" });
    ui.add_space(6.0);
    let id = run.id;
    failure_ui(ui, failure, |path| Command::OpenInPlace(id, path), commands);
    ui.add_space(8.0);
    let (title, command) = if is_pair {
        ("End comparison", Command::EndComparison)
    } else {
        ("Close this run", Command::CloseRun(id))
    };
    if ui.button(title).clicked() {
        commands.push(command);
    }
}
