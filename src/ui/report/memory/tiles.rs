//! Every tile with its bytes.

use eframe::egui;
use std::sync::Arc;

use super::select::Selecting;
use super::shown::Shown;
use super::tabs::Beside;
use crate::analysis::memory::outliers::outliers;
use crate::analysis::memory::{cell, gap_bytes, over_limit_bytes};
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::report::PageContext;
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of bytes, points.
const BYTES: f32 = 128.0;

/// What the table remembers.
#[derive(Debug, Default)]
pub struct Tiles {
    table: DataTable,
    /// Asked with the version of what is shown.
    found: Latest<(u64, bool), Option<Found>>,
    is_outliers: bool,
}

/// The tiles of the table.
struct Found {
    rows: Arc<dyn Rows>,
    /// The rows of the report.
    tiles: Arc<Vec<u32>>,
    note: String,
    /// The fences of the outliers.
    fences: Option<(u64, u64)>,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("note", &self.note).finish_non_exhaustive()
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
        Column::text("Tile", 80.0),
        Column::rest("IPU"),
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

impl Found {
    /// `shown` are the rows of the picture.
    fn new(report: &Arc<Report>, memory: &TileMemory, shown: &[u32], is_outliers: bool) -> Self {
        let mut rows = shown.to_vec();
        rows.sort_unstable();
        let mut fences = None;
        if is_outliers {
            let found = outliers(memory);
            fences = found.as_ref().map(|found| (found.low, found.high));
            let found = found.map(|found| found.rows).unwrap_or_default();
            // The farthest from the median first.
            let found = found.into_iter().filter_map(|row| u32::try_from(row).ok());
            rows = found.filter(|row| rows.binary_search(row).is_ok()).collect();
        }
        let unknown =
            rows.iter().filter(|row| cell(&memory.including_gaps, **row as usize).is_none());
        let note = match unknown.count() {
            0 => String::new(),
            1 => "the bytes of one are not known".to_owned(),
            count => format!("the bytes of {} are not known", grouped(count as u64)),
        };
        let tiles = Arc::new(rows);
        let rows = TileRows { report: Arc::clone(report), tiles: Arc::clone(&tiles) };
        Self { rows: Arc::new(rows), tiles, note, fences }
    }
}

impl Tiles {
    /// Draws the table; returns the tile that was chosen.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
        shown: &Arc<Shown>,
        selecting: &mut Selecting,
        beside: Beside<'_>,
    ) -> Option<TileId> {
        let key = (shown.axis.version, self.is_outliers);
        let (for_job, shown, is_outliers) =
            (Arc::clone(page.report), Arc::clone(shown), self.is_outliers);
        let work = move |_: &_| {
            Some(Found::new(&for_job, for_job.memory.get()?, &shown.axis.rows, is_outliers))
        };
        self.found.ask("list of tiles", ui.ctx(), &key, work);
        let mut is_outliers = self.is_outliers;
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            outliers_ui(ui, &mut is_outliers);
        };
        let Some((_, Some(found))) = self.found.last() else {
            ui.horizontal(beside);
            ui.weak(self.found.failure().unwrap_or(""));
            return None;
        };
        if found.tiles.is_empty() {
            ui.horizontal(beside);
            self.is_outliers = is_outliers;
            ui.weak("No tile is so far from the others");
            return None;
        }
        let tile = |row: usize| memory.tiles.get(*found.tiles.get(row)? as usize);
        let tiles = &mut page.selection.tiles;
        let columns = columns(page.report);
        let fences = found.fences.map(|fences| fences_text(fences, Units::now(ui)));
        let data = Data {
            name: "Tiles",
            title: "",
            note: fences.as_deref().unwrap_or(&found.note),
            columns: &columns,
            rows: &found.rows,
            is_selected: &|row| tile(row).is_some_and(|tile| tiles.contains(tile)),
            paint: &no_paint,
        };
        let click = self.table.ui_beside(ui, &data, page.commands, Some(&mut beside));
        self.is_outliers = is_outliers;
        let click = click?;
        let chosen = tile(click.row)?;
        selecting.choose(chosen, click.is_added, tiles);
        Some(chosen)
    }
}

/// The choice of outliers.
fn outliers_ui(ui: &mut egui::Ui, is_outliers: &mut bool) {
    let choice = ui.checkbox(is_outliers, "Outliers only");
    choice.on_hover_text(
        "Tiles that lie farther outside the middle half of all tiles than one and a half times its \
         range (Tukey's fences); the farthest from the median first",
    );
    ui.add_space(8.0);
}

/// What outliers are here: below `low` or above `high`.
fn fences_text((low, high): (u64, u64), units: Units) -> String {
    let high = units.bytes(high);
    match low {
        0 => format!("above {high} with gaps"),
        low => format!("below {} or above {high} with gaps", units.bytes(low)),
    }
}
