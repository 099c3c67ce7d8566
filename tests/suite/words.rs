//! Answers about snapshots, modules and unknown files say nothing of IPUs, whatever is asked.
//!
//! The same is asserted of all recorded answers and of all recorded scenes of the window.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::words::line_about_ipus;
use crate::common::{in_package, tilescope};

/// What is asked about a run; many of these are mistakes.
const ASKED: [&str; 36] = [
    "summary RUN",
    "summary RUN --json",
    "summary RUN --module absent",
    "summary RUN --log OTHER",
    "liveness RUN --step peak --by category",
    "liveness RUN --step peak --by line --json",
    "liveness RUN --step peak --by variable",
    "liveness RUN --step 99999999",
    "liveness RUN --device 99",
    "liveness RUN --arena 99999999",
    "liveness RUN --filter absent",
    "map RUN --arena 0 --json",
    "map RUN --arena 99999999",
    "map RUN --arena 0 --step 99999999",
    "ops RUN",
    "trace RUN",
    "check RUN --must-fit",
    "check RUN --must-fit --device 99",
    "check RUN --max-peak-bytes 1K --max-total-bytes 1K",
    "check RUN --baseline RUN --max-growth 1 --json",
    "compare RUN RUN",
    "compare RUN RUN --json",
    "compare RUN RUN --by fullest",
    "compare RUN OTHER",
    "sweep RUN",
    "sweep RUN --json",
    "sweep RUN --by absent",
    "sweep RUN --reference absent",
    "export RUN --parquet OUT/lake",
    "export RUN --chrome-trace OUT/trace.json",
    "index RUN",
    "diagnose RUN",
    "render RUN --page memory -o OUT/memory.png",
    "render RUN --page trace -o OUT/trace.png",
    "render RUN --page compare -o OUT/compare.png",
    "render RUN --page operations -o OUT/operations.png",
];

/// Asserts that an answer is about no IPU; `own` are the user's own words.
#[track_caller]
fn assert_not_about_ipus(output: &Output, own: &[&str], has_tiles: bool, what: &str) {
    let both = [&output.stdout[..], &output.stderr].concat();
    let mut said = String::from_utf8_lossy(&both).into_owned();
    for own in own {
        said = said.replace(own, "RUN");
    }
    let line = line_about_ipus(&said, has_tiles);
    assert!(line.is_none(), "{what}: {}", line.unwrap_or_default());
    assert!(!said.contains("panicked"), "{what}: {said}");
}

#[test]
fn answers_about_snapshots_and_modules_say_nothing_of_ipus() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().display().to_string();
    let timeline = directory.path().join("timeline.json");
    std::fs::write(&timeline, "[[1, 2], [[0, 1048576, 0], [0, 1048576, 2097152]]]").unwrap();
    let weights = directory.path().join("model.safetensors");
    std::fs::write(&weights, b"\x02\0\0\0\0\0\0\0{}").unwrap();
    let weights = weights.display().to_string();
    let snapshot = in_package("sample_profiles/training/segments-0/snapshot.pickle");
    let module = in_package("sample_profiles/xla/keep");
    for (run, has_tiles) in [(&snapshot, false), (&timeline, false), (&module, true)] {
        let run = run.display().to_string();
        for asked in ASKED {
            let words = asked.split(' ').map(|word| match word {
                "RUN" => run.clone(),
                "OTHER" => weights.clone(),
                word => word.replace("OUT", &out),
            });
            let words: Vec<String> = words.collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = tilescope(&words);
            assert_not_about_ipus(&output, &[&run, &weights, &out], has_tiles, asked);
        }
    }
}

/// Real files of the kind "wrong input", where they are at hand.
#[test]
fn answers_about_real_unknown_files_say_nothing_of_ipus() {
    let cases = in_package("../shared/cases");
    let Ok(entries) = std::fs::read_dir(&cases) else {
        return eprintln!("skipped: ../shared/cases is absent");
    };
    let is_wrong_input = |path: &Path| {
        let expected = std::fs::read(path).ok();
        let expected: Option<Value> = expected.and_then(|text| serde_json::from_slice(&text).ok());
        expected.is_some_and(|expected| expected["group"] == "wrong input")
    };
    let mut looked_at = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let path = path.display().to_string();
        let Some(file) = path.strip_suffix(".expected.json") else { continue };
        if !is_wrong_input(Path::new(&path)) {
            continue;
        }
        for words in [&["summary", file][..], &["summary", file, "--json"], &["sweep", file]] {
            assert_not_about_ipus(&tilescope(words), &[file], true, &format!("{words:?}"));
        }
        looked_at += 1;
    }
    assert!(looked_at > 10, "{looked_at} cases");
}
