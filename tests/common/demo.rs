//! Shared by tests of the demos.

use std::path::{Path, PathBuf};

/// That the demo of a system has so many runs, and is written once.
#[track_caller]
pub fn assert_written_once(system: &str, runs: impl Fn(&Path) -> Vec<PathBuf>, count: usize) {
    let cache = tempfile::tempdir().expect("a directory");
    let written = || {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["demo", "--system", system])
            .env("XDG_CACHE_HOME", cache.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .expect("the program");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let directory = written();
    let files = runs(directory.as_ref());
    let time = |file: &PathBuf| file.metadata().and_then(|of| of.modified()).expect("a time");
    let times = || -> Vec<_> { files.iter().map(time).collect() };
    let before = times();
    assert_eq!(before.len(), count);
    assert_eq!(written(), directory);
    assert_eq!(times(), before);
}
