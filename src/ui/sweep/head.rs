//! The head of the sweep: the best that fits, how many do, what is drawn, and the directory.

use eframe::egui::{self, Align2, Button, Key, Label, TextEdit, Vec2};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::words::{brief_name, brief_settings, short_text};
use super::{Loaded, SweepChoice};
use crate::analysis::sweep::{Best, BestBy, FigureToSweep, NoBest, Sweep, SweepRun, VaryingOption};
use crate::store::Warning;
use crate::text::{capitalised, counted, grouped, rate, shortened};
use crate::ui::command::{Command, PickFor};
use crate::ui::report::head::{SignedAnswer, page_head_with_ui};
use crate::ui::theme::{CONTROL_HEIGHT, Tokens};
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::sign::Sign;

/// Below this width the choices have a row of their own, points.
const ROOM: f32 = 1200.0;
/// Width of a choice, points.
const CHOICE: f32 = 112.0;
const PARTS: usize = 6;
/// Width of the field for a directory in its menu, points.
const FIELD: f32 = 360.0;

/// What stands beside the field for a directory, points.
pub const BESIDE_FIELD: f32 = 256.0;

/// Draws the head of a sweep that is read.
pub fn head_ui(
    ui: &mut egui::Ui,
    loaded: &mut Loaded,
    path: &mut String,
    is_picking: bool,
    commands: &mut Vec<Command>,
) {
    let units = Units::now(ui);
    let (answer, notes) = (answer(&loaded.sweep, units), counts(&loaded.sweep, units));
    let warnings = Arc::clone(&loaded.warnings);
    let Loaded { folder, sweep, choice, .. } = loaded;
    let is_wide = ui.available_width() >= ROOM;
    let after = |ui: &mut egui::Ui| {
        if !notes.is_empty() {
            let note = egui::RichText::new(format!("· {notes}"));
            ui.add(Label::new(note.color(Tokens::now(ui).weak_text)).truncate());
        }
    };
    page_head_with_ui(ui, "Sweep", Some(&answer), after, |ui| {
        directory_menu_ui(ui, folder, path, is_picking, commands);
        if !warnings.is_empty() {
            let count = counted(warnings.len() as u64, "warning");
            ui.label(count).on_hover_text(warnings_text(&warnings));
        }
        if is_wide {
            ui.add_space(8.0);
            (0..PARTS).rev().for_each(|part| choice_part_ui(ui, part, sweep, choice));
        }
    });
    if !is_wide {
        ui.horizontal(|ui| {
            (0..PARTS).for_each(|part| choice_part_ui(ui, part, sweep, choice));
        });
    }
    if choice.y == Some(choice.x) {
        choice.y = None;
    }
}

/// The directory that is shown, which opens the field for another one.
fn directory_menu_ui(
    ui: &mut egui::Ui,
    folder: &Path,
    path: &mut String,
    is_picking: bool,
    commands: &mut Vec<Command>,
) {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| folder.display().to_string());
    let menu = ui.menu_button(format!("{}…", shortened(&name, 24)), |ui| {
        ui.set_min_width(FIELD + 20.0);
        directory_ui(ui, path, FIELD, is_picking, commands);
    });
    menu.response.on_hover_text("Another directory");
}

/// Where the runs are: a field, and a dialog.
pub fn directory_ui(
    ui: &mut egui::Ui,
    path: &mut String,
    width: f32,
    is_picking: bool,
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        ui.set_min_height(CONTROL_HEIGHT);
        let label = ui.label("Directory");
        let field = TextEdit::singleline(path)
            .hint_text("A directory with runs in it, at any depth")
            .min_size(Vec2::new(0.0, CONTROL_HEIGHT))
            .align(Align2::LEFT_CENTER)
            .desired_width(width);
        let field = ui.add(field).labelled_by(label.id);
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let path = path.trim();
        let read = ui.add_enabled(!path.is_empty(), Button::new("Read"));
        let read = read.on_disabled_hover_text("Enter a path first");
        if (read.clicked() || is_entered) && !path.is_empty() {
            commands.push(Command::OpenSweep(PathBuf::from(path)));
        }
        let browse = ui.add_enabled(!is_picking, Button::new("Open directory…"));
        if browse.on_disabled_hover_text("The dialog is open").clicked() {
            commands.push(Command::Pick(PickFor::Sweep));
        }
    });
}

/// The best that fits in a sentence, or how many fit what the user says that the device has.
fn answer(sweep: &Sweep, units: Units) -> SignedAnswer {
    let size = |bytes: u64| units.bytes(bytes);
    if let Some(text) = sweep.capacity_text(&size) {
        let fits = sweep.runs.iter().any(|run| run.fits() == Some(true));
        return (Sign::of(Some(fits)), text);
    }
    match sweep.best {
        Ok(_) => {
            let sign = if sweep.used_of().is_some() { Sign::Fits } else { Sign::Plain };
            (sign, best_text(sweep, units).unwrap_or_default())
        }
        Err(NoBest::NoneFits) => {
            (Sign::Over, format!("None of {} fits", counted(sweep.runs.len() as u64, "run")))
        }
        Err(why) => (Sign::Plain, capitalised(Sweep::no_best_text(why))),
    }
}

/// Which run is the best, and at what: "Best that fits: batch 8 at 0.6, 2,345 samples/s".
fn best_text(sweep: &Sweep, units: Units) -> Option<String> {
    let Best { run: place, by } = sweep.best.ok()?;
    let run = sweep.runs.get(place)?;
    let settings = match brief_settings(sweep, place) {
        text if text.is_empty() => shortened(&run.name, 60).into_owned(),
        text => text,
    };
    let figure = match by {
        BestBy::Throughput => run.throughput().map(|speed| format!("{} samples/s", rate(speed))),
        BestBy::Cycles => {
            let cycles = FigureToSweep::Known(by.figure()).of(run)?;
            Some(format!("{} cycles", short_text(FigureToSweep::Known(by.figure()), cycles, units)))
        }
        BestBy::Needed => {
            Some(sweep.best_figure_text(Best { run: place, by }, &|bytes| units.bytes(bytes)))
        }
    };
    let title = if by == BestBy::Needed { "Least needed" } else { "Best that fits" };
    let parts: Vec<String> = std::iter::once(settings).chain(figure).collect();
    Some(format!("{title}: {}", parts.join(", ")))
}

/// How many runs fit, and what is not known of others.
fn counts(sweep: &Sweep, units: Units) -> String {
    let count = |is_meant: fn(&SweepRun) -> bool| {
        sweep.runs.iter().filter(|run| is_meant(run)).count() as u64
    };
    let all = grouped(sweep.runs.len() as u64);
    let fit = count(|run| run.fits() == Some(true));
    let mut parts = Vec::new();
    let can_fit = sweep.runs.iter().any(|run| run.verdict.outcome.fits().is_some());
    if sweep.room.capacity_bytes.is_some() {
        parts.extend(best_text(sweep, units));
    } else if sweep.best != Err(NoBest::NoneFits) && can_fit {
        parts.push(format!("{} of {all} runs fit", grouped(fit)));
    }
    let others: [(u64, &str); 2] = [
        (count(|run| run.error.is_some()), "could not be read"),
        (count(|run| run.no_report), "left no report"),
    ];
    for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
        parts.push(format!("{} {what}", grouped(count)));
    }
    parts.join(" · ")
}

/// A part of the choices, from the left to the right: what is shown, across what, down what.
fn choice_part_ui(ui: &mut egui::Ui, part: usize, sweep: &Sweep, choice: &mut SweepChoice) {
    let name = |option: &VaryingOption| brief_name(&sweep.options, option);
    let title = |option: usize| sweep.options.get(option).map_or(String::new(), name);
    let options = 0..sweep.options.len();
    match part {
        0 => drop(ui.weak("Show")),
        1 => {
            let title =
                |figure: &FigureToSweep| shortened(sweep.figure_title(*figure), 40).into_owned();
            let (figure, figures) = (&mut choice.figure, sweep.figures());
            choice_ui(ui, "Figure", CHOICE + 40.0, figure, figures, title);
        }
        2 => drop(ui.weak("across")),
        3 => {
            choice_ui(ui, "Option across", CHOICE, &mut choice.x, options, |it| title(*it));
        }
        4 => drop(ui.weak("down")),
        _ => {
            let down = std::iter::once(None).chain(options.map(Some));
            let choice = choice_ui(ui, "Option down", CHOICE, &mut choice.y, down, |option| {
                option.map_or("no second option".to_owned(), title)
            });
            if sweep.options_left_out > 0 {
                let more = counted(sweep.options_left_out as u64, "more option");
                choice.on_hover_text(format!("{more} that vary are not listed"));
            }
        }
    }
}

/// Warnings that are listed when the pointer is over their number.
const MOST_WARNINGS: usize = 20;

fn warnings_text(warnings: &[Warning]) -> String {
    let text = |warning: &Warning| {
        shortened(&format!("{}: {}", warning.file, warning.message), 200).into_owned()
    };
    let mut lines: Vec<String> = warnings.iter().take(MOST_WARNINGS).map(text).collect();
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        lines.push(format!("and {}", counted(more as u64, "more warning")));
    }
    lines.join("\n")
}
