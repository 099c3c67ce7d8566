//! The variables of a tile: of one run by address, of several with their bytes and addresses in each.

use eframe::egui;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::RunTiles;
use super::read::TileData;
use super::words::{category, life};
use crate::analysis::figures::joined::side_by_side;
use crate::store::placed::Placement;
use crate::text::capitalised;
use crate::ui::job::Same;
use crate::ui::report::PageContext;
use crate::ui::runs::{RunId, Runs, RunsAnswer};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of bytes or addresses, points.
pub const BYTES: f32 = 84.0;
/// The same beside another run.
const OF_PAIR: f32 = 104.0;

#[derive(Clone, Copy, Debug)]
enum VariableCell {
    Name,
    /// The name of the variable that it was lowered from.
    BeforeLowering,
    Category,
    Life,
    Alignment,
    /// Of a run.
    Address(usize),
    /// Of a run.
    Bytes(usize),
    /// From the reference to a run.
    Change(usize),
}

/// What a row unfolds into: its title, and what stands in the column of a run.
type RowPart = (&'static str, fn(usize) -> VariableCell);

/// The tile in each run, where it is there.
type TileInRuns = Vec<Option<Same<TileData>>>;

#[derive(Default)]
pub struct TileVariableTable {
    table: DataTable,
    listed: RunsAnswer<TileInRuns, ListedVariables>,
}

struct ListedVariables {
    columns: Vec<TableColumn>,
    variables: Arc<TileVariableRows>,
}

/// The variables that have a place in one of the runs.
struct TileVariableRows {
    tiles: TileInRuns,
    cells: Vec<VariableCell>,
    /// For each variable its row on the tile of each run.
    rows: Vec<Vec<Option<u32>>>,
    /// Of more than two runs what has no columns.
    parts: &'static [RowPart],
}

impl TileVariableTable {
    /// Draws the table under what is `beside` its head; returns the rows of the variable that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        chosen: &BTreeMap<RunId, u32>,
        beside: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<Vec<(RunId, u32)>> {
        let runs = page.runs;
        let key = tiles.same();
        let for_job = key.clone();
        self.listed.ask("variables of a tile", ui.ctx(), (runs, &[]), &key, move |runs, _| {
            ListedVariables::new(runs, for_job)
        });
        let Some((_, listed)) = self.listed.last(runs) else {
            ui.horizontal(beside);
            ui.weak(self.listed.failure().unwrap_or(""));
            return None;
        };
        let of_runs = |row: usize| {
            let rows = listed.variables.rows.get(row).map_or(&[][..], Vec::as_slice);
            runs.iter().zip(rows).filter_map(|(run, row)| Some((run.id, (*row)?)))
        };
        let is_one = runs.is_one();
        let whose = runs.of_number(["", " in both", " in all runs"]);
        let items = capitalised(runs.system().items);
        let name = format!("{items} of the {}{whose}", runs.system().arena_in_text);
        let order = if is_one { "" } else { ", largest change first" };
        let note = format!("over all {}{order}", runs.system().steps);
        let table = Data {
            note: &note,
            is_selected: &|row| of_runs(row).any(|(run, row)| chosen.get(&run) == Some(&row)),
            ..Data::of(&name, &listed.columns, listed.variables.clone())
        };
        let click = self.table.ui_with(ui, &table, page.commands, Some(beside), None)?;
        Some(of_runs(click.row).collect())
    }
}

impl ListedVariables {
    fn new(runs: &Runs, tiles: TileInRuns) -> Self {
        let is_complete = tiles.iter().flatten().all(|Same(data)| data.is_complete);
        let mut columns = columns(runs, is_complete);
        let is_known = |Same(data): &Same<TileData>| {
            data.placed.placements.iter().any(|placement| placement.unlowered.is_some())
        };
        let system = runs.system();
        let are_two = system.variable != system.placed_variable;
        if are_two && tiles.iter().flatten().any(is_known) {
            let before = TableColumn::text(system.variable, 150.0);
            columns.push((before, VariableCell::BeforeLowering));
        }
        let (columns, cells) = columns.into_iter().unzip();
        let named = |tile: &Option<Same<TileData>>| {
            let Some(Same(data)) = tile else { return Vec::new() };
            let row = |row: u32| (data.name(row).to_owned(), row);
            data.map.blocks.iter().map(|block| row(block.row)).collect()
        };
        let rows = side_by_side(tiles.iter().map(named).collect());
        let parts: &[RowPart] = match runs.len() {
            ..=2 => &[],
            _ => &[
                ("Address", VariableCell::Address),
                ("Difference to the reference", VariableCell::Change),
            ],
        };
        let mut variables = TileVariableRows { tiles, cells, rows, parts };
        let mut rows = std::mem::take(&mut variables.rows);
        rows.sort_by_cached_key(|row| std::cmp::Reverse(variables.largest_change(row)));
        variables.rows = rows;
        Self { columns, variables: Arc::new(variables) }
    }
}

fn columns(runs: &Runs, is_complete: bool) -> Vec<(TableColumn, VariableCell)> {
    let name = TableColumn::rest(runs.system().item).called(runs.system().placed_variable);
    let mut columns = vec![(name, VariableCell::Name)];
    let category = (TableColumn::text("Category", 150.0), VariableCell::Category);
    if runs.is_one() {
        columns.extend([
            (TableColumn::text("Address", BYTES), VariableCell::Address(0)),
            (TableColumn::bytes("Bytes", BYTES).not_summed(), VariableCell::Bytes(0)),
            category,
            (TableColumn::text("Live", 190.0), VariableCell::Life),
        ]);
        let alignment =
            (TableColumn::count("Alignment", 76.0).not_summed(), VariableCell::Alignment);
        columns.extend(is_complete.then_some(alignment));
        return columns;
    }
    columns.push(category);
    let is_pair = runs.len() == 2;
    if is_pair {
        columns.extend(runs.iter().enumerate().map(|(place, run)| {
            let title = format!("{}, address", run.title);
            (TableColumn::text(title, OF_PAIR + 10.0), VariableCell::Address(place))
        }));
    }
    let width = if is_pair { OF_PAIR } else { BYTES };
    columns.extend(runs.iter().enumerate().map(|(place, run)| {
        (TableColumn::bytes(run.title.to_string(), width).not_summed(), VariableCell::Bytes(place))
    }));
    columns.extend(is_pair.then(|| {
        (TableColumn::bytes("Difference", OF_PAIR).not_summed(), VariableCell::Change(1))
    }));
    columns
}

impl TileVariableRows {
    fn variable(&self, row: &[Option<u32>], run: usize) -> Option<&Placement> {
        let Same(data) = self.tiles.get(run)?.as_ref()?;
        data.placed.placements.get((*row.get(run)?)? as usize)
    }

    fn bytes(&self, row: &[Option<u32>], run: usize) -> u64 {
        self.variable(row, run).map_or(0, |variable| variable.bytes)
    }

    fn largest_change(&self, row: &[Option<u32>]) -> u64 {
        let reference = self.bytes(row, 0);
        let changes = (1..self.tiles.len()).map(|run| self.bytes(row, run).abs_diff(reference));
        changes.max().unwrap_or(0)
    }

    fn cell(&self, row: &[Option<u32>], cell: VariableCell) -> CellValue<'_> {
        let first = self.tiles.iter().zip(row).enumerate().find_map(|(run, (tile, row))| {
            let Same(data) = tile.as_ref()?;
            Some((run, data, (*row)?))
        });
        let Some((run, data, name)) = first else { return CellValue::Nothing };
        let Some(variable) = self.variable(row, run) else { return CellValue::Nothing };
        match cell {
            VariableCell::Name => CellValue::text(data.name(name)),
            VariableCell::BeforeLowering => {
                data.unlowered_name(name).map_or(CellValue::Nothing, CellValue::text)
            }
            VariableCell::Category => CellValue::text(category(&data.report, variable)),
            VariableCell::Life => CellValue::text(life(&data.report, variable)),
            VariableCell::Alignment => CellValue::Count(variable.alignment),
            VariableCell::Address(run) => {
                let variable = self.variable(row, run);
                variable.map_or(CellValue::Nothing, |variable| CellValue::Id(variable.offset))
            }
            VariableCell::Bytes(run) => {
                CellValue::bytes(self.variable(row, run).map(|found| found.bytes))
            }
            VariableCell::Change(0) => CellValue::Nothing,
            VariableCell::Change(run) => {
                CellValue::change(self.bytes(row, 0), self.bytes(row, run))
            }
        }
    }
}

impl Rows for TileVariableRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        match (self.rows.get(row), self.cells.get(column)) {
            (Some(row), Some(cell)) => self.cell(row, *cell),
            _ => CellValue::Nothing,
        }
    }

    fn parts(&self, _row: usize) -> usize {
        self.parts.len()
    }

    fn part(&self, row: usize, part: usize, column: usize) -> CellValue<'_> {
        match (self.parts.get(part), self.rows.get(row), self.cells.get(column)) {
            (Some((title, _)), _, Some(VariableCell::Name)) => CellValue::text(*title),
            (Some((_, of_run)), Some(row), Some(VariableCell::Bytes(run))) => {
                self.cell(row, of_run(*run))
            }
            _ => CellValue::Nothing,
        }
    }
}
