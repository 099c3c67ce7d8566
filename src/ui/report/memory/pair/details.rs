//! Where the bytes of two reports go, with the differences: of all tiles, and of the selected ones.

use std::ops::Range;
use std::sync::Arc;

use eframe::egui;

use super::super::details::{Cell, DetailTable};
use super::super::tabs::Beside;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_details::{DetailRow, Tiles, details_of_two};
use crate::analysis::memory::tile_order::selected_rows;
use crate::store::Report;
use crate::store::memory::TileMemory;
use crate::text::grouped;
use crate::ui::job::Latest;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::widget::rows::{Column, Value};

/// Columns of all tiles: source, target, difference, percent.
const OF_ALL: usize = 4;
/// Width of a column, points.
const WIDTH: f32 = 104.0;
/// Width of the last column, points.
const WIDE: f32 = 136.0;

/// What the table remembers.
#[derive(Debug, Default)]
pub struct PairDetails {
    table: DetailTable,
    found: Latest<TileSelection, Option<Found>>,
}

/// The figures of all tiles and of the selected ones.
#[derive(Debug)]
struct Found {
    rows: Arc<Vec<DetailRow>>,
    /// What the selected tiles are called; nothing where none is selected.
    selected: Option<String>,
}

impl Found {
    fn new(reports: [&Report; 2], selection: &TileSelection) -> Option<Self> {
        let [source, target] = reports.map(|report| report.memory.get());
        let memories = [source?, target?];
        let rows = memories.map(|memory: &TileMemory| selected_rows(&memory.tiles, selection));
        let count = |rows: &Vec<Range<usize>>| rows.iter().map(Range::len).sum::<usize>();
        let selected = match (rows.iter().map(count).max(), selection.first()) {
            (None | Some(0), _) => None,
            (Some(1), Some(tile)) => Some(format!("Tile {tile}")),
            (Some(count), _) => Some(format!("{} tiles", grouped(count as u64))),
        };
        let columns = rows.map(|rows| {
            let rows = selected.is_some().then_some(Tiles::Rows(rows));
            std::iter::once(Tiles::All).chain(rows).collect::<Vec<Tiles>>()
        });
        let targets = reports.map(|report| report.target.get());
        let rows = details_of_two(memories, targets, columns.each_ref().map(|list| &list[..]));
        Some(Self { rows: Arc::new(rows), selected })
    }

    fn columns(&self) -> Vec<Column> {
        let figure = |title: String| Column::bytes(title, WIDTH).not_summed();
        let mut columns = vec![Column::rest("Bytes")];
        columns.extend(Side::BOTH.map(|side| figure(side.title().to_owned())));
        columns.push(figure("Difference".to_owned()));
        columns.push(Column { unit: "percent", ..figure("Of the source".to_owned()) });
        if let Some(selected) = &self.selected {
            let words = Side::BOTH.map(|side| side.title().to_lowercase());
            let [source, target] = words.map(|word| figure(format!("{selected}: {word}")));
            let difference = figure(format!("{selected}: difference"));
            columns.extend([source, target, Column { width: Some(WIDE), ..difference }]);
        }
        columns
    }
}

/// A cell of both; those of the selected tiles come after those of all.
fn cell(row: &DetailRow, column: usize) -> Value<'static> {
    let (first, column) = match column.checked_sub(OF_ALL) {
        None => (0, column),
        Some(column) => (2, column),
    };
    let bytes = |place: usize| row.bytes.get(first + place).copied().flatten();
    match (column, bytes(0), bytes(1)) {
        (0, source, _) => Value::bytes(source),
        (1, _, target) => Value::bytes(target),
        (2, Some(source), Some(target)) => Value::change(source, target),
        (3, Some(source @ 1..), Some(target)) => {
            Value::Percent((target as f64 - source as f64) * 100.0 / source as f64)
        }
        _ => Value::Nothing,
    }
}

impl PairDetails {
    /// Draws the table.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        beside: Beside<'_>,
    ) {
        let reports = [page.report, pair.target].map(Arc::clone);
        let selection = page.selection.tiles.clone();
        self.found.ask("details of tiles of both", ui.ctx(), &page.selection.tiles, move |_| {
            Found::new(reports.each_ref().map(|report| &**report), &selection)
        });
        let Some((_, Some(found))) = self.found.last() else {
            ui.horizontal(beside);
            ui.weak(self.found.failure().unwrap_or(""));
            return;
        };
        let columns = found.columns();
        let figures = (&found.rows, cell as Cell);
        let note = match found.selected {
            Some(_) => "of all tiles and of the selected ones",
            None => "of all tiles",
        };
        self.table.ui(ui, "Memory details of both", figures, (&columns, note), page, beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::memory::tile_details::Group;

    #[test]
    fn every_column_has_its_difference() {
        let bytes = [200, 300, 50, 20].map(Some).to_vec();
        let mut row = DetailRow { group: Group::Whole, title: None, bytes };
        let cells: Vec<_> = (0..7).map(|column| cell(&row, column)).collect();
        let expected = [
            Value::Bytes(200),
            Value::Bytes(300),
            Value::Change(100),
            Value::Percent(50.0),
            Value::Bytes(50),
            Value::Bytes(20),
            Value::Change(-30),
        ];
        assert_eq!(cells, expected);
        row.bytes = vec![Some(0), Some(5), None, Some(5)];
        assert_eq!((cell(&row, 3), cell(&row, 6)), (Value::Nothing, Value::Nothing));
    }
}
