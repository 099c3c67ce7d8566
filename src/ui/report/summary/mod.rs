//! Summary: the machine, the graph, the totals, the files, all options, and the compiler's phases.

mod cards;
mod lists;
pub mod pair;
mod phases;

use eframe::egui;
use eframe::egui::{Margin, RichText};

use super::PageContext;
use crate::store::Report;
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::facts::facts_ui;
use cards::{Card, cards, verdict};
use lists::Lists;
use phases::Phases;

/// Width from which the cards stand in two columns, points.
pub const TWO_COLUMNS: f32 = 660.0;
/// Between the columns, points.
pub const COLUMN_GAP: f32 = 8.0;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct SummaryPage {
    made: Option<Made>,
    lists: Lists,
    phases: Phases,
}

/// The cards, with what they were made from.
#[derive(Debug)]
struct Made {
    parts: u32,
    units: Units,
    cards: Vec<Card>,
    verdict: Option<(bool, String)>,
}

impl SummaryPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let (parts, units) = (settled_parts(report), Units::now(ui));
        if self.made.as_ref().is_none_or(|made| made.parts != parts || made.units != units) {
            let (cards, verdict) = (cards(report, units), verdict(report, units));
            self.made = Some(Made { parts, units, cards, verdict });
        }
        self.head_ui(ui);
        self.phases.ui(ui, page);
        let share = if ui.available_width() < 800.0 { 0.46 } else { 0.52 };
        let width = (ui.available_width() * share).clamp(240.0, 900.0);
        let most = (ui.available_width() - 300.0).max(240.0);
        split::left(ui, "summary cards", width, 240.0..=most, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                if let Some(made) = &self.made {
                    cards_ui(ui, &made.cards);
                }
            });
        });
        egui::CentralPanel::default()
            .frame(egui::Frame::new().inner_margin(Margin { left: 10, ..Margin::ZERO }))
            .show(ui, |ui| self.lists.ui(ui, page, parts));
    }

    /// The title, and whether the program fits.
    fn head_ui(&self, ui: &mut egui::Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.heading("Summary");
            if let Some((fits, text)) = self.made.as_ref().and_then(|made| made.verdict.as_ref()) {
                ui.add_space(8.0);
                let text = RichText::new(text).strong();
                let bad = Tokens::now(ui).bad;
                ui.label(if *fits { text } else { text.color(bad) });
            }
        });
        ui.add_space(4.0);
    }
}

/// Cards below each other, in two columns where there is room.
fn cards_ui(ui: &mut egui::Ui, cards: &[Card]) {
    if ui.available_width() < TWO_COLUMNS {
        for (title, facts) in cards {
            facts_ui(ui, title, facts);
        }
        return;
    }
    ui.spacing_mut().item_spacing.x = COLUMN_GAP;
    ui.columns_const(|columns: &mut [egui::Ui; 2]| {
        for (index, (title, facts)) in cards.iter().enumerate() {
            if let Some(ui) = columns.get_mut(index % 2) {
                facts_ui(ui, title, facts);
            }
        }
    });
}

/// A number that changes whenever more of the report is there.
pub fn settled_parts(report: &Report) -> u32 {
    [
        report.about.is_settled(),
        report.target.is_settled(),
        report.graph.is_settled(),
        report.memory.is_settled(),
        report.liveness.is_settled(),
        report.execution.is_settled(),
        report.debug.is_settled(),
        report.variables.is_settled(),
    ]
    .into_iter()
    .fold(1, |bits, is_settled| bits << 1 | u32::from(is_settled))
}
