//! Every tile: of one run with its bytes, of several with a figure in each.

use eframe::egui;
use std::sync::Arc;

use super::arranged::{ArrangedTiles, memories};
use super::listed::{ListedTable, TabRows, TableText};
use super::select::Selecting;
use super::tabs::HeadUi;
use crate::analysis::memory::outliers::outliers;
use crate::analysis::memory::tile_grid::{TileFigure, values};
use crate::analysis::memory::{cell, gap_bytes, over_limit_bytes};
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::report::figures::{EntryUnit, FigureEntry};
use crate::ui::report::tile_figures::figure_title;
use crate::ui::report::{PageContext, tile_places};
use crate::ui::runs::{Needed, Runs};
use crate::ui::selection::TitledJump;
use crate::ui::units::Units;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of bytes, points.
const BYTES: f32 = 128.0;
/// The figures of several runs to choose from.
const FIGURES: [TileFigure; 6] = [
    TileFigure::IncludingGaps,
    TileFigure::Total,
    TileFigure::Gaps,
    TileFigure::AlwaysLive,
    TileFigure::NotAlwaysLiveMax,
    TileFigure::OverLimit,
];

const OUTLIERS: &str = "Tiles that lie farther outside the middle half of all tiles than one and a half times its range \
     (Tukey's fences); the farthest from the median first";

/// Which tiles, and what of them: the version of what is shown, and the choices.
type TileListKey = (u64, TileFigure, bool, Units);

#[derive(Default)]
pub struct TilesTab {
    table: ListedTable<TileListKey>,
    figure: TileFigure,
    is_outliers: bool,
}

struct TilesTabRows {
    report: Arc<Report>,
    tiles: Vec<u32>,
}

impl Rows for TilesTabRows {
    fn len(&self) -> usize {
        self.tiles.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let (Some(memory), Some(row)) = (self.report.memory.get(), self.tiles.get(row)) else {
            return CellValue::Nothing;
        };
        let (row, target) = (*row as usize, self.report.target.get());
        let number = |number: Option<u32>| {
            number.map_or(CellValue::Nothing, |number| CellValue::Number(f64::from(number)))
        };
        let tile = memory.tiles.get(row);
        match column {
            0 => number(tile.map(|tile| tile.0)),
            1 => number(tile.and_then(|tile| target?.device_of(tile))),
            2 => CellValue::bytes(cell(&memory.including_gaps, row)),
            3 => CellValue::bytes(cell(&memory.total, row)),
            4 => CellValue::bytes(gap_bytes(memory, row)),
            5 => CellValue::bytes(cell(&memory.always_live, row)),
            _ => CellValue::bytes(over_limit_bytes(memory, target, row).filter(|over| *over > 0)),
        }
    }

    fn name(&self, row: usize) -> Option<String> {
        Some(format!("Tile {}", self.tile(row)?))
    }

    fn places(&self, row: usize) -> Vec<TitledJump> {
        self.tile(row).map_or_else(Vec::new, |tile| tile_places(&self.report.system, tile))
    }
}

impl TilesTabRows {
    fn tile(&self, row: usize) -> Option<TileId> {
        self.report.memory.get()?.tiles.get(*self.tiles.get(row)? as usize)
    }
}

fn columns(report: &Report) -> Vec<TableColumn> {
    let mut columns = vec![
        TableColumn::text("Tile", 80.0),
        TableColumn::rest("IPU"),
        TableColumn::bytes("With gaps", BYTES),
        TableColumn::bytes("Without gaps", BYTES),
        TableColumn::bytes("Gaps", BYTES),
        TableColumn::bytes("Always live", BYTES),
    ];
    if report.bytes_per_tile().is_some() {
        columns.push(TableColumn::bytes("Over the limit by", BYTES));
    }
    columns
}

/// Lists the tiles of one run; of outliers the farthest from the median first.
fn of_one(
    report: &Arc<Report>,
    memory: &TileMemory,
    shown: &[u32],
    asked: &TileListKey,
) -> TabRows {
    let (.., is_outliers, units) = asked;
    let mut tiles = shown.to_vec();
    tiles.sort_unstable();
    let mut fences = None;
    if *is_outliers {
        let found = outliers(memory);
        fences = found.as_ref().map(|found| fences_text((found.low, found.high), *units));
        let found = found.map(|found| found.rows).unwrap_or_default();
        let found = found.into_iter().filter_map(|row| u32::try_from(row).ok());
        tiles = found.filter(|row| tiles.binary_search(row).is_ok()).collect();
    }
    if tiles.is_empty() {
        return TabRows::Nothing("No tile is so far from the others");
    }
    let unknown = tiles.iter().filter(|row| cell(&memory.including_gaps, **row as usize).is_none());
    let note = match unknown.count() {
        0 => String::new(),
        1 => "the bytes of one are not known".to_owned(),
        count => format!("the bytes of {} are not known", grouped(count as u64)),
    };
    let columns = columns(report);
    let rows = Arc::new(TilesTabRows { report: Arc::clone(report), tiles });
    TabRows::One { columns, rows, note: fences.or(Some(note)) }
}

/// Lists a figure of the tiles of several runs; of outliers those that are one in any run.
fn of_several(
    runs: &Runs,
    memories: &[&TileMemory],
    tiles: &ArrangedTiles,
    asked: &TileListKey,
) -> TabRows {
    let (_, figure, is_outliers, _) = asked;
    let machine = runs.machine();
    let ipus = &tiles.axis.ipus;
    let groups: Vec<Arc<str>> = ipus.iter().map(|ipu| Arc::from(format!("IPU {ipu}"))).collect();
    let has_groups = groups.len() > 1;
    let group = |tile: TileId| -> Vec<Arc<str>> {
        let ipu = machine.and_then(|machine| machine.device_of(tile)).filter(|_| has_groups);
        let place = ipu.and_then(|ipu| ipus.iter().position(|other| *other == ipu));
        place.and_then(|place| groups.get(place)).cloned().into_iter().collect()
    };
    let with_memory = || runs.iter().zip(memories);
    let values: Vec<_> = with_memory()
        .map(|(run, memory)| values(memory, run.report.target.get(), figure))
        .collect();
    let outliers: Vec<Vec<usize>> = with_memory()
        .filter(|_| *is_outliers)
        .map(|(_, memory)| {
            let mut rows = outliers(memory).map(|found| found.rows).unwrap_or_default();
            rows.sort_unstable();
            rows
        })
        .collect();
    let is_listed = |position: &usize| {
        let is_outlier = |(run, rows): (usize, &Vec<usize>)| {
            tiles.row(run, *position).is_some_and(|row| rows.binary_search(&row).is_ok())
        };
        !is_outliers || outliers.iter().enumerate().any(is_outlier)
    };
    let positions = (0..tiles.axis.len()).filter(is_listed);
    let things = positions.filter_map(|position| Some((position, tiles.axis.tile(position)?)));
    let entry = |(position, tile): (usize, TileId)| {
        let of_run = |(run, values): (usize, &TileColumn)| {
            let row = tiles.row(run, position);
            row.map(|row| cell(values, row).ok_or(())).transpose()
        };
        let figures = values.iter().enumerate().map(of_run).collect::<Result<_, ()>>().ok()?;
        let places = tile_places(runs.system(), tile);
        Some(FigureEntry {
            name: tile.to_string(),
            figures,
            groups: group(tile),
            places,
            ..FigureEntry::default()
        })
    };
    let groupings = if has_groups { vec!["IPU"] } else { vec![] };
    let listed = TabRows::of_several(runs, "Tile", EntryUnit::Bytes, groupings, things.map(entry));
    match &listed {
        TabRows::Several { entries, .. } if entries.list.is_empty() && *is_outliers => {
            TabRows::Nothing("No tile is so far from the others")
        }
        _ => listed,
    }
}

impl TilesTab {
    /// Draws the table; returns the tile that was chosen.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &Arc<ArrangedTiles>,
        selecting: &mut Selecting,
        beside: HeadUi<'_>,
    ) -> Option<TileId> {
        let runs = page.runs;
        let asked = (tiles.axis.version, self.figure.clone(), self.is_outliers, Units::now(ui));
        let (for_job, question) = (Arc::clone(tiles), asked.clone());
        self.table.ask(ui.ctx(), (runs, &[Needed::Memory]), &asked, move |runs| {
            match memories(runs).as_deref() {
                Some([memory]) => {
                    of_one(&runs.reference().report, memory, &for_job.axis.rows, &question)
                }
                Some(memories) => of_several(runs, memories, &for_job, &question),
                None => TabRows::Nothing(""),
            }
        });
        let (mut figure, mut is_outliers) = (self.figure.clone(), self.is_outliers);
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            if !runs.is_one() {
                choice_ui(ui, "Figure", 150.0, &mut figure, FIGURES, figure_title);
            }
            ui.checkbox(&mut is_outliers, "Outliers only").on_hover_text(OUTLIERS);
            ui.add_space(8.0);
        };
        let selected = &page.selection.tiles.clone();
        let tile = |name: &str| name.parse().ok().map(TileId);
        let text = TableText {
            name: "Tiles",
            note: "",
            waiting: "",
            is_selected: &|name, _| tile(name).is_some_and(|tile| selected.contains(tile)),
        };
        let clicked = self.table.ui(ui, page, &text, &mut beside);
        (self.figure, self.is_outliers) = (figure, is_outliers);
        let clicked = clicked?;
        let chosen = tile(&clicked.name)?;
        selecting.choose(chosen, clicked.is_added, &mut page.selection.tiles);
        Some(chosen)
    }
}

/// What outliers are here: below `low` or above `high`.
fn fences_text((low, high): (u64, u64), units: Units) -> String {
    let high = units.bytes(high);
    match low {
        0 => format!("above {high} with gaps"),
        low => format!("below {} or above {high} with gaps", units.bytes(low)),
    }
}
