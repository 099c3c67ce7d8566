//! Comparison: what changed from the reference to another run, and what that consists of.

mod all_runs;
mod explanation;
mod figures;
mod head;
mod matching;
mod options;
mod pair_of_runs;
mod peaks;
mod plans;
mod spikes;
mod waterfall;

use eframe::egui::{self, ScrollArea};
use std::sync::Arc;

use super::PageContext;
use super::glance::curves::Curves;
use super::glance::{Click, Glance, GlanceTable};
use super::head::{alignment_ui, page_head_ui};
use super::two_columns::{Column, two_columns_ui};
use crate::analysis::comparison::fullest_tile::gaps_of_fullest;
use crate::analysis::derived::{Derived, DerivedPair};
use crate::systems::poplar::insights::compared::Compared;
use crate::text::shortened;
use crate::ui::command::Command;
use crate::ui::job::{Latest, MadeFor, Same};
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::widget::choice::{choice_ui, shown_tab_line};
use crate::ui::widget::data_table::DataTable;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::Rows;
use pair_of_runs::PairOfRuns;

const NEEDS: Needs = &[Needed::Debug, Needed::Variables, Needed::TileVariables, Needed::Exchanges];
/// Peaks of each report that are looked at.
const MOST_PEAKS: usize = 1000;

/// Height of the pictures, points; of the frame, title and margin of their cards; and of the size of the change.
const LEAST_PICTURE: f32 = 300.0;
const MOST_PICTURE: f32 = 720.0;
const FRAME: f32 = 76.0;
const CHANGE: f32 = 34.0;
/// Least width of a page that has them beside each other, points, and what of it the curves have.
const BESIDE: f32 = 880.0;
const CURVES: f32 = 0.6;

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    /// The curves of all, and why the peak changed.
    #[default]
    Pictures,
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
    tab: Tab,
    compared: Latest<ComparedKey, Arc<Compared>>,
    glance: GlanceTable,
    curves: Curves,
    why_the_peak: waterfall::WhyThePeak,
    all_runs: all_runs::AllRuns,
    explanation: explanation::Explained,
    spikes: ComparedTable,
    plans: ComparedTable,
    figures: ComparedTable,
    options: ComparedTable,
    matched: matching::MatchingTables,
    peaks: peaks::PeaksPage,
}

impl RunsPage for ComparisonPage {
    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if self.other == Some(from) {
            self.other = Some(to);
        }
        self.peaks.forget();
    }

    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        let place = runs.compared(self.other);
        if peaks::both_of(runs, place).is_some() {
            let glance = self.glance_ui(ui, page, place);
            self.peaks.ui(ui, page, place, &mut self.curves, glance.as_ref());
            return;
        }
        let pair = PairOfRuns::of(runs, place);
        if let Some(pair) = &pair {
            self.ask(ui.ctx(), pair);
        }
        let tab = match self.tab {
            // Of two the table of all says no more than that of the two.
            Tab::AllRuns if runs.len() == 2 => Tab::Pictures,
            tab => tab,
        };
        let is_of_pair =
            |key: &ComparedKey| pair.is_some_and(|pair| key.runs == pair.runs.map(|run| run.id));
        let compared = self.compared.last().filter(|(key, _)| is_of_pair(key));
        let is_final = compared.is_some_and(|(key, _)| key.is_final());
        let compared = compared.map(|(_, compared)| Arc::clone(compared));
        let glance = self.glance_ui(ui, page, place);
        ui.horizontal(|ui| {
            self.tabs_ui(ui, runs, tab, compared.as_deref());
            if compared.is_some() && !is_final && runs.is_working() {
                let so_far = "So far: more of the reports is being read, and figures may change";
                ui.label(fonts::caption(so_far).color(Tokens::now(ui).note));
            }
        });
        ui.add_space(4.0);
        match (tab, pair, compared) {
            (Tab::Pictures, pair, compared) => {
                self.pictures_ui(ui, page, (pair, compared.as_ref()), glance.as_ref());
            }
            (Tab::AllRuns, ..) => {
                let clicked = self.all_runs.ui(ui, page, runs.get(place).map(|run| run.id));
                self.other = clicked.or(self.other);
            }
            (tab, Some(pair), Some(compared)) => self.tab_ui(ui, page, tab, (&pair, &compared)),
            (_, pair, _) => absent(&self.compared, ui, runs, pair.is_some()),
        }
    }
}

impl ComparisonPage {
    /// The head of the page, and all runs at a glance.
    fn glance_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        place: usize,
    ) -> Option<Arc<Glance>> {
        let runs = page.runs;
        let glance = self.glance.ask(ui, runs);
        self.head_ui(ui, page, place, glance.as_ref());
        if let Some(glance) = &glance {
            let chosen = runs.get(place).map(|run| run.id);
            self.other = self.glance.ui(ui, page, glance, (Click::Compares, chosen)).or(self.other);
        }
        glance
    }

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

    /// The answer, and what is compared with what.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        place: usize,
        glance: Option<&Arc<Glance>>,
    ) {
        let runs = page.runs;
        let answer = glance.map(|glance| self.glance.answer(ui, runs, glance).clone());
        let mut other = self.other;
        page_head_ui(ui, "Compare", answer.as_ref(), |ui| {
            GlanceTable::exports_ui(ui, page, glance);
            alignment_ui(ui, page);
            if runs.len() > 2 {
                other = choose_ui(ui, runs, place).or(other);
                ui.weak("with");
            }
            let mut reference = 0;
            let title = |place: &usize| run_text(runs, *place);
            choice_ui(ui, ("Reference", 96.0), &mut reference, 0..runs.len(), title);
            ui.weak("Reference");
            if let Some(run) = runs.get(reference).filter(|_| reference > 0) {
                page.commands.push(Command::MakeReference(run.id));
            }
        });
        self.other = other;
    }

    /// The curves of all runs, why the peak changed, and in words what did.
    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (pair, compared): (Option<PairOfRuns<'_>>, Option<&Arc<Compared>>),
        glance: Option<&Arc<Glance>>,
    ) {
        let height = (ui.available_height() - FRAME).clamp(LEAST_PICTURE, MOST_PICTURE);
        let area = ScrollArea::vertical().id_salt("compared").auto_shrink(false);
        let area = area.show(ui, |ui| {
            let runs = Arc::clone(page.runs);
            let is_wide = ui.available_width() >= BESIDE;
            let mut curves = |ui: &mut egui::Ui| match glance {
                Some(glance) => self.curves.ui(ui, page, glance, height),
                None => drop(ui.weak("Comparing…")),
            };
            let mut exports = Vec::new();
            let mut why = |ui: &mut egui::Ui| match (pair, compared) {
                (Some(pair), Some(compared)) => {
                    let limit = glance.and_then(|glance| glance.limit);
                    let height = height - CHANGE;
                    self.why_the_peak.ui(ui, &pair, compared, (limit, height), &mut exports);
                }
                _ => absent(&self.compared, ui, &runs, pair.is_some()),
            };
            if is_wide {
                two_columns_ui(ui, CURVES, |ui, column| match column {
                    Column::Left => curves(ui),
                    Column::Right => why(ui),
                });
            } else {
                curves(ui);
                why(ui);
            }
            if let (Some(pair), Some(compared)) = (&pair, compared) {
                head::changes_ui(ui, pair, compared);
            }
            page.commands.append(&mut exports);
        });
        scrolled_of_exports(ui, &area);
    }

    fn tab_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tab: Tab,
        (pair, compared): (&PairOfRuns<'_>, &Arc<Compared>),
    ) {
        match tab {
            Tab::Pictures | Tab::AllRuns => {}
            Tab::Explanation => self.explanation.ui(ui, page, pair, compared),
            Tab::Spikes => spikes::spikes_ui(&mut self.spikes, ui, page, pair, compared),
            Tab::Plans => plans::plans_ui(&mut self.plans, ui, page, pair, compared),
            Tab::Figures => figures::figures_ui(&mut self.figures, ui, page, pair, compared),
            Tab::Options => options::options_ui(&mut self.options, ui, page, pair, compared),
            Tab::Matching => self.matched.ui(ui, page, pair),
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, shown: Tab, compared: Option<&Compared>) {
        let count = |of: fn(&Compared) -> usize| {
            compared.map_or(String::new(), |compared| format!(" ({})", of(compared)))
        };
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (tab, title) in [
                (Tab::Pictures, "Curves and peak".to_owned()),
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
                    self.tab = tab;
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

/// Why nothing is said of two runs.
fn absent(
    compared: &Latest<ComparedKey, Arc<Compared>>,
    ui: &mut egui::Ui,
    runs: &Runs,
    is_matched: bool,
) {
    match runs.why_not.as_deref().filter(|_| !is_matched) {
        Some(why_not) => {
            let what = format!("The reports cannot be compared by {}", runs.system().steps);
            absent_ui(ui, &what, why_not);
        }
        None => {
            let text = compared.failure().unwrap_or("The reports are being compared");
            absent_ui(ui, text, "");
        }
    }
}

/// A run in a list: its letter and its name.
fn run_text(runs: &Runs, place: usize) -> String {
    runs.get(place).map_or_else(String::new, |run| {
        format!("{} {}", run.badge.letter, shortened(&run.name, 30))
    })
}

/// Offers the runs that the reference can be compared with; returns the one that was chosen.
fn choose_ui(ui: &mut egui::Ui, runs: &Runs, place: usize) -> Option<RunId> {
    let mut chosen = place;
    let title = |place: &usize| runs.get(*place).map_or("", |run| &*run.title);
    choice_ui(ui, ("Compare with", 96.0), &mut chosen, 1..runs.len(), title);
    runs.get(chosen).map(|run| run.id).filter(|_| chosen != place)
}
