//! Advice for reports of TT-NN: small reports that lack memory in one way each, and what is advised.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::compared::text_of;
use crate::common::{json, tilescope};

/// L1 of a core: 10,000 bytes for buffers from address 1,000 on.
const FLOOR: u64 = 1_000;

/// A run in which each operation makes a tensor and the last one fails, or none.
struct SmallRun<'a> {
    /// Address and bytes of the tensor of each operation; all stay.
    tensors: &'a [(u64, u64)],
    /// Which operation reads the tensor of which, from 1.
    reads: &'a [(u64, u64)],
    /// The space of the tensors.
    space: u64,
    /// What the operation after them says.
    error: Option<String>,
}

impl SmallRun<'_> {
    fn write(&self, folder: &Path) {
        let database = Connection::open(folder.join("db.sqlite")).unwrap();
        database
            .execute_batch(
                "CREATE TABLE devices(device_id, num_x_compute_cores, num_y_compute_cores, worker_l1_size,
                    address_at_first_l1_cb_buffer, l1_bank_size, cb_limit, l1_num_banks);
                 INSERT INTO devices VALUES (0, 2, 2, 11000, 1000, 10000, 10000, 4);
                 CREATE TABLE operations(operation_id, name, duration);
                 CREATE TABLE buffers(operation_id, device_id, address, max_size_per_bank, buffer_type, buffer_layout);
                 CREATE TABLE tensors(tensor_id, shape, dtype, layout, memory_config, address, buffer_type);
                 CREATE TABLE input_tensors(operation_id, input_index, tensor_id);
                 CREATE TABLE output_tensors(operation_id, output_index, tensor_id);
                 CREATE TABLE captured_graph(operation_id, captured_graph);
                 CREATE TABLE stack_traces(operation_id, stack_trace);
                 CREATE TABLE errors(operation_id, operation_name, error_type, error_message);",
            )
            .unwrap();
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            database.execute(sql, values).unwrap();
        };
        let last = self.tensors.len() as u64 + u64::from(self.error.is_some());
        for operation in 1..=last {
            let name = format!("ttnn.step{operation}");
            run("INSERT INTO operations VALUES (?1, ?2, 0.1)", &[&operation, &name]);
            let stack = format!("  File \"net.py\", line {operation}, in forward\n    step()\n");
            run("INSERT INTO stack_traces VALUES (?1, ?2)", &[&operation, &stack]);
        }
        for (id, (address, bytes)) in (1_u64..).zip(self.tensors) {
            let node = json!([
                {"counter": 0, "node_type": "buffer_allocate", "params": {
                    "address": address, "buffer_type": self.space, "size": bytes * 4, "max_size_per_bank": bytes,
                    "layout": "INTERLEAVED"}},
                {"counter": 1, "node_type": "tensor", "params": {
                    "tensor_id": id, "address": address, "buffer_type": self.space, "shape": "Shape([4])"}}
            ]);
            run("INSERT INTO captured_graph VALUES (?1, ?2)", &[&id, &node.to_string()]);
            let sql = "INSERT INTO tensors VALUES (?1, 'Shape([4])', 'DataType.BFLOAT16', 'Layout.TILE', 'x', ?2, ?3)";
            run(sql, &[&id, address, &self.space]);
            run("INSERT INTO output_tensors VALUES (?1, 0, ?1)", &[&id]);
            let rows = last.min(self.tensors.len() as u64);
            for operation in id..=rows {
                let sql = "INSERT INTO buffers VALUES (?1, 0, ?2, ?3, ?4, 0)";
                run(sql, &[&operation, address, bytes, &self.space]);
            }
        }
        for (operation, tensor) in self.reads {
            run("INSERT INTO input_tensors VALUES (?1, 0, ?2)", &[operation, tensor]);
        }
        if let Some(error) = &self.error {
            run("INSERT INTO captured_graph VALUES (?1, '[]')", &[&last]);
            let text = format!("TT_FATAL @ a.cpp:1: false\ninfo:\n{error}\nbacktrace:\n");
            let name = format!("ttnn.step{last}");
            run("INSERT INTO errors VALUES (?1, ?2, 'RuntimeError', ?3)", &[&last, &name, &text]);
        }
    }

    fn insights(&self) -> Value {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        let found = json(&tilescope(&["summary", text_of(folder.path()), "--json"]));
        assert_eq!(found["warnings"], json!([]), "{found}");
        found["insights"].clone()
    }
}

/// The ids of advice with what they save and whether that is enough.
fn advised(insights: &Value) -> Vec<(String, Value, Value, Value)> {
    let advice = insights["advice"].as_array().unwrap();
    let row = |one: &Value| {
        let saving = &one["saving"];
        let (expected, most) = (saving["expected_bytes"].clone(), saving["at_most_bytes"].clone());
        (one["id"].as_str().unwrap().to_owned(), expected, most, one["makes_it_fit"].clone())
    };
    advice.iter().map(row).collect()
}

fn no_space(bytes: u64, allocated: u64, largest: u64) -> String {
    let free = 10_000 - allocated;
    format!(
        "Out of Memory: Not enough space to allocate {} B L1 buffer across 4 banks, where each bank needs to store {bytes} B, \
         but bank size is 10000 B (allocated: {allocated} B, free: {free} B, largest free block: {largest} B).",
        bytes * 4
    )
}

#[test]
fn where_everything_fits_with_room_nothing_is_advised() {
    let run = SmallRun {
        tensors: &[(10_000, 992), (9_000, 992), (8_000, 992)],
        reads: &[(2, 1), (3, 2)],
        space: 1,
        error: None,
    };
    let found = run.insights();
    assert_eq!(advised(&found), []);
    let kept = found["conclusions"].as_array().unwrap();
    let kept = kept.iter().find(|one| one["id"] == "kept-in-l1").unwrap();
    assert_eq!(kept["evidence"][0]["bytes"], 992);
    assert_eq!(kept["evidence"][0]["place"]["frame"], "net.py:1 (forward)");
}

#[test]
fn tensors_that_nobody_reads_again_are_to_be_freed() {
    // Of three tensors only two are needed at once.
    let run = SmallRun {
        tensors: &[(8_000, 2_976), (5_000, 2_976), (2_000, 2_976)],
        reads: &[(2, 1), (3, 2)],
        space: 1,
        error: None,
    };
    let found = advised(&run.insights());
    let deallocate = ("deallocate".to_owned(), json!(2_976), json!(null), json!(null));
    assert_eq!(found[0], deallocate, "{found:?}");
}

#[test]
fn what_waits_can_lie_in_dram_and_that_may_be_enough() {
    let run = |bytes| SmallRun {
        tensors: &[(8_000, 2_976), (5_000, 2_976), (2_000, 2_976)],
        reads: &[(4, 3)],
        space: 1,
        error: Some(no_space(bytes, 8_928, 1_000)),
    };
    // Without the two that wait there are 8,976 bytes above the third one.
    // Had they never been there, it would lie higher: then 7,024 bytes are free in one piece at most.
    for (bytes, is_enough) in [(5_984, json!(true)), (6_400, json!(null)), (7_040, json!(false))] {
        let found = advised(&run(bytes).insights());
        let dram = ("dram-tensors".to_owned(), json!(null), json!(5_952), is_enough);
        assert_eq!(found, [dram], "{bytes}");
    }
}

#[test]
fn after_an_error_nobody_knows_who_would_have_read_a_tensor() {
    let run = SmallRun {
        tensors: &[(8_000, 2_976), (5_000, 2_976), (2_000, 2_976)],
        reads: &[(2, 1), (3, 2), (4, 3)],
        space: 1,
        error: Some(no_space(2_016, 8_928, 1_000)),
    };
    let found = advised(&run.insights());
    let deallocate = found.iter().find(|one| one.0 == "deallocate").unwrap();
    assert_eq!((&deallocate.1, &deallocate.2), (&json!(null), &json!(5_952)));
    assert_eq!(deallocate.3, json!(null));
}

#[test]
fn free_memory_in_pieces_is_moved_together() {
    let run = SmallRun {
        tensors: &[(8_000, 2_976), (4_000, 2_976)],
        reads: &[(3, 1), (3, 2)],
        space: 1,
        error: Some(no_space(3_520, 5_952, 3_000)),
    };
    let found = advised(&run.insights());
    let reallocate = ("reallocate".to_owned(), json!(1_048), json!(null), json!(true));
    assert_eq!(found, [reallocate]);
}

#[test]
fn what_is_in_the_way_of_circular_buffers_is_named() {
    let error = "Statically allocated circular buffers in program 3 clash with L1 buffers on core range [0-0 - 1-1]. L1 buffer \
        allocated at 2000 and static circular buffer region ends at 2500";
    let run = SmallRun {
        tensors: &[(8_000, 2_976), (2_000, 2_976)],
        reads: &[(3, 1)],
        space: 1,
        error: Some(error.to_owned()),
    };
    let found = run.insights();
    let clash =
        &found["conclusions"].as_array().unwrap().iter().find(|one| one["id"] == "scratch-clash");
    let evidence = clash.unwrap()["evidence"].as_array().unwrap();
    assert_eq!((evidence.len(), &evidence[0]["place"]["address"]), (1, &json!("2000")));
    let found = advised(&found);
    let dram = ("dram-tensors".to_owned(), json!(null), json!(2_976), json!(true));
    let blocks = ("smaller-blocks".to_owned(), json!(null), json!(2_500 - FLOOR), json!(null));
    assert_eq!(found, [dram, blocks]);
}

#[test]
fn weights_take_less_of_a_full_dram_as_bfloat8() {
    let error = "Out of Memory: Not enough space to allocate 48000 B DRAM buffer across 12 banks, where each bank needs to store \
        4000 B, but bank size is 10000 B (allocated: 8192 B, free: 1808 B, largest free block: 1808 B).";
    let run = SmallRun {
        tensors: &[(2_048, 4_096), (6_144, 4_096)],
        reads: &[(3, 1), (3, 2)],
        space: 0,
        error: Some(error.to_owned()),
    };
    let saved = 2 * (4_096 - 2_176);
    let found = advised(&run.insights());
    let weights = ("bfloat8-weights".to_owned(), json!(saved), json!(null), json!(true));
    assert_eq!(found, [weights]);
}

#[test]
fn budgets_sweeps_and_lines_go_by_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = SmallRun {
        tensors: &[(10_000, 992), (9_000, 992)],
        reads: &[(2, 1)],
        space: 1,
        error: None,
    };
    run.write(folder.path());
    let path = text_of(folder.path());
    let check = |limits: &[&str]| {
        let found = tilescope(&[&["check", path, "--json"], limits].concat());
        (found.status.code(), json(&found)["checks"][0]["actual"].clone())
    };
    assert_eq!(check(&["--max-peak-bytes", "1984"]), (Some(0), json!(1_984)));
    assert_eq!(check(&["--max-total-bytes", "1983"]), (Some(1), json!(1_984)));
    // No program is in this report, so nobody knows how near circular buffers come.
    assert_eq!(check(&["--min-headroom-bytes", "1"]), (Some(1), json!(null)));
    let lines = json(&tilescope(&["liveness", path, "--step", "peak", "--by", "line", "--json"]));
    let rows = lines["by"]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["net.py:1 (forward)", "net.py:2 (forward)"]);
    let sweep = json(&tilescope(&["sweep", path, "--json"]));
    let figures = &sweep["runs"][0]["figures"];
    assert_eq!(figures["l1_peak_bytes_per_core"], 1_984, "{figures}");
}
