//! Commands that are interrupted: nothing half written stays.

use super::*;

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn begun(words: &[&str], directory: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(words).current_dir(directory).env("XDG_CACHE_HOME", directory.join("cache"));
    command.env("TMPDIR", directory).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Sends a signal as soon as something is there; how the process ends then.
fn interrupted(mut child: Child, signal: Signal, is_there: impl Fn() -> bool) -> ExitStatus {
    while !is_there() {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
    child.wait().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn half_a_synthetic_run_goes_with_the_process() {
    for (words, file) in [
        (&["synth", "--size", "1GiB", "-o", "made"][..], "profile.pop"),
        (&["synth", "--system", "pytorch", "--size", "4GiB", "-o", "made/a.pickle"], "a.pickle"),
    ] {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let directory = tempfile::tempdir().unwrap();
            let made = directory.path().join("made");
            let child = begun(words, directory.path());
            let status = interrupted(child, signal, || made.join(file).exists());
            assert_eq!(status.signal(), Some(signal as i32), "{words:?}: {status}");
            assert!(names(&made).is_empty(), "{:?}", names(&made));
        }
    }
}

#[test]
fn half_a_run_of_a_lake_goes_with_the_process() {
    let runs = in_package("sample_profiles").display().to_string();
    // An export may end before the signal comes.
    let found = (0..20).find_map(|_| {
        let directory = tempfile::tempdir().unwrap();
        let lake = directory.path().join("lake");
        let child = begun(&["export", "--parquet", "lake", &runs], directory.path());
        let is_begun = || names(&lake).iter().any(|name| name.starts_with(".export-"));
        let status = interrupted(child, Signal::SIGINT, is_begun);
        (status.signal() == Some(Signal::SIGINT as i32)).then(|| names(&lake))
    });
    let left = found.expect("one that was interrupted");
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
}

#[test]
fn the_copy_of_an_unfinished_profile_goes_with_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("run/profile.pop");
    fs::create_dir(directory.path().join("run")).unwrap();
    fs::copy(sample().join("profile.pop"), &profile).unwrap();
    // A journal that takes a while to be copied.
    let journal = fs::File::create(profile.with_file_name("profile.pop-journal")).unwrap();
    std::io::Write::write_all(&mut &journal, &[1; 4096]).unwrap();
    journal.set_len(1 << 30).unwrap();
    let child = begun(&["summary", "run"], directory.path());
    let is_copied = || names(directory.path()).iter().any(|name| name.starts_with("tilescope-"));
    let status = interrupted(child, Signal::SIGTERM, is_copied);
    assert_eq!(status.signal(), Some(Signal::SIGTERM as i32), "{status}");
    assert_eq!(names(directory.path()), ["run"]);
}

/// `nohup` and a shell's background jobs ignore a signal; it does not end what they start.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_tilescope");
    let words = "trap '' INT; exec \"$0\" synth --size 64MiB -o made";
    let child = Command::new("sh")
        .args(["-c", words, program])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let profile = directory.path().join("made/profile.pop");
    let status = interrupted(child, Signal::SIGINT, || profile.exists());
    assert!(status.success() && profile.exists(), "{status}");
}
