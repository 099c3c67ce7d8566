//! The tiles of all runs in the order that the user chose, with their bytes; made beside the window.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::axis::TileAxis;
use super::stack::{MOST_CATEGORIES, TileStack};
use crate::analysis::memory::breakdown::{Breakdown, MemoryPart, breakdowns};
use crate::analysis::memory::tile_order::{TileOrder, gather};
use crate::analysis::memory::united_tiles::{NOT_THERE, UnitedTiles, largest_change};
use crate::analysis::memory::{Statistics, cell, gap_bytes, statistics, totals_of_rows};
use crate::store::TileId;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;
use crate::ui::runs::{PerRun, Run, Runs};
use crate::ui::widget::bins::BinValues;

/// Which tiles are shown, and what their bytes are divided by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TilesChoice {
    pub ipu: Option<u32>,
    pub order: TileOrder,
    pub breakdown: Option<Breakdown>,
    /// The keys of parts that are not shown.
    hidden: BTreeSet<String>,
}

impl TilesChoice {
    /// Divides the bytes by something else, and shows all parts.
    pub fn divide(&mut self, breakdown: Option<Breakdown>) {
        self.breakdown = breakdown;
        self.hidden.clear();
    }

    pub fn is_hidden(&self, part: &MemoryPart) -> bool {
        self.hidden.contains(&part.key)
    }

    pub fn switch(&mut self, part: &MemoryPart, is_shown: bool) {
        if is_shown {
            self.hidden.remove(&part.key);
        } else {
            self.hidden.insert(part.key.clone());
        }
    }

    /// Whether it asks for the same tiles in the same order.
    pub fn has_tiles_of(&self, other: &Self) -> bool {
        (self.ipu, self.order) == (other.ipu, other.order)
    }
}

/// Memory by tile of every run; `None` where one has none.
pub fn memories(runs: &Runs) -> Option<Vec<&TileMemory>> {
    runs.iter().map(|run| run.report.memory.get()).collect()
}

type NamedTileFigure = (&'static str, fn(&TileMemory, usize) -> Option<u64>);

const FIGURES: [NamedTileFigure; 4] = [
    ("With gaps", |memory, row| cell(&memory.including_gaps, row)),
    ("Without gaps", |memory, row| cell(&memory.total, row)),
    ("Gaps", gap_bytes),
    ("Always live", |memory, row| cell(&memory.always_live, row)),
];

pub struct ArrangedTiles {
    pub axis: TileAxis,
    pub figures: PerRun<TileFigures>,
    /// For each run the row of every tile of the axis, whatever the order.
    pub own_rows: Vec<Vec<u32>>,
    /// For each run the first before it whose tiles have the same bytes with gaps.
    pub same_as: PerRun<Option<usize>>,
    /// For each run the row at each position.
    rows: Vec<Vec<u32>>,
    /// The most bytes with gaps of any run, by position.
    pub most: TileColumn,
    /// The least bytes with gaps of any tile in any run.
    pub least: u64,
    /// How much bytes with gaps have changed, whatever the sign, by position.
    pub changes: TileColumn,
}

impl ArrangedTiles {
    pub fn new(runs: &Runs, memories: &[&TileMemory], choice: &TilesChoice) -> Self {
        let tiles = UnitedTiles::new(memories);
        let machine = runs.machine();
        let order = tiles.ordered(memories, machine, choice.ipu, choice.order);
        let rows = tiles.rows_of(&order);
        let figures: PerRun<_> = (runs.iter().zip(memories).zip(&rows))
            .map(|((run, memory), rows)| TileFigures::new(memory, run.report.target.get(), rows))
            .collect();
        let same_as = figures.iter().enumerate().map(|(place, own)| {
            let is_same = |other: &TileFigures| other.including_gaps == own.including_gaps;
            figures.iter().take(place).position(is_same)
        });
        let with_gaps = |position: usize| {
            figures.iter().map(move |figures| cell(&figures.including_gaps, position))
        };
        let positions = 0..order.len();
        let most: TileColumn =
            positions.clone().map(|position| with_gaps(position).max().flatten()).collect();
        Self {
            least: positions.clone().flat_map(&with_gaps).flatten().min().unwrap_or(0),
            most,
            changes: positions.map(|position| largest_change(with_gaps(position))).collect(),
            axis: TileAxis::new(&tiles.tiles, order, machine, choice),
            own_rows: tiles.rows,
            same_as: same_as.collect(),
            figures,
            rows,
        }
    }

    /// The row of a position in a run; `None` where it does not have the tile.
    pub fn row(&self, run: usize, position: usize) -> Option<usize> {
        let row = *self.rows.get(run)?.get(position)?;
        (row != NOT_THERE).then_some(row as usize)
    }

    /// What the tile at a position has in every run, with titles: with gaps, then without.
    pub fn figures_at(
        &self,
        runs: &Runs,
        position: Option<usize>,
    ) -> Vec<(&'static str, PerRun<Option<u64>>)> {
        let figure = |(title, of): NamedTileFigure| {
            let of_run = |(place, run): (usize, &Run)| {
                of(run.report.memory.get()?, self.row(place, position?)?)
            };
            (title, runs.iter().enumerate().map(of_run).collect())
        };
        FIGURES.into_iter().map(figure).collect()
    }

    pub fn top(&self) -> u64 {
        self.figures.iter().map(TileFigures::top).max().unwrap_or(0)
    }
}

/// What the tiles of a picture have in one run, by position.
pub struct TileFigures {
    /// Bytes without gaps.
    pub total: TileColumn,
    pub including_gaps: TileColumn,
    /// The most bytes without gaps, and with them.
    pub tops: (u64, u64),
    pub tiles: u64,
    /// Of bytes with gaps.
    pub statistics: Statistics,
    pub fullest: Option<TileId>,
    /// Number of tiles over the limit.
    pub over_limit: Option<u64>,
}

impl TileFigures {
    /// Figures of the tiles in rows of `memory`; [`NOT_THERE`] stands for tiles that it does not have.
    fn new(memory: &TileMemory, target: Option<&Target>, rows: &[u32]) -> Self {
        let (total, including_gaps) =
            (gather(&memory.total, rows), gather(&memory.including_gaps, rows));
        let top = |column: &TileColumn| BinValues::Cells(column).max().unwrap_or(0);
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

    fn top(&self) -> u64 {
        self.tops.0.max(self.tops.1)
    }
}

pub struct DividedTiles {
    pub choice: TilesChoice,
    pub tiles: Arc<ArrangedTiles>,
    /// Their bytes in parts, the same in all runs; `None` where one does not have them.
    pub stacks: Option<PerRun<TileStack>>,
}

impl DividedTiles {
    /// Makes what a choice asks for; what serves again of the answer `before` is taken from there.
    pub fn new(runs: &Runs, choice: &TilesChoice, before: Option<&Self>) -> Option<Self> {
        let memories = memories(runs)?;
        let same_tiles = before.filter(|before| before.choice.has_tiles_of(choice));
        let tiles = match same_tiles {
            Some(before) => Arc::clone(&before.tiles),
            None => Arc::new(ArrangedTiles::new(runs, &memories, choice)),
        };
        let same_parts = before.filter(|before| before.choice.breakdown == choice.breakdown);
        let parts: Option<Vec<_>> =
            match (same_parts.and_then(|before| before.stacks.as_ref()), choice) {
                (Some(stacks), _) => {
                    Some(stacks.iter().map(|stack| Arc::clone(&stack.parts)).collect())
                }
                (None, TilesChoice { breakdown: Some(which), .. }) => {
                    breakdowns(&memories, *which, MOST_CATEGORIES)
                        .map(|parts| parts.into_iter().map(Arc::new).collect())
                }
                (None, _) => None,
            };
        let stacks = parts.map(|parts| {
            let stack = |(parts, rows): (_, &Vec<u32>)| TileStack::new(parts, rows, choice);
            parts.into_iter().zip(&tiles.rows).map(stack).collect()
        });
        Some(Self { choice: choice.clone(), tiles, stacks })
    }

    pub fn stack(&self, run: usize) -> Option<&TileStack> {
        self.stacks.as_ref()?.get(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::derived::Derived;
    use crate::analysis::memory::selection::TileSelection;
    use crate::store::Report;
    use crate::ui::runs::{Arrangement, Badge, Run, RunId};

    fn report(bytes: &[(u32, u64)]) -> Arc<Report> {
        let report = Report::default();
        let mut memory = TileMemory::default();
        for (tile, bytes) in bytes {
            memory.tiles.push(TileId(*tile));
            memory.including_gaps.push(Some(*bytes));
            memory.total.push(Some(bytes - 1));
        }
        report.memory.fill(Some(memory));
        report.target.fill(Some(Target { tiles_per_device: Some(20), ..Target::default() }));
        Arc::new(report)
    }

    fn runs(reports: &[Arc<Report>]) -> Runs {
        let run = |(number, report): (u32, &Arc<Report>)| {
            let derived = Arc::new(Derived::new(Arc::clone(report)));
            Run::new(RunId(number), derived, Badge::of(number as u8, 0))
        };
        let list = (0..).zip(reports).map(run).collect();
        Runs::new(list, None, Arrangement::default(), None).expect("a run")
    }

    fn arranged(runs: &Runs, choice: &TilesChoice) -> ArrangedTiles {
        ArrangedTiles::new(runs, &memories(runs).expect("memory"), choice)
    }

    /// Tiles 10, 11, 20 and 21 on two IPUs.
    const BYTES: [(u32, u64); 4] = [(10, 5), (11, 9), (20, 7), (21, 8)];

    #[test]
    fn tiles_are_found_in_any_order() {
        let runs = runs(&[report(&BYTES)]);
        let axis = arranged(&runs, &TilesChoice::default()).axis;
        assert_eq!(axis.borders, [(0, "IPU 0".to_owned()), (2, "IPU 1".to_owned())]);
        let selection: TileSelection = "11-20".parse().unwrap();
        assert_eq!(axis.selected(&selection), [1..3]);
        let by_bytes = TilesChoice { order: TileOrder::Bytes, ..Default::default() };
        let tiles = arranged(&runs, &by_bytes);
        let figures = tiles.figures.first().unwrap();
        assert_eq!(figures.including_gaps, [Some(9), Some(8), Some(7), Some(5)]);
        assert_eq!(tiles.axis.selected(&selection), [0..1, 2..3]);
        assert_eq!(tiles.axis.position(TileId(10)), Some(3));
        assert_eq!(tiles.axis.position(TileId(12)), None);
        assert_eq!(tiles.axis.tiles_at(0..2).to_string(), "11,21");
        assert!(tiles.axis.borders.is_empty());
        assert_ne!(tiles.axis.version, axis.version);
    }

    #[test]
    fn one_ipu_has_its_own_positions() {
        let choice = TilesChoice { ipu: Some(1), ..Default::default() };
        let tiles = arranged(&runs(&[report(&BYTES)]), &choice);
        let figures = tiles.figures.first().unwrap();
        assert_eq!((tiles.axis.len(), figures.tops), (2, (7, 8)));
        assert_eq!(tiles.axis.position(TileId(10)), None, "of the other IPU");
        assert_eq!(tiles.axis.selected(&"11-20".parse().unwrap()), [0..1]);
    }

    #[test]
    fn the_axis_has_the_tiles_of_all_runs() {
        let reports = [report(&BYTES), report(&[(11, 2), (30, 4)]), report(&[(10, 9)])];
        let tiles = arranged(&runs(&reports), &TilesChoice::default());
        assert_eq!(tiles.axis.in_order(), [10, 11, 20, 21, 30].map(TileId));
        assert_eq!(tiles.most, [9, 9, 7, 8, 4].map(Some));
        assert_eq!(tiles.changes, [Some(4), Some(7), None, None, None]);
        assert_eq!(tiles.same_as, [None; 3]);
        let alike = runs(&[report(&BYTES), report(&[(10, 9)]), report(&BYTES)]);
        let same_as = arranged(&alike, &TilesChoice::default()).same_as;
        assert_eq!(same_as, [None, None, Some(0)]);
        assert_eq!(alike.lies_on(|place| *same_as.get(place)?), ["C lies on A"]);
        let rows: Vec<_> = (0..3).map(|run| tiles.row(run, 1)).collect();
        assert_eq!(rows, [Some(1), Some(0), None]);
        assert_eq!(tiles.figures.get(1).map(|figures| figures.tiles), Some(2));
    }
}
