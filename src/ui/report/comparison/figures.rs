//! Every figure of both reports, with its difference.

use eframe::egui;
use std::sync::Arc;

use super::ComparedTable;
use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::systems::poplar::insights::compared::Compared;
use crate::text::grouped;
use crate::ui::report::PageContext;
use crate::ui::widget::data_table::Data;
use crate::ui::widget::rows::{Column, Listed, Rows, Value};

/// Width of a column, points.
const FIGURE: f32 = 124.0;

pub fn figures_ui(
    shown: &mut ComparedTable,
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    pair: &PairOfRuns<'_>,
    found: &Arc<Compared>,
) {
    let rows = shown.made.get(found, || -> Arc<dyn Rows> {
        let is_known = |figure: &&Figure| figure.values.iter().any(Option::is_some);
        let rows = found.figures.iter().filter(is_known).cloned().collect();
        Arc::new(Listed { rows, cell: |figure, column| cell(figure, 1, column) })
    });
    let [source, target] = pair.titles();
    let relative = Column::count(pair.relative_title(), FIGURE).not_summed();
    let columns = [
        Column::rest("Figure"),
        Column::bytes(source, FIGURE).not_summed(),
        Column::bytes(target, FIGURE).not_summed(),
        Column::bytes("Difference", FIGURE).not_summed(),
        Column { unit: "percent", ..relative },
    ];
    let data = Data {
        note: "bytes over all tiles",
        ..Data::of("figures of both reports", &columns, Arc::clone(rows))
    };
    shown.table.ui(ui, &data, page.commands);
}

/// A figure of a run: its name, its value in the reference and in the run, its change, and that in percent.
pub fn cell(figure: &Figure, run: usize, column: usize) -> Value<'_> {
    if let Some(rate) = figure.rate_difference(run) {
        let rate_cell = |rate: Option<f64>| rate.map_or(Value::Nothing, Value::Rate);
        return match column {
            0 => Value::text(&*figure.title),
            1 => rate_cell(rate.source),
            2 => rate_cell(rate.target),
            3 => rate.change().map_or(Value::Nothing, Value::RateChange),
            _ => rate.percent().map_or(Value::Nothing, Value::Percent),
        };
    }
    let value = figure.difference(run);
    let of_one = |number: Option<i64>| match (number, figure.unit) {
        (None, _) => Value::Nothing,
        (Some(number), Unit::Bytes) => Value::Bytes(number.unsigned_abs()),
        (Some(number), Unit::Place) => Value::Id(number.unsigned_abs()),
        (Some(number), Unit::Microseconds) => {
            Value::text(format!("{} µs", grouped(number.unsigned_abs())))
        }
        (Some(number), Unit::Count | Unit::Cycles | Unit::SamplesPerSecond) => {
            Value::Count(number.unsigned_abs())
        }
    };
    match column {
        0 => Value::text(&*figure.title),
        1 => of_one(value.source),
        2 => of_one(value.target),
        // Where something is, is no amount.
        _ if figure.unit == Unit::Place => Value::Nothing,
        3 => match (value.change(), figure.unit) {
            (None, _) => Value::Nothing,
            (Some(change), Unit::Bytes) => Value::Change(change),
            (Some(change), _) => Value::CountChange(change),
        },
        _ => value.percent().map_or(Value::Nothing, Value::Percent),
    }
}
