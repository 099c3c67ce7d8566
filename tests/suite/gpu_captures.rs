//! Snapshots from a GPU (`tests/captures/gpu`) of which it is known what each byte is for: the peak, how the run ended,
//! and how many bytes have their category.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::common::{in_package, json, tilescope};
use flate2::read::GzDecoder;
use rayon::prelude::*;
use serde_json::Value;

/// The least thousandths of all bytes at the peaks that have their category. It only ever goes up.
const LEAST: u64 = 972;
/// The same of the lowest capture whose allocations have stacks and lie in no private pool. It only ever goes up.
const LEAST_OF_ONE: u64 = 960;
/// Of these nothing says what most blocks are for: no stacks, or private pools of CUDA graphs. Each with its own least.
const WITHOUT_EVIDENCE: [(&str, u64); 3] =
    [("gpt2_context_none", 86), ("reduce_overhead", 397), ("graph_step", 705)];

type Bytes = BTreeMap<String, u64>;

fn opened(path: &Path) -> GzDecoder<File> {
    GzDecoder::new(File::open(path).unwrap())
}

fn truths() -> BTreeMap<String, Value> {
    let path = in_package("tests/captures/gpu/pytorch/truths.json.gz");
    serde_json::from_reader(opened(&path)).unwrap()
}

fn of(bytes: &Bytes, kind: &str) -> u64 {
    bytes.get(kind).copied().unwrap_or(0)
}

/// Bytes of which the category is right. A workspace may be called unknown or temporary as well.
fn right(said: &Bytes, truth: &Bytes) -> u64 {
    let common = |(kind, bytes): (&String, &u64)| of(said, kind).min(*bytes);
    let lacking = of(truth, "workspace").saturating_sub(of(said, "workspace"));
    let spare = |kind| of(said, kind).saturating_sub(of(truth, kind));
    let other = spare("unknown") + spare("temporary");
    truth.iter().map(common).sum::<u64>() + lacking.min(other)
}

/// The bytes at the peak of a capture that have their category, and all.
fn share(directory: &Path, name: &str, truth: &Value) -> (u64, u64) {
    let source = in_package("tests/captures/gpu/pytorch");
    let path = directory.join(format!("{name}.pickle"));
    let mut file = File::create(&path).unwrap();
    io::copy(&mut opened(&source.join(format!("{name}.pickle.gz"))), &mut file).unwrap();
    let output = tilescope(&["summary", &path.to_string_lossy(), "--json"]);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let summary = json(&output);
    let has_failed = !truth["out_of_memory"].is_null();
    let outcome = if has_failed { "out-of-memory" } else { "ran" };
    assert_eq!(summary["verdict"]["outcome"], outcome, "{name}");
    let peak = &summary["liveness"]["peak"];
    assert_eq!(peak["bytes"], truth["peak"]["requested_bytes"], "{name}");
    let rows = peak["by_category"].as_array().unwrap().iter();
    let row =
        |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["bytes"].as_u64().unwrap());
    let said: Bytes = rows.map(row).collect();
    let truth: Bytes = serde_json::from_value(truth["peak"]["by_kind"].clone()).unwrap();
    let all = truth.values().sum();
    assert_eq!(said.values().sum::<u64>(), all, "{name}");
    fs::remove_file(path).unwrap();
    (right(&said, &truth), all)
}

#[test]
fn captures_from_a_gpu_are_read_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let truths = truths();
    assert!(truths.len() > 40, "{}", truths.len());
    let shares: Vec<_> = truths
        .par_iter()
        .map(|(name, truth)| (name, share(directory.path(), name, truth)))
        .collect();
    let low = |(name, (right, all)): &&(&String, (u64, u64))| {
        let own = WITHOUT_EVIDENCE.iter().find(|(of, _)| of == name);
        right * 1000 < all * own.map_or(LEAST_OF_ONE, |(_, least)| *least)
    };
    let low: Vec<_> = shares.iter().filter(low).collect();
    assert!(low.is_empty(), "{low:?}");
    let sum = |one: fn(&(u64, u64)) -> u64| shares.iter().map(|(_, share)| one(share)).sum::<u64>();
    let (right, all) = (sum(|share| share.0), sum(|share| share.1));
    assert!(right * 1000 >= all * LEAST, "{right} of {all}");
}
