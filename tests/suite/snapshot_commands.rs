//! The commands on PyTorch snapshots that are made here.

use std::path::Path;

use crate::common::compared::conclusion;
use crate::common::recording::{HOST, MIB, Recording, stack};
use crate::common::{json, tilescope};
use serde_json::Value;

/// What a command answers, as JSON.
#[track_caller]
fn answer(arguments: &[&str]) -> Value {
    let output = tilescope(&[arguments, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text} {}", json(&output));
    json(&output)
}

/// Why a command does not answer: its exit status, and the message with its hint.
#[track_caller]
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = tilescope(&[arguments, &["--json"]].concat());
    let error = &json(&output)["error"];
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (output.status.code().expect("a status"), format!("{} {}", text("message"), text("hint")))
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn bytes_by_name(list: &Value) -> Vec<(String, u64)> {
    let rows = list.as_array().expect("a list").iter();
    let row = |row: &Value| Some((row["name"].as_str()?.to_owned(), row["bytes"].as_u64()?));
    rows.map(|named| row(named).expect("a name and bytes")).collect()
}

/// Two devices and the host: what GPU 1 has is more than what GPU 0 has, and the host has more than both.
fn of_two_devices() -> Recording {
    let mut run = Recording::default();
    let weight = stack(&[("/home/me/train.py", 10, "__init__")]);
    let activation = stack(&[("/home/me/train.py", 20, "forward")]);
    run.alloc(HOST, 64 * MIB, &stack(&[("/home/me/data.py", 5, "pin")]));
    run.alloc(0, 4 * MIB, &weight);
    run.alloc(1, 4 * MIB, &weight);
    let first = run.alloc(0, 6 * MIB, &activation);
    let second = run.alloc(1, 8 * MIB, &activation);
    run.free(second);
    run.free(first);
    run
}

#[test]
fn pinned_memory_of_the_host_is_none_of_the_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    let path = text_of(&path);
    let liveness = answer(&["liveness", path, "--step", "peak"]);
    assert_eq!(liveness["step"]["not_always_live_bytes"], 12 * MIB, "4 + 8 of GPU 1");
    let alive = bytes_by_name(&liveness["variables"]);
    assert!(!alive.iter().any(|(name, _)| name.contains("data.py")), "{alive:?}");
    assert_eq!(alive.iter().map(|(_, bytes)| bytes).sum::<u64>(), 12 * MIB);
    // It is a device of its own.
    let host = answer(&["liveness", path, "--step", "peak", "--device", "-1"]);
    assert_eq!(host["scope"], "Pinned host memory");
    assert_eq!(host["step"]["not_always_live_bytes"], 64 * MIB);
    assert_eq!(
        bytes_by_name(&host["variables"]),
        [("/home/me/data.py:5 (pin)".to_owned(), 64 * MIB)]
    );
}

#[test]
fn what_lives_throughout_is_counted_without_the_host_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = of_two_devices();
    // History that begins when all is there already.
    let mut cut = run.snapshot();
    cut["device_traces"] = serde_json::json!([]);
    cut["host_traces"] = serde_json::json!([]);
    let path = directory.path().join("cut.pickle");
    std::fs::write(&path, crate::common::pickle::pickle(&cut)).expect("a file");
    let liveness = answer(&["liveness", text_of(&path), "--step", "0"]);
    assert_eq!(liveness["always_live_bytes"], 4 * MIB);
    let weight = ("/home/me/train.py:10 (__init__)".to_owned(), 4 * MIB);
    assert_eq!(bytes_by_name(&liveness["always_live_variables"]), [weight]);
    let of_one = answer(&["liveness", text_of(&path), "--step", "0", "--device", "1"]);
    assert_eq!(of_one["always_live_bytes"], 4 * MIB);
    assert_eq!(bytes_by_name(&of_one["always_live_variables"])[0].1, 4 * MIB);
}

#[test]
fn what_is_alive_on_a_device_is_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    for (device, bytes) in [("0", [6 * MIB, 4 * MIB]), ("1", [8 * MIB, 4 * MIB])] {
        let of = answer(&["liveness", text_of(&path), "--step", "peak", "--device", device]);
        let alive: Vec<u64> = bytes_by_name(&of["variables"]).iter().map(|row| row.1).collect();
        assert_eq!(alive, bytes, "GPU {device}");
        assert_eq!(of["step"]["not_always_live_bytes"], bytes[0] + bytes[1]);
    }
}

#[test]
fn the_step_of_the_peak_is_the_number_of_its_event_within_its_device() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    let summary = answer(&["summary", text_of(&path)]);
    let peak = &summary["liveness"]["peak"];
    // Segment and block of a weight, and of an activation; those of others do not count.
    assert_eq!((&peak["device"], &peak["step"]), (&1.into(), &3.into()));
    let of_device = &summary["pytorch"]["devices"][1]["requested_peak"];
    assert_eq!(of_device["event"], 3, "its number within the device");
    let liveness = answer(&["liveness", text_of(&path), "--step", "peak", "--device", "1"]);
    assert_eq!(liveness["step"]["step"], peak["step"]);
}

#[test]
fn a_part_of_the_machine_that_the_system_does_not_have_is_a_wrong_argument() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    for (option, words) in
        [("--arena", "no segment 99: its segments are 0 to "), ("--device", "no device 99")]
    {
        let (status, message) = refusal(&["liveness", text_of(&path), option, "99"]);
        assert!(status == 2 && message.contains(words), "{message}");
    }
    let (status, message) = refusal(&["liveness", text_of(&path), "--device", "7"]);
    assert!(status == 2 && message.contains("0 (GPU 0), 1 (GPU 1)"), "{message}");
    let sample = crate::common::sample();
    for option in ["--device", "--ipu"] {
        let (status, message) = refusal(&["liveness", text_of(&sample), option, "9"]);
        assert!(status == 2 && message.contains("no device 9: 0 (IPU 0)"), "{message}");
    }
}

#[test]
fn sweep_says_which_path_it_cannot_take_before_it_reads_any() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    let absent = directory.path().join("absent.pickle");
    let (status, message) = refusal(&["sweep", text_of(&path), text_of(&absent)]);
    assert!(status == 3 && message.contains("absent.pickle"), "{message}");
    let log = directory.path().join("train.log");
    std::fs::write(&log, "step 1\n").expect("a file");
    let (status, message) = refusal(&["sweep", text_of(&path), text_of(&log)]);
    assert!(
        status == 3 && message.contains("train.log is a log, not a memory profile"),
        "{message}"
    );
    let (status, message) = refusal(&["sweep", text_of(&path), "--by", "batch"]);
    assert!(status == 2 && message.contains("no setting that varies"), "{message}");
}

#[test]
fn a_page_that_is_no_picture_of_a_timeline_is_not_called_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("page.html");
    std::fs::write(&page, "<html><body>A page</body></html>").expect("a file");
    let (status, message) = refusal(&["summary", text_of(&page)]);
    assert!(status == 3 && message.contains("an HTML page"), "{message}");
    assert!(!message.contains("export_memory_timeline"), "{message}");
    let picture = "<html><head><title>GPU Memory Timeline HTML</title></head><body>\
                   <img src='data:image/png;base64,iVBORw0KGgo='></body></html>";
    std::fs::write(&page, picture).expect("a file");
    let (status, message) = refusal(&["summary", text_of(&page)]);
    assert!(status == 3 && message.contains("export_memory_timeline"), "{message}");
}

/// A run of which 30 MiB are asked for at most, and 30 MiB taken from the device.
fn of_one_device() -> Recording {
    let mut run = Recording::default();
    let weight = stack(&[("/home/me/train.py", 10, "__init__")]);
    run.alloc(0, 10 * MIB, &weight);
    let activation = run.alloc(0, 20 * MIB, &stack(&[("/home/me/train.py", 20, "forward")]));
    run.free(activation);
    run
}

/// The exit status of `check`, and its rows.
fn check(path: &Path, options: &[&str]) -> (i32, Vec<Value>) {
    let output = tilescope(&[&["check", text_of(path), "--json"], options].concat());
    let answer = json(&output);
    let rows = answer["checks"].as_array().cloned().unwrap_or_default();
    assert_eq!(answer["schema"], "tilescope.check/2", "{answer}");
    assert_eq!(answer["passed"], rows.iter().all(|row| row["passed"] == true));
    (output.status.code().expect("a status"), rows)
}

#[test]
fn budgets_of_a_snapshot_are_of_what_is_taken_and_of_what_is_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_one_device().write(directory.path(), "run.pickle");
    for option in ["--max-total-bytes", "--max-peak-bytes"] {
        for (limit, status) in [(30 * MIB, 0), (30 * MIB - 1, 1)] {
            let (found, rows) = check(&path, &[option, &limit.to_string()]);
            assert_eq!(found, status, "{option} {limit}: {rows:?}");
            assert_eq!(rows[0]["actual"], 30 * MIB);
        }
    }
    let baseline = of_two_devices().write(directory.path(), "baseline.pickle");
    let growth =
        |limit: &str| check(&path, &["--baseline", text_of(&baseline), "--max-growth", limit]);
    // GPU 1 has 12 MiB of both, which are 150 % more here.
    assert_eq!(growth("150").0, 0, "{:?}", growth("150").1);
    let (status, rows) = growth("149");
    assert_eq!((status, rows.len(), &rows[0]["actual"]), (1, 2, &150.0.into()));
    let (status, message) = refusal(&["check", text_of(&path), "--max-tile-bytes", "600K"]);
    assert!(status == 2 && message.contains("--max-total-bytes"), "{message}");
}

#[test]
fn a_capacity_that_is_not_known_is_never_one_that_is_enough() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_one_device().write(directory.path(), "run.pickle");
    let (status, rows) = check(&path, &["--must-fit"]);
    assert_eq!((status, &rows[0]["actual"], &rows[0]["passed"]), (1, &Value::Null, &false.into()));
    let output = tilescope(&["check", text_of(&path), "--must-fit"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("FAILED") && text.contains("--capacity 16GiB"), "{text}");
    for (capacity, other, status) in [("30MiB", "0", 0), ("30MiB", "1", 1), ("29MiB", "0", 1)] {
        let (found, rows) = check(&path, &["--must-fit", "--capacity", capacity, "--other", other]);
        assert_eq!(found, status, "{rows:?}");
    }
    // Of a run that failed it is not known what it needs, whatever the device has.
    let mut failed = of_one_device();
    failed.out_of_memory(0, 40 * MIB, MIB);
    let failed = failed.write(directory.path(), "failed.pickle");
    for option in ["--must-fit", "--max-peak-bytes=1G", "--max-total-bytes=1G"] {
        let (status, rows) = check(&failed, &[option, "--capacity", "80GiB"]);
        assert_eq!((status, &rows[0]["passed"]), (1, &false.into()), "{rows:?}");
    }
    std::fs::write(directory.path().join("failed.pickle.oom.txt"), MESSAGE).expect("a file");
    let output = tilescope(&["check", text_of(&failed), "--must-fit"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("32.0 MiB that the error text beside it states"), "{text}");
    // What it fails for is its end: what is needed is within what others leave.
    let (_, rows) = check(&failed, &["--must-fit", "--capacity", "80GiB"]);
    assert!(rows[0]["actual"].as_u64() < rows[0]["limit"].as_u64(), "{rows:?}");
    assert!(rows[0]["actual"].as_u64() > Some(40 * MIB), "{rows:?}");
    let reason = rows[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("ran out of memory"), "{reason}");
    let (_, rows) = check(&path, &["--must-fit", "--capacity", "1MiB"]);
    assert_eq!(rows[0]["reason"], Value::Null, "its limit is the reason");
}

#[test]
fn what_others_had_when_a_request_failed_counts_with_the_capacity_of_its_text() {
    let directory = tempfile::tempdir().expect("a directory");
    let forward = stack(&[("/home/me/train.py", 20, "forward")]);
    // The request was caught, and the run went on with less.
    let mut run = Recording::default();
    run.alloc(0, 30 * MIB, &forward);
    run.out_of_memory(0, 31 * MIB, 5 * MIB);
    run.alloc(0, 4 * MIB, &forward);
    let path = run.write(directory.path(), "run.pickle");
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacity \
                   of 100.00 MiB of which 5.00 MiB is free.\n";
    std::fs::write(directory.path().join("run.pickle.oom.txt"), message).expect("a file");
    // 100 less 5 free and 30 reserved are of others: 35 are left.
    let (_, rows) = check(&path, &["--must-fit"]);
    assert_eq!(rows[0]["limit"], 35 * MIB);
    let text = check_text(&path, &["--must-fit"]).1;
    assert!(text.contains("of which others had 65.0 MiB when that request failed"), "{text}");
    let (_, rows) = check(&path, &["--must-fit", "--other", "1MiB"]);
    assert_eq!(rows[0]["limit"], 99 * MIB, "as the user says");
    let (_, rows) = check(&path, &["--must-fit", "--capacity", "80MiB"]);
    assert_eq!(rows[0]["limit"], 80 * MIB, "of another card nothing follows");
    let mut target = Recording::default();
    target.alloc(0, 60 * MIB, &forward);
    let target = target.write(directory.path(), "target.pickle");
    let found = answer(&["compare", text_of(&path), text_of(&target)]);
    let fits = conclusion(&found, "fits").expect("whether it fits").to_string();
    assert!(fits.contains("others had 65.0 MiB") && fits.contains("25.0 MiB over"), "{fits}");
    assert_eq!(found["pytorch"]["stated_other_bytes"]["source"], 65 * MIB, "{found}");
}

#[test]
fn a_grouping_that_snapshots_do_not_have_is_refused_with_those_that_they_have() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_one_device().write(directory.path(), "run.pickle");
    let (status, message) =
        refusal(&["liveness", text_of(&path), "--step", "peak", "--by", "operation"]);
    assert!(status == 2 && message.contains("category, module, line, variable"), "{message}");
}

const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of \
                       32.00 MiB of which 1.00 MiB is free. Process 77 has 512.00 KiB memory in use.\n";

#[test]
fn a_message_and_the_snapshot_of_it_are_put_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut failed = of_one_device();
    failed.out_of_memory(0, 40 * MIB, MIB);
    let snapshot = failed.write(directory.path(), "rank0.pickle");
    of_one_device().write(directory.path(), "another.pickle");
    let log = directory.path().join("train.log");
    std::fs::write(&log, format!("step 7\n{MESSAGE}")).expect("a file");
    let found = answer(&["diagnose", text_of(&log)]);
    let joined = &found["findings"][0]["snapshot"];
    assert_eq!(joined["file"], text_of(&snapshot), "{found}");
    assert_eq!((&joined["by"], &joined["device"]), (&"size".into(), &0.into()));
    assert_eq!(joined["requested_bytes"], 40 * MIB);
    assert_eq!(joined["capacity_bytes"], 32 * MIB);
    assert_eq!(
        (&joined["max_reserved_bytes"], &joined["requested_peak_bytes"]),
        (&(30 * MIB).into(), &(30 * MIB).into())
    );
    assert_eq!(joined["peak_frames"][0]["frame"], "/home/me/train.py:20 (forward)");
    let text = tilescope(&["diagnose", text_of(&log)]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("rank0.pickle, GPU 0: the request failed at event"), "{text}");
    // By its name, and by being named; another request is not joined.
    let beside = directory.path().join("another.pickle.oom.txt");
    std::fs::write(&beside, MESSAGE).expect("a file");
    let found = answer(&["diagnose", text_of(&beside)]);
    let joined = &found["findings"][0]["snapshot"];
    assert_eq!((&joined["by"], &joined["event"]), (&"name".into(), &Value::Null), "{found}");
    let found = answer(&["diagnose", text_of(&log), text_of(&snapshot)]);
    assert_eq!(found["findings"][0]["snapshot"]["by"], "size");
    let other = MESSAGE.replace("40.00 MiB", "48.00 MiB");
    std::fs::write(&log, other).expect("a file");
    let found = answer(&["diagnose", text_of(&log), text_of(&snapshot)]);
    assert_eq!(found["findings"][0]["snapshot"], Value::Null, "{found}");
    assert_eq!(found["snapshots"][0]["devices"][0]["failed"]["bytes"], 40 * MIB);
    let text = tilescope(&["diagnose", text_of(&snapshot)]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("a memory snapshot") && text.contains("40.0 MiB failed"), "{text}");
}

#[test]
fn a_message_belongs_to_the_device_and_the_file_that_it_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut both = of_two_devices();
    both.out_of_memory(0, 40 * MIB, MIB);
    both.out_of_memory(1, 40 * MIB, MIB);
    let both = both.write(directory.path(), "both.pickle");
    let log = directory.path().join("train.log");
    std::fs::write(&log, MESSAGE.replace("GPU 0", "GPU 1")).expect("a file");
    let found = answer(&["diagnose", text_of(&log), text_of(&both)]);
    assert_eq!(found["findings"][0]["snapshot"]["device"], 1, "{found}");
    std::fs::write(&log, MESSAGE.replace("GPU 0", "GPU 2")).expect("a file");
    let found = answer(&["diagnose", text_of(&log), text_of(&both)]);
    assert_eq!(found["findings"][0]["snapshot"], Value::Null, "{found}");
    // A request of the same size in another file is of another run.
    let mut own = of_one_device();
    own.out_of_memory(0, 40 * MIB, MIB);
    let own = own.write(directory.path(), "own.pickle");
    let beside = directory.path().join("own.pickle.oom.txt");
    std::fs::write(&beside, MESSAGE).expect("a file");
    let found = answer(&["diagnose", text_of(&both), text_of(&own), text_of(&beside)]);
    let joined = &found["findings"][0]["snapshot"];
    assert_eq!((&joined["file"], &joined["by"]), (&text_of(&own).into(), &"name".into()));
}

fn swept_of(arguments: &[&str]) -> Value {
    crate::common::swept(&answer(arguments))
}

/// The row of a variant in a sweep.
fn row_of(sweep: &Value, variant: &str) -> Value {
    let rows = sweep["rows"].as_array().expect("rows").iter();
    rows.clone().find(|row| row["variant"] == variant).expect("the variant").clone()
}

fn outcome(path: &Path) -> (Value, String) {
    let verdict = answer(&["summary", text_of(path)])["verdict"].clone();
    let reason = verdict["text"].as_str().unwrap_or_default().to_owned();
    (verdict["outcome"].clone(), reason)
}

/// The exit status of `check`, and what it says.
fn check_text(path: &Path, options: &[&str]) -> (i32, String) {
    let output = tilescope(&[&["check", text_of(path)], options].concat());
    let text =
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    (output.status.code().expect("a status"), text)
}

#[test]
fn a_snapshot_without_events_says_nothing_of_what_a_run_took() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = of_one_device().write(directory.path(), "whole.pickle");
    let mut state = of_one_device();
    state.keep_last(0);
    let state = state.write(directory.path(), "state.pickle");
    for option in ["--max-peak-bytes=1G", "--max-total-bytes=1G", "--must-fit"] {
        let (status, text) = check_text(&state, &[option, "--capacity", "80GiB"]);
        assert!(status == 1 && text.contains("no events were recorded"), "{option}: {text}");
    }
    let (status, text) =
        check_text(&whole, &["--baseline", text_of(&state), "--max-growth", "1000"]);
    assert!(status == 1 && text.contains("of the baseline: no events"), "{text}");
    let path = text_of(directory.path());
    let sweep = swept_of(&["sweep", path]);
    let row = row_of(&sweep, "state");
    // It has least of all and comes first, and is neither the reference nor the least.
    assert_eq!((&sweep["reference"], &sweep["least_needed"]), (&"whole".into(), &"whole".into()));
    assert_eq!((&row["finished"], &row["recorded"]), (&Value::Null, &"nothing".into()));
    assert_eq!(row["percent"]["max_reserved_bytes"], Value::Null);
    assert_eq!(row["max_allocated_from"], "replay, at least");
    let (status, message) = refusal(&["sweep", path, "--reference", "state"]);
    assert!(status == 2 && message.contains("has no events"), "{message}");
    let text = tilescope(&["sweep", path, "--capacity", "5MiB"]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("does not fit") && text.contains("\u{2265} 10"), "{text}");
    let found = answer(&["compare", text_of(&whole), text_of(&state), "--capacity", "1GiB"]);
    let conclusions = found["conclusions"].as_array().expect("conclusions").iter();
    assert!(conclusions.clone().all(|one| one["is_better"].is_null()), "{found}");
    let said: Vec<&str> = conclusions.filter_map(|one| one["text"].as_str()).collect();
    assert!(said[0].contains("whether it fits is not known: no events were recorded"), "{said:?}");
    let has = |words: &str| said.iter().any(|one| one.contains(words));
    assert!(has("10.0 MiB were there when the snapshot was taken"), "{said:?}");
    assert!(!has("The peak moved") && !has("PyTorch reserves"), "{said:?}");
    assert_eq!(found["pytorch"]["finished"]["target"], Value::Null);
    assert_eq!(outcome(&state).0, "unknown");
    let text = tilescope(&["summary", text_of(&state)]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("none recorded") && !text.contains("Requested peak"), "{text}");
    assert!(!text.contains("before the first event"), "{text}");
}

#[test]
fn peaks_of_a_window_are_lower_bounds_unless_statistics_say_more() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = of_one_device().write(directory.path(), "whole.pickle");
    let window = || {
        let mut run = of_one_device();
        run.keep_last(1);
        run
    };
    let ring = window().write(directory.path(), "ring.pickle");
    let sweep = swept_of(&["sweep", text_of(directory.path())]);
    let row = row_of(&sweep, "ring");
    assert_eq!((&row["recorded"], &row["finished"]), (&"window".into(), &true.into()));
    assert_eq!(row["max_reserved_from"], "replay, at least");
    let text = tilescope(&["compare", text_of(&whole), text_of(&ring)]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("\u{2265} "), "{text}");
    let found = answer(&["compare", text_of(&whole), text_of(&ring)]);
    let conclusions = found["conclusions"].as_array().expect("conclusions").iter();
    assert!(conclusions.clone().all(|one| one["is_better"].is_null()), "{found}");
    let said: Vec<&str> = conclusions.filter_map(|one| one["text"].as_str()).collect();
    assert!(
        said.iter().any(|one| one.contains("at least 10.0 MiB instead of 30.0 MiB")),
        "{said:?}"
    );
    let (_, text) = check_text(&whole, &["--baseline", text_of(&ring), "--max-growth", "1000"]);
    assert!(text.contains("of the baseline: the first events are cut off"), "{text}");
    // Statistics know what was taken before the first event.
    let statistics = serde_json::json!({
        "reserved_bytes.all.current": 10 * MIB, "reserved_bytes.all.peak": 50 * MIB,
        "allocated_bytes.all.current": 10 * MIB, "allocated_bytes.all.peak": 48 * MIB,
    });
    let file = directory.path().join("ring.pickle.memory_stats.json");
    std::fs::write(&file, statistics.to_string()).expect("a file");
    let row = row_of(&swept_of(&["sweep", text_of(directory.path())]), "ring");
    assert_eq!(row["max_reserved_bytes"], 50 * MIB, "{row}");
    assert_eq!(row["max_reserved_from"], "memory_stats");
    assert_eq!(
        (&row["needed_bytes"], &row["max_allocated_bytes"]),
        (&(50 * MIB).into(), &(48 * MIB).into())
    );
}

#[test]
fn an_error_text_of_a_request_that_is_not_recorded_says_that_the_run_ended() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = of_two_devices().write(directory.path(), "run.pickle");
    assert_eq!(outcome(&run).0, "ran");
    let text = directory.path().join("run.pickle.oom.txt");
    // The device that it names is not the one that had most.
    std::fs::write(&text, MESSAGE).expect("a file");
    let (found, reason) = outcome(&run);
    assert!(found == "out-of-memory" && reason.contains("no such event"), "{reason}");
    let row = row_of(&swept_of(&["sweep", text_of(directory.path())]), "run");
    assert_eq!((&row["finished"], &row["oom_request_bytes"]), (&false.into(), &(40 * MIB).into()));
    let (status, text) = check_text(&run, &["--max-peak-bytes", "1G"]);
    assert!(status == 1 && text.contains("ran out of memory"), "{text}");
    // A request that was granted later is none at which it ended.
    let mut caught = of_two_devices();
    caught.out_of_memory(0, 40 * MIB, MIB);
    caught.alloc(0, 40 * MIB, &stack(&[]));
    let caught = caught.write(directory.path(), "run.pickle");
    assert_eq!(outcome(&caught).0, "ran");
    // Nobody knows of a file that is cut whether it was.
    let mut failed = of_one_device();
    failed.out_of_memory(0, 48 * MIB, MIB);
    let failed = failed.write(directory.path(), "cut.pickle");
    assert_eq!(outcome(&failed).0, "out-of-memory");
    let bytes = std::fs::read(&failed).expect("a file");
    std::fs::write(&failed, &bytes[..bytes.len() - 1]).expect("a file");
    let (found, reason) = outcome(&failed);
    assert!(found == "unknown" && reason.contains("ends before its contents do"), "{reason}");
}

#[test]
fn a_run_is_about_the_device_that_failed_whichever_had_most() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut run = of_two_devices();
    run.out_of_memory(0, 40 * MIB, MIB);
    let run = run.write(directory.path(), "run.pickle");
    let sweep = |options: &[&str]| {
        let found = swept_of(&[&["sweep", text_of(directory.path())], options].concat());
        let row = row_of(&found, "run");
        (
            row["max_reserved_bytes"].clone(),
            row["oom_request_bytes"].clone(),
            row["finished"].clone(),
        )
    };
    let (failed, mib) = (Value::from(false), |count: u64| Value::from(count * MIB));
    assert_eq!(sweep(&[]), (mib(10), mib(40), failed.clone()));
    assert_eq!(sweep(&["--device", "1"]), (mib(12), Value::Null, failed));
    let verdict = answer(&["summary", text_of(&run)])["pytorch"]["insights"]["verdict"].clone();
    assert_eq!(verdict["device"], 0);
    let text = tilescope(&["check", text_of(&run), "--max-peak-bytes", "1G"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("GPU 0"));
}

#[test]
fn a_program_of_xla_is_not_called_one_of_another_system() {
    let file = "cpu-jax0.6.2-scan-remat/module_0021.jit_train_step.cpu_after_optimizations.hlo.pb";
    let proto = crate::common::in_package("../shared/profiles/xla").join(file);
    if !proto.is_file() {
        return eprintln!("skipped: ../shared/profiles/xla is absent");
    }
    let sample = crate::common::sample();
    let refused = [
        vec!["compare", text_of(&proto), text_of(&sample)],
        vec!["compare", text_of(&sample), text_of(&proto)],
        vec!["tiles", text_of(&proto)],
    ];
    for arguments in refused {
        let (status, message) = refusal(&arguments);
        assert!(status == 2 && message.contains("is a run of XLA"), "{message}");
    }
}

#[test]
fn commands_of_tiles_say_what_to_use_of_a_snapshot() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_one_device().write(directory.path(), "run.pickle");
    let out = directory.path().join("trace.json");
    let cases: [(&[&str], &str); 4] = [
        (&["tiles", text_of(&path)], "tilescope liveness --device"),
        (&["ops", text_of(&path)], "user frames"),
        (&["trace", text_of(&path)], "torch.profiler"),
        (&["export", text_of(&path), "--chrome-trace", text_of(&out)], "export_chrome_trace"),
    ];
    for (arguments, expected) in cases {
        let (status, message) = refusal(arguments);
        assert!(status == 2 && message.contains(expected), "{arguments:?}: {message}");
        assert!(message.contains("is a run of PyTorch"), "{message}");
    }
    assert!(!out.exists());
}

#[test]
fn figures_of_a_file_that_is_cut_are_lower_bounds() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_one_device().write(directory.path(), "cut.pickle");
    let whole = std::fs::read(&path).expect("a file");
    std::fs::write(&path, &whole[..whole.len() - 1]).expect("a file");
    let row = row_of(&swept_of(&["sweep", text_of(directory.path())]), "cut");
    assert_eq!(row["recorded"], "cut");
    assert_eq!(
        (&row["max_allocated_from"], &row["max_reserved_from"]),
        (&"replay, at least".into(), &"replay, at least".into())
    );
    let text = tilescope(&["sweep", text_of(directory.path())]);
    let text = String::from_utf8(text.stdout).expect("text");
    let line = text.lines().find(|line| line.contains("file is cut")).expect("a row");
    assert_eq!(
        line.matches('\u{2265}').count(),
        4,
        "allocated, reserved, requested, needed: {line}"
    );
    let summary = answer(&["summary", text_of(&path)]);
    assert_eq!(summary["pytorch"]["insights"]["verdict"]["recorded"], "cut");
    let text = tilescope(&["summary", text_of(&path)]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert_eq!(text.matches(" at least").count(), 3, "{text}");
    assert!(text.contains("up to where the file is cut") && !text.contains("complete"), "{text}");
}

#[test]
fn a_segment_of_a_device_below_0_is_left_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut snapshot = of_one_device().snapshot();
    let mut odd = snapshot["segments"][0].clone();
    odd["device"] = (-2).into();
    snapshot["segments"].as_array_mut().expect("segments").push(odd);
    let path = directory.path().join("run.pickle");
    std::fs::write(&path, crate::common::pickle::pickle(&snapshot)).expect("a file");
    let summary = answer(&["summary", text_of(&path)]);
    let devices = summary["pytorch"]["devices"].as_array().expect("devices");
    assert_eq!(devices.iter().map(|of| &of["device"]).collect::<Vec<_>>(), [&Value::from(0)]);
    assert!(summary["pytorch"]["pinned_host"].is_null(), "{summary}");
    assert!(summary["warnings"].to_string().contains("they are left out"), "{summary}");
}
