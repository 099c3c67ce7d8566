//! Comparison: what changed from the source to the target, and what that consists of.

mod explanation;
mod figures;
mod found;
mod head;
mod matching;
mod options;
mod plans;
mod spikes;

use eframe::egui;
use std::sync::Arc;

use super::PageContext;
use crate::analysis::comparison::matching::Matching;
use crate::store::Report;
use crate::ui::job::Latest;
use crate::ui::legacy::Pair;
use crate::ui::theme::Tokens;
use crate::ui::widget::facts::absent_ui;
use found::Found;
pub use options::name as option_name;

/// The matching's place in memory, and which parts of both reports were there.
type Key = (usize, [[bool; 4]; 2]);

/// What the page shows below its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Explanation,
    Spikes,
    Plans,
    Figures,
    Options,
    Matching,
}

/// What the page remembers.
#[derive(Debug, Default)]
pub struct ComparisonPage {
    found: Latest<Key, Arc<Found>>,
    /// Kept, so that no other can come to lie in its place.
    matching: Option<Arc<Matching>>,
    tab: Tab,
    explanation: explanation::Explained,
    spikes: spikes::Spikes,
    plans: plans::Plans,
    figures: figures::Figures,
    options: options::Options,
    matched: matching::MatchingTables,
}

impl ComparisonPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let Some(matching) = pair.matching else {
            match pair.why_not {
                Some(why_not) => absent_ui(ui, "The reports cannot be compared by steps", why_not),
                None => absent_ui(ui, "The reports are being compared", ""),
            }
            return;
        };
        let (source, target) = (page.report, pair.target);
        let key = (Arc::as_ptr(matching).addr(), [source, target].map(|report| settled(report)));
        self.matching = Some(Arc::clone(matching));
        let (matching, reports) = (Arc::clone(matching), (Arc::clone(source), Arc::clone(target)));
        self.found.ask("comparison of two reports", ui.ctx(), &key, move |cancel| {
            let is_cancelled = || cancel.is_cancelled();
            Arc::new(Found::new(&reports.0, &reports.1, &matching, &is_cancelled))
        });
        let Some((_, found)) = self.found.last() else {
            let text = self.found.failure().unwrap_or("The reports are being compared");
            absent_ui(ui, text, "");
            return;
        };
        let found = Arc::clone(found);
        head::head_ui(ui, page, pair, &found);
        ui.add_space(4.0);
        self.tabs_ui(ui, &found);
        ui.add_space(2.0);
        match self.tab {
            Tab::Explanation => self.explanation.ui(ui, page, &found),
            Tab::Spikes => self.spikes.ui(ui, page, pair, &found),
            Tab::Plans => self.plans.ui(ui, page, &found),
            Tab::Figures => self.figures.ui(ui, page, &found),
            Tab::Options => self.options.ui(ui, page, &found),
            Tab::Matching => self.matched.ui(ui, page, pair),
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, found: &Found) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (tab, title) in [
                (Tab::Explanation, "Explanation".to_owned()),
                (Tab::Spikes, "Spikes".to_owned()),
                (Tab::Plans, format!("Changed plans ({})", found.plans.len())),
                (Tab::Figures, "All figures".to_owned()),
                (Tab::Options, format!("Options that differ ({})", found.options.len())),
                (Tab::Matching, "Matched and unmatched".to_owned()),
            ] {
                let entry = ui.selectable_value(&mut self.tab, tab, title);
                if self.tab == tab {
                    let stroke = egui::Stroke::new(2.0, Tokens::now(ui).accent);
                    let line = entry.rect.x_range().shrink(4.0);
                    ui.painter().hline(line, entry.rect.bottom(), stroke);
                }
            }
        });
    }
}

/// Which of the parts that the comparison goes by are there.
fn settled(report: &Report) -> [bool; 4] {
    [
        report.debug.is_settled(),
        report.variables.is_settled(),
        report.tile_variable_bytes.is_settled(),
        report.exchanges.is_settled(),
    ]
}
