//! Checks that advice saves what it promises: `cargo bench --no-default-features --bench advice`.
//!
//! Synthetic networks that do not fit are written, asked for advice by `tilescope summary --json`, and the first
//! piece that can be followed here is followed to the letter: the same network with the advised proportion, the
//! advised batch, or on as many IPUs as advised. Then the new report is asked what it is over. Promised is what
//! the advice says it covers; it is kept where no more is over afterwards than it left. Each technique that can be
//! followed is tried, also where it is not the first. `docs/user/advice.md` has the table that this prints.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A network as `tilescope synth` makes it.
#[derive(Clone, Copy, Debug)]
struct Case {
    network: &'static str,
    copies: u64,
    tiles_per_ipu: u64,
    ipus: u64,
    batch: u64,
    proportion: f64,
}

/// A piece of advice that was followed.
struct Followed {
    technique: String,
    is_first: bool,
    is_at_most: bool,
    promised_bytes: u64,
    before_bytes: u64,
    after_bytes: u64,
    text: String,
}

impl Followed {
    /// Bytes over afterwards that the advice had promised away.
    fn short_bytes(&self) -> u64 {
        self.after_bytes.saturating_sub(self.before_bytes - self.promised_bytes)
    }

    fn promised_all(&self) -> bool {
        self.promised_bytes == self.before_bytes
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |network, copies, tiles_per_ipu, ipus, batches: &[u64], proportions: &[f64]| {
        for batch in batches {
            for proportion in proportions {
                let (batch, proportion) = (*batch, *proportion);
                cases.push(Case { network, copies, tiles_per_ipu, ipus, batch, proportion });
            }
        }
    };
    let most = [0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
    add("tiny", 1, 16, 1, &[10, 12, 16, 24, 32], &most);
    add("tiny", 2, 16, 1, &[8, 12, 16], &most);
    add("tiny", 3, 24, 1, &[12, 16], &[0.8, 0.6, 0.4]);
    add("tiny", 4, 16, 2, &[10, 16, 24], &[0.9, 0.6, 0.4, 0.2]);
    add("tiny", 4, 16, 4, &[12, 16, 24], &[0.9, 0.6, 0.3]);
    add(
        "resnext101",
        1,
        1472,
        1,
        &[8],
        &[0.9, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.36],
    );
    add("resnext101", 1, 1472, 1, &[6, 10, 12, 16, 24], &[0.8, 0.6, 0.35, 0.2]);
    add("resnext101", 1, 736, 1, &[4, 8], &[0.8, 0.6, 0.3]);
    add("resnext101", 1, 1472, 2, &[12, 16, 24], &[0.8, 0.6, 0.3]);
    add("resnext101", 1, 736, 4, &[8, 10, 16], &[0.8, 0.6, 0.3]);
    cases
}

fn tilescope(arguments: &[&str]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_tilescope")).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

/// The summary of the report of a network.
fn summary(case: Case, directory: &Path) -> Value {
    let report = directory.to_str().unwrap();
    let [copies, tiles, ipus, batch] =
        [case.copies, case.tiles_per_ipu, case.ipus, case.batch].map(|number| number.to_string());
    let proportion = case.proportion.to_string();
    let mut arguments = vec!["synth", "--network", case.network, "-o", report];
    arguments.extend(["--copies", &*copies, "--tiles-per-ipu", &*tiles, "--ipus", &*ipus]);
    arguments.extend(["--batch", &*batch, "--proportion", &*proportion]);
    tilescope(&arguments);
    let answer: Value = serde_json::from_slice(&tilescope(&["summary", report, "--json"])).unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    answer
}

fn over_bytes(summary: &Value) -> u64 {
    summary["poplar"]["verdict"]["failure"]["over_bytes"].as_u64().unwrap_or(0)
}

/// The case as the advice would have it; `None` for what cannot be followed here.
fn as_advised(case: Case, advice: &Value) -> Option<Case> {
    let suggested = advice["suggested"].as_f64()?;
    match advice["option"].as_str()? {
        "availableMemoryProportion" => Some(Case { proportion: suggested, ..case }),
        "batch" => Some(Case { batch: suggested as u64, ..case }),
        "ipus" => Some(Case { ipus: suggested as u64, ..case }),
        _ => None,
    }
}

fn follow(case: Case, directory: &Path) -> Vec<Followed> {
    let before = summary(case, directory);
    if before["verdict"]["outcome"] == "fits" {
        return Vec::new();
    }
    let advice = before["insights"]["advice"].as_array().unwrap();
    let possible: Vec<(&Value, Case)> =
        advice.iter().filter_map(|advice| Some((advice, as_advised(case, advice)?))).collect();
    if possible.is_empty() {
        println!("nothing to follow: {case:?}");
    }
    let followed = (0..).zip(possible).map(|(place, (advice, after))| {
        let saving = &advice["saving"];
        Followed {
            technique: advice["id"].as_str().unwrap().to_owned(),
            is_first: place == 0,
            is_at_most: saving["at_least_bytes"].is_null(),
            promised_bytes: saving["at_least_bytes"].as_u64().unwrap_or(0),
            before_bytes: over_bytes(&before),
            after_bytes: over_bytes(&summary(after, directory)),
            text: format!("{case:?} → {}", advice["suggested"]),
        }
    });
    followed.collect()
}

fn main() {
    let cases = cases();
    let folder = tempfile::tempdir().unwrap();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (cases, next, all) = (&cases, &next, &all);
            let directory = folder.path().join(format!("report-{worker}"));
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = follow(*case, &directory);
                    all.lock().unwrap().push(found);
                }
            });
        }
    });
    let all: Vec<Vec<Followed>> = all.into_inner().unwrap();
    let failing = all.iter().filter(|followed| !followed.is_empty()).count();
    println!("{} networks, of which {failing} do not fit and have advice to follow\n", cases.len());
    let mut tables: BTreeMap<(bool, String), Vec<&Followed>> = BTreeMap::new();
    for followed in all.iter().flatten() {
        tables.entry((false, followed.technique.clone())).or_default().push(followed);
        if followed.is_first {
            tables.entry((true, "first piece of advice".to_owned())).or_default().push(followed);
        }
    }
    println!(
        "| technique | followed | promised all | fits then | short of the promise | short by at most |"
    );
    println!("|---|---|---|---|---|---|");
    for ((_, technique), rows) in &tables {
        let firm: Vec<_> = rows.iter().filter(|row| !row.is_at_most).collect();
        let short: Vec<_> = firm.iter().filter(|row| row.short_bytes() > 0).collect();
        println!(
            "| {technique} | {} | {} | {} | {} of {} | {} |",
            rows.len(),
            rows.iter().filter(|row| row.promised_all()).count(),
            rows.iter().filter(|row| row.after_bytes == 0).count(),
            short.len(),
            firm.len(),
            tilescope::text::bytes(short.iter().map(|row| row.short_bytes()).max().unwrap_or(0)),
        );
    }
    for followed in all.iter().flatten().filter(|row| row.short_bytes() > 0) {
        let Followed {
            technique, is_at_most, promised_bytes, before_bytes, after_bytes, text, ..
        } = followed;
        println!(
            "short: {technique} at most {is_at_most}: {promised_bytes} of {before_bytes} promised, {after_bytes} over then: {text}"
        );
    }
}
