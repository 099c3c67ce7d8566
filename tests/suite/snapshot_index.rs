//! The index of memory snapshots: the same figures with and without it, and never one that is damaged or of another file.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::common::damaged::{DamagedIndex, OpenedByIndex};
use crate::common::recording::{HOST, MIB, Recording, no_stack, stack};
use crate::common::{in_package, json, sample_snapshot_options};
use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::systems::pytorch::files::SnapshotFiles;
use tilescope::systems::pytorch::run::{RunContents, SnapshotRun};

fn cache() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), Limits::default());
    (directory, cache)
}

fn open(path: &Path, cache: Option<&Cache>) -> SnapshotRun {
    let progress = Progress::default();
    let files = crate::common::found::<SnapshotFiles>(path).expect("a snapshot");
    SnapshotRun::open_with(&files, cache, &progress).unwrap().unwrap()
}

/// Writes the index of a snapshot, and says where it is.
fn write(path: &Path, cache: &Cache) -> PathBuf {
    let run = open(path, Some(cache));
    assert!(!run.has_index());
    let bytes = run.write_index(&Progress::default()).unwrap().unwrap();
    let file = cache.list().first().unwrap().path.clone();
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
    file
}

/// All that is known of a run.
fn parts(run: &SnapshotRun) -> String {
    let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("a snapshot") };
    let categories: Vec<_> =
        (0..replayed.replays.len()).map(|place| replayed.categories(place)).collect();
    format!(
        "{:?}",
        (
            (&replayed.snapshot, &replayed.replays, categories),
            (
                run.report.warnings.list(),
                run.report.files(),
                &run.allocator.claims,
                &run.allocator.stated
            ),
        )
    )
}

/// Two devices with events at their own times and the host, with annotations, a setting and a request that failed.
fn recording() -> Recording {
    let mut run = Recording::default();
    run.set("max_split_size", 20);
    let weight =
        stack(&[("/v/torch/nn/modules/module.py", 9, "_apply"), ("/me/train.py", 10, "main")]);
    let activation = stack(&[("/me/train.py", 20, "forward")]);
    run.annotate(0, "START", "step");
    run.alloc(HOST, 64 * MIB, &stack(&[("/me/data.py", 5, "pin")]));
    run.alloc(0, 4 * MIB, &weight);
    run.alloc(1, 4 * MIB, &weight);
    let first = run.alloc(0, 6 * MIB, &activation);
    let second = run.alloc(1, 8 * MIB, &activation);
    run.alloc(0, 4 * MIB, &no_stack());
    run.free(second);
    run.out_of_memory(0, 900 * MIB, 5 * MIB);
    run.free(first);
    run.annotate(0, "END", "step");
    run
}

fn written(recording: &Recording) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = recording.write(directory.path(), "run.pickle");
    (directory, path)
}

fn samples() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = sample_snapshot_options()
        .iter()
        .map(|(name, _)| in_package("sample_profiles").join(name))
        .collect();
    let real = in_package("../shared/profiles/pytorch");
    let Ok(entries) = fs::read_dir(&real) else {
        println!("skipped: {} is not there", real.display());
        return paths;
    };
    let is_snapshot = |path: &PathBuf| crate::common::found::<SnapshotFiles>(path).is_ok();
    let found = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    paths.extend(found.filter(is_snapshot));
    paths
}

#[test]
fn all_that_is_known_of_a_snapshot_is_the_same_with_and_without_an_index() {
    let (_kept, made) = written(&recording());
    for path in samples().into_iter().chain([made]) {
        let (_directory, cache) = cache();
        let without = open(&path, None);
        assert_eq!(without.write_index(&Progress::default()).unwrap(), None, "no index is used");
        if !matches!(without.allocator.contents, RunContents::Snapshot(_)) {
            assert_eq!(open(&path, Some(&cache)).write_index(&Progress::default()).unwrap(), None);
            continue;
        }
        write(&path, &cache);
        let with = open(&path, Some(&cache));
        assert!(with.has_index(), "{}", path.display());
        let RunContents::Snapshot(replayed) = &with.allocator.contents else {
            panic!("a snapshot")
        };
        let is_empty = replayed.snapshot.events.is_empty();
        assert!(replayed.snapshot.events.addresses.is_shared() || is_empty, "read in place");
        assert!(parts(&with) == parts(&without), "{}", path.display());
        let [with_index, read] = [&with, &without].map(|run| run.allocator.insights());
        assert_eq!(with_index, read, "{}", path.display());
        assert_eq!(with.write_index(&Progress::default()).unwrap(), None, "it is there");
    }
}

fn tilescope(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(arguments).env("XDG_CACHE_HOME", home).output().unwrap()
}

#[test]
fn commands_answer_the_same_byte_for_byte() {
    let home = tempfile::tempdir().unwrap();
    let (_kept, made) = written(&recording());
    let path = made.to_str().unwrap();
    let written = json(&tilescope(home.path(), &["index", path, "--json"]));
    assert_eq!(written["files"], 1);
    let listed = json(&tilescope(home.path(), &["index", "--list", "--json"]));
    let row = &listed["indexes"][0];
    assert_eq!(row["report"].as_str().unwrap(), made.canonicalize().unwrap().to_str().unwrap());
    assert_eq!(row["is_current"], true);
    let file = PathBuf::from(row["file"].as_str().unwrap());
    let long_ago = SystemTime::now() - Duration::from_secs(10_000);
    fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    for command in [
        &["summary", path, "--json"][..],
        &["summary", path],
        &["liveness", path, "--json"],
        &["liveness", path, "--step", "peak", "--device", "1", "--json"],
        &["liveness", path, "--peaks", "3"],
        &["check", path, "--max-peak-bytes", "1GiB", "--json"],
        &["compare", path, path, "--json"],
        &["sweep", path, "--json"],
    ] {
        let with = tilescope(home.path(), command);
        let without = tilescope(home.path(), &[command, &["--no-index"]].concat());
        assert!(with.stdout == without.stdout && with.stderr == without.stderr, "{command:?}");
        assert!(!with.stdout.is_empty());
    }
    assert!(fs::metadata(&file).unwrap().modified().unwrap() > long_ago, "used");
    assert_eq!(
        json(&tilescope(home.path(), &["index", path, "--json"]))["files"],
        0,
        "it is there"
    );
}

#[test]
fn what_was_said_of_a_snapshot_is_said_again() {
    let mut snapshot = recording().snapshot();
    let event = &mut snapshot["device_traces"][0][1];
    event["action"] = "something new".into();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pickle");
    fs::write(&path, crate::common::pickle::pickle(&snapshot)).unwrap();
    let (_directory, cache) = cache();
    write(&path, &cache);
    let with = open(&path, Some(&cache));
    assert!(with.has_index() && !with.report.warnings.list().is_empty());
    assert_eq!(with.report.warnings.list(), open(&path, None).report.warnings.list());
    // Of a file by the name that it is opened by, whatever it was called when it was read.
    let link = directory.path().join("link.pickle");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let linked = open(&link, Some(&cache));
    assert!(linked.has_index());
    assert_eq!(linked.report.warnings.list(), open(&link, None).report.warnings.list());
}

#[test]
fn another_or_a_cut_snapshot_has_no_index() {
    let (_kept, path) = written(&recording());
    let (_directory, cache) = cache();
    write(&path, &cache);
    let whole = fs::read(&path).unwrap();
    let mut other = recording();
    other.alloc(0, MIB, &no_stack());
    other.write(path.parent().unwrap(), "run.pickle");
    let changed = open(&path, Some(&cache));
    assert!(!changed.has_index());
    fs::write(&path, &whole).unwrap();
    let error = changed.write_index(&Progress::default()).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let cut = open(&path, Some(&cache));
    assert!(!cut.has_index());
    let error = cut.write_index(&Progress::default()).unwrap_err();
    assert!(error.to_string().contains("not whole"), "{error}");
}

#[test]
fn an_index_that_is_cut_or_damaged_is_not_used_and_made_again() {
    let (_kept, path) = written(&recording());
    let (_directory, cache) = cache();
    let file = write(&path, &cache);
    let found = || {
        let run = open(&path, Some(&cache));
        let (at_first, parts) = (run.has_index(), parts(&run));
        OpenedByIndex { at_first, parts, at_last: run.has_index() }
    };
    let index = DamagedIndex::of(&file, parts(&open(&path, None)), &found);
    let len = index.whole.len();
    index.is_cut_to((0..40).map(|part| len / 40 * part));
    index.is_changed_at((0..len).step_by(len / 1000), 300);
    index.place(&index.whole[..len / 2]);
    let run = open(&path, Some(&cache));
    assert!(run.write_index(&Progress::default()).unwrap().is_some(), "made again");
    assert!(open(&path, Some(&cache)).has_index());
}

#[test]
fn without_room_or_permission_it_is_read_without_an_index() {
    let (_kept, path) = written(&recording());
    let expected = parts(&open(&path, None));
    let (directory, _) = cache();
    let limits = Limits { most_bytes: 1000, one_in: 1, ..Limits::default() };
    let narrow = Cache::in_directory(directory.path().join("narrow"), limits);
    let run = open(&path, Some(&narrow));
    assert!(run.write_index(&Progress::default()).is_err() && parts(&run) == expected);
    assert!(narrow.list().is_empty());
    // Whoever may write anywhere is told from others by a file in the way.
    let in_the_way = directory.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let nowhere = Cache::in_directory(in_the_way.join("index"), Limits::default());
    let run = open(&path, Some(&nowhere));
    assert!(run.write_index(&Progress::default()).is_err() && parts(&run) == expected);
    let (_directory, shared) = cache();
    let file = write(&path, &shared);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
    let run = open(&path, Some(&shared));
    assert!(!run.has_index() && parts(&run) == expected, "others could have changed it");
}

#[test]
fn an_index_whose_writing_is_cancelled_is_not_there() {
    let (_kept, path) = written(&recording());
    let (_directory, cache) = cache();
    let run = open(&path, Some(&cache));
    let progress = Progress::default();
    progress.cancel();
    assert!(run.write_index(&progress).is_err());
    assert!(cache.list().is_empty());
    assert_eq!(fs::read_dir(cache.directory()).unwrap().count(), 0, "nothing is left of it");
}
