//! Reports of TT-NN whose database was made to do harm: each comes to an end, and takes little more memory than the
//! database has bytes.

use super::*;

use tilescope::synth::transformer::Transformer;
use tilescope::systems::tenstorrent::synth::{TtnnReportOptions, write_report};
use tilescope::systems::{SYSTEMS, find};

/// What a report may take beside eight times its bytes.
const SMALL: usize = 16 * MIB;

/// A report of one layer.
pub(super) fn report() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let default = TtnnReportOptions::default();
    let network =
        Transformer { layers: 1, width: 64, heads: 2, sequence: 64, batch: 2, ..default.network };
    let options = TtnnReportOptions { network, ..default };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    directory
}

fn change(directory: &Path, statements: &str) {
    Connection::open(directory.join("db.sqlite")).unwrap().execute_batch(statements).unwrap();
}

/// What is said of a report, as it is opened with all its figures; an error is one text.
#[track_caller]
fn said(directory: &Path) -> Vec<String> {
    let bytes = fs::metadata(directory.join("db.sqlite")).unwrap().len() as usize;
    let (said, took) = counted(|| -> Result<Vec<String>, Error> {
        let progress = Progress::default();
        let Some(run) = find(SYSTEMS, directory, None, &progress)?.open(&progress)? else {
            return Ok(Vec::new());
        };
        let derived = run.derived();
        let _ = derived.report().steps.get();
        let warnings = derived.report().warnings.list().into_iter();
        Ok(warnings.map(|warning| warning.message).collect())
    });
    let most = 8 * bytes + SMALL;
    assert!(took.bytes < most, "{} bytes of a database of {bytes}", took.bytes);
    said.unwrap_or_else(|error| vec![error.to_string()])
}

#[test]
fn graphs_that_are_deep_or_endless_are_left_out_with_a_warning() {
    let _alone = alone();
    let whole = report();
    assert_eq!(said(whole.path()), Vec::<String>::new());
    let open = "[".repeat(400_000);
    let objects = "{\"a\":".repeat(400_000);
    for graph in [
        format!("[{{\"params\": {open}"),
        open.clone(),
        format!("[{objects}"),
        format!("[{{\"params\": {objects}"),
    ] {
        let directory = report();
        let database = Connection::open(directory.path().join("db.sqlite")).unwrap();
        database.execute("UPDATE captured_graph SET captured_graph = ?1", [&graph]).unwrap();
        let said = said(directory.path());
        assert!(said.iter().any(|said| said.contains("left out")), "{said:?}");
    }
}

#[test]
fn connections_in_circles_and_to_nothing_end() {
    let _alone = alone();
    let node = |counter: u64, kind: &str, to: &str| {
        format!(
            r#"{{"counter": {counter}, "node_type": "{kind}", "params": {{"name": "Tensor::reshape", "tensor_id": {counter}}},
               "connections": [{to}], "input_tensors": [{to}]}}"#
        )
    };
    let circle: Vec<String> = (0..3000)
        .map(|at| {
            let kind = ["function_start", "tensor", "function_end"][at as usize % 3];
            node(at, kind, &format!("{}, {}, 18446744073709551615", (at + 1) % 3000, at))
        })
        .collect();
    let directory = report();
    let database = Connection::open(directory.path().join("db.sqlite")).unwrap();
    let graph = format!("[{}]", circle.join(","));
    database.execute("UPDATE captured_graph SET captured_graph = ?1", [&graph]).unwrap();
    drop(database);
    let _ = said(directory.path());
}

#[test]
fn numbers_that_no_machine_has_are_said_and_left_out() {
    let _alone = alone();
    let largest = i64::MAX;
    for statement in [
        format!("UPDATE buffers SET address = {largest}, max_size_per_bank = {largest}"),
        format!("UPDATE buffers SET operation_id = {largest} - rowid"),
        "UPDATE buffers SET address = -1".to_owned(),
        "UPDATE buffers SET rank = 1000 * rowid".to_owned(),
        "UPDATE buffers SET buffer_type = 99".to_owned(),
        "UPDATE operations SET operation_id = -operation_id".to_owned(),
    ] {
        let directory = report();
        change(directory.path(), &statement);
        assert!(!said(directory.path()).is_empty(), "{statement}");
    }
    for statement in [
        format!("UPDATE devices SET l1_bank_size = {largest}, worker_l1_size = {largest}"),
        format!(
            "UPDATE devices SET num_x_compute_cores = {largest}, num_y_compute_cores = {largest}"
        ),
        format!(
            "UPDATE buffer_chunks SET page_size = {largest}, num_pages = {largest}, core_x = rowid"
        ),
        format!("UPDATE operations SET operation_id = {largest} - operation_id"),
        format!("UPDATE tensors SET tensor_id = {largest} - tensor_id"),
        "UPDATE operations SET duration = 1e308".to_owned(),
    ] {
        let directory = report();
        change(directory.path(), &statement);
        let _ = said(directory.path());
    }
}

#[test]
fn a_report_without_a_table_shows_the_others() {
    let _alone = alone();
    let whole = report();
    let database = Connection::open(whole.path().join("db.sqlite")).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let mut names = database.prepare(tables).unwrap();
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let directory = report();
        change(directory.path(), &format!("DROP TABLE {name}"));
        let _ = said(directory.path());
    }
}

#[test]
fn a_database_that_is_cut_or_has_a_log_beside_it_ends() {
    let _alone = alone();
    let whole = report();
    let bytes = fs::read(whole.path().join("db.sqlite")).unwrap();
    for part in 0..16 {
        let directory = report();
        fs::write(directory.path().join("db.sqlite"), &bytes[..bytes.len() * part / 16]).unwrap();
        let _ = said(directory.path());
    }
    // A log that belongs to nothing, and one that claims frames.
    let header = b"\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00".to_vec();
    for log in [vec![0; 50_000], [header, vec![0xff; 20_000]].concat()] {
        let directory = report();
        fs::write(directory.path().join("db.sqlite-wal"), log).unwrap();
        let _ = said(directory.path());
        assert_eq!(fs::read(directory.path().join("db.sqlite")).unwrap().len(), bytes.len());
    }
}
