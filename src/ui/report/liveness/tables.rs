//! Below the curves: their peaks, and what is alive and runs at the selected moment.

use eframe::egui;
use std::sync::Arc;

use super::allocations::{AllocationTables, ListedBy};
use super::compute::{AtSteps, Computed, estimate_columns};
use super::consists::ConsistsTab;
use super::lifetimes_table::LifetimeTables;
use super::lives_of::LivesOf;
use super::marks::StepMarks;
use super::step_rows::{ListedSteps, StepRows, bytes_title};
use super::timelines::{RunCurve, SlotTimelines};
use super::words::selected_moment;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::variables::{self, VariableRow};
use crate::store::System;
use crate::text::{capitalised, grouped};
use crate::ui::job::{Made, Same};
use crate::ui::report::figures::variables::variable_entries;
use crate::ui::report::figures::{
    Entries, EntryUnit, FigureColumn, FigureEntry, FigureLayout, FigureTable, ListedFigures,
};
use crate::ui::report::moment::Moment;
use crate::ui::report::{PageContext, unread_ui};
use crate::ui::runs::{Needed, Needs, Run, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;

/// Moments of one run that are columns.
const MOST_MOMENTS: usize = 6;
/// What variables go by: their owners, too.
pub const OF_VARIABLES: Needs =
    &[Needed::Liveness, Needed::TileVariables, Needed::Debug, Needed::Matching, Needed::Axis];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LivenessTab {
    Peaks,
    NotAlwaysLive,
    AlwaysLive,
    Lifetimes,
    Steps,
    Consists,
    At(AtSteps),
    Listed(ListedBy),
}

type TitleIn = fn(&System) -> &'static str;

const TABS: [(LivenessTab, TitleIn); 12] = [
    (LivenessTab::Listed(ListedBy::Allocation), |_| "Allocations"),
    (LivenessTab::Listed(ListedBy::Code), |_| "By code"),
    (LivenessTab::Listed(ListedBy::CallPath), |_| "Call paths"),
    (LivenessTab::Peaks, |_| "Peaks"),
    (LivenessTab::Steps, |_| "Steps"),
    (LivenessTab::NotAlwaysLive, |system| system.not_always_live),
    (LivenessTab::AlwaysLive, |system| system.always_live),
    (LivenessTab::Lifetimes, |_| "Lifetimes"),
    (LivenessTab::Consists, |_| "Parts"),
    (LivenessTab::At(AtSteps::Vertices), |_| "Vertices"),
    (LivenessTab::At(AtSteps::Cycles), |_| "Cycle estimates"),
    (LivenessTab::At(AtSteps::Flops), |_| "FLOP estimates"),
];

/// A step of one run, which is a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOfRun {
    pub run: usize,
    /// The step; where the run has none there, the one before.
    pub step: Option<usize>,
    /// The step, where the run has one there.
    pub step_there: Option<usize>,
}

/// The columns of the tables: the selected moments of one run, or the first of them in each of several.
#[derive(Clone)]
pub struct MomentColumns {
    pub timelines: Arc<SlotTimelines>,
    /// A step for each column.
    pub list: Vec<StepOfRun>,
    columns: Vec<FigureColumn>,
    layout: FigureLayout,
    note: String,
}

impl PartialEq for MomentColumns {
    fn eq(&self, other: &Self) -> bool {
        (self.timelines.version, &self.list, &self.note)
            == (other.timelines.version, &other.list, &other.note)
    }
}

impl MomentColumns {
    /// Steps of several runs that are not matched have nothing in common: then the peak of each is compared.
    fn new(runs: &Runs, timelines: &Arc<SlotTimelines>, slots: &[usize]) -> Self {
        let are_matched = runs.is_one() || runs.system().are_steps_matched;
        let slots = if are_matched { slots } else { &[] };
        let first = selected_moment(timelines, slots);
        let mut note = first.note(runs);
        let (list, columns) = if runs.is_one() {
            let moments: Vec<Moment> = match slots {
                [] => vec![first],
                slots => {
                    let slots = slots.iter().take(MOST_MOMENTS);
                    slots.map(|slot| Moment::at_slot(&timelines.axis, *slot)).collect()
                }
            };
            if slots.len() > MOST_MOMENTS {
                note =
                    format!("the first {MOST_MOMENTS} of {} {}", slots.len(), runs.system().steps);
            }
            let column = |moment: &Moment| {
                let title = capitalised(&moment.title(runs));
                FigureColumn { in_text: title.clone(), title, badge: None }
            };
            let columns = moments.iter().map(column).collect();
            (moments.iter().map(|moment| StepOfRun::of(moment, 0)).collect(), columns)
        } else {
            let list = (0..runs.len()).map(|run| StepOfRun::of(&first, run)).collect();
            (list, FigureColumn::of_runs(runs))
        };
        Self {
            timelines: Arc::clone(timelines),
            list,
            columns,
            layout: FigureLayout::of(runs),
            note,
        }
    }

    pub fn columns(&self) -> &[FigureColumn] {
        &self.columns
    }

    /// A note with what is said of the moments before it.
    pub fn with_note(&self, note: &str) -> String {
        match &*self.note {
            "" => note.to_owned(),
            moment => format!("{moment}; {note}"),
        }
    }

    /// Puts a figure of a thing into a column. A run has the same thing at all of its moments.
    pub fn add(&self, entries: &mut Vec<FigureEntry>, name: &str, column: usize, figure: u64) {
        let place = entries.iter().position(|entry| entry.name == name);
        let place = place.unwrap_or_else(|| {
            let zero = self.layout == FigureLayout::Moments;
            let figures = vec![zero.then_some(0); self.columns.len()];
            entries.push(FigureEntry { name: name.to_owned(), figures, ..FigureEntry::default() });
            entries.len() - 1
        });
        let figures = entries.get_mut(place).and_then(|entry| entry.figures.get_mut(column));
        if let Some(known) = figures {
            *known = Some(known.unwrap_or(0).saturating_add(figure));
        }
    }

    pub fn entries(
        &self,
        title: &'static str,
        unit: EntryUnit,
        list: Vec<FigureEntry>,
    ) -> Arc<Entries> {
        let (layout, columns) = (self.layout, self.columns.clone());
        let (groupings, rule, has_padding) = (Vec::new(), "", false);
        Arc::new(Entries { unit, title, layout, columns, groupings, rule, has_padding, list })
    }
}

impl StepOfRun {
    fn of(moment: &Moment, run: usize) -> Self {
        Self { run, step: moment.step(run), step_there: moment.step_there(run) }
    }
}

#[derive(Default)]
pub struct LivenessTables {
    /// `None` until one is chosen.
    tab: Option<LivenessTab>,
    peaks: DataTable,
    steps: DataTable,
    /// Whether steps are listed beside the tabs, not peaks.
    are_steps_listed: bool,
    list_rows: Made<ListMadeFor, Arc<StepRows>>,
    /// Whether what keeps the limit is left out of the lists.
    is_over_alone: bool,
    not_always_live: LiveVariableTable,
    always_live: LiveVariableTable,
    lifetimes: LifetimeTables,
    consists: ConsistsTab,
    figures: FigureTable,
    estimates: DataTable,
    computed: RunsAnswer<(AtSteps, MomentColumns), Computed>,
    allocations: AllocationTables,
}

/// The timelines, whether operations are known, whether only those above the limit are listed, and of
/// which steps.
type ListMadeFor = (u64, bool, bool, ListedSteps);

pub struct ListedPicture<'a> {
    pub timelines: &'a Arc<SlotTimelines>,
    pub marks: &'a StepMarks,
    pub slots: &'a [usize],
    /// The slots that the picture shows.
    pub range: (f64, f64),
}

impl LivenessTables {
    /// Returns the slot of a step that was clicked, and whether it joins the selected ones.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        lives_of: &mut LivesOf,
    ) -> Option<(usize, bool)> {
        if self.allocations.follow(page) {
            self.tab = Some(LivenessTab::Listed(ListedBy::Code));
        }
        let width = ui.available_width();
        let is_one = page.runs.is_one();
        // Width that peaks and variables need side by side, points.
        let room = if is_one { 1500.0 } else { 1600.0 };
        if width < room {
            let tab = self.tabs_ui(ui, page.runs, LivenessTab::Peaks, true);
            if matches!(tab, LivenessTab::Peaks | LivenessTab::Steps) {
                return self.list_ui(ui, page, subject, tab, false);
            }
            return self.tab_ui(ui, page, subject, lives_of, tab);
        }
        let (share, least, most) = if is_one { (0.55, 200.0, 0.7) } else { (0.5, 400.0, 0.65) };
        let name = if is_one { "peaks" } else { "peaks of both" };
        let list = if self.are_steps_listed { LivenessTab::Steps } else { LivenessTab::Peaks };
        let clicked = split::left(ui, name, width * share, least..=(width * most), |ui| {
            self.list_ui(ui, page, subject, list, true)
        });
        let mut shown = None;
        split::rest(ui, egui::Margin { left: 10, ..Default::default() }, |ui| {
            let tab = self.tabs_ui(ui, page.runs, LivenessTab::NotAlwaysLive, false);
            shown = self.tab_ui(ui, page, subject, lives_of, tab);
        });
        clicked.or(shown)
    }

    /// Draws the tabs; returns the one that is shown.
    fn tabs_ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        usual: LivenessTab,
        has_lists: bool,
    ) -> LivenessTab {
        let has_allocations = runs.is_one() && runs.reference().derived.answers().has_allocations();
        let is_there = |tab: &LivenessTab| match tab {
            LivenessTab::Peaks | LivenessTab::Steps => has_lists,
            LivenessTab::At(what) => !runs.are_foreign_to(what.needs()),
            LivenessTab::Listed(_) => has_allocations,
            _ => true,
        };
        let usual = if has_allocations { LivenessTab::Listed(ListedBy::default()) } else { usual };
        let mut shown = self.tab.filter(is_there).unwrap_or(usual);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (tab, title) in TABS.into_iter().filter(|(tab, _)| is_there(tab)) {
                let title = match tab {
                    LivenessTab::Steps => capitalised(runs.system().steps),
                    _ => title(runs.system()).to_owned(),
                };
                if ui.selectable_value(&mut shown, tab, title).clicked() {
                    self.tab = Some(tab);
                }
            }
        });
        shown
    }

    /// Draws the list of peaks or of steps, with the choice between them where there are no tabs; returns
    /// the slot that was clicked.
    fn list_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        list: LivenessTab,
        is_chosen_here: bool,
    ) -> Option<(usize, bool)> {
        let (runs, timelines, is_over_alone) = (page.runs, subject.timelines, self.is_over_alone);
        let mut chosen = list;
        let steps = capitalised(runs.system().steps);
        let mut lists = |ui: &mut egui::Ui| {
            if is_chosen_here {
                let choices = [(LivenessTab::Peaks, "Peaks"), (LivenessTab::Steps, &*steps)];
                segments_ui(ui, "", &mut chosen, choices);
            }
        };
        let listed = match subject.marks.found(runs) {
            _ if list == LivenessTab::Peaks => ListedSteps::Peaks,
            Ok(found) => ListedSteps::Steps(found.map(Same)),
            Err(text) => {
                ui.horizontal(&mut lists);
                ui.weak(text);
                self.are_steps_listed = chosen == LivenessTab::Steps;
                return None;
            }
        };
        let name =
            named(runs, if list == LivenessTab::Peaks { "peaks" } else { runs.system().steps });
        let of = bytes_title(runs, timelines.scope).to_lowercase();
        let note = match &listed {
            ListedSteps::Peaks if runs.is_one() => "largest first".to_owned(),
            ListedSteps::Peaks => format!("largest in any run first, {of}"),
            ListedSteps::Steps(None) => "all of them".to_owned(),
            ListedSteps::Steps(Some(_)) => format!("match {:?}", subject.marks.text.trim()),
        };
        let made_for =
            (timelines.version, runs.is_settled(&[Needed::Debug]), is_over_alone, listed);
        let rows = self.list_rows.of(made_for, |(.., listed)| {
            Arc::new(StepRows::of(runs, timelines, listed, is_over_alone))
        });
        let tokens = *Tokens::now(ui);
        let (slots, columns) = (subject.slots, rows.columns());
        let data = Data {
            note: &note,
            is_selected: &|row| rows.slot(row).is_some_and(|slot| slots.contains(&slot)),
            paint: &|painter, rect, row| rows.paint_bar(painter, rect, row, &tokens),
            ..Data::of(&name, &columns, rows.clone())
        };
        let mut is_over_wanted = is_over_alone;
        let mut beside = |ui: &mut egui::Ui| {
            lists(ui);
            if let Some(count) = rows.over {
                over_ui(ui, runs, timelines, count, &mut is_over_wanted);
            }
        };
        let table = if list == LivenessTab::Peaks { &mut self.peaks } else { &mut self.steps };
        let click = table.ui_with(ui, &data, page.commands, Some(&mut beside), None);
        let clicked = click.and_then(|click| Some((rows.slot(click.row)?, click.is_added)));
        self.is_over_alone = is_over_wanted;
        if is_chosen_here {
            self.are_steps_listed = chosen == LivenessTab::Steps;
        }
        clicked
    }

    fn tab_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        lives_of: &mut LivesOf,
        tab: LivenessTab,
    ) -> Option<(usize, bool)> {
        let (runs, scope, system) = (page.runs, subject.timelines.scope, *page.runs.system());
        if let LivenessTab::Listed(by) = tab {
            return self.allocations.ui(ui, page, subject, by).map(|slot| (slot, false));
        }
        if scope != Scope::Everything && !runs.is_settled(&[Needed::TileVariables]) {
            let what = super::items_by_arena(runs);
            unread_ui(ui, &what, runs.is_working());
            return None;
        }
        let moments = || MomentColumns::new(runs, subject.timelines, subject.slots);
        match tab {
            LivenessTab::Peaks | LivenessTab::Steps | LivenessTab::Listed(_) => {}
            LivenessTab::NotAlwaysLive => {
                let what = format!("{} {}", system.not_always_live_in_text, system.items);
                let name = named(runs, &what);
                self.not_always_live.ui(ui, page, &name, &VariablesAt::NotAlwaysLive(moments()));
            }
            LivenessTab::AlwaysLive if scope == Scope::WorstArena => {
                let arena = runs.system().arena_in_text;
                let title =
                    format!("Each {} has a worst {arena} of its own", runs.system().step_in_text);
                let hint =
                    format!("Choose one {arena} as the scope to see what always lives there");
                absent_ui(ui, &title, &hint);
            }
            LivenessTab::AlwaysLive => {
                let what = format!("{} {}", system.always_live_in_text, system.items);
                let name = named(runs, &what);
                self.always_live.ui(ui, page, &name, &VariablesAt::AlwaysLive(scope));
            }
            LivenessTab::Lifetimes => self.lifetimes.ui(ui, page, subject, lives_of),
            LivenessTab::Consists => self.consists.ui(ui, page, &moments()),
            LivenessTab::At(what) => self.computed_ui(ui, page, what, moments()),
        }
        None
    }

    /// Forgets what was read of runs; what was chosen stays.
    pub fn forget(&mut self) {
        self.list_rows = Made::default();
        self.lifetimes = LifetimeTables::default();
        (self.peaks, self.steps) = (DataTable::default(), DataTable::default());
        self.allocations.forget();
    }

    fn computed_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        what: AtSteps,
        moments: MomentColumns,
    ) {
        let runs = page.runs;
        let needs = what.needs();
        if !runs.is_settled(needs) {
            unread_ui(ui, "Compute sets and exchanges", runs.is_working());
            return;
        }
        let key = (what, moments);
        let (_, for_job) = key.clone();
        self.computed.ask("what runs at steps", ui.ctx(), (runs, needs), &key, move |runs, _| {
            what.of(runs, &for_job)
        });
        let Some(((shown, moments), found)) = self.computed.last(runs) else {
            ui.weak(self.computed.failure().unwrap_or("Looking…"));
            return;
        };
        match found {
            Computed::Nothing(title, reason) => absent_ui(ui, title, reason),
            Computed::Figures(entries, note) => {
                let note = moments.with_note(note);
                let name = shown.name();
                let figures = ListedFigures { name, note: &note, entries, is_selected: &|_| false };
                self.figures.ui(ui, &figures, page.commands, &mut |_| {});
            }
            Computed::Estimates(rows) => {
                let columns = estimate_columns();
                let data = Data {
                    note: &moments.with_note("each run counted once"),
                    ..Data::of(shown.name(), &columns, Arc::clone(rows))
                };
                self.estimates.ui(ui, &data, page.commands);
            }
        }
    }
}

/// The switch that leaves out what keeps the limit, with the number of those that do not.
fn over_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    timelines: &SlotTimelines,
    count: usize,
    is_over_alone: &mut bool,
) {
    let count_text = grouped(count as u64);
    let (text, name) = (format!("Over ({count_text})"), format!("Above the limit ({count_text})"));
    // What hides all rows can still be switched off.
    let is_possible = count > 0 || *is_over_alone;
    let switch = ui.add_enabled(is_possible, egui::Checkbox::new(is_over_alone, text));
    let switch = switch.accessible_name(name).on_hover_text("Shows only rows above the limit");
    let is_by_device = (0..runs.len())
        .any(|run| timelines.run(run).is_some_and(|curve| curve.timeline.is_by_device));
    if is_by_device {
        switch.on_hover_text(own_memory_text(runs.system()));
    }
}

/// What is said where the limit of several devices together would mean nothing.
pub fn own_memory_text(system: &System) -> String {
    let device = system.device;
    format!("Each {device} has its own memory and is checked against its own limit")
}

fn named(runs: &Runs, table: &str) -> String {
    format!("{table}{}", runs.of_number(["", " of both", " of all runs"]))
}

#[derive(Clone, PartialEq)]
pub enum VariablesAt {
    AlwaysLive(Scope),
    NotAlwaysLive(MomentColumns),
}

impl VariablesAt {
    pub fn in_slot(runs: &Runs, timelines: &Arc<SlotTimelines>, slot: usize) -> Self {
        Self::NotAlwaysLive(MomentColumns::new(runs, timelines, &[slot]))
    }

    fn note(&self) -> &str {
        match self {
            Self::AlwaysLive(_) => "",
            Self::NotAlwaysLive(moments) => &moments.note,
        }
    }

    /// The rows of a run, with the columns that theirs are.
    fn rows(&self, runs: &Runs, place: usize) -> Option<(Vec<VariableRow>, Vec<usize>)> {
        let run = runs.get(place)?;
        match self {
            Self::AlwaysLive(scope) => {
                let scope = runs.matched_scope(place, *scope)?;
                Some((variables::always_live(&run.report, scope)?, vec![place]))
            }
            Self::NotAlwaysLive(moments) => {
                let RunCurve { scope, timeline, .. } = moments.timelines.run(place)?;
                let worst = timeline.curve.worst_arenas.as_deref();
                let of_run = moments.list.iter().enumerate().filter(|(_, at)| at.run == place);
                // Before its first step nothing is alive.
                let of_run = of_run.filter_map(|(column, at)| Some((column, at.step?)));
                let (columns, steps): (Vec<usize>, Vec<usize>) = of_run.unzip();
                Some((variables::not_always_live(&run.report, *scope, &steps, worst)?, columns))
            }
        }
    }

    /// The figures; the run that has no variables, where one has none.
    pub fn entries(&self, runs: &Runs) -> Result<Entries, usize> {
        let rows = |place| self.rows(runs, place).ok_or(place);
        let found = (0..runs.len()).map(rows).collect::<Result<_, _>>()?;
        let columns = match self {
            Self::NotAlwaysLive(moments) => moments.columns.clone(),
            Self::AlwaysLive(_) if runs.is_one() => {
                let (title, in_text) = ("Bytes".to_owned(), String::new());
                vec![FigureColumn { title, in_text, badge: None }]
            }
            Self::AlwaysLive(_) => FigureColumn::of_runs(runs),
        };
        Ok(variable_entries(runs, found, columns))
    }
}

#[derive(Default)]
struct LiveVariableTable {
    table: FigureTable,
    found: RunsAnswer<VariablesAt, Result<Arc<Entries>, usize>>,
}

impl LiveVariableTable {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        name: &str,
        wanted: &VariablesAt,
    ) {
        let runs = page.runs;
        let for_job = wanted.clone();
        let needs = (runs, OF_VARIABLES);
        self.found.ask("variables at steps", ui.ctx(), needs, wanted, move |runs, _| {
            for_job.entries(runs).map(Arc::new)
        });
        let (made_for, entries) = match self.found.last(runs) {
            None => {
                ui.weak(self.found.failure().unwrap_or("Looking…"));
                return;
            }
            Some((_, Err(run))) => {
                let the = runs.get(*run).map_or(String::new(), Run::the);
                let items = runs.system().items;
                let reason = format!("{} has no readable bytes of {items}", capitalised(&the));
                absent_ui(ui, &format!("{} are not in every run", capitalised(items)), &reason);
                return;
            }
            Some((made_for, Ok(entries))) => (made_for, entries),
        };
        let selected: Vec<String> = page.selection.variables().map(str::to_owned).collect();
        let is_selected = |entry: &FigureEntry| selected.contains(&entry.name);
        let note = made_for.note();
        let figures = ListedFigures { name, note, entries, is_selected: &is_selected };
        if let Some(clicked) = self.table.ui(ui, &figures, page.commands, &mut |_| {}) {
            page.selection.toggle_variable(clicked.entry.name, clicked.is_added);
        }
    }
}
