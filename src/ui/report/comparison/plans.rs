//! Operations that both reports have and that are computed in another way.

use eframe::egui;
use std::sync::Arc;

use super::ComparedTable;
use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::plans::Plan;
use crate::analysis::figures::difference::Difference;
use crate::analysis::matched_reports::MatchedReports;
use crate::ui::report::PageContext;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::widget::data_table::Data;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{CellValue, Listed, Rows, TableColumn};

/// Draws the table; a click selects the operation.
pub fn plans_ui(
    shown: &mut ComparedTable,
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    pair: &PairOfRuns<'_>,
    found: &Arc<RunsCompared>,
    matched: &MatchedReports,
) {
    let Some(plans) = &matched.plans else {
        let reason =
            "Operations are named by debug information, and this needs all of it for both reports";
        absent_ui(ui, "It is not known whether plans have changed", reason);
        return;
    };
    if plans.changed.is_empty() {
        let reason = if plans.operations == 0 {
            "No operation is known in both reports: debug information names them"
        } else {
            "Each operation has the same steps and vertices in both reports"
        };
        absent_ui(ui, "No operation changed its plan", reason);
        return;
    }
    let rows = shown
        .made
        .get(found, || -> Arc<dyn Rows> { Arc::new(Listed { rows: plans.changed.clone(), cell }) });
    let of_both = |what: &str| pair.runs.map(|run| format!("{what}, {}", run.title_in_text()));
    let [source_steps, target_steps] = of_both("Steps");
    let [source_peak, target_peak] = of_both("Peak");
    let columns = [
        TableColumn::rest("Operation"),
        TableColumn::text("Proportion", 96.0),
        TableColumn::count(source_steps, 96.0),
        TableColumn::count(target_steps, 96.0),
        TableColumn::bytes(source_peak, 100.0).not_summed(),
        TableColumn::bytes(target_peak, 100.0).not_summed(),
        TableColumn::bytes("Peak changed by", 118.0).not_summed(),
        TableColumn::bytes("Exchange code", 110.0),
        TableColumn::count("Vertices", 88.0),
    ];
    let operation = |row: usize| {
        let name = &plans.changed.get(row)?.name;
        Some(name.clone())
    };
    let selected = page.selection.operation();
    let data = Data {
        note: "peak: most not always live at a step of the operation",
        is_selected: &|row| selected.is_some() && operation(row).as_ref() == selected,
        ..Data::of("changed plans", &columns, Arc::clone(rows))
    };
    let click = shown.table.ui(ui, &data, page.commands);
    if let Some(name) = click.and_then(|click| operation(click.row)) {
        page.selection.toggle_operation(name);
    }
}

fn cell(plan: &Plan, column: usize) -> CellValue<'_> {
    let number = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
    let count = |figure: Option<i64>| number(figure).map_or(CellValue::Nothing, CellValue::Count);
    let change = |figure: &Difference| figure.change();
    match column {
        0 => CellValue::text(plan.name.in_words()),
        1 => CellValue::text(proportions(plan.proportions)),
        2 => count(plan.steps.source),
        3 => count(plan.steps.target),
        4 => CellValue::bytes(number(plan.peak.source)),
        5 => CellValue::bytes(number(plan.peak.target)),
        6 => change(&plan.peak).map_or(CellValue::Nothing, CellValue::Change),
        7 => change(&plan.exchange_code).map_or(CellValue::Nothing, CellValue::Change),
        _ => change(&plan.vertices).map_or(CellValue::Nothing, CellValue::CountChange),
    }
}

/// The values of the option: one where they are the same.
fn proportions([source, target]: [Option<f64>; 2]) -> String {
    let text = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    if source == target { text(source) } else { format!("{} → {}", text(source), text(target)) }
}
