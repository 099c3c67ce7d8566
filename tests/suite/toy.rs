//! The commands with a system that only the tests have: adding one is a folder and an entry in the list.

use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use clap::Parser as _;
use serde_json::Value;
use tilescope::cli;
use tilescope::systems::{SYSTEMS, use_for_process};

use crate::common::lake;
use crate::common::recording::{MIB, Recording, stack};
use crate::common::toy::{self, Toy};
use crate::common::{in_package, json, no_cache};

/// What the program is given, a line each, where this process is the program.
const ARGUMENTS: &str = "TILESCOPE_TOY_ARGUMENTS";
/// What the output of the program begins behind.
const BEGIN: &str = "--- the program ---\n";

/// The program with the toy among its systems, where a test has started this process as one; else nothing.
#[test]
fn the_program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    use_for_process(SYSTEMS.iter().copied().chain([&Toy as _]).collect());
    print!("\n{BEGIN}");
    let words = ["tilescope"].into_iter().chain(arguments.lines());
    let arguments = cli::Arguments::parse_from(words);
    let command = arguments.command.expect("a command");
    let status = cli::run(&command, Instant::now());
    std::process::exit(i32::from(status != ExitCode::SUCCESS));
}

/// Runs a command in a process of its own, in a directory.
fn tilescope(directory: &Path, arguments: &[&str]) -> Output {
    let mut output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "toy::the_program", "--nocapture", "--test-threads=1"])
        .env(ARGUMENTS, arguments.join("\n"))
        .env("XDG_CACHE_HOME", no_cache())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .current_dir(directory)
        .output()
        .expect("the program");
    let text = String::from_utf8(output.stdout).expect("text");
    let (_, said) = text.split_once(BEGIN).unwrap_or_else(|| panic!("it did not begin: {text}"));
    output.stdout = said.as_bytes().to_vec();
    output
}

/// The text that a command prints.
#[track_caller]
fn said(directory: &Path, arguments: &[&str]) -> String {
    let output = tilescope(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn document(directory: &Path, arguments: &[&str]) -> Value {
    json(&tilescope(directory, &[arguments, &["--json"]].concat()))
}

#[track_caller]
fn assert_has(text: &str, expected: &[&str]) {
    for expected in expected {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
}

/// Two runs: one that fits, and one that does not.
fn runs() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, batch, hidden) in [("small.toy", 8, 2000), ("large.toy", 16, 4000)] {
        std::fs::write(directory.path().join(name), toy::file(batch, hidden)).expect("a file");
    }
    directory
}

#[test]
fn a_whole_system_has_fewer_than_300_lines() {
    let text = std::fs::read_to_string(in_package("tests/common/toy.rs")).expect("the toy");
    assert!(text.lines().count() < 300, "{} lines", text.lines().count());
}

#[test]
fn summary_says_its_figures_in_its_words() {
    let directory = runs();
    let found = document(directory.path(), &["summary", "small.toy"]);
    assert_eq!(found["source"]["system"], "toy");
    assert_eq!(found["verdict"]["outcome"], "fits");
    assert_eq!(found["verdict"]["devices"][0]["name"], "Chip 0");
    assert_eq!(found["memory"]["total_bytes"], 3800);
    let peak = &found["liveness"]["peak"];
    assert_eq!((&peak["bytes"], &peak["step"]), (&3500.into(), &1.into()));
    assert_eq!(peak["largest"][0]["name"], "hidden", "{peak}");
    let text = said(directory.path(), &["summary", "large.toy"]);
    assert_has(&text, &["Does not fit", "The peak is 5500 B, and the chip has 4096 B", "hidden"]);
    let csv = said(directory.path(), &["summary", "small.toy", "--csv"]);
    assert_has(&csv, &["memory.total_bytes,3800\n"]);
}

#[test]
fn liveness_and_map_say_what_is_alive_and_where_it_lies() {
    let directory = runs();
    let of_peak = ["liveness", "small.toy", "--step", "peak", "--by", "category"];
    let found = document(directory.path(), &of_peak);
    let names = |list: &Value, key: &str| -> Vec<(String, i64)> {
        let rows = list.as_array().unwrap_or_else(|| panic!("rows: {found}")).iter();
        rows.map(|row| {
            (row["name"].as_str().expect("a name").to_owned(), row[key].as_i64().expect("bytes"))
        })
        .collect()
    };
    let rows = names(&found["by"]["rows"], "bytes");
    assert_eq!(
        rows,
        [("activation".into(), 2500), ("parameter".into(), 1000), ("result".into(), 0)]
    );
    let variables = names(&found["variables"], "bytes");
    assert_eq!(
        variables,
        [("hidden".into(), 2000), ("weights".into(), 1000), ("input".into(), 500)]
    );
    let text = said(directory.path(), &["liveness", "small.toy"]);
    assert_has(&text, &["Limit           4.00 KiB", "3.42 KiB"]);
    let csv = said(directory.path(), &["liveness", "small.toy", "--csv"]);
    assert_eq!(csv.lines().count(), 1 + 4, "{csv}");
    let found = document(directory.path(), &["map", "small.toy", "--arena", "0"]);
    assert_has(&found.to_string(), &["\"hidden\"", "\"activation\""]);
    assert_has(
        &said(directory.path(), &["map", "small.toy", "--arena", "0"]),
        &["bank", "weights"],
    );
}

#[test]
fn check_holds_it_against_budgets() {
    let directory = runs();
    let check = |run: &str, budgets: &[&str]| {
        let output = tilescope(directory.path(), &[&["check", run], budgets].concat());
        (output.status.success(), String::from_utf8(output.stdout).expect("text"))
    };
    let (passed, text) = check("small.toy", &["--must-fit", "--max-peak-bytes", "3500"]);
    assert!(passed, "{text}");
    let (passed, text) = check("large.toy", &["--must-fit"]);
    assert!(!passed);
    assert_has(&text, &["it needs 5.37 KiB of the 4.00 KiB, 1.37 KiB (1,404 B) too much"]);
    let growth = ["--baseline", "small.toy", "--max-growth", "10%"];
    let (passed, text) = check("large.toy", &growth);
    assert!(!passed);
    assert_has(&text, &["the peak has", "+57.14 %"]);
}

#[test]
fn two_runs_are_compared_by_their_peaks() {
    let directory = runs();
    let found = document(directory.path(), &["compare", "small.toy", "large.toy"]);
    let figures = found["figures"].as_array().expect("figures");
    let peak = figures.iter().find(|figure| figure["key"] == "peak_bytes").expect("the peak");
    assert_eq!((&peak["source"], &peak["target"]), (&3500.into(), &5500.into()), "{peak}");
    assert_has(&found["settings"].to_string(), &["batch"]);
    let text = said(directory.path(), &["compare", "small.toy", "large.toy"]);
    assert_has(&text, &["hidden", "batch"]);
    let itself = document(directory.path(), &["compare", "small.toy", "small.toy"]);
    let rows = itself["peak"]["by_variable"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["difference_bytes"] == 0), "{rows:?}");
}

#[test]
fn a_sweep_has_its_runs_beside_those_of_other_systems() {
    let directory = runs();
    let found = document(directory.path(), &["sweep", "."]);
    let names = |found: &Value| -> Vec<String> {
        let runs = found["runs"].as_array().expect("runs").iter();
        runs.map(|run| {
            format!(
                "{} {}",
                run["system"].as_str().expect("one"),
                run["name"].as_str().expect("one")
            )
        })
        .collect()
    };
    assert_eq!(names(&found), ["toy small.toy", "toy large.toy"], "by the batch");
    assert_eq!(found["runs"][1]["figures"]["peak_bytes"], 5500);
    assert_eq!(found["best"]["name"], "small.toy");
    // Of several runs in a directory none is meant.
    assert!(!tilescope(directory.path(), &["summary", "."]).status.success());
    let csv = said(directory.path(), &["sweep", ".", "--csv"]);
    assert_has(&csv, &["peak_bytes", ",5500,"]);
    let mut snapshot = Recording::default();
    snapshot.alloc(0, MIB, &stack(&[("/home/me/train.py", 10, "forward")]));
    snapshot.write(directory.path(), "step.pickle");
    let both = document(directory.path(), &["sweep", "."]);
    let mut of_both = names(&both);
    of_both.sort();
    assert_eq!(of_both, ["pytorch step", "toy large.toy", "toy small.toy"]);
}

#[test]
fn a_lake_has_its_runs() {
    let directory = runs();
    let lake = directory.path().join("lake");
    let found =
        document(directory.path(), &["export", "--parquet", "lake", "small.toy", "large.toy"]);
    assert_eq!(found["warnings"], Value::Array(Vec::new()));
    let runs = lake::runs_of(&lake, "toy");
    let mut peaks: Vec<_> = runs.iter().map(|run| run["peak_bytes"].as_u64()).collect();
    peaks.sort_unstable();
    assert_eq!(peaks, [Some(3500), Some(5500)]);
    assert_eq!(lake::rows(&lake, "steps").len(), 2 * 4);
}

#[test]
fn what_it_cannot_say_is_refused_in_its_words() {
    let directory = runs();
    std::fs::write(directory.path().join("broken.toy"), "chip 4096\nbuffer a\n").expect("a file");
    for (arguments, expected) in [
        (&["tiles", "small.toy"][..], "this run has no tiles"),
        (&["trace", "small.toy"], "this run has no recorded execution"),
        (&["summary", "broken.toy"], "a line with chip, setting or buffer expected\n  at: line 2"),
        (&["check", "small.toy", "--max-tile-bytes", "1"], "tiles, which runs of Toy do not have"),
    ] {
        let output = tilescope(directory.path(), arguments);
        let errors = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && errors.contains(expected), "{arguments:?}: {errors}");
    }
}
