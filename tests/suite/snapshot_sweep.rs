//! `tilescope sweep` of memory snapshots that are made here: which files are variants, what they are called, what
//! stands in their table.

use std::path::Path;

use crate::common::recording::{MIB, Recording, stack};
use crate::common::{json, pickle, swept, tilescope};
use serde_json::Value;

fn sweep(directory: &Path, options: &[&str]) -> Value {
    let directory = directory.to_str().expect("UTF-8");
    let output = tilescope(&[&["sweep", directory, "--json"], options].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{options:?}: {text}");
    swept(&json(&output))
}

fn row<'a>(table: &'a Value, variant: &str) -> &'a Value {
    let mut rows = table["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["variant"] == variant).unwrap_or_else(|| panic!("no {variant}: {table}"))
}

fn names(table: &Value) -> Vec<&str> {
    let rows = table["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["variant"].as_str().expect("a name")).collect()
}

/// A run that takes so many MiB.
fn run_of(mebibytes: u64) -> Recording {
    let mut run = Recording::default();
    let block = run.alloc(0, mebibytes * MIB, &stack(&[("/home/me/train.py", 10, "forward")]));
    run.free(block);
    run
}

#[test]
fn each_run_is_in_percent_of_the_one_before() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, mebibytes) in [("splits_1.pickle", 40), ("splits_2.pickle", 20), ("splits_10", 30)] {
        run_of(mebibytes).write(directory.path(), name);
    }
    let mut failed = run_of(10);
    failed.out_of_memory(0, 50 * MIB, MIB);
    failed.write(directory.path(), "splits_3.pickle");
    let table = sweep(directory.path(), &[]);
    assert_eq!(names(&table), ["splits_1", "splits_2", "splits_3", "splits_10"]);
    let previous = |variant: &str| &row(&table, variant)["percent_of_previous"];
    assert_eq!(previous("splits_1")["max_allocated_bytes"], Value::Null, "the first");
    for figure in ["max_allocated_bytes", "max_reserved_bytes", "requested_peak_bytes"] {
        assert_eq!(previous("splits_2")[figure], 50.0, "{figure}");
    }
    assert_eq!(previous("splits_3")["max_allocated_bytes"], Value::Null, "it did not end");
    assert_eq!(previous("splits_10")["max_allocated_bytes"], Value::Null, "nor the one before");
    let path = directory.path().to_str().expect("UTF-8");
    let text = String::from_utf8(tilescope(&["sweep", path]).stdout).expect("text");
    assert!(text.contains("of the one before") && text.contains("  reserved"), "{text}");
    let csv = String::from_utf8(tilescope(&["sweep", path, "--csv"]).stdout).expect("text");
    let titles = csv.lines().next().expect("titles");
    assert!(titles.contains("max_reserved_percent_of_previous"), "{titles}");
}

#[test]
fn an_empty_app_json_names_no_variant_and_decimals_of_nvidia_smi_count() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, app) in [("a", "{}"), ("b", r#"{"smi_mib": 600.5}"#)] {
        let of_run = directory.path().join(name);
        std::fs::create_dir(&of_run).expect("a directory");
        run_of(10).write(&of_run, "snapshot.pickle");
        std::fs::write(of_run.join("app.json"), app).expect("a file");
    }
    let table = sweep(directory.path(), &[]);
    assert_eq!(names(&table), ["a/snapshot", "b/snapshot"]);
    assert_eq!(row(&table, "b/snapshot")["smi_bytes"], 600 * MIB + MIB / 2);
}

#[test]
fn a_snapshot_is_found_however_much_comes_before_its_keys() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = run_of(30).snapshot();
    let mark = |time: u64| {
        let stage = if time.is_multiple_of(2) { "START" } else { "END" };
        let name = format!("part {}", time / 2);
        serde_json::json!({ "stage": stage, "name": name, "device": 0, "time_us": time })
    };
    let marks: Value = (0..6000).map(mark).collect();
    let long = serde_json::json!({ "allocator_settings": {}, "external_annotations": marks });
    let mut long = pickle::pickle(&long);
    assert!(long.len() > 1 << 17);
    // A map of JSON has its keys in the order of letters: what comes last is added one by one.
    assert_eq!(long.pop(), Some(b'.'));
    for key in ["device_traces", "segments"] {
        for value in [&Value::from(key), &whole[key]] {
            let value = pickle::pickle(value);
            long.extend(&value[2..value.len() - 1]);
        }
        long.push(b's');
    }
    long.push(b'.');
    std::fs::write(directory.path().join("long.pickle"), long).expect("a file");
    run_of(10).write(directory.path(), "short.pickle");
    let other = serde_json::json!({ "external_annotations": marks });
    std::fs::write(directory.path().join("other.pickle"), pickle::pickle(&other)).expect("a file");
    let table = sweep(directory.path(), &[]);
    assert_eq!(names(&table), ["long", "short"], "what has no such key is none");
}

#[test]
fn statistics_that_contradict_the_file_are_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut run = run_of(20);
    run.alloc(0, 4 * MIB, &stack(&[("/home/me/train.py", 11, "keep")]));
    run.write(directory.path(), "a.pickle");
    let said = serde_json::json!({
        "allocated_bytes.all.peak": 5 * MIB, "allocated_bytes.all.current": 4 * MIB,
        "reserved_bytes.all.peak": 20 * MIB, "reserved_bytes.all.current": 4 * MIB,
    });
    let beside = directory.path().join("a.pickle.memory_stats.json");
    std::fs::write(beside, said.to_string()).expect("a file");
    let table = sweep(directory.path(), &[]);
    let warnings = table["warnings"].to_string();
    assert!(warnings.contains("is stated as 5242880 B"), "{warnings}");
}

#[test]
fn a_device_that_no_snapshot_has_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    run_of(20).write(directory.path(), "a.pickle");
    let path = directory.path().to_str().expect("UTF-8");
    let output = tilescope(&["sweep", path, "--device", "9", "--json"]);
    let message = json(&output)["error"]["message"].to_string();
    assert!(output.status.code() == Some(2) && message.contains("device 9"), "{message}");
}
