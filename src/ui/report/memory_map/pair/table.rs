//! The variables of a tile in two reports: where each lies in either, and how its bytes have changed.

use std::sync::Arc;

use eframe::egui;

use super::super::read::TileData;
use super::super::words::category;
use crate::analysis::figures::joined::joined;
use crate::store::Report;
use crate::ui::command::Command;
use crate::ui::job::{Latest, Same};
use crate::ui::legacy::Side;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Listed, Rows, Value};

/// Width of a column of bytes or addresses, points.
const BYTES: f32 = 104.0;

/// Where a variable lies in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Its row on the tile.
    row: u32,
    offset: u64,
    bytes: u64,
}

/// A variable of both.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    category: String,
    places: [Option<Place>; 2],
}

/// What a job has made.
struct Made {
    /// The rows of each variable in the source and in the target.
    places: Vec<[Option<u32>; 2]>,
    rows: Arc<dyn Rows>,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} variables", self.places.len())
    }
}

/// What the table remembers.
#[derive(Debug, Default)]
pub struct PairTable {
    table: DataTable,
    made: Latest<[Option<Same<TileData>>; 2], Made>,
}

impl PairTable {
    /// Draws the table; returns the rows of the variable that was clicked in the source and in the
    /// target.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        reports: [&Arc<Report>; 2],
        data: [Option<&Arc<TileData>>; 2],
        chosen: [Option<u32>; 2],
        commands: &mut Vec<Command>,
    ) -> Option<[Option<u32>; 2]> {
        let key = data.map(|data| data.map(|data| Same(Arc::clone(data))));
        let (reports, wanted) = (reports.map(Arc::clone), key.clone());
        self.made.ask("variables of a tile of both", ui.ctx(), &key, move |_| {
            let data = wanted.each_ref().map(|data| data.as_ref().map(|data| &*data.0));
            Made::new(reports.each_ref().map(|report| &**report), data)
        });
        let Some((_, made)) = self.made.last() else {
            ui.weak(self.made.failure().unwrap_or("Comparing…"));
            return None;
        };
        let bytes = |title: String| Column::bytes(title, BYTES);
        let [source, target] = Side::BOTH.map(Side::title);
        let columns = [
            Column::rest("Variable"),
            Column::text("Category", 150.0),
            Column::text(format!("{source}, address"), BYTES + 10.0),
            Column::text(format!("{target}, address"), BYTES + 10.0),
            bytes(source.to_owned()),
            bytes(target.to_owned()),
            bytes("Difference".to_owned()),
        ];
        let places = |row: usize| made.places.get(row).copied().unwrap_or_default();
        let table = Data {
            name: "Variables of the tile in both",
            title: "Variables",
            note: "over all steps, largest change first",
            columns: &columns,
            rows: &made.rows,
            is_selected: &|row| {
                let both = places(row).into_iter().zip(chosen);
                both.into_iter().any(|(row, chosen)| row.is_some() && row == chosen)
            },
            paint: &no_paint,
        };
        let click = self.table.ui(ui, &table, commands)?;
        Some(places(click.row))
    }
}

impl Made {
    fn new(reports: [&Report; 2], data: [Option<&TileData>; 2]) -> Self {
        let [source, target] = Side::BOTH.map(|side| named(side.of(reports), side.of(data)));
        let mut rows: Vec<Row> = joined(source, target)
            .into_iter()
            .filter_map(|row| {
                let places = row.each_ref().map(|row| row.as_ref().map(|(place, ..)| *place));
                let (_, name, category) = row.into_iter().flatten().next()?;
                Some(Row { name, category, places })
            })
            .collect();
        let change = |row: &Row| {
            let [source, target] = row.places.map(|place| place.map_or(0, |place| place.bytes));
            source.abs_diff(target)
        };
        rows.sort_by_key(|row| std::cmp::Reverse(change(row)));
        let places = rows.iter().map(|row| row.places.map(|place| Some(place?.row))).collect();
        Self { places, rows: Arc::new(Listed { rows, cell }) }
    }
}

/// The variables of a tile with their names, by address.
fn named(report: &Report, data: Option<&TileData>) -> Vec<(String, (Place, String, String))> {
    let Some(data) = data else { return Vec::new() };
    let row = |row: u32| {
        let variable = data.variables.placements.get(row as usize)?;
        let place = Place { row, offset: variable.offset, bytes: variable.bytes };
        let name = data.name(row).to_owned();
        Some((name.clone(), (place, name, category(report, variable))))
    };
    data.map.blocks.iter().filter_map(|block| row(block.row)).collect()
}

fn cell(row: &Row, column: usize) -> Value<'_> {
    let [source, target] = row.places;
    let address =
        |place: Option<Place>| place.map_or(Value::Nothing, |place| Value::Id(place.offset));
    let bytes = |place: Option<Place>| Value::bytes(place.map(|place| place.bytes));
    match column {
        0 => Value::text(&*row.name),
        1 => Value::text(&*row.category),
        2 => address(source),
        3 => address(target),
        4 => bytes(source),
        5 => bytes(target),
        _ => {
            let [source, target] = row.places.map(|place| place.map_or(0, |place| place.bytes));
            Value::change(source, target)
        }
    }
}
