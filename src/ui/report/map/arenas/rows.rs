//! The arenas of a device as rows of a table: what of each is free after a step.

use crate::run::arena_map::{ArenaAxis, ArenaMoment, ArenaUse, PlacedArena};
use crate::store::System;
use crate::text::capitalised;
use crate::ui::report::allocations::rows::BARS;
use crate::ui::widget::rows::{BarOf, CellValue, Listed, TableColumn};

/// The column of free bytes.
pub const FREE: usize = 4;
/// Columns stand closer where there is less room, points.
const CLOSE: f32 = 800.0;

/// An arena in the table.
pub struct ArenaRow {
    /// Its place on the axis.
    pub place: usize,
    placed: PlacedArena,
    of: ArenaUse,
    missing: &'static str,
}

/// The rows after a step.
pub fn rows(system: &System, axis: &ArenaAxis, moment: &ArenaMoment) -> Listed<ArenaRow> {
    let missing = system.step_in_text;
    let row = |(place, (placed, of)): (usize, (&PlacedArena, &ArenaUse))| ArenaRow {
        place,
        placed: placed.clone(),
        of: *of,
        missing,
    };
    let rows = axis.arenas.iter().zip(&moment.at.arenas).enumerate().map(row).collect();
    Listed { rows, cell }
}

fn cell(row: &ArenaRow, column: usize) -> CellValue<'_> {
    let (placed, of) = (&row.placed, &row.of);
    let is_there = of.reserved > 0;
    match column {
        0 => CellValue::text(&*placed.name),
        1 => CellValue::Id(placed.number),
        _ if !is_there && column < 8 => CellValue::Nothing,
        2 => CellValue::Bytes(of.reserved),
        3 => CellValue::Bytes(of.active),
        4 => CellValue::Bytes(of.free()),
        5 => CellValue::Bytes(of.largest.1),
        6 => CellValue::Count(of.pieces),
        7 => CellValue::Count(of.blocks),
        // Its pieces come and go.
        8 if placed.is_in_pieces => CellValue::Nothing,
        8 => match u64::try_from(placed.from_step) {
            Ok(step) => CellValue::Id(step),
            Err(_) => CellValue::text("before"),
        },
        _ => match (is_there, placed.is_in_pieces) {
            (false, _) => CellValue::text(format!("not there at this {}", row.missing)),
            (true, true) => CellValue::text("expandable"),
            (true, false) if placed.over > 0 => CellValue::text("over its limit"),
            (true, false) => CellValue::text(""),
        },
    }
}

/// Its columns, with bars where there is room for them.
pub fn columns(system: &System, axis: &ArenaAxis, room: f32) -> Vec<TableColumn> {
    let most = axis.arenas.iter().map(|arena| arena.bytes).max().unwrap_or(1) as f64;
    let of = "of the largest";
    let bar = BarOf { track: most, limit: None, whole: most, of };
    let in_use = TableColumn::bytes("In use", 90.0);
    let from = format!("From {}", system.step_in_text);
    let columns = vec![
        TableColumn::text(system.arena, 130.0),
        TableColumn { unit: "number", ..TableColumn::text("Number", 60.0) },
        TableColumn::bytes("Size", 90.0),
        if room < BARS { in_use } else { in_use.with_bars(bar) },
        TableColumn::bytes("Free", 90.0),
        TableColumn::bytes("Largest piece", 90.0).not_summed(),
        TableColumn::count("Pieces", 60.0),
        TableColumn::count(capitalised(system.items), 60.0),
        TableColumn { unit: "number", ..TableColumn::text(from, 80.0) },
        TableColumn::rest("Note"),
    ];
    if room < CLOSE { columns.into_iter().map(TableColumn::dense).collect() } else { columns }
}
