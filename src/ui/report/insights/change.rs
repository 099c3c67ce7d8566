//! The conclusions of the change from the reference to another run, above the insights of all.

use eframe::egui;
use std::collections::BTreeMap;

use crate::run::Room;
use crate::ui::report::runs_compared::{AskedComparison, of_one_system};
use crate::ui::runs::{Run, RunId, Runs};

#[derive(Default)]
pub struct AskedComparisons {
    of_runs: BTreeMap<RunId, AskedComparison>,
}

impl AskedComparisons {
    pub fn retain(&mut self, runs: &Runs) {
        self.of_runs.retain(|id, _| runs.position(*id).is_some());
    }

    /// Draws the card of a run, if it can be compared with the reference.
    pub fn ui(&mut self, ui: &mut egui::Ui, reference: &Run, run: &Run) {
        let both = of_one_system(reference, run).filter(|_| run.id != reference.id);
        let Some(both) = both else { return };
        if run.report.system.are_steps_matched && run.pair.is_none() {
            return;
        }
        let asked = self.of_runs.entry(run.id).or_default();
        match asked.ask(ui.ctx(), both, None) {
            Some(Ok(found)) => {
                let provisional =
                    if found.is_final { "" } else { ", provisional: more is being read" };
                let [from, to] = both.map(Run::title_in_text);
                let title = format!("From {from} to {to}{provisional}");
                asked.words_ui(ui, &title, &found, Room::default());
            }
            Some(Err(_)) => {}
            None => drop(ui.weak(asked.failure().unwrap_or("The runs are being compared…"))),
        }
    }
}
