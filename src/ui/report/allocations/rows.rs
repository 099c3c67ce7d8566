//! Allocations as rows of a table.

use std::sync::Arc;

use crate::run::allocations::Allocations;
use crate::run::areas::AreasBy;
use crate::store::System;
use crate::text::capitalised;
use crate::ui::report::areas::short_frame;
use crate::ui::widget::rows::{BarOf, CellValue, Rows, TableColumn};

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
    pub fn columns(&self, system: &System, whole: u64, room: f32) -> Vec<TableColumn> {
        let whole = whole as f64;
        let bar = BarOf { track: whole, limit: None, whole, of: "of all that is listed" };
        let (code, is_rounded) = self.all.titles();
        let asked = if is_rounded { "Asked" } else { "Size" };
        let asked = TableColumn::bytes(asked, 100.0).counted_by(self.all.rule());
        let from = format!("From {}", system.step_in_text);
        let alive = format!("{} alive", capitalised(system.steps));
        let mut columns = vec![
            TableColumn::text(code, 220.0),
            if room < BARS { asked } else { asked.with_bars(bar) },
            TableColumn::bytes("Block", 90.0),
            TableColumn::text("Category", 100.0),
            TableColumn { unit: "number", ..TableColumn::text(from, 80.0) },
            TableColumn { unit: "number", ..TableColumn::text(alive, 80.0) },
            TableColumn::text("Address", 130.0),
        ];
        if self.all.has_devices() {
            columns.push(TableColumn::text(system.device, 70.0));
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

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(row) = self.at(row) else { return CellValue::Nothing };
        let is_behind = column >= BLOCK && !self.all.titles().1;
        let column = column + usize::from(is_behind);
        if column == 0 {
            let code = self.all.code(self.all.stack(row), AreasBy::Line);
            return CellValue::text(short_frame(&code).to_owned());
        }
        if let Some(bytes) =
            column.checked_sub(1).and_then(|at| self.all.bytes(row).get(at).copied())
        {
            return CellValue::Bytes(bytes);
        }
        let Some(one) = self.all.get(row) else { return CellValue::Nothing };
        match column {
            3 => one.category.map_or(CellValue::Nothing, CellValue::text),
            4 => one.from.map_or(CellValue::text("before"), CellValue::Id),
            5 => CellValue::Count(one.steps),
            6 => CellValue::text(one.address),
            _ => CellValue::text(one.device),
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let row = self.at(row)?;
        let code = self.all.code(self.all.stack(row), AreasBy::Line);
        Some(format!("{code}\nLives from {}", self.all.get(row)?.life))
    }
}
