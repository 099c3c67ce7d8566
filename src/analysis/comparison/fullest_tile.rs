//! The parts of a change of the fullest tile: bytes including gaps, for each report those of its own fullest tile.
//!
//! By category: the bytes at addresses that one variable uses, always live or not, over all steps; those
//! at addresses that several use, each byte once; gaps. By operation, module and variable: what is
//! always live, what is alive at the tile's own peak, what liveness does not explain, gaps. Every grouping
//! adds up to the whole exactly, in both reports.

use std::collections::{BTreeMap, BTreeSet};

use super::attribution::Attribution;
use super::both;
use super::contribution::{BytesOfTwo, Contribution, Contributor, Grouping, LiveBytes};
use super::explanation::{ByOwner, Explanation, categories_of_two, explain};
use super::moment::AliveAt;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::memory::{cell, totals};
use crate::analysis::placement::gaps::{GapReason, GapTotal, GapsByReason, used_ranges};
use crate::analysis::placement::read::gaps_of_arena;
use crate::analysis::placement::recompute::sums_by;
use crate::analysis::placement::resident_tile::resident_tile;
use crate::store::ids::CategoryId;
use crate::store::placed::ReadError;
use crate::store::{Report, TileId};

/// The fullest tiles, and what their bytes belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullestTiles {
    /// Those of source and target.
    pub tiles: [TileId; 2],
    /// Their bytes including gaps.
    pub bytes: Difference,
    /// By category; `None` where lowered variables are absent.
    pub by_category: Option<Grouping>,
    /// What goes by variable before lowering; `None` where the bytes by tile are absent.
    pub by_owner: Option<ByOwner>,
}

/// The fullest tile of a report, the lowest of equals.
pub fn fullest_tile(report: &Report) -> Option<TileId> {
    let memory = report.memory.get()?;
    memory.tiles.get(totals(memory, report.target.get()).fullest?)
}

/// The gaps of the fullest tile by reason, read from the files; `None` where it cannot be read.
///
/// # Errors
/// When the files cannot be read any more.
pub fn gaps_of_fullest(report: &Report) -> Result<Option<GapsByReason>, ReadError> {
    fullest_tile(report).map_or(Ok(None), |tile| gaps_of_arena(report, tile.into()))
}

/// Explains the change of the fullest tile. `gaps` are those of the fullest tile of source and target,
/// which tell gaps apart by reason; without them all gaps are one row. `peaks` are their own peaks, as
/// far as their curves are known. `None` where the memory by tile is absent.
pub fn explain_fullest_tile(
    reports: [&Report; 2],
    attribution: &Attribution,
    gaps: Option<[&GapsByReason; 2]>,
    peaks: Option<[AliveAt; 2]>,
) -> Option<FullestTiles> {
    let tiles = both(reports.map(FullestBytes::of_fullest))?;
    let [source, target] = tiles.map(|tile| tile.including_gaps);
    let gaps = gap_rows(gaps, tiles);
    let explained = peaks.map(|peaks| explain(reports, attribution, peaks));
    Some(FullestTiles {
        tiles: tiles.map(|tile| tile.tile),
        bytes: Difference::between(source, target),
        by_category: by_category(tiles, &gaps),
        by_owner: explained.and_then(|explained| by_owner(explained, tiles, &gaps)),
    })
}

/// What `memory_by_tile` says of one tile.
#[derive(Clone, Copy)]
struct FullestBytes<'a> {
    report: &'a Report,
    tile: TileId,
    total: i64,
    including_gaps: i64,
}

impl<'a> FullestBytes<'a> {
    fn of_fullest(report: &'a Report) -> Option<Self> {
        let tile = fullest_tile(report)?;
        let memory = report.memory.get()?;
        let row = memory.tiles.position(tile)?;
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let total = signed(cell(&memory.total, row)?);
        let including_gaps = signed(cell(&memory.including_gaps, row)?);
        Some(Self { report, tile, total, including_gaps })
    }

    fn gaps(self) -> i64 {
        self.including_gaps.saturating_sub(self.total)
    }

    /// The whole of the tile, what is not in these bytes as bytes of neither kind.
    fn whole(self, known: &LiveBytes) -> LiveBytes {
        LiveBytes { other: self.including_gaps.saturating_sub(known.sum()), ..*known }
    }
}

/// A row of bytes that are neither always live nor alive at a step.
fn other(contributor: Contributor, bytes: [i64; 2]) -> Contribution {
    let bytes = bytes.map(|other| LiveBytes { other, ..LiveBytes::default() });
    Contribution { contributor, only: None, bytes: BytesOfTwo(bytes) }
}

fn gap_rows(gaps: Option<[&GapsByReason; 2]>, tiles: [FullestBytes<'_>; 2]) -> Vec<Contribution> {
    let Some(gaps) = gaps else {
        return vec![other(Contributor::Gaps(None), tiles.map(FullestBytes::gaps))];
    };
    let reasons: BTreeSet<GapReason> = gaps.iter().flat_map(|gaps| gaps.keys().copied()).collect();
    let bytes = |gaps: &GapsByReason, reason: &GapReason| {
        let total: Option<&GapTotal> = gaps.get(reason);
        i64::try_from(total.map_or(0, |total| total.bytes)).unwrap_or(i64::MAX)
    };
    let row = |reason: &GapReason| {
        other(Contributor::Gaps(Some(*reason)), gaps.map(|gaps| bytes(gaps, reason)))
    };
    reasons.iter().map(row).collect()
}

/// Bytes at addresses of a tile that one variable uses, by category, and those that several use.
struct ByAddress {
    categories: BTreeMap<String, LiveBytes>,
    whole: LiveBytes,
    overlapped: i64,
}

impl ByAddress {
    fn of(tile: FullestBytes<'_>) -> Option<Self> {
        let report = tile.report;
        let classes = &report.liveness.get()?.classes;
        let names = report.categories.get()?;
        let variables = resident_tile(report, tile.tile)?;
        let target = report.target.get().cloned().unwrap_or_default();
        let sums = sums_by(&variables, &target, |variable| {
            (variable.category, classes.is_always_live(variable.class))
        });
        let mut categories: BTreeMap<String, LiveBytes> = BTreeMap::new();
        let mut alone = LiveBytes::default();
        for ((category, is_always_live), sums) in sums {
            let bytes = sums.not_overlapped.iter().sum();
            alone.add(is_always_live, bytes);
            // What has no category with a name is left, and so not attributable.
            if let Some(name) = category.and_then(|id| names.name(CategoryId(id))) {
                categories.entry(name.to_owned()).or_default().add(is_always_live, bytes);
            }
        }
        let used = used_ranges(&variables, |_| true);
        let used: u64 = used.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        let used = i64::try_from(used).unwrap_or(i64::MAX);
        let overlapped = used.saturating_sub(alone.sum());
        Some(Self { categories, whole: tile.whole(&alone), overlapped })
    }
}

fn by_category(tiles: [FullestBytes<'_>; 2], gaps: &[Contribution]) -> Option<Grouping> {
    let found = both(tiles.map(ByAddress::of))?;
    let whole = BytesOfTwo(found.each_ref().map(|found| found.whole));
    let overlapped = found.each_ref().map(|found| found.overlapped);
    let overlapped = other(Contributor::Overlapped, overlapped);
    let rows = categories_of_two(found.map(|found| found.categories));
    Some(Grouping::closed(rows.into_iter().chain([overlapped]).chain(gaps.iter().cloned()), &whole))
}

fn by_owner(
    explained: Explanation,
    tiles: [FullestBytes<'_>; 2],
    gaps: &[Contribution],
) -> Option<ByOwner> {
    let of_side = |side: Side| (side.of(tiles), side.of(explained.whole.0));
    let not_explained = Side::BOTH.map(|side| {
        let (tile, alive) = of_side(side);
        tile.total.saturating_sub(alive.sum())
    });
    let not_explained = other(Contributor::NotExplained, not_explained);
    let whole = BytesOfTwo(Side::BOTH.map(|side| {
        let (tile, alive) = of_side(side);
        tile.whole(&alive)
    }));
    let with_rest = |grouping: Grouping| {
        let rest = [not_explained.clone()].into_iter().chain(gaps.iter().cloned());
        Grouping::closed(grouping.into_rows().into_iter().chain(rest), &whole)
    };
    let found = explained.by_owner?;
    Some(ByOwner {
        operations: found.operations.map(with_rest),
        modules: found.modules.map(with_rest),
        variables: with_rest(found.variables),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::contribution::LifePart;
    use super::super::fixture::{contents, matching, report};
    use super::super::moment::ScopeStep;
    use crate::analysis::liveness::Scope;
    use crate::analysis::liveness::scope_curve::scope_curve;

    fn peaks(reports: [&Report; 2]) -> Option<[AliveAt; 2]> {
        both(reports.map(|report| {
            let scope = Scope::Arena(fullest_tile(report)?.into());
            ScopeStep::peak(&scope_curve(report, scope, &|| false)?, scope)
        }))
    }

    proptest! {
        #[test]
        fn every_grouping_adds_up_to_the_fullest_tile(
            (source, target) in (contents(), contents()),
            wanted in proptest::collection::vec((0..4_usize, 0..4_usize), 0..4),
            known_gaps in proptest::option::of(0..99_u64),
        ) {
            let (source, target) = (report(&source), report(&target));
            let reports = [&source, &target];
            let attribution = Attribution::of(reports, &matching(&source, &target, &wanted));
            let start = |bytes| GapsByReason::from([(GapReason::Start, GapTotal { bytes, count: 1 })]);
            let gaps = known_gaps.map(|bytes| [start(bytes), start(7)]);
            let gaps = gaps.as_ref().map(<[_; 2]>::each_ref);
            let found = explain_fullest_tile(reports, &attribution, gaps, peaks(reports)).expect("known");
            let most = |report: &Report| {
                let memory = report.memory.get().expect("memory");
                memory.including_gaps.iter().flatten().copied().max()
            };
            let whole = found.bytes;
            prop_assert_eq!(whole, Difference::of([most(&source), most(&target)]));
            let owners = found.by_owner.as_ref().expect("bytes by variable");
            let categories = found.by_category.as_ref().expect("lowered variables");
            let of_operations = owners.operations.iter().chain(&owners.modules);
            for grouping in [categories, &owners.variables].into_iter().chain(of_operations) {
                let mut sum = BytesOfTwo::default();
                grouping.rows().iter().for_each(|row| sum.add_all(&row.bytes));
                prop_assert_eq!(sum.of(LifePart::All), whole);
                let rest = grouping.rows().iter().filter(|row| {
                    row.contributor == Contributor::NotAttributable
                });
                prop_assert!(rest.count() <= 1);
            }
        }
    }

    #[test]
    fn addresses_count_once() {
        use super::super::fixture::Content;
        // Tile, variable, class, category, bytes and offset: class 1 is always live.
        let cells = vec![
            (1, 0, 1, 0, 10, 5),
            (1, 1, 2, 0, 10, 20),
            (1, 2, 3, 2, 6, 24),
            (0, 0, 1, 0, 4, 0),
        ];
        let content = Content {
            contexts: vec!["fc"],
            variables: vec![(0, 1), (1, 0), (6, 0)],
            classes: vec![(0, 2), (3, 5)],
            cells,
            steps: vec![1; 6],
            code: Vec::new(),
            state: Vec::new(),
            control: Vec::new(),
            surplus: 0,
        };
        let report = report(&content);
        let reports = [&report; 2];
        let attribution = Attribution::of(reports, &matching(&report, &report, &[]));
        let found =
            explain_fullest_tile(reports, &attribution, None, peaks(reports)).expect("known");
        assert_eq!((found.tiles[0], found.bytes.source), (TileId(1), Some(30)));
        let rows = found.by_category.as_ref().expect("lowered variables").rows().iter();
        let rows: Vec<_> = rows.map(|row| (&row.contributor, row.bytes.0[0])).collect();
        let bytes =
            |always_live, not_always_live, other| LiveBytes { always_live, not_always_live, other };
        let expected = [
            (&Contributor::Category("variable".to_owned()), bytes(10, 4, 0)),
            (&Contributor::Overlapped, bytes(0, 0, 6)),
            (&Contributor::Gaps(None), bytes(0, 0, 10)),
        ];
        assert_eq!(rows, expected);
        let owners = found.by_owner.as_ref().expect("bytes by variable");
        let rows: Vec<_> =
            owners.variables.rows().iter().map(|row| (&row.contributor, row.bytes.0[0])).collect();
        let expected = [
            (&Contributor::Variable("weights".to_owned()), bytes(10, 0, 0)),
            (&Contributor::Variable("<anon>".to_owned()), bytes(0, 10, 0)),
            (&Contributor::Gaps(None), bytes(0, 0, 10)),
        ];
        assert_eq!(rows, expected, "20 bytes are used: both are explained by liveness");
        let operations = owners.operations.as_ref().expect("operations").rows().iter();
        let of_fc = operations.map(|row| row.bytes.0[0]).next();
        assert_eq!(of_fc, Some(bytes(10, 10, 0)), "anonymous ones belong by their life");
    }
}
