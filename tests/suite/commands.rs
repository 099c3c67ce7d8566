//! The commands as a user runs them: exit statuses, what goes to which stream, the keys of JSON.

use std::process::{Command, Stdio};

use crate::common::{json, sample, tilescope};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has_keys(value: &Value, expected: &[&str]) {
    let found = keys(value);
    for key in expected {
        assert!(found.contains(key), "{key} in {found:?}");
    }
}

#[test]
fn summary_has_the_fixed_keys() {
    let path = sample();
    let output = tilescope(&["summary", path.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let answer = json(&output);
    let expected = [
        "schema", "source", "verdict", "memory", "liveness", "insights", "claims", "poplar",
        "warnings",
    ];
    assert_eq!(keys(&answer), expected);
    assert_eq!(
        keys(&answer["poplar"]),
        [
            "target",
            "graph",
            "memory",
            "liveness",
            "execution",
            "available_memory_proportion",
            "verdict",
            "ipus",
            "fullest_tiles",
            "histogram",
            "largest",
            "must_go",
        ]
    );
    assert_eq!(keys(&answer["insights"]), ["conclusions", "advice", "not_advised"]);
    has_keys(
        &answer["poplar"]["ipus"][0],
        &[
            "ipu",
            "tiles_over",
            "fits",
            "cause",
            "peak_bytes",
            "limit_bytes",
            "always_live_bytes",
            "gap_bytes",
            "fullest_tile",
        ],
    );
    has_keys(
        &answer["poplar"]["liveness"]["peak"]["operation"],
        &["kind", "layer", "name", "detail", "available_memory_proportion", "location"],
    );
    assert_eq!(answer["poplar"]["target"]["kind"], "ipu-model");
    let proportion = &answer["poplar"]["available_memory_proportion"][0];
    assert_eq!(
        *proportion,
        serde_json::json!({"operation": "convolution", "value": 0.6, "count": 4})
    );
}

#[test]
fn tiles_liveness_and_map_have_the_fixed_keys() {
    let path = sample();
    let path = path.to_str().unwrap();
    let tiles = json(&tilescope(&["tiles", path, "--tile", "1-3,7", "--by", "category", "--json"]));
    assert_eq!(tiles["schema"], "tilescope.tiles/2");
    assert_eq!(tiles["tiles"].as_array().unwrap().len(), 4);
    has_keys(
        &tiles["tiles"][0],
        &[
            "tile",
            "ipu",
            "bytes",
            "including_gaps_bytes",
            "gap_bytes",
            "always_live_bytes",
            "not_always_live_max_bytes",
            "over_limit_bytes",
            "by",
        ],
    );
    has_keys(&tiles["tiles"][0]["by"]["stack"], &["not_overlapped", "overlapped"]);
    assert_eq!(keys(&tiles["statistics"]), ["min", "median", "p99", "max", "mean"]);

    let liveness =
        json(&tilescope(&["liveness", path, "--step", "peak", "--peaks", "2", "--json"]));
    assert_eq!(liveness["schema"], "tilescope.liveness/2");
    has_keys(&liveness, &["always_live_bytes", "steps", "variables", "always_live_variables"]);
    assert_eq!(liveness["peaks"].as_array().unwrap().len(), 2);
    assert_eq!(liveness["peaks"][0]["step"], liveness["step"]["step"]);
    has_keys(
        &liveness["steps"][0],
        &["step", "program", "kind", "name", "operation", "bytes", "not_always_live_bytes"],
    );
    let variable = ["name", "bytes", "category", "operation", "shape", "shared_bytes"];
    assert_eq!(keys(&liveness["variables"][0]), variable);

    let map = json(&tilescope(&["map", path, "--tile", "3", "--json"]));
    assert_eq!(map["schema"], "tilescope.map/2");
    has_keys(&map, &["elements", "regions", "variables", "gaps", "gaps_by_reason", "end"]);
    let variable = ["offset", "bytes", "name", "category", "always_live", "live"];
    assert_eq!(keys(&map["variables"][0]), variable);
    assert_eq!(keys(&map["gaps"][0]), ["offset", "bytes", "reason"]);
    assert_eq!(map["gaps_by_reason"]["start"], 16);
}

/// The cells of lines without quotes.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn tiles_as_comma_separated_values_have_the_figures_of_the_json() {
    let path = sample();
    let path = path.to_str().unwrap();
    for by in [&[][..], &["--by", "category"], &["--by", "liveness"], &["--by", "gaps"]] {
        let arguments = [&["tiles", path, "--tile", "1-3,7"], by].concat();
        let output = tilescope(&[&arguments[..], &["--csv"]].concat());
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        let rows = cells(&text);
        let header = &rows[0];
        let fixed = ["tile", "ipu", "bytes", "including_gaps_bytes", "gap_bytes"];
        assert!(header.starts_with(&fixed), "{header:?}");
        let answer = json(&tilescope(&[&arguments[..], &["--json"]].concat()));
        assert_eq!(rows.len(), 1 + answer["tiles"].as_array().unwrap().len());
        for (row, tile) in rows[1..].iter().zip(answer["tiles"].as_array().unwrap()) {
            assert_eq!(row.len(), header.len());
            for (title, cell) in header.iter().zip(row) {
                if !title.starts_with("by_") {
                    assert_eq!(cell.parse().ok(), tile[title].as_u64(), "{title}");
                    continue;
                }
                let part = title.trim_start_matches("by_").trim_end_matches("_bytes");
                let (category, suffix) = match part.strip_suffix("_not_overlapped") {
                    Some(category) => (category, "not_overlapped"),
                    None => (part.trim_end_matches("_overlapped"), "overlapped"),
                };
                let by = &tile["by"];
                let value = by[part].as_u64().or(by[category][suffix].as_u64());
                assert_eq!(cell.parse().ok(), value.or(Some(0)), "{title}");
            }
        }
    }
}

#[test]
fn tiles_by_region_have_the_gaps_of_each_region() {
    let path = sample();
    let path = path.to_str().unwrap();
    let answer = json(&tilescope(&["tiles", path, "--by", "region", "--json"]));
    let regions = ["non_interleaved", "interleaved", "overflowed"];
    for tile in answer["tiles"].as_array().unwrap() {
        assert_eq!(keys(&tile["by"]), regions, "what was there stays as it is");
        assert_eq!(keys(&tile["gaps_by_region"]), regions);
        // Of a synthetic report regions add up to the gaps of the tile.
        let gaps: u64 =
            regions.iter().map(|key| tile["gaps_by_region"][key].as_u64().unwrap()).sum();
        assert_eq!(tile["gap_bytes"], gaps);
    }
    let gaps = |tile: &serde_json::Value| tile["gap_bytes"].as_u64().unwrap();
    assert!(answer["tiles"].as_array().unwrap().iter().any(|tile| gaps(tile) > 0));
    let output = tilescope(&["tiles", path, "--tile", "3", "--by", "region", "--csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = cells(&text);
    let place = rows[0].iter().position(|title| *title == "gaps_by_non_interleaved_bytes");
    let gaps = &answer["tiles"][3]["gaps_by_region"]["non_interleaved"];
    assert_eq!(rows[1][place.expect("a column")].parse().ok(), gaps.as_u64());
    // Without the breakdown nothing is said of regions.
    let answer = json(&tilescope(&["tiles", path, "--tile", "3", "--json"]));
    assert!(answer["tiles"][0].get("gaps_by_region").is_none());
}

#[test]
fn a_map_as_comma_separated_values_has_variables_and_gaps_by_address() {
    let directory = crate::common::damaged_sample(|directory| {
        let sql = "UPDATE vars_string_table SET string = 'a, \"b\"' || char(27) WHERE id = (
            SELECT name_base_id FROM vars_info WHERE tile = 3 AND size_bytes > 0 LIMIT 1)";
        let db = rusqlite::Connection::open(directory.join("profile.pop")).unwrap();
        db.execute_batch(sql).unwrap();
    });
    let path = directory.path().to_str().unwrap();
    let arguments = ["map", path, "--tile", "3", "--step", "12"];
    let text = String::from_utf8(tilescope(&[&arguments[..], &["--csv"]].concat()).stdout).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    assert_eq!(header, "offset_bytes,bytes,kind,name,category,always_live,live,gap_reason");
    assert!(text.contains("\"a, \"\"b\"\"\\u{1b}3\""), "{text}");
    let answer = json(&tilescope(&[&arguments[..], &["--json"]].concat()));
    let count = |kind: &str| rows.lines().filter(|line| line.contains(kind)).count();
    assert_eq!(count(",variable,"), answer["variables"].as_array().unwrap().len());
    assert_eq!(count(",gap,"), answer["gaps"].as_array().unwrap().len());
    let rows = cells(rows);
    assert!(rows.is_sorted_by_key(|row| row[0].parse::<u64>().unwrap()));
    let gaps = rows.iter().filter(|row| row[2] == "gap");
    let gaps: Vec<_> = gaps.map(|row| (row[0], row[1], row[7])).collect();
    let gap = &answer["gaps"][0];
    let first = (&*gap["offset"].to_string(), &*gap["bytes"].to_string(), gap["reason"].as_str());
    assert_eq!(gaps.first().map(|gap| (gap.0, gap.1, Some(gap.2))), Some(first));
}

#[test]
fn a_filter_says_what_matched() {
    let path = sample();
    let path = path.to_str().unwrap();
    let all = json(&tilescope(&["liveness", path, "--json"]));
    let matched = |text: &str| {
        let answer = json(&tilescope(&["liveness", path, "--filter", text, "--json"]));
        answer["steps"].as_array().unwrap().clone()
    };
    let found = matched("CONVOLVE");
    assert!(found.len() >= 4 && found.len() < all["steps"].as_array().unwrap().len());
    let fields: Vec<_> = found.iter().map(|step| step["matched"].as_str().unwrap()).collect();
    assert!(fields.contains(&"compute_set") && fields.contains(&"name"), "{fields:?}");
    assert!(matched("convolution").iter().all(|step| step["matched"] == "operation_kind"));
    assert!(matched("no such thing").is_empty());
}

#[test]
fn wrong_arguments_end_with_2() {
    let path = sample();
    let path = path.to_str().unwrap();
    for arguments in [
        &["summary"][..],
        &["summary", path, "--nonsense"],
        &["map", path],
        &["tiles", path, "--tile", "9-3"],
        &["tiles", path, "--by", "colour"],
        &["liveness", path, "--step", "soon"],
        &["liveness", path, "--ipu", "0", "--tile", "1"],
        &["tiles", path, "--csv", "--json"],
        &["map", path, "--tile", "1", "--csv", "--json"],
        &["summary", path, "--csv", "--json"],
        &["check", path, "--csv"],
    ] {
        for json in [&[][..], &["--json"]] {
            let output = tilescope(&[arguments, json].concat());
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("Usage"), "{arguments:?}");
        }
    }
    // What only the report can tell is an error of kind `usage`.
    for arguments in [
        &["map", path, "--tile", "99"][..],
        &["map", path, "--tile", "1", "--step", "999"],
        &["tiles", path, "--tile", "3-99"],
        &["tiles", path, "--ipu", "1"],
        &["liveness", path, "--step", "999"],
        &["liveness", path, "--tile", "99"],
    ] {
        let output = tilescope(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(json(&output)["error"]["kind"], "usage", "{arguments:?}");
    }
}

#[test]
fn a_ninth_run_is_a_wrong_argument() {
    let output = tilescope(&["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    for expected in ["9 runs are named", "at most 8", "leave out 'i'", "Usage"] {
        assert!(message.contains(expected), "{expected:?} in {message}");
    }
}

#[test]
fn a_word_that_is_neither_command_nor_path_is_a_wrong_argument() {
    let path = sample();
    let path = path.to_str().unwrap();
    for (arguments, expected) in [
        (&["summry", path][..], "did you mean 'summary'?"),
        (&["summry", "x", "--json"], "did you mean 'summary'?"),
        (&["view", path], "this version does not have the command 'view' yet"),
        (&["xyzzy"], "neither a command nor an existing path"),
        (&[path, "absent"], "there is no 'absent'"),
    ] {
        let output = tilescope(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected) && message.contains("Usage:"), "{message}");
        assert!(output.stdout.is_empty());
    }
}

#[cfg(feature = "window")]
#[test]
fn a_path_that_does_not_exist_opens_no_window() {
    for arguments in
        [&["./absent"][..], &["/no/such/path"], &[sample().to_str().unwrap(), "no/such"]]
    {
        let output = tilescope(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {message}");
        assert!(message.starts_with("error: ") && !message.contains("display"), "{message}");
    }
}

#[test]
fn errors_have_a_document_and_a_status() {
    let output = tilescope(&["summary", "/no/such/path", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let answer = json(&output);
    assert_eq!(answer["schema"], "tilescope.error/2");
    assert_eq!(keys(&answer["error"]), ["kind", "file", "at", "message", "hint"]);
    assert_eq!(answer["error"]["kind"], "not-found");
    let output = tilescope(&["summary", "/no/such/path"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));

    let directory = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
        std::fs::copy(
            sample().join("profile.pop"),
            directory.path().join(name).join("profile.pop"),
        )
        .unwrap();
    }
    let output = tilescope(&["summary", directory.path().to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json(&output)["error"]["kind"], "several-reports");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_ends_with_4() {
    let path = sample();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .env("XDG_CACHE_HOME", crate::common::no_cache())
        .args(["summary", path.to_str().unwrap()])
        .stdout(Stdio::from(full))
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
}

#[test]
fn warnings_go_to_standard_error() {
    let path = sample();
    let output = tilescope(&["summary", path.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: no-execution: profile.pop"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Verdict         Fits") && text.contains("convolution"), "{text}");
}

#[test]
fn synth_overwrites_nothing() {
    let path = sample();
    let output = tilescope(&["synth", "-o", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is there already"));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_display_the_window_says_what_to_do() {
    let path = sample();
    let output = tilescope(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(4));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("tilescope summary"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_is_written_once() {
    let cache = tempfile::tempdir().unwrap();
    let demo = cache.path().join("tilescope/demo-2");
    // What is there is not written again: the story itself is tested elsewhere.
    for proportion in tilescope::systems::poplar::synth::story::PROPORTIONS {
        let run = demo.join(tilescope::systems::poplar::synth::story::directory_name(proportion));
        std::fs::create_dir_all(&run).unwrap();
        std::fs::copy(sample().join("profile.pop"), run.join("profile.pop")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["demo", "--system", "poplar"])
        .env("XDG_CACHE_HOME", cache.path())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), demo.to_str().unwrap());
    assert_eq!(output.status.code(), Some(4), "there is no display for the window");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.lines().any(|line| line.trim_start().starts_with("hint: `tilescope ")), "{said}");
    assert_eq!(std::fs::read_dir(&demo).unwrap().count(), 6);
}

#[test]
fn figures_of_several_replicas_say_so() {
    let directory = crate::common::damaged_sample(|directory| {
        rusqlite::Connection::open(directory.join("profile.pop"))
            .and_then(|db| db.execute_batch("UPDATE target_info SET num_replicas = 2"))
            .unwrap();
    });
    let path = directory.path().to_str().unwrap();
    for command in ["summary", "liveness"] {
        let text =
            |path: &str| String::from_utf8_lossy(&tilescope(&[command, path]).stdout).into_owned();
        assert!(text(path).contains("Per replica"), "{command}");
        assert!(!text(sample().to_str().unwrap()).contains("Per replica"), "{command}");
    }
}

#[test]
fn summary_and_liveness_are_tables_for_programs_too() {
    let path = sample();
    let path = path.to_str().unwrap();
    let csv = |arguments: &[&str]| {
        let output = tilescope(&[arguments, &[path, "--csv"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let document = json(&tilescope(&["summary", path, "--json"]));
    let summary = csv(&["summary"]);
    for figure in ["total_bytes", "gap_bytes"] {
        let line = format!("memory.{figure},{}\n", document["memory"][figure]);
        assert!(summary.starts_with("figure,value\n") && summary.contains(&line), "{summary}");
    }
    let liveness = json(&tilescope(&["liveness", path, "--json", "--step", "peak"]));
    let steps = csv(&["liveness"]);
    assert_eq!(steps.lines().count(), liveness["steps"].as_array().unwrap().len() + 1);
    let variables = csv(&["liveness", "--step", "peak"]);
    let first = &liveness["variables"][0];
    let line = format!("{},{},no,", first["name"].as_str().unwrap(), first["bytes"]);
    assert!(variables.lines().nth(1).unwrap().starts_with(&line), "{variables}");
    let parts = csv(&["liveness", "--step", "peak", "--by", "category"]);
    assert!(
        parts.starts_with("name,bytes,count,percent\n") && parts.lines().count() > 2,
        "{parts}"
    );
}

/// What cannot be written is no reason to panic: help, an answer, an error and a warning.
#[cfg(target_os = "linux")]
#[test]
fn a_full_output_ends_with_its_exit_status() {
    let ends = |arguments: &[&str], is_answer: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
        let full = Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
        if is_answer {
            command.stdout(full).stderr(Stdio::null());
        } else {
            command.stdout(Stdio::null()).stderr(full);
        }
        command.args(arguments).stdin(Stdio::null()).status().unwrap().code()
    };
    let sample = sample().display().to_string();
    let answers = [&["--help"][..], &["summary", "--help"], &["--version"], &["summary", &sample]];
    for arguments in answers {
        assert_eq!(ends(arguments, true), Some(4), "{arguments:?}");
    }
    assert_eq!(ends(&["--help"], false), Some(0), "it says nothing else");
    // The sample has warnings.
    let says = [&["summary", "/absent"][..], &["--absent"], &["summary", &sample]];
    for arguments in says {
        assert_eq!(ends(arguments, false), Some(4), "{arguments:?}");
    }
}
