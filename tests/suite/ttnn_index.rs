//! The index of TT-NN reports: the same figures with and without it, no row is read twice, and never one that is damaged or of
//! another report.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::damaged::{DamagedIndex, OpenedByIndex};
use crate::common::{in_package, json};
use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::store::Warnings;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::system::{OpenRun, Reading, RunSystem as _};
use tilescope::systems::tenstorrent::synth::{TtnnReportOptions, write_report};
use tilescope::systems::tenstorrent::system::Tenstorrent;

/// An index of reports of any size.
fn cache() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { from_rows: 0, ..Limits::default() };
    let cache = Cache::in_directory(directory.path().join("tilescope/index"), limits);
    (directory, cache)
}

/// A report of an encoder of so many layers, through which so many batches go.
fn report(layers: u64, passes: u64) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let default = TtnnReportOptions::default();
    let network = Transformer { layers, width: 256, heads: 4, sequence: 128, ..default.network };
    let options = TtnnReportOptions { network, passes, ..default };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    directory
}

fn open(path: &Path, cache: Option<&Cache>) -> Box<dyn OpenRun> {
    let progress = Progress::default();
    let found = Tenstorrent.find(path, None, &Warnings::default(), &progress).unwrap();
    found.expect("a report").begin(cache, &Reading::unseen(&progress)).unwrap().unwrap()
}

fn write(path: &Path, cache: &Cache) -> PathBuf {
    let run = open(path, Some(cache));
    assert!(!run.has_index());
    let bytes = run.write_index(&Progress::default()).unwrap().unwrap();
    let file = cache.list().first().unwrap().path.clone();
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
    file
}

/// All that is known of a run.
fn parts(run: &dyn OpenRun) -> String {
    let derived = run.derived();
    let report = derived.report();
    let own = derived.answers().own_json(derived);
    let own = own.map(|facts| serde_json::to_string(&facts).unwrap());
    format!(
        "{:?}",
        (
            (own, report.warnings.list(), report.files()),
            (&report.arenas, &report.programs, &report.steps, &report.liveness, &report.deltas),
            (&report.categories, &report.about),
        )
    )
}

#[test]
fn all_that_is_known_of_a_report_is_the_same_with_and_without_an_index() {
    let made = report(2, 2);
    let mut paths = vec![made.path().to_owned()];
    for directory in ["sample_profiles/tenstorrent", "../shared/profiles/tenstorrent"] {
        match fs::read_dir(in_package(directory)) {
            Ok(entries) => paths.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => println!("skipped: {directory} is not there"),
        }
    }
    let mut seen = 0;
    for path in paths.iter().filter(|path| path.join("db.sqlite").is_file()) {
        let (_directory, cache) = cache();
        let without = open(path, None);
        assert_eq!(without.write_index(&Progress::default()).unwrap(), None, "no index is used");
        write(path, &cache);
        let with = open(path, Some(&cache));
        assert!(with.has_index());
        assert!(parts(&*with) == parts(&*without), "{}", path.display());
        assert_eq!(with.write_index(&Progress::default()).unwrap(), None, "it is there");
        seen += 1;
    }
    assert!(seen >= 4, "{seen} reports");
}

fn tilescope(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.args(arguments).env("XDG_CACHE_HOME", home).output().unwrap()
}

#[test]
fn commands_answer_the_same_and_read_no_row_again() {
    let home = tempfile::tempdir().unwrap();
    let (large, small) = (report(2, 20), report(1, 1));
    let [large, small] = [&large, &small].map(|kept| kept.path().to_str().unwrap());
    let written = json(&tilescope(home.path(), &["index", large, small, "--json"]));
    assert_eq!((&written["files"], &written["not_written"]), (&1.into(), &1.into()));
    for command in [
        &["summary", large, "--json"][..],
        &["summary", large],
        &["liveness", large, "--step", "peak", "--json"],
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
    let with = work(home.path(), &["summary", large, "--stats"]);
    let without = work(home.path(), &["summary", large, "--stats", "--no-index"]);
    assert_eq!((with("rows"), with("bytes")), (0, 0));
    assert!(without("rows") > 10_000);
    let bytes = fs::metadata(Path::new(large).join("db.sqlite")).unwrap().len();
    let read = without("bytes");
    // Pages between those of a table are read with them.
    assert!(read < bytes * 2, "{read} bytes read of {bytes}: pages are read several times");
}

/// The figures of what a command read.
fn work(home: &Path, arguments: &[&str]) -> impl Fn(&str) -> u64 + use<> {
    let said = String::from_utf8(tilescope(home, arguments).stderr).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("work: ")).expect(&said).to_owned();
    move |what| {
        let mut parts = line.split(", ").filter_map(|part| part.rsplit_once(' '));
        let (_, figure) = parts.find(|(name, _)| *name == what).unwrap();
        figure.replace(',', "").parse().unwrap()
    }
}

#[test]
fn whatever_changes_beside_the_database_makes_another_report() {
    let kept = report(2, 1);
    let (_directory, cache) = cache();
    write(kept.path(), &cache);
    assert!(open(kept.path(), Some(&cache)).has_index());
    fs::remove_file(kept.path().join("cluster_descriptor.yaml")).unwrap();
    assert!(!open(kept.path(), Some(&cache)).has_index());
    let database = kept.path().join("db.sqlite");
    let whole = fs::read(&database).unwrap();
    fs::write(&database, &whole[..whole.len() - 4096]).unwrap();
    let cut = open(kept.path(), Some(&cache));
    assert_eq!((cut.has_index(), cut.write_index(&Progress::default()).unwrap()), (false, None));
}

#[test]
fn an_index_that_is_cut_or_damaged_is_not_used() {
    let kept = report(2, 1);
    let (_directory, cache) = cache();
    let file = write(kept.path(), &cache);
    let found = || {
        let run = open(kept.path(), Some(&cache));
        let has_index = run.has_index();
        OpenedByIndex { at_first: has_index, parts: parts(&*run), at_last: run.has_index() }
    };
    let expected = parts(&*open(kept.path(), None));
    let index = DamagedIndex::of(&file, expected, &found);
    let len = index.whole.len();
    index.is_cut_to((0..20).map(|part| len / 20 * part));
    index.is_changed_at((0..len).step_by(len / 100), 75);
}
