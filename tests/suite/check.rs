//! `tilescope check` as a CI job runs it: exit statuses, one JSON document, a text that says what
//! exceeded what.

use std::path::Path;

use crate::common::{damaged_sample, in_package, json, sample, summary, tilescope};
use serde_json::{Value, json};

/// The figures of a report as `summary` has them: fullest tile, all tiles, peak.
fn figures(path: &Path) -> [u64; 3] {
    let answer = summary(path).unwrap();
    let fullest = &answer["poplar"]["memory"]["fullest_tile"]["including_gaps_bytes"];
    [fullest, &answer["memory"]["including_gaps_bytes"], &answer["liveness"]["peak"]["bytes"]]
        .map(|bytes| bytes.as_u64().unwrap())
}

/// Runs `check PATH … --json` and returns the exit status and the document.
fn check(path: &Path, arguments: &[&str]) -> (i32, Value) {
    let arguments = [&["check", path.to_str().unwrap(), "--json"], arguments].concat();
    let output = tilescope(&arguments);
    (output.status.code().unwrap(), json(&output))
}

const OPTIONS: [&str; 3] = ["max-tile-bytes", "max-total-bytes", "max-peak-bytes"];

#[test]
fn each_budget_passes_at_its_figure_and_fails_one_byte_below() {
    let path = sample();
    for (option, actual) in OPTIONS.into_iter().zip(figures(&path)) {
        for (limit, passed) in [(actual, true), (actual - 1, false)] {
            let (status, answer) = check(&path, &[&format!("--{option}"), &limit.to_string()]);
            assert_eq!(status, i32::from(!passed), "{option}");
            assert_eq!(
                (&answer["schema"], &answer["passed"]),
                (&json!("tilescope.check/2"), &json!(passed))
            );
            let checks = answer["checks"].as_array().unwrap();
            assert_eq!(checks.len(), 1);
            let row = &checks[0];
            assert_eq!((&row["name"], &row["limit"]), (&json!(option), &json!(limit)));
            assert_eq!((&row["actual"], &row["passed"]), (&json!(actual), &json!(passed)));
        }
    }
}

#[test]
fn the_text_names_what_exceeded_what_by_how_much() {
    let path = sample();
    let [tile, total, _] = figures(&path);
    let answer = summary(&path).unwrap();
    let number = &answer["poplar"]["memory"]["fullest_tile"]["tile"];
    let limit = (tile - 12).to_string();
    let arguments =
        ["check", path.to_str().unwrap(), "--max-tile-bytes", &limit, "--max-total-bytes", "1G"];
    let output = tilescope(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("Failed: 1 of 2 budgets"), "{text}");
    let failed = text.lines().find(|line| line.contains("FAILED")).unwrap();
    assert!(failed.contains(&format!("tile {number} has ")), "{text}");
    assert!(failed.contains(", 12 B more than --max-tile-bytes allows"), "{text}");
    let passed = text.lines().find(|line| line.contains("passed")).unwrap();
    let left = tilescope::text::grouped((1 << 30) - total);
    assert!(passed.contains(&format!("({left} B) less than --max-total-bytes allows")), "{text}");
}

#[test]
fn a_program_must_fit() {
    assert_eq!(check(&sample(), &["--must-fit"]).0, 0);
    let path = in_package("sample_profiles/does-not-fit");
    let (status, answer) = check(&path, &["--must-fit"]);
    let over = &summary(&path).unwrap()["poplar"]["memory"]["tiles_over_limit"];
    let [fullest, ..] = figures(&path);
    assert_eq!((status, &answer["checks"][0]["actual"]), (1, &json!(fullest)));
    assert!(answer["checks"][0]["limit"].as_u64().unwrap() < fullest);
    assert!(over.as_u64().unwrap() > 0);
    let text = tilescope(&["check", path.to_str().unwrap(), "--must-fit"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("{over} tiles over")) && text.contains("too much"), "{text}");
}

/// What the user says of the capacity counts for tiles as for any other memory, and an IPU is a device.
#[test]
fn the_capacity_of_a_tile_and_the_device_can_be_said() {
    let path = sample();
    let [tile, total, _] = figures(&path);
    for (capacity, other, status) in
        [(tile, "0", 0), (tile - 1, "0", 1), (tile + 7, "7", 0), (tile + 7, "8", 1)]
    {
        let capacity = capacity.to_string();
        let given = ["--must-fit", "--capacity", &capacity, "--other", other];
        let (found, answer) = check(&path, &given);
        assert_eq!(found, status, "{answer}");
        assert_eq!(answer["checks"][0]["device"], Value::Null);
    }
    let both = in_package("sample_profiles/pipeline");
    let bytes = |device: &[&str]| {
        let arguments = [&["--max-total-bytes", "1"], device].concat();
        let (_, answer) = check(&both, &arguments);
        answer["checks"][0]["actual"].as_u64().unwrap()
    };
    let of_ipus: u64 = ["0", "1"].map(|ipu| bytes(&["--device", ipu])).iter().sum();
    assert_eq!(bytes(&[]), of_ipus);
    let (_, answer) = check(&path, &["--max-total-bytes", "1", "--device", "0"]);
    let row = &answer["checks"][0];
    assert_eq!((&row["device"], &row["actual"]), (&json!(0), &json!(total)));
    let (status, answer) = check(&path, &["--must-fit", "--device", "9"]);
    assert_eq!(status, 2, "{answer}");
}

#[test]
fn growth_is_of_all_three_figures_against_the_baseline() {
    let (path, baseline) =
        (in_package("sample_profiles/pair-0.6"), in_package("sample_profiles/pair-0.2"));
    let (to, from) = (figures(&path), figures(&baseline));
    let percents: Vec<f64> = to
        .iter()
        .zip(from)
        .map(|(to, from)| (*to as f64 - from as f64) * 100.0 / from as f64)
        .collect();
    let most = percents.iter().copied().fold(f64::MIN, f64::max);
    assert!(most > 0.0, "the pair differs: {percents:?}");
    for (limit, status) in [(most + 0.01, 0), (most - 0.01, 1), (1e9, 0), (-99.0, 1)] {
        let limit = format!("--max-growth={limit}");
        let (found, answer) = check(&path, &["--baseline", baseline.to_str().unwrap(), &limit]);
        assert_eq!(found, status, "{limit}: {percents:?}");
        let checks = answer["checks"].as_array().unwrap();
        let figures: Vec<_> = checks.iter().map(|row| row["figure"].as_str().unwrap()).collect();
        assert_eq!(figures, ["fullest_tile", "total", "peak"]);
        for (number, row) in checks.iter().enumerate() {
            assert_eq!(row["name"], "max-growth");
            assert!((row["actual"].as_f64().unwrap() - percents[number]).abs() < 1e-9);
            assert_eq!(row["baseline_bytes"], json!(from[number]));
            assert_eq!(row["actual_bytes"], json!(to[number]));
        }
    }
    let same = path.to_str().unwrap();
    assert_eq!(check(&path, &["--baseline", same, "--max-growth", "0"]).0, 0);
}

#[test]
fn what_the_report_lacks_fails_and_says_so() {
    let directory = damaged_sample(|directory| {
        rusqlite::Connection::open(directory.join("profile.pop"))
            .and_then(|db| db.execute_batch("DROP TABLE memory_by_tile"))
            .unwrap();
    });
    let path = directory.path().to_owned();
    let budgets = ["--max-tile-bytes", "1G", "--max-total-bytes", "1G", "--max-peak-bytes", "1G"];
    let (status, answer) = check(&path, &[&budgets[..], &["--must-fit"]].concat());
    assert_eq!(status, 1);
    for row in answer["checks"].as_array().unwrap() {
        assert_eq!((&row["actual"], &row["passed"]), (&Value::Null, &json!(false)));
    }
    let arguments = [&["check", path.to_str().unwrap()], &budgets[..]].concat();
    let text = String::from_utf8(tilescope(&arguments).stdout).unwrap();
    assert_eq!(text.matches("not known, so --max-").count(), 3, "{text}");
    let baseline = ["--baseline", path.to_str().unwrap(), "--max-growth", "50"];
    let (status, answer) = check(&sample(), &baseline);
    assert_eq!((status, &answer["checks"][0]["actual"]), (1, &Value::Null));
}

#[test]
fn wrong_arguments_end_with_2_and_unreadable_reports_with_3() {
    let path = sample();
    let path = path.to_str().unwrap();
    for (arguments, named) in [
        (&["check", path][..], "--must-fit"),
        (&["check", path, "--baseline", path], "--max-growth"),
        (&["check", path, "--must-fit", "--baseline", path], "--max-growth"),
        (&["check", path, "--max-growth", "5"], "--baseline"),
        (&["check", path, "--max-growth", "NaN", "--baseline", path], "--max-growth"),
        (&["check", path, "--max-tile-bytes", "-1"], "--max-tile-bytes"),
        (&["check", path, "--max-tile-bytes", "1.5.0M"], "--max-tile-bytes"),
        (&["check", "--must-fit"], "<RUN>"),
    ] {
        for json in [&[][..], &["--json"]] {
            let output = tilescope(&[arguments, json].concat());
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains("Usage") && message.contains(named), "{message}");
            assert!(output.stdout.is_empty());
        }
    }
    let (status, answer) = check(Path::new("/no/such/path"), &["--must-fit"]);
    assert_eq!((status, &answer["error"]["kind"]), (3, &json!("not-found")));
    let (status, answer) = check(&sample(), &["--max-growth", "5", "--baseline", "/no/such/path"]);
    assert_eq!((status, &answer["error"]["kind"]), (3, &json!("not-found")));
    assert_eq!(answer["schema"], "tilescope.error/2");
}

#[test]
fn warnings_of_two_reports_name_theirs() {
    let path = sample();
    let (_, answer) = check(&path, &["--max-growth", "5", "--baseline", path.to_str().unwrap()]);
    let file = answer["warnings"][0]["file"].as_str().unwrap();
    assert_eq!(file, format!("{}: profile.pop", path.display()));
}
