//! Below the curve: its peaks, and the variables at a step.

use eframe::egui;
use eframe::egui::RichText;

use super::derived::Derived;
use crate::analysis::liveness::{NamedBytes, Scope, always_live_variables, variables_at};
use crate::analysis::steps;
use crate::store::Report;
use crate::store::liveness::Liveness;
use crate::text;
use crate::ui::selection::Selection;
use crate::ui::widget::table::{Cell, ColumnSpec, Table};

/// Longest name in a cell; the tooltip has more.
const CELL_NAME: usize = 120;
/// Width that the tables need side by side, points.
const ROOM: f32 = 820.0;
/// Between two tables, points.
const COLUMN_GAP: f32 = 20.0;
/// Longest name in a tooltip.
const HOVER_NAME: usize = 1000;

/// Variables with their sum.
#[derive(Debug, Default)]
struct Variables {
    rows: Vec<NamedBytes>,
    total: u64,
}

impl Variables {
    fn new(rows: Vec<NamedBytes>) -> Self {
        let total = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        Self { rows, total }
    }
}

/// The tables, made anew when another step is selected.
#[derive(Debug, Default)]
pub struct Tables {
    at_step: Option<(usize, Variables)>,
    always_live: Option<Variables>,
    /// What is shown where there is no room for all.
    tab: Tab,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Peaks,
    AtStep,
    AlwaysLive,
}

impl Tables {
    /// Draws the tables; returns the step of a peak that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        liveness: &Liveness,
        derived: &Derived,
        selection: &Selection,
    ) -> Option<usize> {
        let width = ui.available_width();
        let mut clicked = None;
        if width < ROOM {
            ui.horizontal(|ui| {
                for (tab, title) in [
                    (Tab::Peaks, "Peaks"),
                    (Tab::AtStep, "Variables at step"),
                    (Tab::AlwaysLive, "Always-live variables"),
                ] {
                    ui.selectable_value(&mut self.tab, tab, title);
                }
            });
            match self.tab {
                Tab::Peaks => clicked = peaks_ui(ui, report, derived, selection),
                Tab::AtStep => self.at_step_ui(ui, report, liveness, derived, selection),
                Tab::AlwaysLive => self.always_live_ui(ui, liveness, derived),
            }
            return clicked;
        }
        egui::Panel::left("peaks")
            .resizable(true)
            .default_size(width * 0.44)
            .size_range(200.0..=(width * 0.6))
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { right: 10, ..Default::default() }),
            )
            .show(ui, |ui| clicked = peaks_ui(ui, report, derived, selection));
        let frame =
            egui::Frame::new().inner_margin(egui::Margin { left: 10, ..Default::default() });
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = COLUMN_GAP;
            ui.columns_const(|[middle, right]| {
                self.at_step_ui(middle, report, liveness, derived, selection);
                self.always_live_ui(right, liveness, derived);
            });
        });
        clicked
    }

    /// The variables at the selected step, or at the peak.
    fn at_step_ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        liveness: &Liveness,
        derived: &Derived,
        selection: &Selection,
    ) {
        let Some(rows) = &liveness.variable_bytes else {
            ui.weak("The profile has no readable table var_bytes_by_eq_class");
            return;
        };
        let Some(step) = selection.step().or(derived.peak) else { return };
        if self.at_step.as_ref().is_none_or(|(made_for, _)| *made_for != step) {
            self.at_step = Some((step, Variables::new(variables_at(rows, liveness, step))));
        }
        let id = report.steps.get().and_then(|steps| steps.ids.get(step));
        let id = id.map_or(String::new(), |id| id.to_string());
        let which = if selection.step().is_some() { "step" } else { "the peak, step" };
        let title = format!("Not always live at {which} {id}");
        if let Some((_, variables)) = &self.at_step {
            variables_ui(ui, &title, "variables at step", derived, variables);
        }
    }

    fn always_live_ui(&mut self, ui: &mut egui::Ui, liveness: &Liveness, derived: &Derived) {
        // The table beside this one says so when it is absent.
        let Some(rows) = &liveness.variable_bytes else { return };
        let always_live = self
            .always_live
            .get_or_insert_with(|| Variables::new(always_live_variables(rows, liveness)));
        variables_ui(ui, "Always live", "always live", derived, always_live);
    }
}

fn peaks_ui(
    ui: &mut egui::Ui,
    report: &Report,
    derived: &Derived,
    selection: &Selection,
) -> Option<usize> {
    title_ui(ui, "Peaks", &text::grouped(derived.peaks.len() as u64));
    let columns = [
        ColumnSpec::text("Step", 58.0),
        ColumnSpec::number("Bytes", 82.0),
        ColumnSpec::text("Operation", 110.0),
        ColumnSpec::rest("Kind and name"),
    ];
    let table = Table {
        id: "peaks",
        columns: &columns,
        rows: derived.peaks.len(),
        selected: derived.peaks.iter().position(|peak| Some(peak.step) == selection.step()),
        is_clickable: true,
    };
    let row = table.ui(ui, |row, column| {
        let Some(peak) = derived.peaks.get(row) else { return Cell::default() };
        match column {
            0 => {
                let id = report.steps.get().and_then(|steps| steps.ids.get(peak.step));
                Cell::new(id.map_or(String::new(), |id| id.to_string()))
            }
            1 => {
                Cell::new(text::bytes(peak.bytes)).hover(format!("{} B", text::grouped(peak.bytes)))
            }
            2 => long_cell(&operation_text(report, peak.step)),
            _ => long_cell(&kind_and_name(report, peak.step)),
        }
    })?;
    derived.peaks.get(row).map(|peak| peak.step)
}

/// A cell whose tooltip has more of a long name.
fn long_cell(name: &str) -> Cell<'static> {
    Cell::new(text::shortened(name, CELL_NAME).into_owned())
        .hover(text::shortened(name, HOVER_NAME).into_owned())
}

/// What the operation of a step does, and its proportion of memory if it has one.
fn operation_text(report: &Report, step: usize) -> String {
    let Some(operation) = steps::facts(report, step).and_then(|facts| facts.operation) else {
        return String::new();
    };
    let kind = operation.kind.unwrap_or(operation.layer);
    match operation.available_memory_proportion {
        Some(value) => format!("{kind} {value}"),
        None => kind,
    }
}

fn kind_and_name(report: &Report, step: usize) -> String {
    let Some(facts) = steps::facts(report, step) else { return String::new() };
    facts.kind.into_iter().chain(facts.name).collect::<Vec<_>>().join(" ")
}

fn variables_ui(
    ui: &mut egui::Ui,
    title: &str,
    id: &str,
    derived: &Derived,
    variables: &Variables,
) {
    let count = text::grouped(variables.rows.len() as u64);
    // The table of the file that names variables is summed over all tiles.
    let of = if derived.scope == Scope::Everything { "" } else { ", of all IPUs" };
    title_ui(ui, title, &format!("{count}{of}"));
    let columns = [ColumnSpec::rest("Variable"), ColumnSpec::number("Bytes", 96.0)];
    let table = Table {
        id,
        columns: &columns,
        rows: variables.rows.len() + 1,
        selected: None,
        is_clickable: false,
    };
    table.ui(ui, |row, column| {
        let Some(row) = row.checked_sub(1).map(|row| variables.rows.get(row)) else {
            return match column {
                0 => Cell::new("Total").strong(true),
                _ => bytes_cell(variables.total).strong(true),
            };
        };
        match (row, column) {
            (Some(row), 0) => Cell::new(text::shortened(&row.name, CELL_NAME))
                .hover(text::shortened(&row.name, HOVER_NAME)),
            (Some(row), _) => bytes_cell(row.bytes),
            (None, _) => Cell::default(),
        }
    });
}

fn bytes_cell<'a>(bytes: u64) -> Cell<'a> {
    Cell::new(text::bytes(bytes)).hover(format!("{} B", text::grouped(bytes)))
}

fn title_ui(ui: &mut egui::Ui, title: &str, count: &str) {
    ui.spacing_mut().item_spacing.x = 8.0;
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(RichText::new(title).strong().size(15.0)).truncate());
        ui.weak(count);
    });
}
