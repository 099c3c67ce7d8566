//! Allocations as rows of a table.

use std::sync::Arc;

use crate::run::allocations::Allocations;
use crate::run::areas::AreasBy;
use crate::store::System;
use crate::text::capitalised;
use crate::ui::report::areas::short_frame;
use crate::ui::widget::rows::{BarOf, Column, Rows, Value};

/// Width of a table from which bars leave room for all of its columns, points.
pub const BARS: f32 = 960.0;

/// The column of the bytes that a block takes.
const BLOCK: usize = 2;

/// Allocations, or some of a list of them.
pub struct AllocationRows {
    all: Arc<dyn Allocations>,
    /// Rows of the list; `None` for all.
    rows: Option<Vec<u32>>,
}

impl AllocationRows {
    /// Of all of a list.
    pub fn of(all: Arc<dyn Allocations>) -> Self {
        Self { all, rows: None }
    }

    pub fn some_of(all: Arc<dyn Allocations>, rows: Vec<u32>) -> Self {
        Self { all, rows: Some(rows) }
    }

    pub fn list(&self) -> &Arc<dyn Allocations> {
        &self.all
    }

    /// The row of the list that a row is.
    pub fn at(&self, row: usize) -> Option<usize> {
        match &self.rows {
            None => (row < self.all.len()).then_some(row),
            Some(rows) => rows.get(row).map(|row| *row as usize),
        }
    }

    /// The columns, with bars of a whole where there is room for them.
    pub fn columns(&self, system: &System, whole: u64, room: f32) -> Vec<Column> {
        let whole = whole as f64;
        let bar = BarOf { track: whole, limit: None, whole, of: "of all that is listed" };
        let (code, is_rounded) = self.all.titles();
        let asked = Column::bytes(if is_rounded { "Asked" } else { "Size" }, 100.0);
        let from = format!("From {}", system.step_in_text);
        let alive = format!("{} alive", capitalised(system.steps));
        let mut columns = vec![
            Column::text(code, 220.0),
            if room < BARS { asked } else { asked.with_bars(bar) },
            Column::bytes("Block", 90.0),
            Column::text("Category", 100.0),
            Column { unit: "number", ..Column::text(from, 80.0) },
            Column { unit: "number", ..Column::text(alive, 80.0) },
            Column::text("Address", 130.0),
        ];
        if self.all.has_devices() {
            columns.push(Column::text(system.device, 70.0));
        }
        if !is_rounded {
            columns.remove(BLOCK);
        }
        columns
    }
}

impl Rows for AllocationRows {
    fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.all.len(), Vec::len)
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(row) = self.at(row) else { return Value::Nothing };
        let is_behind = column >= BLOCK && !self.all.titles().1;
        let column = column + usize::from(is_behind);
        if column == 0 {
            let code = self.all.code(self.all.stack(row), AreasBy::Line);
            return Value::text(short_frame(&code).to_owned());
        }
        if let Some(bytes) =
            column.checked_sub(1).and_then(|at| self.all.bytes(row).get(at).copied())
        {
            return Value::Bytes(bytes);
        }
        let Some(one) = self.all.get(row) else { return Value::Nothing };
        match column {
            3 => one.category.map_or(Value::Nothing, Value::text),
            4 => one.from.map_or(Value::text("before"), Value::Id),
            5 => Value::Count(one.steps),
            6 => Value::text(one.address),
            _ => Value::text(one.device),
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let row = self.at(row)?;
        let code = self.all.code(self.all.stack(row), AreasBy::Line);
        Some(format!("{code}\nLives from {}", self.all.get(row)?.life))
    }
}
