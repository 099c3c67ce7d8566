//! The commands on memory snapshots of PyTorch that are made here.

mod common;

use std::path::Path;

use common::recording::{HOST, MIB, Recording, stack};
use common::{json, tilescope};
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
    assert_eq!(liveness["step"]["not_always_live_bytes"], 22 * MIB, "4 + 6 + 4 + 8");
    let alive = bytes_by_name(&liveness["variables"]);
    assert!(!alive.iter().any(|(name, _)| name.contains("data.py")), "{alive:?}");
    assert_eq!(alive.iter().map(|(_, bytes)| bytes).sum::<u64>(), 22 * MIB);
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
    std::fs::write(&path, common::pickle::pickle(&cut)).expect("a file");
    let liveness = answer(&["liveness", text_of(&path), "--step", "0"]);
    assert_eq!(liveness["always_live_bytes"], 8 * MIB);
    let weight = ("/home/me/train.py:10 (__init__)".to_owned(), 8 * MIB);
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
fn the_step_of_the_peak_is_that_of_the_axis_of_all_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    let summary = answer(&["summary", text_of(&path)]);
    let peak = &summary["liveness"]["peak"];
    // Segment and block of the host, of a weight on each device, of an activation on each.
    assert_eq!((&peak["device"], &peak["step"]), (&1.into(), &9.into()));
    let of_device = &summary["pytorch"]["devices"][1]["requested_peak"];
    assert_eq!(of_device["event"], 3, "its number within the device");
    let liveness = answer(&["liveness", text_of(&path), "--step", "peak", "--device", "1"]);
    assert_eq!(liveness["step"]["step"], peak["step"]);
}

#[test]
fn a_part_of_the_machine_that_the_system_does_not_have_is_a_wrong_argument() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = of_two_devices().write(directory.path(), "run.pickle");
    for option in ["--tile", "--ipu"] {
        let (status, message) = refusal(&["liveness", text_of(&path), option, "0"]);
        assert_eq!(status, 2);
        assert!(message.contains("--device N") && message.contains("GPU 1"), "{message}");
    }
    let (status, message) = refusal(&["liveness", text_of(&path), "--device", "7"]);
    assert!(status == 2 && message.contains("GPU 0, GPU 1"), "{message}");
    let sample = common::sample();
    let (status, message) = refusal(&["liveness", text_of(&sample), "--device", "0"]);
    assert!(status == 2 && message.contains("--ipu N"), "{message}");
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
    assert!(status == 3 && message.contains("train.log is no memory snapshot"), "{message}");
    // A file that is damaged is not read where the arguments are wrong.
    std::fs::write(&path, b"\x80\x04damaged").expect("a file");
    let (status, message) = refusal(&["sweep", text_of(&path), "--by", "batch"]);
    assert!(status == 2 && message.contains("--by"), "{message}");
}

#[test]
fn a_page_that_is_no_picture_of_a_timeline_is_not_called_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("page.html");
    std::fs::write(&page, "<html><body>A page</body></html>").expect("a file");
    let (status, message) = refusal(&["summary", text_of(&page)]);
    assert!(status == 3 && !message.contains("timeline"), "{message}");
    let picture = "<html><head><title>GPU Memory Timeline HTML</title></head><body>\
                   <img src='data:image/png;base64,iVBORw0KGgo='></body></html>";
    std::fs::write(&page, picture).expect("a file");
    let (status, message) = refusal(&["summary", text_of(&page)]);
    assert!(status == 3 && message.contains("export_memory_timeline"), "{message}");
}
