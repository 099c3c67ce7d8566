//! The operations of a software layer: what each takes and needs, which are dear in memory and in cycles, and all that
//! is known of the chosen one. One table, of several runs with a column for each and its change.

pub mod columns;

mod by_tile;
mod calls;
mod found;
mod inspector;
mod maker;
mod rows;
mod scatter;

use eframe::egui::{self, Align, Layout, Margin};
use std::sync::Arc;

use super::head::page_head_with_ui;
use super::{PageContext, unread_ui};
use crate::analysis::compute::estimates::NoEstimate;
use crate::analysis::operations::{FigureByTile, OperationFigure};
use crate::text::shortened;
use crate::ui::job::{Made, Same};
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::BETWEEN_CARDS;
use crate::ui::widget::card::{picture_card_ui, table_card_ui};
use crate::ui::widget::choice::{choice_ui, segments_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::rows::TableColumn;
use by_tile::OperationTiles;
use calls::CallsView;
use found::{ChosenLayer, NEEDS, OperationsOfRuns};
use inspector::Inspector;
use maker::MakerOfVariable;
use rows::{OperationLines, OperationRows};
use scatter::OperationScatter;

/// Least height of the pictures below the table, points.
const LEAST: f32 = 120.0;
/// Width from which both pictures stand beside each other.
const BOTH: f32 = 640.0;

/// What a machine of tiles has: cycles, and code on each of them.
const OF_MACHINE: Needs = &[Needed::ComputeSets, Needed::Exchanges];

pub struct OperationsPage {
    layer: ChosenLayer,
    lines: OperationLines,
    /// What memory is held against cycles.
    memory: OperationFigure,
    found: RunsAnswer<ChosenLayer, Option<Arc<OperationsOfRuns>>>,
    table: DataTable,
    shown: Made<ShownOperationsKey, Arc<ShownOperations>>,
    tile_figure: FigureByTile,
    by_tile: OperationTiles,
    inspector: Inspector,
    maker: MakerOfVariable,
    calls: CallsView,
}

/// What it is of, what its lines are, the memory that is held against cycles, and the columns.
type ShownOperationsKey =
    (Same<OperationsOfRuns>, OperationLines, OperationFigure, Vec<OperationFigure>);

/// What is drawn.
struct ShownOperations {
    rows: Arc<OperationRows>,
    columns: Vec<TableColumn>,
    scatter: Option<OperationScatter>,
}

impl Default for OperationsPage {
    fn default() -> Self {
        Self {
            layer: None,
            lines: OperationLines::default(),
            memory: OperationFigure::WorstLive,
            found: RunsAnswer::default(),
            // What takes most at the peak.
            table: DataTable::sorted_by(2),
            shown: Made::default(),
            tile_figure: FigureByTile::Code,
            by_tile: OperationTiles::default(),
            inspector: Inspector::default(),
            maker: MakerOfVariable::default(),
            calls: CallsView::default(),
        }
    }
}

impl RunsPage for OperationsPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        match self.calls.ask(ui, runs) {
            Some(false) => {}
            Some(true) => return self.calls.ui(ui, page),
            None => return unread_ui(ui, "Operations", true),
        }
        if runs.are_read(NEEDS) {
            let layer = self.layer.clone();
            let (needs, key) = ((runs, NEEDS), &self.layer);
            self.found.ask("operations", ui.ctx(), needs, key, move |runs, cancel| {
                OperationsOfRuns::of(runs, &layer, cancel).map(Arc::new)
            });
        }
        let found = self.found.get((runs, NEEDS), &self.layer).and_then(Option::as_ref);
        let found = found.map(Arc::clone);
        self.head_ui(ui, page, found.as_deref());
        let Some(found) = found else {
            match self.found.failure() {
                Some(failure) => absent_ui(ui, failure, ""),
                None => unread_ui(ui, "Operations", runs.is_working() || runs.are_read(NEEDS)),
            }
            return;
        };
        if found.rows.is_empty() {
            absent_ui(ui, "No operation is known", &why_none(runs));
            return;
        }
        let shown = self.arrange(ui, runs, &found);
        let variable = page.selection.newest_variable();
        let maker = self.maker.ask(ui.ctx(), runs.reference(), variable, &found);
        let selected = page.selection.operation();
        let chosen = maker.or_else(|| found.position(selected?));
        let inspector = &mut self.inspector;
        inspector_ui(ui, |ui| inspector.ui(ui, page, &found, chosen));
        if runs.are_foreign_to(OF_MACHINE) {
            self.table_ui(ui, page, &found, &shown, chosen);
            return;
        }
        let height = ui.available_height();
        let least = LEAST.min(height * 0.5);
        split::below(ui, "operations", height * 0.36, least..=height * 0.7, |ui| {
            self.pictures_ui(ui, page, &found, &shown, chosen);
        });
        let margin = Margin { bottom: BETWEEN_CARDS as i8, ..Margin::ZERO };
        split::rest(ui, margin, |ui| self.table_ui(ui, page, &found, &shown, chosen));
    }
}

impl OperationsPage {
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: Option<&OperationsOfRuns>,
    ) {
        let after = |ui: &mut egui::Ui| {
            if let Some(found) = found {
                ui.add(egui::Label::new(egui::RichText::new(&found.summary).weak()).truncate());
            }
        };
        let (layer, lines, commands) = (&mut self.layer, &mut self.lines, &mut *page.commands);
        let layers = found.map_or(&[][..], |found| &found.layers);
        let report = &page.runs.reference().report;
        page_head_with_ui(ui, "Operations", None, after, |ui| {
            columns::menu_ui(ui, commands);
            let choices =
                [(OperationLines::Operations, "Operations"), (OperationLines::Modules, "Modules")];
            segments_ui(ui, "What a line stands for", lines, choices);
            if layers.len() < 2 && layer.is_none() {
                return;
            }
            let choices = std::iter::once(None).chain(layers.iter().cloned().map(Some));
            let title = |layer: &ChosenLayer| match layer {
                None => report
                    .title_of_calls()
                    .map_or("Nearest".to_owned(), |calls| format!("{calls}, else above")),
                Some(layer) => shortened(report.layer_title(layer), 30).into_owned(),
            };
            choice_ui(ui, "Software layer", 150.0, layer, choices, title).on_hover_text(
                "The software layer whose operations are listed. By default each step belongs to \
                 its library call or, without one, to the nearest layer above",
            );
        });
    }

    /// Makes what is drawn, when anything has changed that it depends on.
    fn arrange(
        &mut self,
        ui: &egui::Ui,
        runs: &Runs,
        found: &Arc<OperationsOfRuns>,
    ) -> Arc<ShownOperations> {
        let mut figures = columns::now(ui.ctx());
        // What the system has nothing of needs no column.
        let is_of_machine = !runs.are_foreign_to(OF_MACHINE);
        figures.retain(|figure| is_of_machine || found.has(*figure) || !figure.adds_up());
        let key = (Same(Arc::clone(found)), self.lines, self.memory, figures);
        Arc::clone(self.shown.of(key, |(Same(found), lines, memory, figures)| {
            let rows = OperationRows::new(Arc::clone(found), *lines, figures, is_of_machine);
            let (columns, scatter) = (rows.columns(runs), OperationScatter::new(found, *memory));
            Arc::new(ShownOperations { rows: Arc::new(rows), columns, scatter })
        }))
    }

    fn table_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &OperationsOfRuns,
        shown: &ShownOperations,
        chosen: Option<usize>,
    ) {
        let rows = &shown.rows;
        let note = if page.runs.are_foreign_to(OF_MACHINE) {
            "with a row for bytes without an operation; bytes at shared addresses count once"
        } else {
            "with a row for steps without an operation; estimates count each step once"
        };
        let is_selected = |line: usize| chosen.is_some() && rows.operation(line) == chosen;
        let clicked = table_card_ui(ui, |ui| {
            let data = Data {
                title: "Operations",
                note,
                is_selected: &is_selected,
                ..Data::of("Operations", &shown.columns, Arc::clone(rows) as _)
            };
            self.table.ui(ui, &data, page.commands)
        });
        let row = clicked.and_then(|clicked| rows.operation(clicked.row));
        if let Some(row) = row {
            let is_chosen = chosen == Some(row);
            let name = found.names.get(row).filter(|_| !is_chosen);
            page.selection.select_operation(name.cloned());
        }
    }

    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &Arc<OperationsOfRuns>,
        shown: &ShownOperations,
        chosen: Option<usize>,
    ) {
        let room = ui.available_size();
        let is_wide = room.x >= BOTH;
        let width = if is_wide { (room.x - BETWEEN_CARDS) / 2.0 } else { room.x };
        let (size, column) = (egui::vec2(width, room.y), Layout::top_down(Align::Min));
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
            if is_wide {
                ui.allocate_ui_with_layout(size, column, |ui| {
                    self.scatter_ui(ui, page, found, shown, chosen);
                });
            }
            ui.allocate_ui_with_layout(size, column, |ui| {
                let mut exports = Vec::new();
                let mut figure = self.tile_figure;
                let (by_tile, layer) = (&mut self.by_tile, &self.layer);
                let now = figure;
                let runs = page.runs;
                let choice = |ui: &mut egui::Ui| self::by_tile::choice_ui(ui, runs, &mut figure);
                picture_card_ui(ui, "By tile", &mut exports, choice, |ui| {
                    by_tile.ui(ui, page, layer, found, chosen, now);
                });
                self.tile_figure = figure;
                page.commands.append(&mut exports);
            });
        });
    }

    fn scatter_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &OperationsOfRuns,
        shown: &ShownOperations,
        chosen: Option<usize>,
    ) {
        let memory = &mut self.memory;
        let mut exports = Vec::new();
        let at_right = |ui: &mut egui::Ui| {
            let choices =
                [(OperationFigure::WorstLive, "Worst"), (OperationFigure::PeakLive, "Peak")];
            segments_ui(ui, "Which bytes are plotted against cycles", memory, choices);
        };
        let clicked = picture_card_ui(ui, "Cycles against memory", &mut exports, at_right, |ui| {
            ui.set_min_height(ui.available_height());
            let Some(scatter) = &shown.scatter else {
                let absences = page.runs.iter().filter_map(|run| run.report.execution.absence());
                let why = absences.take(1).map(ToString::to_string).collect::<String>();
                ui.weak(format!("No cycles are known. {why}. {}", NoEstimate::NotInReport));
                return None;
            };
            scatter.ui(ui, page.runs, found, chosen)
        });
        page.commands.append(&mut exports);
        if let Some(row) = clicked {
            page.selection.select_operation(found.names.get(row).cloned());
        }
    }
}

fn why_none(runs: &Runs) -> String {
    let absence = runs.iter().find_map(|run| run.report.debug.absence());
    absence.map_or_else(
        || "No step belongs to an operation of this layer".to_owned(),
        ToString::to_string,
    )
}
