//! The variables of the selected tiles.

use eframe::egui;
use std::sync::Arc;

use super::tabs::Beside;
use crate::analysis::liveness::variables::{SelectedVariables, VariableRow, on_tiles};
use crate::analysis::liveness::why_no_variables;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_order::selected_rows;
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, missing_ui, unread_ui};
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Most tiles that have a column each.
const MOST_COLUMNS: usize = 8;
/// Width of a column of bytes, points.
const BYTES: f32 = 104.0;
/// Column of the life; those of bytes follow.
const LIFE: usize = 1;

/// A question: the tiles, and which parts of the report were there.
type Key = (TileSelection, [bool; 2]);

/// What the table remembers.
#[derive(Debug)]
pub struct Variables {
    table: DataTable,
    found: Latest<Key, Option<Found>>,
}

impl Default for Variables {
    fn default() -> Self {
        Self { table: DataTable::sorted_by(LIFE + 1), found: Latest::default() }
    }
}

/// The variables of some tiles.
struct Found {
    columns: Vec<Column>,
    variables: Arc<SelectedVariables>,
    rows: Arc<dyn Rows>,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// The variables as the table sees them.
struct VariableRows(Arc<SelectedVariables>);

impl Rows for VariableRows {
    fn len(&self) -> usize {
        self.0.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(row) = self.0.rows.get(row) else { return Value::Nothing };
        match column.checked_sub(LIFE + 1) {
            Some(column) => Value::bytes(row.bytes.get(column).copied()),
            None if column == LIFE => Value::text(life(row)),
            None => Value::text(row.name.as_str()),
        }
    }

    fn parts(&self, row: usize) -> usize {
        self.0.rows.get(row).map_or(0, |row| row.parts.len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> Value<'_> {
        let part = self.0.rows.get(row).and_then(|row| row.parts.get(part));
        let Some(part) = part else { return Value::Nothing };
        match column {
            0 => {
                Value::text(format!("Variable {} in liveness class {}", part.variable, part.class))
            }
            LIFE => Value::text(if part.is_always_live { "Always" } else { "Not always" }),
            // The bytes of a part are those of all columns together.
            2 => Value::Bytes(part.bytes),
            _ => Value::text(""),
        }
    }
}

/// How long the parts of a variable live.
fn life(row: &VariableRow) -> &'static str {
    let always = row.parts.iter().filter(|part| part.is_always_live).count();
    match always {
        0 => "Not always",
        count if count == row.parts.len() => "Always",
        _ => "Partly always",
    }
}

impl Found {
    fn new(report: &Report, memory: &TileMemory, tiles: &TileSelection) -> Option<Self> {
        let variables = Arc::new(on_tiles(report, tiles, MOST_COLUMNS)?);
        let sum = match (tiles.count(), tiles.first()) {
            (0, _) => "All tiles".to_owned(),
            (1, Some(tile)) => format!("Tile {tile}"),
            _ => {
                let rows = selected_rows(&memory.tiles, tiles);
                let count: usize = rows.iter().map(std::ops::Range::len).sum();
                format!("{} tiles", grouped(count as u64))
            }
        };
        let mut columns =
            vec![Column::rest("Variable"), Column::text("Live", 88.0), Column::bytes(sum, BYTES)];
        if tiles.count() > 1 {
            let of_tiles = variables.tiles.iter();
            columns.extend(of_tiles.map(|tile| Column::bytes(format!("Tile {tile}"), BYTES)));
        }
        let rows = Arc::new(VariableRows(Arc::clone(&variables)));
        Some(Self { columns, variables, rows })
    }
}

impl Variables {
    /// Draws the table; a click selects a variable, or takes the selection away.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, beside: Beside<'_>) {
        let (report, tiles) = (page.report, &page.selection.tiles);
        let is_there = [report.liveness.is_settled(), report.tile_variable_bytes.is_settled()];
        let needed = if tiles.is_empty() { is_there[0] } else { is_there[0] && is_there[1] };
        if !needed {
            ui.horizontal(beside);
            unread_ui(ui, "The variables of single tiles", page.is_working);
            return;
        }
        let key = (tiles.clone(), is_there);
        let (for_job, wanted) = (Arc::clone(report), tiles.clone());
        let work = move |_: &_| {
            let memory = for_job.memory.get()?;
            Found::new(&for_job, memory, &wanted)
        };
        self.found.ask("variables of tiles", ui.ctx(), &key, work);
        let found = match self.found.last() {
            Some((_, Some(found))) => found,
            Some((_, None)) => {
                ui.horizontal(beside);
                let absence = why_no_variables(report, !tiles.is_empty());
                missing_ui(ui, "Variables", absence.or(report.memory.absence()));
                return;
            }
            None => {
                ui.horizontal(beside);
                ui.weak(self.found.failure().unwrap_or("Adding up variables…"));
                return;
            }
        };
        let is_many = tiles.count() > MOST_COLUMNS as u64;
        let note = if is_many {
            "over all steps; up to 8 tiles have a column each"
        } else {
            "over all steps, more than is alive at any"
        };
        let selected = page.selection.variable.as_deref();
        let name = |row: usize| found.variables.rows.get(row).map(|row| row.name.as_str());
        let data = Data {
            name: "Variables",
            title: "",
            note,
            columns: &found.columns,
            rows: &found.rows,
            is_selected: &|row| selected.is_some() && name(row) == selected,
            paint: &no_paint,
        };
        let click = self.table.ui_beside(ui, &data, page.commands, Some(beside));
        if let Some(name) = click.and_then(|click| name(click.row)) {
            let is_selected = selected == Some(name);
            page.selection.variable = (!is_selected).then(|| name.to_owned());
        }
    }
}
