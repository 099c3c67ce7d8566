//! The story of a training run that does not fit without checkpoints, told by the snapshots alone.

use crate::common::demo::assert_written_once;
use crate::common::{found, json, swept, tilescope};
use serde_json::Value;
use tilescope::analysis::liveness::Scope;
use tilescope::format::Progress;
use tilescope::systems::pytorch::files::SnapshotFiles;
use tilescope::systems::pytorch::run::SnapshotRun;
use tilescope::systems::pytorch::synth::story::{CARD, SEGMENTS, story};

const MIB: u64 = 1 << 20;

fn bytes(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn a_sweep_says_which_variant_does_not_fit_and_which_needs_least() {
    let directory = tempfile::tempdir().unwrap();
    story().write(directory.path(), &Progress::default()).unwrap();
    let folder = directory.path().to_str().unwrap();
    let sweep = ["sweep", folder, "--capacity", "8GiB", "--other", "600MiB", "--json"];
    let answer = json(&tilescope(&sweep));
    let table = swept(&answer);
    assert_eq!(table["warnings"], serde_json::json!([]));
    let rows = table["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["variant"].as_str().unwrap()).collect();
    let of = |row: &Value| row["settings"]["app.checkpoint_segments"].as_u64();
    assert_eq!(rows.iter().filter_map(of).collect::<Vec<_>>(), SEGMENTS.map(u64::from));

    // Without checkpoints it runs out of memory: by the request that failed it is over what the card has.
    let [plain, checkpointed @ ..] = &**rows else { panic!("no rows") };
    assert_eq!(plain["finished"], false);
    assert_eq!(plain["percent"]["max_allocated_bytes"], Value::Null);
    let asked = bytes(plain, "oom_request_bytes");
    assert_eq!(asked, 96 * MIB);
    let over = bytes(plain, "oversubscription_bytes");
    let capacity = CARD.capacity_bytes.unwrap();
    assert_eq!(over, bytes(plain, "needed_bytes") + CARD.other_bytes - capacity);
    assert!(0 < over && over <= asked, "{over}");
    let own = ["sweep", folder, "--json"];
    let stated = json(&tilescope(&own))["runs"][0]["verdict"]["capacity_bytes"].clone();
    assert_eq!(stated, capacity, "what the error text beside it says");

    // What others had is no room for it, and its exception let go of everything: what counts is the moment before.
    let progress = Progress::default();
    let files = found::<SnapshotFiles>(&story().runs(directory.path())[0]).unwrap();
    let run = SnapshotRun::open(&files, &progress).unwrap().unwrap();
    run.fill_report(&progress);
    let derived = run.derived();
    let limit = capacity - CARD.other_bytes;
    assert_eq!(derived.limit_bytes(Scope::Everything), Some(limit));
    let (taken, all) = derived.verdict().unwrap().used_of_all.unwrap();
    assert!(all == capacity && taken <= all && all - taken < asked, "{taken} of {all}");
    let groups = derived.answers().fact_groups(&derived);
    let facts = groups.iter().flat_map(|(_, facts)| facts);
    let told: Vec<&str> = facts.map(|(name, _)| &**name).collect();
    assert!(told.contains(&"Reserved, not in use, when it failed"), "{told:?}");
    assert!(!told.iter().any(|name| name.ends_with(", end")), "{told:?}");

    // All others fit; the first of them is the reference, and the one in the middle needs least: 8 of 24 blocks.
    for row in checkpointed {
        assert_eq!((&row["finished"], &row["oversubscription_bytes"]), (&true.into(), &0.into()));
    }
    assert_eq!(table["reference"], names[1]);
    assert_eq!(table["least_needed"], names[3]);
    let most: Vec<u64> = checkpointed.iter().map(|row| bytes(row, "max_allocated_bytes")).collect();
    let [two, four, eight, ten, sixteen] = most[..] else { panic!("{most:?}") };
    assert!(two > sixteen && sixteen > ten && ten > four && four > eight, "{most:?}");
    let percent = checkpointed[2]["percent"]["max_allocated_bytes"].as_f64().unwrap();
    assert!((percent - eight as f64 / two as f64 * 100.0).abs() < 0.06, "{percent}");

    // What went away are activations: blocks of the forward pass, and nothing of what else lives at the peak.
    let at_peak = |place: usize| {
        let path = story().runs(directory.path())[place].clone();
        let summary = json(&tilescope(&["summary", path.to_str().unwrap(), "--json"]));
        summary["liveness"]["peak"].clone()
    };
    let (before, after) = (at_peak(1), at_peak(3));
    let of = |peak: &Value, category: &str| {
        let rows = peak["by_category"].as_array().unwrap();
        bytes(rows.iter().find(|row| row["name"] == category).unwrap(), "bytes")
    };
    for category in ["parameter", "optimizer_state"] {
        assert_eq!(of(&before, category), of(&after, category), "{category}");
    }
    let gone = of(&before, "activation") - of(&after, "activation");
    let less = bytes(&before, "bytes") - bytes(&after, "bytes");
    assert!(gone * 100 > less * 95, "{gone} of {less}");
}

#[test]
fn the_demo_is_written_once() {
    assert_written_once("pytorch", |directory| story().runs(directory), SEGMENTS.len());
}
