//! The index: the same figures with and without it, whatever is wrong with it, and how it is kept.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::damaged::{DamagedIndex, OpenedByIndex};
use crate::common::{
    all_answers, in_package, json, real_report, sample, sample_options, with_cache,
};
use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::store::Report;
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;

/// A cache of its own, which is gone with the directory.
fn cache() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    // Columns grow in files, as those of large reports do.
    let limits = Limits { in_files_from_bytes: 0, ..Limits::default() };
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), limits);
    (directory, cache)
}

fn compare(report: &Report) -> Vec<String> {
    contradictions(report, &Progress::default())
}

/// A report that is read to its end.
fn read(path: &Path, cache: Option<&Cache>) -> OpenReport {
    let open = OpenReport::find_with(path, cache, &Progress::default()).unwrap();
    open.read_all(&Progress::default(), compare).unwrap();
    open
}

/// Writes the index of a report, and says where it is.
fn write(path: &Path, cache: &Cache) -> PathBuf {
    let open = read(path, Some(cache));
    assert!(!open.has_index());
    let bytes = open.write_index(&Progress::default()).unwrap().unwrap();
    let file = cache.list().first().unwrap().path.clone();
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
    file
}

/// All parts of a report, with its warnings and files.
fn parts(open: &OpenReport) -> String {
    let report = &*open.report;
    let small = format!(
        "{:?}",
        (
            (&report.about, &report.target, &report.graph, &report.memory, &report.arenas),
            (&report.categories, &report.compute_sets, &report.programs, &report.steps),
            (&report.liveness, &report.execution),
            (report.warnings.list(), report.files()),
        )
    );
    let large = format!(
        "{:?}",
        (
            (&report.debug, &report.variables, &report.tile_variable_bytes),
            (&report.vertex_types, &report.compute_set_tiles, &report.exchanges),
            (&report.control_code, &report.program_trees),
        )
    );
    small + "\n" + &large
}

/// A copy of a sample that a test may change.
fn copy() -> tempfile::TempDir {
    crate::common::damaged_sample(|_| {})
}

#[test]
fn all_figures_are_the_same_with_and_without_an_index() {
    let samples =
        sample_options().into_iter().map(|(name, _)| in_package("sample_profiles").join(name));
    for path in samples.chain(real_report("poplar-3.3")) {
        let (_directory, cache) = cache();
        let without = read(&path, None);
        assert_eq!(without.write_index(&Progress::default()).unwrap(), None, "no index is used");
        let answers = all_answers(&path);
        assert!(parts(&read(&path, Some(&cache))) == parts(&without), "columns that grow in files");
        write(&path, &cache);
        let with = read(&path, Some(&cache));
        assert!(with.has_index());
        assert!(with.report.variables.get().unwrap().offsets.is_shared(), "read in place");
        assert!(with.report.tile_variable_bytes.get().unwrap().bytes.is_shared());
        assert!(parts(&with) == parts(&without), "{}: parts differ", path.display());
        let found = with_cache(&cache, || all_answers(&path));
        for (found, expected) in found.iter().zip(&answers) {
            let text = |answer: &Result<serde_json::Value, _>| {
                answer.as_ref().map(ToString::to_string).map_err(ToString::to_string)
            };
            assert_eq!(text(found), text(expected), "{}", path.display());
        }
        assert!(with.has_index(), "nothing was wrong with it");
        assert_eq!(with.write_index(&Progress::default()).unwrap(), None, "it is there");
    }
}

#[test]
fn columns_that_find_no_room_in_files_are_read_to_memory() {
    let (_directory, cache) = cache();
    let open = OpenReport::find_with(&sample(), Some(&cache), &Progress::default()).unwrap();
    open.expect_index();
    fs::remove_dir(cache.directory()).unwrap();
    open.read_all(&Progress::default(), compare).unwrap();
    assert!(!open.report.variables.get().unwrap().offsets.is_shared());
    assert!(parts(&open) == parts(&read(&sample(), None)));
    assert!(
        open.write_index(&Progress::default()).unwrap().is_some(),
        "the directory is made again"
    );
}

#[test]
fn a_report_that_is_damaged_or_unfinished_has_no_index() {
    let (_directory, cache) = cache();
    let damaged = crate::common::damaged_sample(|directory| {
        let db = rusqlite::Connection::open(directory.join("profile.pop")).unwrap();
        db.execute_batch("UPDATE vars_info SET size_bytes = 'x' WHERE var_id = 77").unwrap();
    });
    let open = read(damaged.path(), Some(&cache));
    assert!(open.write_index(&Progress::default()).unwrap_err().to_string().contains("vars_info"));
    let cut = crate::common::damaged_sample(|directory| {
        let file = fs::File::options().write(true).open(directory.join("profile.pop")).unwrap();
        file.set_len(file.metadata().unwrap().len() - 4096).unwrap();
    });
    assert_eq!(read(cut.path(), Some(&cache)).write_index(&Progress::default()).unwrap(), None);
    let without_side_file = crate::common::damaged_sample(|directory| {
        fs::write(directory.join("app.json"), "{").unwrap();
    });
    read(without_side_file.path(), Some(&cache)).write_index(&Progress::default()).unwrap_err();
    assert!(cache.list().is_empty());
}

#[test]
fn a_changed_report_is_read_anew() {
    let (_directory, cache) = cache();
    let report = copy();
    let file = write(report.path(), &cache);
    let age = |name: &str| {
        let file = fs::File::options().append(true).open(report.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(1000)).unwrap();
    };
    for name in ["profile.pop", "debug.cbor", "app.json"] {
        assert!(read(report.path(), Some(&cache)).has_index());
        age(name);
        assert!(!read(report.path(), Some(&cache)).has_index(), "{name} has another time");
        assert_eq!(write(report.path(), &cache), file, "in the place of the one before");
    }
    fs::remove_file(report.path().join("framework.json")).unwrap();
    assert!(!read(report.path(), Some(&cache)).has_index(), "a file is gone");
    let open = read(report.path(), Some(&cache));
    age("profile.pop");
    assert!(open.write_index(&Progress::default()).unwrap_err().to_string().contains("changed"));
}

/// How many bytes apart bits are flipped, where not as few as usual: 1 takes minutes.
const EVERY: &str = "TILESCOPE_TEST_FLIPS_EVERY";

#[test]
fn an_index_that_is_cut_or_damaged_is_not_used() {
    let (_directory, cache) = cache();
    let report = copy();
    let file = write(report.path(), &cache);
    let found = || {
        let open = read(report.path(), Some(&cache));
        let (at_first, parts) = (open.has_index(), parts(&open));
        OpenedByIndex { at_first, parts, at_last: open.has_index() }
    };
    let index = DamagedIndex::of(&file, parts(&read(report.path(), None)), &found);
    let len = index.whole.len();

    let mut lengths = vec![0, 1, 9, 10, 11, 63, 64, 65, 1000];
    lengths.extend([1, 2, 9, 10, 11, 64, 1000, 4096].map(|less| len - less));
    lengths.extend((1..16).map(|part| len / 16 * part));
    index.is_cut_to(lengths);
    index.opened(&[&index.whole[..], &[0]].concat(), "a byte more");

    // The metadata stands at both ends and between columns; every byte at the ends, and others all over.
    let ends = (0..1500).step_by(5).chain((len - 3000..len).step_by(5));
    let every = std::env::var(EVERY).ok().and_then(|every| every.parse().ok());
    let between = (0..len).step_by(every.unwrap_or(len / 400));
    index.is_changed_at(ends.chain(between), 500);
}

#[test]
fn an_index_that_others_could_change_is_not_used() {
    let (_directory, cache) = cache();
    let report = copy();
    let file = write(report.path(), &cache);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(cache.directory())), (0o600, 0o700));
    for path in [&file, cache.directory()] {
        let private = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(0o722)).unwrap();
        assert!(!read(report.path(), Some(&cache)).has_index());
        fs::set_permissions(path, private).unwrap();
        assert!(read(report.path(), Some(&cache)).has_index());
    }
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let (directory, generous) = cache();
    let reports = [copy(), copy(), copy()];
    let first = write(reports[0].path(), &generous);
    let bytes = fs::metadata(&first).unwrap().len();
    let limits = Limits { most_bytes: bytes * 5 / 2, one_in: 1, ..Limits::default() };
    let cache = Cache::in_directory(generous.directory().to_owned(), limits);
    let age = |file: &Path, seconds| {
        let file = fs::File::options().append(true).open(file).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    age(&first, 200);
    let second = write(reports[1].path(), &cache);
    age(&second, 100);
    assert!(read(reports[0].path(), Some(&cache)).has_index(), "used: now the second is older");
    let left = directory.path().join("tilescope/index/left.behind.writing");
    let fresh = directory.path().join("tilescope/index/fresh.writing");
    let other = directory.path().join("tilescope/index/other.txt");
    for path in [&left, &fresh, &other] {
        fs::write(path, "not whole").unwrap();
    }
    age(&left, 4000);
    age(&other, 4000);
    write(reports[2].path(), &cache);
    assert!(first.is_file() && !second.is_file(), "no room for three");
    assert!(!left.is_file() && fresh.is_file() && other.is_file());
    let limits = Limits { most_bytes: 1000, one_in: 1, ..Limits::default() };
    let none = Cache::in_directory(directory.path().join("none"), limits);
    assert!(read(reports[0].path(), Some(&none)).write_index(&Progress::default()).is_err());
    assert!(none.list().is_empty());
    assert_eq!(fs::read_dir(directory.path().join("none")).unwrap().count(), 0);
}

/// The program with a cache directory of its own.
fn tilescope(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(arguments)
        .env("XDG_CACHE_HOME", home)
        .output()
        .unwrap()
}

#[test]
fn the_command_writes_lists_and_clears() {
    let home = tempfile::tempdir().unwrap();
    let path = sample();
    let path = path.to_str().unwrap();
    let list = || json(&tilescope(home.path(), &["index", "--list", "--json"]));
    assert_eq!(list()["indexes"].as_array().unwrap().len(), 0);
    let before = tilescope(home.path(), &["summary", path, "--json"]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "commands write nothing");
    let written = json(&tilescope(home.path(), &["index", path, "--json"]));
    assert_eq!(
        (&written["schema"], &written["files"]),
        (&"tilescope.index-change/1".into(), &1.into())
    );
    let listed = list();
    let row = &listed["indexes"][0];
    assert_eq!(listed["schema"], "tilescope.index/1");
    assert_eq!((&row["is_current"], &row["bytes"]), (&true.into(), &written["bytes"]));
    assert_eq!(
        row["report"].as_str().unwrap(),
        Path::new(path).canonicalize().unwrap().to_str().unwrap()
    );
    let text = String::from_utf8(tilescope(home.path(), &["index", "--list"]).stdout).unwrap();
    assert!(text.contains("sample_profiles/tiny") && text.contains("now"), "{text}");

    let file = PathBuf::from(row["file"].as_str().unwrap());
    let used = || fs::metadata(&file).unwrap().modified().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(10_000);
    fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    for arguments in
        [["summary", path, "--json", "--no-index"], ["--no-index", "summary", path, "--json"]]
    {
        let without = tilescope(home.path(), &arguments);
        assert_eq!(without.status.code(), before.status.code(), "{arguments:?}");
        assert_eq!(without.stdout, before.stdout);
    }
    assert_eq!(used(), long_ago, "not looked at");
    for command in [
        &["summary", path, "--json"][..],
        &["tiles", path, "--by", "gaps", "--json"],
        &["liveness", path, "--step", "peak", "--tile", "3", "--json"],
        &["liveness", path, "--step", "peak", "--ipu", "0", "--by", "variable", "--json"],
        &["map", path, "--tile", "3", "--json"],
        &["compare", path, path, "--json"],
        &["check", path, "--must-fit", "--json"],
        &["sweep", path, "--json"],
    ] {
        let with = tilescope(home.path(), command);
        let without = tilescope(home.path(), &[command, &["--no-index"]].concat());
        assert!(with.stdout == without.stdout && with.stderr == without.stderr, "{command:?}");
        assert!(!with.stdout.is_empty());
    }
    assert!(used() > long_ago, "used");
    let again = json(&tilescope(home.path(), &["index", path, "--json"]));
    assert_eq!(again["files"], 0, "there is one");
    let cleared = json(&tilescope(home.path(), &["index", "--clear", "--json"]));
    assert_eq!((&cleared["files"], &cleared["bytes"]), (&1.into(), &written["bytes"]));
    assert_eq!(list()["indexes"].as_array().unwrap().len(), 0);
    for wrong in [&["index"][..], &["index", "--list", "--clear"], &["index", path, "--list"]] {
        assert_eq!(tilescope(home.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn several_processes_at_once_leave_one_index() {
    let home = tempfile::tempdir().unwrap();
    let path = in_package("sample_profiles/pair-0.6");
    let start = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(arguments)
            .env("XDG_CACHE_HOME", home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let path = path.to_str().unwrap();
    let expected = tilescope(home.path(), &["summary", path, "--json", "--no-index"]).stdout;
    for _ in 0..5 {
        let writers: Vec<_> = (0..3).map(|_| start(&["index", path])).collect();
        let readers: Vec<_> = (0..3).map(|_| start(&["summary", path, "--json"])).collect();
        for reader in readers {
            assert_eq!(reader.wait_with_output().unwrap().stdout, expected);
        }
        for writer in writers {
            assert!(writer.wait_with_output().unwrap().status.success());
        }
        let files = fs::read_dir(home.path().join("tilescope/index")).unwrap().count();
        assert_eq!(files, 1, "an index and nothing else");
        assert_eq!(tilescope(home.path(), &["summary", path, "--json"]).stdout, expected);
        tilescope(home.path(), &["index", "--clear"]);
    }
}

const CUT: &str = "TILESCOPE_TEST_CUTS_THE_INDEX_IN";

/// The child of the test below: does nothing where it is not told to.
#[test]
#[ignore = "the child of another test"]
fn child_whose_index_is_cut() {
    let Ok(home) = std::env::var(CUT) else { return };
    let cache = Cache::in_directory(PathBuf::from(home), Limits::default());
    let open = read(&sample(), Some(&cache));
    let sum = |open: &OpenReport| {
        let offsets = &open.report.variables.get().unwrap().offsets;
        offsets.iter().map(|offset| u64::from(*offset)).sum::<u64>()
    };
    println!("before {}", sum(&open));
    let entry = cache.list().remove(0);
    fs::File::options().write(true).open(entry.path).unwrap().set_len(0).unwrap();
    println!("after {}", sum(&open));
}

#[cfg(target_os = "linux")]
#[test]
fn who_has_a_cut_index_mapped_ends_and_nobody_else() {
    use std::os::unix::process::ExitStatusExt as _;
    const SIGBUS: i32 = 7;
    let (home, mine) = cache();
    write(&sample(), &mine);
    let open = read(&sample(), Some(&mine));
    let before = parts(&open);
    let theirs = Cache::in_directory(home.path().join("theirs"), Limits::default());
    write(&sample(), &theirs);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "index::child_whose_index_is_cut", "--ignored", "--nocapture"])
        .env(CUT, theirs.directory())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(text.contains("before") && !text.contains("after"), "{text}");
    assert_eq!(child.status.signal(), Some(SIGBUS), "{:?}", child.status);
    assert!(parts(&open) == before, "this process goes on");
    let again = read(&sample(), Some(&theirs));
    assert!(!again.has_index() && parts(&again) == before, "what was cut is not used");
    assert!(again.write_index(&Progress::default()).unwrap().is_some(), "and made again");

    // Removed and replaced as a name, as the index itself does, it stays for those who have it.
    mine.clear().unwrap();
    assert!(parts(&open) == before);
}
