//! Every tile with its bytes.

use eframe::egui;
use std::sync::Arc;

use super::select::Selecting;
use super::shown::Shown;
use crate::analysis::memory::{cell, gap_bytes, over_limit_bytes};
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::report::PageContext;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of bytes, points.
const BYTES: f32 = 128.0;

/// What the table remembers.
#[derive(Debug, Default)]
pub struct Tiles {
    table: DataTable,
    made: Option<Made>,
}

/// The rows, made for one version of what is shown.
struct Made {
    version: u64,
    rows: Arc<dyn Rows>,
    /// The rows of the report.
    tiles: Arc<Vec<u32>>,
    note: String,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Made").field("version", &self.version).finish_non_exhaustive()
    }
}

/// The tiles as the table sees them.
struct TileRows {
    report: Arc<Report>,
    tiles: Arc<Vec<u32>>,
}

impl Rows for TileRows {
    fn len(&self) -> usize {
        self.tiles.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let (Some(memory), Some(row)) = (self.report.memory.get(), self.tiles.get(row)) else {
            return Value::Nothing;
        };
        let (row, target) = (*row as usize, self.report.target.get());
        let number = |number: Option<u32>| {
            number.map_or(Value::Nothing, |number| Value::Number(f64::from(number)))
        };
        let tile = memory.tiles.get(row);
        match column {
            0 => number(tile.map(|tile| tile.0)),
            1 => number(tile.and_then(|tile| target?.ipu_of(tile))),
            2 => Value::bytes(cell(&memory.including_gaps, row)),
            3 => Value::bytes(cell(&memory.total, row)),
            4 => Value::bytes(gap_bytes(memory, row)),
            5 => Value::bytes(cell(&memory.always_live, row)),
            _ => Value::bytes(over_limit_bytes(memory, target, row).filter(|over| *over > 0)),
        }
    }
}

fn columns(report: &Report) -> Vec<Column> {
    let mut columns = vec![
        Column::rest("Tile"),
        Column::text("IPU", 60.0),
        Column::bytes("With gaps", BYTES),
        Column::bytes("Without gaps", BYTES),
        Column::bytes("Gaps", BYTES),
        Column::bytes("Always live", BYTES),
    ];
    if report.target.get().is_some_and(|target| target.bytes_per_tile.is_some()) {
        columns.push(Column::bytes("Over the limit by", BYTES));
    }
    columns
}

impl Made {
    fn new(report: &Arc<Report>, memory: &TileMemory, shown: &Shown) -> Self {
        let mut rows = shown.rows.clone();
        rows.sort_unstable();
        let unknown =
            rows.iter().filter(|row| cell(&memory.including_gaps, **row as usize).is_none());
        let note = match unknown.count() {
            0 => String::new(),
            1 => "the bytes of one are not known".to_owned(),
            count => format!("the bytes of {} are not known", grouped(count as u64)),
        };
        let tiles = Arc::new(rows);
        let rows = TileRows { report: Arc::clone(report), tiles: Arc::clone(&tiles) };
        Self { version: shown.version, rows: Arc::new(rows), tiles, note }
    }
}

impl Tiles {
    /// Draws the table; returns the tile that was chosen.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
        shown: &Shown,
        selecting: &mut Selecting,
    ) -> Option<TileId> {
        if self.made.as_ref().is_none_or(|made| made.version != shown.version) {
            self.made = Some(Made::new(page.report, memory, shown));
        }
        let made = self.made.as_ref()?;
        let tile = |row: usize| memory.tiles.get(*made.tiles.get(row)? as usize);
        let tiles = &mut page.selection.tiles;
        let columns = columns(page.report);
        let data = Data {
            name: "Tiles",
            title: "",
            note: &made.note,
            columns: &columns,
            rows: &made.rows,
            is_selected: &|row| tile(row).is_some_and(|tile| tiles.contains(tile)),
            paint: &no_paint,
        };
        let click = self.table.ui(ui, &data, page.commands)?;
        let chosen = tile(click.row)?;
        selecting.choose(chosen, click.is_added, tiles);
        Some(chosen)
    }
}
