//! What a change from the reference to another run brought, above the insights of all.

use eframe::egui::{self, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::card_ui;
use crate::analysis::derived::DerivedPair;
use crate::analysis::figures::difference::Difference;
use crate::analysis::insights::change::ChangeInsight;
use crate::analysis::insights::compared::changes;
use crate::text::{grouped, shortened};
use crate::ui::job::{Latest, Same};
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::{percent_text, signed};

#[derive(Default)]
pub struct Changes(BTreeMap<RunId, ChangeOfRun>);

/// A change from the reference, and what it brought.
type ChangeOfRun = Latest<(RunId, Same<DerivedPair>), Vec<ChangeInsight>>;

impl Changes {
    pub fn retain(&mut self, runs: &Runs) {
        self.0.retain(|id, _| runs.position(*id).is_some());
    }

    /// Draws the card of a run, if it is matched with the reference.
    pub fn ui(&mut self, ui: &mut egui::Ui, reference: &Run, run: &Run) {
        let Some(pair) = &run.pair else { return };
        let found = self.0.entry(run.id).or_default();
        let key = (reference.id, Same(Arc::clone(pair)));
        let reports = [reference, run].map(|run| Arc::clone(&run.derived));
        let Same(for_job) = key.1.clone();
        found.ask("what a change brought", ui.ctx(), &key, move |cancel| {
            let reports = reports.each_ref().map(|derived| &**derived);
            changes(reports, &for_job, &|| cancel.is_cancelled())
        });
        let Some((_, changes)) = found.last().filter(|((from, _), _)| *from == reference.id) else {
            ui.weak(found.failure().unwrap_or("The reports are being compared…"));
            return;
        };
        let units = Units::now(ui);
        let title = format!("From {} to {}", reference.title_in_text(), run.title_in_text());
        card_ui(ui, &title, |ui| {
            if changes.is_empty() {
                ui.weak("Neither memory nor cycles have changed");
            }
            for change in changes {
                change_ui(ui, change, units);
            }
        });
    }
}

fn change_ui(ui: &mut egui::Ui, change: &ChangeInsight, units: Units) {
    let tokens = *Tokens::now(ui);
    ui.horizontal_wrapped(|ui| {
        let is_same = |difference: &Option<Difference>| {
            difference.is_none_or(|difference| difference.change() == Some(0))
        };
        let (word, color) = match change.is_better {
            _ if is_same(&change.bytes) && is_same(&change.cycles) => ("same", tokens.weak_text),
            true => ("better", tokens.base),
            false => ("worse", tokens.bad),
        };
        ui.label(RichText::new(word).strong().color(color));
        ui.label(shortened(&change.what, 300));
        let figures = [(change.bytes, true), (change.cycles, false)];
        for (difference, is_bytes) in figures {
            let Some(difference) = difference else { continue };
            let Some(by) = difference.change().filter(|by| *by != 0) else { continue };
            let shown = |number: u64| if is_bytes { units.bytes(number) } else { grouped(number) };
            let percent = difference
                .percent()
                .map_or(String::new(), |percent| format!(" ({})", percent_text(percent)));
            ui.strong(format!("{}{percent}", signed(by, shown)));
        }
    });
}
