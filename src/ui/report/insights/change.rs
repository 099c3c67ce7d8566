//! What a change from the reference to another run brought, above the insights of all.

use eframe::egui::{self, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::OF_BYTES;
use crate::analysis::derived::DerivedPair;
use crate::run::{Conclusion, Room};
use crate::text::shortened;
use crate::ui::job::{Latest, Same};
use crate::ui::report::found_insights::{are_all, settled};
use crate::ui::report::peaks_compared::{FoundPeaks, with_peaks};
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;

#[derive(Default)]
pub struct Changes {
    of_runs: BTreeMap<RunId, ChangeOfRun>,
    /// Of runs whose steps are not matched.
    of_peaks: BTreeMap<RunId, FoundPeaks>,
}

/// A change from the reference, and what it brought.
type ChangeOfRun = Latest<ChangeKey, Vec<Conclusion>>;

/// The reference, the pair, which parts of both were there, and how bytes are written.
type ChangeKey = (RunId, Same<DerivedPair>, [Vec<bool>; 2], Units);

impl Changes {
    pub fn retain(&mut self, runs: &Runs) {
        self.of_runs.retain(|id, _| runs.position(*id).is_some());
        self.of_peaks.retain(|id, _| runs.position(*id).is_some());
    }

    /// Draws the card of a run, if it is matched with the reference, or both are compared by their peaks.
    pub fn ui(&mut self, ui: &mut egui::Ui, reference: &Run, run: &Run) {
        if let Some(both) = with_peaks(reference, run) {
            self.of_peaks_ui(ui, both);
            return;
        }
        let Some(pair) = &run.pair else { return };
        let found = self.of_runs.entry(run.id).or_default();
        let parts = [reference, run].map(|run| settled(&run.report, OF_BYTES));
        let units = Units::now(ui);
        let key = (reference.id, Same(Arc::clone(pair)), parts, units);
        let reports = [reference, run].map(|run| Arc::clone(&run.derived));
        let Same(for_job) = key.1.clone();
        found.ask("what a change brought", ui.ctx(), &key, move |cancel| {
            let reports = reports.each_ref().map(|derived| &**derived);
            let both = (reports, &*for_job);
            let size = |bytes: u64| units.bytes(bytes);
            let answers = reports[1].answers();
            answers.matched_changes(both, &size, &|| cancel.is_cancelled())
        });
        let last = found.last().filter(|((from, ..), _)| *from == reference.id);
        let Some(((_, _, parts, _), changes)) = last else {
            ui.weak(found.failure().unwrap_or("The reports are being compared…"));
            return;
        };
        let is_final = parts.iter().all(|settled| are_all(settled));
        let provisional = if is_final { "" } else { ", so far: more is being read" };
        let title = format!("{}{provisional}", title_of([reference, run]));
        card_ui(ui, &title, |ui| {
            for change in changes {
                change_ui(ui, change);
            }
        });
    }

    fn of_peaks_ui(&mut self, ui: &mut egui::Ui, both: [&Run; 2]) {
        let found = self.of_peaks.entry(both[1].id).or_default();
        match found.ask(ui.ctx(), both, None) {
            Some(Ok(compared)) => {
                found.words_ui(ui, &title_of(both), &compared, Room::default());
            }
            Some(Err(_)) => {}
            None => drop(ui.weak(found.failure().unwrap_or("The runs are being compared…"))),
        }
    }
}

fn title_of([from, to]: [&Run; 2]) -> String {
    format!("From {} to {}", from.title_in_text(), to.title_in_text())
}

fn change_ui(ui: &mut egui::Ui, change: &Conclusion) {
    let tokens = *Tokens::now(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        // Less is not always better: the colors are those of a change, the word says the rest.
        let word = match change.is_better {
            Some(true) => Some(("✓ better", tokens.less)),
            Some(false) => Some(("× worse", tokens.more)),
            None => None,
        };
        if let Some((word, color)) = word {
            ui.label(RichText::new(word).font(fonts::semibold(size::BODY)).color(color));
        }
        ui.label(shortened(&format!("{}.", change.text), 400));
        for figure in &change.evidence {
            let text = shortened(&format!("{}.", figure.text), 200).into_owned();
            ui.label(RichText::new(text).font(fonts::semibold(size::BODY)));
        }
    });
}
