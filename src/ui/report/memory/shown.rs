//! What the picture is made from: tiles in the order that the user chose, with their bytes. Made
//! beside the window when a choice changes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::stack::Stack;
use crate::analysis::breakdown::Breakdown;
use crate::analysis::memory::{Statistics, statistics, totals_of_rows};
use crate::analysis::selection::TileSelection;
use crate::analysis::tile_order::{TileOrder, gather, ipus, ordered_rows, selected_rows};
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::{Report, TileId};
use crate::ui::widget::bins::Values;

/// Stands for a row that is not shown.
const NOWHERE: u32 = u32::MAX;

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
}

/// A number that tells keys apart.
pub fn version_of(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// The tiles in their order.
#[derive(Debug)]
pub struct Shown {
    /// What it was made for, without a breakdown.
    pub key: Key,
    /// Tells what was made for different keys apart.
    pub version: u64,
    /// The row at each position.
    pub rows: Vec<u32>,
    /// The position of each row of the report.
    positions: Vec<u32>,
    /// Bytes without gaps.
    pub total: TileColumn,
    /// Bytes with gaps.
    pub including_gaps: TileColumn,
    /// The most bytes without gaps, and with them.
    pub tops: (u64, u64),
    /// The IPUs of the report.
    pub ipus: Vec<u32>,
    /// Where each IPU begins.
    pub borders: Vec<(usize, String)>,
    /// Statistics of bytes with gaps.
    pub statistics: Statistics,
    /// The fullest tile.
    pub fullest: Option<TileId>,
    /// Tiles over the limit.
    pub over_limit: Option<u64>,
}

impl Shown {
    /// Arranges the tiles of a report that has memory by tile.
    pub fn new(report: &Report, memory: &TileMemory, key: &Key) -> Self {
        let target = report.target.get();
        let rows = ordered_rows(memory, target, key.ipu, key.order);
        let mut positions = vec![NOWHERE; memory.tiles.len()];
        for (position, row) in (0..).zip(&rows) {
            if let Some(place) = positions.get_mut(*row as usize) {
                *place = position;
            }
        }
        let (total, including_gaps) =
            (gather(&memory.total, &rows), gather(&memory.including_gaps, &rows));
        let top = |column: &TileColumn| Values::Cells(column).max().unwrap_or(0);
        let has_borders = key.ipu.is_none() && key.order == TileOrder::Number;
        let ipus = ipus(memory, target);
        let borders = ipus.iter().filter(|_| has_borders && ipus.len() > 1);
        let all = rows.iter().map(|row| *row as usize);
        let totals = totals_of_rows(memory, target, all.clone());
        let key = Key { ipu: key.ipu, order: key.order, ..Key::default() };
        Self {
            version: version_of(&key),
            tops: (top(&total), top(&including_gaps)),
            borders: borders.map(|(ipu, row)| (*row, format!("IPU {ipu}"))).collect(),
            ipus: ipus.iter().map(|(ipu, _)| *ipu).collect(),
            statistics: statistics(memory, all),
            fullest: totals.fullest.and_then(|row| memory.tiles.get(row)),
            over_limit: totals.tiles_over_limit,
            key,
            rows,
            positions,
            total,
            including_gaps,
        }
    }

    /// The most bytes of any tile.
    pub fn top(&self) -> u64 {
        self.tops.0.max(self.tops.1)
    }

    /// Number of tiles.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row at a position.
    pub fn row(&self, position: usize) -> Option<usize> {
        self.rows.get(position).map(|row| *row as usize)
    }

    /// The tile at a position.
    pub fn tile(&self, memory: &TileMemory, position: usize) -> Option<TileId> {
        memory.tiles.get(self.row(position)?)
    }

    /// Where a tile is shown.
    pub fn position(&self, memory: &TileMemory, tile: TileId) -> Option<usize> {
        let position = *self.positions.get(memory.tiles.position(tile)?)?;
        (position != NOWHERE).then_some(position as usize)
    }

    /// The tiles at positions.
    pub fn tiles(&self, memory: &TileMemory, positions: Range<usize>) -> TileSelection {
        let rows = self.rows.get(positions).unwrap_or(&[]);
        rows.iter().filter_map(|row| memory.tiles.get(*row as usize)).collect()
    }

    /// The positions of the selected tiles, as ranges that ascend.
    pub fn selected(&self, memory: &TileMemory, selection: &TileSelection) -> Vec<Range<usize>> {
        let rows = selected_rows(memory, selection).into_iter().flatten();
        let mut positions: Vec<u32> = rows
            .filter_map(|row| self.positions.get(row).copied())
            .filter(|position| *position != NOWHERE)
            .collect();
        if !positions.is_sorted() {
            positions.sort_unstable();
        }
        let runs = positions.chunk_by(|a, b| a + 1 == *b);
        let ends = runs.filter_map(|run| Some((*run.first()?, *run.last()?)));
        ends.map(|(first, last)| first as usize..last as usize + 1).collect()
    }
}

/// Ranges to draw where `most` can be told apart in the visible part: neighbours that are closer than
/// that are drawn as one, and what lies outside is left out.
pub fn visible_ranges(
    ranges: &[Range<usize>],
    (start, end): (f64, f64),
    most: usize,
) -> Vec<Range<usize>> {
    if ranges.len() <= most {
        return ranges.to_vec();
    }
    let closest = ((end - start) / most as f64) as usize;
    let mut visible: Vec<Range<usize>> = Vec::new();
    let first = ranges.partition_point(|range| (range.end as f64) < start);
    for range in ranges.iter().skip(first).take_while(|range| range.start as f64 <= end) {
        match visible.last_mut() {
            Some(last) if range.start <= last.end + closest => last.end = range.end,
            _ => visible.push(range.clone()),
        }
    }
    visible
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
        let stack = Stack::new(memory, &shown, key, parts).map(Arc::new);
        Some(Self { key: key.clone(), shown, stack })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::target::Target;

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
        let shown = Shown::new(&report, memory, &Key::default());
        assert_eq!(shown.borders, [(0, "IPU 0".to_owned()), (2, "IPU 1".to_owned())]);
        let selection: TileSelection = "11-20".parse().unwrap();
        assert_eq!(shown.selected(memory, &selection), [1..3]);
        let by_bytes = Key { order: TileOrder::Bytes, ..Key::default() };
        let shown = Shown::new(&report, memory, &by_bytes);
        assert_eq!(shown.including_gaps, [Some(9), Some(8), Some(7), Some(5)]);
        assert_eq!(shown.selected(memory, &selection), [0..1, 2..3]);
        assert_eq!(shown.position(memory, TileId(10)), Some(3));
        assert_eq!(shown.position(memory, TileId(12)), None);
        assert_eq!(shown.tiles(memory, 0..2).to_string(), "11,21");
        assert!(shown.borders.is_empty());
        let shown = Shown::new(&report, memory, &Key { ipu: Some(1), ..Key::default() });
        assert_eq!((shown.len(), shown.tops), (2, (7, 8)));
        assert_eq!(shown.position(memory, TileId(10)), None, "of the other IPU");
        assert_eq!(shown.selected(memory, &selection), [0..1]);
    }

    #[test]
    fn many_ranges_become_few() {
        let ranges: Vec<Range<usize>> = (0..1000).map(|n| n * 3..n * 3 + 1).collect();
        assert_eq!(visible_ranges(&ranges, (-0.5, 2999.5), 1000).len(), 1000);
        let few = visible_ranges(&ranges, (-0.5, 2999.5), 100);
        assert_eq!(few, [0..2998], "no gap is wide enough to be seen");
        let near = visible_ranges(&ranges, (299.5, 329.5), 100);
        assert_eq!((near.len(), near[0].clone()), (10, 300..301));
    }
}
