//! Comparison: what changed from the reference to another run, and what that consists of.

mod all_runs;
mod cards;
mod explanation;
mod figures;
mod matching;
mod options;
mod pair_of_runs;
mod plans;
mod spikes;
mod waterfall;

use eframe::egui::{self, ScrollArea};
use std::sync::Arc;

use self::pair_of_runs::PairOfRuns;
use super::PageContext;
use super::glance::curves::Curves;
use super::glance::{ClickEffect, Glance, GlanceTable};
use super::head::{alignment_ui, page_head_ui};
use super::runs_compared::{AskedComparison, PeakTable, RunsCompared, devices_of, of_one_system};
use super::two_columns::{PageColumn, two_columns_ui};
use crate::run::compared::ComparedWords;
use crate::ui::card_fields::{device_ui, fields_row_ui, takes_capacity};
use crate::ui::command::Command;
use crate::ui::job::MadeFor;
use crate::ui::pages::RunsPage;
use crate::ui::run_chips::elided;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::widget::choice::{choice_ui, shown_tab_line};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::Rows;

/// Height of the pictures, points; of the frame, title and margin of their cards; and of the size of the change.
const LEAST_PICTURE: f32 = 300.0;
const MOST_PICTURE: f32 = 720.0;
const FRAME: f32 = 76.0;
const CHANGE: f32 = 34.0;
/// Least width of a page that has them beside each other, points, and what of it the curves have; what figures have of
/// it, and the least width of a page that has them beside the settings.
const BESIDE: f32 = 880.0;
const CURVES: f32 = 0.6;
const FIGURES: f32 = 0.6;
const FIGURES_BESIDE: f32 = 760.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ComparisonTab {
    /// The curves of all, and why the peak changed.
    #[default]
    Pictures,
    AllRuns,
    /// A table of what is alive at the peaks, by its place among those of the system.
    Peaks(usize),
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
    made: MadeFor<RunsCompared, Arc<dyn Rows>>,
}

#[derive(Default)]
pub struct ComparisonPage {
    /// The run that the reference is compared with; the first after it if none was chosen.
    other: Option<RunId>,
    tab: ComparisonTab,
    /// The number of the device; `None` is the one that says most.
    device: Option<i64>,
    compared: AskedComparison,
    glance: GlanceTable,
    curves: Curves,
    why_the_peak: waterfall::WhyThePeak,
    all_runs: all_runs::AllRuns,
    peaks: [DataTable; 2],
    explanation: explanation::ExplanationTab,
    spikes: ComparedTable,
    plans: ComparedTable,
    figures: ComparedTable,
    options: ComparedTable,
    matched: matching::MatchingTables,
}

/// The reference and the run that it is compared with, and what was found of them.
#[derive(Clone, Copy)]
struct ComparedPair<'a> {
    both: [&'a Run; 2],
    /// Where their steps are matched.
    pair: Option<PairOfRuns<'a>>,
    found: Option<&'a Arc<RunsCompared>>,
}

impl RunsPage for ComparisonPage {
    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if self.other == Some(from) {
            self.other = Some(to);
        }
        self.compared = AskedComparison::default();
        self.peaks = <[DataTable; 2]>::default();
    }

    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let place = runs.compared(self.other);
        let both = runs.get(place).and_then(|other| of_one_system(runs.reference(), other));
        let device = self.device;
        let asked = both.and_then(|both| self.compared.ask(ui.ctx(), both, device));
        let glance = self.glance_ui(ui, page, place);
        let Some(both) = both else {
            let why_not = runs.why_not.as_deref().unwrap_or_default();
            absent_ui(ui, "These runs cannot be compared", why_not);
            return;
        };
        let why_not = asked.as_ref().and_then(|found| found.as_ref().err().cloned());
        let found = asked.and_then(Result::ok);
        let pair = PairOfRuns::of(&runs, place);
        let shown = ComparedPair { both, pair, found: found.as_ref() };
        let (words, devices) = devices_of(both);
        let tabs = tabs(&runs, words, shown);
        // Another run, or another system, may not have it.
        let tab = match self.tab {
            tab if tabs.iter().any(|(other, _)| *other == tab) => tab,
            _ => ComparisonTab::Pictures,
        };
        ui.horizontal(|ui| {
            self.tabs_ui(ui, &tabs, tab);
            if found.as_ref().is_some_and(|found| !found.is_final) && runs.is_working() {
                let so_far =
                    "Provisional: more of the reports is being read, and figures may change";
                ui.label(fonts::caption(so_far).color(Tokens::now(ui).note));
            }
        });
        // Those that were read again may have others.
        self.device = self.device.filter(|device| devices.contains_key(device));
        let has_room = takes_capacity(&runs.reference().report);
        if has_room || devices.len() > 1 {
            fields_row_ui(ui, |ui| {
                if devices.len() > 1 {
                    device_ui(ui, words.device, &mut self.device, &devices);
                }
                if has_room {
                    page.room.ui(ui);
                }
            });
        }
        ui.add_space(4.0);
        match (tab, &why_not) {
            (ComparisonTab::AllRuns, _) => {
                let clicked = self.all_runs.ui(ui, page, runs.get(place).map(|run| run.id));
                self.other = clicked.or(self.other);
            }
            (_, Some(why_not)) => absent_ui(ui, why_not, ""),
            (ComparisonTab::Pictures, None) => self.pictures_ui(ui, page, shown, glance.as_ref()),
            (tab, None) => self.tab_ui(ui, page, tab, shown),
        }
    }
}

/// Which of several runs a difference is between: ", A → B"; nothing where there are only two.
fn of_pair(runs: &Runs, both: [&Run; 2]) -> String {
    let [source, target] = both.map(|run| run.badge.letter);
    if runs.len() > 2 { format!(", {source} → {target}") } else { String::new() }
}

/// The tabs with their titles.
fn tabs(
    runs: &Runs,
    words: &ComparedWords,
    shown: ComparedPair<'_>,
) -> Vec<(ComparisonTab, String)> {
    let are_matched = runs.system().are_steps_matched;
    let found = shown.found;
    let matched = found.and_then(|found| found.matched());
    let options =
        found.map_or_else(String::new, |found| format!(" ({})", found.compared.settings.len()));
    let of_pair = of_pair(runs, shown.both);
    let plans = match matched.map(|matched| matched.plans.as_ref()) {
        None => String::new(),
        Some(None) => " (not known)".to_owned(),
        Some(Some(plans)) => format!(" ({})", plans.changed.len()),
    };
    let mut tabs = vec![(ComparisonTab::Pictures, "Curves and peak".to_owned())];
    if are_matched {
        // Of two the table of all says no more than that of the two.
        tabs.extend((runs.len() > 2).then(|| (ComparisonTab::AllRuns, "All runs".to_owned())));
        tabs.push((ComparisonTab::Explanation, "Explanation".to_owned()));
        tabs.push((ComparisonTab::Spikes, "Spikes".to_owned()));
        tabs.push((ComparisonTab::Plans, format!("Changed plans{of_pair}{plans}")));
    } else {
        let of_peaks = words.tabs.iter().enumerate();
        tabs.extend(
            of_peaks.map(|(tab, (_, title))| (ComparisonTab::Peaks(tab), (*title).to_owned())),
        );
    }
    tabs.push((ComparisonTab::Figures, "All figures".to_owned()));
    tabs.push((ComparisonTab::Options, format!("Options that differ{of_pair}{options}")));
    if are_matched {
        tabs.push((ComparisonTab::Matching, "Matched and unmatched".to_owned()));
    }
    tabs
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
            self.other =
                self.glance.ui(ui, page, glance, ClickEffect::Compares, chosen).or(self.other);
        }
        glance
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
            let texts = runs.iter().zip(run_names(runs));
            let texts = texts.map(|(run, name)| format!("{} {name}", run.badge.letter));
            let texts: Vec<String> = texts.collect();
            let title = |place: &usize| texts.get(*place).map_or("", String::as_str);
            choice_ui(ui, "Reference", 96.0, &mut reference, 0..runs.len(), title);
            ui.weak("Reference");
            if let Some(run) = runs.get(reference).filter(|_| reference > 0) {
                page.commands.push(Command::MakeReference(run.id));
            }
        });
        self.other = other;
    }

    /// The curves of all runs, why the peak changed where steps say so, and in words what did.
    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        shown: ComparedPair<'_>,
        glance: Option<&Arc<Glance>>,
    ) {
        let height = (ui.available_height() - FRAME).clamp(LEAST_PICTURE, MOST_PICTURE);
        let area = ScrollArea::vertical().id_salt("compared").auto_shrink(false);
        let area = area.show(ui, |ui| {
            let runs = Arc::clone(page.runs);
            let is_wide = ui.available_width() >= BESIDE;
            let room = page.room.room();
            let are_matched = runs.system().are_steps_matched;
            let of_pair = of_pair(&runs, shown.both);
            let mut curves = |ui: &mut egui::Ui| match glance {
                Some(glance) => self.curves.ui(ui, page, glance, height),
                None => drop(ui.weak("Comparing…")),
            };
            let mut exports = Vec::new();
            let mut beside = |ui: &mut egui::Ui| match (shown.found, shown.pair) {
                (Some(found), Some(pair)) if are_matched => {
                    let limit = glance.and_then(|glance| glance.limit);
                    let height = height - CHANGE;
                    self.why_the_peak.ui(ui, &pair, found, limit, height, &mut exports);
                }
                (Some(found), _) => {
                    self.compared.words_ui(ui, "In words", found, room);
                    cards::settings_ui(ui, &found.compared, &of_pair);
                }
                (None, pair) => absent(&self.compared, ui, &runs, pair.is_some()),
            };
            if is_wide {
                two_columns_ui(ui, CURVES, |ui, column| match column {
                    PageColumn::Left => curves(ui),
                    PageColumn::Right => beside(ui),
                });
            } else {
                curves(ui);
                beside(ui);
            }
            page.commands.append(&mut exports);
            let Some(found) = shown.found else { return };
            if are_matched {
                self.compared.words_ui(ui, "In words", found, room);
            }
            let is_wide = ui.available_width() >= FIGURES_BESIDE;
            let other = |ui: &mut egui::Ui| match &found.compared.matched {
                Some(_) => cards::settings_ui(ui, &found.compared, &of_pair),
                None => cards::categories_ui(ui, shown.both, &found.compared),
            };
            let figures =
                |ui: &mut egui::Ui| cards::figures_ui(ui, shown.both, &found.compared.figures);
            if is_wide {
                two_columns_ui(ui, FIGURES, |ui, column| match column {
                    PageColumn::Left => figures(ui),
                    PageColumn::Right => other(ui),
                });
            } else {
                figures(ui);
                other(ui);
            }
        });
        scrolled_of_exports(ui, &area);
    }

    fn tab_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tab: ComparisonTab,
        ComparedPair { both, pair, found }: ComparedPair<'_>,
    ) {
        let Some(found) = found else {
            let runs = page.runs;
            absent(&self.compared, ui, runs, pair.is_some());
            return;
        };
        match (tab, found.matched(), pair) {
            (ComparisonTab::Figures, ..) => {
                figures::figures_ui(&mut self.figures, ui, page, both, found);
            }
            (ComparisonTab::Options, ..) => {
                options::options_ui(&mut self.options, ui, page, both, found);
            }
            (ComparisonTab::Peaks(tab), ..) => {
                let table = found.tables.get(tab).zip(self.peaks.get_mut(tab));
                peaks_ui(ui, page, both, found, table);
            }
            (ComparisonTab::Explanation, Some(matched), Some(pair)) => {
                self.explanation.ui(ui, page, &pair, found, matched);
            }
            (ComparisonTab::Plans, Some(matched), Some(pair)) => {
                plans::plans_ui(&mut self.plans, ui, page, &pair, found, matched);
            }
            (ComparisonTab::Spikes, _, Some(pair)) => {
                spikes::spikes_ui(&mut self.spikes, ui, page, &pair, found);
            }
            (ComparisonTab::Matching, _, Some(pair)) => self.matched.ui(ui, page, &pair),
            (_, _, pair) => absent(&self.compared, ui, page.runs, pair.is_some()),
        }
    }

    fn tabs_ui(
        &mut self,
        ui: &mut egui::Ui,
        tabs: &[(ComparisonTab, String)],
        shown: ComparisonTab,
    ) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (tab, title) in tabs {
                let entry = ui.selectable_label(shown == *tab, title);
                if entry.clicked() {
                    self.tab = *tab;
                }
                if shown == *tab {
                    shown_tab_line(ui, &entry);
                }
            }
        });
    }
}

/// A table of what is alive at the peaks.
fn peaks_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    both: [&Run; 2],
    found: &RunsCompared,
    table: Option<(&Arc<PeakTable>, &mut DataTable)>,
) {
    let words = found.compared.words;
    let Some((table, shown)) = table else {
        absent_ui(ui, words.no_peaks, "");
        return;
    };
    let columns = table.columns(both.map(|run| &*run.title));
    let rows: Arc<dyn Rows> = Arc::<PeakTable>::clone(table);
    let data = Data { note: words.adds_up, ..Data::of(&table.name, &columns, rows) };
    shown.ui(ui, &data, page.commands);
}

/// Why nothing is said of two runs.
fn absent(compared: &AskedComparison, ui: &mut egui::Ui, runs: &Runs, is_matched: bool) {
    let why_not = runs.why_not.as_deref().filter(|_| !is_matched);
    match why_not.filter(|_| runs.system().are_steps_matched) {
        Some(why_not) => {
            let what = format!("The reports cannot be compared by {}", runs.system().steps);
            absent_ui(ui, &what, why_not);
        }
        None => {
            let text = compared.failure().unwrap_or("The runs are being compared");
            absent_ui(ui, text, "");
        }
    }
}

/// The names of runs in a list; of many two are chosen in one line.
fn run_names(runs: &Runs) -> Vec<String> {
    let names: Vec<&str> = runs.iter().map(|run| &*run.name).collect();
    elided(&names, if runs.len() > 2 { 16 } else { 30 })
}

/// Offers the runs that the reference can be compared with; returns the one that was chosen.
fn choose_ui(ui: &mut egui::Ui, runs: &Runs, place: usize) -> Option<RunId> {
    let mut chosen = place;
    let names = run_names(runs);
    let title = |place: &usize| names.get(*place).map_or("", String::as_str);
    choice_ui(ui, "Compare with", 96.0, &mut chosen, 1..runs.len(), title);
    runs.get(chosen).map(|run| run.id).filter(|_| chosen != place)
}
