//! The memory map of one tile: every variable at its address, in lanes, with the gaps between.
//!
//! A block is a variable that has a place and a size, over all steps or live at one: the variables
//! of the tile's liveness there, always live or not, so their bytes add up to it. Blocks are ordered
//! by offset, then by end, then by row; each lies in the lowest lane that is free at its offset, so no
//! two of a lane overlap, and there are as many lanes as blocks at the most crowded address. Gaps are
//! those of [`crate::analysis::placement::gaps`], which at a step count what only other steps use.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use crate::store::ids::CategoryId;
use crate::store::placed::{Placed, Placement};
use crate::store::{ArenaId, ClassId, Report};

use crate::analysis::placement::gaps::{
    Gap, GapsByReason, between_ends, by_reason, end_of, gaps, gaps_at_step,
};
use crate::analysis::program::steps::Filter;

/// The map of one tile. Addresses are bytes from the start of the tile's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileMap {
    /// The last byte that any variable uses at any step, + 1.
    pub end: u64,
    /// What the arena can hold, bytes; `None` where that is not known, and of one that comes and goes, which is as large
    /// as what it is for.
    pub limit: Option<u64>,
    /// Start addresses of the memory elements, ascending.
    pub elements: Vec<u64>,
    /// Start addresses of the memory regions, ascending.
    pub regions: Vec<u64>,
    /// The variables, by offset, then by end, then by row.
    pub blocks: Vec<TileMapBlock>,
    /// For each lane its blocks, as positions in `blocks`, by address.
    pub lanes: Vec<Vec<u32>>,
    /// The gaps, by address; no two overlap.
    pub gaps: Vec<Gap>,
    /// Whether the arena is filled from both ends, so that what is free lies between.
    pub is_filled_from_both_ends: bool,
}

/// A variable at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileMapBlock {
    /// Its row in [`Placed`].
    pub row: u32,
    /// Its first byte.
    pub offset: u64,
    /// The first byte after it.
    pub end: u64,
    /// Its lane, counted from 0.
    pub lane: u32,
    /// Its category; `None` where the file does not name it.
    pub category: Option<CategoryId>,
    /// Its liveness class.
    pub class: ClassId,
    /// Whether it lives as long as the program.
    pub is_always_live: bool,
}

impl TileMap {
    /// The map of an arena over all steps, or of what lives at a step position.
    pub fn new(tile: &Placed, report: &Report, arena: ArenaId, step: Option<usize>) -> Self {
        let target = report.target.get();
        let classes = report.liveness.get().map(|liveness| &liveness.classes);
        let is_live = |variable: &Placement| {
            step.is_none_or(|step| {
                classes.is_some_and(|classes| classes.is_live_at(variable.class, step))
            })
        };
        let block = |row: &u32| {
            let variable = tile.get(*row).filter(|variable| is_live(variable))?;
            let category = variable.category.map(CategoryId);
            Some(TileMapBlock {
                row: *row,
                offset: variable.offset,
                end: variable.end(),
                lane: 0,
                category: category.filter(|id| report.category_name(*id).is_some()),
                class: variable.class,
                is_always_live: classes
                    .is_some_and(|classes| classes.is_always_live(variable.class)),
            })
        };
        let mut blocks: Vec<TileMapBlock> = tile.by_address().iter().filter_map(block).collect();
        let lanes = put_into_lanes(&mut blocks);
        let gaps = match step {
            Some(_) => gaps_at_step(tile, target, is_live),
            None => gaps(tile, target),
        };
        let limit = report
            .bytes_per_tile()
            .or_else(|| report.arenas.get().filter(|arenas| !arenas.come_and_go)?.capacity(arena));
        let (end, arenas) = (end_of(tile), report.arenas.get());
        let is_filled_from_both_ends =
            arenas.is_some_and(|arenas| arenas.are_filled_from_both_ends);
        let gaps = if is_filled_from_both_ends { between_ends(gaps, end, limit) } else { gaps };
        Self {
            end,
            limit,
            is_filled_from_both_ends,
            elements: target.map(|target| target.element_offsets.clone()).unwrap_or_default(),
            regions: target.map(|target| target.region_offsets.clone()).unwrap_or_default(),
            blocks,
            lanes,
            gaps,
        }
    }

    /// The block at an address in a lane, as a position in `blocks`.
    pub fn block_at(&self, address: u64, lane: usize) -> Option<usize> {
        let position = *self.blocks_within(lane, address..address.saturating_add(1)).first()?;
        Some(position as usize)
    }

    /// The blocks of a lane that have a byte in a range of addresses.
    pub fn blocks_within(&self, lane: usize, addresses: Range<u64>) -> &[u32] {
        if addresses.is_empty() {
            return &[];
        }
        let lane = self.lanes.get(lane).map_or(&[][..], Vec::as_slice);
        let block = |position: &u32| self.blocks.get(*position as usize);
        let first = lane.partition_point(|position| {
            block(position).is_some_and(|block| block.end <= addresses.start)
        });
        let end = lane.partition_point(|position| {
            block(position).is_some_and(|block| block.offset < addresses.end)
        });
        lane.get(first..end).unwrap_or(&[])
    }

    /// The gap at an address, as a position in `gaps`.
    pub fn gap_at(&self, address: u64) -> Option<usize> {
        let position = self.gaps.partition_point(|gap| gap.bytes.end <= address);
        self.gaps.get(position).is_some_and(|gap| gap.bytes.contains(&address)).then_some(position)
    }

    /// The block of a row of [`Placed`] with its addresses, as a position in `blocks`; `None` where the
    /// variable has no place, or does not live at the step of the map.
    pub fn block_of(&self, row: u32, bytes: &Range<u64>) -> Option<usize> {
        let key = |block: &TileMapBlock| (block.offset, block.end, block.row);
        self.blocks.binary_search_by_key(&(bytes.start, bytes.end, row), key).ok()
    }

    /// Gap bytes and numbers of gaps by reason.
    pub fn gaps_by_reason(&self) -> GapsByReason {
        by_reason(&self.gaps)
    }
}

/// The rows whose name has `part` in it, whatever the case, ascending.
pub fn rows_named(tile: &Placed, part: &str) -> Vec<u32> {
    let filter = Filter::new(part);
    let names = (0_u32..).zip(tile.names.iter());
    names.filter(|(_, name)| filter.is_in(name)).map(|(row, _)| row).collect()
}

/// Gives every block the lowest lane that is free at its offset; blocks come by offset.
fn put_into_lanes(blocks: &mut [TileMapBlock]) -> Vec<Vec<u32>> {
    let mut lanes: Vec<Vec<u32>> = Vec::new();
    // Lanes in use, the one that ends first on top, and lanes that have ended.
    let mut busy: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut free: BTreeSet<u32> = BTreeSet::new();
    for (position, block) in (0_u32..).zip(blocks) {
        while let Some(Reverse((end, lane))) = busy.peek().copied()
            && end <= block.offset
        {
            busy.pop();
            free.insert(lane);
        }
        block.lane = free.pop_first().unwrap_or_else(|| {
            lanes.push(Vec::new());
            u32::try_from(lanes.len() - 1).unwrap_or(u32::MAX)
        });
        busy.push(Reverse((block.end, block.lane)));
        if let Some(lane) = lanes.get_mut(block.lane as usize) {
            lane.push(position);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture;
    use crate::analysis::placement::gaps::largest_range;
    use crate::store::arena::Arenas;
    use crate::store::target::Target;

    /// Four steps; class 1 lives always, 2 at the first two, 3 at the last two.
    fn report() -> Report {
        let report = fixture::report_of_lives(4, &[vec![0..4], vec![0..2], vec![2..4]]);
        report.categories.fill(Some(fixture::categories(7, &["stack"])));
        report.target.fill(Some(Target {
            bytes_per_tile: Some(64),
            element_offsets: vec![0, 32],
            ..Target::default()
        }));
        report
    }

    fn tile(variables: &[(u64, u64, u32)]) -> Placed {
        let mut tile = Placed::default();
        for (id, (offset, bytes, class)) in (0..).zip(variables) {
            let category = Some(7 + id % 2);
            let placement = fixture::placement(*offset, *bytes, *class);
            tile.placements.push(Placement { id, category, ..placement });
            tile.names.push(&format!("Net/Layer{id}/out"));
        }
        tile
    }

    #[test]
    fn what_is_at_a_place_is_found() {
        let report = report();
        let tile = tile(&[(8, 8, 2), (0, 4, 1), (8, 16, 3), (40, 0, 1), (28, 4, 1)]);
        let map = TileMap::new(&tile, &report, ArenaId(0), None);
        let places: Vec<_> = map
            .blocks
            .iter()
            .map(|block| (block.row, block.offset, block.end, block.lane))
            .collect();
        assert_eq!(places, [(1, 0, 4, 0), (0, 8, 16, 0), (2, 8, 24, 1), (4, 28, 32, 0)]);
        assert_eq!((map.end, map.limit, map.lanes.len()), (32, Some(64), 2));
        assert_eq!((map.block_at(8, 0), map.block_at(8, 1)), (Some(1), Some(2)));
        assert_eq!((map.block_at(16, 0), map.block_at(16, 1)), (None, Some(2)));
        assert_eq!((map.block_at(0, 7), map.block_at(32, 0)), (None, None));
        assert_eq!(map.blocks_within(0, 3..9), [0, 1]);
        assert!(map.blocks_within(0, 4..8).is_empty() && map.blocks_within(0, 9..9).is_empty());
        assert_eq!((map.gap_at(3), map.gap_at(4), map.gap_at(8)), (None, Some(0), None));
        assert_eq!((map.gap_at(27), map.gap_at(u64::MAX)), (Some(1), None));
        assert_eq!((map.block_of(4, &(28..32)), map.block_of(3, &(0..0))), (Some(3), None));
        let named = map.blocks.iter().map(|block| block.category.is_some()).collect::<Vec<_>>();
        assert_eq!(named, [false, true, true, true], "a category without a name");
        let early = TileMap::new(&tile, &report, ArenaId(0), Some(1));
        assert_eq!((early.lanes.len(), early.blocks.len(), early.end), (1, 3, 32));
        assert!(early.gap_at(16).is_some() && early.block_at(8, 0) == Some(1));
        let classes = &report.liveness.get().expect("liveness").classes;
        assert!(early.blocks.iter().all(|block| classes.is_live_at(block.class, 1)));
        assert_eq!(rows_named(&tile, "LAYER2"), [2]);
        assert_eq!(rows_named(&tile, "/out").len(), 5);
        assert_eq!(TileMap::new(&Placed::default(), &report, ArenaId(0), None).lanes.len(), 0);
    }

    #[test]
    fn an_arena_that_comes_and_goes_is_as_large_as_what_it_is_for() {
        let limit = |come_and_go| {
            let report = Report::default();
            let mut arenas = Arenas { come_and_go, ..Arenas::default() };
            arenas.ids.push(ArenaId(0));
            arenas.capacities.push(Some(64));
            report.arenas.fill(Some(arenas));
            TileMap::new(&tile(&[(0, 4, 1)]), &report, ArenaId(0), None).limit
        };
        assert_eq!((limit(false), limit(true)), (Some(64), None));
    }

    #[test]
    fn what_is_free_of_an_arena_that_is_filled_from_both_ends_lies_between() {
        let report = fixture::report_of_lives(4, &[vec![0..4], vec![0..2], vec![2..4]]);
        let mut arenas = Arenas { are_filled_from_both_ends: true, ..Arenas::default() };
        arenas.ids.push(ArenaId(0));
        arenas.capacities.push(Some(64));
        report.arenas.fill(Some(arenas));
        let tile = tile(&[(0, 4, 2), (40, 8, 3), (52, 8, 1)]);
        let gaps = |step| {
            let map = TileMap::new(&tile, &report, ArenaId(0), step);
            let gaps = map.gaps.iter().map(|gap| (gap.bytes.clone(), gap.reason.key()));
            (gaps.collect::<Vec<_>>(), largest_range(&map.gaps))
        };
        let never = "never-used";
        assert_eq!(gaps(None), (vec![(4..40, never), (48..52, never), (60..64, never)], 36));
        let other = "free-at-step";
        let at_first = vec![(4..40, never), (40..48, other), (48..52, never), (60..64, never)];
        assert_eq!(gaps(Some(0)), (at_first, 48));
    }

    proptest! {
        #[test]
        fn lanes_hold_what_overlaps_and_bytes_add_up(
            variables in proptest::collection::vec((0..80_u64, 0..20_u64, 1..4_u32), 0..40),
            step in proptest::option::of(0..4_usize),
        ) {
            let (report, tile) = (report(), tile(&variables));
            let map = TileMap::new(&tile, &report, ArenaId(0), step);
            for lane in &map.lanes {
                let blocks: Vec<&TileMapBlock> =
                    lane.iter().map(|position| &map.blocks[*position as usize]).collect();
                prop_assert!(blocks.windows(2).all(|pair| pair[0].end <= pair[1].offset));
            }
            prop_assert_eq!(map.lanes.iter().map(Vec::len).sum::<usize>(), map.blocks.len());
            let at = |address: u64| {
                map.blocks.iter().filter(|block| (block.offset..block.end).contains(&address)).count()
            };
            prop_assert_eq!((0..100).map(at).max(), Some(map.lanes.len()));
            let used = (0..100).filter(|address| at(*address) > 0).count() as u64;
            let gaps: u64 = map.gaps_by_reason().values().map(|total| total.bytes).sum();
            prop_assert_eq!(used + gaps, map.end);
            for address in 0..map.end {
                prop_assert_eq!(map.gap_at(address).is_some(), at(address) == 0);
                let found = (0..map.lanes.len()).filter_map(|lane| map.block_at(address, lane));
                prop_assert_eq!(found.count(), at(address));
            }
        }
    }
}
