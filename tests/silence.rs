//! What a report says twice is compared: a contradiction is said once, with both figures; a good report has none; and
//! a bit that changes a figure seldom does so in silence.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;

use common::{damaged_sample, in_package, real_report, sample_options};
use rayon::prelude::*;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;
use tilescope::analysis::cross_checks::{contradictions, contradictions_of_tile};
use tilescope::cli::Input;
use tilescope::cli::liveness::{LivenessArguments, LivenessReport, StepChoice};
use tilescope::cli::map::{Map, MapArguments};
use tilescope::cli::output::warnings_of;
use tilescope::cli::summary::Summary;
use tilescope::cli::tiles::{Breakdown, Tiles, TilesArguments};
use tilescope::format::poplar::OpenReport;
use tilescope::format::{Error, Progress};
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

/// The answers of the commands whose figures are looked at, of a report that is opened once.
fn answers(open: &OpenReport) -> Result<Vec<Value>, Error> {
    let progress = Progress::default();
    let input = || Input { path: open.report.path.clone(), json: true };
    let tiles = |by| {
        let arguments =
            TilesArguments { input: input(), tile: None, ipu: None, by: Some(by), csv: false };
        Tiles::of(open, &arguments, &progress).map(value)
    };
    let liveness = |tile| {
        let arguments = LivenessArguments {
            input: input(),
            step: Some(StepChoice::Peak),
            ipu: None,
            tile,
            filter: None,
            by: None,
            peaks: Some(5),
        };
        LivenessReport::of(open, &arguments, &progress).map(value)
    };
    let map = MapArguments { input: input(), tile: 3, step: Some(12), csv: false };
    Ok(vec![
        value(Summary::of(open, &[], &progress)?),
        tiles(Breakdown::Region)?,
        tiles(Breakdown::Category)?,
        liveness(None)?,
        liveness(Some(2))?,
        value(Map::of(open, &map)?),
    ])
}

fn value(answer: impl Serialize) -> Value {
    figures_of(serde_json::to_value(&answer).unwrap())
}

/// The sample itself has one warning: that it was not run.
fn is_warned(open: &OpenReport) -> bool {
    let progress = Progress::default();
    let warnings = warnings_of(open, &progress);
    warnings.iter().any(|warning| warning.code != WarningCode::NoExecution)
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

/// A small report whose files are harmed.
struct Target {
    files: Vec<(&'static str, Vec<u8>)>,
    good: Vec<Value>,
}

const PAGE: usize = 4096;

/// What a change of a file led to.
#[derive(Default)]
struct Outcome {
    /// Where figures are others.
    changed: Vec<String>,
    /// Whether the commands warn.
    is_said: bool,
    /// Whether what reads everything, as the window and `index` do, warns.
    is_said_of_all: bool,
}

impl Target {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { tiles_per_ipu: 4, ..Options::default() };
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        let files = ["profile.pop", "debug.cbor", "app.json", "framework.json", "compile.log"]
            .map(|name| (name, fs::read(directory.path().join(name)).unwrap()));
        let progress = Progress::default();
        let open = OpenReport::open(directory.path(), &progress).unwrap();
        let good = answers(&open).unwrap();
        open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
        assert!(!is_warned(&open));
        Self { files: files.into(), good }
    }

    /// Changes one of the files and asks.
    fn outcome(&self, file: usize, change: impl FnOnce(&mut [u8])) -> Outcome {
        let copy = tempfile::tempdir().unwrap();
        let mut change = Some(change);
        for (index, (name, bytes)) in self.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if let Some(change) = change.take_if(|_| index == file) {
                change(&mut bytes);
            }
            fs::write(copy.path().join(name), &bytes).unwrap();
        }
        let progress = Progress::default();
        let said = |changed| Outcome { changed, is_said: true, is_said_of_all: true };
        let Ok(open) = OpenReport::open(copy.path(), &progress) else {
            return said(vec!["no report".to_owned()]);
        };
        let Ok(answers) = answers(&open) else { return said(vec!["no answer".to_owned()]) };
        let mut changed = Vec::new();
        for (was, is) in self.good.iter().zip(&answers).filter(|(was, is)| was != is) {
            differ("", was, is, &mut changed);
        }
        if changed.is_empty() {
            return Outcome::default();
        }
        let is_said = is_warned(&open);
        let read = open.read_all(&progress, |report| contradictions(report, &progress));
        Outcome { changed, is_said, is_said_of_all: read.is_err() || is_warned(&open) }
    }

    /// The pages of `profile.pop` and `debug.cbor` that figures depend on.
    fn pages(&self) -> Vec<(usize, usize)> {
        let pages = |file: usize| {
            let count = self.files[file].1.len().div_ceil(PAGE);
            (0..count).map(move |page| (file, page))
        };
        let all: Vec<(usize, usize)> = pages(0).chain(pages(1)).collect();
        let matters = |(file, page): &(usize, usize)| {
            let overwrite = |bytes: &mut [u8]| {
                bytes.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte ^= 0xff);
            };
            !self.outcome(*file, overwrite).changed.is_empty()
        };
        all.into_par_iter().filter(matters).collect()
    }
}

/// Of single-bit flips that change a figure at most 10 % do so in silence. What these are is printed.
#[test]
fn a_bit_that_changes_a_figure_seldom_does_so_in_silence() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
    };
    let target = Target::new();
    let pages = target.pages();
    let mut seeded = Seeded(number("TILESCOPE_SEED", 16));
    let flips: Vec<(usize, usize, u32)> = (0..number("TILESCOPE_FLIPS", 1000))
        .map(|_| {
            let (file, page) = pages[usize::try_from(seeded.below(pages.len() as u64)).unwrap()];
            let at = page * PAGE + usize::try_from(seeded.below(PAGE as u64)).unwrap();
            (file, at, u32::try_from(seeded.below(8)).unwrap())
        })
        .filter(|(file, at, _)| *at < target.files[*file].1.len())
        .collect();
    let outcomes: Vec<(String, Outcome)> = flips
        .par_iter()
        .map(|(file, at, bit)| {
            let outcome = target.outcome(*file, |bytes| bytes[*at] ^= 1 << bit);
            (format!("{} byte {at} bit {bit}", target.files[*file].0), outcome)
        })
        .collect();
    let changed: Vec<_> = outcomes.iter().filter(|(_, it)| !it.changed.is_empty()).collect();
    let silent: Vec<_> = changed.iter().filter(|(_, it)| !it.is_said_of_all).collect();
    for (place, outcome) in &silent {
        println!("silent: {place}: {}", outcome.changed[..outcome.changed.len().min(4)].join(", "));
    }
    println!(
        "{} bits flipped on {} pages: {} change a figure, {} in silence, {} unless everything is read",
        outcomes.len(),
        pages.len(),
        changed.len(),
        silent.len(),
        changed.iter().filter(|(_, it)| !it.is_said).count(),
    );
    assert!(changed.len() >= 200, "{}", changed.len());
    assert!(silent.len() * 10 <= changed.len(), "{} of {}", silent.len(), changed.len());
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
