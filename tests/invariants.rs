//! Poplar's own sums, recomputed from the lowered variables of every report at hand
//! (formats/poplar.md 2.4).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use tilescope::analysis::gaps;
use tilescope::analysis::liveness::{self, Scope};
use tilescope::analysis::memory;
use tilescope::analysis::recompute;
use tilescope::format::Progress;
use tilescope::format::poplar::OpenReport;
use tilescope::store::TileId;
use tilescope::store::ids::CategoryId;
use tilescope::store::memory::{Region, TileColumn};
use tilescope::synth::{tiny, write_report};

fn check(path: &Path) {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_variables(&progress);
    let report = &*open.report;
    let (target, tiles) = (report.target.get().unwrap(), report.memory.get().unwrap());
    let (steps, liveness) = (report.steps.get().unwrap(), report.liveness.get().unwrap());
    let categories = report.categories.get().unwrap();
    let resident = report.variables.get().unwrap();
    let graph = report.graph.get().unwrap();
    assert_eq!(resident.len() as u64, graph.variables.unwrap());
    assert!(resident.resident_bytes() <= resident.len() * 24, "at most 24 bytes a variable");
    let count = steps.ids.len();
    let mut everything = vec![0_u64; count];
    let mut seen = 0;
    let is_there = open.read_each_tile(&progress, |tile, variables| {
        let row = tiles.tiles.position(tile).expect("a row in memory_by_tile");
        let sums = recompute::tile_sums(&variables, target, &liveness.classes, count);
        let stored = |column: &TileColumn| memory::cell(column, row).expect("a number");
        assert_eq!(sums.total, stored(&tiles.total), "total of tile {tile}");
        assert_eq!(sums.including_gaps, stored(&tiles.including_gaps), "end of tile {tile}");
        for (region, bytes) in Region::ALL.into_iter().zip(sums.by_region) {
            let column = &tiles.by_region[region as usize];
            assert_eq!(bytes, stored(column), "{region:?} of tile {tile}");
        }
        assert_eq!(sums.always_live, stored(&tiles.always_live), "always live on {tile}");
        assert_eq!(
            sums.not_always_live_max,
            stored(&tiles.not_always_live_max),
            "not always live on tile {tile}"
        );
        let gap_bytes: u64 = gaps::by_reason(&gaps::gaps(&variables, Some(target)))
            .values()
            .map(|total| total.bytes)
            .sum();
        assert_eq!(sums.total + gap_bytes, sums.including_gaps, "used + gaps of tile {tile}");
        let found: BTreeMap<String, recompute::CategorySums> =
            recompute::category_sums(&variables, target)
                .into_iter()
                .map(|(id, sums)| (categories.name(CategoryId(id)).unwrap().to_owned(), sums))
                .collect();
        for category in &tiles.categories {
            let sums = found.get(&category.name).copied().unwrap_or_default();
            for region in 0..3 {
                let stored = |lists: &[Option<Vec<u64>>; 3]| {
                    lists[region].as_ref().expect("a list")[tile.0 as usize]
                };
                let place = format!("{} of tile {tile}, region {region}", category.name);
                let alone = stored(&category.not_overlapped);
                assert_eq!(sums.not_overlapped[region], alone, "{place}");
                assert_eq!(sums.overlapped[region], stored(&category.overlapped), "{place}");
            }
        }
        let curve = recompute::curve(variables.variables.iter(), &liveness.classes, count);
        everything.iter_mut().zip(&curve).for_each(|(sum, bytes)| *sum += bytes);
        check_resident(resident, tile, &variables);
        seen += 1;
    });
    assert!(is_there.unwrap());
    assert_eq!(seen, tiles.tiles.len(), "every tile has variables");
    let stored = liveness::curve(liveness, Scope::Everything, count).unwrap();
    assert_eq!(everything, stored, "the curve over all tiles");
    let rows = liveness.variable_bytes.as_ref().unwrap();
    let of_rows = liveness::curve_of_variables(rows, &liveness.classes, count);
    assert_eq!(of_rows, stored, "the curve from bytes by class");
    let peak = liveness::peak(&stored).unwrap();
    let at_peak: u64 =
        liveness::variables_at(rows, liveness, peak).iter().map(|variable| variable.bytes).sum();
    assert_eq!(at_peak, stored[peak], "the variables at the peak");
    let always: u64 =
        liveness::always_live_variables(rows, liveness).iter().map(|variable| variable.bytes).sum();
    assert_eq!(Some(always), memory::sum(&tiles.always_live), "the always-live variables");
    check_tile_rows(&open, &progress);
}

/// The resident columns agree with what is read by tile.
fn check_resident(
    resident: &tilescope::store::variable::LoweredVariables,
    tile: TileId,
    variables: &tilescope::store::variable::TileVariables,
) {
    let rows = resident.rows_of(tile);
    assert_eq!(rows.len(), variables.variables.len());
    for (row, variable) in rows.zip(&variables.variables) {
        assert_eq!(u64::from(resident.offsets[row]), variable.offset);
        assert_eq!(u64::from(resident.bytes[row]), variable.bytes);
        assert_eq!(resident.classes[row], variable.class);
        assert_eq!(resident.flags[row], variable.flags);
    }
}

/// The sums by unlowered variable on a tile give the same curve as its lowered variables.
fn check_tile_rows(open: &OpenReport, progress: &Progress) {
    let report = &*open.report;
    let liveness = report.liveness.get().unwrap();
    let count = report.steps.get().unwrap().ids.len();
    for tile in [0, 1, 7] {
        let rows = open.read_variable_bytes(tile..=tile, progress).unwrap().unwrap();
        let variables = open.read_tile(TileId(tile), progress).unwrap().unwrap();
        assert_eq!(
            liveness::curve_of_variables(&rows, &liveness.classes, count),
            recompute::curve(variables.variables.iter(), &liveness.classes, count)
        );
    }
}

#[test]
fn the_real_reports() {
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        if let Some(path) = common::real_report(name) {
            check(&path);
        }
    }
}

#[test]
fn the_sample() {
    check(&common::sample());
}

#[test]
fn synthetic_reports_of_several_shapes() {
    for (tiles, batch, proportion) in [(8, 1, 0.6), (16, 8, 0.05), (33, 16, 0.9), (64, 200, 1.0)] {
        let directory = tempfile::tempdir().unwrap();
        let model = tiny::model(&tiny::Options { tiles, batch, proportion });
        write_report(&model, directory.path()).unwrap();
        check(directory.path());
    }
}

#[test]
fn the_sample_is_what_its_command_writes() {
    let directory = tempfile::tempdir().unwrap();
    write_report(&tiny::model(&tiny::Options::default()), directory.path()).unwrap();
    for answers in [common::summary, |path: &Path| common::map(path, 5, Some(17))] {
        let mut written = answers(directory.path()).unwrap();
        let mut shipped = answers(&common::sample()).unwrap();
        if let (Some(written), Some(shipped)) =
            (written.get_mut("source"), shipped.get_mut("source"))
        {
            written["path"] = shipped["path"].take();
            shipped["path"] = written["path"].clone();
        }
        assert_eq!(written, shipped, "run the command of sample_profiles/README.md again");
    }
}
