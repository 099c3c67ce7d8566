//! The variables of the selected tiles.

use eframe::egui;
use std::sync::Arc;

use super::listed::{ListedTable, TabRows, TableText};
use super::tabs::HeadUi;
use crate::analysis::liveness::variables::{SelectedVariables, VariableRow, on_tiles};
use crate::analysis::liveness::why_no_variables;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_order::selected_rows;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::report::figures::FigureColumn;
use crate::ui::report::figures::variables::variable_entries;
use crate::ui::report::{PageContext, unread_ui};
use crate::ui::runs::{Needed, Needs, Runs};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// What the table needs of all tiles, and of some.
const NEEDS: [Needs; 2] = [
    &[Needed::Liveness, Needed::Matching],
    &[Needed::Liveness, Needed::TileVariables, Needed::Matching],
];
/// Most tiles that have a column each.
const MOST_COLUMNS: usize = 8;
/// Width of a column of bytes, points.
const BYTES: f32 = 104.0;
/// Column of the life; those of bytes follow.
const LIFE: usize = 1;

pub struct VariablesTab(ListedTable<TileSelection>);

impl Default for VariablesTab {
    fn default() -> Self {
        Self(ListedTable::sorted_by(LIFE + 1))
    }
}

struct VariableRows(SelectedVariables);

impl Rows for VariableRows {
    fn len(&self) -> usize {
        self.0.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(row) = self.0.rows.get(row) else { return CellValue::Nothing };
        match column.checked_sub(LIFE + 1) {
            Some(column) => CellValue::bytes(row.bytes.get(column).copied()),
            None if column == LIFE => CellValue::text(life(row)),
            None => CellValue::text(row.name.as_str()),
        }
    }

    fn parts(&self, row: usize) -> usize {
        self.0.rows.get(row).map_or(0, |row| row.parts.len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> CellValue<'_> {
        let part = self.0.rows.get(row).and_then(|row| row.parts.get(part));
        let Some(part) = part else { return CellValue::Nothing };
        match column {
            0 => CellValue::text(format!(
                "Variable {} in liveness class {}",
                part.variable, part.class
            )),
            LIFE => CellValue::text(if part.is_always_live { "Always" } else { "Not always" }),
            // The bytes of a part are those of all columns together.
            2 => CellValue::Bytes(part.bytes),
            _ => CellValue::text(""),
        }
    }
}

fn life(row: &VariableRow) -> &'static str {
    let always = row.parts.iter().filter(|part| part.is_always_live).count();
    match always {
        0 => "Not always",
        count if count == row.parts.len() => "Always",
        _ => "Partly always",
    }
}

/// The columns of one run: all selected tiles together, and single ones.
fn columns(report: &Report, tiles: &TileSelection, single: &SelectedVariables) -> Vec<TableColumn> {
    let sum = match (tiles.count(), tiles.first()) {
        (0, _) => "All tiles".to_owned(),
        (1, Some(tile)) => format!("Tile {tile}"),
        _ => {
            let rows = report.memory.get().map(|memory| selected_rows(&memory.tiles, tiles));
            let rows = rows.into_iter().flatten();
            let count: usize = rows.map(|rows| rows.len()).sum();
            format!("{} tiles", grouped(count as u64))
        }
    };
    let mut columns = vec![
        TableColumn::rest(report.system.variable),
        TableColumn::text("Live", 88.0),
        TableColumn::bytes(sum, BYTES),
    ];
    if tiles.count() > 1 {
        let of_tiles = single.tiles.iter();
        columns.extend(of_tiles.map(|tile| TableColumn::bytes(format!("Tile {tile}"), BYTES)));
    }
    columns
}

fn listed(runs: &Runs, tiles: &TileSelection) -> TabRows {
    let most_columns = if runs.is_one() { MOST_COLUMNS } else { 0 };
    let mut found = Vec::with_capacity(runs.len());
    for run in runs.iter() {
        match on_tiles(&run.report, tiles, most_columns) {
            Some(variables) => found.push(variables),
            None => {
                let absence = why_no_variables(&run.report, !tiles.is_empty());
                return TabRows::absent(runs, run, "Variables", absence);
            }
        }
    }
    if runs.is_one()
        && let Some(variables) = found.pop()
    {
        let columns = columns(&runs.reference().report, tiles, &variables);
        return TabRows::One { columns, rows: Arc::new(VariableRows(variables)), note: None };
    }
    let found = found.into_iter().enumerate().map(|(place, found)| (found.rows, vec![place]));
    let entries = variable_entries(runs, found.collect(), FigureColumn::of_runs(runs));
    TabRows::Several { entries: Arc::new(entries), unknown: 0 }
}

impl VariablesTab {
    /// Draws the table; a click selects a variable, or takes the selection away; with Shift or Ctrl it joins
    /// those that are selected.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, beside: HeadUi<'_>) {
        let (runs, tiles) = (page.runs, page.selection.tiles.clone());
        let [of_all, of_some] = NEEDS;
        let needs = if tiles.is_empty() { of_all } else { of_some };
        if !runs.are_read(needs) {
            ui.horizontal(beside);
            unread_ui(ui, "The variables of single tiles", runs.is_working());
            return;
        }
        let wanted = tiles.clone();
        self.0.ask(ui.ctx(), (runs, needs), &tiles, move |runs| listed(runs, &wanted));
        let selected: Vec<String> = page.selection.variables().map(str::to_owned).collect();
        let text = TableText {
            name: "Variables",
            note: note(runs, &tiles),
            waiting: "Adding up variables…",
            is_selected: &|name, _| selected.iter().any(|selected| selected == name),
        };
        if let Some(clicked) = self.0.ui(ui, page, &text, beside) {
            page.selection.toggle_variable(clicked.name, clicked.is_added);
        }
    }
}

fn note(runs: &Runs, tiles: &TileSelection) -> &'static str {
    match (runs.is_one(), tiles.is_empty()) {
        (true, _) if tiles.count() > MOST_COLUMNS as u64 => {
            "over all steps; up to 8 tiles have a column each"
        }
        (true, _) => "over all steps, more than is alive at any",
        (false, true) => "on all tiles, over all steps",
        (false, false) => "on the selected tiles, over all steps",
    }
}
