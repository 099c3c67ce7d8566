//! Insights: whether the program fits and why not, what is largest, what must go, what to try next.

mod advice;
mod change;
mod figures;
mod largest;
mod verdict;

use eframe::egui::{self, RichText, ScrollArea};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::PageContext;
use super::side_by_side::columns_of_runs_ui;
use crate::analysis::insights::{Insights, OfTiles, insights, insights_with_tiles};
use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::ui::command::{Command, Page};
use crate::ui::job::Latest;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Run, RunId, StepAt};
use crate::ui::selection::Selection;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::widget::facts::absent_ui;

/// Width from which figures stand beside the advice, points.
const TWO_COLUMNS: f32 = 820.0;
/// What of a report insights are worked out from, besides logs.
const NEEDS: Needs =
    &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges, Needed::Variables];

#[derive(Default)]
pub struct InsightsPage {
    changes: change::Changes,
    of_runs: BTreeMap<RunId, InsightsOfRun>,
}

#[derive(Default)]
struct InsightsOfRun {
    found: Latest<[bool; 6], Arc<Insights>>,
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
        self.selection.variable = Some(name.to_owned());
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
        let key = settled(page.report());
        self.found.ask("insights", ui.ctx(), &key, move |cancel| {
            let found = insights_with_tiles(&derived, cancel.progress());
            // What went wrong is among the warnings of the report.
            Arc::new(found.unwrap_or_else(|_| insights(&derived, OfTiles::default())))
        });
        let Some((_, found)) = self.found.last() else {
            absent_ui(ui, self.found.failure().unwrap_or("The report is being looked at"), "");
            return;
        };
        let found = Arc::clone(found);
        ui.horizontal(|ui| {
            ui.heading("Insights");
            if page.run.is_working {
                ui.weak("more is being read");
            }
        });
        ui.add_space(2.0);
        ScrollArea::vertical().id_salt("insights").auto_shrink(false).show(ui, |ui| {
            verdict::verdict_ui(ui, page, &found);
            verdict::ipus_ui(ui, page, &found);
            let width = ui.available_width();
            if width < TWO_COLUMNS {
                advice::advice_ui(ui, page, &found);
                self.figures_ui(ui, page, &found);
                return;
            }
            ui.columns_const(|[left, right]: &mut [egui::Ui; 2]| {
                advice::advice_ui(left, page, &found);
                self.figures_ui(right, page, &found);
            });
        });
    }

    fn figures_ui(&mut self, ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
        figures::must_go_ui(ui, page, found);
        figures::tiles_ui(ui, page, found);
        self.largest.ui(ui, page, found);
    }
}

/// Which parts are there that insights are worked out from.
fn settled(report: &Report) -> [bool; 6] {
    let mut settled = [report.logs.is_settled(); 6];
    for (is_settled, needed) in settled.iter_mut().zip(NEEDS) {
        *is_settled = needed.is_settled(report);
    }
    settled
}

fn card_ui(ui: &mut egui::Ui, title: &str, contents: impl FnOnce(&mut egui::Ui)) {
    card_frame(Tokens::now(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
            ui.label(RichText::new(title).strong().size(15.0));
            ui.add_space(2.0);
            contents(ui);
        });
    });
    ui.add_space(6.0);
}
