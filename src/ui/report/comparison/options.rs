//! Settings that differ between the reports.

use eframe::egui;
use std::sync::Arc;

use super::ComparedTable;
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::program::report_options::OptionKind;
use crate::ui::report::PageContext;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::runs::Run;
use crate::ui::widget::data_table::Data;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{CellValue, Listed, Rows, TableColumn};

pub fn options_ui(
    shown: &mut ComparedTable,
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    both: [&Run; 2],
    found: &Arc<RunsCompared>,
) {
    let settings = &found.compared.settings;
    if settings.is_empty() {
        absent_ui(ui, found.compared.words.no_setting, "");
        return;
    }
    let rows = shown
        .made
        .get(found, || -> Arc<dyn Rows> { Arc::new(Listed { rows: settings.clone(), cell }) });
    let [source, target] = both.map(|run| &*run.title);
    let columns = [
        TableColumn::text("Name", 320.0),
        TableColumn::text("Where", 160.0),
        TableColumn::text(source, 220.0),
        TableColumn::rest(target),
    ];
    let data = Data::of("options that differ", &columns, Arc::clone(rows));
    shown.table.ui(ui, &data, page.commands);
}

fn place(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::AvailableMemoryProportion => "Debug information",
        OptionKind::Version => "Version",
        OptionKind::Target => "Machine",
        OptionKind::EngineOption => "Engine option",
        OptionKind::ExecutionOption => "Option of the runs",
        OptionKind::TargetOption => "Target option",
        OptionKind::App => "app.json",
        OptionKind::Framework => "framework.json",
        OptionKind::Setting => "Setting",
        OptionKind::Flag => "Flag of the compiler",
        OptionKind::Directory => "Directory",
    }
}

fn cell(option: &OptionDifference, column: usize) -> CellValue<'_> {
    let value = |run: usize| option.value(run).unwrap_or("–");
    match column {
        0 => CellValue::text(option.title()),
        1 => CellValue::text(place(option.kind)),
        _ => CellValue::text(value(column - 2)),
    }
}
