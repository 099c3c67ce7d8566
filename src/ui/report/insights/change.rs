//! What a change between two reports brought, above the insights of both.

use eframe::egui;
use eframe::egui::RichText;
use std::sync::Arc;

use super::card_ui;
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::difference::Difference;
use crate::analysis::comparison::explanation::explain_peak;
use crate::analysis::comparison::matching::Matching;
use crate::analysis::insights::change::{ChangeInsight, change_insights};
use crate::analysis::liveness::Scope;
use crate::text::{grouped, shortened};
use crate::ui::job::{Latest, Same};
use crate::ui::legacy::Pair;
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::{percent_text, signed};

/// What the card remembers.
#[derive(Debug, Default)]
pub struct ChangesPage {
    found: Latest<Same<Matching>, Arc<Vec<ChangeInsight>>>,
}

impl ChangesPage {
    /// Draws the card.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &PageContext<'_>, pair: &Pair<'_>) {
        let Some(matching) = pair.matching else { return };
        let (source, target) = (Arc::clone(page.report), Arc::clone(pair.target));
        let matched = Arc::clone(matching);
        self.found.ask(
            "what a change brought",
            ui.ctx(),
            &Same(Arc::clone(matching)),
            move |cancel| {
                let attribution = Attribution::of(&source, &target, &matched);
                let is_cancelled = || cancel.is_cancelled();
                let scope = Scope::Everything;
                let peak = explain_peak(&source, &target, &attribution, scope, &is_cancelled);
                Arc::new(change_insights(&source, &target, peak.as_ref()))
            },
        );
        let Some((_, found)) = self.found.last() else {
            ui.weak(self.found.failure().unwrap_or("The reports are being compared…"));
            return;
        };
        let units = Units::now(ui);
        card_ui(ui, "From source to target", |ui| {
            if found.is_empty() {
                ui.weak("Neither memory nor cycles have changed");
            }
            for change in found.iter() {
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
