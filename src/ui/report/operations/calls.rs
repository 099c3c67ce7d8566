//! The calls of a run whose steps are calls: a table of all of them, and the inspector of the one that is selected, which is
//! the step on the other pages.

use eframe::egui;
use std::sync::Arc;

use crate::analysis::liveness::Scope;
use crate::run::Cell;
use crate::run::beside_curve::StepSaid;
use crate::run::calls::{CallColumn, CallList, CallRow, CallUnit};
use crate::store::DeviceId;
use crate::text::counted;
use crate::ui::command::{Command, Page};
use crate::ui::report::head::page_head_with_ui;
use crate::ui::report::moment::step_id;
use crate::ui::report::step_said::step_said_ui;
use crate::ui::report::{PageContext, unread_ui};
use crate::ui::runs::{PerRun, Run, RunId, Runs, RunsAnswer, StepAt};
use crate::ui::widget::card::table_card_ui;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::inspector::{inspector_ui, title_ui};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Least column widths in points: figures, and words (a tensor with shape and type).
const WIDTH: f32 = 96.0;
const WORDS: f32 = 230.0;
/// The column by which the table is sorted at first: the first of figures of bytes.
const AT_FIRST: usize = 2;

/// A run's calls as rows with columns.
type CallsOfRun = Option<(Arc<CallRows>, Arc<[TableColumn]>)>;

pub struct CallsView {
    /// The run whose calls are shown; else the reference.
    run: Option<RunId>,
    lists: RunsAnswer<(), PerRun<CallsOfRun>>,
    table: DataTable,
    said: RunsAnswer<(RunId, u32, usize), Option<StepSaid>>,
}

impl Default for CallsView {
    fn default() -> Self {
        let (lists, said) = (RunsAnswer::default(), RunsAnswer::default());
        Self { run: None, lists, table: DataTable::sorted_by(AT_FIRST), said }
    }
}

impl CallsView {
    /// Asks for the calls of all runs; whether the steps of the reference are calls, as far as that is known.
    pub fn ask(&mut self, ui: &egui::Ui, runs: &Arc<Runs>) -> Option<bool> {
        self.lists.ask("calls", ui.ctx(), (runs, &[]), &(), |runs, _| {
            runs.iter().map(CallRows::of_run).collect()
        });
        let ((), lists) = self.lists.last(runs)?;
        Some(lists.first().is_some_and(Option::is_some))
    }

    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let place = self.run.and_then(|id| runs.position(id)).unwrap_or(0);
        let list = self.lists.last(&runs).and_then(|((), lists)| lists.get(place)?.clone());
        let (Some((rows, columns)), Some(run)) = (list, runs.get(place)) else {
            return unread_ui(ui, "Operations", true);
        };
        let count = counted(rows.list.calls.len() as u64, "operation");
        let after = |ui: &mut egui::Ui| drop(ui.weak(count));
        page_head_with_ui(ui, "Operations", None, after, |ui| {
            if !runs.is_one() {
                let titles = runs.iter().map(|run| (Some(run.id), run.title.to_string()));
                let mut now = Some(run.id);
                segments_ui(ui, "The run whose operations are listed", &mut now, titles);
                self.run = now;
            }
        });
        let step = page.selection.step_of(run.id);
        // The selected device may be another memory, which has no calls.
        let has_calls = |device: &DeviceId| rows.list.calls.iter().any(|it| it.device == *device);
        let device = page.selection.device.filter(has_calls).or_else(|| run.derived.first_device());
        let is_it = |call: &CallRow| {
            Some(call.step) == step && device.is_none_or(|device| device == call.device)
        };
        let is_selected = |row: usize| rows.list.calls.get(row).is_some_and(is_it);
        let chosen = rows.list.calls.iter().find(|call| is_it(call));
        inspector_ui(ui, |ui| self.inspect_ui(ui, page, run, chosen));
        let clicked = table_card_ui(ui, |ui| {
            let data = Data {
                title: "Operations",
                note: rows.list.note,
                is_selected: &is_selected,
                ..Data::of("Operations", &columns, Arc::clone(&rows) as _)
            };
            self.table.ui(ui, &data, page.commands)
        });
        if let Some(call) = clicked.and_then(|clicked| rows.list.calls.get(clicked.row)) {
            page.selection.steps = vec![StepAt { run: run.id, step: call.step }];
            if run.derived.first_device().is_some() {
                page.selection.device = Some(call.device);
            }
        }
    }

    fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        run: &Run,
        call: Option<&CallRow>,
    ) {
        let Some(call) = call else {
            title_ui(ui, "Operation", "None selected", "Click an operation to select it");
            return;
        };
        let system = &run.report.system;
        let kind = format!("{} {}", system.step, step_id(&run.report, call.step));
        let name = match call.cells.first() {
            Some(Cell::Text(name)) => name.as_str(),
            _ => "",
        };
        title_ui(ui, &kind, &crate::text::clean(name), &run.report.device_title(call.device));
        for (title, to) in [("Show in Liveness", Page::Liveness), ("Show on the map", Page::Map)] {
            if ui.button(title).clicked() {
                page.commands.push(Command::Go(to));
            }
        }
        ui.add_space(4.0);
        let key = (run.id, call.device.0, call.step);
        let (derived, scope, step) =
            (Arc::clone(&run.derived), Scope::Device(call.device), call.step);
        self.said.ask("what a call did", ui.ctx(), (page.runs, &[]), &key, move |_, _| {
            derived.answers().step_said(&derived, scope, step)
        });
        let said = self.said.last(page.runs).filter(|(of, _)| **of == key);
        if let Some((_, Some(said))) = said {
            step_said_ui(ui, said);
        }
    }
}

/// The calls of a run.
struct CallRows {
    list: CallList,
}

impl CallRows {
    fn of_run(run: &Run) -> CallsOfRun {
        let list = run.derived.answers().calls(&run.derived)?;
        let columns = list.columns.iter().map(table_column).collect();
        Some((Arc::new(Self { list }), columns))
    }
}

fn table_column(column: &CallColumn) -> TableColumn {
    let of = match column.unit {
        CallUnit::Words => TableColumn::text(column.title, WORDS),
        CallUnit::Bytes => TableColumn::bytes(column.title, WIDTH).not_summed(),
        CallUnit::Number => TableColumn::count(column.title, WIDTH).not_summed(),
    };
    of.counted_by(column.rule)
}

impl Rows for CallRows {
    fn len(&self) -> usize {
        self.list.calls.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        match self.list.calls.get(row).and_then(|call| call.cells.get(column)) {
            Some(Cell::Text(text)) => CellValue::text(text.as_str()),
            Some(Cell::Bytes(bytes)) => CellValue::Bytes(*bytes),
            Some(Cell::Count(count)) => CellValue::Count(*count),
            Some(Cell::Empty) | None => CellValue::Nothing,
        }
    }
}
