//! The tree of programs: what runs what, and of each program what it uses, what it is of, and when it runs.

mod inspector;
mod list;
mod of_run;
mod search;
mod sheet;
mod usage;
mod words;

use eframe::egui;
use std::collections::BTreeMap;

use super::PageContext;
use super::head::page_head_with_ui;
use super::run_part::RunPart;
use super::side_by_side::columns_of_runs_ui;
use crate::ui::pages::RunsPage;
use crate::ui::runs::RunId;
use of_run::ProgramsOfRun;

#[derive(Default)]
pub struct ProgramsPage {
    /// What is looked for in all runs.
    text: String,
    of_runs: BTreeMap<RunId, ProgramsOfRun>,
}

impl RunsPage for ProgramsPage {
    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if let Some(of_run) = self.of_runs.remove(&from) {
            self.of_runs.insert(to, of_run.read_again());
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        self.of_runs.retain(|id, _| runs.position(*id).is_some());
        let reference = runs.reference();
        let first = self.of_runs.entry(reference.id).or_default();
        let mut is_next = None;
        page_head_with_ui(
            ui,
            "Programs",
            None,
            |ui| {
                if runs.is_one() {
                    first.counts_ui(ui, reference);
                }
            },
            |ui| is_next = search::field_ui(ui, &mut self.text),
        );
        let slot = page.selection.slot(runs);
        columns_of_runs_ui(ui, runs, |ui, run| {
            let place = runs.position(run.id).unwrap_or(0);
            let of_axis = slot.and_then(|slot| runs.axis()?.step(place, slot));
            let step = page.selection.step_of(run.id).or(of_axis);
            let (selection, commands) = (&mut *page.selection, &mut *page.commands);
            let mut part = RunPart { run, selection, commands };
            let of_run = self.of_runs.entry(run.id).or_default();
            // The others follow by the step that is selected.
            let asked = is_next.filter(|_| run.id == reference.id);
            of_run.ui(ui, &mut part, &mut self.text, step, asked);
        });
    }
}
