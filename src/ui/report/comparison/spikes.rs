//! The peaks of both curves, each beside the step of the other report that it is matched to.

use eframe::egui;
use std::sync::Arc;

use super::ComparedTable;
use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::matching::Sureness;
use crate::analysis::comparison::slot_peaks::Spike;
use crate::analysis::figures::difference::Side;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::ui::command::{Command, Page};
use crate::ui::report::PageContext;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::widget::data_table::Data;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of bytes, points.
const BYTES: f32 = 104.0;

struct SpikeRows {
    found: Arc<RunsCompared>,
    reports: [Arc<Report>; 2],
    only_in: [String; 2],
}

impl SpikeRows {
    fn what(&self, spike: &Spike) -> String {
        let what = |(report, step): (&Arc<Report>, Option<usize>)| {
            let facts = steps::facts(report, None, step?)?;
            let name = facts.name.or(facts.kind).unwrap_or_default();
            let operation = facts.operation.and_then(|operation| operation.kind);
            Some(match operation {
                Some(operation) => format!("{name} ({operation})"),
                None => name,
            })
        };
        // Steps that are matched by their place alone may do different things.
        let mut whats: Vec<String> =
            self.reports.iter().zip(spike.steps).filter_map(what).collect();
        whats.dedup();
        whats.join(" → ")
    }

    fn step(&self, side: Side, spike: &Spike) -> CellValue<'static> {
        let report = side.of(self.reports.each_ref());
        let id = side.of(spike.steps).and_then(|step| report.steps.get()?.ids.get(step));
        id.map_or(CellValue::Nothing, |id| CellValue::Id(u64::from(id.0)))
    }
}

impl Rows for SpikeRows {
    fn len(&self) -> usize {
        self.found.spikes.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(spike) = self.found.spikes.get(row) else { return CellValue::Nothing };
        let bytes = |bytes: Option<i64>| {
            CellValue::bytes(bytes.and_then(|bytes| u64::try_from(bytes).ok()))
        };
        match column {
            0 => CellValue::text(self.what(spike)),
            1 => self.step(Side::Source, spike),
            2 => self.step(Side::Target, spike),
            3 => bytes(spike.bytes.source),
            4 => bytes(spike.bytes.target),
            5 => spike.bytes.change().map_or(CellValue::Nothing, CellValue::Change),
            _ => match (spike.steps, spike.sureness) {
                ([Some(_), None], _) => CellValue::text(&*self.only_in[0]),
                ([None, Some(_)], _) => CellValue::text(&*self.only_in[1]),
                (_, Some(Sureness::Exact)) => CellValue::text("name, operation"),
                (_, Some(Sureness::Likely)) => CellValue::text("name except numbers"),
                (_, Some(Sureness::Weak)) => CellValue::text("place only"),
                _ => CellValue::Nothing,
            },
        }
    }
}

/// Draws the table; a click selects the steps, a second one shows them in the curve.
pub fn spikes_ui(
    shown: &mut ComparedTable,
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    pair: &PairOfRuns<'_>,
    found: &Arc<RunsCompared>,
) {
    if found.spikes.is_empty() {
        absent_ui(ui, "No spikes", "One of the reports has no curve over steps");
        return;
    }
    let rows = shown.made.get(found, || -> Arc<dyn Rows> {
        let reports = pair.runs.map(|run| Arc::clone(&run.report));
        let only_in = Side::BOTH.map(|side| pair.only_in(side));
        let rows = SpikeRows { found: Arc::clone(found), reports, only_in };
        Arc::new(rows)
    });
    let [source, target] = pair.titles();
    let columns = [
        TableColumn::rest("Spike"),
        TableColumn::text(format!("{source} step"), 84.0),
        TableColumn::text(format!("{target} step"), 84.0),
        TableColumn::bytes(source, BYTES).not_summed(),
        TableColumn::bytes(target, BYTES).not_summed(),
        TableColumn::bytes("Difference", BYTES).not_summed(),
        TableColumn::text("Matched by", 112.0),
    ];
    let slot = |row: usize| {
        let spike = found.spikes.get(row)?;
        Side::BOTH.into_iter().find_map(|side| pair.slot(side, side.of(spike.steps)?))
    };
    let selected = page.selection.slots(page.runs);
    let is_selected = |row: usize| slot(row).is_some_and(|slot| selected.contains(&slot));
    let data = Data {
        note: "not always live; click to see a spike in the curve",
        is_selected: &is_selected,
        ..Data::of("spikes of both reports", &columns, Arc::clone(rows))
    };
    let click = shown.table.ui(ui, &data, page.commands);
    if let Some(slot) = click.and_then(|click| slot(click.row)) {
        page.selection.select_slot(page.runs, slot);
        page.commands.push(Command::Go(Page::Liveness));
    }
}
