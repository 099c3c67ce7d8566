//! The bytes of every tile in parts, one upon the other.

use std::sync::Arc;

use super::arranged::TilesChoice;
use crate::analysis::memory::breakdown::MemoryPart;
use crate::analysis::memory::cell;
use crate::store::memory::TileColumn;
use crate::ui::widget::bins::{BinValues, new_version};

/// Most categories that are parts of their own; the rest is one.
pub const MOST_CATEGORIES: usize = 9;

pub struct TileStack {
    /// The parts, of each row of the report.
    pub parts: Arc<Vec<MemoryPart>>,
    /// For each part that is shown its place in `parts`, and by position its upper edge in bytes.
    pub edges: Vec<(usize, TileColumn)>,
    /// The most bytes of the parts that are shown.
    pub top: u64,
    /// Tells what was made for different choices and runs apart.
    pub version: u64,
}

impl TileStack {
    /// Stacks parts of the tiles in `rows`, but those that the choice hides.
    pub fn new(parts: Arc<Vec<MemoryPart>>, rows: &[u32], choice: &TilesChoice) -> Self {
        let mut edges: Vec<(usize, TileColumn)> = Vec::new();
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| !choice.is_hidden(part)) {
            let below = edges.last().map(|(_, column)| column);
            let edge = raised(below, part, rows);
            edges.push((index, edge));
        }
        let top = edges.last().and_then(|(_, column)| BinValues::Cells(column).max());
        Self { parts, edges, top: top.unwrap_or(0), version: new_version() }
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
    use crate::analysis::memory::breakdown::{Breakdown, breakdown};
    use crate::store::TileId;
    use crate::store::memory::TileMemory;

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
        let mut choice = TilesChoice::default();
        choice.divide(Some(Breakdown::Liveness));
        let parts = Arc::new(breakdown(&memory, Breakdown::Liveness, 9).unwrap());
        let stack_of =
            |choice: &TilesChoice| TileStack::new(Arc::clone(&parts), &[1, 0, 2], choice);
        let stack = stack_of(&choice);
        let column = |index: usize| stack.edges[index].1.clone();
        assert_eq!(column(0), [Some(6), Some(6), None]);
        assert_eq!(column(2), [Some(20), Some(10), None], "by bytes, and the whole");
        choice.switch(&parts[0], false);
        let again = stack_of(&choice);
        assert_eq!(again.edges[0], (1, vec![Some(3), Some(3), None]));
        assert_eq!(again.top, 14);
        assert_ne!(again.version, stack.version);
    }
}
