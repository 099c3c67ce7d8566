//! What the pictures of two reports are made from: the tiles of both in the order that the user chose,
//! with the bytes of either. Made beside the window when a choice changes.

use std::sync::Arc;

use super::super::axis::TileAxis;
use super::super::shown::{Key, TileFigures};
use super::super::stack::{MOST_CATEGORIES, Stack};
use crate::analysis::memory::breakdown::{MemoryPart, breakdowns};
use crate::analysis::memory::paired_tiles::PairedTiles;
use crate::store::Report;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;
use crate::ui::legacy::Side;

/// The tiles of both reports in their order.
#[derive(Debug)]
pub struct PairShown {
    /// Which tile stands where.
    pub axis: TileAxis,
    /// What they have in the source and in the target.
    figures: [TileFigures; 2],
    /// The row at each position, in the source and in the target.
    rows: [Vec<u32>; 2],
    /// The more of the two with gaps, by position.
    pub most: TileColumn,
    /// How much bytes with gaps have changed, whatever the sign, by position.
    pub changes: TileColumn,
}

impl PairShown {
    fn new(memories: [&TileMemory; 2], targets: [Option<&Target>; 2], key: &Key) -> Self {
        let tiles = PairedTiles::new(memories);
        let machine = machine(targets);
        let order = tiles.ordered(memories, machine, key.ipu, key.order);
        let rows = tiles.rows_of(&order);
        let [source_rows, target_rows] = &rows;
        let ([source, target], [source_machine, target_machine]) = (memories, targets);
        let figures = [
            TileFigures::new(source, source_machine, source_rows),
            TileFigures::new(target, target_machine, target_rows),
        ];
        let [of_source, of_target] = &figures;
        let both = || {
            of_source.including_gaps.iter().copied().zip(of_target.including_gaps.iter().copied())
        };
        let change = |(source, target): (Option<u64>, Option<u64>)| Some(source?.abs_diff(target?));
        Self {
            most: both().map(|(source, target)| source.max(target)).collect(),
            changes: both().map(change).collect(),
            axis: TileAxis::new(&tiles.tiles, order, machine, key),
            figures,
            rows,
        }
    }

    /// What the tiles have in one of the reports.
    pub fn figures(&self, side: Side) -> &TileFigures {
        side.of(self.figures.each_ref())
    }

    /// The row of a position in one of the reports; `None` where it does not have the tile.
    pub fn row(&self, memory: &TileMemory, side: Side, position: usize) -> Option<usize> {
        let row = *side.of(self.rows.each_ref()).get(position)? as usize;
        (row < memory.tiles.len()).then_some(row)
    }

    /// The most bytes of any tile of either.
    pub fn top(&self) -> u64 {
        self.figures.iter().map(TileFigures::top).max().unwrap_or(0)
    }
}

/// The machine that says which tiles an IPU has: that of the source, if it does.
pub fn machine([source, target]: [Option<&Target>; 2]) -> Option<&Target> {
    source.filter(|source| source.tiles_per_ipu.is_some()).or(target).or(source)
}

/// The answer to a choice.
#[derive(Clone, Debug)]
pub struct PairMade {
    /// What it was made for.
    pub key: Key,
    /// The tiles in their order.
    pub shown: Arc<PairShown>,
    /// Their bytes in parts, the same parts in both; `None` where there is no breakdown, or one of the
    /// reports does not have it.
    pub stacks: Option<[Arc<Stack>; 2]>,
}

impl PairMade {
    /// Makes what a key asks for; what serves again of the answer `before` is taken from there.
    pub fn new(source: &Report, target: &Report, key: &Key, before: Option<Self>) -> Option<Self> {
        let memories = [source.memory.get()?, target.memory.get()?];
        let same_tiles = before.as_ref().filter(|before| before.key.has_tiles_of(key));
        let shown = match same_tiles {
            Some(before) => Arc::clone(&before.shown),
            None => {
                let targets = [source.target.get(), target.target.get()];
                Arc::new(PairShown::new(memories, targets, key))
            }
        };
        let same_parts = before.filter(|before| before.key.breakdown == key.breakdown);
        let parts = same_parts.and_then(|before| before.stacks);
        let parts = match (parts, key.breakdown) {
            (Some(stacks), _) => Some(stacks.map(|stack| Arc::clone(&stack.parts))),
            (None, Some(which)) => {
                breakdowns(memories, which, MOST_CATEGORIES).map(|parts| parts.map(Arc::new))
            }
            (None, None) => None,
        };
        let stacks = parts.map(|[of_source, of_target]: [Arc<Vec<MemoryPart>>; 2]| {
            let [source_rows, target_rows] = &shown.rows;
            [
                Arc::new(Stack::of_parts(of_source, source_rows, key)),
                Arc::new(Stack::of_parts(of_target, target_rows, key)),
            ]
        });
        Some(Self { key: key.clone(), shown, stacks })
    }

    /// The bytes in parts of one of the reports.
    pub fn stack(&self, side: Side) -> Option<&Stack> {
        let [source, target] = self.stacks.as_ref()?;
        Some(side.of([source, target]))
    }
}
