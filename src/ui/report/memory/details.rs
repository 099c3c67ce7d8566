//! Where the bytes go: by region and by category, of all tiles and of the selected one.

use eframe::egui;
use eframe::egui::RichText;

use crate::analysis::memory::{
    category_on_tile, category_title, category_total, cell, gap_bytes, not_explained_bytes, sum,
    totals,
};
use crate::analysis::selection::TileSelection;
use crate::store::memory::{Region, TileMemory};
use crate::store::{Report, TileId};
use crate::text;
use crate::ui::report::bytes_or_dash;
use crate::ui::selection::Selection;
use crate::ui::units::Units;
use crate::ui::widget::table::{Cell, ColumnSpec, Table};

/// The table, made anew when another tile is selected.
#[derive(Debug, Default)]
pub struct Details {
    made_for: Option<TileId>,
    /// Empty until it is made for the first time.
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    title: String,
    indent: u8,
    figures: Option<[Option<u64>; 2]>,
}

impl Row {
    fn new(indent: u8, title: impl Into<String>, all: Option<u64>, tile: Option<u64>) -> Self {
        Self { title: title.into(), indent, figures: Some([all, tile]) }
    }

    fn title(indent: u8, title: &str) -> Self {
        Self { title: title.to_owned(), indent, figures: None }
    }
}

impl Details {
    /// Draws the table.
    pub fn ui(&mut self, ui: &mut egui::Ui, report: &Report, selection: &mut Selection) {
        let Some(memory) = report.memory.get() else { return };
        let tile = selection.tiles.first().filter(|tile| memory.tiles.position(*tile).is_some());
        if self.rows.is_empty() || self.made_for != tile {
            self.rows = rows(report, memory, tile);
            self.made_for = tile;
        }
        ui.horizontal(|ui| {
            ui.label(RichText::new("Details").strong().size(15.0));
            ui.add_space(8.0);
            match tile {
                Some(tile) => {
                    if ui.button(format!("Deselect tile {tile}")).clicked() {
                        selection.tiles = TileSelection::default();
                    }
                }
                None => {
                    ui.weak("Click a tile in the picture to see its figures beside the total");
                }
            }
        });
        let mut columns = vec![ColumnSpec::rest("Bytes"), ColumnSpec::number("All tiles", 210.0)];
        if let Some(tile) = tile {
            columns.push(ColumnSpec::number(format!("Tile {tile}"), 210.0));
        }
        let table = Table {
            id: "memory details",
            columns: &columns,
            rows: self.rows.len(),
            selected: None,
            is_clickable: false,
        };
        let units = Units::now(ui);
        table.ui(ui, |row, column| {
            let Some(row) = self.rows.get(row) else { return Cell::default() };
            match column.checked_sub(1) {
                None => Cell::new(row.title.as_str())
                    .indent(row.indent)
                    .strong(row.figures.is_none() || row.indent == 0),
                Some(figure) => match row.figures {
                    Some(figures) => {
                        Cell::new(bytes_or_dash(figures.get(figure).copied().flatten(), units))
                    }
                    None => Cell::default(),
                },
            }
        });
    }
}

fn rows(report: &Report, memory: &TileMemory, tile: Option<TileId>) -> Vec<Row> {
    let target = report.target.get();
    let all = totals(memory, target);
    let at = tile.and_then(|tile| memory.tiles.position(tile));
    let on_tile = |column: &Vec<Option<u64>>| cell(column, at?);
    let mut rows = vec![
        Row::new(0, "With gaps", all.including_gaps_bytes, on_tile(&memory.including_gaps)),
        Row::new(0, "Gaps", all.gap_bytes, at.and_then(|row| gap_bytes(memory, row))),
        Row::new(0, "Without gaps", all.total_bytes, on_tile(&memory.total)),
        Row::title(1, "By region"),
    ];
    for (region, column) in Region::ALL.into_iter().zip(&memory.by_region) {
        rows.push(Row::new(2, region.title(), sum(column), on_tile(column)));
    }
    rows.push(Row::title(1, "By liveness"));
    rows.push(Row::new(2, "Always live", all.always_live_bytes, on_tile(&memory.always_live)));
    rows.push(Row::new(
        2,
        "Not always live, the most at a step (each tile at its own)",
        sum(&memory.not_always_live_max),
        on_tile(&memory.not_always_live_max),
    ));
    // Over all tiles this has no meaning: each tile has its own worst step.
    let not_explained = at.and_then(|row| not_explained_bytes(memory, row));
    if not_explained.is_some() {
        rows.push(Row::new(2, "Not explained by liveness", None, not_explained));
    }
    if memory.categories.is_empty() {
        rows.push(Row::title(1, "By category: table memory_by_category is not in the profile"));
        return rows;
    }
    for is_overlapped in [false, true] {
        rows.push(Row::title(
            1,
            if is_overlapped {
                "By category, at addresses shared with other variables (counted once a variable)"
            } else {
                "By category, at addresses that one variable uses"
            },
        ));
        for category in &memory.categories {
            let pick = |bytes: crate::analysis::memory::CategoryBytes| {
                if is_overlapped { bytes.overlapped } else { bytes.not_overlapped }
            };
            let all = pick(category_total(category));
            let on_tile = tile.and_then(|tile| pick(category_on_tile(category, tile)));
            // Categories that have nothing anywhere only make the list long.
            if all != Some(0) {
                let title = category_title(&text::shortened(&category.name, 80));
                rows.push(Row::new(2, title, all, on_tile));
            }
        }
    }
    rows
}
