//! Every figure of both reports, with its difference.

use eframe::egui;
use std::sync::Arc;

use super::ComparedTable;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::text::grouped;
use crate::ui::report::PageContext;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::runs::Run;
use crate::ui::widget::data_table::Data;
use crate::ui::widget::rows::{CellValue, Listed, Rows, TableColumn};

/// Width of a column, points.
const FIGURE: f32 = 124.0;

pub fn figures_ui(
    shown: &mut ComparedTable,
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    both: [&Run; 2],
    found: &Arc<RunsCompared>,
) {
    let rows = shown.made.get(found, || -> Arc<dyn Rows> {
        let is_known = |figure: &&Figure| !figure.is_unknown();
        let rows = found.compared.figures.iter().filter(is_known).cloned().collect();
        Arc::new(Listed { rows, cell: |figure, column| cell(figure, 1, column) })
    });
    let [source, target] = both.map(|run| &*run.title);
    let relative = TableColumn::count(format!("Of {}", both[0].the()), FIGURE).not_summed();
    let columns = [
        TableColumn::rest("Figure"),
        TableColumn::bytes(source, FIGURE).not_summed(),
        TableColumn::bytes(target, FIGURE).not_summed(),
        TableColumn::bytes("Difference", FIGURE).not_summed(),
        TableColumn { unit: "percent", ..relative },
    ];
    let data = Data {
        note: found.matched().map_or("", |_| "bytes over all tiles"),
        ..Data::of("figures of both reports", &columns, Arc::clone(rows))
    };
    shown.table.ui(ui, &data, page.commands);
}

/// A figure of a run: its name, its value in the reference and in the run, its change, and that in percent.
pub fn cell(figure: &Figure, run: usize, column: usize) -> CellValue<'_> {
    if let Some(rate) = figure.rate_difference(run) {
        let rate_cell = |rate: Option<f64>| rate.map_or(CellValue::Nothing, CellValue::Rate);
        return match column {
            0 => CellValue::text(&*figure.title),
            1 => rate_cell(rate.source),
            2 => rate_cell(rate.target),
            3 => rate.change().map_or(CellValue::Nothing, CellValue::RateChange),
            _ => rate.percent().map_or(CellValue::Nothing, CellValue::Percent),
        };
    }
    let value = figure.difference(run);
    let of_one = |number: Option<i64>, run: usize| match (number, figure.unit) {
        (None, _) => CellValue::Nothing,
        (Some(number), Unit::Bytes) if figure.is_at_least(run) => {
            CellValue::AtLeast(number.unsigned_abs())
        }
        (Some(number), Unit::Bytes) => CellValue::Bytes(number.unsigned_abs()),
        (Some(number), Unit::Place) => CellValue::Id(number.unsigned_abs()),
        (Some(number), Unit::Microseconds) => {
            CellValue::text(format!("{} µs", grouped(number.unsigned_abs())))
        }
        (Some(number), Unit::Count | Unit::Cycles | Unit::SamplesPerSecond) => {
            CellValue::Count(number.unsigned_abs())
        }
    };
    match column {
        0 => CellValue::text(&*figure.title),
        1 => of_one(value.source, 0),
        2 => of_one(value.target, run),
        // Where something is, is no amount.
        _ if figure.unit == Unit::Place => CellValue::Nothing,
        3 => match (value.change(), figure.unit) {
            (None, _) => CellValue::Nothing,
            (Some(change), Unit::Bytes) => CellValue::Change(change),
            (Some(change), _) => CellValue::CountChange(change),
        },
        _ => value.percent().map_or(CellValue::Nothing, CellValue::Percent),
    }
}
