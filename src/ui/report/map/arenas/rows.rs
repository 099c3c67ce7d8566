//! The arenas of a device as rows of a table: what of each is free after a step.

use crate::run::arena_map::{ArenaAxis, ArenaMoment, ArenaUse, PlacedArena};
use crate::store::System;
use crate::ui::report::allocations::rows::BARS;
use crate::ui::widget::rows::{BarOf, Column, Listed, Value};

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

fn cell(row: &ArenaRow, column: usize) -> Value<'_> {
    let (placed, of) = (&row.placed, &row.of);
    let is_there = of.reserved > 0;
    match column {
        0 => Value::text(&*placed.name),
        1 => Value::Id(placed.number),
        2 => Value::Bytes(placed.bytes),
        _ if !is_there && column < 8 => Value::Nothing,
        3 => Value::Bytes(of.active),
        4 => Value::Bytes(of.free()),
        5 => Value::Bytes(of.largest.1),
        6 => Value::Count(of.pieces),
        7 => Value::Count(of.blocks),
        // Its pieces come and go.
        8 if placed.is_in_pieces => Value::Nothing,
        8 => match u64::try_from(placed.from_step) {
            Ok(step) => Value::Id(step),
            Err(_) => Value::text("before"),
        },
        _ => match (is_there, placed.is_in_pieces) {
            (false, _) => Value::text(format!("not there at this {}", row.missing)),
            (true, true) => Value::text("expandable"),
            (true, false) if placed.over > 0 => Value::text("over its limit"),
            (true, false) => Value::text(""),
        },
    }
}

/// Its columns, with bars where there is room for them.
pub fn columns(system: &System, axis: &ArenaAxis, room: f32) -> Vec<Column> {
    let most = axis.arenas.iter().map(|arena| arena.bytes).max().unwrap_or(1) as f64;
    let of = "of the largest";
    let bar = BarOf { track: most, limit: None, whole: most, of };
    let in_use = Column::bytes("In use", 90.0);
    let from = format!("From {}", system.step_in_text);
    let columns = vec![
        Column::text(system.arena, 130.0),
        Column { unit: "number", ..Column::text("Number", 60.0) },
        Column::bytes("Size", 90.0),
        if room < BARS { in_use } else { in_use.with_bars(bar) },
        Column::bytes("Free", 90.0),
        Column::bytes("Largest piece", 90.0).not_summed(),
        Column::count("Pieces", 60.0),
        Column::count("Blocks", 60.0),
        Column { unit: "number", ..Column::text(from, 80.0) },
        Column::rest("Note"),
    ];
    if room < CLOSE { columns.into_iter().map(Column::dense).collect() } else { columns }
}
