//! Advice of PyTorch snapshots against what came of following it: `followed.json` beside captures has for each technique
//! by how much the peak of the whole run was lower, and whether a run that had failed then ended well.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::common::{in_package, json, tilescope};
use flate2::read::GzDecoder;
use rayon::prelude::*;
use serde_json::Value;

/// What came of the advice for one capture, or for all of them.
#[derive(Debug, Default)]
struct Tally {
    /// Pieces of advice whose technique was followed.
    followed: usize,
    /// Of these, with a saving that is expected.
    expected: usize,
    /// Of these, whose saving came to four fifths of it at least.
    kept: usize,
    /// By which the peak became higher.
    harmful: Vec<String>,
    /// That changed nothing worth a word.
    for_nothing: Vec<String>,
    /// Techniques that saved more than a tenth of the peak and were not advised.
    missing: Vec<String>,
    /// Statements about whether the run then fits, and those that were wrong.
    fits: usize,
    wrong_fits: Vec<String>,
    /// What the first piece of advice came to, in thousandths of the best technique, and of how many captures.
    first: u64,
    best: u64,
    /// Runs that failed and that a technique makes run, and those that the first piece of advice does.
    can_run: usize,
    first_runs: usize,
}

impl Tally {
    fn join(mut self, other: Self) -> Self {
        self.followed += other.followed;
        self.expected += other.expected;
        self.kept += other.kept;
        self.harmful.extend(other.harmful);
        self.for_nothing.extend(other.for_nothing);
        self.missing.extend(other.missing);
        self.fits += other.fits;
        self.wrong_fits.extend(other.wrong_fits);
        self.first += other.first;
        self.best += other.best;
        self.can_run += other.can_run;
        self.first_runs += other.first_runs;
        self
    }
}

/// What is measured of a technique, whatever was changed for it.
struct Came {
    requested: i64,
    reserved: i64,
    finishes: bool,
}

fn came_of(rows: &[&Value]) -> Option<Came> {
    let most = |key: &str| rows.iter().filter_map(|row| row[key].as_i64()).max();
    Some(Came {
        requested: most("saved_requested")?,
        reserved: most("saved_reserved")?,
        finishes: rows.iter().any(|row| row["finishes"] == true),
    })
}

/// Of a capture, with what following each technique came to.
fn tally(name: &str, snapshot: &Path, followed: &Value) -> Tally {
    let output = tilescope(&["summary", &snapshot.to_string_lossy(), "--json"]);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let summary = json(&output);
    let rows = followed["followed"].as_array().unwrap();
    let of = |id: &str| rows.iter().filter(|row| row["technique"] == id).collect::<Vec<_>>();
    let peak = followed["peak"]["requested"].as_i64().unwrap();
    let has_failed = !followed["failed"].is_null();
    let advice = summary["insights"]["advice"].as_array().unwrap();
    let mut tally = Tally::default();
    for one in advice {
        let id = one["id"].as_str().unwrap();
        let Some(came) = came_of(&of(id)) else { continue };
        let saving = &one["saving"];
        let is_reserved = saving["of"].as_str().is_some_and(|of| of.starts_with("reserved"));
        let saved = if is_reserved { came.reserved } else { came.requested };
        tally.followed += 1;
        if let Some(expected) = saving["expected_bytes"].as_i64() {
            tally.expected += 1;
            tally.kept += usize::from(saved * 10 >= expected * 8);
        }
        if saved < 0 {
            tally.harmful.push(format!("{name}: {id}"));
        } else if saved * 50 < peak && !came.finishes {
            tally.for_nothing.push(format!("{name}: {id}"));
        }
        if let Some(fits) = one["makes_it_fit"].as_bool().filter(|_| has_failed) {
            tally.fits += 1;
            if fits != came.finishes {
                tally.wrong_fits.push(format!("{name}: {id}"));
            }
        }
    }
    let best = rows.iter().filter_map(|row| row["saved_requested"].as_i64()).max().unwrap_or(0);
    let first = advice.first().and_then(|one| came_of(&of(one["id"].as_str().unwrap())));
    if best * 10 > peak {
        let came = first.as_ref().map_or(0, |came| came.requested.max(0));
        tally.first = u64::try_from(came * 1000 / best).unwrap();
        tally.best = 1000;
    }
    if has_failed && rows.iter().any(|row| row["finishes"] == true) {
        tally.can_run = 1;
        tally.first_runs = usize::from(first.is_some_and(|came| came.finishes));
    }
    for row in rows {
        let technique = row["technique"].as_str().unwrap();
        let saves_much = row["saved_requested"].as_i64().is_some_and(|saved| saved * 10 > peak);
        let entry = format!("{name}: {technique}");
        // Nothing of the optimizer is recorded of a first step that failed before it.
        let of_optimizer = ["smaller-optimizer-state", "fused-optimizer", "step-in-backward"];
        let is_before = followed["failed"][0] == 0 && followed["failed"][1] != "optimizer";
        if saves_much
            && !(is_before && of_optimizer.contains(&technique))
            && advice.iter().all(|one| one["id"] != technique)
            && !tally.missing.contains(&entry)
        {
            tally.missing.push(entry);
        }
    }
    tally
}

fn tally_of_all(cases: &[(String, PathBuf, Value)]) -> Tally {
    let each = cases.par_iter().map(|(name, path, followed)| tally(name, path, followed));
    each.reduce(Tally::default, Tally::join)
}

#[test]
fn what_advice_promises_comes_out() {
    let directory = in_package("../shared/profiles/pytorch-truth");
    let Ok(text) = fs::read_to_string(directory.join("followed.json")) else {
        eprintln!("skipped: ../shared/profiles/pytorch-truth is absent");
        return;
    };
    let followed: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    let case = |(name, followed): (String, Value)| {
        let path = directory.join(format!("{name}.pickle"));
        (name, path, followed)
    };
    let cases: Vec<_> = followed.into_iter().map(case).collect();
    let found = tally_of_all(&cases);
    assert!(found.expected * 10 >= found.followed * 9, "{found:#?}");
    assert!(found.kept * 100 >= found.expected * 95, "{found:#?}");
    assert_eq!(found.harmful, [""; 0]);
    assert_eq!(found.for_nothing, [""; 0]);
    assert_eq!(found.missing, [""; 0]);
    assert!(found.first * 100 >= found.best * 90, "{found:#?}");
    assert!(found.can_run >= 8 && found.first_runs == found.can_run, "{found:#?}");
    assert!(found.fits >= 8, "{found:#?}");
    assert_eq!(found.wrong_fits, [""; 0]);
}

#[test]
fn what_advice_promises_of_runs_on_a_gpu_comes_out() {
    let source = in_package("tests/captures/gpu/pytorch");
    let opened = |name: &str| GzDecoder::new(File::open(source.join(name)).unwrap());
    let followed: serde_json::Map<String, Value> =
        serde_json::from_reader(opened("followed.json.gz")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let case = |(name, followed): (String, Value)| {
        let file = format!("{name}.pickle");
        let path = directory.path().join(&file);
        if !source.join(format!("{file}.gz")).is_file() {
            return None;
        }
        io::copy(&mut opened(&format!("{file}.gz")), &mut File::create(&path).unwrap()).unwrap();
        let text = format!("{file}.oom.txt");
        if source.join(&text).is_file() {
            fs::copy(source.join(&text), directory.path().join(&text)).unwrap();
        }
        Some((name, path, followed))
    };
    let cases: Vec<_> = followed.into_iter().filter_map(case).collect();
    assert!(cases.len() >= 25, "{}", cases.len());
    let found = tally_of_all(&cases);
    assert!(found.kept * 100 >= found.expected * 95, "{found:#?}");
    assert_eq!(found.harmful, [""; 0]);
    assert_eq!(found.wrong_fits, [""; 0]);
    assert!(found.first_runs == found.can_run, "{found:#?}");
}
