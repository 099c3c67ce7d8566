//! What a change from the reference to another run brought, above the insights of all.

use eframe::egui::{self, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::OF_BYTES;
use crate::analysis::derived::DerivedPair;
use crate::analysis::insights::change::ChangeInsight;
use crate::analysis::insights::compared::changes;
use crate::text::shortened;
use crate::ui::job::{Latest, Same};
use crate::ui::report::found_insights::{are_all, settled};
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;

#[derive(Default)]
pub struct Changes(BTreeMap<RunId, ChangeOfRun>);

/// A change from the reference, and what it brought.
type ChangeOfRun = Latest<ChangeKey, Vec<ChangeInsight>>;

/// The reference, the pair, and which parts of both were there.
type ChangeKey = (RunId, Same<DerivedPair>, [Vec<bool>; 2]);

impl Changes {
    pub fn retain(&mut self, runs: &Runs) {
        self.0.retain(|id, _| runs.position(*id).is_some());
    }

    /// Draws the card of a run, if it is matched with the reference.
    pub fn ui(&mut self, ui: &mut egui::Ui, reference: &Run, run: &Run) {
        let Some(pair) = &run.pair else { return };
        let found = self.0.entry(run.id).or_default();
        let parts = [reference, run].map(|run| settled(&run.report, OF_BYTES));
        let key = (reference.id, Same(Arc::clone(pair)), parts);
        let reports = [reference, run].map(|run| Arc::clone(&run.derived));
        let Same(for_job) = key.1.clone();
        found.ask("what a change brought", ui.ctx(), &key, move |cancel| {
            let reports = reports.each_ref().map(|derived| &**derived);
            changes(reports, &for_job, &|| cancel.is_cancelled())
        });
        let last = found.last().filter(|((from, ..), _)| *from == reference.id);
        let Some(((_, _, parts), changes)) = last else {
            ui.weak(found.failure().unwrap_or("The reports are being compared…"));
            return;
        };
        let units = Units::now(ui);
        let is_final = parts.iter().all(|settled| are_all(settled));
        let provisional = if is_final { "" } else { ", so far: more is being read" };
        let (from, to) = (reference.title_in_text(), run.title_in_text());
        let title = format!("From {from} to {to}{provisional}");
        card_ui(ui, &title, |ui| {
            for change in changes {
                change_ui(ui, change, units);
            }
        });
    }
}

fn change_ui(ui: &mut egui::Ui, change: &ChangeInsight, units: Units) {
    let tokens = *Tokens::now(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        // Less is not always better: the colours are those of a change, the word says the rest.
        let word = match change.is_better {
            Some(true) => Some(("✓ better", tokens.less)),
            Some(false) => Some(("× worse", tokens.more)),
            None => None,
        };
        if let Some((word, color)) = word {
            ui.label(RichText::new(word).font(fonts::semibold(size::BODY)).color(color));
        }
        ui.label(shortened(&format!("{}.", change.what), 400));
        for figure in &change.evidence {
            if let Some(text) = figure.text(&|bytes| units.bytes(bytes)) {
                let text = shortened(&format!("{text}."), 200).into_owned();
                ui.label(RichText::new(text).font(fonts::semibold(size::BODY)));
            }
        }
    });
}
