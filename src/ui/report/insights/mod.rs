//! Insights: whether the program fits and why not, what is largest, what must go, what to try next.

mod advice;
mod change;
mod consists;
mod evidence;
mod gaps;
mod largest;
mod must_go;
mod program;
mod snapshot;
mod tiles;
mod verdict;

use eframe::egui::{self, ScrollArea};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use super::PageContext;
use super::found_insights::{ADVICE_COMES, FoundInsights, KnownInsights};
use super::run_part::RunPart;
use super::side_by_side::columns_of_runs_ui;
use super::two_columns::{Column, two_columns_ui};
use crate::analysis::comparison::explanation::GroupedBy;
use crate::systems::poplar::insights::Insights;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, RunId};
use crate::ui::widget::card::card_ui;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;

/// Width from which figures stand beside the advice, points.
const TWO_COLUMNS: f32 = 860.0;
/// Of the width, what advice has beside them.
const ADVICE: f32 = 0.6;

#[derive(Default)]
pub struct InsightsPage {
    changes: change::Changes,
    of_runs: BTreeMap<RunId, InsightsOfRun>,
    /// Kept while a run is not there, for it may be being read again.
    choices: BTreeMap<RunId, Choices>,
}

/// What is chosen on the page of a run.
#[derive(Default)]
struct Choices {
    /// What its peak is divided by.
    by: GroupedBy,
    largest: largest::LargestOf,
    advice: advice::Unfolded,
    snapshot: snapshot::SnapshotChoices,
    program: program::ProgramChoices,
}

#[derive(Default)]
struct InsightsOfRun {
    found: FoundInsights,
    consists: consists::Consists,
    tiles: tiles::Tiles,
    largest: largest::LargestThings,
    snapshot: snapshot::InsightsOfSnapshot,
    program: program::InsightsOfProgram,
}

/// A run with what is chosen on its cards.
struct ChosenPart<'a> {
    part: RunPart<'a>,
    choices: &'a mut Choices,
}

impl<'a> Deref for ChosenPart<'a> {
    type Target = RunPart<'a>;

    fn deref(&self) -> &Self::Target {
        &self.part
    }
}

impl DerefMut for ChosenPart<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.part
    }
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
        columns_of_runs_ui(ui, runs, |ui, run| {
            if runs.len() > 2 {
                self.changes.ui(ui, reference, run);
            }
            let (selection, commands) = (&mut *page.selection, &mut *page.commands);
            let choices = self.choices.entry(run.id).or_default();
            let part = RunPart { run, selection, commands };
            let of_run = self.of_runs.entry(run.id).or_default();
            if run.derived.snapshot().is_some() {
                of_run.snapshot.ui(ui, part, &mut choices.snapshot);
                return;
            }
            if run.derived.program().is_some() {
                of_run.program.ui(ui, part, &mut choices.program);
                return;
            }
            let mut part = ChosenPart { part, choices };
            of_run.ui(ui, &mut part);
        });
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if let Some(choices) = self.choices.remove(&from) {
            self.choices.insert(to, choices);
        }
        // Both run through what was read before.
        self.of_runs.remove(&from);
        self.changes = change::Changes::default();
    }
}

impl InsightsOfRun {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>) {
        if !Needed::Liveness.is_settled(page.report()) {
            absent_ui(ui, "The verdict comes as soon as the small tables are read", "");
            return;
        }
        let Some(known) = self.found.ask(ui.ctx(), page.run) else {
            let why = self.found.failure();
            absent_ui(ui, why.unwrap_or("Working out what the report says"), "");
            return;
        };
        let KnownInsights { found, is_final } = known;
        let area = ScrollArea::vertical().id_salt("insights").auto_shrink(false);
        let area = area.show(ui, |ui| {
            verdict::verdict_ui(ui, page, &found, is_final);
            if ui.available_width() < TWO_COLUMNS {
                advice_column_ui(ui, page, &found, is_final);
                self.figures_ui(ui, page, &found, is_final);
                return;
            }
            two_columns_ui(ui, ADVICE, |ui, column| match column {
                Column::Left => advice_column_ui(ui, page, &found, is_final),
                Column::Right => self.figures_ui(ui, page, &found, is_final),
            });
        });
        scrolled_of_exports(ui, &area);
    }

    fn figures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut ChosenPart<'_>,
        found: &Insights,
        is_final: bool,
    ) {
        verdict::ipus_ui(ui, page, found);
        if is_final {
            must_go::must_go_ui(ui, page, found);
            gaps::gaps_ui(ui, page, found);
        }
        self.consists.ui(ui, page, found);
        self.tiles.ui(ui, page, found);
        self.largest.ui(ui, page, found);
    }
}

/// Advice changes while what it is based on is still being read: until then none is given.
fn advice_column_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    found: &Insights,
    is_final: bool,
) {
    if is_final {
        let advised = (&*found.advice, &*found.not_advised);
        advice::advice_ui(ui, &mut page.part, &mut page.choices.advice, advised);
    } else {
        card_ui(ui, "What to try", |ui| {
            ui.weak(ADVICE_COMES);
        });
    }
    verdict::why_ui(ui, found);
}

/// What of a report the bytes of its peak are divided by.
const OF_BYTES: Needs =
    &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges, Needed::Variables];
