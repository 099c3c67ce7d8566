//! Below the curve: its peaks, and what is alive at the selected steps.

use eframe::egui;
use std::sync::Arc;

use super::compute::AtSteps;
use super::derived::Derived;
use super::lifetimes::{LifeAxis, LifetimeRows};
use super::peaks::PeakRows;
use super::variables::VariableRows;
use crate::analysis::compute::vertices::why_no_vertices;
use crate::analysis::liveness::variables;
use crate::analysis::liveness::{Scope, why_no_variables};
use crate::store::Report;
use crate::ui::command::Command;
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, missing_ui, unread_ui};
use crate::ui::split;
use crate::ui::theme::Tokens;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::Rows;

/// Width that peaks and variables need side by side, points.
const ROOM: f32 = 820.0;
/// Steps whose variables are columns.
const MOST_STEPS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Peaks,
    NotAlwaysLive,
    AlwaysLive,
    Lifetimes,
    Computed(AtSteps),
}

/// What a list of variables was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    scope: Scope,
    steps: Vec<usize>,
    has_tiles: bool,
}

type Made<T> = Latest<Key, Option<Arc<T>>>;

/// The tables, made beside the window when other steps are selected.
pub struct Tables {
    tab: Tab,
    peaks: DataTable,
    /// The rows of the peaks, and what they were made from.
    peak_rows: Option<(Arc<Derived>, bool, Arc<dyn Rows>)>,
    not_always_live: DataTable,
    not_always_live_rows: Made<VariableRows>,
    always_live: DataTable,
    always_live_rows: Made<VariableRows>,
    lifetimes: DataTable,
    lifetime_rows: Made<LifetimeRows>,
    computed: DataTable,
    computed_rows: Latest<(Key, AtSteps), Option<Computed>>,
}

/// Rows that a job has found.
struct Computed(Arc<dyn Rows>);

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("tab", &self.tab).finish_non_exhaustive()
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            tab: Tab::NotAlwaysLive,
            peaks: DataTable::default(),
            peak_rows: None,
            not_always_live: DataTable::default(),
            not_always_live_rows: Latest::default(),
            always_live: DataTable::default(),
            always_live_rows: Latest::default(),
            lifetimes: DataTable::default(),
            lifetime_rows: Latest::default(),
            computed: DataTable::default(),
            computed_rows: Latest::default(),
        }
    }
}

/// What the tables are about in this frame.
pub struct Subject<'a> {
    /// The curve.
    pub derived: &'a Arc<Derived>,
    /// The selected steps, or the peak.
    pub steps: &'a [usize],
    /// The steps that the curve shows.
    pub range: (f64, f64),
}

impl Tables {
    /// Draws the tables; returns the step of a peak that was clicked, and whether it joins the
    /// selected ones.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
    ) -> Option<(usize, bool)> {
        let width = ui.available_width();
        let mut clicked = None;
        if width < ROOM {
            self.tabs_ui(ui, true);
            if self.tab == Tab::Peaks {
                return self.peaks_ui(ui, page, subject);
            }
            self.tab_ui(ui, page, subject);
            return None;
        }
        let widths = 200.0..=(width * 0.6);
        split::left(ui, "peaks", width * 0.42, widths, |ui| {
            clicked = self.peaks_ui(ui, page, subject);
        });
        let frame =
            egui::Frame::new().inner_margin(egui::Margin { left: 10, ..Default::default() });
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            if self.tab == Tab::Peaks {
                self.tab = Tab::NotAlwaysLive;
            }
            self.tabs_ui(ui, false);
            self.tab_ui(ui, page, subject);
        });
        clicked
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, has_peaks: bool) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (tab, title) in [
                (Tab::Peaks, "Peaks"),
                (Tab::NotAlwaysLive, "Not always live"),
                (Tab::AlwaysLive, "Always live"),
                (Tab::Lifetimes, "Lifetimes"),
                (Tab::Computed(AtSteps::Vertices), "Vertices"),
                (Tab::Computed(AtSteps::Cycles), "Cycle estimates"),
                (Tab::Computed(AtSteps::Flops), "FLOP estimates"),
            ] {
                if tab != Tab::Peaks || has_peaks {
                    ui.selectable_value(&mut self.tab, tab, title);
                }
            }
        });
    }

    fn peaks_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
    ) -> Option<(usize, bool)> {
        let (report, derived) = (page.report, subject.derived);
        let has_operations = report.debug.is_settled();
        let is_fresh = self.peak_rows.as_ref().is_some_and(|(made_for, had_operations, _)| {
            Arc::ptr_eq(made_for, derived) && *had_operations == has_operations
        });
        if !is_fresh {
            let rows = Arc::new(PeakRows::new(report, derived));
            self.peak_rows = Some((Arc::clone(derived), has_operations, rows));
        }
        let (_, _, rows) = self.peak_rows.as_ref()?;
        let step_of = |row: usize| derived.peaks.get(row).map(|peak| peak.step);
        let steps = &page.selection.steps;
        let columns = PeakRows::columns();
        let data = Data {
            name: "peaks",
            title: "Peaks",
            note: "largest first",
            columns: &columns,
            rows,
            is_selected: &|row| step_of(row).is_some_and(|step| steps.contains(&step)),
            paint: &no_paint,
        };
        let click = self.peaks.ui(ui, &data, page.commands)?;
        Some((step_of(click.row)?, click.is_added))
    }

    fn tab_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, subject: &Subject<'_>) {
        let (report, scope) = (page.report, subject.derived.scope);
        let needs_tiles = scope != Scope::Everything;
        let has_tiles = report.tile_variable_bytes.is_settled();
        if needs_tiles && !has_tiles {
            unread_ui(ui, "Variables by tile", page.is_working);
            return;
        }
        let steps = subject.steps.get(..MOST_STEPS).unwrap_or(subject.steps);
        let key = |steps: &[usize]| Key { scope, steps: steps.to_vec(), has_tiles: needs_tiles };
        match self.tab {
            Tab::Peaks => {}
            Tab::NotAlwaysLive => self.not_always_live_ui(ui, page, subject, &key(steps)),
            Tab::AlwaysLive if scope == Scope::WorstTile => {
                absent_ui(
                    ui,
                    "Each step has a worst tile of its own",
                    "Choose one tile as the scope to see what always lives there",
                );
            }
            Tab::AlwaysLive => self.always_live_ui(ui, page, &key(&[])),
            Tab::Lifetimes => {
                self.lifetimes_ui(ui, page, subject, &key(steps.get(..1).unwrap_or(&[])));
            }
            Tab::Computed(what) => self.computed_ui(ui, page, what, &key(steps)),
        }
    }

    fn not_always_live_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
        key: &Key,
    ) {
        let (report, derived) = (Arc::clone(page.report), Arc::clone(subject.derived));
        let asked = key.clone();
        self.not_always_live_rows.ask("variables at steps", ui.ctx(), key, move |_| {
            let worst = derived.curve.worst_tiles.as_deref();
            let rows = variables::not_always_live(&report, asked.scope, &asked.steps, worst)?;
            Some(Arc::new(VariableRows::new(&report, rows, asked.steps.len())))
        });
        let titles: Vec<String> = match self.not_always_live_rows.last() {
            Some((made_for, _)) => {
                made_for.steps.iter().map(|step| step_title(page.report, *step)).collect()
            }
            None => Vec::new(),
        };
        let note = match subject.steps.len() {
            0..=1 if page.selection.steps.is_empty() => "at the peak".to_owned(),
            0..=MOST_STEPS => String::new(),
            steps => format!("the first {MOST_STEPS} of {steps} steps"),
        };
        let table = &mut self.not_always_live;
        variables_ui(
            ui,
            page,
            table,
            &self.not_always_live_rows,
            "not always live variables",
            &titles,
            &note,
        );
    }

    fn always_live_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, key: &Key) {
        let (report, scope) = (Arc::clone(page.report), key.scope);
        self.always_live_rows.ask("always-live variables", ui.ctx(), key, move |_| {
            let rows = variables::always_live(&report, scope)?;
            Some(Arc::new(VariableRows::new(&report, rows, 1)))
        });
        let titles = ["Bytes".to_owned()];
        let table = &mut self.always_live;
        variables_ui(ui, page, table, &self.always_live_rows, "always live variables", &titles, "");
    }

    fn lifetimes_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
        key: &Key,
    ) {
        let Some(step) = key.steps.first().copied() else { return };
        let (report, derived) = (Arc::clone(page.report), Arc::clone(subject.derived));
        // On the worst tile of a step its variables have places.
        let scope = derived.worst_tile_at(step).map_or(key.scope, Scope::Tile);
        self.lifetime_rows.ask("lifetimes", ui.ctx(), key, move |_| {
            LifetimeRows::new(&report, scope, step).map(Arc::new)
        });
        let Some((made_for, rows)) = self.lifetime_rows.last() else {
            waiting_ui(ui, &self.lifetime_rows);
            return;
        };
        let Some(lives) = rows else {
            missing_ui(ui, "Lifetimes", page.report.variables.absence());
            return;
        };
        let at = made_for.steps.first().copied().unwrap_or(0);
        let rows: Arc<dyn Rows> = Arc::clone(lives) as Arc<dyn Rows>;
        let columns = lives.columns();
        let (selected, tokens) = (page.selection.variable.clone(), *Tokens::now(ui));
        let note = format!("alive at {}", step_title(page.report, at).to_lowercase());
        let data = Data {
            name: "lifetimes",
            title: "",
            note: &note,
            columns: &columns,
            rows: &rows,
            is_selected: &|row| selected.is_some() && lives.name(row) == selected.as_deref(),
            paint: &|painter, rect, row| {
                let axis = LifeAxis { range: subject.range, at, place: &|step| f64::from(step) };
                lives.paint(painter, rect, row, &axis, &tokens);
            },
        };
        if let Some(click) = self.lifetimes.ui(ui, &data, page.commands) {
            toggle(&mut page.selection.variable, lives.name(click.row));
        }
    }
}

impl Tables {
    fn computed_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        what: AtSteps,
        key: &Key,
    ) {
        if !what.is_settled(page.report) {
            unread_ui(ui, "Compute sets and exchanges", page.is_working);
            return;
        }
        let (report, asked) = (Arc::clone(page.report), key.clone());
        self.computed_rows.ask("what runs at steps", ui.ctx(), &(key.clone(), what), move |_| {
            what.rows(&report, asked.scope, &asked.steps).map(Computed)
        });
        let Some(((made_for, shown), found)) = self.computed_rows.last() else {
            waiting_ui(ui, &self.computed_rows);
            return;
        };
        let Some(Computed(rows)) = found else {
            missing_ui(ui, "Vertices", why_no_vertices(page.report));
            return;
        };
        if *shown == AtSteps::Vertices && rows.len() == 0 {
            absent_ui(
                ui,
                "No vertices run at this step",
                "It computes nothing: choose another one",
            );
            return;
        }
        let titles: Vec<String> =
            made_for.steps.iter().map(|step| step_title(page.report, *step)).collect();
        let columns = shown.columns(&titles);
        let data = Data {
            name: "what runs at steps",
            title: "",
            note: "each run counted once",
            columns: &columns,
            rows,
            is_selected: &|_| false,
            paint: &no_paint,
        };
        self.computed.ui(ui, &data, page.commands);
    }
}

/// What is said in place of a table that is being made.
pub fn waiting_ui<K: Clone + PartialEq, V: Send + 'static>(ui: &mut egui::Ui, made: &Latest<K, V>) {
    ui.weak(made.failure().unwrap_or("Looking…"));
}

fn variables_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    table: &mut DataTable,
    made: &Made<VariableRows>,
    name: &str,
    titles: &[String],
    note: &str,
) {
    let Some((made_for, found)) = made.last() else {
        waiting_ui(ui, made);
        return;
    };
    let Some(variables) = found else {
        let absence = why_no_variables(page.report, made_for.scope != Scope::Everything);
        missing_ui(ui, "Variables", absence);
        return;
    };
    let rows: Arc<dyn Rows> = Arc::clone(variables) as Arc<dyn Rows>;
    let columns = variables.columns(titles);
    let selected = page.selection.variable.clone();
    let data = Data {
        name,
        title: "",
        note,
        columns: &columns,
        rows: &rows,
        is_selected: &|row| selected.is_some() && variables.name(row) == selected.as_deref(),
        paint: &no_paint,
    };
    let commands: &mut Vec<Command> = page.commands;
    if let Some(click) = table.ui(ui, &data, commands) {
        toggle(&mut page.selection.variable, variables.name(click.row));
    }
}

/// Selects a variable, or nothing where it was selected.
pub fn toggle(selected: &mut Option<String>, name: Option<&str>) {
    *selected = name.filter(|name| selected.as_deref() != Some(name)).map(str::to_owned);
}

/// What a step is called: "Step 12".
pub fn step_title(report: &Report, step: usize) -> String {
    let id = report.steps.get().and_then(|steps| steps.ids.get(step));
    id.map_or_else(|| format!("Step {step}"), |id| format!("Step {id}"))
}
