//! The index of XLA modules: the same figures with and without it, and never one that is damaged or of another module.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::damaged::{DamagedIndex, OpenedByIndex};
use crate::common::wire::part;
use crate::common::{in_package, json};
use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::systems::system::FoundRun as _;
use tilescope::systems::xla::run::{XlaFiles, XlaRun};
use tilescope::systems::xla::synth::{DumpOptions, write_dump};

/// An index of modules of any size.
fn cache() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { from_rows: 0, ..Limits::default() };
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), limits);
    (directory, cache)
}

fn open(files: &XlaFiles, cache: Option<&Cache>) -> XlaRun {
    XlaRun::open_with(files, cache, &Progress::default()).unwrap().unwrap()
}

/// The modules of a path, each as the one that is meant.
fn modules(path: &Path) -> Vec<XlaFiles> {
    let Ok(found) = crate::common::found::<XlaFiles>(path) else { return Vec::new() };
    let chosen = |place| {
        let mut files = (*found).clone();
        files.choose_module(place);
        files
    };
    (0..found.modules.len()).map(chosen).collect()
}

/// The only module of a path.
fn module(path: &Path) -> XlaFiles {
    let [one] = <[XlaFiles; 1]>::try_from(modules(path)).expect("one module");
    one
}

/// All that is known of a run.
fn parts(run: &XlaRun) -> String {
    run.fill_report(&Progress::default());
    let report = &run.report;
    format!(
        "{:?}",
        (
            (&run.program, &run.error_text, report.warnings.list(), report.files()),
            (&report.arenas, &report.programs, &report.steps, &report.liveness, &report.deltas),
            (&report.debug, &report.about),
        )
    )
}

fn write(files: &XlaFiles, cache: &Cache) -> PathBuf {
    let run = open(files, Some(cache));
    assert!(!run.has_index());
    let bytes = run.write_index(&Progress::default()).unwrap().unwrap();
    let file = cache.list().first().unwrap().path.clone();
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
    file
}

fn dump(options: &DumpOptions) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dump");
    let written = write_dump(options, &path, &Progress::default()).unwrap();
    (directory, written.file)
}

/// A dump that is read quickly.
fn small_dump() -> (tempfile::TempDir, PathBuf) {
    dump(&DumpOptions { has_texts: true, ..DumpOptions::default() }.with_instructions(400))
}

/// A profile with the protos of these files.
fn profile(protos: &[&Path]) -> Vec<u8> {
    let entry = |path: &&Path| part(4, part(2, part(5, part(6, fs::read(path).unwrap()))));
    let protos: Vec<u8> = protos.iter().flat_map(entry).collect();
    part(1, [part(2, "/host:metadata"), protos].concat())
}

#[test]
fn all_that_is_known_of_a_module_is_the_same_with_and_without_an_index() {
    let (_kept, proto) = small_dump();
    let without_proto = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(proto.parent().unwrap()).unwrap().flatten() {
        if entry.path() != proto {
            fs::copy(entry.path(), without_proto.path().join(entry.file_name())).unwrap();
        }
    }
    let mut paths = vec![proto, without_proto.path().to_owned()];
    let real = in_package("../shared/profiles/xla");
    match fs::read_dir(&real) {
        Ok(entries) => paths.extend(entries.flatten().map(|entry| entry.path())),
        Err(_) => println!("skipped: {} is not there", real.display()),
    }
    let bare = paths.iter().map(|path| path.join("buffer_assignment.pb"));
    paths.extend(bare.filter(|path| path.is_file()).collect::<Vec<_>>());
    let mut seen = 0;
    for files in paths.iter().flat_map(|path| modules(path)) {
        let (_directory, cache) = cache();
        let without = open(&files, None);
        assert_eq!(without.write_index(&Progress::default()).unwrap(), None, "no index is used");
        write(&files, &cache);
        let with = open(&files, Some(&cache));
        assert!(with.has_index());
        assert!(parts(&with) == parts(&without), "{}", files.opened_by().display());
        assert_eq!(with.write_index(&Progress::default()).unwrap(), None, "it is there");
        seen += 1;
    }
    assert!(seen >= 2, "{seen} modules");
}

#[test]
fn a_small_module_has_no_index() {
    let (_kept, path) = small_dump();
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::in_directory(home.path().join("index"), Limits::default());
    let run = open(&module(&path), Some(&cache));
    assert_eq!(run.write_index(&Progress::default()).unwrap(), None);
    assert!(cache.list().is_empty());
}

fn tilescope(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(arguments).env("XDG_CACHE_HOME", home).output().unwrap()
}

#[test]
fn commands_answer_the_same_byte_for_byte() {
    let home = tempfile::tempdir().unwrap();
    let (_kept, large) = dump(&DumpOptions::default().with_instructions(12_000));
    let (_other, small) = small_dump();
    let [large, small] = [&large, &small].map(|path| path.to_str().unwrap());
    let written = json(&tilescope(home.path(), &["index", large, small, "--json"]));
    assert_eq!((&written["files"], &written["not_written"]), (&1.into(), &1.into()));
    let listed = json(&tilescope(home.path(), &["index", "--list", "--json"]));
    assert_eq!(listed["indexes"][0]["is_current"], true);
    for command in [
        &["summary", large, "--json"][..],
        &["summary", large],
        &["liveness", large, "--step", "peak", "--json"],
        &["liveness", large, "--peaks", "3"],
        &["map", large, "--arena", "0", "--json"],
        &["check", large, "--max-peak-bytes", "1GiB", "--json"],
        &["compare", large, small, "--json"],
        &["sweep", large, "--json"],
    ] {
        let with = tilescope(home.path(), command);
        let without = tilescope(home.path(), &[command, &["--no-index"]].concat());
        assert!(with.stdout == without.stdout && with.stderr == without.stderr, "{command:?}");
        assert!(!with.stdout.is_empty(), "{command:?}");
    }
    let again = tilescope(home.path(), &["index", large]);
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.contains("0 files written") && text.contains("skipped 1 run"), "{text}");
}

#[test]
fn each_module_of_a_profile_has_an_index_of_its_own() {
    let (_kept, first) = small_dump();
    let (_other, second) = dump(&DumpOptions::default().with_instructions(600));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host.xplane.pb");
    fs::write(&path, profile(&[&first, &second])).unwrap();
    let (_directory, cache) = cache();
    let modules = modules(&path);
    assert_eq!(modules.len(), 2);
    for files in &modules {
        write(files, &cache);
    }
    assert_eq!(cache.list().len(), 2);
    for files in &modules {
        let with = open(files, Some(&cache));
        assert!(with.has_index() && parts(&with) == parts(&open(files, None)));
    }
    // The same modules in another order are other places.
    fs::write(&path, profile(&[&second, &first])).unwrap();
    for files in &self::modules(&path) {
        let run = open(files, Some(&cache));
        assert!(!run.has_index() && parts(&run) == parts(&open(files, None)));
    }
}

#[test]
fn what_was_said_of_a_module_is_said_again_by_the_name_that_its_file_has() {
    let directory = tempfile::tempdir().unwrap();
    // Of two places in an allocation one is of a value that does not exist.
    let assignment = part(3, [part(9, [8, 0xFF, 0xFF, 0xFF, 0x7F]), vec![8, 5, 16, 16]].concat());
    let path = directory.path().join("buffer_assignment.pb");
    let value = part(1, [vec![8, 3, 16, 8], part(3, [32, 1])].concat());
    fs::write(&path, [value, assignment].concat()).unwrap();
    let (_directory, cache) = cache();
    write(&module(&path), &cache);
    let with = open(&module(&path), Some(&cache));
    assert!(with.has_index() && !with.report.warnings.list().is_empty());
    assert_eq!(with.report.warnings.list(), open(&module(&path), None).report.warnings.list());
    // By another name it is another one.
    let link = directory.path().join("assignment_link.pb");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let linked = open(&module(&link), Some(&cache));
    assert!(!linked.has_index());
    assert_eq!(linked.report.warnings.list(), open(&module(&link), None).report.warnings.list());
}

#[test]
fn another_or_a_cut_module_has_no_index() {
    let (_kept, path) = small_dump();
    let (_directory, cache) = cache();
    write(&module(&path), &cache);
    let whole = fs::read(&path).unwrap();
    let (_other, other) = dump(&DumpOptions::default().with_instructions(600));
    fs::copy(&other, &path).unwrap();
    let changed = open(&module(&path), Some(&cache));
    assert!(!changed.has_index());
    assert!(parts(&changed) == parts(&open(&module(&path), None)));
    fs::write(&path, &whole).unwrap();
    let error = changed.write_index(&Progress::default()).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let cut = open(&module(&path), Some(&cache));
    assert!(!cut.has_index() && cut.report.is_cut());
    let error = cut.write_index(&Progress::default()).unwrap_err();
    assert!(error.to_string().contains("not whole"), "{error}");
}

#[test]
fn an_index_that_is_cut_or_damaged_is_not_used_and_made_again() {
    let (_kept, path) = small_dump();
    let (_directory, cache) = cache();
    let files = module(&path);
    let file = write(&files, &cache);
    let found = || {
        let run = open(&files, Some(&cache));
        let (at_first, parts) = (run.has_index(), parts(&run));
        OpenedByIndex { at_first, parts, at_last: run.has_index() }
    };
    let index = DamagedIndex::of(&file, parts(&open(&files, None)), &found);
    let len = index.whole.len();
    index.is_cut_to((0..20).map(|part| len / 20 * part));
    index.is_changed_at((0..len).step_by(len / 200), 150);
    index.place(&index.whole[..len / 2]);
    let run = open(&files, Some(&cache));
    assert!(run.write_index(&Progress::default()).unwrap().is_some(), "made again");
    assert!(open(&files, Some(&cache)).has_index());
}
