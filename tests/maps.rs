//! Memory maps: what they show adds up to what Poplar and the other analyses say, on every report at
//! hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};

use tilescope::analysis::gaps::{GapReason, GapTotal, GapsByReason};
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::memory::{cell, gap_bytes};
use tilescope::analysis::scope_curve::scope_curve;
use tilescope::analysis::tile_map::TileMap;
use tilescope::format::Progress;
use tilescope::format::poplar::OpenReport;

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open
}

/// Every sample, and the real report where it is at hand.
fn paths() -> Vec<PathBuf> {
    let samples = common::sample_options().into_iter();
    let mut paths: Vec<PathBuf> =
        samples.map(|(name, _)| common::in_package("sample_profiles").join(name)).collect();
    paths.extend(common::real_report("poplar-3.3"));
    paths
}

fn sum(totals: &GapsByReason) -> u64 {
    totals.values().map(|total| total.bytes).sum()
}

#[test]
fn the_map_of_every_tile_adds_up() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let memory = report.memory.get().unwrap();
        let steps = report.steps.get().unwrap().ids.len();
        let mut seen = 0;
        let each = |tile, variables| {
            let row = memory.tiles.position(tile).unwrap();
            let map = TileMap::new(&variables, report, None);
            assert_eq!(Some(map.end), cell(&memory.including_gaps, row), "tile {tile}");
            assert_eq!(Some(sum(&map.gaps_by_reason())), gap_bytes(memory, row), "tile {tile}");
            check_gaps(&map, &variables);
            for lane in &map.lanes {
                let ends = lane.iter().map(|position| &map.blocks[*position as usize]);
                assert!(ends.is_sorted_by(|a, b| a.end <= b.offset), "a lane of tile {tile}");
            }
            if tile.0 % 61 == 0 || tile.0 < 4 {
                let curve = scope_curve(report, Scope::Tile(tile), &|| false).unwrap();
                for step in (0..steps).step_by(9) {
                    let map = TileMap::new(&variables, report, Some(step));
                    let bytes: u64 = map.blocks.iter().map(|block| block.end - block.offset).sum();
                    let alive = curve.not_always_live[step] + curve.always_live.at(step).unwrap();
                    assert_eq!(bytes, alive, "tile {tile} at {step}");
                    assert_eq!(map.lanes.len(), 1, "what lives at one step does not overlap");
                    assert_eq!(bytes + sum(&map.gaps_by_reason()), map.end);
                    check_gaps(&map, &variables);
                }
            }
            seen += 1;
        };
        assert!(open.read_each_tile(&Progress::default(), each).unwrap());
        assert_eq!(seen, memory.tiles.len());
    }
}

/// Every gap has the neighbours and the constraint that its reason speaks of.
fn check_gaps(map: &TileMap, tile: &tilescope::store::variable::TileVariables) {
    for (position, gap) in map.gaps.iter().enumerate() {
        assert_eq!(map.gap_at(gap.bytes.start), Some(position));
        assert_eq!(map.gap_at(gap.bytes.end - 1), Some(position));
        let after = gap.after.map(|row| &tile.variables[row]);
        let before = gap.before.map(|row| &tile.variables[row]);
        assert!(after.is_none_or(|after| after.offset == gap.bytes.end));
        assert!(before.is_none_or(|before| before.end() == gap.bytes.start));
        let lists = match gap.reason {
            GapReason::ElementConstraint => &tile.element_constraints,
            GapReason::RegionConstraint => &tile.region_constraints,
            reason => {
                assert_eq!(gap.constraint, None);
                let is_free = reason == GapReason::FreeAtStep;
                assert!(is_free || (after.is_some() && before.is_some() != (gap.bytes.start == 0)));
                continue;
            }
        };
        let row = gap.constraint.unwrap();
        assert!(lists[gap.after.unwrap()].contains(&(row as u32)));
        assert!(tile.variables[row].end() <= gap.bytes.end);
    }
}

#[test]
fn the_gaps_of_a_real_tile_have_their_causes() {
    let Some(path) = common::real_report("poplar-3.3") else { return };
    let open = open(&path);
    let tile = tilescope::store::TileId(0);
    let variables = open.read_tile(tile, &Progress::default()).unwrap().unwrap();
    let map = TileMap::new(&variables, &open.report, None);
    let element = map.gaps.iter().find(|gap| gap.reason == GapReason::ElementConstraint).unwrap();
    let name = |row: Option<usize>| variables.names.at(row.unwrap()).unwrap().to_owned();
    assert_eq!(element.bytes, 6_044..16_384);
    assert_eq!(name(element.before), ".text.supervisor.host_exchange_hostExchangeExitHSync");
    assert_eq!(name(element.after), "__stack");
    assert_eq!(name(element.constraint), ".text.supervisor.control_initPrngSeed");
    assert_eq!(map.gaps_by_reason()[&GapReason::Start], GapTotal { bytes: 16, count: 1 });
}
