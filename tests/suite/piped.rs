//! Runs that are piped into a command, where `-` stands for the path.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::read::GzEncoder;
use serde_json::Value;

use crate::common::copies::sample_named;
use crate::common::{json, tilescope};

fn piped(arguments: &[&str], input: impl Into<Stdio>) -> Output {
    let caches = tempfile::tempdir().expect("a directory");
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(arguments)
        .stdin(input)
        .env("XDG_CACHE_HOME", caches.path())
        .env("TMPDIR", caches.path())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the program")
}

/// The file of a run whose name ends so.
fn file_of(sample: &str, ending: &str) -> std::path::PathBuf {
    let entries = fs::read_dir(sample_named(sample)).expect("a sample");
    let mut paths = entries.map(|entry| entry.expect("a file").path());
    paths.find(|path| path.to_string_lossy().ends_with(ending)).expect("such a file")
}

/// The answer without what names the file.
fn figures(output: &Output) -> Value {
    let mut answer = json(output);
    answer.as_object_mut().expect("an object").remove("source");
    answer
}

/// As a copy that has no other files beside it, and no name that says anything.
fn is_answered_alike(file: &Path, arguments: &[&str]) {
    let directory = tempfile::tempdir().expect("a directory");
    let alone = directory.path().join("alone");
    fs::copy(file, &alone).expect("a copy");
    let named = alone.display().to_string();
    let of_file = tilescope(&[arguments, &["--json", &named]].concat());
    let of_pipe =
        piped(&[arguments, &["--json", "-"]].concat(), fs::File::open(file).expect("the file"));
    assert!(of_file.status.success(), "{of_file:?}");
    assert!(figures(&of_file) == figures(&of_pipe), "{arguments:?} {}", file.display());
}

#[test]
fn a_run_that_is_piped_in_is_answered_as_its_file_is() {
    let snapshot = file_of("training/segments-2", ".pickle");
    let module = file_of("xla/keep", ".hlo.pb");
    for file in [&snapshot, &module] {
        is_answered_alike(file, &["liveness", "--step", "peak"]);
        is_answered_alike(file, &["check", "--must-fit", "--capacity", "64GiB"]);
    }
    is_answered_alike(&snapshot, &["summary"]);
    is_answered_alike(&snapshot, &["map", "--arena", "0"]);
}

#[test]
fn what_is_piped_in_may_be_packed() {
    let directory = tempfile::tempdir().expect("a directory");
    let snapshot = file_of("training/segments-2", ".pickle");
    let packed = directory.path().join("packed");
    let plain = fs::File::open(&snapshot).expect("a snapshot");
    let mut file = fs::File::create(&packed).expect("a file");
    std::io::copy(&mut GzEncoder::new(plain, Compression::fast()), &mut file).expect("packed");
    let of_pipe = piped(&["liveness", "--json", "-"], fs::File::open(&packed).expect("the file"));
    let of_file = tilescope(&["liveness", "--json", &snapshot.display().to_string()]);
    assert_eq!(figures(&of_pipe), figures(&of_file));
}

#[test]
fn nothing_piped_in_and_what_is_no_run_are_said() {
    let empty = piped(&["summary", "-"], Stdio::null());
    let said = String::from_utf8_lossy(&empty.stderr);
    assert_eq!(empty.status.code(), Some(3), "{said}");
    assert!(said.contains("standard input is empty"), "{said}");
    let text = fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    let text = piped(&["liveness", "-"], text.expect("a text"));
    let said = String::from_utf8_lossy(&text.stderr);
    assert_eq!(text.status.code(), Some(3), "{said}");
    assert!(said.contains("standard input is a text file"), "{said}");
}
