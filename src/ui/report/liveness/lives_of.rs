//! The run whose lifetimes are shown: one choice for the bars below the curve and for the table.

use eframe::egui::{self, ComboBox};

use super::timelines::SlotTimelines;
use crate::text::shortened;
use crate::ui::report::moment::Moment;
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{RunId, Runs};

/// Longest title of a run.
const TITLE: usize = 24;

#[derive(Default)]
pub struct LivesOf(Option<RunId>);

impl LivesOf {
    /// Its place; without a choice the first run that has a step at the moment, or where each is at its own peak the one
    /// that is looked at first.
    pub fn place(&self, runs: &Runs, timelines: &SlotTimelines, moment: &Moment) -> usize {
        let chosen = self.0.and_then(|id| runs.position(id));
        let highest = moment.slot.is_none().then(|| timelines.highest_run());
        let is_there = |place: &usize| moment.step_there(*place).is_some();
        let first = || highest.filter(is_there).or_else(|| (0..runs.len()).find(is_there));
        chosen.or_else(first).unwrap_or(0)
    }

    /// Offers the runs, behind the badge of the one that is shown; nothing of one run.
    pub fn ui(&mut self, ui: &mut egui::Ui, name: &str, runs: &Runs, place: usize) {
        let Some(run) = runs.get(place).filter(|_| !runs.is_one()) else { return };
        badge_ui(ui, run.badge);
        let combo = ComboBox::from_id_salt(name).selected_text(shortened(&run.name, TITLE));
        let combo = combo.show_ui(ui, |ui| {
            for other in runs.iter() {
                ui.horizontal(|ui| {
                    badge_ui(ui, other.badge);
                    let name = shortened(&other.name, TITLE);
                    if ui.selectable_label(other.id == run.id, name).clicked() {
                        self.0 = Some(other.id);
                        ui.close();
                    }
                });
            }
        });
        combo.response.accessible_name(name);
    }

    /// Goes on with a run under another name.
    pub fn rename(&mut self, from: RunId, to: RunId) {
        if self.0 == Some(from) {
            self.0 = Some(to);
        }
    }
}
