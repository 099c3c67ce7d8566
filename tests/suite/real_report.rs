//! The real report: every figure that Poplar stored comes out, to the byte.

use std::collections::BTreeMap;

use crate::common::{liveness, map, real_report, summary, tiles, warning_codes};
use serde_json::{Value, json};
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::analysis::program::control_code::own_control_code;
use tilescope::cli::tiles::TileBreakdown;
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;

#[test]
fn summary_of_the_interrupted_report() {
    let Some(path) = real_report("poplar-3.3-interrupted") else { return };
    let answer = summary(&path).unwrap();
    let poplar = &answer["poplar"];
    assert_eq!(answer["schema"], "tilescope.summary/2");
    assert_eq!(answer["source"]["captured_at"], "2024-04-09 08:23:39");
    assert_eq!(answer["source"]["producer"], "Poplar 3.3.0 (de1f8de2a7)");
    assert_eq!(answer["source"]["format"], "profile.pop 3.8.0");
    let expected = json!({ "kind": "ipu", "architecture": "ipu2", "ipus": 1, "replicas": 1,
        "tiles": 1472, "tiles_per_ipu": 1472, "bytes_per_tile": 638_976,
        "clock_hz": 1_850_000_000 });
    assert_eq!(poplar["target"], expected);
    let expected =
        json!({ "compute_sets": 27, "edges": 6033, "variables": 51880, "vertices": 2990 });
    assert_eq!(poplar["graph"], expected);
    let memory = &poplar["memory"];
    assert_eq!(memory["total_bytes"], 3_465_355);
    assert_eq!(memory["including_gaps_bytes"], 25_621_116);
    assert_eq!(memory["gap_bytes"], 22_155_761);
    assert_eq!(memory["always_live_bytes"], 2_705_487);
    let expected = json!({ "non_interleaved": 3_465_355, "interleaved": 0, "overflowed": 0 });
    assert_eq!(memory["by_region"], expected);
    let category = |name: &str| {
        let parts = &memory["by_category"][name];
        (parts["not_overlapped"].as_u64(), parts["overlapped"].as_u64())
    };
    assert_eq!(category("vertexCode"), (Some(979_192), Some(0)));
    assert_eq!(category("controlCode"), (Some(772_760), Some(0)));
    assert_eq!(category("variable"), (Some(753_228), Some(6_788)));
    let expected = json!({ "tile": 0, "bytes": 8281, "including_gaps_bytes": 32_804 });
    assert_eq!(memory["fullest_tile"], expected);
    assert_eq!((&memory["tiles_over_limit"], &memory["fits"]), (&json!(0), &json!(true)));
    let peak = &poplar["liveness"]["peak"];
    assert_eq!(answer["liveness"]["steps"], 111);
    assert_eq!((&peak["step"], &peak["kind"]), (&json!(107), &json!("StreamCopyMid")));
    assert_eq!((&peak["name"], &peak["operation"]), (&Value::Null, &Value::Null));
    assert_eq!(peak["not_always_live_bytes"], 759_828);
    assert_eq!(peak["always_live_bytes"], 2_705_487);
    assert_eq!(peak["variables"][0], json!({ "name": "<anon>", "bytes": 759_556 }));
    assert_eq!(poplar["execution"], Value::Null);
    assert_eq!(poplar["available_memory_proportion"], json!([]));
    let codes = warning_codes(&answer);
    assert!(codes.contains(&"no-execution") && codes.contains(&"truncated"), "{codes:?}");
    let messages = answer["warnings"].to_string();
    assert!(messages.contains("68 contexts") && messages.contains("48 programs"), "{messages}");
    let debug = &answer["source"]["files"][1];
    assert_eq!(*debug, json!({ "name": "debug.cbor", "bytes": 8193, "status": "truncated" }));
}

#[test]
fn the_complete_debug_information_names_the_operations() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let answer = liveness(&path, None).unwrap();
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 111);
    let mut details: BTreeMap<&str, u32> = BTreeMap::new();
    for operation in
        steps.iter().map(|step| &step["operation_facts"]).filter(|found| !found.is_null())
    {
        assert_eq!(operation["layer"], "poplibs");
        *details.entry(operation["detail"].as_str().unwrap()).or_default() += 1;
    }
    let expected = BTreeMap::from([("countedLoop", 2), ("mapInPlace", 2), ("reduceWithOutput", 2)]);
    assert_eq!(details, expected);
    // The call that the user's layer made names the operation: addInPlace calls mapInPlace.
    assert_eq!(steps[50]["operation_facts"]["kind"], "addInPlace");
    assert_eq!(warning_codes(&answer), ["no-execution"]);
}

#[test]
fn tile_0_and_the_peak_of_a_tile() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let answer = tiles(&path, TileBreakdown::Liveness).unwrap();
    let tile = &answer["tiles"][0];
    assert_eq!((&tile["bytes"], &tile["including_gaps_bytes"]), (&json!(8281), &json!(32_804)));
    let expected = json!({ "always_live": 7577, "not_always_live_max": 668, "not_explained": 36 });
    assert_eq!(tile["by"], expected);
    let answer = liveness(&path, Some(0)).unwrap();
    assert_eq!(answer["always_live_bytes"], 7577);
    assert_eq!(answer["step"]["not_always_live_bytes"], 668);
    let sum = |list: &Value| -> u64 {
        list.as_array().unwrap().iter().filter_map(|variable| variable["bytes"].as_u64()).sum()
    };
    assert_eq!(sum(&answer["variables"]), 668);
    assert_eq!(sum(&answer["always_live_variables"]), 7577);
}

#[test]
fn gaps_and_their_reasons() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let answer = tiles(&path, TileBreakdown::Gaps).unwrap();
    let mut by_reason: BTreeMap<String, u64> = BTreeMap::new();
    for tile in answer["tiles"].as_array().unwrap() {
        let gaps = tile["by"].as_object().unwrap();
        assert_eq!(gaps.values().filter_map(Value::as_u64).sum::<u64>(), tile["gap_bytes"]);
        for (reason, bytes) in gaps {
            *by_reason.entry(reason.clone()).or_default() += bytes.as_u64().unwrap();
        }
    }
    let expected = [("alignment", 3_009), ("element-constraint", 22_129_200), ("start", 23_552)];
    assert_eq!(by_reason, expected.map(|(reason, bytes)| (reason.to_owned(), bytes)).into());
    assert_eq!(answer["statistics"]["max"], 32_804);
}

#[test]
fn the_map_of_a_tile_adds_up() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let answer = map(&path, 0, Some(107)).unwrap();
    assert_eq!(answer["end"], 32_804);
    assert_eq!(answer["elements"].as_array().unwrap().len(), 26);
    assert_eq!(answer["regions"], json!([0, 212_992]));
    let variables = answer["variables"].as_array().unwrap();
    assert!(variables.is_sorted_by_key(|variable| variable["offset"].as_u64()));
    let live: u64 = variables
        .iter()
        .filter(|variable| variable["live"] == true && variable["always_live"] == false)
        .filter_map(|variable| variable["bytes"].as_u64())
        .sum();
    let at_step = liveness(&path, Some(0)).unwrap();
    assert_eq!(live, at_step["steps"][107]["not_always_live_bytes"]);
}

#[test]
fn the_control_code_of_programs_adds_up_to_that_of_the_root() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let open = OpenReport::open(&path, &Progress::default()).unwrap();
    open.read_compute(&Progress::default());
    let own = |tiles| own_control_code(&open.report, &tiles).unwrap();
    let all = own(TileSelection::default());
    assert_eq!((all.len(), all.iter().sum::<u64>()), (111, 331_096));
    // The root has none of its own; its last child, the program of the user, has.
    assert_eq!((all[0], all[1], all[10]), (0, 5_884, 94_208));
    let parts = ["0-735", "736-1471"].map(|tiles| own(tiles.parse().unwrap()).iter().sum::<u64>());
    assert_eq!(parts.iter().sum::<u64>(), 331_096);
}
