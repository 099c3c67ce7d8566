//! Gaps of a tile and their reasons.
//!
//! The bytes in [0, end) that no allocated variable ever uses, `end` being the last used byte + 1.
//! The reason is the first that applies to the variable after the gap: `start` (the gap begins at
//! 0), `alignment` (the gap's start, rounded up to its alignment, is its offset),
//! `element-constraint` (its offset begins a memory element, and it may not share an element with a
//! variable that ends before it), `region-constraint` (the same of regions), `interleaving` (it must
//! be interleaved and begins the interleaved region), else `unexplained`. At a step the bytes that
//! only variables of other steps use are gaps of reason `free-at-step` (definitions.md).
//!
//! Where several variables begin at the end of a gap, a reason that applies to any of them counts.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::store::target::Target;
use crate::store::variable::{LoweredVariable, TileVariables};

/// Why bytes of a tile are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapReason {
    /// Nothing is placed at the beginning of the tile's memory.
    Start,
    /// The next variable is aligned.
    Alignment,
    /// The next variable may not share a memory element with an earlier one.
    ElementConstraint,
    /// The next variable may not share a memory region with an earlier one.
    RegionConstraint,
    /// The next variable must be interleaved.
    Interleaving,
    /// None of the above.
    Unexplained,
    /// Used at other steps.
    FreeAtStep,
}

impl GapReason {
    /// The reason as it stands in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Alignment => "alignment",
            Self::ElementConstraint => "element-constraint",
            Self::RegionConstraint => "region-constraint",
            Self::Interleaving => "interleaving",
            Self::Unexplained => "unexplained",
            Self::FreeAtStep => "free-at-step",
        }
    }
}

/// Bytes that no variable uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where, within the tile's memory.
    pub bytes: Range<u64>,
    /// Why.
    pub reason: GapReason,
    /// The row of the variable that explains it.
    pub next: Option<usize>,
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

/// The rows of variables that take memory, by offset, then by end, then by row.
pub fn placed_rows(tile: &TileVariables) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..tile.variables.len())
        .filter(|row| {
            tile.variables
                .get(*row)
                .is_some_and(|variable| variable.flags.is_allocated() && variable.bytes > 0)
        })
        .collect();
    rows.sort_by_key(|row| {
        tile.variables.get(*row).map(|variable| (variable.offset, variable.end()))
    });
    rows
}

/// The used byte ranges of those variables that `is_used` names, merged and ascending.
pub fn used_ranges(
    tile: &TileVariables,
    is_used: impl Fn(&LoweredVariable) -> bool,
) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for row in placed_rows(tile) {
        let Some(variable) = tile.variables.get(row).filter(|variable| is_used(variable)) else {
            continue;
        };
        match merged.last_mut() {
            Some(last) if variable.offset <= last.end => last.end = last.end.max(variable.end()),
            _ => merged.push(variable.offset..variable.end()),
        }
    }
    merged
}

/// The last used byte + 1.
pub fn end_of(tile: &TileVariables) -> u64 {
    used_ranges(tile, |_| true).last().map_or(0, |range| range.end)
}

/// The gaps of a tile over all steps, ascending.
pub fn gaps(tile: &TileVariables, target: Option<&Target>) -> Vec<Gap> {
    let rows = placed_rows(tile);
    let mut gaps = Vec::new();
    let mut end = 0;
    let mut index = 0;
    while let Some(variable) = rows.get(index).and_then(|row| tile.variables.get(*row)) {
        if variable.offset > end {
            let bytes = end..variable.offset;
            let candidates = rows.get(index..).unwrap_or(&[]).iter().copied().take_while(|row| {
                tile.variables.get(*row).is_some_and(|other| other.offset == bytes.end)
            });
            let explained = candidates
                .filter_map(|row| Some((reason_of(tile, row, &bytes, target)?, row)))
                .min();
            gaps.push(match explained {
                Some((reason, row)) => Gap { bytes, reason, next: Some(row) },
                None => {
                    Gap { bytes, reason: GapReason::Unexplained, next: rows.get(index).copied() }
                }
            });
        }
        end = end.max(variable.end());
        index += 1;
    }
    gaps
}

/// The gaps of a tile at a step: those over all steps, and what only other steps use.
pub fn gaps_at_step(
    tile: &TileVariables,
    target: Option<&Target>,
    is_live: impl Fn(&LoweredVariable) -> bool,
) -> Vec<Gap> {
    let mut all = gaps(tile, target);
    let live = used_ranges(tile, is_live);
    let mut live = live.iter().peekable();
    for used in used_ranges(tile, |_| true) {
        let mut at = used.start;
        while let Some(range) = live.next_if(|range| range.start < used.end) {
            if range.start > at {
                all.push(free(at..range.start));
            }
            at = at.max(range.end);
        }
        if at < used.end {
            all.push(free(at..used.end));
        }
    }
    all.sort_by_key(|gap| gap.bytes.start);
    all
}

fn free(bytes: Range<u64>) -> Gap {
    Gap { bytes, reason: GapReason::FreeAtStep, next: None }
}

/// Adds up gaps by reason.
pub fn by_reason<'a>(gaps: impl IntoIterator<Item = &'a Gap>) -> GapsByReason {
    let mut totals = GapsByReason::new();
    for gap in gaps {
        let total = totals.entry(gap.reason).or_default();
        total.bytes = total.bytes.saturating_add(gap.bytes.end - gap.bytes.start);
        total.count += 1;
    }
    totals
}

/// The first reason that applies to the variable in `row`, which begins where the gap ends.
fn reason_of(
    tile: &TileVariables,
    row: usize,
    gap: &Range<u64>,
    target: Option<&Target>,
) -> Option<GapReason> {
    let variable = tile.variables.get(row)?;
    if gap.start == 0 {
        return Some(GapReason::Start);
    }
    if gap.start.checked_next_multiple_of(variable.alignment) == Some(variable.offset) {
        return Some(GapReason::Alignment);
    }
    let target = target?;
    let begins = |starts: &[u64]| starts.binary_search(&variable.offset).is_ok();
    let ends_before = |constraints: &[Vec<u32>]| {
        constraints.get(row).is_some_and(|rows| {
            rows.iter().filter_map(|other| tile.variables.get(*other as usize)).any(|other| {
                other.flags.is_allocated() && other.bytes > 0 && other.end() <= variable.offset
            })
        })
    };
    if begins(&target.element_offsets) && ends_before(&tile.element_constraints) {
        return Some(GapReason::ElementConstraint);
    }
    if begins(&target.region_offsets) && ends_before(&tile.region_constraints) {
        return Some(GapReason::RegionConstraint);
    }
    let interleaved = variable.flags.must_be_interleaved();
    (interleaved && target.interleaved_start == Some(variable.offset))
        .then_some(GapReason::Interleaving)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ids::ClassId;
    use crate::store::variable::VariableFlags;

    fn variable(
        offset: u64,
        bytes: u64,
        alignment: u64,
        class: u32,
        flags: u16,
    ) -> LoweredVariable {
        LoweredVariable {
            id: 0,
            offset,
            bytes,
            alignment,
            category: None,
            class: ClassId(class),
            unlowered: None,
            flags: VariableFlags(flags),
        }
    }

    fn tile() -> (TileVariables, Target) {
        let tile = TileVariables {
            variables: vec![
                variable(16, 10, 4, 0, 1),
                variable(32, 8, 16, 1, 1),
                variable(100, 10, 4, 2, 1),
                variable(104, 8, 4, 3, 1),
                variable(200, 4, 4, 0, 1),
                variable(250, 4, 4, 0, 0x81),
                variable(300, 1, 4, 0, 1),
                variable(1000, 5, 4, 0, 0),
            ],
            element_constraints: vec![
                vec![],
                vec![],
                vec![0],
                vec![],
                vec![],
                vec![],
                vec![],
                vec![],
            ],
            region_constraints: vec![
                vec![],
                vec![],
                vec![],
                vec![],
                vec![1],
                vec![],
                vec![],
                vec![],
            ],
            ..TileVariables::default()
        };
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
    fn used_and_gaps_add_up_to_the_end_at_any_step() {
        let (tile, target) = tile();
        let used = |live: &dyn Fn(&LoweredVariable) -> bool| -> u64 {
            used_ranges(&tile, live).iter().map(|range| range.end - range.start).sum()
        };
        let all = by_reason(&gaps(&tile, Some(&target)));
        let gap_bytes =
            |totals: &GapsByReason| totals.values().map(|total| total.bytes).sum::<u64>();
        assert_eq!(used(&|_| true) + gap_bytes(&all), 301);
        let is_live = |variable: &LoweredVariable| variable.class != ClassId(2);
        let at_step = by_reason(&gaps_at_step(&tile, Some(&target), is_live));
        assert_eq!(used(&is_live) + gap_bytes(&at_step), 301);
        assert_eq!(at_step.get(&GapReason::FreeAtStep), Some(&GapTotal { bytes: 4, count: 1 }));
    }
}
