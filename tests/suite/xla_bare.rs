//! Bare assignments of XLA: no instructions, and of when values live only what XLA's own simulation did.

use std::path::PathBuf;

use crate::common::wire::{number, part};
use crate::common::{in_package, json, tilescope};
use serde_json::Value;

const ALLOCATE: u64 = 0;
const FREE: u64 = 1;
const SHARE: u64 = 2;

/// Values of a temporary allocation with their offsets and bytes: the last shares the place of the second, and is in no
/// trace.
const VALUES: [(u64, u64, u64); 4] = [(10, 0, 16), (11, 16, 32), (12, 48, 64), (13, 16, 32)];

/// The events: what, of which value, by which name, and with which it shares.
const EVENTS: [(u64, u64, &str, u64); 9] = [
    (ALLOCATE, 10, "copy.1", 0),
    (ALLOCATE, 11, "fusion.2", 0),
    (FREE, 10, "copy.1", 0),
    // Damage: it is gone already.
    (FREE, 10, "copy.1", 0),
    (ALLOCATE, 12, "dot.3", 0),
    // It comes again.
    (ALLOCATE, 10, "copy.1", 0),
    (FREE, 12, "dot.3", 0),
    (FREE, 11, "fusion.2", 0),
    (FREE, 10, "copy.1", 0),
];

/// A bare assignment: a parameter of 256 bytes, what is temporary, and 8 bytes that are temporary in memory space 1.
fn assignment(events: &[(u64, u64, &str, u64)]) -> Vec<u8> {
    let value = |id: u64, bytes: u64| {
        part(1, [number(1, id), number(2, bytes), part(3, number(4, id))].concat())
    };
    let placed = |(id, offset, bytes): &(u64, u64, u64)| {
        part(9, [number(1, *id), number(2, *offset), number(3, *bytes)].concat())
    };
    let values: Vec<u8> = VALUES.iter().flat_map(|(id, _, bytes)| value(*id, *bytes)).collect();
    let of_temporary: Vec<u8> = VALUES.iter().flat_map(placed).collect();
    let allocations = [
        part(3, [number(2, 256), number(5, 1), placed(&(1, 0, 256))].concat()),
        part(3, [number(1, 1), number(2, 112), of_temporary].concat()),
        part(3, [number(1, 2), number(2, 8), number(8, 1), placed(&(2, 0, 8))].concat()),
    ];
    let event = |(kind, id, name, shared_with): &(u64, u64, &str, u64)| {
        let of = [number(1, *kind), number(2, *id), part(4, name), number(5, *shared_with)];
        part(1, of.concat())
    };
    let events: Vec<u8> = events.iter().flat_map(event).collect();
    let trace =
        if events.is_empty() { Vec::new() } else { part(4, [events, number(2, 1)].concat()) };
    [value(1, 256), value(2, 8), values, allocations.concat(), trace].concat()
}

struct Bare {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn bare(events: &[(u64, u64, &str, u64)]) -> Bare {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("buffer_assignment.pb");
    std::fs::write(&path, assignment(events)).expect("a file");
    Bare { _directory: directory, path }
}

impl Bare {
    /// Exit status and answer of a command about it.
    fn ask(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let path = self.path.to_str().expect("UTF-8");
        let output = tilescope(&[arguments, &["--json", path]].concat());
        (output.status.code(), json(&output))
    }
}

fn named(rows: &Value) -> Vec<(&str, u64)> {
    let row = |row| -> (&str, u64) {
        let row: &Value = row;
        (row["name"].as_str().expect("a name"), row["bytes"].as_u64().expect("bytes"))
    };
    rows.as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn what_is_alive_at_a_step_adds_up_to_the_curve() {
    let bare = bare(&EVENTS);
    let expected = [16, 48, 32, 32, 96, 112, 48, 16, 0];
    for (step, bytes) in expected.into_iter().enumerate() {
        let (_, found) = bare.ask(&["liveness", "--step", &step.to_string()]);
        assert_eq!(found["step"]["not_always_live_bytes"], bytes, "{step}");
        let alive = named(&found["variables"]);
        assert_eq!(alive.iter().map(|(_, bytes)| bytes).sum::<u64>(), bytes, "{step}: {alive:?}");
        let always = named(&found["always_live_variables"]);
        assert_eq!(always, [("parameter 0", 256)], "{step}");
    }
    let (_, found) = bare.ask(&["liveness", "--step", "peak"]);
    assert_eq!(found["step"]["step"], 5);
    assert_eq!(named(&found["variables"]), [("dot.3", 64), ("fusion.2", 32), ("copy.1", 16)]);
}

#[test]
fn values_that_no_event_names_go_by_their_number() {
    let events = [(ALLOCATE, 11, "", 0), (SHARE, 13, "", 11), (FREE, 11, "", 0)];
    let (_, found) = bare(&events).ask(&["liveness", "--step", "1"]);
    assert_eq!(found["step"]["not_always_live_bytes"], 32);
    // Of values at the same addresses one has the bytes.
    assert_eq!(named(&found["variables"]), [("value 11", 32), ("value 13", 0)]);
    assert_eq!(found["variables"][1]["shared_bytes"], 32);
}

#[test]
fn of_other_memory_spaces_it_is_said_that_nothing_is_known() {
    let bare = bare(&EVENTS);
    let (status, found) = bare.ask(&["liveness", "--device", "1"]);
    assert_eq!(status, Some(2));
    let error = &found["error"];
    assert_eq!(error["message"], "it is not known when values live in device 1 (Color 1)");
    assert_eq!(error["hint"], "It is known of: 0 (Memory).");
    let (_, found) = bare.ask(&["liveness", "--device", "7"]);
    let message = "this run has no device 7: 0 (Memory), 1 (Color 1)";
    assert_eq!(found["error"]["message"], message);
}

#[test]
fn summary_check_and_compare_know_what_liveness_knows() {
    let bare = bare(&EVENTS);
    let (_, summary) = bare.ask(&["summary"]);
    assert_eq!(summary["liveness"]["steps"], 9);
    assert_eq!(summary["xla"]["steps"], Value::Null, "they are no positions of a schedule");
    let peak = &summary["liveness"]["peak"];
    assert_eq!((&peak["step"], &peak["kind"]), (&5.into(), &"allocate".into()));
    assert_eq!((&peak["name"], &peak["bytes"]), (&"copy.1".into(), &(256 + 112).into()));
    assert_eq!(named(&peak["largest"]), [("dot.3", 64), ("fusion.2", 32), ("copy.1", 16)]);
    let (status, found) = bare.ask(&["check", "--max-peak-bytes", "368B"]);
    assert_eq!((status, &found["checks"][0]["actual"]), (Some(0), &(256 + 112).into()));
    let path = bare.path.to_str().expect("UTF-8");
    let (_, found) = bare.ask(&["compare", path]);
    let said = found["conclusions"].to_string();
    assert!(
        said.contains("is known only from XLA's own simulation, which has at most 112 B"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_checked_has_a_reason() {
    let [traced, bare] = [bare(&EVENTS), bare(&[])];
    let why = "the file does not say when values live";
    let (status, found) = bare.ask(&["check", "--max-peak-bytes", "1GiB"]);
    let row = &found["checks"][0];
    assert_eq!((status, &row["actual"], &row["reason"]), (Some(1), &Value::Null, &why.into()));
    let grown = |of: &Bare, baseline: &Bare| {
        let baseline = baseline.path.to_str().expect("UTF-8");
        let (_, found) = of.ask(&["check", "--max-growth", "5", "--baseline", baseline]);
        found["checks"][1].clone()
    };
    let row = grown(&bare, &traced);
    assert_eq!((&row["reason"], &row["baseline_bytes"]), (&why.into(), &368.into()));
    let row = grown(&traced, &bare);
    assert_eq!(row["reason"], format!("of the baseline {why}"));
    assert_eq!((&row["actual"], &row["actual_bytes"]), (&Value::Null, &368.into()));
}

/// A real one, which is not part of this package.
#[test]
fn what_is_alive_at_the_peak_of_a_real_one_has_names_and_covers_the_curve() {
    let path = in_package("../shared/profiles/xla/cpu-jax0.6.2-scan-remat/buffer_assignment.pb");
    if !path.is_file() {
        eprintln!("skipped: {} is absent", path.display());
        return;
    }
    let bare = Bare { _directory: tempfile::tempdir().expect("a directory"), path };
    let (_, found) = bare.ask(&["liveness", "--step", "peak"]);
    let alive = named(&found["variables"]);
    let sum: u64 = alive.iter().map(|(_, bytes)| bytes).sum();
    // Values that share their memory are there together.
    assert!(sum >= 3_149_860, "{sum}");
    assert_eq!(found["step"]["not_always_live_bytes"], 3_149_860);
    let is_named = |name: &&str| !name.is_empty() && !name.starts_with("value ");
    assert!(alive.iter().all(|(name, _)| is_named(name)), "{alive:?}");
    let (_, summary) = bare.ask(&["summary"]);
    let peak = &summary["liveness"]["peak"];
    assert_eq!(peak["step"], found["step"]["step"]);
    assert_eq!(named(&peak["largest"])[..], alive[..10]);
    let sum = |rows: &Value| named(rows).iter().map(|(_, bytes)| bytes).sum::<u64>();
    assert_eq!(crate::common::not_always_live(&summary), 3_149_860);
    assert_eq!(peak["bytes"], sum(&peak["by_operation"]));
}
