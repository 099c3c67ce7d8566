//! The liveness curve of any scope, with what is always live there and the limit.
//!
//! - Everything, an IPU: not-always-live bytes by Poplar's own changes ([`crate::analysis::liveness::curve`]), or
//!   where there are none added up from variables; always-live bytes and limit summed over the scope's tiles in
//!   `memory_by_tile`.
//! - A tile: the bytes of its rows of `var_bytes_by_eq_class` whose class is live at the step and not
//!   always live; always-live bytes from `memory_by_tile`.
//! - An arena of another system: the union of what is placed in it at each step (`arena_curve`).
//! - The worst tile: at each step the tile with the most bytes alive there, always live + not always
//!   live, the lowest tile of equals. The curve is of that tile's bytes, the limit is one tile's.
//!   Tiles whose always-live bytes are not known do not take part.

use crate::progress::Progress;
use crate::store::{ArenaId, Report, TileId};

use crate::analysis::liveness::arena_curve::curve_of_placed;
use crate::analysis::liveness::worst_tiles::worst_tiles;
use crate::analysis::liveness::{self, Scope, curve_of_variables};
use crate::analysis::memory;

/// Memory at each step of a scope. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeCurve {
    /// Not-always-live bytes at each step.
    pub not_always_live: Vec<u64>,
    /// Always-live bytes.
    pub always_live: AlwaysLive,
    /// Bytes that the scope has; `None` where the target does not say.
    pub limit: Option<u64>,
    /// The worst arena at each step; only of [`Scope::WorstArena`].
    pub worst_arenas: Option<Vec<ArenaId>>,
}

/// Always-live bytes of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlwaysLive {
    /// The report does not say.
    Unknown,
    /// The same at every step.
    Level(u64),
    /// At each step those of the tile that is worst there.
    AtStep(Vec<u64>),
}

impl AlwaysLive {
    /// Bytes at a step.
    pub fn at(&self, step: usize) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Level(bytes) => Some(*bytes),
            Self::AtStep(bytes) => bytes.get(step).copied(),
        }
    }
}

impl ScopeCurve {
    /// The same with the limit that the user says, where he says one.
    #[must_use]
    pub fn with_limit(self, report: &Report, scope: Scope, said_bytes: Option<u64>) -> Self {
        let arenas = report.arenas.get();
        let said = said_bytes.map(|said| liveness::limit_where(scope, arenas?, said));
        Self { limit: said.unwrap_or(self.limit), ..self }
    }
}

/// The curve of a scope; `None` where a part that it needs is absent, or when it was canceled.
pub fn scope_curve(
    report: &Report,
    scope: Scope,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<ScopeCurve> {
    let steps = report.steps.get()?.count_of(scope.device(report));
    let arenas = report.arenas.get();
    let limit = || liveness::limit_bytes(scope, arenas?);
    let level = || arenas.and_then(|arenas| liveness::always_live_bytes(scope, arenas));
    let (not_always_live, level) = match scope {
        Scope::Device(_) if !report.has_deltas_of_devices() => {
            let table = report.tile_variable_bytes.get()?;
            let tiles = scope.tiles(report.target.get())?;
            let classes = &report.liveness.get()?.classes;
            let rows: Vec<_> = table.iter(table.rows_between(&tiles)).collect();
            (curve_of_variables(&rows, classes, steps), level())
        }
        Scope::Everything | Scope::Device(_) => (liveness::curve(report, scope)?, level()),
        Scope::Arena(arena) if arenas.is_some_and(|arenas| !arenas.are_alike) => {
            // What cannot be read is said where the arena itself is shown.
            let placed = report.reader()?.read(arena, &Progress::default()).ok()??;
            let (curve, always_live) =
                curve_of_placed(&placed, &report.liveness.get()?.classes, steps);
            (curve, Some(always_live))
        }
        Scope::Arena(arena) => {
            let table = report.tile_variable_bytes.get()?;
            let rows: Vec<_> = table.iter(table.rows_of(arena.tile())).collect();
            (curve_of_variables(&rows, &report.liveness.get()?.classes, steps), level())
        }
        Scope::WorstArena => {
            let memory = report.memory.get()?;
            let tiles = memory.tiles.as_slice().iter().enumerate();
            let tiles: Vec<(TileId, u64)> = tiles
                .filter_map(|(row, tile)| Some((*tile, memory::cell(&memory.always_live, row)?)))
                .collect();
            let table = report.tile_variable_bytes.get()?;
            let worst =
                worst_tiles(table, &report.liveness.get()?.classes, &tiles, steps, is_cancelled)?;
            let tile_at = || worst.tiles.iter().filter_map(|row| tiles.get(*row as usize));
            return Some(ScopeCurve {
                not_always_live: worst
                    .bytes
                    .iter()
                    .zip(tile_at())
                    .map(|(bytes, (_, always_live))| bytes.saturating_sub(*always_live))
                    .collect(),
                always_live: AlwaysLive::AtStep(tile_at().map(|(_, bytes)| *bytes).collect()),
                limit: limit(),
                worst_arenas: Some(tile_at().map(|(tile, _)| (*tile).into()).collect()),
            });
        }
    };
    Some(ScopeCurve {
        not_always_live,
        always_live: level.map_or(AlwaysLive::Unknown, AlwaysLive::Level),
        limit: limit(),
        worst_arenas: None,
    })
}

/// The step of the peak of everything, and what is alive there, always or not.
pub fn peak_of_everything(report: &Report) -> Option<(usize, u64)> {
    peak_of(report, Scope::Everything)
}

/// The same of any scope.
pub fn peak_of(report: &Report, scope: Scope) -> Option<(usize, u64)> {
    let curve = scope_curve(report, scope, &|| false)?;
    let step = liveness::peak(&curve.not_always_live)?;
    let bytes = curve.always_live.at(step)?.saturating_add(*curve.not_always_live.get(step)?);
    Some((step, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    use crate::analysis::fixture;
    use crate::store::DeviceId;
    use crate::store::liveness::Liveness;
    use crate::store::memory::TileMemory;
    use crate::store::target::Target;

    const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

    /// A report of `steps` steps with classes 1, 2 … , of which the first is always live, and of
    /// every tile its always-live bytes and its bytes by class.
    fn report(steps: u32, classes: &[Vec<Range<u32>>], tiles: &[(u64, Vec<(u32, u32)>)]) -> Report {
        let report = fixture::report_of_lives(steps, classes);
        let memory = fixture::memory((0..).zip(tiles.iter().map(|_| None)));
        let always_live = tiles.iter().map(|(always_live, _)| Some(*always_live)).collect();
        report.memory.fill(Some(TileMemory { always_live, ..memory }));
        let rows = |(_, rows): &(u64, Vec<(u32, u32)>)| {
            rows.iter().map(|(class, bytes)| (0, *class, *bytes)).collect::<Vec<_>>()
        };
        let table = fixture::tile_variable_bytes(tiles.iter().map(rows));
        report.tile_variable_bytes.fill(Some(table));
        report.target.fill(Some(Target { bytes_per_tile: Some(1000), ..Target::default() }));
        report.fill_arenas_with_tiles();
        report
    }

    #[test]
    fn the_lowest_of_the_worst_tiles_counts() {
        let classes = [vec![0..4], vec![0..2], vec![1..3]];
        let tiles =
            [(5, vec![(1, 5), (2, 3)]), (4, vec![(2, 4), (3, 9)]), (6, vec![(3, 7), (9, 99)])];
        let report = report(4, &classes, &tiles);
        let worst = scope_curve(&report, Scope::WorstArena, NEVER).expect("a curve");
        let tiles: Vec<u32> = worst.worst_arenas.iter().flatten().map(|tile| tile.0).collect();
        assert_eq!(tiles, [0, 1, 1, 2]);
        assert_eq!(worst.not_always_live, [3, 13, 9, 0]);
        assert_eq!(worst.always_live, AlwaysLive::AtStep(vec![5, 4, 4, 6]));
        assert_eq!((worst.always_live.at(3), worst.limit), (Some(6), Some(1000)));
        let tile = scope_curve(&report, Scope::Arena(ArenaId(1)), NEVER).expect("a curve");
        assert_eq!(tile.not_always_live, [4, 13, 9, 0]);
        assert_eq!((tile.always_live, tile.limit), (AlwaysLive::Level(4), Some(1000)));
        assert_eq!(scope_curve(&report, Scope::WorstArena, &|| true), None, "cancelled");
    }

    proptest! {
        #[test]
        fn the_worst_tile_is_that_of_a_search(
            steps in 0..300_u32,
            cuts in proptest::collection::vec(
                proptest::collection::vec((0..300_u32, 0..150_u32), 0..4), 1..8),
            tiles in proptest::collection::vec(
                (0..20_u64, proptest::collection::vec((0..9_u32, 0..30_u32), 0..9)), 1..20),
        ) {
            let classes: Vec<Vec<Range<u32>>> = cuts
                .iter()
                .map(|cuts| cuts.iter().map(|(start, length)| *start..start + length).collect())
                .collect();
            let report = report(steps, &classes, &tiles);
            let worst = scope_curve(&report, Scope::WorstArena, NEVER).expect("a curve");
            let curves: Vec<Vec<u64>> = (0..)
                .zip(&tiles)
                .map(|(tile, _)| {
                    let curve = scope_curve(&report, Scope::Arena(ArenaId(tile)), NEVER);
                    curve.expect("a curve").not_always_live
                })
                .collect();
            let found = worst.worst_arenas.as_ref().expect("tiles");
            prop_assert_eq!(found.len(), steps as usize);
            for (step, found) in found.iter().enumerate() {
                let alive = |tile: usize| tiles[tile].0 + curves[tile][step];
                let most = (0..tiles.len()).map(alive).max().expect("a tile");
                let first = (0..tiles.len()).position(|tile| alive(tile) == most);
                prop_assert_eq!(Some(found.0 as usize), first);
                prop_assert_eq!(worst.not_always_live[step], curves[found.0 as usize][step]);
                prop_assert_eq!(worst.always_live.at(step), Some(tiles[found.0 as usize].0));
            }
        }
    }

    #[test]
    fn without_the_part_that_it_needs_there_is_no_curve() {
        let report = Report::default();
        assert_eq!(scope_curve(&report, Scope::Everything, NEVER), None);
        report.steps.fill(Some(fixture::steps(1)));
        report.liveness.fill(Some(Liveness {
            variable_bytes: Some(vec![fixture::variable_bytes((0, 0, 4))]),
            ..Liveness::default()
        }));
        let everything = scope_curve(&report, Scope::Everything, NEVER).expect("a curve");
        assert_eq!((everything.always_live, everything.limit), (AlwaysLive::Unknown, None));
        assert_eq!(scope_curve(&report, Scope::Device(DeviceId(0)), NEVER), None);
        assert_eq!(scope_curve(&report, Scope::Arena(ArenaId(0)), NEVER), None);
        assert_eq!(scope_curve(&report, Scope::WorstArena, NEVER), None);
    }
}
