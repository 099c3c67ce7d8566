//! Insights: whether the program fits and why not, what is largest, what must go, what to try next.

mod advice;
mod change;
mod figures;
mod largest;
mod verdict;

use eframe::egui;
use std::sync::Arc;

use eframe::egui::{RichText, ScrollArea};

use super::PageContext;
use crate::analysis::insights::{Insights, insights, insights_with_gaps};
use crate::store::Report;
use crate::ui::job::Latest;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::widget::facts::absent_ui;
pub use change::ChangesPage;

/// Width from which figures stand beside the advice, points.
const TWO_COLUMNS: f32 = 820.0;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct InsightsPage {
    found: Latest<[bool; 6], Arc<Insights>>,
    largest: largest::LargestThings,
}

impl InsightsPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = Arc::clone(page.report);
        let key = settled(&report);
        self.found.ask("insights", ui.ctx(), &key, move |cancel| {
            // Until it is known where on the profile tiles lie, reading them would take too long.
            let found = report
                .variables
                .is_settled()
                .then(|| insights_with_gaps(&report, cancel.progress()));
            // What went wrong is among the warnings of the report.
            Arc::new(found.and_then(Result::ok).unwrap_or_else(|| insights(&report, None)))
        });
        let Some((_, found)) = self.found.last() else {
            absent_ui(ui, self.found.failure().unwrap_or("The report is being looked at"), "");
            return;
        };
        let found = Arc::clone(found);
        ui.horizontal(|ui| {
            ui.heading("Insights");
            if page.is_working {
                ui.weak("more is being read");
            }
        });
        ui.add_space(2.0);
        ScrollArea::vertical().id_salt("insights").auto_shrink(false).show(ui, |ui| {
            verdict::verdict_ui(ui, page, &found);
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

    /// What must go, the tiles, and what is largest.
    fn figures_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, found: &Insights) {
        figures::must_go_ui(ui, page, found);
        figures::tiles_ui(ui, page, found);
        self.largest.ui(ui, page, found);
    }
}

/// Which parts are there that insights are worked out from.
fn settled(report: &Report) -> [bool; 6] {
    [
        report.liveness.is_settled(),
        report.debug.is_settled(),
        report.logs.is_settled(),
        report.tile_variable_bytes.is_settled(),
        report.exchanges.is_settled(),
        report.variables.is_settled(),
    ]
}

/// A card with a title.
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
