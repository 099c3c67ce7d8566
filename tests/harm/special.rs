//! Paths that are not files: FIFOs, sockets, devices, directories.

use super::*;

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// What it is called, and how it is made.
type Kind = (&'static str, fn(&Path));

/// Everything that may lie beside a profile.
const BESIDE: [&str; 8] = [
    "profile.pop-journal",
    "profile.pop-wal",
    "debug.cbor",
    "app.json",
    "framework.json",
    "archive.a",
    "compile.log",
    "profile.pop_cache",
];

fn beside(make: impl Fn(&Path)) -> String {
    let directory = harmed_sample(|directory| {
        for name in BESIDE {
            let path = directory.join(name);
            // Not all are there.
            drop(fs::remove_file(&path));
            make(&path);
        }
    });
    let answers = all_answers(directory.path());
    assert!(answers.iter().all(Result::is_ok), "{}", said(&answers));
    said(&answers)
}

#[test]
fn fifos_sockets_and_directories_beside_a_profile_are_not_opened() {
    let kinds: [Kind; 4] = [
        ("a FIFO", fifo),
        ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ];
    for (what, make) in kinds {
        let said = beside(make);
        for name in BESIDE.iter().take(6) {
            let named = said.lines().any(|line| {
                line.contains(&format!("\"{name}\""))
                    && line.contains(&format!("it is {what}, not a file"))
            });
            assert!(named, "{name}, {what}: {said}");
        }
    }
}

#[test]
fn a_profile_that_is_no_file_is_called_what_it_is() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("profile.pop");
    fifo(&profile);
    for path in [directory.path(), &profile] {
        let said = summary(path).unwrap_err().message;
        assert!(
            said.contains("profile.pop") && said.contains("it is a FIFO, not a file"),
            "{said}"
        );
    }
    fs::remove_file(&profile).unwrap();
    fs::create_dir(&profile).unwrap();
    let said = summary(directory.path()).unwrap_err().message;
    assert!(said.contains("profile.pop") && said.contains("it is a directory"), "{said}");
}

#[test]
fn a_sweep_of_fifos_and_links_that_lead_back() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let below = |path: &str| directory.path().join(path);
    for run in ["a", "b", "c"] {
        fs::create_dir(below(run)).unwrap();
    }
    fs::copy(sample().join("profile.pop"), below("a/profile.pop")).unwrap();
    fifo(&below("a/profile.pop-journal"));
    fifo(&below("a/app.json"));
    fifo(&below("b/profile.pop"));
    fifo(&below("b/run.log"));
    fifo(&below("c/app.json"));
    symlink(directory.path(), below("c/back")).unwrap();
    symlink(below("c/loop"), below("c/loop")).unwrap();
    let output =
        crate::common::tilescope(&["sweep", "--json", &directory.path().display().to_string()]);
    let answer = crate::common::json(&output);
    assert_eq!(answer["runs"][0]["error"], Value::Null, "{answer:#}");
    let said = answer["warnings"].to_string();
    assert!(said.contains("b/profile.pop") && said.contains("it is a FIFO"), "{said}");
}

/// SQLite opens no path of 512 bytes.
#[test]
fn a_profile_that_lies_deep_is_read() {
    let _alone = alone();
    let top = tempfile::tempdir().unwrap();
    let deep = top.path().join(["d".repeat(200), "e".repeat(200), "f".repeat(200)].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::copy(sample().join("profile.pop"), deep.join("profile.pop")).unwrap();
    symlink(&deep, top.path().join("link")).unwrap();
    let plain = tempfile::tempdir().unwrap();
    fs::copy(sample().join("profile.pop"), plain.path().join("profile.pop")).unwrap();
    let figures = |path: &Path| summary(path).map(|answer| answer["memory"].clone());
    let expected = figures(plain.path()).unwrap();
    assert_ne!(expected, Value::Null);
    for path in [&deep, &top.path().join("link")] {
        assert_eq!(figures(path).unwrap(), expected);
    }
    // What is too large to be copied is refused, and what helps is said.
    let file = fs::OpenOptions::new().write(true).open(deep.join("profile.pop")).unwrap();
    file.set_len(1 << 40).unwrap();
    let refused = summary(&deep).unwrap_err();
    assert!(refused.message.contains("longer than SQLite opens"), "{}", refused.message);
    assert!(refused.hint.is_some_and(|hint| hint.contains("shorter")));
}

/// Files that say to be longer than any disk: what is read of them is what their readers would take.
#[test]
fn files_with_holes_are_not_read_to_their_ends() {
    let directory = harmed_sample(|directory| {
        for name in ["profile.pop", "app.json", "framework.json", "compile.log", "debug.cbor"] {
            let file = fs::OpenOptions::new().write(true).open(directory.join(name)).unwrap();
            file.set_len(1 << if name == "profile.pop" { 40 } else { 30 }).unwrap();
        }
        // Debug contexts end where they end; a log is read as far as logs are.
        fs::write(directory.join("compile.log"), "").unwrap();
        fs::write(directory.join("debug.cbor"), "").unwrap();
    });
    let lake = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    let path = directory.path().to_owned();
    let (exported, took) =
        counted(|| tilescope::lake::export(&[path], None, lake.path(), &progress));
    exported.unwrap();
    assert!(took.work.bytes < 100 << 20 && took.bytes < 100 * MIB, "{}", took.work);
}

/// A log that is named is read to its end, however long it is, but for what it does not have.
#[cfg(target_os = "linux")]
#[test]
fn a_log_with_a_hole_is_diagnosed_without_it() {
    use std::os::unix::fs::FileExt as _;
    let line = "Memory allocation: Out of memory on tile 3: 700000 bytes used but tiles only have 638976.\n";
    let directory = harmed_sample(|directory| {
        let file = fs::File::create(directory.join("compile.log")).unwrap();
        file.write_all_at(line.as_bytes(), 0).unwrap();
        // Another failure: the same told again would be one.
        let other = line.replace("tile 3", "tile 4");
        file.write_all_at(other.as_bytes(), 4 << 30).unwrap();
        file.set_len(8 << 30).unwrap();
    });
    let log = directory.path().join("compile.log").display().to_string();
    let report = crate::common::json(&crate::common::tilescope(&["diagnose", "--json", &log]));
    assert_eq!(report["findings"].as_array().unwrap().len(), 2, "{report:#}");
    // The zeros of a hole would be a line that is too long.
    assert_eq!((&report["cut_lines"], &report["lines"]), (&0.into(), &3.into()));
}
