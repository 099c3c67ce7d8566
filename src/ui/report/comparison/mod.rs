//! Comparison: what changed from the reference to another run, and what that consists of.

mod all_runs;
mod explanation;
mod figures;
mod head;
mod matching;
mod options;
mod pair_of_runs;
mod plans;
mod spikes;

use eframe::egui;
use std::sync::Arc;

use super::PageContext;
use crate::analysis::comparison::fullest_tile::gaps_of_fullest;
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::insights::compared::Compared;
use crate::ui::job::{Latest, MadeFor, Same};
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, RunId, Runs};
use crate::ui::widget::choice::{choice_ui, shown_tab_line};
use crate::ui::widget::data_table::DataTable;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::Rows;
use pair_of_runs::PairOfRuns;

const NEEDS: Needs = &[Needed::Debug, Needed::Variables, Needed::TileVariables, Needed::Exchanges];
/// Peaks of each report that are looked at.
const MOST_PEAKS: usize = 1000;

/// What two runs are compared by: their matching, and which parts of both were there. Tables keep what
/// the runs are called, so that belongs to it.
#[derive(Clone, PartialEq)]
struct ComparedKey {
    runs: [RunId; 2],
    titles: [Arc<str>; 2],
    pair: Same<DerivedPair>,
    settled: Vec<[bool; 2]>,
    has_logs: [bool; 2],
}

impl ComparedKey {
    fn of(pair: &PairOfRuns<'_>) -> Self {
        let settled = |needed: &Needed| pair.runs.map(|run| needed.is_settled(&run.report));
        Self {
            runs: pair.runs.map(|run| run.id),
            titles: pair.runs.map(|run| Arc::clone(&run.title)),
            pair: Same(Arc::clone(pair.derived)),
            settled: NEEDS.iter().map(settled).collect(),
            has_logs: pair.runs.map(|run| run.report.logs.is_settled()),
        }
    }

    /// Whether nothing more will come of what is compared.
    fn is_final(&self) -> bool {
        self.settled.iter().chain([&self.has_logs]).flatten().all(|settled| *settled)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    AllRuns,
    Explanation,
    Spikes,
    Plans,
    Figures,
    Options,
    Matching,
}

/// A table whose rows are made again when something else was found.
#[derive(Default)]
struct ComparedTable {
    table: DataTable,
    made: MadeFor<Compared, Arc<dyn Rows>>,
}

#[derive(Default)]
pub struct ComparisonPage {
    /// The run that the reference is compared with; the first after it if none was chosen.
    other: Option<RunId>,
    /// Before one is chosen the first.
    tab: Option<Tab>,
    compared: Latest<ComparedKey, Arc<Compared>>,
    all_runs: all_runs::AllRuns,
    explanation: explanation::Explained,
    spikes: ComparedTable,
    plans: ComparedTable,
    figures: ComparedTable,
    options: ComparedTable,
    matched: matching::MatchingTables,
}

impl RunsPage for ComparisonPage {
    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if self.other == Some(from) {
            self.other = Some(to);
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        let place = runs.compared(self.other);
        let pair = PairOfRuns::of(runs, place);
        if let Some(pair) = &pair {
            self.ask(ui.ctx(), pair);
        }
        let tab = self.tab.filter(|tab| *tab != Tab::AllRuns || runs.len() > 2);
        let tab = tab.unwrap_or(if runs.len() > 2 { Tab::AllRuns } else { Tab::Explanation });
        let is_of_pair =
            |key: &ComparedKey| pair.is_some_and(|pair| key.runs == pair.runs.map(|run| run.id));
        let compared = self.compared.last().filter(|(key, _)| is_of_pair(key));
        let is_final = compared.is_some_and(|(key, _)| key.is_final());
        let compared = compared.map(|(_, compared)| Arc::clone(compared));
        if runs.len() > 2 {
            let mut other = self.other;
            head::title_ui(ui, runs.iter().take(1), |ui| {
                other = choose_ui(ui, runs, place).or(other);
            });
            self.other = other;
            self.tabs_ui(ui, runs, tab, compared.as_deref());
            ui.add_space(2.0);
        }
        if tab == Tab::AllRuns {
            let clicked = self.all_runs.ui(ui, page, runs.get(place).map(|run| run.id));
            self.other = clicked.or(self.other);
            return;
        }
        let (Some(pair), Some(compared)) = (pair, compared) else {
            match (pair, runs.why_not.as_deref()) {
                (None, Some(why_not)) => {
                    absent_ui(ui, "The reports cannot be compared by steps", why_not);
                }
                _ => {
                    let text = self.compared.failure().unwrap_or("The reports are being compared");
                    absent_ui(ui, text, "");
                }
            }
            return;
        };
        if runs.len() == 2 {
            head::title_ui(ui, runs.iter(), |_| {});
        }
        if !is_final && pair.runs.iter().any(|run| run.is_working) {
            ui.weak("Provisional: more of the reports is being read, and figures may change");
        }
        head::changes_ui(ui, &pair, &compared);
        ui.add_space(4.0);
        if runs.len() == 2 {
            self.tabs_ui(ui, runs, tab, Some(&*compared));
            ui.add_space(2.0);
        }
        match tab {
            Tab::AllRuns | Tab::Explanation => self.explanation.ui(ui, page, &pair, &compared),
            Tab::Spikes => spikes::spikes_ui(&mut self.spikes, ui, page, &pair, &compared),
            Tab::Plans => plans::plans_ui(&mut self.plans, ui, page, &pair, &compared),
            Tab::Figures => figures::figures_ui(&mut self.figures, ui, page, &pair, &compared),
            Tab::Options => options::options_ui(&mut self.options, ui, page, &pair, &compared),
            Tab::Matching => self.matched.ui(ui, page, &pair),
        }
    }
}

impl ComparisonPage {
    fn ask(&mut self, ctx: &egui::Context, pair: &PairOfRuns<'_>) {
        let of_runs = pair.runs.map(|run| Arc::clone(&run.derived));
        let derived_pair = Arc::clone(pair.derived);
        let key = ComparedKey::of(pair);
        self.compared.ask("comparison of two reports", ctx, &key, move |cancel| {
            let is_cancelled = || cancel.is_cancelled();
            // What went wrong is among the warnings of the report.
            let gaps = |derived: &Arc<Derived>| gaps_of_fullest(derived.report()).ok().flatten();
            let gaps = of_runs.each_ref().map(gaps);
            let reports = of_runs.each_ref().map(|derived| &**derived);
            Arc::new(Compared::of(reports, &derived_pair, &gaps, MOST_PEAKS, &is_cancelled))
        });
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, shown: Tab, compared: Option<&Compared>) {
        let count = |of: fn(&Compared) -> usize| {
            compared.map_or(String::new(), |compared| format!(" ({})", of(compared)))
        };
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (tab, title) in [
                (Tab::AllRuns, "All runs".to_owned()),
                (Tab::Explanation, "Explanation".to_owned()),
                (Tab::Spikes, "Spikes".to_owned()),
                (Tab::Plans, format!("Changed plans{}", plans_of(compared))),
                (Tab::Figures, "All figures".to_owned()),
                (
                    Tab::Options,
                    format!("Options that differ{}", count(|found| found.options.len())),
                ),
                (Tab::Matching, "Matched and unmatched".to_owned()),
            ] {
                if tab == Tab::AllRuns && runs.len() == 2 {
                    continue;
                }
                let entry = ui.selectable_label(shown == tab, title);
                if entry.clicked() {
                    self.tab = Some(tab);
                }
                if shown == tab {
                    shown_tab_line(ui, &entry);
                }
            }
        });
    }
}

/// How many plans have changed, if that is known.
fn plans_of(compared: Option<&Compared>) -> String {
    let changed = compared.map(|compared| compared.plans.as_ref().map(|plans| plans.changed.len()));
    match changed {
        None => String::new(),
        Some(None) => " (not known)".to_owned(),
        Some(Some(changed)) => format!(" ({changed})"),
    }
}

/// Offers the runs that the reference can be compared with; returns the one that was chosen.
fn choose_ui(ui: &mut egui::Ui, runs: &Runs, place: usize) -> Option<RunId> {
    let mut chosen = place;
    ui.weak("compared with");
    let title = |place: &usize| runs.get(*place).map_or("", |run| &*run.title);
    choice_ui(ui, ("Compare with", 200.0), &mut chosen, 1..runs.len(), title);
    runs.get(chosen).map(|run| run.id).filter(|_| chosen != place)
}
