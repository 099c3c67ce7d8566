//! Whether a run fits is said in one way by `summary`, `check`, `compare` and `sweep`: for captures of all systems, with
//! capacities around what they need, lower bounds and failures among them.

use std::path::{Path, PathBuf};

use crate::common::recording::{MIB, Recording, no_stack, stack};
use crate::common::{in_package, json, tilescope};
use rayon::prelude::*;
use serde_json::Value;

/// How a capture ended, by how it was made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Ran,
    Failed,
    NotKnown,
    /// Of captures that others made, nothing is known beforehand.
    Anyhow,
}

/// A capture, with what is known of it by how it was made.
struct Capture {
    path: PathBuf,
    ended: Ended,
    /// The cause of a verdict that goes by a lower bound.
    bound: Option<&'static str>,
    /// What it needs; `None` where that is asked of `summary`.
    needed: Option<u64>,
    /// What something in it or beside it says of the capacity.
    stated: bool,
}

const TRAIN: (&str, u64, &str) = ("/home/me/train.py", 10, "forward");

/// A training step: something that stays, something of the forward pass, of the backward pass and of the optimizer.
fn step(run: &mut Recording, has_optimizer: bool) {
    let activation = run.alloc(0, 4 * MIB, &stack(&[TRAIN]));
    let asks = ("/usr/lib/python3/site-packages/torch/autograd/__init__.py", 9, "_make_grads");
    let first = run.alloc(0, 512, &stack(&[asks, TRAIN]));
    run.free(first);
    let gradient = run.alloc(0, 2 * MIB, &no_stack());
    run.free(activation);
    if has_optimizer {
        let update = ("/usr/lib/python3/site-packages/torch/optim/adam.py", 5, "step");
        let state = run.alloc(0, MIB, &stack(&[update, TRAIN]));
        run.free(state);
    }
    run.free(gradient);
}

fn write(directory: &Path, name: &str, run: &Recording) -> PathBuf {
    run.write(directory, name);
    directory.join(name)
}

/// Snapshots that are made here.
fn snapshots(directory: &Path) -> Vec<Capture> {
    let weights = |run: &mut Recording| run.alloc(0, 8 * MIB, &stack(&[TRAIN]));
    let made = |name: &str, ended, bound, needed, run: &Recording| Capture {
        path: write(directory, name, run),
        ended,
        bound,
        needed: Some(needed),
        stated: false,
    };
    let mut captures = Vec::new();
    for (name, steps, has_optimizer, bound) in [
        ("no-step", 0, false, None),
        ("one-step", 1, true, Some("one-step")),
        ("one-pass", 1, false, Some("one-step")),
        ("two-steps", 2, true, None),
        ("two-passes", 2, false, None),
        ("five-steps", 5, true, None),
        // A library's workspace has no stack either: nothing says that this trains.
        ("inference", 0, false, None),
    ] {
        let mut run = Recording::default();
        weights(&mut run);
        (0..steps).for_each(|_| step(&mut run, has_optimizer));
        if name == "inference" {
            let workspace = run.alloc(0, 6 * MIB, &no_stack());
            run.free(workspace);
        }
        let needed = if name == "no-step" { 8 } else { 14 };
        captures.push(made(&format!("{name}.pickle"), Ended::Ran, bound, needed * MIB, &run));
        // The same, out of memory at its end.
        run.out_of_memory(0, 64 * MIB, MIB);
        let name = format!("{name}-failed.pickle");
        captures.push(made(&name, Ended::Failed, Some("request-failed"), (8 + 64) * MIB, &run));
    }
    let mut run = Recording::default();
    weights(&mut run);
    (0..3).for_each(|_| step(&mut run, true));
    run.keep_last(4);
    captures.push(made("window.pickle", Ended::Ran, Some("recorded-window"), 0, &run));
    run.keep_last(0);
    captures.push(made("state.pickle", Ended::NotKnown, Some("not-recorded"), 8 * MIB, &run));
    let whole = std::fs::read(&captures[6].path).expect("a snapshot");
    let cut = directory.join("cut.pickle");
    std::fs::write(&cut, &whole[..whole.len() * 9 / 10]).expect("a file");
    captures.push(Capture {
        path: cut,
        ended: Ended::NotKnown,
        bound: Some("cut"),
        needed: None,
        stated: false,
    });
    for capture in &mut captures {
        capture.needed = capture.needed.filter(|needed| *needed > 0);
    }
    captures
}

/// Snapshots, reports and modules of the package.
fn samples() -> Vec<Capture> {
    let of = |path: &str, ended, stated| Capture {
        path: in_package(&format!("sample_profiles/{path}")),
        ended,
        bound: None,
        needed: None,
        stated,
    };
    vec![
        of("tiny", Ended::NotKnown, true),
        of("pair-0.2", Ended::NotKnown, true),
        of("pair-0.6", Ended::NotKnown, true),
        of("pipeline", Ended::NotKnown, true),
        of("does-not-fit", Ended::NotKnown, true),
        of("training/segments-0/snapshot.pickle", Ended::Ran, false),
        of("training/segments-2/snapshot.pickle", Ended::Ran, false),
        of("xla/keep", Ended::NotKnown, false),
        of("xla/again", Ended::NotKnown, false),
        of("xla/donate", Ended::NotKnown, false),
    ]
}

/// Captures of real programs, where they are.
fn shared() -> Vec<Capture> {
    let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/profiles");
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["pytorch", "pytorch/splits", "xla", "pytorch-truth"] {
        let Ok(entries) = std::fs::read_dir(below.join(folder)) else {
            println!("skipped: {} is not there", below.join(folder).display());
            continue;
        };
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        found.sort();
        let is_capture = |path: &PathBuf| match folder {
            "xla" => path.is_dir() && !path.ends_with("scripts") && !path.ends_with("tpu-errors"),
            _ => path.extension().is_some_and(|ending| ending == "pickle"),
        };
        let most = if folder == "pytorch-truth" { 12 } else { usize::MAX };
        paths.extend(found.into_iter().filter(is_capture).take(most));
    }
    let of =
        |path| Capture { path, ended: Ended::Anyhow, bound: None, needed: None, stated: false };
    paths.into_iter().map(of).collect()
}

fn answer(command: &str, paths: &[&Path], more: &[&str]) -> Value {
    let mut arguments = vec![command];
    arguments.extend(paths.iter().map(|path| path.to_str().expect("UTF-8")));
    arguments.extend(more);
    arguments.push("--json");
    json(&tilescope(&arguments))
}

/// What the four commands say: outcome, cause and what is too much; `check` says whether it fits for sure.
fn asked(path: &Path, capacity: Option<u64>) -> Value {
    let said = capacity.map(|bytes| bytes.to_string());
    let more: Vec<&str> = said.iter().flat_map(|bytes| ["--capacity", bytes]).collect();
    let summary = answer("summary", &[path], &more);
    let verdict = &summary["verdict"];
    let of = |verdict: &Value| {
        ["outcome", "cause", "capacity_bytes", "over_bytes"].map(|key| verdict[key].clone())
    };
    let name = format!("{} with {capacity:?}", path.display());
    let sweep = answer("sweep", &[path], &more);
    assert_eq!(of(&sweep["runs"][0]["verdict"]), of(verdict), "sweep of {name}");
    let compare = answer("compare", &[path, path], &more);
    for side in compare["verdicts"].as_array().unwrap_or_else(|| panic!("{name}: {compare}")) {
        assert_eq!(of(side), of(verdict), "compare of {name}");
    }
    let check = answer("check", &[path], &[&more[..], &["--must-fit"]].concat());
    let fits = verdict["outcome"] == "fits";
    assert_eq!(check["passed"], fits, "check of {name}: {}, {verdict}", check["checks"]);
    let row = &check["checks"][0];
    let is_over = verdict["outcome"] == "does-not-fit" && verdict["cause"] != "refused";
    assert_eq!(row["reason"].is_null(), fits || is_over || is_over_bound(row), "{name}: {row}");
    summary
}

/// Whether a row says that more is needed than there is.
fn is_over_bound(row: &Value) -> bool {
    row["actual"].as_u64() > row["limit"].as_u64() && !row["limit"].is_null()
}

/// Asks the commands about a capture with all capacities; returns how many questions that were.
fn check_capture(capture: &Capture) -> usize {
    let path = &capture.path;
    let own = asked(path, None);
    let verdict = &own["verdict"];
    let name = path.display();
    let limit = |row: &Value| row["actual"].as_u64();
    let check = answer("check", &[path], &["--must-fit", "--capacity", "1"]);
    let needed = limit(&check["checks"][0]).unwrap_or_else(|| panic!("{name}: {check}"));
    if let Some(expected) = capture.needed {
        assert_eq!(needed, expected, "{name}");
    }
    let ended = match (capture.ended, verdict["outcome"].as_str()) {
        (Ended::Anyhow, Some("out-of-memory")) => Ended::Failed,
        (Ended::Anyhow, Some("ran")) => Ended::Ran,
        (Ended::Anyhow, _) => Ended::NotKnown,
        (ended, _) => ended,
    };
    if !capture.stated && capture.ended != Ended::Anyhow {
        let expected = match ended {
            Ended::Failed => "out-of-memory",
            Ended::Ran => "ran",
            _ => "unknown",
        };
        assert_eq!(verdict["outcome"], expected, "{name}");
    }
    let mut asked_in_all = 1;
    for capacity in [needed - 1, needed, needed * 2] {
        let found = asked(path, Some(capacity));
        let verdict = &found["verdict"];
        let outcome = verdict["outcome"].as_str().expect("an outcome");
        asked_in_all += 1;
        let expected: &[&str] = match (ended, capture.bound, capacity < needed) {
            (Ended::Failed, ..) => &["out-of-memory"],
            (_, _, true) => &["does-not-fit"],
            (_, Some(_), false) => &["unknown"],
            // Of captures of others, which of them are lower bounds is what the commands say.
            (_, None, false) if capture.ended == Ended::Anyhow => &["fits", "unknown"],
            (_, None, false) => &["fits"],
        };
        assert!(expected.contains(&outcome), "{name} with {capacity}: {verdict}");
        if outcome == "unknown" && capture.ended != Ended::Anyhow {
            assert_eq!(verdict["cause"].as_str(), capture.bound, "{name}: {verdict}");
        }
        if outcome == "does-not-fit" {
            assert_eq!(verdict["over_bytes"], needed - capacity, "{name}: {verdict}");
        }
        if outcome != "out-of-memory" {
            assert_eq!(verdict["capacity_from"], "the user", "{name}: {verdict}");
        }
    }
    asked_in_all
}

#[test]
fn four_commands_agree_on_made_captures_with_all_capacities() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut captures = snapshots(directory.path());
    captures.extend(samples());
    let asked: usize = captures.par_iter().map(check_capture).sum();
    assert!(asked >= 40, "{asked}");
}

#[test]
fn four_commands_agree_on_real_captures_with_all_capacities() {
    let captures = shared();
    let asked: usize = captures.par_iter().map(check_capture).sum();
    println!("{} captures, {asked} questions of four commands", captures.len());
}

#[test]
fn a_lower_bound_is_neither_reference_nor_needs_least() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, weights, steps) in [("a", 1, 1), ("b", 9, 3), ("c", 12, 3)] {
        let mut run = Recording::default();
        run.alloc(0, weights * MIB, &stack(&[TRAIN]));
        (0..steps).for_each(|_| step(&mut run, true));
        run.write(directory.path(), &format!("{name}.pickle"));
    }
    let sweep = answer("sweep", &[directory.path()], &[]);
    assert_eq!(sweep["reference"]["name"], "b", "{}", sweep["reference"]);
    assert_eq!(sweep["best"]["name"], "b", "{}", sweep["best"]);
}
