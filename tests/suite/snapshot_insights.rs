//! Insights of real PyTorch snapshots: what is said holds, and what is promised came out where somebody did it.

use std::path::{Path, PathBuf};

use crate::common::{in_package, json, tilescope};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Real files, which are not part of this package; says so where they are absent.
fn profiles() -> Option<PathBuf> {
    let path = in_package("../shared/profiles/pytorch");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: ../shared/profiles/pytorch is absent");
    None
}

fn summary(path: &Path) -> Value {
    let output = tilescope(&["summary", &path.to_string_lossy(), "--json"]);
    assert!(output.status.success(), "{}: {}", path.display(), json(&output));
    json(&output)
}

/// What a snapshot says: the insights of every system, and what only PyTorch has.
fn insights(name: &str, profiles: &Path) -> Value {
    insights_of(&summary(&profiles.join(format!("{name}.pickle"))))
}

fn insights_of(summary: &Value) -> Value {
    let mut found = summary["insights"].clone();
    found["devices"] = summary["pytorch"]["insights"]["devices"].clone();
    found["verdict"] = summary["verdict"].clone();
    found
}

fn snapshots(profiles: &Path) -> Vec<PathBuf> {
    let directories = [profiles.to_owned(), profiles.join("splits")];
    let entries = directories.iter().flat_map(|directory| std::fs::read_dir(directory).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "pickle")).collect();
    found.sort();
    found
}

#[track_caller]
fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} in {value:#}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn advice<'a>(insights: &'a Value, id: &str) -> Option<&'a Value> {
    list(insights, "advice").iter().find(|advice| advice["id"] == id)
}

fn peak(insights: &Value) -> u64 {
    number(insights, "/devices/0/peak/bytes")
}

#[test]
fn what_is_said_of_every_real_snapshot_holds() {
    let Some(profiles) = profiles() else { return };
    let files = snapshots(&profiles);
    assert!(files.len() >= 17, "{files:?}");
    for path in files {
        let name = path.display().to_string();
        let summary = summary(&path);
        let insights = &insights_of(&summary);
        let has_failed = name.contains("train_oom") || name.contains("splits_0");
        let has_events = !name.contains("edge_state");
        let outcome = match (has_failed, has_events) {
            (true, _) => "out-of-memory",
            (false, true) => "ran",
            (false, false) => "unknown",
        };
        assert_eq!(insights["verdict"]["outcome"], outcome, "{name}");
        // What the device has is said where a text says it, and nowhere else.
        assert_eq!(insights["verdict"]["capacity_bytes"].is_u64(), has_failed, "{name}");
        let facts = list(&summary["pytorch"], "devices");
        assert_eq!(list(insights, "devices").len(), facts.len(), "{name}");
        for (device, facts) in list(insights, "devices").iter().zip(facts) {
            let peak = &device["peak"];
            assert_eq!(peak["bytes"], facts["requested_peak"]["bytes"], "{name}");
            for by in ["by_category", "by_frame", "by_function", "by_module"] {
                let sum: u64 = list(peak, by).iter().map(|row| number(row, "/bytes")).sum();
                assert_eq!(sum, number(peak, "/bytes"), "{name}, {by}");
                let blocks: u64 = list(peak, by).iter().map(|row| number(row, "/blocks")).sum();
                assert_eq!(blocks, number(facts, "/requested_peak/live_blocks"), "{name}, {by}");
            }
            let moments = list(&device["fragmentation"], "moments");
            for at in moments {
                let (reserved, active) =
                    (number(at, "/reserved_bytes"), number(at, "/active_bytes"));
                assert_eq!(number(at, "/free_bytes"), reserved - active, "{name}: {at}");
                assert!(number(at, "/largest_piece_bytes") <= number(at, "/free_bytes"));
            }
            let end =
                moments.iter().find(|at| list(at, "moments").contains(&"end".into())).unwrap();
            assert_eq!(end["free_bytes"], facts["end"]["inactive_bytes"], "{name}");
            assert_eq!(end["rounding_bytes"], facts["end"]["rounding_bytes"], "{name}");
            let largest = &facts["end"]["largest_inactive_bytes"];
            assert!(number(end, "/largest_piece_bytes") >= largest.as_u64().unwrap(), "{name}");
        }
        for advice in list(insights, "advice") {
            assert!(!list(advice, "evidence").is_empty(), "{name}: {advice}");
            let code = advice["how"][0]["code"].as_str().unwrap();
            assert!(!code.is_empty(), "{name}: {advice}");
            if let Some(saving) = advice["saving"].as_object() {
                let [most, of] =
                    ["at_most_bytes", "of_bytes"].map(|key| saving[key].as_u64().unwrap());
                assert!(most > 0 && most <= of, "{name}: {advice}");
                assert!(
                    saving["expected_bytes"].as_u64().is_none_or(|bytes| bytes <= most),
                    "{name}"
                );
            }
            let events = number(insights, "/devices/0/events").max(20);
            for one in list(advice, "evidence") {
                assert!(
                    one["place"]["step"]
                        .as_i64()
                        .is_none_or(|event| event < i64::try_from(events).unwrap()),
                    "{name}"
                );
            }
        }
        let text = insights.to_string().to_lowercase();
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        let of_others = ["tile", "tiles", "ipu", "poplar", "exchange", "vertex"];
        assert!(!words.any(|word| of_others.contains(&word)), "{name}: {text}");
    }
}

#[test]
fn small_snapshots_are_given_no_advice() {
    let Some(profiles) = profiles() else { return };
    for name in
        ["edge_state", "edge_ring", "two_devices", "edge_meta_torch2.15.0", "edge_annot_proto5"]
    {
        let found = insights(name, &profiles);
        assert_eq!(found["advice"], Value::Array(Vec::new()), "{name}");
    }
    let ring = insights("edge_ring", &profiles);
    assert_eq!(ring["devices"][0]["history_complete"], false);
    let said = ring["conclusions"].to_string();
    assert!(said.contains("of the recorded window"), "{said}");
    assert_eq!(ring["verdict"]["text"], "No request of the recorded window failed");
}

#[test]
fn a_run_out_of_memory_says_what_was_asked_what_was_free_and_why() {
    let Some(profiles) = profiles() else { return };
    let found = insights("train_oom", &profiles);
    let failure = &found["devices"][0]["out_of_memory"];
    assert_eq!(number(failure, "/event"), 1792);
    assert_eq!(number(failure, "/requested_bytes"), 32 * MIB);
    assert_eq!(number(failure, "/device_free_bytes"), 16 * MIB);
    assert_eq!(number(failure, "/short_bytes"), 16 * MIB);
    assert_eq!(failure["frame"], "/usr/torch-work/snap_train.py:19 (forward)");
    assert_eq!(failure["phase"]["name"], "forward pass");
    // The text says 773.91 MiB allocated and 34.09 MiB reserved but unallocated, of 1024 MiB.
    let hundredths = |bytes: u64| (bytes * 100 + MIB / 2) / MIB;
    assert_eq!(hundredths(number(failure, "/active_bytes")), 77_391);
    assert_eq!(hundredths(number(failure, "/free_bytes")), 3409);
    assert_eq!(failure["cause"], "no_piece_large_enough");
    assert_eq!(number(failure, "/capacity_bytes"), 1024 * MIB);
    assert_eq!(number(failure, "/other_bytes"), 200 * MIB, "1,024, less 16 free and 808 reserved");
    assert_eq!(failure["stated_by"], "train_oom.pickle.oom.txt");
    // What brings most comes first; the recorded run with expandable segments fails a little later.
    assert_eq!(found["advice"][0]["id"], "checkpoint-activations");
    assert_eq!(found["not_advised"][0]["id"], "empty-cache");
    // No backward pass followed, but one of the steps before tells what its blocks are.
    let of_peak = list(&found["devices"][0]["peak"], "by_category");
    let activations = of_peak.iter().find(|row| row["category"] == "activation").unwrap();
    let activations = number(activations, "/bytes");
    assert!((400 * MIB..600 * MIB).contains(&activations), "{activations}");
    assert!(!found["conclusions"].to_string().contains("nothing is known"));
    let found = insights("splits/splits_0", &profiles);
    let failure = &found["devices"][0]["out_of_memory"];
    assert_eq!(
        (&failure["cause"], number(failure, "/requested_bytes")),
        (&"too_little".into(), 288 * MIB)
    );
    // 600 MiB by the notes; the capacity is rounded to hundredths of a GiB.
    assert!(number(failure, "/other_bytes").abs_diff(600 * MIB) < 6 * MIB, "{failure}");
    assert_eq!(advice(&found, "expandable-segments"), None, "too little was free in pieces");
    assert_eq!(found["advice"][0]["id"], "checkpoint-activations");
}

#[test]
fn what_checkpoints_were_to_save_came_out_where_they_were_used() {
    let Some(profiles) = profiles() else { return };
    let checked = |before: &str, after: &[&str]| {
        let found = insights(before, &profiles);
        let saving = &advice(&found, "checkpoint-activations").expect("advice")["saving"];
        let best = after.iter().map(|name| peak(&insights(name, &profiles))).min().unwrap();
        // Of a run that failed the request counts too.
        let saved = number(saving, "/of_bytes") - best;
        let [expected, most] = ["/expected_bytes", "/at_most_bytes"].map(|key| number(saving, key));
        // A backward pass takes workspaces that a failed forward pass does not show, below a hundredth.
        let expected_is_kept = expected * 99 <= saved * 100;
        assert!(expected_is_kept && saved <= most, "{before}: {expected} {saved} {most}");
        // Not so little that it would be no promise.
        assert!(expected * 10 >= saved * 9, "{before}: {expected} of {saved}");
    };
    checked("train_base", &["train_ckpt"]);
    checked("splits/splits_0", &["splits/splits_2", "splits/splits_4", "splits/splits_8"]);
    // Where they are used it is said, and that the number matters.
    for name in ["train_ckpt", "splits/splits_2", "splits/splits_16"] {
        let found = insights(name, &profiles);
        assert_eq!(advice(&found, "checkpoint-activations"), None, "{name}");
        let not = list(&found, "not_advised").iter();
        assert!(not.clone().any(|one| one["id"] == "checkpoint-activations"), "{name}");
    }
}

#[test]
fn expandable_segments_save_no_more_than_was_said() {
    let Some(profiles) = profiles() else { return };
    let [plain, expandable] =
        ["train_base", "train_expandable"].map(|name| insights(name, &profiles));
    let reserved = |found: &Value| number(found, "/devices/0/reserved_peak/bytes");
    let saved = reserved(&plain) - reserved(&expandable);
    let most = number(&plain, "/devices/0/fragmentation/most_saved_bytes");
    assert!(saved > 0 && saved <= most, "{saved} of {most}");
    let is_on = |found: &Value| found["devices"][0]["fragmentation"]["expandable_segments"].clone();
    assert_eq!([is_on(&plain), is_on(&expandable)], [Value::from(false), Value::from(true)]);
    assert_eq!(advice(&expandable, "expandable-segments"), None, "they are on");
    assert!(advice(&insights("train_ckpt", &profiles), "expandable-segments").is_some());
}

#[test]
fn every_technique_has_its_section_and_its_way_to_write_it() {
    use tilescope::systems::pytorch::allocator::insights::advice::SnapshotTechnique;
    use tilescope::systems::pytorch::allocator::insights::advice::how::how;
    use tilescope::systems::tenstorrent::insights::advice::CoreTechnique;
    use tilescope::systems::xla::buffer_assignment::insights::advice::ModuleTechnique;
    let text = std::fs::read_to_string(in_package("docs/user/advice.md")).unwrap();
    let anchors: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|title| {
            let kept = title.to_lowercase();
            let kept =
                kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect();
    for technique in SnapshotTechnique::ALL {
        let key = technique.key();
        assert!(anchors.iter().any(|anchor| anchor == key), "{key} has a section");
        for records_graph in [true, false] {
            let is_empty = how(technique, records_graph).is_empty();
            assert_eq!(is_empty, technique == SnapshotTechnique::EmptyCache, "{key}");
        }
    }
    for key in CoreTechnique::ALL.map(CoreTechnique::key) {
        assert!(anchors.iter().any(|anchor| anchor == key), "{key} has a section");
    }
    for key in ModuleTechnique::ALL.map(ModuleTechnique::key) {
        assert!(anchors.iter().any(|anchor| anchor == key), "{key} has a section");
    }
}
