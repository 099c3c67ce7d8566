//! Insights: whether the run fits and why not, what to try next, who owns its peak, and what only its system says.

mod advice;
mod change;
mod consists;
mod evidence;
mod largest;
mod tiles;

use eframe::egui::{self, Label, ScrollArea};
use std::collections::BTreeMap;

use super::PageContext;
use super::cards::{CardChoices, run_card_ui};
use super::found_insights::{ADVICE_COMES, FoundInsights, KnownInsights};
use super::run_part::RunPart;
use super::side_by_side::columns_of_runs_ui;
use super::two_columns::{PageColumn, two_columns_ui};
use super::verdict_banner::{Proof, verdict_banner_ui};
use crate::analysis::comparison::explanation::GroupedBy;
use crate::analysis::memory::fullest_tiles::fullest_of;
use crate::run::FirstSight;
use crate::run::card::PEAK;
use crate::text::{clean, shortened, unbroken};
use crate::ui::job::Made;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, RunId, RunsKey};
use crate::ui::widget::card::card_ui;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;

/// Width from which figures stand beside the advice, points.
const TWO_COLUMNS: f32 = 860.0;
/// Of the width, what advice has beside them.
const ADVICE: f32 = 0.6;
/// Bars of a card.
const MOST_BARS: usize = 12;
/// Longest sentence.
const TEXT: usize = 400;

#[derive(Default)]
pub struct InsightsPage {
    changes: change::AskedComparisons,
    of_runs: BTreeMap<RunId, InsightsOfRun>,
    /// Kept while a run is not there, for it may be being read again.
    choices: BTreeMap<RunId, InsightChoices>,
    /// Bytes of the fullest tile of all runs, and of which runs.
    fullest: Made<RunsKey, u64>,
}

/// What is chosen on the page of a run.
#[derive(Default)]
struct InsightChoices {
    /// What its peak is divided by.
    by: GroupedBy,
    largest: largest::LargestOf,
    advice: advice::Unfolded,
    cards: CardChoices,
    /// Which of several parts of the run cards are of; at first the one that the verdict is about.
    part: Option<usize>,
}

#[derive(Default)]
struct InsightsOfRun {
    found: FoundInsights,
    consists: consists::ConsistsCard,
    tiles: tiles::TilesCard,
    largest: largest::LargestThings,
}

/// A run with what is chosen on its cards.
struct ChosenPart<'a> {
    part: RunPart<'a>,
    choices: &'a mut InsightChoices,
    /// Bytes of the fullest tile of all runs, which stand side by side.
    fullest: u64,
}

impl RunsPage for InsightsPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        self.of_runs.retain(|id, _| runs.position(*id).is_some());
        self.changes.retain(runs);
        let reference = runs.reference();
        // That of two has the whole width.
        if let (2, Some(target)) = (runs.len(), runs.get(1)) {
            self.changes.ui(ui, reference, target);
        }
        let fullest = |_: &RunsKey| fullest_of(runs.iter().map(|run| &*run.report));
        let fullest = *self.fullest.of(runs.key(&[Needed::Memory]), fullest);
        columns_of_runs_ui(ui, runs, |ui, run| {
            if runs.len() > 2 {
                self.changes.ui(ui, reference, run);
            }
            let (selection, commands) = (&mut *page.selection, &mut *page.commands);
            let choices = self.choices.entry(run.id).or_default();
            let part = RunPart { run, selection, commands };
            let of_run = self.of_runs.entry(run.id).or_default();
            let mut part = ChosenPart { part, choices, fullest };
            of_run.ui(ui, &mut part);
        });
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if let Some(choices) = self.choices.remove(&from) {
            self.choices.insert(to, choices);
        }
        // Both run through what was read before.
        self.of_runs.remove(&from);
        self.changes = change::AskedComparisons::default();
    }
}

impl InsightsOfRun {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>) {
        let Some(known) = self.found.ask(ui.ctx(), page.part.run, true) else {
            let is_read = page.part.run.derived.answers().are_beside_report()
                || Needed::Liveness.is_settled(&page.part.run.report);
            let why = if is_read {
                "Working out what the run says"
            } else {
                "The verdict appears as soon as the small tables are read"
            };
            absent_ui(ui, self.found.failure().unwrap_or(why), "");
            return;
        };
        let KnownInsights { sight, is_final } = known;
        let area = ScrollArea::vertical().id_salt("insights").auto_shrink(false);
        let area = area.show(ui, |ui| {
            verdict_ui(ui, page, &sight, is_final);
            if ui.available_width() < TWO_COLUMNS {
                advice_column_ui(ui, page, &sight, is_final);
                self.figures_ui(ui, page, &sight);
                return;
            }
            two_columns_ui(ui, ADVICE, |ui, column| match column {
                PageColumn::Left => advice_column_ui(ui, page, &sight, is_final),
                PageColumn::Right => self.figures_ui(ui, page, &sight),
            });
        });
        scrolled_of_exports(ui, &area);
    }

    /// The cards of the system, and what is worked out of the report where it has none that says who owns the peak.
    fn figures_ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>, sight: &FirstSight) {
        let known = page.choices.part.filter(|part| *part < sight.parts.len());
        let mut part = known.unwrap_or(sight.part);
        if sight.parts.len() > 1 {
            let title = |part: &usize| sight.parts.get(*part).cloned().unwrap_or_default();
            choice_ui(ui, "Device", 120.0, &mut part, 0..sight.parts.len(), title);
            ui.add_space(6.0);
            if part != known.unwrap_or(sight.part) {
                page.choices.part = Some(part);
            }
        }
        let cards = || sight.cards.iter().filter(|card| card.part.is_none_or(|of| of == part));
        for card in cards() {
            let ChosenPart { part, choices, .. } = page;
            run_card_ui(ui, part, &mut choices.cards, card, MOST_BARS);
        }
        if cards().any(|card| card.id == PEAK) {
            return;
        }
        self.consists.ui(ui, page, sight.peak_scope);
        let fullest = self.tiles.ui(ui, page);
        self.largest.ui(ui, page, fullest);
    }
}

fn verdict_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, sight: &FirstSight, is_final: bool) {
    if sight.found.verdict.is_none() {
        card_ui(ui, "It is not known whether it fits", |ui| {
            let arenas = page.part.run.report.system.arenas;
            ui.weak(format!("This run does not say what {arenas} use, or what they have"));
        });
        return;
    }
    let is_open = page.part.run.is_working && !is_final;
    let so_far = is_open
        .then_some("Provisional: the run is still being read; reasons and advice may change");
    verdict_banner_ui(ui, &mut page.part, sight, Proof::Used, so_far);
}

/// Advice changes while what it is based on is still being read: until then none is given.
fn advice_column_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    sight: &FirstSight,
    is_final: bool,
) {
    if is_final {
        let (unfolded, found) = (&mut page.choices.advice, &sight.found);
        advice::advice_ui(ui, &mut page.part, unfolded, found);
    } else {
        card_ui(ui, "What to try", |ui| {
            ui.weak(ADVICE_COMES);
        });
    }
    if !sight.sentences.is_empty() {
        card_ui(ui, "In words", |ui| {
            for sentence in &sight.sentences {
                ui.add(Label::new(unbroken(&shortened(&clean(sentence), TEXT))).wrap());
            }
        });
    }
}

/// What of a report the bytes of its peak are divided by.
const OF_BYTES: Needs =
    &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges, Needed::Variables];
