//! What the picture is made from: tiles in the order that the user chose, with their bytes. Made
//! beside the window when a choice changes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::axis::TileAxis;
use super::stack::Stack;
use crate::analysis::memory::breakdown::Breakdown;
use crate::analysis::memory::paired_tiles::NOT_THERE;
use crate::analysis::memory::tile_order::{TileOrder, gather, ordered_rows};
use crate::analysis::memory::{Statistics, statistics, totals_of_rows};
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;
use crate::store::{Report, TileId};
use crate::ui::widget::bins::Values;

/// What is shown depends on this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    /// One IPU, or all.
    pub ipu: Option<u32>,
    /// The order of the tiles.
    pub order: TileOrder,
    /// What the bytes are divided by.
    pub breakdown: Option<Breakdown>,
    /// A bit for each part that is not shown.
    hidden: u32,
}

impl Key {
    /// Divides the bytes by something else, and shows all parts.
    pub fn divide(&mut self, breakdown: Option<Breakdown>) {
        self.breakdown = breakdown;
        self.hidden = 0;
    }

    /// Whether a part is not shown.
    pub fn is_hidden(&self, part: usize) -> bool {
        self.hidden.checked_shr(part as u32).unwrap_or(0) & 1 == 1
    }

    /// Shows a part or hides it.
    pub fn switch(&mut self, part: usize, is_shown: bool) {
        let bit = 1_u32.checked_shl(part as u32).unwrap_or(0);
        self.hidden = if is_shown { self.hidden & !bit } else { self.hidden | bit };
    }

    /// Whether it asks for the same tiles in the same order.
    pub fn has_tiles_of(&self, other: &Self) -> bool {
        (self.ipu, self.order) == (other.ipu, other.order)
    }

    /// What it asks for without a breakdown.
    pub fn of_tiles(&self) -> Self {
        Self { ipu: self.ipu, order: self.order, ..Self::default() }
    }
}

/// A number that tells keys apart.
pub fn version_of(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// The tiles of a report in their order.
#[derive(Debug)]
pub struct Shown {
    /// Which tile stands where.
    pub axis: TileAxis,
    /// What they have.
    pub figures: TileFigures,
}

impl Shown {
    /// Arranges the tiles of a report that has memory by tile.
    pub fn new(report: &Report, memory: &TileMemory, key: &Key) -> Self {
        let target = report.target.get();
        let rows = ordered_rows(memory, target, key.ipu, key.order);
        let figures = TileFigures::new(memory, target, &rows);
        Self { axis: TileAxis::new(&memory.tiles, rows, target, key), figures }
    }
}

/// What the tiles of a picture have in one report, by position.
#[derive(Debug)]
pub struct TileFigures {
    /// Bytes without gaps.
    pub total: TileColumn,
    /// Bytes with gaps.
    pub including_gaps: TileColumn,
    /// The most bytes without gaps, and with them.
    pub tops: (u64, u64),
    /// Number of tiles that the report has.
    pub tiles: u64,
    /// Statistics of bytes with gaps.
    pub statistics: Statistics,
    /// The fullest tile.
    pub fullest: Option<TileId>,
    /// Tiles over the limit.
    pub over_limit: Option<u64>,
}

impl TileFigures {
    /// Figures of the tiles in rows of `memory`; [`NOT_THERE`] stands for tiles that it does not have.
    pub fn new(memory: &TileMemory, target: Option<&Target>, rows: &[u32]) -> Self {
        let (total, including_gaps) =
            (gather(&memory.total, rows), gather(&memory.including_gaps, rows));
        let top = |column: &TileColumn| Values::Cells(column).max().unwrap_or(0);
        let all = rows.iter().filter(|row| **row != NOT_THERE).map(|row| *row as usize);
        let totals = totals_of_rows(memory, target, all.clone());
        Self {
            tops: (top(&total), top(&including_gaps)),
            tiles: all.clone().count() as u64,
            statistics: statistics(memory, all),
            fullest: totals.fullest.and_then(|row| memory.tiles.get(row)),
            over_limit: totals.tiles_over_limit,
            total,
            including_gaps,
        }
    }

    /// The most bytes of any tile.
    pub fn top(&self) -> u64 {
        self.tops.0.max(self.tops.1)
    }
}

/// The answer to a choice.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it was made for.
    pub key: Key,
    /// The tiles in their order.
    pub shown: Arc<Shown>,
    /// Their bytes in parts; `None` where there is no breakdown, or the report does not have it.
    pub stack: Option<Arc<Stack>>,
}

impl Made {
    /// Makes what a key asks for; what serves again of the answer `before` is taken from there.
    pub fn new(report: &Report, key: &Key, before: Option<Self>) -> Option<Self> {
        let memory = report.memory.get()?;
        let same_tiles = before.as_ref().filter(|before| before.key.has_tiles_of(key));
        let shown = match same_tiles {
            Some(before) => Arc::clone(&before.shown),
            None => Arc::new(Shown::new(report, memory, key)),
        };
        let same_parts = before.filter(|before| before.key.breakdown == key.breakdown);
        let parts =
            same_parts.and_then(|before| before.stack).map(|stack| Arc::clone(&stack.parts));
        let stack = Stack::new(memory, &shown.axis.rows, key, parts).map(Arc::new);
        Some(Self { key: key.clone(), shown, stack })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::memory::selection::TileSelection;

    /// Tiles 10, 11, 20 and 21 on two IPUs.
    fn report() -> Report {
        let report = Report::default();
        let mut memory = TileMemory::default();
        for (tile, bytes) in [(10, 5), (11, 9), (20, 7), (21, 8)] {
            memory.tiles.push(TileId(tile));
            memory.including_gaps.push(Some(bytes));
            memory.total.push(Some(bytes - 1));
        }
        report.memory.fill(Some(memory));
        report.target.fill(Some(Target { tiles_per_ipu: Some(20), ..Target::default() }));
        report
    }

    #[test]
    fn tiles_are_found_in_any_order() {
        let report = report();
        let memory = report.memory.get().unwrap();
        let shown = Shown::new(&report, memory, &Key::default()).axis;
        assert_eq!(shown.borders, [(0, "IPU 0".to_owned()), (2, "IPU 1".to_owned())]);
        let selection: TileSelection = "11-20".parse().unwrap();
        assert_eq!(shown.selected(&selection), [1..3]);
        let by_bytes = Key { order: TileOrder::Bytes, ..Key::default() };
        let Shown { axis: shown, figures } = Shown::new(&report, memory, &by_bytes);
        assert_eq!(figures.including_gaps, [Some(9), Some(8), Some(7), Some(5)]);
        assert_eq!(shown.selected(&selection), [0..1, 2..3]);
        assert_eq!(shown.position(TileId(10)), Some(3));
        assert_eq!(shown.position(TileId(12)), None);
        assert_eq!(shown.tiles_at(0..2).to_string(), "11,21");
        assert!(shown.borders.is_empty());
        let of_ipu = Key { ipu: Some(1), ..Key::default() };
        let Shown { axis: shown, figures } = Shown::new(&report, memory, &of_ipu);
        assert_eq!((shown.len(), figures.tops), (2, (7, 8)));
        assert_eq!(shown.position(TileId(10)), None, "of the other IPU");
        assert_eq!(shown.selected(&selection), [0..1]);
    }
}
