//! Summary: whether the programs fit, what differs, facts, options, files, and the compiler's phases.

mod cards;
mod lists;
mod phases;
pub mod words;

use eframe::egui::{self, Label, Margin, RichText};
use std::sync::Arc;

use super::head::page_head_ui;
use super::{PageContext, more_ui};
use crate::analysis::comparison::facts::FactGroup;
use crate::analysis::comparison::options::{OptionDifference, options_that_differ};
use crate::analysis::derived::fact_groups;
use crate::analysis::liveness::Scope;
use crate::run::Verdict;
use crate::text::{in_turn, shortened};
use crate::ui::command::{Command, ExportSource};
use crate::ui::job::Cancel;
use crate::ui::pages::RunsPage;
use crate::ui::report::module_choice::module_choice_ui;
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::table_card_ui;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::exports::exports_ui;
use crate::ui::widget::sign::{Sign, answer_ui};
use cards::{cards_ui, facts_sheet, needed_width};
use lists::{ListTables, SummaryLists};
use phases::{NestedPhases, PhaseFlames};

/// What the facts are taken from; options are read after all small tables.
const NEEDS: Needs =
    &[Needed::Memory, Needed::Liveness, Needed::About, Needed::Debug, Needed::Variables];
/// Room for whether a run fits, points.
const ANSWER: f32 = 360.0;
/// Room for the names of a list and for a value of each run, and its least height, points.
const NAMES: f32 = 140.0;
const LISTED: f32 = 90.0;
const LISTS: f32 = 200.0;
/// What differs that the head names.
const MOST_NAMED: usize = 5;
/// Longest value there.
const VALUE: usize = 24;

#[derive(Default)]
pub struct SummaryPage {
    groups: RunsAnswer<(), Vec<FactGroup>>,
    facts: RunsAnswer<(), SummaryFacts>,
    lists: SummaryLists,
    phases: PhaseFlames,
}

struct SummaryFacts {
    verdicts: PerRun<Option<Arc<Verdict>>>,
    differences: Vec<OptionDifference>,
    lists: Option<ListTables>,
    phases: Option<NestedPhases>,
}

impl SummaryFacts {
    fn of(runs: &Runs) -> Self {
        Self {
            verdicts: runs.each(|run| run.derived.verdict()),
            differences: options_that_differ(&runs.reports()),
            lists: ListTables::new(runs),
            phases: NestedPhases::of(runs),
        }
    }
}

fn groups_of(runs: &Runs, cancel: &Cancel) -> Vec<FactGroup> {
    let derived: Vec<_> = runs.iter().map(|run| &*run.derived).collect();
    for run in derived.iter().filter(|run| !run.answers().are_beside_report()) {
        // The peak is among the facts where the curve is known.
        let _ = run.timeline(Scope::Everything, &|| cancel.is_cancelled());
    }
    fact_groups(&derived)
}

impl RunsPage for SummaryPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        // Of systems that have facts of their own these need no part of their reports.
        let has_own = |run: &Run| run.derived.answers().are_beside_report();
        let needs = (runs, if runs.iter().all(has_own) { &[] } else { NEEDS });
        self.groups.ask_or_tell("facts", ui.ctx(), needs, &(), groups_of);
        self.facts
            .ask_or_tell("summary", ui.ctx(), (runs, NEEDS), &(), |runs, _| SummaryFacts::of(runs));
        let groups = self.groups.last(runs).map(|((), groups)| &**groups);
        let facts = self.facts.last(runs).map(|((), facts)| facts);
        head_ui(ui, runs, facts, groups, page.commands);
        let Some((facts, groups)) = facts.zip(groups) else {
            let failure = self.facts.failure().or(self.groups.failure());
            ui.weak(failure.unwrap_or("Comparing…"));
            return;
        };
        if let Some(phases) = &facts.phases {
            self.phases.ui(ui, page, phases);
        }
        let room = ui.available_width();
        let (name, width, least) = if runs.is_one() {
            let share = if room < 800.0 { 0.46 } else { 0.58 };
            ("summary cards", (room * share).clamp(240.0, 1240.0), 240.0_f32)
        } else {
            // Titles of lists stand beside each other where columns of many runs give them room.
            let lists = if runs.len() > 2 { 336.0 } else { 260.0 };
            let width = (room * 0.5).clamp(420.0, 900.0).max(needed_width(runs).min(room - lists));
            ("summary cards of several", width, 300.0)
        };
        let lists_ui = |ui: &mut egui::Ui| {
            let lists = facts.lists.as_ref();
            table_card_ui(ui, |ui| self.lists.ui(ui, runs, lists, page.commands));
        };
        // Where a list beside the facts would show the first of many runs alone, it is below them.
        let height = ui.available_height();
        let is_narrow = width + NAMES + LISTED * runs.len() as f32 > room;
        if runs.len() > 2 && is_narrow && height >= 2.0 * LISTS {
            split::below(ui, "lists of several", height * 0.4, LISTS..=height - LISTS, lists_ui);
            split::rest(ui, Margin::ZERO, |ui| cards_ui(ui, runs, groups));
            return;
        }
        split::left(ui, name, width, least..=(room - 300.0).max(width), |ui| {
            cards_ui(ui, runs, groups);
        });
        split::rest(ui, Margin { left: 10, ..Margin::ZERO }, lists_ui);
    }
}

/// The title, whether the programs fit, and what differs in a few words.
fn head_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    facts: Option<&SummaryFacts>,
    groups: Option<&[FactGroup]>,
    commands: &mut Vec<Command>,
) {
    let exports = |ui: &mut egui::Ui| {
        if runs.is_one() {
            module_choice_ui(ui, runs.reference(), commands);
        }
        let sheet = || Some(ExportSource::Table(facts_sheet(runs, groups?)));
        exports_ui(ui, "as CSV", "facts", true, commands, sheet);
    };
    let units = Units::now(ui);
    let verdict = |place: usize| facts.and_then(|facts| facts.verdicts.get(place)?.as_deref());
    let whole =
        |it: &Verdict| (Sign::of(it.outcome.went_well()), it.headline(&|bytes| units.exact(bytes)));
    if runs.is_one() {
        let answer = verdict(0).map(whole);
        page_head_ui(ui, "Summary", answer.as_ref(), exports);
        ui.add_space(4.0);
        return;
    }
    page_head_ui(ui, "Summary", None, exports);
    // Two runs are read below each other.
    let in_a_row = match runs.len() {
        ..=2 => 1,
        _ => (ui.available_width() / ANSWER).floor().max(1.0) as usize,
    };
    let places: Vec<(usize, &Run)> = runs.iter().enumerate().collect();
    for row in places.chunks(in_a_row) {
        ui.horizontal(|ui| {
            for (place, run) in row {
                let left = ui.cursor().left();
                badge_ui(ui, run.badge);
                ui.label(fonts::number(&*run.title));
                if run.title != run.name {
                    ui.weak(shortened(&run.name, 40));
                }
                let Some(verdict) = verdict(*place) else { continue };
                let (sign, text) = whole(verdict);
                if runs.len() > 2 {
                    answer_ui(ui, sign, &verdict.short_with(&|bytes| units.bytes(bytes)))
                        .on_hover_text(&*text);
                    ui.add_space((left + ANSWER - ui.cursor().left()).max(0.0));
                } else {
                    answer_ui(ui, sign, &text);
                }
            }
        });
    }
    ui.horizontal_wrapped(|ui| {
        let Some(facts) = facts else { return };
        ui.weak("What differs");
        let differences = &facts.differences;
        if differences.is_empty() {
            ui.label("no option, version or machine");
        }
        for difference in differences.iter().take(MOST_NAMED) {
            let text = difference_text(difference);
            // One that a line has no room for is broken: it would make the page wider than the window.
            let has_room =
                text_width(ui, &text, &fonts::regular(size::BODY)) < ui.max_rect().width();
            let label = Label::new(RichText::new(text).strong());
            ui.add(if has_room { label.extend() } else { label.wrap() });
            ui.add_space(6.0);
        }
        more_ui(ui, differences.len(), MOST_NAMED);
    });
    ui.add_space(4.0);
}

/// A difference: `Version of Poplar 3.2.0 → 3.3.0`.
fn difference_text(difference: &OptionDifference) -> String {
    let value = |value: &Option<String>| match value.as_deref() {
        Some("") => "(empty)".to_owned(),
        Some(value) => shortened(value, VALUE).into_owned(),
        None => "–".to_owned(),
    };
    let name = difference.title();
    let values: Vec<String> = difference.values.iter().map(value).collect();
    format!("{} {}", shortened(&name, 60), in_turn(&values))
}
