//! The open part of the tree as a table to take out.

use std::sync::Arc;

use super::words::group_title;
use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::tree_rows::{RowOf, TreeRows};
use crate::analysis::program_links::ProgramLinks;
use crate::store::Report;
use crate::ui::command::Sheet;
use crate::ui::widget::rows::{CellValue, Order, Rows, TableColumn};

struct OpenRows {
    report: Arc<Report>,
    compilation_step: usize,
    links: Arc<ProgramLinks>,
    rows: TreeRows,
}

pub fn sheet_of(
    report: &Arc<Report>,
    compilation_step: usize,
    links: &Arc<ProgramLinks>,
    rows: &TreeRows,
) -> Sheet {
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let rows = OpenRows {
        report: Arc::clone(report),
        compilation_step,
        links: Arc::clone(links),
        rows: rows.clone(),
    };
    let live = format!("{} there", report.system.not_always_live);
    let columns = vec![
        TableColumn::count("Level", 60.0).not_summed(),
        TableColumn::text(report.system.program, 80.0),
        TableColumn::text("Kind", 120.0),
        TableColumn::rest("Name"),
        TableColumn::text("Operation", 120.0),
        TableColumn::text("Operation name", 120.0),
        TableColumn::text("Calls function", 80.0),
        TableColumn::text("Step", 80.0),
        TableColumn::bytes(live, 110.0).not_summed(),
    ];
    let order = Order { rows: (0..count).collect(), totals: Vec::new() };
    Sheet { rows: Arc::new(rows), columns, order: Arc::new(order) }
}

impl Rows for OpenRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(row) = self.rows.get(row) else { return CellValue::Nothing };
        let program = match (row.of, column) {
            (_, 0) => return CellValue::Count(row.depth.into()),
            (RowOf::Heading(group), 2) => {
                return CellValue::text(group_title(group, &self.report.system));
            }
            (RowOf::Heading(_), _) => return CellValue::Nothing,
            (RowOf::Program(program), _) => program,
        };
        let Some(compiled) = CompiledPrograms::at(&self.report, self.compilation_step) else {
            return CellValue::Nothing;
        };
        let text = |text: Option<&str>| {
            text.map_or(CellValue::Nothing, |text| CellValue::text(text.to_owned()))
        };
        let operation = self.links.operation(program).map(|(_, operation)| operation);
        let visit = self.links.highest_visit(program);
        let id =
            |number: Option<u32>| number.map_or(CellValue::Nothing, |id| CellValue::Id(id.into()));
        match column {
            1 => id(compiled.programs.ids.get(program).map(|id| id.0)),
            2 => text(compiled.kind(program)),
            3 => text(compiled.name(program)),
            4 => text(operation.and_then(|operation| operation.kind.as_deref())),
            5 => text(operation.and_then(|operation| operation.name.as_deref())),
            6 => id(compiled.callee(program).map(|(function, _)| function.0)),
            7 => {
                let steps = self.report.steps.get();
                id(visit.and_then(|(step, _)| Some(steps?.ids.get(step)?.0)))
            }
            _ => CellValue::bytes(visit.and_then(|(_, bytes)| bytes)),
        }
    }
}
