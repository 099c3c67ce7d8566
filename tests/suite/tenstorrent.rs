//! Reports of TT-NN: real ones give the figures that are known of them; small ones that are made here, also damaged.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::compared::{compare, text_of};
use crate::common::lake::{columns_are_documented, export, integer, rows, sum, tables_of};
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
             CREATE TABLE tensors(tensor_id int, shape text, dtype text, layout text, memory_config text, address int, buffer_type int,
                rank int);
             INSERT INTO tensors VALUES (1, 'Shape([4])', 'DataType.BFLOAT16', 'Layout.TILE', 'x', 1000, 1, 0),
                (2, 'Shape([4])', 'DataType.BFLOAT16', 'Layout.TILE', 'x', 900, 1, 0);
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
    for table in ["buffers", "captured_graph"] {
        let folder = tempfile::tempdir().unwrap();
        write_report(folder.path());
        let said = || {
            let mut summary = summary(folder.path());
            (summary["tenstorrent"].take(), summary["warnings"].take())
        };
        let before = said();
        let database = Connection::open(folder.path().join("db.sqlite")).unwrap();
        let turn = |order: &str| {
            let sql = format!(
                "CREATE TABLE turned AS SELECT * FROM {table} ORDER BY {order}; DELETE FROM {table};
                 INSERT INTO {table} SELECT * FROM turned; DROP TABLE turned"
            );
            database.execute_batch(&sql).unwrap();
        };
        for order in ["operation_id DESC", "operation_id = 1, operation_id"] {
            turn(order);
            assert_eq!(said(), before, "{table}, {order}");
        }
    }
}

#[test]
fn of_two_graphs_of_an_operation_the_first_counts() {
    for other in ["1", "2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        write_report(folder.path());
        let before = summary(folder.path())["tenstorrent"].take();
        let database = Connection::open(folder.path().join("db.sqlite")).unwrap();
        let again = "INSERT INTO captured_graph SELECT ?1, '[]', 0";
        database.execute(again, [other]).unwrap();
        let mut found = summary(folder.path());
        assert_eq!(found["tenstorrent"].take(), before, "{other}");
        let warnings = found["warnings"].to_string();
        let expected = format!("row operation_id {other}: the operation has a graph before");
        assert!(warnings.contains(&expected), "{warnings}");
    }
}

/// A raw capture of the run of [`write_report`], in which everything stands where TT-NN writes it.
fn write_capture(path: &Path, has_snapshots: bool) {
    let mut nodes: Vec<Value> = Vec::new();
    let mut add = |kind: &str, params: Value, links: [Vec<usize>; 2]| {
        let counter = nodes.len();
        let [connections, inputs] = links;
        nodes.push(json!({
            "arguments": [], "connections": connections, "counter": counter, "input_tensors": inputs, "node_type": kind,
            "params": params, "stacking_level": 1}));
        counter
    };
    let none = || [Vec::new(), Vec::new()];
    let buffer = |address: u64, bytes: u64| {
        json!({
            "address": address.to_string(), "type": "L1", "size": bytes * 4, "max_size_per_bank": bytes, "layout": "INTERLEAVED",
            "device_id": 7})
    };
    let tensor = |id: u64, address: u64| {
        json!({
            "tensor_id": id.to_string(), "address": address, "buffer_type": 1, "shape": "Shape([4])", "dtype": "DataType::BFLOAT16",
            "memory_config": "x", "device_id": 7})
    };
    add("capture_start", Value::Null, none());
    let name = |name: &str| json!({ "name": name });
    let first = add("function_start", name("ttnn.zeros"), none());
    add("buffer_allocate", buffer(1000, 40), none());
    add("function_end", name("ttnn.zeros"), [vec![4], vec![]]);
    let zeros = add("tensor", tensor(1, 1000), none());
    let second = add("function_start", name("ttnn.relu"), [vec![], vec![zeros]]);
    add("buffer_allocate", buffer(900, 64), none());
    let relu = add("tensor", tensor(2, 900), none());
    add("buffer_deallocate", buffer(1000, 40), none());
    add("function_end", name("ttnn.relu"), [vec![relu], vec![]]);
    add("function_start", name("ttnn.matmul"), [vec![], vec![relu]]);
    add("buffer_allocate", buffer(700, 100), none());
    add("tensor", tensor(3, 700), none());
    let message = "Statically allocated circular buffers in program 3 clash with L1 buffers on core range [0-0 - 1-1]. \
        L1 buffer allocated at 700 and static circular buffer region ends at 760";
    let error = json!({"error_type": "RuntimeError", "error_message": message, "error_operation": "ttnn.matmul"});
    add("error", error, none());
    let mut capture = json!({
        "devices": [{
            "device_id": 7, "num_y_compute_cores": 2, "num_x_compute_cores": 2, "worker_l1_size": 1200, "l1_num_banks": 4,
            "l1_bank_size": 1000, "address_at_first_l1_cb_buffer": 100, "cb_limit": 1100, "arch": "WORMHOLE_B0",
            "num_dram_channels": 12}],
        "graph": nodes, "metadata": {"rank": 0, "version": "0.81.1"}, "version": 1});
    if has_snapshots {
        let alive = |address: u64, bytes: u64| {
            json!([{
                "device_id": 7, "address": address, "max_size_per_bank": bytes, "buffer_type": 1, "buffer_layout": 0}])
        };
        capture["per_operation_buffers"] =
            json!({ (first.to_string()): alive(1000, 40), (second.to_string()): alive(900, 64) });
    }
    std::fs::write(path, format!("{capture:#}")).unwrap();
}

#[test]
fn a_raw_capture_gives_the_answers_of_the_report_that_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    write_report(folder.path());
    let mut expected = summary(folder.path());
    for has_snapshots in [true, false] {
        let other = tempfile::tempdir().unwrap();
        let path = other.path().join("run.json");
        write_capture(&path, has_snapshots);
        let mut found = summary(&path);
        assert_eq!(found["source"]["format"], "TT-NN capture");
        let [ours, theirs] =
            [&mut found, &mut expected].map(|of| &mut of["tenstorrent"]["ranks"][0]);
        for key in ["l1_transient_peak", "l1_at_peak", "in_use_peak"] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        // A capture has the tensor that the failed operation makes; the report has no row for it.
        for key in
            ["buffer_rows", "peak_bytes_per_bank", "peak_at", "kept_to_end", "end_bytes_per_bank"]
        {
            assert_eq!(ours["spaces"]["L1"][key], theirs["spaces"]["L1"][key], "{key}");
        }
        for key in ["operation", "form", "missing_bytes", "in_report"] {
            assert_eq!(ours["errors"][0][key], theirs["errors"][0][key], "{key}");
        }
        for key in ["operations", "buffer_rows", "errors", "replay_mismatches"] {
            assert_eq!(ours["counts"][key], theirs["counts"][key], "{key}");
        }
        assert_eq!((&ours["arch"], &ours["arch_from"]), (&json!("wormhole_b0"), &json!("devices")));
        assert_eq!(found["verdict"]["over_bytes"], 60);
        let warnings = found["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), usize::from(!has_snapshots), "{warnings:?}");
        // Its folder opens it as well.
        assert_eq!(summary(other.path())["verdict"], found["verdict"]);
    }
}

#[test]
fn damaged_captures_give_what_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    write_capture(&path, true);
    let whole = std::fs::read(&path).unwrap();
    let status = |what: &str| {
        let output = tilescope(&["summary", text_of(&path), "--json"]);
        let found = json(&output);
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 3)), "{what}: {found}");
        if status == Some(0) {
            assert_ne!(found["warnings"], json!([]), "{what}");
            assert_ne!(found["verdict"]["outcome"], "fits", "{what}");
        }
    };
    for part in 1..16 {
        std::fs::write(&path, &whole[..whole.len() * part / 16]).unwrap();
        status(&format!("{part} of 16"));
    }
    let text = String::from_utf8(whole).unwrap();
    let deep = format!("\"graph\": [{}", "[".repeat(1 << 20));
    for (from, to) in [
        ("\"address\": 900", "\"address\": -900"),
        ("\"graph\": [", deep.as_str()),
        ("\"graph\": [", "\"graph\": [3, \"x\", {\"params\": 4}, "),
        ("\"max_size_per_bank\": 64", "\"max_size_per_bank\": 18446744073709551615"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        status(from);
    }
}

#[test]
fn captures_of_several_ranks_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 1..=2 {
        write_capture(&folder.path().join(format!("graph_capture_{rank}_of_2.json")), true);
    }
    let found = summary(folder.path());
    let ranks = found["tenstorrent"]["ranks"].as_array().unwrap();
    assert_eq!(ranks.iter().map(|rank| &rank["rank"]).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(ranks[0]["spaces"], ranks[1]["spaces"]);
}

#[test]
fn what_a_comparison_says_names_where_tensors_went() {
    let [dram, l1] =
        ["dram", "l1"].map(|name| in_package(&format!("sample_profiles/tenstorrent/{name}")));
    let found = compare(&[&dram, &l1], &[]);
    let said: Vec<&str> = (found["conclusions"].as_array().expect("conclusions").iter())
        .map(|one| one["text"].as_str().expect("a text"))
        .collect();
    assert!(
        said.iter().any(|text| text.contains("memory of most results from DRAM to L1")),
        "{said:?}"
    );
    assert!(said.iter().any(|text| text.starts_with("Memory went from DRAM to L1: ")), "{said:?}");
}

#[test]
fn calls_have_neither_layers_nor_modules_and_it_is_said() {
    let l1 = in_package("sample_profiles/tenstorrent/l1");
    let said = |options: &[&str]| {
        let output = tilescope(&[&["ops", text_of(&l1)], options].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, text) = said(&["--layer", "ttnn"]);
    assert!(
        status == Some(2) && text.contains("no layer `ttnn`: its operations are calls"),
        "{text}"
    );
    let (status, text) = said(&["--by", "module"]);
    assert!(status == Some(2) && text.contains("no modules: its operations are calls"), "{text}");
    assert_eq!(said(&["--by", "operation"]).0, Some(0));
}

#[test]
fn the_lake_has_the_peak_of_l1_buffer_by_buffer() {
    let (folder, lake) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_report(folder.path());
    export(&[folder.path()], lake.path());
    let mut buffers = rows(lake.path(), "buffers");
    assert_eq!(rows(lake.path(), "tensors").len(), 2);
    let calls = rows(lake.path(), "calls");
    let levels: Vec<i64> = calls.iter().map(|row| integer(&row["l1_bytes_per_core"])).collect();
    assert_eq!((levels, &calls[2]["failed"]), (vec![64, 64, 192], &json!(true)));
    assert_eq!(integer(&buffers[0]["freed_operation"]), 2);
    buffers.retain(|row| row["live_at_peak"] == true);
    assert_eq!(sum(&buffers, "bytes_per_bank"), 192);
}

#[test]
fn the_document_has_every_column_of_reports() {
    columns_are_documented("TT-NN reports", tables_of("tenstorrent"));
}
