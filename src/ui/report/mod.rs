//! The pages of a report. Each borrows the report and the selection, and keeps what it derived.

#![allow(missing_docs, reason = "a page is used by `pages` alone; comments say what names do not")]

mod allocations;
mod areas;
mod cards;
mod category_colors;
pub mod comparison;
mod debug_tree;
pub mod figures;
pub mod found_insights;
mod glance;
mod grouped_by;
pub mod head;
pub mod insights;
pub mod liveness;
mod machines;
pub mod map;
pub mod memory;
mod module_choice;
pub mod moment;
pub mod operations;
pub mod overview;
mod program_kind_colors;
pub mod programs;
mod room;
pub mod run_part;
mod runs_compared;
mod side_by_side;
mod slot_axis;
mod step_choice;
mod step_said;
pub mod summary;
mod tile_figures;
mod tile_histogram;
pub mod trace;
mod two_columns;
mod variable_details;
mod verdict_banner;

use crate::store::{Absence, Part, System, TileId};
use crate::text::{grouped, shortened};
use crate::ui::card_fields::RoomFields;
use crate::ui::command::Command;
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Run, Runs, StepAt};
use crate::ui::selection::{Jump, Selection, TitledJump};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::place_menu::{PictureMenu, place_menu_ui};
use crate::ui::widget::rows::{difference, percent_text, signed};
use eframe::egui;
use moment::step_id;
use std::cmp::Ordering;
use std::sync::Arc;

pub struct PageContext<'a> {
    pub runs: &'a Arc<Runs>,
    pub selection: &'a mut Selection,
    /// What the user says of the device of the runs.
    pub room: &'a mut RoomFields,
    /// Set when a graph was painted.
    pub has_painted_graph: &'a mut bool,
    pub commands: &'a mut Vec<Command>,
}

/// The heading of what is of one run: its badge and title, the directory where that is another.
pub fn run_title_ui(ui: &mut egui::Ui, run: &Run) {
    ui.horizontal(|ui| {
        badge_ui(ui, run.badge);
        ui.label(fonts::card_title(&*run.title));
        if run.title != run.name {
            ui.weak(shortened(&run.name, 60));
        }
    });
}

/// What is said of a thing: that it is there, was not, and will be.
pub type Verbs = [&'static str; 3];
pub const IS: Verbs = ["is", "was", "It appears here as soon as it is there"];
pub const ARE: Verbs = ["are", "were", "They appear here as soon as they are there"];

/// Says that things are still to come, or will not, because reading was canceled.
pub fn unread_ui(ui: &mut egui::Ui, what: &str, is_working: bool) {
    unread_as_ui(ui, (what, ARE), is_working);
}

fn unread_as_ui(ui: &mut egui::Ui, (what, [is, was, coming]): (&str, Verbs), is_working: bool) {
    if is_working {
        absent_ui(ui, &format!("{what} {is} being read"), coming);
    } else {
        absent_ui(ui, &format!("{what} {was} not read"), &Absence::cancelled().to_string());
    }
}

/// A part, or a text in its place that says why it is not there.
pub fn part_or_reason<'a, T>(
    ui: &mut egui::Ui,
    part: &'a Part<T>,
    is_working: bool,
    (what, verbs): (&str, Verbs),
) -> Option<&'a T> {
    let found = part.get();
    match part.absence() {
        _ if found.is_some() => {}
        absence if absence.is_none_or(Absence::is_cancelled) => {
            unread_as_ui(ui, (what, verbs), is_working && absence.is_none());
        }
        absence => {
            let [is, ..] = verbs;
            absent_ui(ui, &format!("{what} {is} not in this run"), &reason_of(absence));
        }
    }
    found
}

/// Whether all runs have memory by tile, or arenas of another system; says what one does not have.
pub fn have_arenas_ui(ui: &mut egui::Ui, runs: &Runs) -> bool {
    let has_none = |run: &&Run| run.report.arenas.get().is_none_or(|it| it.ids.is_empty());
    let Some(run) = runs.iter().find(has_none) else { return true };
    let mut what = "Memory".to_owned();
    if !runs.is_one() {
        run_title_ui(ui, run);
        what = format!("Memory of {}", run.the());
    }
    let arenas = &run.report.arenas;
    if part_or_reason(ui, arenas, run.is_working, (&what, IS)).is_some() {
        absent_ui(ui, &format!("No {}", runs.system().arenas), "This run lists none");
    }
    false
}

pub fn reason_of(absence: Option<&Absence>) -> String {
    absence.map_or_else(|| Absence::unexplained().to_string(), Absence::to_string)
}

/// Facts in a tooltip: names at the left, values at the right.
pub fn tooltip_facts_ui(ui: &mut egui::Ui, id: &str, facts: &[(&str, String)]) {
    egui::Grid::new(id).num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
        for (name, value) in facts {
            ui.weak(*name);
            ui.label(value);
            ui.end_row();
        }
    });
}

/// Says how many there are besides those that are shown.
pub fn more_ui(ui: &mut egui::Ui, all: usize, shown: usize) {
    if all > shown {
        ui.weak(format!("and {} more", grouped((all - shown) as u64)));
    }
}

pub fn bytes_or_dash(bytes: Option<u64>, units: Units) -> String {
    bytes.map_or_else(|| "–".to_owned(), |bytes| units.exact(bytes))
}

/// How bytes have changed: `▲ +2.70 MiB (+181 %)`.
pub fn change_text(source: u64, target: u64, units: Units) -> String {
    change_of(source, target, |bytes| units.bytes(bytes))
}

/// The same of any figure.
pub fn change_of(source: u64, target: u64, shown: impl Fn(u64) -> String) -> String {
    let change = signed(difference(source, target), shown);
    if source == 0 || source == target {
        return change;
    }
    let exact = i128::from(target) - i128::from(source);
    format!("{change} ({})", percent_text(exact as f64 * 100.0 / source as f64))
}

pub fn change_color(ui: &egui::Ui, source: u64, target: u64) -> egui::Color32 {
    let tokens = Tokens::now(ui);
    match target.cmp(&source) {
        Ordering::Greater => tokens.more,
        Ordering::Less => tokens.less,
        Ordering::Equal => tokens.text,
    }
}

/// Whether a limit belongs into the picture when the user has not said: where it would press the
/// curve to the ground, it does not.
pub fn is_limit_near(top: u64, limit: u64) -> bool {
    limit <= top.saturating_mul(4)
}

/// The way to the step in a slot, of the first run that has one there.
pub fn step_place(runs: &Runs, slot: usize) -> Option<TitledJump> {
    let at = runs.step_at(slot)?;
    Some(step_place_of(runs, runs.get(runs.position(at.run)?)?, at.step))
}

pub fn step_place_of(runs: &Runs, run: &Run, step: usize) -> TitledJump {
    let of = if runs.is_one() { String::new() } else { format!(" of {}", run.the()) };
    let at = StepAt { run: run.id, step };
    let word = run.report.system.step_in_text;
    (format!("Go to {word} {}{of}", step_id(&run.report, step)), Jump::Step(at))
}

/// The ways to a tile: among the others, and to its map.
pub fn tile_places(system: &System, tile: TileId) -> Vec<TitledJump> {
    let title = system.arena_in_text;
    vec![
        (format!("Go to {title} {tile}"), Jump::Tile(tile)),
        (format!("Map of {title} {tile}"), Jump::Map(tile)),
    ]
}

pub fn tile_menu_ui(
    menu: &mut PictureMenu<TileId>,
    response: &egui::Response,
    tile: Option<TileId>,
    page: &mut PageContext<'_>,
) {
    menu.ui(response, tile, |ui, tile| {
        let system = page.runs.system();
        let name = format!("{} {tile}", system.arena);
        place_menu_ui(ui, Some(&name), &tile_places(system, *tile), page.commands);
    });
}

/// Least height of a table in its card that shows its head, titles, totals and four rows, points.
pub const FOUR_ROWS: f32 = 196.0;

/// The height that the tables below a picture have at first: a share of the page, and room for four rows.
pub fn tables_height(ui: &egui::Ui, share: f32) -> f32 {
    (ui.available_height() * share).clamp(FOUR_ROWS, 420.0)
}

/// The height that tables may have above which the picture has its own, as far as there is room for both.
pub fn most_of_tables(ui: &egui::Ui, picture: f32) -> f32 {
    let height = ui.available_height();
    (height - picture).max(height * 0.6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_a_percentage() {
        assert_eq!(change_text(1024, 512, Units::Binary), "▼ −512 B (−50.0 %)");
        assert_eq!(change_text(0, 512, Units::Binary), "▲ +512 B");
        assert_eq!(change_text(7, 7, Units::Binary), "0");
    }
}
