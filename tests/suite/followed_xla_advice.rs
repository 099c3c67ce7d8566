//! Advice about XLA modules against what came of following it: `followed.json` has by how much the main memory of programs
//! was smaller that were changed as advised and compiled again, `owners.json` who makes what is alive at peaks in loops.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{in_package, json, tilescope};
use rayon::prelude::*;
use serde_json::Value;

/// What must be advised where following it saves more than a tenth.
const ASKED: [&str; 5] =
    ["donate-arguments", "jax-checkpoint", "bfloat16", "smaller-batch", "gradient-accumulation"];

/// What came of the advice for all captures.
#[derive(Debug, Default)]
struct Tally {
    expected: usize,
    kept: usize,
    at_most: usize,
    at_most_kept: usize,
    /// Advice that said less than half of what came, that saves nothing, that was followed already, that is missing, or about
    /// other memories.
    wrong: Vec<String>,
}

/// The summaries of all captures that a file of answers names.
fn summaries(directory: &Path, answers: &Value) -> BTreeMap<String, Value> {
    let captures = answers["captures"].as_array().unwrap();
    let summary = |capture: &Value| {
        let name = capture["dir"].as_str().unwrap();
        let output = tilescope(&["summary", "--json", &directory.join(name).to_string_lossy()]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        (name.to_owned(), json(&output))
    };
    captures.par_iter().map(summary).collect()
}

fn answers(directory: &Path, file: &str) -> Option<Value> {
    let text = fs::read_to_string(directory.join(file));
    if text.is_err() {
        eprintln!("skipped: {} is absent", directory.join(file).display());
    }
    Some(serde_json::from_str(&text.ok()?).unwrap())
}

fn advice<'a>(summary: &'a Value, id: &str) -> Option<&'a Value> {
    let advice = summary["insights"]["advice"].as_array().unwrap();
    advice.iter().find(|one| one["id"] == id && one["device"] == 0)
}

fn tally(followed: &Value, summaries: &BTreeMap<String, Value>) -> Tally {
    let mut tally = Tally::default();
    for row in followed["followed"].as_array().unwrap() {
        if row["secondary"] == true {
            continue;
        }
        let (base, id) = (row["base"].as_str().unwrap(), row["technique"].as_str().unwrap());
        let came = row["saves_total_bytes"].as_i64().unwrap();
        let total = row["base_total_bytes"].as_i64().unwrap();
        let Some(one) = advice(&summaries[base], id) else {
            if came * 10 > total && ASKED.contains(&id) && row["arguable"] != true {
                tally.wrong.push(format!("{base}: {id} is missing"));
            }
            continue;
        };
        let saving = &one["saving"];
        if came * 100 < total {
            tally.wrong.push(format!("{base}: {id} saves nothing"));
        }
        if let Some(expected) = saving["expected_bytes"].as_i64() {
            tally.expected += 1;
            tally.kept += usize::from(came * 10 >= expected * 8);
            if came > expected * 2 && came * 20 > total {
                tally.wrong.push(format!("{base}: {id} says too little"));
            }
        } else {
            tally.at_most += 1;
            let most = saving["at_most_bytes"].as_i64().unwrap();
            tally.at_most_kept += usize::from(came * 4 >= most);
        }
    }
    for capture in followed["captures"].as_array().unwrap() {
        let name = capture["dir"].as_str().unwrap();
        for id in capture["follows"].as_array().unwrap() {
            if advice(&summaries[name], id.as_str().unwrap()).is_some() {
                tally.wrong.push(format!("{name}: {id} was followed"));
            }
        }
        let all = summaries[name]["insights"]["advice"].as_array().unwrap();
        let others = all.iter().filter(|one| one["device"] != 0);
        tally.wrong.extend(others.map(|one| format!("{name}: {} elsewhere", one["id"])));
        if let Some(fits) = capture["fits"].as_bool() {
            let outcome = if fits { "fits" } else { "does-not-fit" };
            assert_eq!(summaries[name]["verdict"]["outcome"], outcome, "{name}");
        }
    }
    tally
}

#[test]
fn what_advice_promises_comes_out_with_real_compilers() {
    let directory = in_package("../shared/profiles/xla-followed");
    let Some(followed) = answers(&directory, "followed.json") else { return };
    let found = tally(&followed, &summaries(&directory, &followed));
    assert!(found.expected >= 20 && found.kept * 10 >= found.expected * 9, "{found:#?}");
    assert!(found.at_most_kept * 10 >= found.at_most * 9, "{found:#?}");
    assert_eq!(found.wrong, [""; 0]);
}

/// A path without the program's name, which only some releases write.
fn short(path: &str) -> &str {
    match path.split_once('/') {
        Some((program, rest)) if program.starts_with("jit(") => rest,
        _ => path,
    }
}

#[test]
fn what_loops_keep_belongs_to_the_operation_that_makes_it() {
    let directory = in_package("../shared/profiles/xla-followed");
    let Some(owners) = answers(&directory, "owners.json") else { return };
    let summaries = summaries(&directory, &owners);
    let (mut right, mut all) = (0, 0);
    for capture in owners["captures"].as_array().unwrap() {
        let mut makers: BTreeMap<&str, u64> = BTreeMap::new();
        for row in capture["by_operation"].as_array().unwrap() {
            if let Some(name) = row["op_name"].as_str() {
                *makers.entry(name).or_default() += row["bytes"].as_u64().unwrap();
            }
        }
        let mut largest: Vec<_> = makers.into_iter().collect();
        largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let summary = &summaries[capture["dir"].as_str().unwrap()];
        let mut said: BTreeMap<&str, u64> = BTreeMap::new();
        for row in summary["liveness"]["peak"]["by_operation"].as_array().unwrap() {
            let bytes = row["bytes"].as_u64().unwrap();
            *said.entry(short(row["name"].as_str().unwrap())).or_default() += bytes;
        }
        for (names, bytes) in largest.into_iter().take(10) {
            let known = names.split(';').filter_map(|name| said.get(short(name)).copied());
            right += bytes.min(known.max().unwrap_or(0));
            all += bytes;
        }
    }
    assert!(right * 10 >= all * 9, "{right} of {all}");
}

#[test]
fn a_checkpoint_that_changes_nothing_is_said() {
    let directory = in_package("../shared/profiles/xla-followed");
    let Some(followed) = answers(&directory, "followed.json") else { return };
    let summaries = summaries(&directory, &followed);
    let is_said = |summary: &Value| {
        let conclusions = summary["insights"]["conclusions"].as_array().unwrap();
        conclusions.iter().any(|one| one["id"] == "checkpoint-without-effect")
    };
    let said: BTreeSet<&str> = summaries
        .iter()
        .filter(|(_, summary)| is_said(summary))
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(said.contains("cpu-jax0.10.2/tf/ckpt"), "{said:?}");
    // In a loop, and on other chips, it works.
    let works = |name: &&&str| !name.starts_with("cpu-") || name.contains("scan");
    assert_eq!(said.iter().filter(works).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn a_checkpoint_that_changes_nothing_is_named_and_what_it_computes_again_meets_what_was_kept() {
    let directory = in_package("../shared/profiles/xla-followed");
    if answers(&directory, "followed.json").is_none() {
        return;
    }
    let compared = |platform: &str, variant: &str| {
        let [base, other] = ["base", variant].map(|name| {
            directory.join(platform).join("tf").join(name).to_string_lossy().into_owned()
        });
        let output = tilescope(&["compare", "--json", &base, &other]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        json(&output)
    };
    let said = |found: &Value| {
        let conclusions = found["conclusions"].as_array().unwrap().clone();
        let one = conclusions.into_iter().find(|one| one["id"] == "checkpoint-without-effect");
        one.map(|one| one["text"].as_str().unwrap().to_owned())
    };
    let dots = compared("cpu-jax0.10.2", "dots");
    assert!(said(&dots).unwrap().contains("changes next to nothing"), "{:?}", said(&dots));
    let whole = compared("cpu-jax0.10.2", "ckpt");
    assert!(said(&whole).unwrap().contains("as if they had been kept"), "{:?}", said(&whole));
    let gpu = compared("gpu-h100-jax0.10.2", "ckpt");
    assert_eq!(said(&gpu), None, "there the checkpoint works");
    // The operations of the forward pass and of the pass that computes them again are one row.
    for row in whole["peak"]["by_operation"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap_or_default();
        let is_large = row["target_bytes"].as_u64().unwrap() >= 1 << 20;
        let is_alone = row["only"] == "target" && name.contains("rematted_computation");
        assert!(!(is_alone && is_large), "{name}");
    }
}
