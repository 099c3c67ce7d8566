//! Live bytes at a step, for runs of every system: the variables of `tilescope liveness --step`, and the rows of every
//! grouping, add up to the bytes of that step.

use std::path::{Path, PathBuf};

use crate::common::{in_package, json, tilescope};
use serde_json::Value;

/// Samples, and what `synth` writes: of each system several.
fn runs(directory: &Path) -> Vec<PathBuf> {
    let net = "--layers 2 --width 64 --heads 2 --sequence 64 --vocabulary 1024";
    let made = [
        ("poplar", "--batch 4 --ipus 2 --functions --execution".to_owned()),
        (
            "segments/snapshot.pickle",
            format!("--system pytorch {net} --batch 4 --checkpoint-segments 2"),
        ),
        ("failed/snapshot.pickle", format!("--system pytorch {net} --batch 4 --capacity 9MiB")),
        ("gpu", format!("--system xla {net} --batch 4 --platform gpu --donate --half-precision")),
        ("tpu", format!("--system xla {net} --batch 4 --platform tpu --remat dots --texts")),
    ];
    let mut runs: Vec<PathBuf> =
        ["tiny", "pipeline", "training/segments-2", "xla/keep", "xla/again"]
            .map(|sample| in_package("sample_profiles").join(sample))
            .into();
    for (name, options) in made {
        let path = directory.join(name);
        let mut arguments = vec!["synth"];
        arguments.extend(options.split(' '));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        arguments.extend(["-o", path.to_str().unwrap()]);
        assert!(tilescope(&arguments).status.success(), "{arguments:?}");
        runs.push(path);
    }
    runs
}

fn ask(path: &Path, arguments: &[&str]) -> (i32, Value) {
    let arguments = [&["liveness", path.to_str().unwrap(), "--json"], arguments].concat();
    let output = tilescope(&arguments);
    (output.status.code().unwrap(), json(&output))
}

fn sum(rows: &Value) -> i64 {
    rows.as_array().unwrap().iter().map(|row| row["bytes"].as_i64().unwrap()).sum()
}

#[test]
fn variables_and_rows_of_every_grouping_add_up_to_the_bytes_of_the_step() {
    let directory = tempfile::tempdir().unwrap();
    let (mut asked, mut refused) = (0, 0);
    for path in runs(directory.path()) {
        let (_, found) = ask(&path, &[]);
        let steps = found["steps"].as_array().unwrap();
        let at = |part: usize| steps[(steps.len() - 1) * part / 3]["step"].to_string();
        let bytes_of =
            |step: &Value| steps.iter().find(|row| row["step"] == *step).unwrap()["bytes"].clone();
        for step in ["peak".to_owned(), at(0), at(1), at(2), at(3)] {
            for by in ["category", "operation", "module", "line", "variable"] {
                let arguments = ["--step", &step, "--by", by];
                let (status, found) = ask(&path, &arguments);
                let what = format!("{} {arguments:?}", path.display());
                if status != 0 {
                    let hint = found["error"]["hint"].as_str().unwrap();
                    assert!(hint.contains("variable") && !hint.contains(by), "{what}: {hint}");
                    refused += 1;
                    continue;
                }
                let bytes = found["step"]["bytes"].as_i64().unwrap();
                assert_eq!(bytes_of(&found["step"]["step"]), found["step"]["bytes"], "{what}");
                assert_eq!(sum(&found["by"]["rows"]), bytes, "{what}");
                assert_eq!(found["by"]["bytes"].as_i64(), Some(bytes), "{what}");
                assert_eq!(found["by"]["group"], by);
                let [variables, always] =
                    ["variables", "always_live_variables"].map(|key| &found[key]);
                assert_eq!(sum(variables) + sum(always), bytes, "{what}");
                assert_eq!(Some(sum(always)), found["always_live_bytes"].as_i64(), "{what}");
                let rest: i64 = [variables, always, &found["by"]["rows"]]
                    .iter()
                    .flat_map(|list| list.as_array().unwrap())
                    .filter(|row| row["name"] == "Not attributable")
                    .map(|row| row["bytes"].as_i64().unwrap())
                    .sum();
                let is_known = !matches!(by, "operation" | "module" | "category");
                assert!(!is_known || rest == 0, "{what}: {rest} B of nobody");
                asked += 1;
            }
        }
    }
    assert!(asked > 150 && refused > 20, "{asked} answers, {refused} refusals");
}

/// Of IPU reports summary reads less of what bytes belong to, so that its rows differ where compute sets own bytes.
#[test]
fn at_the_peak_the_rows_are_those_of_summary() {
    let directory = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for path in runs(directory.path()) {
        let summary = json(&tilescope(&["summary", path.to_str().unwrap(), "--json"]));
        let peak = &summary["liveness"]["peak"];
        if summary["source"]["system"] == "poplar" {
            continue;
        }
        let (step, device) = (peak["step"].to_string(), peak["device"].to_string());
        for by in ["category", "operation", "module", "line"] {
            let rows = peak[format!("by_{by}")].as_array().unwrap();
            if rows.is_empty() {
                continue;
            }
            let (_, found) = ask(&path, &["--step", &step, "--by", by, "--device", &device]);
            let listed = |rows: &[Value]| {
                let row = |row: &Value| {
                    [&row["name"], &row["bytes"], &row["count"]].map(Value::to_string)
                };
                let mut rows: Vec<_> = rows.iter().map(row).collect();
                rows.sort();
                rows
            };
            let found = listed(found["by"]["rows"].as_array().unwrap());
            assert_eq!(found, listed(rows), "{} {by}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn the_map_of_an_arena_of_any_system_has_what_is_placed_there() {
    let directory = tempfile::tempdir().unwrap();
    for path in runs(directory.path()) {
        let of = |option: &str, arena: &str| {
            let output = tilescope(&["map", path.to_str().unwrap(), "--json", option, arena]);
            (output.status.code().unwrap(), json(&output))
        };
        let (status, found) = of("--arena", "0");
        assert_eq!((status, &found["schema"]), (0, &"tilescope.map/2".into()), "{found}");
        assert_eq!(found["arena"], 0);
        assert!(found["name"].as_str().is_some_and(|name| !name.is_empty()), "{found}");
        assert_eq!(of("--tile", "0").1, found);
        let ends = found["variables"].as_array().unwrap().iter();
        let ends = ends.map(|one| one["offset"].as_u64().unwrap() + one["bytes"].as_u64().unwrap());
        assert_eq!(ends.max(), found["end"].as_u64().filter(|end| *end > 0), "{}", path.display());
        assert_eq!(of("--arena", "4000000").0, 2);
    }
}
