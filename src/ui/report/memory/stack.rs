//! The bytes of every tile in parts, one upon the other.

use std::sync::Arc;

use super::shown::{Key, version_of};
use crate::analysis::memory::breakdown::{MemoryPart, breakdown};
use crate::analysis::memory::cell;
use crate::store::memory::{TileColumn, TileMemory};
use crate::ui::widget::bins::Values;

/// Most categories that have a colour of their own; the palette has one more for the rest.
pub const MOST_CATEGORIES: usize = 9;

/// Parts that are shown as a stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The parts, of each row of the report.
    pub parts: Arc<Vec<MemoryPart>>,
    /// For each part that is shown: its place in `parts`, and the bytes up to its upper edge, by
    /// position.
    pub edges: Vec<(usize, TileColumn)>,
    /// The most bytes of the parts that are shown.
    pub top: u64,
    /// Tells what was made for different keys apart.
    pub version: u64,
}

impl Stack {
    /// Stacks the parts that the key asks for, of the tiles in `rows`; `None` where the report does not
    /// have them. `before` are parts that may serve again.
    pub fn new(
        memory: &TileMemory,
        rows: &[u32],
        key: &Key,
        before: Option<Arc<Vec<MemoryPart>>>,
    ) -> Option<Self> {
        let which = key.breakdown?;
        let parts = match before {
            Some(parts) => parts,
            None => Arc::new(breakdown(memory, which, MOST_CATEGORIES)?),
        };
        Some(Self::of_parts(parts, rows, key))
    }

    /// Stacks parts, but those that the key hides.
    pub fn of_parts(parts: Arc<Vec<MemoryPart>>, rows: &[u32], key: &Key) -> Self {
        let mut edges: Vec<(usize, TileColumn)> = Vec::new();
        for (index, part) in parts.iter().enumerate().filter(|(index, _)| !key.is_hidden(*index)) {
            let below = edges.last().map(|(_, column)| column);
            let edge = raised(below, part, rows);
            edges.push((index, edge));
        }
        let top = edges.last().and_then(|(_, column)| Values::Cells(column).max());
        Self { parts, edges, top: top.unwrap_or(0), version: version_of(key) }
    }

    /// The parts of a row that have bytes there, largest first.
    pub fn at(&self, row: usize) -> Vec<(&str, u64)> {
        let parts = self.parts.iter();
        let mut parts: Vec<(&str, u64)> = parts
            .filter_map(|part| Some((part.title.as_str(), cell(&part.bytes, row)?)))
            .filter(|(_, bytes)| *bytes > 0)
            .collect();
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        parts
    }
}

/// The upper edge of a part that stands on another one.
fn raised(below: Option<&TileColumn>, part: &MemoryPart, rows: &[u32]) -> TileColumn {
    let edge = |(position, row): (usize, &u32)| {
        let ground = below.map_or(Some(0), |below| cell(below, position));
        Some(ground?.saturating_add(cell(&part.bytes, *row as usize)?))
    };
    rows.iter().enumerate().map(edge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::memory::breakdown::Breakdown;
    use crate::store::TileId;

    #[test]
    fn what_is_hidden_leaves_no_gap_in_the_stack() {
        let mut memory = TileMemory::default();
        for (tile, total) in [(3, Some(10)), (5, Some(20)), (7, None)] {
            memory.tiles.push(TileId(tile));
            memory.total.push(total);
            memory.including_gaps.push(total);
            memory.always_live.push(Some(6));
            memory.not_always_live_max.push(Some(3));
        }
        let mut key = Key::default();
        key.divide(Some(Breakdown::Liveness));
        let rows = [1, 0, 2];
        let stack = Stack::new(&memory, &rows, &key, None).unwrap();
        let column = |index: usize| stack.edges[index].1.clone();
        assert_eq!(column(0), [Some(6), Some(6), None]);
        assert_eq!(column(2), [Some(20), Some(10), None], "by bytes, and the whole");
        assert_eq!(
            stack.at(1),
            [("Not explained by liveness", 11), ("Always live", 6), ("Not always live", 3)]
        );
        key.switch(0, false);
        let again = Stack::new(&memory, &rows, &key, Some(Arc::clone(&stack.parts))).unwrap();
        assert_eq!(again.edges[0], (1, vec![Some(3), Some(3), None]));
        assert_eq!(again.top, 14);
        assert_ne!(again.version, stack.version);
    }
}
