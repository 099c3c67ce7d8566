//! Memory maps: what they show adds up to what Poplar and the other analyses say, on every report at
//! hand.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::liveness::scope_curve::scope_curve;
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::analysis::memory::tile_grid::{self, TileFigure, TileGrid};
use tilescope::analysis::memory::{self, cell, gap_bytes};
use tilescope::analysis::placement::chip_map::{
    ChipCell, ChipWindow, ColourBy, area_bytes, render, rows_at,
};
use tilescope::analysis::placement::gap_totals::GapTotals;
use tilescope::analysis::placement::gaps::{self, GapReason, GapTotal, GapsByReason};
use tilescope::analysis::placement::overflow::{Overflow, why_it_overflows};
use tilescope::analysis::placement::read::{
    gaps_of_all, gaps_of_arena, gaps_of_arenas, read_arena,
};
use tilescope::analysis::placement::tile_map::TileMap;
use tilescope::format::Progress;
use tilescope::store::placed::Placed;
use tilescope::store::{ArenaId, Report, TileId};
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open
}

/// Every sample, and the real report where it is at hand.
fn paths() -> Vec<PathBuf> {
    let samples = crate::common::sample_options().into_iter();
    let mut paths: Vec<PathBuf> =
        samples.map(|(name, _)| crate::common::in_package("sample_profiles").join(name)).collect();
    paths.extend(crate::common::real_report("poplar-3.3"));
    paths
}

/// What is placed on some tiles, as the reader of the report hands it out; `None` without a table.
fn read_some(open: &OpenReport, tiles: &[TileId]) -> Option<BTreeMap<TileId, Placed>> {
    let found = Mutex::new(BTreeMap::new());
    let arenas: Vec<ArenaId> = tiles.iter().copied().map(ArenaId::from).collect();
    let each = |arena: ArenaId, placed| drop(found.lock().unwrap().insert(arena.tile(), placed));
    let reader = open.report.reader().unwrap();
    let is_there = reader.read_some(&arenas, &Progress::default(), &each).unwrap();
    is_there.then(|| found.into_inner().unwrap())
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
            let map = TileMap::new(&variables, report, tile.into(), None);
            assert_eq!(Some(map.end), cell(&memory.including_gaps, row), "tile {tile}");
            assert_eq!(Some(sum(&map.gaps_by_reason())), gap_bytes(memory, row), "tile {tile}");
            check_gaps(&map, &variables);
            for lane in &map.lanes {
                let ends = lane.iter().map(|position| &map.blocks[*position as usize]);
                assert!(ends.is_sorted_by(|a, b| a.end <= b.offset), "a lane of tile {tile}");
            }
            if tile.0 % 61 == 0 || tile.0 < 4 {
                let curve = scope_curve(report, Scope::Arena(tile.into()), &|| false).unwrap();
                for step in (0..steps).step_by(9) {
                    let map = TileMap::new(&variables, report, tile.into(), Some(step));
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

/// Every gap has the neighbors and the constraint that its reason speaks of.
fn check_gaps(map: &TileMap, tile: &Placed) {
    for (position, gap) in map.gaps.iter().enumerate() {
        assert_eq!(map.gap_at(gap.bytes.start), Some(position));
        assert_eq!(map.gap_at(gap.bytes.end - 1), Some(position));
        let after = gap.after.map(|row| &tile.placements[row]);
        let before = gap.before.map(|row| &tile.placements[row]);
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
        assert!(tile.placements[row].end() <= gap.bytes.end);
    }
}

#[test]
fn the_gaps_of_a_real_tile_have_their_causes() {
    let Some(path) = crate::common::real_report("poplar-3.3") else { return };
    let open = open(&path);
    let tile = TileId(0);
    let variables = read_arena(&open.report, tile.into(), &Progress::default()).unwrap().unwrap();
    let map = TileMap::new(&variables, &open.report, tile.into(), None);
    let element = map.gaps.iter().find(|gap| gap.reason == GapReason::ElementConstraint).unwrap();
    let name = |row: Option<usize>| variables.names.at(row.unwrap()).unwrap().to_owned();
    assert_eq!(element.bytes, 6_044..16_384);
    assert_eq!(name(element.before), ".text.supervisor.host_exchange_hostExchangeExitHSync");
    assert_eq!(name(element.after), "__stack");
    assert_eq!(name(element.constraint), ".text.supervisor.control_initPrngSeed");
    assert_eq!(map.gaps_by_reason()[&GapReason::Start], GapTotal { bytes: 16, count: 1 });
}

/// The gaps of every tile, read in parallel.
fn gap_totals(open: &OpenReport) -> GapTotals {
    let progress = Progress::default();
    let all = gaps_of_all(&open.report, &progress).unwrap().unwrap();
    let tiles = [2, 5].map(TileId);
    let some = gaps_of_arenas(&open.report, &tiles.map(ArenaId::from), &progress);
    let expected = tiles.map(|tile| (tile, all.of_tile(tile).unwrap().clone()));
    let some = some.unwrap().unwrap();
    assert!(some.iter().map(|(tile, gaps)| (tile, gaps.clone())).eq(expected));
    let one = gaps_of_arena(&open.report, ArenaId(5)).unwrap();
    assert_eq!(one.as_ref(), all.of_tile(TileId(5)));
    all
}

#[test]
fn tiles_read_in_parallel_are_those_of_one_scan() {
    for path in paths() {
        let open = open(&path);
        let target = open.report.target.get();
        let totals = gap_totals(&open);
        let mut scanned = Vec::new();
        let each = |tile, variables: Placed| scanned.push((tile, variables));
        assert!(open.read_each_tile(&Progress::default(), each).unwrap());
        let by_reason = scanned.iter().map(|(_, tile)| gaps::by_reason(&gaps::gaps(tile, target)));
        let tiles = scanned.iter().map(|(tile, _)| *tile);
        assert!(totals.iter().map(|(tile, gaps)| (tile, gaps.clone())).eq(tiles.zip(by_reason)));
        let all: Vec<_> = scanned.iter().map(|(tile, _)| *tile).collect();
        // Without the resident columns nothing says where tiles lie, and all of the table is read.
        let unread = OpenReport::open(&path, &Progress::default()).unwrap();
        let read = read_some(&unread, &all).expect("a table");
        assert!(read.keys().eq(&all));
        for ((tile, read), (_, scanned)) in read.iter().zip(&scanned) {
            assert_eq!(read.placements, scanned.placements, "tile {tile}");
            assert_eq!(read.element_constraints, scanned.element_constraints);
            assert_eq!(read.region_constraints, scanned.region_constraints);
            assert!(read.names.is_empty() && scanned.names.len() == scanned.placements.len());
        }
        let memory = open.report.memory.get().unwrap();
        assert_eq!(Some(sum(&totals.of_everything())), memory::totals(memory, target).gap_bytes);
        let selection = TileSelection::between(TileId(3), TileId(8));
        let selected: u64 = (3..=8).map(|tile| sum(totals.of_tile(TileId(tile)).unwrap())).sum();
        assert_eq!(sum(&totals.of_selection(&selection)), selected);
        let of_tiles = totals.iter().map(|(_, gaps)| sum(gaps));
        assert_eq!(of_tiles.sum::<u64>(), sum(&totals.of_everything()));
    }
}

#[test]
fn tiles_whose_rows_lie_apart_are_put_together() {
    let damaged = crate::common::damaged_sample(|directory| {
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        connection
            .execute_batch(
                "UPDATE vars_info SET tile = 2 WHERE tile = 9 AND var_id % 2 = 0; \
                 UPDATE vars_info SET alignment = 'x' WHERE var_id % 100 = 0",
            )
            .unwrap();
    });
    let open = OpenReport::open(damaged.path(), &Progress::default()).unwrap();
    let all: Vec<_> = open.report.memory.get().unwrap().tiles.as_slice().to_vec();
    let count = |read: BTreeMap<TileId, Placed>| -> Vec<_> {
        read.into_iter().map(|(tile, placed)| (tile, placed.placements.len())).collect()
    };
    let read = count(read_some(&open, &all).expect("a table"));
    let warnings = open.report.warnings.list();
    let mut about = warnings.iter().filter(|warning| warning.message.contains("alignment"));
    assert!(about.next().unwrap().message.contains("row var_id 0,"), "{warnings:?}");
    assert_eq!(about.next(), None, "what was read in vain warns of nothing");
    let mut scanned = Vec::new();
    let each = |tile, variables: Placed| scanned.push((tile, variables.placements.len()));
    assert!(open.read_each_tile(&Progress::default(), each).unwrap());
    assert_eq!(read, scanned);
    // Tile 9 lies apart, 3 does not.
    for wanted in [[3, 4].map(TileId), [2, 9].map(TileId)] {
        let some = count(read_some(&open, &wanted).expect("a table"));
        let expected: Vec<_> =
            scanned.iter().copied().filter(|(tile, _)| wanted.contains(tile)).collect();
        assert_eq!(some, expected);
    }
    let absent = crate::common::damaged_sample(|directory| {
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        connection.execute_batch("DROP TABLE vars_info").unwrap();
    });
    let open = OpenReport::open(absent.path(), &Progress::default()).unwrap();
    assert!(read_some(&open, &all).is_none());
}

fn overflow(open: &OpenReport) -> Overflow {
    let (memory, target) = (open.report.memory.get().unwrap(), open.report.target.get());
    why_it_overflows(memory, target, &gap_totals(open), 0..memory.tiles.len()).unwrap()
}

#[test]
fn what_takes_the_memory_of_tiles_that_are_over_adds_up() {
    for path in paths() {
        let open = open(&path);
        let (memory, target) = (open.report.memory.get().unwrap(), open.report.target.get());
        let found = overflow(&open);
        let totals = memory::totals(memory, target);
        assert_eq!(Some(found.tiles.len() as u64), totals.tiles_over_limit);
        let limit = target.unwrap().bytes_per_tile.unwrap() * found.tiles.len() as u64;
        assert_eq!(found.including_gaps_bytes, limit + found.over_bytes);
        assert_eq!(found.reasons.iter().map(|lost| lost.bytes).sum::<u64>(), found.gap_bytes);
        let rows = || found.tiles.iter().map(|tile| memory.tiles.position(*tile).unwrap());
        let total = |column| memory::sum_of_rows(column, rows()).unwrap_or(0);
        let at_one_step = total(&memory.always_live) + total(&memory.not_always_live_max);
        let parts = at_one_step + found.not_explained_bytes.unwrap() + found.gap_bytes;
        assert_eq!(parts, found.including_gaps_bytes, "{}", path.display());
        for lost in &found.reasons {
            assert!(lost.would_fit <= found.would_fit_without_gaps && lost.would_fit <= lost.tiles);
        }
    }
}

/// A batch that fits at every step, but not where code pushes data into the next memory element.
#[test]
fn placement_alone_can_be_why_it_does_not_fit() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReportOptions { batch: 12, proportion: 0.6, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    let open = open(directory.path());
    let found = overflow(&open);
    assert_eq!((found.tiles.len(), found.need_more_at_one_step), (8, Some(0)));
    assert_eq!((found.would_fit_without_gaps, found.over_bytes), (8, 43_884));
    assert_eq!(found.worst, Some((TileId(3), 8_544)));
    let most = &found.reasons[0];
    assert_eq!((most.reason, most.bytes), (GapReason::ElementConstraint, 124_896));
    assert_eq!((most.tiles, most.would_fit), (8, 8));
    assert!(found.reasons[1..].iter().all(|lost| lost.would_fit == 0));
}

#[test]
fn the_map_of_the_chip_has_every_byte() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let (memory, target) = (report.memory.get().unwrap(), report.target.get());
        let tiles = 0..memory.tiles.as_slice().last().unwrap().0 + 1;
        let end = memory.including_gaps.iter().flatten().max().unwrap() + 1000;
        let all = area_bytes(report, tiles.clone(), 0..end, None).unwrap();
        let totals = memory::totals(memory, target);
        assert_eq!(Some(all.alive), totals.total_bytes);
        assert_eq!((Some(all.gap), all.free), (totals.gap_bytes, 0));
        assert_eq!(all.alive + all.gap + all.beyond, end * u64::from(tiles.end));
        assert_eq!(Some(all.always_live), totals.always_live_bytes, "no other variable is there");
        let ids = &report.categories.get().unwrap();
        for (id, bytes) in &all.by_category {
            let name = ids.name(id.unwrap()).unwrap();
            let category = memory.categories.iter().find(|category| category.name == name);
            let total = memory::category_total(category.unwrap());
            assert_eq!(*bytes, total.not_overlapped.unwrap() + total.overlapped.unwrap(), "{name}");
        }
        let curve = scope_curve(report, Scope::Everything, &|| false).unwrap();
        for step in (0..curve.not_always_live.len()).step_by(9) {
            let at = area_bytes(report, tiles.clone(), 0..end, Some(step)).unwrap();
            assert_eq!(at.alive - at.always_live, curve.not_always_live[step], "step {step}");
            assert_eq!((at.gap, at.beyond, at.several), (all.gap, all.beyond, 0));
            assert_eq!(at.alive + at.free, all.alive);
        }
        check_pictures(report, tiles, end);
    }
}

/// The cells of a picture are those of the areas that it names, and a tile's rows those of its map.
fn check_pictures(report: &Report, tiles: Range<u32>, end: u64) {
    let window = ChipWindow { tiles: tiles.clone(), addresses: 0..end, columns: 300, rows: 40 };
    for step in [None, Some(7)] {
        let picture = render(report, &window, ColourBy::Liveness, step, &|| false).unwrap();
        assert!(picture.rows <= 40 && picture.columns <= 300);
        for tile in tiles.clone().step_by(97) {
            for address in (0..end).step_by(4099) {
                let first = tile - tile % picture.tiles_per_row;
                let start = address - address % picture.bytes_per_cell;
                let tiles = first..first + picture.tiles_per_row;
                let area = start..start + picture.bytes_per_cell;
                let area = area_bytes(report, tiles, area, step).unwrap();
                let most = area.alive.max(area.free).max(area.gap).max(area.beyond);
                let bytes = match picture.at(tile, address).unwrap() {
                    ChipCell::Beyond => area.beyond,
                    ChipCell::Gap => area.gap,
                    ChipCell::Free => area.free,
                    _ => area.alive,
                };
                assert_eq!(bytes, most, "tile {tile}, address {address}, step {step:?}");
                let here = area_bytes(report, tile..tile + 1, address..address + 1, step).unwrap();
                let rows = rows_at(report, TileId(tile), address, step);
                assert_eq!(here.alive == 0, rows.is_empty());
            }
        }
    }
}

#[test]
fn every_tile_of_the_grid_has_its_figure() {
    for path in paths() {
        let open = open(&path);
        let (memory, target) = (open.report.memory.get().unwrap(), open.report.target.get());
        let grid = TileGrid::new(&memory.tiles, target, 32);
        assert_eq!(grid.devices.len() as u64, target.unwrap().devices.unwrap());
        let totals = memory::totals(memory, target);
        let sum_of = |figure| memory::sum(&tile_grid::values(memory, target, &figure));
        assert_eq!(sum_of(TileFigure::IncludingGaps), totals.including_gaps_bytes);
        assert_eq!(sum_of(TileFigure::Gaps), totals.gap_bytes);
        assert_eq!(sum_of(TileFigure::AlwaysLive), totals.always_live_bytes);
        let code = sum_of(TileFigure::Category("vertexCode".to_owned()));
        let category = memory.categories.iter().find(|category| category.name == "vertexCode");
        let bytes = memory::category_total(category.unwrap());
        assert_eq!(code, bytes.not_overlapped.zip(bytes.overlapped).map(|(a, b)| a + b));
        let most = tile_grid::extent(&memory.including_gaps).map(|(_, most)| most);
        let fullest = totals.fullest.and_then(|row| cell(&memory.including_gaps, row));
        assert_eq!(most, fullest);
    }
}
