//! The work that answers take, counted rather than timed: a command that begins to read every variable fails here.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use crate::common::{json, tilescope};
use tempfile::TempDir;
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::work::WorkDone;

/// Set where a test runs in a process of its own.
const ALONE: &str = "TILESCOPE_TEST_ALONE";

/// Reports of half a million lowered variables, so many that those of some tiles are looked for rather than all
/// read: one that fits, and one of which all tiles are over.
static REPORTS: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    for (name, batch) in [("fits", 32), ("over", 4096)] {
        let options =
            ReportOptions { tiles_per_ipu: 1472, copies: 6, batch, ..ReportOptions::default() };
        write_report(&options, &directory.path().join(name), &Progress::default()).unwrap();
    }
    directory
});

fn report(name: &str) -> PathBuf {
    REPORTS.path().join(name)
}

/// What a command read.
fn work(arguments: &[&str], reports: &[&str]) -> WorkDone {
    let paths = reports.iter().map(|name| report(name).display().to_string());
    let paths: Vec<String> = paths.collect();
    let mut all: Vec<&str> = arguments.to_vec();
    all.extend(paths.iter().map(String::as_str));
    all.push("--stats");
    let output = tilescope(&all);
    let said = String::from_utf8(output.stderr).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("work: ")).expect(&said);
    let count = |what: &str| -> u64 {
        let found = line.split(", ").find_map(|part| part.strip_prefix(what)).unwrap();
        found.trim().replace(',', "").parse().unwrap()
    };
    WorkDone {
        rows: count("rows"),
        blobs: count("lists"),
        pages: count("pages"),
        bytes: count("bytes"),
        placements: count("placements"),
        steps: count("steps"),
        columns: count("bytes of columns"),
        written: count("bytes written"),
        names: count("names in directories"),
    }
}

fn lowered_variables(name: &str) -> u64 {
    let output = tilescope(&["summary", "--json", &report(name).display().to_string()]);
    json(&output)["poplar"]["graph"]["variables"].as_u64().unwrap()
}

#[test]
fn answers_about_a_report_that_fits_read_no_variable() {
    let variables = lowered_variables("fits");
    assert!(variables > 500_000, "{variables}");
    let commands: [&[&str]; 5] =
        [&["summary"], &["tiles"], &["liveness"], &["check", "--must-fit"], &["sweep"]];
    for command in commands {
        let work = work(command, &["fits"]);
        assert!(work.rows > 0 && work.rows < variables / 100, "{command:?}: {work}");
        assert!(work.blobs < 2_000 && work.pages < 5_000, "{command:?}: {work}");
        assert_eq!((work.placements, work.columns), (0, 0), "{command:?}: {work}");
    }
}

#[test]
fn advice_reads_some_tiles_of_a_report_that_does_not_fit() {
    let variables = lowered_variables("over");
    let over = work(&["summary"], &["over"]);
    assert!(over.rows < variables / 20 && over.placements < variables / 100, "{over}");
    assert!(over.blobs < 3_000 && over.columns < 1_000_000, "{over}");
}

#[test]
fn the_map_of_a_tile_places_its_variables_alone() {
    let work = work(&["map", "--tile", "40"], &["fits"]);
    assert_eq!(work.placements, lowered_variables("fits") / 1472, "{work}");
    assert!(work.rows < 10_000 && work.blobs < 3_000 && work.columns == 0, "{work}");
}

#[test]
fn gaps_of_all_tiles_place_every_variable_once() {
    let work = work(&["tiles", "--by", "gaps"], &["fits"]);
    let variables = lowered_variables("fits");
    assert_eq!(work.placements, variables, "{work}");
    assert!(work.rows < variables + 10_000, "{work}");
}

#[test]
fn an_export_places_every_variable_once() {
    let lake = tempfile::tempdir().unwrap();
    let work = work(&["export", "--parquet", lake.path().to_str().unwrap()], &["fits"]);
    let variables = lowered_variables("fits");
    assert_eq!(work.placements, variables, "{work}");
    assert!(work.rows < variables + 10_000, "{work}");
}

// The only test here that reads in this process, of which the counts are.
#[test]
fn all_that_a_window_reads_is_read_once() {
    // What is counted is of the whole process, in which other tests read as well.
    if std::env::var_os(ALONE).is_none() {
        let test = "work::all_that_a_window_reads_is_read_once";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let output = alone.args(["--exact", test]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let path = report("over");
    let before = WorkDone::now();
    let progress = Progress::default();
    let open = OpenReport::open(&path, &progress).unwrap();
    open.read_debug_info(&progress);
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open.read_compute(&progress);
    let done = WorkDone::now().since(&before);
    let large = open.report.variables.get().unwrap().len()
        + open.report.tile_variable_bytes.get().unwrap().len();
    let rows = done.rows;
    assert!(rows >= large as u64 && rows < large as u64 * 102 / 100, "{rows} of {large}");
    assert_eq!(done.placements, 0, "names and constraints come later");
    // A lowered variable has 19 bytes in columns, a row of the bytes by tile 12; nothing is made twice.
    let made = done.columns;
    assert!(made > 0 && made <= large as u64 * 19, "{made} bytes for {large} rows");
    // Tables lie between each other in this file: what lies between two leaves is read with them.
    let profile = std::fs::metadata(path.join("profile.pop")).unwrap().len();
    assert!(done.bytes < profile * 5 / 2, "{done}; {profile}");
}
