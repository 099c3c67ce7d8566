//! The variables that end above the limit, of all runs.

use eframe::egui;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::RunTiles;
use super::data::RunData;
use super::tables::{run_titles, with_run};
use super::variables::BYTES;
use super::words::{category, life};
use crate::text::capitalised;
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::runs::RunId;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

#[derive(Default)]
pub struct OverTable {
    table: DataTable,
    rows: Made<Vec<Same<RunData>>, Arc<OverRows>>,
}

struct OverRows {
    of_runs: Vec<Same<RunData>>,
    /// The titles of the runs, where they are shown.
    titles: Vec<String>,
    /// The run and the row of each variable, highest end first.
    list: Vec<(usize, u32)>,
}

impl OverTable {
    /// Draws the table; returns the run and the row of the variable that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        chosen: &BTreeMap<RunId, u32>,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<(RunId, u32)> {
        let of_runs: Vec<_> = tiles.iter().map(|tile| Same(Arc::clone(&tile.of))).collect();
        let ids: Vec<RunId> = tiles.iter().map(|tile| tile.run).collect();
        let rows = self.rows.of(of_runs, |of_runs| {
            Arc::new(OverRows::new(of_runs.clone(), run_titles(page.runs, tiles)))
        });
        let system = page.runs.system();
        let columns = with_run(
            page.runs,
            [
                TableColumn::text(system.item, 300.0).called(system.placed_variable),
                TableColumn::text("Address", BYTES),
                TableColumn::bytes("Bytes", BYTES),
                TableColumn::bytes("Over", BYTES).not_summed(),
                TableColumn::text("Category", 150.0),
                TableColumn::rest("Live"),
            ],
        );
        let at = |row: usize| {
            let (run, row) = rows.list.get(row).copied()?;
            Some((ids.get(run).copied()?, row))
        };
        let is_selected =
            |row: usize| at(row).is_some_and(|(run, row)| chosen.get(&run) == Some(&row));
        let items = capitalised(system.items);
        let name = format!("{items} over the limit of the {}", system.arena_in_text);
        let table = Data { is_selected: &is_selected, ..Data::of(&name, &columns, rows.clone()) };
        let click = self.table.ui_with(ui, &table, page.commands, Some(tabs), None)?;
        at(click.row)
    }
}

impl OverRows {
    fn new(of_runs: Vec<Same<RunData>>, titles: Vec<String>) -> Self {
        let of_run = |(run, Same(data)): (usize, &Same<RunData>)| {
            data.over_rows.iter().map(|row| (run, *row)).collect::<Vec<_>>()
        };
        let list = of_runs.iter().enumerate().flat_map(of_run).collect();
        Self { of_runs, titles, list }
    }
}

impl Rows for OverRows {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some((run, row)) = self.list.get(row).copied() else { return CellValue::Nothing };
        let Some(Same(of)) = self.of_runs.get(run) else { return CellValue::Nothing };
        let data = &of.tile;
        let Some(variable) = data.placed.placements.get(row as usize) else {
            return CellValue::Nothing;
        };
        let title = self.titles.get(run);
        match column.checked_sub(usize::from(title.is_some())) {
            None => title.map_or(CellValue::Nothing, |title| CellValue::text(title.as_str())),
            Some(0) => CellValue::text(data.name(row)),
            Some(1) => CellValue::Id(variable.offset),
            Some(2) => CellValue::Bytes(variable.bytes),
            Some(3) => {
                CellValue::bytes(data.map.limit.map(|limit| variable.end().saturating_sub(limit)))
            }
            Some(4) => CellValue::text(category(&data.report, variable)),
            _ => CellValue::text(life(&data.report, variable)),
        }
    }
}
