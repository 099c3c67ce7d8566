//! Summary of two reports: what they are, what differs between them, facts and options side by side.

mod facts;
mod lists;
mod phases;

use std::sync::Arc;

use eframe::egui;
use eframe::egui::{Label, Margin, RichText};

use super::cards::verdict;
use super::settled_parts;
use crate::analysis::comparison::options::{OptionDifference, options};
use crate::store::Report;
use crate::text::{grouped, shortened};
use crate::ui::job::Latest;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::comparison::option_name;
use crate::ui::report::halves::{report_name, side_color};
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use facts::{PairCard, cards_ui, pair_cards};
use lists::PairLists;
use phases::PairPhases;

/// What differs that the head names.
const MOST_NAMED: usize = 5;
/// Longest value there.
const VALUE: usize = 24;

/// What the page remembers.
#[derive(Debug, Default)]
pub struct SummaryPairPage {
    made: Latest<([u32; 2], Units), Made>,
    lists: PairLists,
    phases: PairPhases,
}

/// What a job has found out.
#[derive(Debug)]
struct Made {
    cards: Vec<PairCard>,
    verdicts: [Option<(bool, String)>; 2],
    differences: Vec<OptionDifference>,
}

impl Made {
    fn new(reports: [&Report; 2], units: Units) -> Self {
        let [source, target] = reports;
        Self {
            cards: pair_cards(reports),
            verdicts: reports.map(|report| verdict(report, units)),
            differences: options(source, target),
        }
    }
}

impl SummaryPairPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let reports = [page.report, pair.target];
        let (parts, units) = (reports.map(|report| settled_parts(report)), Units::now(ui));
        let for_job = reports.map(Arc::clone);
        self.made.ask("summary of both", ui.ctx(), &(parts, units), move |_| {
            Made::new(for_job.each_ref().map(|report| &**report), units)
        });
        let made = self.made.last().map(|(_, made)| made);
        head_ui(ui, reports.map(|report| &**report), made);
        self.phases.ui(ui, page, pair);
        let width = (ui.available_width() * 0.5).clamp(420.0, 900.0);
        let most = (ui.available_width() - 300.0).max(300.0);
        split::left(ui, "summary cards of two", width, 300.0..=most, |ui| match made {
            Some(made) => cards_ui(ui, &made.cards),
            None => {
                ui.weak(self.made.failure().unwrap_or("Comparing…"));
            }
        });
        egui::CentralPanel::default()
            .frame(egui::Frame::new().inner_margin(Margin { left: 10, ..Margin::ZERO }))
            .show(ui, |ui| self.lists.ui(ui, page, pair, parts));
    }
}

/// The title, whether either program fits, and what differs in a few words.
fn head_ui(ui: &mut egui::Ui, reports: [&Report; 2], made: Option<&Made>) {
    ui.heading("Summary");
    for side in Side::BOTH {
        ui.horizontal(|ui| {
            ui.label(RichText::new(side.title()).strong().color(side_color(ui, side)));
            ui.weak(shortened(&report_name(side.of(reports)), 40));
            if let Some((fits, text)) =
                made.and_then(|made| side.of(made.verdicts.each_ref()).as_ref())
            {
                let text = RichText::new(text).strong();
                let bad = Tokens::now(ui).bad;
                ui.add(Label::new(if *fits { text } else { text.color(bad) }).truncate());
            }
        });
    }
    ui.horizontal_wrapped(|ui| {
        let Some(made) = made else { return };
        ui.weak("What differs");
        let differences = &made.differences;
        if differences.is_empty() {
            ui.label("no option, version or target");
        }
        for difference in differences.iter().take(MOST_NAMED) {
            ui.add(Label::new(RichText::new(difference_text(difference)).strong()).extend());
            ui.add_space(6.0);
        }
        if let Some(more @ 1..) = differences.len().checked_sub(MOST_NAMED) {
            ui.weak(format!("and {} more", grouped(more as u64)));
        }
    });
    ui.add_space(4.0);
}

/// A difference: `Version of Poplar 3.2.0 → 3.3.0`.
fn difference_text(difference: &OptionDifference) -> String {
    let value = |value: &Option<String>| match value.as_deref() {
        Some("") => "(empty)".to_owned(),
        Some(value) => shortened(value, VALUE).into_owned(),
        None => "–".to_owned(),
    };
    let name = option_name(difference);
    let name = shortened(&name, 60);
    format!("{name} {} → {}", value(&difference.source), value(&difference.target))
}
