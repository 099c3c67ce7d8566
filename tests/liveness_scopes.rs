//! Liveness by tile: what the analyses of any scope say agrees with Poplar's own sums and with each
//! other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tilescope::format::Progress;
use tilescope::format::poplar::OpenReport;
use tilescope::store::WarningCode;

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_debug_info(&progress);
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open
}

/// A small report, one of several IPUs, and the real one where it is at hand.
fn paths() -> Vec<PathBuf> {
    let mut paths = vec![common::sample(), common::in_package("sample_profiles/pipeline")];
    paths.extend(common::real_report("poplar-3.3"));
    paths
}

#[test]
fn the_rows_of_a_tile_are_those_of_the_table() {
    for path in paths() {
        let open = open(&path);
        let table = open.report.tile_variable_bytes.get().unwrap();
        assert_eq!(table.tiles.len(), open.report.memory.get().unwrap().tiles.len());
        assert!(table.resident_bytes() <= table.len() * 16, "at most 16 bytes a row");
        for tile in table.tiles.as_slice().iter().step_by(61) {
            let read = open.read_variable_bytes(tile.0..=tile.0, &Progress::default());
            let rows: Vec<_> = table.iter(table.rows_of(*tile)).collect();
            assert_eq!(Some(rows), read.unwrap(), "tile {tile}");
        }
        assert_eq!(table.rows_between(&(0..=u32::MAX)), 0..table.len());
    }
}

fn sql(directory: &Path, statements: &str) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute_batch(statements).unwrap();
}

#[test]
fn damaged_rows_are_left_out_with_a_warning() {
    let intact = open(&common::sample());
    let count = intact.report.tile_variable_bytes.get().unwrap().len();
    let damaged = common::damaged_sample(|directory| {
        sql(
            directory,
            "UPDATE var_bytes_by_eq_class SET bytes = -5 WHERE rowid = 9; \
             UPDATE var_bytes_by_eq_class SET tile = 'a' WHERE rowid = 10; \
             UPDATE var_bytes_by_eq_class SET bytes = 1 << 40 WHERE rowid = 11; \
             UPDATE var_bytes_by_eq_class SET eq_class_id = 999999 WHERE rowid = 12;",
        );
    });
    let open = open(damaged.path());
    assert_eq!(open.report.tile_variable_bytes.get().unwrap().len(), count - 3);
    let warnings = open.report.warnings.list();
    let about = warnings.iter().find(|warning| warning.message.contains("var_bytes_by_eq_class"));
    assert_eq!(about.unwrap().code, WarningCode::Inconsistent);
    assert!(about.unwrap().message.contains("4 such places"), "{about:?}");
}

#[test]
fn a_table_that_is_not_there_or_not_wanted_is_absent() {
    for statement in [
        "DROP TABLE var_bytes_by_eq_class",
        "ALTER TABLE var_bytes_by_eq_class DROP COLUMN tile",
        "DROP TABLE eq_classes",
    ] {
        let damaged = common::damaged_sample(|directory| sql(directory, statement));
        let open = open(damaged.path());
        assert!(open.report.tile_variable_bytes.is_settled());
        assert!(open.report.tile_variable_bytes.get().is_none(), "{statement}");
    }
    let progress = Progress::default();
    let open = OpenReport::open(&common::sample(), &progress).unwrap();
    progress.cancel();
    open.read_tile_variable_bytes(&progress);
    assert!(open.report.tile_variable_bytes.get().is_none(), "cancelled");
    assert!(open.report.tile_variable_bytes.is_settled());
}
