//! Below the curves of two reports: their peaks, and what differs at the selected steps.

use eframe::egui;
use std::sync::Arc;

use super::Both;
use super::compute::{Compared, EstimateRows, What, compared};
use super::derived::PairDerived;
use super::lifetimes::PairLifetimes;
use super::peaks::PairPeakRows;
use super::places::Places;
use super::variables::{PairVariables, Wanted};
use crate::analysis::liveness::{Scope, why_no_variables};
use crate::ui::job::Latest;
use crate::ui::report::differences::{DifferenceTable, Differences};
use crate::ui::report::liveness::compute::AtSteps;
use crate::ui::report::liveness::tables::{toggle, waiting_ui};
use crate::ui::report::{PageContext, reason_of, unread_ui};
use crate::ui::split;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::Rows;

/// Width that peaks and differences need side by side, points.
const ROOM: f32 = 1340.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Peaks,
    NotAlwaysLive,
    AlwaysLive,
    Lifetimes,
    Compared(What),
}

/// The rows of the peaks, and what they were made from.
struct Peaks {
    made_for: (u64, [bool; 2]),
    peaks: Arc<PairPeakRows>,
    rows: Arc<dyn Rows>,
}

/// The tables.
#[derive(Default)]
pub struct PairTables {
    tab: Tab,
    peaks: DataTable,
    peak_rows: Option<Peaks>,
    variables: PairVariables,
    not_always_live: DifferenceTable,
    always_live: DifferenceTable,
    lifetimes: PairLifetimes,
    categories: DifferenceTable,
    vertices: DifferenceTable,
    estimates: DataTable,
    compared: Latest<(Places, u64, What), Compared>,
}

impl std::fmt::Debug for PairTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairTables").field("tab", &self.tab).finish_non_exhaustive()
    }
}

/// What the tables are about in this frame.
pub struct Subject<'a> {
    /// Both reports.
    pub both: &'a Both<'a>,
    /// Their curves.
    pub derived: &'a Arc<PairDerived>,
    /// The selected slot, or the peaks.
    pub places: Places,
    /// The slots that the picture shows.
    pub range: (f64, f64),
}

impl Subject<'_> {
    /// What the figures are of.
    fn note(&self, places: &Places) -> String {
        let reports = self.both.plain();
        let title = places.title(reports);
        let title = match places.slot {
            Some(_) => format!("at {title}"),
            None => format!("each at its own peak: {title}"),
        };
        let absence = places.absence(reports).map_or(String::new(), |text| format!(" ({text})"));
        format!("{title}{absence}")
    }
}

impl PairTables {
    /// Draws the tables; returns the slot of a peak that was clicked, and whether it joins the selected
    /// ones.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
    ) -> Option<(usize, bool)> {
        let width = ui.available_width();
        if width < ROOM {
            self.tabs_ui(ui, true);
            if self.tab == Tab::Peaks {
                return self.peaks_ui(ui, page, subject);
            }
            self.tab_ui(ui, page, subject);
            return None;
        }
        let widths = 400.0..=(width * 0.65);
        let clicked = split::left(ui, "peaks of both", width * 0.5, widths, |ui| {
            self.peaks_ui(ui, page, subject)
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
                (Tab::Compared(What::Categories), "Categories"),
                (Tab::Compared(What::Runs(AtSteps::Vertices)), "Vertices"),
                (Tab::Compared(What::Runs(AtSteps::Cycles)), "Cycle estimates"),
                (Tab::Compared(What::Runs(AtSteps::Flops)), "FLOP estimates"),
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
        let (both, derived) = (subject.both, subject.derived);
        let are_known = both.reports.map(|report| report.debug.is_settled());
        let made_for = (derived.version, are_known);
        if self.peak_rows.as_ref().is_none_or(|rows| rows.made_for != made_for) {
            let peaks = Arc::new(PairPeakRows::new(both.shared(), derived));
            let rows: Arc<dyn Rows> = Arc::clone(&peaks) as Arc<dyn Rows>;
            self.peak_rows = Some(Peaks { made_for, peaks, rows });
        }
        let Peaks { peaks, rows, .. } = self.peak_rows.as_ref()?;
        let slots = &page.selection.steps;
        let data = Data {
            name: "peaks of both",
            title: "Peaks",
            note: "largest first, not always live",
            columns: &PairPeakRows::columns(),
            rows,
            is_selected: &|row| peaks.slot(row).is_some_and(|slot| slots.contains(&slot)),
            paint: &no_paint,
        };
        let click = self.peaks.ui(ui, &data, page.commands)?;
        Some((peaks.slot(click.row)?, click.is_added))
    }

    fn tab_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, subject: &Subject<'_>) {
        let (both, derived, places) = (subject.both, subject.derived, subject.places);
        let has_tiles =
            |report: &Arc<crate::store::Report>| report.tile_variable_bytes.is_settled();
        if derived.scope != Scope::Everything && !both.reports.into_iter().all(has_tiles) {
            unread_ui(ui, "Variables by tile", both.is_working);
            return;
        }
        match self.tab {
            Tab::Peaks => {}
            Tab::NotAlwaysLive => {
                self.variables_ui(ui, page, subject, Wanted::NotAlwaysLive(places));
            }
            Tab::AlwaysLive if derived.scope == Scope::WorstTile => absent_ui(
                ui,
                "Each step has a worst tile of its own",
                "Choose one tile as the scope to see what always lives there",
            ),
            Tab::AlwaysLive => self.variables_ui(ui, page, subject, Wanted::AlwaysLive),
            Tab::Lifetimes => {
                self.lifetimes.ui(ui, page, both, derived, places, subject.range);
            }
            Tab::Compared(what) => self.compared_ui(ui, page, subject, what),
        }
    }

    fn variables_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
        wanted: Wanted,
    ) {
        let found = self.variables.ask(ui.ctx(), subject.both, subject.derived, wanted);
        let (note, entries) = match found {
            None => {
                ui.weak(self.variables.failure().unwrap_or("Looking…"));
                return;
            }
            Some((_, Err(side))) => {
                let title = "Variables are not in both reports";
                let is_by_tile = subject.derived.scope != Scope::Everything;
                let absence = why_no_variables(subject.both.report(*side), is_by_tile);
                absent_ui(ui, title, &format!("{}: {}", side.title(), reason_of(absence)));
                return;
            }
            Some((Wanted::AlwaysLive, Ok(entries))) => ("always live".to_owned(), entries),
            Some((Wanted::NotAlwaysLive(places), Ok(entries))) => (subject.note(&places), entries),
        };
        let (name, table) = match wanted {
            Wanted::AlwaysLive => ("always live variables of both", &mut self.always_live),
            Wanted::NotAlwaysLive(_) => {
                ("not always live variables of both", &mut self.not_always_live)
            }
        };
        let selected = page.selection.variable.clone();
        let shown = Differences {
            name,
            note: &note,
            entries,
            is_selected: &|entry| selected.as_ref() == Some(&entry.name),
        };
        if let Some(entry) = table.ui(ui, &shown, page.commands, &mut |_| {}) {
            toggle(&mut page.selection.variable, Some(&entry.name));
        }
    }

    fn compared_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &Subject<'_>,
        what: What,
    ) {
        let both = subject.both;
        if !both.reports.into_iter().all(|report| what.is_settled(report)) {
            let parts = match what {
                What::Categories => "Variables",
                What::Runs(_) => "Compute sets and exchanges",
            };
            unread_ui(ui, parts, both.is_working);
            return;
        }
        let key = (subject.places, subject.derived.version, what);
        let (reports, derived, places) =
            (both.shared(), Arc::clone(subject.derived), subject.places);
        self.compared.ask("what differs at steps", ui.ctx(), &key, move |_| {
            compared(reports.each_ref().map(|report| &**report), &derived, &places, what)
        });
        let Some(((places, _, shown), found)) = self.compared.last() else {
            waiting_ui(ui, &self.compared);
            return;
        };
        let with_place = |note: &str| format!("{}; {note}", subject.note(places));
        match found {
            Compared::Nothing(title, reason) => absent_ui(ui, title, reason),
            Compared::Entries(entries, note) => {
                let (name, table) = match shown {
                    What::Categories => ("categories of both", &mut self.categories),
                    What::Runs(_) => ("vertices at steps of both", &mut self.vertices),
                };
                let shown =
                    Differences { name, note: &with_place(note), entries, is_selected: &|_| false };
                table.ui(ui, &shown, page.commands, &mut |_| {});
            }
            Compared::Figures(rows, note) => {
                let rows: Arc<dyn Rows> = Arc::clone(rows) as Arc<dyn Rows>;
                let data = Data {
                    name: "estimates of both",
                    title: "",
                    note: &with_place(note),
                    columns: &EstimateRows::columns(),
                    rows: &rows,
                    is_selected: &|_| false,
                    paint: &no_paint,
                };
                self.estimates.ui(ui, &data, page.commands);
            }
        }
    }
}
