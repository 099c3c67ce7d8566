//! Reports of TT-NN: real ones give the figures that are known of them; small ones that are made here, also damaged.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::compared::{compare, text_of};
use crate::common::{in_package, json, real_report, tilescope};

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

#[track_caller]
fn summary(path: &Path) -> Value {
    let output = tilescope(&["summary", text_of(path), "--json"]);
    assert!(output.status.success(), "{}: {}", path.display(), json(&output));
    json(&output)
}

/// Reports with the files of their figures.
fn real_reports(profiles: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(profiles).expect("a directory").flatten() {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        for file in files {
            let name = file.file_name().to_string_lossy().into_owned();
            let report = name.strip_suffix(".expected.json").map(|name| folder.path().join(name));
            if let Some(report) = report.filter(|report| report.is_dir()) {
                found.push((report, read_json(&file.path())));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[test]
fn every_real_report_gives_the_figures_that_are_known_of_it() {
    let Some(profiles) = real_report("tenstorrent") else { return };
    let reports = real_reports(&profiles);
    assert!(reports.len() > 20, "{} reports", reports.len());
    for (report, mut expected) in reports {
        let name = report.display();
        assert!(expected.as_object_mut().expect("an object").remove("file").is_some());
        let found = summary(&report);
        assert_eq!(found["tenstorrent"], expected, "{name}");
        assert_eq!(found["warnings"], json!([]), "{name}");
        assert_sums(&found, &name.to_string());
    }
}

/// Parts add up to their wholes.
fn assert_sums(summary: &Value, name: &str) {
    let bytes = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{name}: bytes"));
    for rank in summary["tenstorrent"]["ranks"].as_array().expect("ranks") {
        for (space, facts) in rank["spaces"].as_object().expect("spaces") {
            let kept = facts["kept_to_end"].as_object().expect("parts").values();
            let kept: u64 = kept.map(|part| bytes(&part["bytes_per_bank"])).sum();
            assert_eq!(kept, bytes(&facts["end_bytes_per_bank"]), "{name}, {space}");
        }
        if let Some(free) = rank["l1_at_peak"]["free_bytes_per_core"].as_u64() {
            let peak = bytes(&rank["spaces"]["L1"]["peak_bytes_per_bank"]);
            assert_eq!(peak + free, bytes(&rank["device"]["l1_bank_bytes_per_core"]), "{name}");
        }
    }
    let peak = &summary["liveness"]["peak"];
    for rows in ["by_category", "by_operation", "largest"] {
        let rows = peak[rows].as_array().into_iter().flatten();
        let sum: u64 = rows.map(|row| bytes(&row["bytes"])).sum();
        assert_eq!(sum, peak["bytes"].as_u64().unwrap_or(0), "{name}");
    }
}

#[test]
fn real_reports_are_compared_as_is_known_of_them() {
    let Some(profiles) = real_report("tenstorrent") else { return };
    for name in ["placement", "batch", "release"] {
        let mut expected = read_json(&profiles.join(format!("compare-{name}.expected.json")));
        let mut side = |key: &str| {
            let path = expected.as_object_mut().expect("an object").remove(key).expect(key);
            profiles.join(path.as_str().expect("a path"))
        };
        let (source, target) = (side("source"), side("target"));
        let found = compare(&[&source, &target], &[]);
        assert_eq!(found["tenstorrent"], expected, "{name}");
    }
}

/// A small report: an input in L1, a result that takes its place in the second operation, and a third operation that
/// fails.
fn write_report(folder: &Path) {
    let database = Connection::open(folder.join("db.sqlite")).unwrap();
    let node = |kind: &str, address: u64, bytes: u64| {
        json!({"counter": 0, "node_type": kind, "params": {
            "address": address, "buffer_type": 1, "size": bytes * 4, "max_size_per_bank": bytes, "layout": "INTERLEAVED"}})
    };
    let tensor = |id: u64, address: u64| {
        json!({"counter": 1, "node_type": "tensor", "params": {
            "tensor_id": id, "address": address, "buffer_type": 1, "shape": "Shape([4])"}})
    };
    let graphs = [
        json!([node("buffer_allocate", 1000, 40), tensor(1, 1000)]),
        json!([
            tensor(1, 1000),
            node("buffer_allocate", 900, 64),
            tensor(2, 900),
            node("buffer_deallocate", 1000, 40)
        ]),
        json!([tensor(2, 900), node("buffer_allocate", 700, 100), tensor(3, 700)]),
    ];
    let message = "TT_FATAL @ a.cpp:1: false\ninfo:\nStatically allocated circular buffers in program 3 clash with L1 buffers on \
        core range [0-0 - 1-1]. L1 buffer allocated at 700 and static circular buffer region ends at 760\nbacktrace:\n";
    database
        .execute_batch(
            "CREATE TABLE report_metadata(key text, value text);
             INSERT INTO report_metadata VALUES ('schema_version', '3.5'), ('version', '0.81.1');
             CREATE TABLE devices(device_id int, num_y_compute_cores int, num_x_compute_cores int, worker_l1_size int,
                l1_num_banks int, l1_bank_size int, address_at_first_l1_cb_buffer int, cb_limit int, rank int);
             INSERT INTO devices VALUES (0, 2, 2, 1200, 4, 1000, 100, 1100, 0);
             CREATE TABLE operations(operation_id int, name text, duration float, rank int);
             INSERT INTO operations VALUES (1, 'ttnn.zeros', 0.1, 0), (2, 'ttnn.relu', 0.1, 0), (3, 'ttnn.matmul', 0.1, 0);
             CREATE TABLE buffers(operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int,
                buffer_layout int, rank int);
             INSERT INTO buffers VALUES (1, 0, 1000, 40, 1, 0, 0), (2, 0, 900, 64, 1, 0, 0);
             CREATE TABLE tensors(tensor_id int, shape text, dtype text, memory_config text, address int, buffer_type int,
                rank int);
             INSERT INTO tensors VALUES (1, 'Shape([4])', 'DataType.BFLOAT16', 'x', 1000, 1, 0),
                (2, 'Shape([4])', 'DataType.BFLOAT16', 'x', 900, 1, 0);
             CREATE TABLE input_tensors(operation_id int, input_index int, tensor_id int, rank int);
             INSERT INTO input_tensors VALUES (2, 0, 1, 0), (3, 0, 2, 0);
             CREATE TABLE output_tensors(operation_id int, output_index int, tensor_id int, rank int);
             INSERT INTO output_tensors VALUES (1, 0, 1, 0), (2, 0, 2, 0);
             CREATE TABLE captured_graph(operation_id int, captured_graph text, rank int);
             CREATE TABLE errors(operation_id int, operation_name text, error_type text, error_message text, rank int);",
        )
        .unwrap();
    for (id, graph) in (1..).zip(graphs) {
        database
            .execute("INSERT INTO captured_graph VALUES (?1, ?2, 0)", (id, graph.to_string()))
            .unwrap();
    }
    database
        .execute("INSERT INTO errors VALUES (3, 'ttnn.matmul', 'RuntimeError', ?1, 0)", [message])
        .unwrap();
}

#[test]
fn a_report_of_a_run_that_failed_says_what_was_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    write_report(folder.path());
    let found = summary(folder.path());
    let rank = &found["tenstorrent"]["ranks"][0];
    assert_eq!(rank["counts"]["replay_mismatches"], 0);
    let l1 = &rank["spaces"]["L1"];
    // The end of the operation that failed is that of the one before with what its graph shows: 64 and 128.
    assert_eq!((&l1["peak_bytes_per_bank"], &l1["peak_at"]["operation"]), (&json!(192), &json!(3)));
    assert_eq!(rank["l1_transient_peak"]["unrounded_bytes_per_core"], 164);
    let [error] = &rank["errors"].as_array().unwrap()[..] else { panic!("one error") };
    assert_eq!((&error["form"], &error["missing_bytes"]), (&json!("clash"), &json!(60)));
    assert_eq!(error["scratch_bytes_per_core"], 660);
    let in_report = json!({
        "allocated_bytes_per_bank": 192, "lowest_l1_address": 700, "largest_free_bytes_per_bank": 600});
    assert_eq!(error["in_report"], in_report);
    let in_the_way = error["in_the_way"].as_array().unwrap();
    assert_eq!((in_the_way.len(), &in_the_way[0]["address"]), (1, &json!(700)));
    let verdict = &found["verdict"];
    assert_eq!(
        (&verdict["outcome"], &verdict["over_bytes"]),
        (&json!("out-of-memory"), &json!(60))
    );
}

#[test]
fn damaged_reports_give_warnings_or_errors_and_no_panic() {
    let damage: [&str; 9] = [
        "DROP TABLE devices",
        "DROP TABLE captured_graph; DROP TABLE tensors; DROP TABLE errors",
        "DROP TABLE buffers",
        "UPDATE buffers SET address = -5, max_size_per_bank = 9223372036854775807",
        "UPDATE buffers SET operation_id = 9223372036854775807",
        "UPDATE devices SET l1_bank_size = 9223372036854775807, num_x_compute_cores = -1, worker_l1_size = 'x'",
        "UPDATE captured_graph SET captured_graph = '[{\"params\": [[[' ",
        "UPDATE operations SET rank = rowid; UPDATE buffers SET rank = 1000 * rowid",
        "UPDATE captured_graph SET captured_graph = replace(captured_graph, '900', '18446744073709551615')",
    ];
    for sql in damage {
        let folder = tempfile::tempdir().unwrap();
        write_report(folder.path());
        Connection::open(folder.path().join("db.sqlite")).unwrap().execute_batch(sql).unwrap();
        let output = tilescope(&["summary", text_of(folder.path()), "--json"]);
        let found = json(&output);
        let status = output.status.code();
        match status {
            Some(0) => {
                let warnings = found["warnings"].as_array().unwrap();
                let is_silent = sql.starts_with("DROP") && sql != "DROP TABLE buffers";
                assert!(!warnings.is_empty() || is_silent, "{sql}: {found}");
            }
            _ => assert_eq!(status, Some(3), "{sql}: {found}"),
        }
    }
}

#[test]
fn a_report_that_is_cut_gives_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    write_report(folder.path());
    let path = folder.path().join("db.sqlite");
    let whole = std::fs::read(&path).unwrap();
    for part in 1..8 {
        let end = whole.len() * part / 8;
        std::fs::write(&path, &whole[..end]).unwrap();
        let output = tilescope(&["summary", text_of(folder.path()), "--json"]);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{end} bytes: {output:?}");
    }
}

#[test]
fn a_report_that_lacks_buffers_is_not_said_to_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sqlite");
    let whole = std::fs::read(in_package("sample_profiles/tenstorrent/l1/db.sqlite")).unwrap();
    let outcome = || summary(folder.path())["verdict"]["outcome"].take();
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(outcome(), "fits");
    Connection::open(&path).unwrap().execute("DELETE FROM buffers", []).unwrap();
    assert_eq!(outcome(), "unknown");
    for part in 1..8 {
        std::fs::write(&path, &whole[..whole.len() * part / 8]).unwrap();
        let output = tilescope(&["summary", text_of(folder.path()), "--json"]);
        if output.status.success() {
            assert_eq!(json(&output)["verdict"]["outcome"], "unknown", "{part} of 8");
        }
    }
}

#[test]
fn rows_in_another_order_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    write_report(folder.path());
    let before = summary(folder.path())["tenstorrent"]["ranks"][0]["spaces"].take();
    let database = Connection::open(folder.path().join("db.sqlite")).unwrap();
    let turn = "CREATE TABLE turned AS SELECT * FROM buffers ORDER BY operation_id DESC; DELETE FROM buffers;
        INSERT INTO buffers SELECT * FROM turned";
    database.execute_batch(turn).unwrap();
    let after = summary(folder.path())["tenstorrent"]["ranks"][0]["spaces"].take();
    assert_eq!(before, after);
}
