//! What a report says twice is compared: a contradiction is said once, with both figures; a good report has none; and
//! a bit that changes a figure seldom does so in silence.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{damaged_sample, in_package, real_report, sample, sample_options};
use rayon::prelude::*;
use rusqlite::Connection;
use serde_json::Value;
use tilescope::analysis::cross_checks::{contradictions, contradictions_of_tile};
use tilescope::cli::tiles::Breakdown;
use tilescope::format::Progress;
use tilescope::format::poplar::OpenReport;
use tilescope::index::{Cache, Limits};
use tilescope::store::WarningCode;
use tilescope::synth::machine::Architecture;
use tilescope::synth::{Options, write_report};

/// All warnings of a report that is read to its end, as by the window and by `index`.
fn warnings(path: &Path) -> Vec<String> {
    let progress = Progress::default();
    let open = OpenReport::find(path).unwrap();
    open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
    let list = open.report.warnings.list();
    let list = list.into_iter().filter(|warning| warning.code == WarningCode::Inconsistent);
    list.map(|warning| format!("{}: {}", warning.file, warning.message)).collect()
}

fn sql(directory: &Path, statements: &str) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute_batch(statements).unwrap();
}

fn harmed(statements: &str) -> Vec<String> {
    let directory = damaged_sample(|directory| sql(directory, statements));
    warnings(directory.path())
}

fn assert_good(path: &Path) {
    assert_eq!(warnings(path), Vec::<String>::new(), "{}", path.display());
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    for tile in [0, 1, 7] {
        let placed = open.report.reader().unwrap();
        let placed = placed.read(tilescope::store::ArenaId(tile), &progress).unwrap();
        let id = tilescope::store::TileId(tile);
        let found = contradictions_of_tile(&open.report, id, &placed.unwrap());
        assert_eq!(found, Vec::<String>::new(), "tile {tile} of {}", path.display());
    }
}

#[test]
fn good_reports_have_no_contradiction() {
    for (name, _) in sample_options() {
        assert_good(&in_package("sample_profiles").join(name));
    }
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        if let Some(path) = real_report(name) {
            let said = warnings(&path);
            let damaged = |text: &&String| !text.starts_with("debug.cbor");
            assert_eq!(said.iter().find(damaged), None, "{name}");
        }
    }
}

#[test]
fn synthetic_reports_of_many_shapes_have_no_contradiction() {
    let base = Options::default();
    let mk1 = Options { architecture: Architecture::Mk1, ..base.clone() };
    let run = Options { execution: true, ..base.clone() };
    let shapes = [
        Options { seed: 3, batch: 1, tiles_per_ipu: 8, ..base.clone() },
        Options { seed: 5, proportion: 0.001, ..base.clone() },
        Options { seed: 6, copies: 3, tiles_per_ipu: 33, ..base.clone() },
        Options { seed: 7, batch: 1, ..mk1.clone() },
        Options { seed: 8, batch: 4, tiles_per_ipu: 24, ..mk1 },
        Options { seed: 10, ipus: 2, batch: 4, ..run.clone() },
        Options { seed: 11, ipus: 4, batch: 3, proportion: 0.2, ..run.clone() },
        Options { seed: 12, ipus: 2, batch: 32, ..run },
    ];
    shapes.par_iter().for_each(|options| {
        let directory = tempfile::tempdir().unwrap();
        write_report(options, directory.path(), &Progress::default()).unwrap();
        assert_good(directory.path());
    });
}

/// The answers of the commands whose figures are looked at, without texts and paths, and whether anything was said:
/// by the commands, or by those that read everything.
fn ask(path: &Path) -> (Vec<Option<Value>>, bool, bool) {
    let answers = [
        common::summary(path),
        common::tiles(path, Breakdown::Region),
        common::tiles(path, Breakdown::Category),
        common::liveness(path, None),
        common::liveness(path, Some(2)),
        common::map(path, 3, Some(12)),
    ];
    let is_said = answers.iter().any(|answer| match answer {
        Ok(answer) => is_warned(answer),
        Err(_) => true,
    });
    let progress = Progress::default();
    let everything = OpenReport::find(path).and_then(|open| {
        open.read_all(&progress, |report| contradictions(report, &progress))?;
        Ok(open.report.warnings.has(WarningCode::Inconsistent)
            || open.report.warnings.list().len() > 1)
    });
    let figures = answers.into_iter().map(|answer| answer.ok().map(figures_of)).collect();
    (figures, is_said, everything.unwrap_or(true))
}

/// The sample itself has one warning at most: that it was not run.
fn is_warned(answer: &Value) -> bool {
    common::warning_codes(answer).iter().any(|code| *code != "no-execution")
}

/// An answer with its numbers; what texts say is no figure.
fn figures_of(answer: Value) -> Value {
    match answer {
        Value::String(_) => Value::String(String::new()),
        Value::Array(list) => Value::Array(list.into_iter().map(figures_of).collect()),
        Value::Object(object) => Value::Object(
            object
                .into_iter()
                .filter(|(key, _)| !["warnings", "source", "schema"].contains(&&**key))
                .map(|(key, value)| (key, figures_of(value)))
                .collect(),
        ),
        other => other,
    }
}

/// Numbers that are spread evenly and the same each time (SplitMix64).
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

#[test]
fn a_bit_that_changes_a_figure_seldom_does_so_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { tiles_per_ipu: 4, ..Options::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    let good = ask(directory.path()).0;
    let intact = fs::read(directory.path().join("profile.pop")).unwrap();
    let bits =
        std::env::var("TILESCOPE_FLIPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1200);
    let seed =
        std::env::var("TILESCOPE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(16);
    let mut seeded = Seeded(seed);
    let flips: Vec<u64> = (0..bits).map(|_| seeded.below(intact.len() as u64 * 8)).collect();
    let outcomes: Vec<(u64, bool, bool, bool)> = flips
        .par_iter()
        .map(|bit| {
            let copy = tempfile::tempdir().unwrap();
            for file in ["debug.cbor", "app.json", "framework.json", "compile.log"] {
                fs::copy(directory.path().join(file), copy.path().join(file)).unwrap();
            }
            let mut bytes = intact.clone();
            bytes[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
            fs::write(copy.path().join("profile.pop"), &bytes).unwrap();
            let (figures, is_said, is_said_of_all) = ask(copy.path());
            let changed = figures != good;
            if changed && !is_said && !is_said_of_all {
                for (was, is) in good.iter().zip(&figures).filter(|(a, b)| a != b) {
                    let mut paths = Vec::new();
                    differ("", was.as_ref().unwrap(), is.as_ref().unwrap(), &mut paths);
                    paths.truncate(4);
                    println!("silent: byte {} bit {}: {paths:?}", bit / 8, bit % 8);
                }
            }
            (*bit, changed, is_said, is_said_of_all)
        })
        .collect();
    let changed = outcomes.iter().filter(|it| it.1).count();
    let silent = outcomes.iter().filter(|it| it.1 && !it.2 && !it.3).count();
    let by_commands = outcomes.iter().filter(|it| it.1 && !it.2).count();
    println!(
        "{} bits, {changed} change a figure, {silent} in silence, {by_commands} of which no command warns",
        outcomes.len()
    );
    assert!(changed >= 200, "{changed}");
    assert!(silent * 10 <= changed, "{silent} of {changed}");
}

fn differ(place: &str, was: &Value, is: &Value, paths: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, value) in was {
                let other = is.get(key).unwrap_or(&Value::Null);
                differ(&format!("{place}/{key}"), value, other, paths);
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (row, (was, is)) in was.iter().zip(is).enumerate() {
                differ(&format!("{place}/{row}"), was, is, paths);
            }
        }
        _ if was != is => paths.push(format!("{place} {was:.60} {is:.60}")),
        _ => {}
    }
}
