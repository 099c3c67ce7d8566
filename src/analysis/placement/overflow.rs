//! Why tiles are over the limit.
//!
//! A tile is over by its bytes including gaps (definitions.md). What stands there is, exactly: bytes
//! that live at one step (always live + the most of the others), bytes that liveness does not explain
//! (variables that never live together but share no addresses), and gaps by their reasons. So a tile
//! that is over may need more than it has at one step; or it would fit if nothing were lost to gaps, or
//! to gaps of one reason alone: its bytes including gaps less those are within the limit. That is
//! arithmetic, not a placement: without a gap, variables behind it move, and others may open.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::store::TileId;
use crate::store::memory::TileMemory;
use crate::store::target::Target;

use crate::analysis::memory::{cell, gap_bytes, not_explained_bytes, over_limit_bytes};
use crate::analysis::placement::gap_totals::GapTotals;
use crate::analysis::placement::gaps::GapReason;

/// What is on the tiles that are over the limit. Bytes are summed over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// The tiles, ascending.
    pub tiles: Vec<TileId>,
    /// Bytes over the limit.
    pub over_bytes: u64,
    /// The tile that is over by most, the lowest of equals, and by how many bytes.
    pub worst: Option<(TileId, u64)>,
    /// Bytes including gaps.
    pub including_gaps_bytes: u64,
    /// Gap bytes by reason, most bytes first; of the tiles whose gaps are known.
    pub reasons: Vec<LostToGaps>,
    /// Bytes lost to gaps of all reasons: bytes including gaps less bytes.
    pub gap_bytes: u64,
    /// Tiles that would fit without any gap.
    pub would_fit_without_gaps: u64,
    /// Bytes that liveness does not explain; `None` where the report does not say.
    pub not_explained_bytes: Option<u64>,
    /// Tiles where what lives at one step is more than the limit, so that no placement fits; `None`
    /// where the report does not say.
    pub need_more_at_one_step: Option<u64>,
}

/// What gaps of one reason take on the tiles that are over.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LostToGaps {
    /// The reason.
    pub reason: GapReason,
    /// Bytes.
    pub bytes: u64,
    /// Gaps.
    pub count: u64,
    /// Tiles that have such gaps.
    pub tiles: u64,
    /// Tiles that would fit without these gaps alone.
    pub would_fit: u64,
}

/// Why tiles of some rows of `memory` are over the limit; without such tiles all is 0. `None` where the
/// report does not say which tiles are over, or what they lose to gaps.
pub fn why_it_overflows(
    memory: &TileMemory,
    target: Option<&Target>,
    gaps: &GapTotals,
    rows: Range<usize>,
) -> Option<Overflow> {
    let limit = target?.bytes_per_tile?;
    let mut found = Overflow {
        not_explained_bytes: Some(0),
        need_more_at_one_step: Some(0),
        ..Overflow::default()
    };
    let mut reasons: BTreeMap<GapReason, LostToGaps> = BTreeMap::new();
    for row in rows {
        let tile = &memory.tiles.get(row)?;
        let over = over_limit_bytes(memory, target, row)?;
        if over == 0 {
            continue;
        }
        let including_gaps = cell(&memory.including_gaps, row)?;
        found.tiles.push(*tile);
        add(&mut found.over_bytes, over);
        add(&mut found.including_gaps_bytes, including_gaps);
        if found.worst.is_none_or(|(_, most)| over > most) {
            found.worst = Some((*tile, over));
        }
        found.not_explained_bytes =
            sum(found.not_explained_bytes, not_explained_bytes(memory, row));
        let at_one_step =
            sum(cell(&memory.always_live, row), cell(&memory.not_always_live_max, row));
        found.need_more_at_one_step =
            sum(found.need_more_at_one_step, at_one_step.map(|bytes| u64::from(bytes > limit)));
        for (reason, total) in gaps.of_tile(*tile).into_iter().flatten() {
            let lost = reasons.entry(*reason).or_insert(LostToGaps {
                reason: *reason,
                bytes: 0,
                count: 0,
                tiles: 0,
                would_fit: 0,
            });
            add(&mut lost.bytes, total.bytes);
            add(&mut lost.count, total.count);
            lost.tiles += 1;
            lost.would_fit += u64::from(over <= total.bytes);
        }
        let of_tile = gap_bytes(memory, row)?;
        add(&mut found.gap_bytes, of_tile);
        found.would_fit_without_gaps += u64::from(over <= of_tile);
    }
    found.reasons = reasons.into_values().collect();
    found.reasons.sort_by_key(|lost| std::cmp::Reverse(lost.bytes));
    Some(found)
}

fn add(sum: &mut u64, bytes: u64) {
    *sum = sum.saturating_add(bytes);
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::placement::gaps::{GapTotal, GapsByReason};

    #[test]
    fn every_tile_that_is_over_is_explained() {
        let mut memory = TileMemory::default();
        // Always live, others, without gaps, with gaps; the limit is 100.
        for (tile, figures) in
            (0..).zip([[60, 20, 90, 120], [50, 40, 90, 100], [90, 15, 110, 130], [60, 30, 95, 140]])
        {
            let [always_live, others, total, including_gaps] = figures.map(Some);
            memory.tiles.push(TileId(tile));
            memory.always_live.push(always_live);
            memory.not_always_live_max.push(others);
            memory.total.push(total);
            memory.including_gaps.push(including_gaps);
        }
        let gaps = |alignment, element| {
            let total = |bytes| GapTotal { bytes, count: 2 };
            GapsByReason::from([
                (GapReason::Alignment, total(alignment)),
                (GapReason::ElementConstraint, total(element)),
            ])
        };
        let totals = GapTotals::new((0..).map(TileId).zip([
            gaps(5, 25),
            gaps(10, 0),
            gaps(0, 20),
            gaps(22, 23),
        ]));
        let target = Target { bytes_per_tile: Some(100), ..Target::default() };
        let found = why_it_overflows(&memory, Some(&target), &totals, 0..4).expect("an answer");
        let lost =
            |reason, bytes, would_fit| LostToGaps { reason, bytes, count: 6, tiles: 3, would_fit };
        let expected = Overflow {
            tiles: [0, 2, 3].map(TileId).to_vec(),
            over_bytes: 90,
            worst: Some((TileId(3), 40)),
            including_gaps_bytes: 390,
            reasons: vec![
                lost(GapReason::ElementConstraint, 68, 1),
                lost(GapReason::Alignment, 27, 0),
            ],
            gap_bytes: 95,
            would_fit_without_gaps: 2,
            not_explained_bytes: Some(20),
            need_more_at_one_step: Some(1),
        };
        assert_eq!(found, expected);
        let roomy = Target { bytes_per_tile: Some(200), ..Target::default() };
        let found = why_it_overflows(&memory, Some(&roomy), &totals, 0..4).expect("an answer");
        assert_eq!((found.tiles.len(), found.reasons.len(), found.worst), (0, 0, None));
        assert_eq!(why_it_overflows(&memory, None, &totals, 0..4), None);
        memory.always_live[3] = None;
        let found = why_it_overflows(&memory, Some(&target), &totals, 0..4).expect("an answer");
        assert_eq!((found.not_explained_bytes, found.need_more_at_one_step), (None, None));
        memory.including_gaps[1] = None;
        assert_eq!(why_it_overflows(&memory, Some(&target), &totals, 0..4), None);
    }
}
