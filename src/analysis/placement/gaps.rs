//! Gaps of a tile and their reasons.
//!
//! The bytes in [0, end) that no allocated variable ever uses, `end` being the last used byte + 1.
//! The reason is the first that applies to the variable after the gap: `start` (the gap begins at
//! 0), `alignment` (the gap's start, rounded up to its alignment, is its offset),
//! `element-constraint` (its offset begins a memory element, and it may not share an element with a
//! variable that ends before it), `region-constraint` (the same of regions), `interleaving` (it must
//! be interleaved and begins the interleaved region), else `unexplained`. At a step the bytes that
//! only variables of other steps use are gaps of reason `free-at-step` (definitions.md). In an arena that is filled from
//! both ends no gap asks for a reason: all bytes that nothing uses, up to what it can hold, are `never-used`.
//!
//! Where several variables begin at the end of a gap, a reason that applies to any of them counts.
//! The neighbors of a gap are the variable that ends where it begins and the one that begins where it
//! ends: of a gap over all steps among all variables, of one that is free at a step among those that
//! live there. The constraint behind it is, of the variables that the reason speaks of, the one that
//! ends last.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::store::placed::{Placed, Placement};
use crate::store::target::Target;
use crate::text::words;

words! {
    /// Why bytes of a tile are not used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum GapReason by key, title {
        /// Nothing is placed at the beginning of the tile's memory.
        Start = "start" | "Start of memory",
        /// The next variable is aligned.
        Alignment = "alignment" | "Alignment",
        /// The next variable may not share a memory element with an earlier one.
        ElementConstraint = "element-constraint" | "Memory element",
        /// The next variable may not share a memory region with an earlier one.
        RegionConstraint = "region-constraint" | "Memory region",
        /// The next variable must be interleaved.
        Interleaving = "interleaving" | "Interleaving",
        /// The arena is filled from both ends, and nothing reaches these bytes.
        NeverUsed = "never-used" | "Never used",
        /// None of the above.
        Unexplained = "unexplained" | "Not explained",
        /// Used at other steps.
        FreeAtStep = "free-at-step" | "Free at this step, taken at others",
    }
}

/// Bytes that no variable uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where, within the tile's memory.
    pub bytes: Range<u64>,
    /// Why.
    pub reason: GapReason,
    /// The row of the variable that ends where it begins, the first of several by offset, end, row.
    pub before: Option<usize>,
    /// The row of the variable that begins where it ends: of several the one that explains it.
    pub after: Option<usize>,
    /// The row of the variable that `after` may not share a memory element or region with; only of
    /// those two reasons.
    pub constraint: Option<usize>,
}

impl Gap {
    /// Its size, bytes.
    pub fn size(&self) -> u64 {
        self.bytes.end.saturating_sub(self.bytes.start)
    }
}

/// Gap bytes and number of gaps by reason.
pub type GapsByReason = BTreeMap<GapReason, GapTotal>;

/// Bytes and number of gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GapTotal {
    /// Bytes.
    pub bytes: u64,
    /// Gaps.
    pub count: u64,
}

/// A run of used bytes.
struct Used {
    bytes: Range<u64>,
    /// The row of the first variable that begins at its start.
    first: usize,
    /// The row of the first variable that reaches its end.
    last: usize,
}

/// The runs of bytes that the wanted variables use, ascending, with bytes between any two.
fn used(tile: &Placed, is_used: impl Fn(&Placement) -> bool) -> Vec<Used> {
    let mut runs: Vec<Used> = Vec::new();
    for row in tile.by_address() {
        let Some(variable) = tile.get(*row).filter(|variable| is_used(variable)) else { continue };
        let row = *row as usize;
        match runs.last_mut() {
            Some(run) if variable.offset <= run.bytes.end => {
                if variable.end() > run.bytes.end {
                    run.bytes.end = variable.end();
                    run.last = row;
                }
            }
            _ => {
                runs.push(Used { bytes: variable.offset..variable.end(), first: row, last: row });
            }
        }
    }
    runs
}

/// The used byte ranges of those variables that `is_used` names, merged and ascending.
pub fn used_ranges(tile: &Placed, is_used: impl Fn(&Placement) -> bool) -> Vec<Range<u64>> {
    used(tile, is_used).into_iter().map(|run| run.bytes).collect()
}

/// The last used byte + 1.
pub fn end_of(tile: &Placed) -> u64 {
    used(tile, |_| true).last().map_or(0, |run| run.bytes.end)
}

/// The gaps of a tile over all steps, ascending.
pub fn gaps(tile: &Placed, target: Option<&Target>) -> Vec<Gap> {
    let rows: Vec<usize> = tile.by_address().iter().map(|row| *row as usize).collect();
    let mut gaps = Vec::new();
    let (mut end, mut before) = (0, None);
    for (index, row) in rows.iter().enumerate() {
        let Some(variable) = tile.placements.get(*row) else { continue };
        if variable.offset > end {
            let bytes = end..variable.offset;
            let candidates = rows.get(index..).unwrap_or(&[]).iter().copied().take_while(|row| {
                tile.placements.get(*row).is_some_and(|other| other.offset == bytes.end)
            });
            let explained = candidates.filter_map(|row| {
                let (reason, constraint) = reason_of(tile, row, &bytes, target)?;
                Some((reason, row, constraint))
            });
            let (reason, after, constraint) =
                explained.min().unwrap_or((GapReason::Unexplained, *row, None));
            gaps.push(Gap { bytes, reason, before, after: Some(after), constraint });
        }
        if variable.end() > end {
            (end, before) = (variable.end(), Some(*row));
        }
    }
    gaps
}

/// The gaps of a tile at a step: those over all steps, and what only other steps use.
pub fn gaps_at_step(
    tile: &Placed,
    target: Option<&Target>,
    is_live: impl Fn(&Placement) -> bool,
) -> Vec<Gap> {
    let mut all = gaps(tile, target);
    let live = used(tile, is_live);
    let mut live = live.iter().peekable();
    for run in used(tile, |_| true) {
        let (mut at, mut before) = (run.bytes.start, None);
        while let Some(live) = live.next_if(|live| live.bytes.start < run.bytes.end) {
            if live.bytes.start > at {
                all.push(free(at..live.bytes.start, before, Some(live.first)));
            }
            (at, before) = (live.bytes.end, Some(live.last));
        }
        if at < run.bytes.end {
            all.push(free(at..run.bytes.end, before, None));
        }
    }
    all.sort_by_key(|gap| gap.bytes.start);
    all
}

/// The same of an arena that is filled from both ends and can hold some bytes.
pub fn between_ends(gaps: Vec<Gap>, end: u64, limit: Option<u64>) -> Vec<Gap> {
    let reason = |gap: Gap| match gap.reason {
        GapReason::FreeAtStep => gap,
        _ => Gap { reason: GapReason::NeverUsed, constraint: None, ..gap },
    };
    let above = limit.filter(|limit| *limit > end).map(|limit| Gap {
        bytes: end..limit,
        reason: GapReason::NeverUsed,
        before: None,
        after: None,
        constraint: None,
    });
    gaps.into_iter().map(reason).chain(above).collect()
}

/// The largest range of bytes that gaps make up together, gaps that touch being one.
pub fn largest_range(gaps: &[Gap]) -> u64 {
    let touch = |one: &Gap, other: &Gap| one.bytes.end == other.bytes.start;
    let ranges = gaps.chunk_by(touch);
    ranges.map(|range| range.iter().map(Gap::size).fold(0, u64::saturating_add)).max().unwrap_or(0)
}

fn free(bytes: Range<u64>, before: Option<usize>, after: Option<usize>) -> Gap {
    Gap { bytes, reason: GapReason::FreeAtStep, before, after, constraint: None }
}

/// Adds up gaps by reason.
pub fn by_reason<'a>(gaps: impl IntoIterator<Item = &'a Gap>) -> GapsByReason {
    let mut totals = GapsByReason::new();
    for gap in gaps {
        let total = totals.entry(gap.reason).or_default();
        total.bytes = total.bytes.saturating_add(gap.size());
        total.count += 1;
    }
    totals
}

/// The first reason that applies to the variable in `row`, which begins where the gap ends, and the
/// constraint behind it.
fn reason_of(
    tile: &Placed,
    row: usize,
    gap: &Range<u64>,
    target: Option<&Target>,
) -> Option<(GapReason, Option<usize>)> {
    let variable = tile.placements.get(row)?;
    if gap.start == 0 {
        return Some((GapReason::Start, None));
    }
    if gap.start.checked_next_multiple_of(variable.alignment) == Some(variable.offset) {
        return Some((GapReason::Alignment, None));
    }
    let target = target?;
    let begins = |starts: &[u64]| starts.binary_search(&variable.offset).is_ok();
    if begins(&target.element_offsets)
        && let Some(other) = last_before(tile, variable.offset, tile.element_constraints.get(row))
    {
        return Some((GapReason::ElementConstraint, Some(other)));
    }
    if begins(&target.region_offsets)
        && let Some(other) = last_before(tile, variable.offset, tile.region_constraints.get(row))
    {
        return Some((GapReason::RegionConstraint, Some(other)));
    }
    let interleaved = variable.flags.must_be_interleaved();
    (interleaved && target.interleaved_start == Some(variable.offset))
        .then_some((GapReason::Interleaving, None))
}

/// Of constrained rows that of the placed variable that ends last at or before `offset`, the lowest
/// of equals.
fn last_before(tile: &Placed, offset: u64, rows: Option<&Vec<u32>>) -> Option<usize> {
    let ends = rows?.iter().filter_map(|row| {
        let variable = tile.placements.get(*row as usize)?;
        let is_before = variable.takes_memory() && variable.end() <= offset;
        is_before.then_some((variable.end(), Reverse(*row as usize)))
    });
    ends.max().map(|(_, Reverse(row))| row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::placement;
    use crate::store::ids::ClassId;
    use crate::store::names::Names;
    use crate::store::variable::VariableFlags;

    fn variable(offset: u64, bytes: u64, alignment: u64, class: u32, flags: u16) -> Placement {
        Placement { alignment, flags: VariableFlags(flags), ..placement(offset, bytes, class) }
    }

    fn tile() -> (Placed, Target) {
        let placements = vec![
            variable(16, 10, 4, 0, 1),
            variable(32, 8, 16, 1, 1),
            variable(100, 10, 4, 2, 1),
            variable(104, 8, 4, 3, 1),
            variable(200, 4, 4, 0, 1),
            variable(250, 4, 4, 0, 0x81),
            variable(300, 1, 4, 0, 1),
            variable(1000, 5, 4, 0, 0),
        ];
        let (mut elements, mut regions) = (vec![vec![]; 8], vec![vec![]; 8]);
        elements[2] = vec![0];
        regions[4] = vec![1];
        let tile = Placed::new(placements, Names::default(), elements, regions);
        let target = Target {
            element_offsets: vec![0, 100, 200],
            region_offsets: vec![0, 200],
            interleaved_start: Some(250),
            ..Target::default()
        };
        (tile, target)
    }

    #[test]
    fn every_reason_is_found() {
        let (tile, target) = tile();
        let found: Vec<_> =
            gaps(&tile, Some(&target)).into_iter().map(|gap| (gap.bytes, gap.reason)).collect();
        assert_eq!(
            found,
            [
                (0..16, GapReason::Start),
                (26..32, GapReason::Alignment),
                (40..100, GapReason::ElementConstraint),
                (112..200, GapReason::RegionConstraint),
                (204..250, GapReason::Interleaving),
                (254..300, GapReason::Unexplained),
            ]
        );
        assert_eq!(end_of(&tile), 301, "an unallocated variable has no place");
    }

    #[test]
    fn a_gap_names_its_neighbours_and_its_constraint() {
        let (mut tile, target) = tile();
        // Row 2 may not share an element with row 0, which ends at 26, nor with row 1, at 40.
        tile.element_constraints[2] = vec![0, 1, 4];
        let found: Vec<_> = gaps(&tile, Some(&target))
            .into_iter()
            .map(|gap| (gap.before, gap.after, gap.constraint))
            .collect();
        assert_eq!(
            found,
            [
                (None, Some(0), None),
                (Some(0), Some(1), None),
                (Some(1), Some(2), Some(1)),
                (Some(3), Some(4), Some(1)),
                (Some(4), Some(5), None),
                (Some(5), Some(6), None),
            ]
        );
        let is_live = |variable: &Placement| variable.class != ClassId(2);
        let at_step = gaps_at_step(&tile, Some(&target), is_live);
        let free = at_step.iter().find(|gap| gap.reason == GapReason::FreeAtStep).expect("one");
        assert_eq!((free.bytes.clone(), free.before, free.after), (100..104, None, Some(3)));
    }

    #[test]
    fn used_and_gaps_add_up_to_the_end_at_any_step() {
        let (tile, target) = tile();
        let used = |live: &dyn Fn(&Placement) -> bool| -> u64 {
            used_ranges(&tile, live).iter().map(|range| range.end - range.start).sum()
        };
        let all = by_reason(&gaps(&tile, Some(&target)));
        let gap_bytes =
            |totals: &GapsByReason| totals.values().map(|total| total.bytes).sum::<u64>();
        assert_eq!(used(&|_| true) + gap_bytes(&all), 301);
        let is_live = |variable: &Placement| variable.class != ClassId(2);
        let at_step = by_reason(&gaps_at_step(&tile, Some(&target), is_live));
        assert_eq!(used(&is_live) + gap_bytes(&at_step), 301);
        assert_eq!(at_step.get(&GapReason::FreeAtStep), Some(&GapTotal { bytes: 4, count: 1 }));
    }
}
