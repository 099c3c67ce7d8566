//! Insights: whether the program fits and why not, what is largest, what must go, what to try next.

mod advice;
mod change;
mod consists;
mod evidence;
mod gaps;
mod largest;
mod must_go;
mod tiles;
mod verdict;

use eframe::egui::{self, Rect, ScrollArea, UiBuilder};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::PageContext;
use super::side_by_side::columns_of_runs_ui;
use crate::analysis::insights::{Insights, insights_of_resident, insights_with_tiles};
use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::ui::command::{Command, Page};
use crate::ui::job::Latest;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Run, RunId, StepAt};
use crate::ui::selection::Selection;
use crate::ui::theme::BETWEEN_CARDS;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::facts::absent_ui;

/// Width from which figures stand beside the advice, points.
const TWO_COLUMNS: f32 = 860.0;
/// Of the width, what advice has beside them.
const ADVICE: f32 = 0.6;
/// What of a report insights are worked out from, besides logs.
const NEEDS: Needs = &[Needed::Liveness, Needed::Debug, Needed::Exchanges];

#[derive(Default)]
pub struct InsightsPage {
    changes: change::Changes,
    of_runs: BTreeMap<RunId, InsightsOfRun>,
}

#[derive(Default)]
struct InsightsOfRun {
    found: Latest<Vec<bool>, Arc<Insights>>,
    advice: advice::AdviceCards,
    consists: consists::Consists,
    largest: largest::LargestThings,
}

struct RunPart<'a> {
    run: &'a Run,
    selection: &'a mut Selection,
    commands: &'a mut Vec<Command>,
}

impl RunPart<'_> {
    fn report(&self) -> &Arc<Report> {
        &self.run.report
    }

    fn show_step(&mut self, step: usize) {
        self.selection.steps = vec![StepAt { run: self.run.id, step }];
        self.commands.push(Command::Go(Page::Liveness));
    }

    fn show_variable(&mut self, name: &str) {
        self.selection.select_variable(Some(name.to_owned()));
        self.commands.push(Command::Go(Page::Liveness));
    }

    fn show_tiles(&mut self, tiles: TileSelection) {
        self.selection.tiles = tiles;
        self.commands.push(Command::Go(Page::Memory));
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
            let mut part = RunPart { run, selection, commands };
            self.of_runs.entry(run.id).or_default().ui(ui, &mut part);
        });
    }
}

impl InsightsOfRun {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut RunPart<'_>) {
        let derived = Arc::clone(&page.run.derived);
        let key = settled(page.report(), NEEDS);
        let is_final = are_all(&key);
        if !Needed::Liveness.is_settled(page.report()) {
            absent_ui(ui, "The verdict comes as soon as the small tables are read", "");
            return;
        }
        self.found.ask("insights", ui.ctx(), &key, move |cancel| {
            let found = is_final.then(|| insights_with_tiles(&derived, cancel.progress()));
            // What went wrong is among the warnings of the report.
            let found = found.and_then(Result::ok);
            Arc::new(found.unwrap_or_else(|| insights_of_resident(&derived)))
        });
        let Some((of, found)) = self.found.last() else {
            let why = self.found.failure();
            absent_ui(ui, why.unwrap_or("Working out what the report says"), "");
            return;
        };
        let (is_final, found) = (are_all(of), Arc::clone(found));
        ScrollArea::vertical().id_salt("insights").auto_shrink(false).show(ui, |ui| {
            verdict::verdict_ui(ui, page, &found, is_final);
            if ui.available_width() < TWO_COLUMNS {
                self.advice_ui(ui, page, &found, is_final);
                self.figures_ui(ui, page, &found, is_final);
                return;
            }
            let space = ui.available_rect_before_wrap();
            let middle = space.left() + (space.width() - BETWEEN_CARDS) * ADVICE;
            let columns = [space.left()..=middle, middle + BETWEEN_CARDS..=space.right()];
            let [left, right] = columns.map(|x| Rect::from_x_y_ranges(x, space.y_range()));
            let mut column = |ui: &mut egui::Ui, rect: Rect, is_advice: bool| {
                let builder = UiBuilder::new().id_salt(is_advice).max_rect(rect);
                ui.scope_builder(builder, |ui| match is_advice {
                    true => self.advice_ui(ui, page, &found, is_final),
                    false => self.figures_ui(ui, page, &found, is_final),
                });
            };
            column(ui, left, true);
            column(ui, right, false);
        });
    }

    /// Advice changes while what it is based on is still being read: until then none is given.
    fn advice_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut RunPart<'_>,
        found: &Insights,
        is_final: bool,
    ) {
        if is_final {
            self.advice.ui(ui, page, found);
        } else {
            card_ui(ui, "What to try", |ui| {
                ui.weak("Advice comes when the operations are read; whether it fits will not change");
            });
        }
        verdict::why_ui(ui, found);
    }

    fn figures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut RunPart<'_>,
        found: &Insights,
        is_final: bool,
    ) {
        verdict::ipus_ui(ui, page, found);
        if is_final {
            must_go::must_go_ui(ui, page, found);
            gaps::gaps_ui(ui, found);
        }
        self.consists.ui(ui, page, found);
        tiles::tiles_ui(ui, page, found);
        self.largest.ui(ui, page, found);
    }
}

/// What of a report the bytes of its peak are divided by.
const OF_BYTES: Needs =
    &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges, Needed::Variables];

/// Whether nothing more will come of some parts ([`settled`]).
fn are_all(settled: &[bool]) -> bool {
    settled.iter().all(|settled| *settled)
}

/// Which parts are there, logs first.
fn settled(report: &Report, needs: Needs) -> Vec<bool> {
    let parts = needs.iter().map(|needed| needed.is_settled(report));
    std::iter::once(report.logs.is_settled()).chain(parts).collect()
}
