//! `tilescope check` of programs of XLA: limits, growth, and whether they fit, with the reason where that is not known.

mod common;

use common::{in_package, json, tilescope};
use serde_json::Value;

fn sample(name: &str) -> String {
    let path = in_package("sample_profiles/xla").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// The exit status, and what was checked.
#[track_caller]
fn check(arguments: &[&str]) -> (i32, Value) {
    let output = tilescope(&[&["check", "--json"], arguments].concat());
    (output.status.code().expect("a status"), json(&output))
}

#[track_caller]
fn only(found: &Value) -> &Value {
    let [row] = found["checks"].as_array().expect("checks").as_slice() else { panic!("{found}") };
    row
}

#[test]
fn limits_are_of_what_is_reserved_and_of_what_is_in_use() {
    let keep = sample("keep");
    let summary = json(&tilescope(&["summary", "--json", &keep]));
    let total = summary["memory"]["total_bytes"].as_u64().expect("bytes");
    let peak = summary["liveness"]["peak"]["bytes"].as_u64();
    for (option, actual) in [("--max-total-bytes", Some(total)), ("--max-peak-bytes", peak)] {
        let (_, found) = check(&[&keep, option, "1"]);
        let of = only(&found)["actual"].as_u64().expect("bytes");
        assert!(actual.is_none_or(|actual| actual == of), "{option}: {found}, not {actual:?}");
        let limit = of.to_string();
        let (status, found) = check(&[&keep, option, &limit]);
        assert_eq!((status, &only(&found)["passed"]), (0, &true.into()), "{option}");
        let less = (of - 1).to_string();
        let (status, found) = check(&[&keep, option, &less]);
        assert_eq!((status, &only(&found)["passed"]), (1, &false.into()), "{option}");
    }
    let (status, found) = check(&[&keep, "--max-tile-bytes", "1K"]);
    assert_eq!(status, 2);
    assert!(found["error"]["message"].as_str().is_some_and(|said| said.contains("XLA")), "{found}");
}

#[test]
fn growth_is_that_of_one_program_over_another() {
    let [keep, again] = ["keep", "again"].map(sample);
    let grown =
        |path: &str, baseline: &str| check(&[path, "--baseline", baseline, "--max-growth", "0"]);
    let (status, found) = grown(&keep, &again);
    assert_eq!(status, 1);
    let rows = found["checks"].as_array().expect("checks");
    assert_eq!(rows.len(), 2);
    for row in rows {
        let [from, to] = ["baseline_bytes", "actual_bytes"].map(|key| row[key].as_f64());
        let percent = (to.expect("bytes") / from.expect("bytes") - 1.0) * 100.0;
        assert!((row["actual"].as_f64().expect("percent") - percent).abs() < 1e-9, "{row}");
    }
    assert_eq!(grown(&again, &keep).0, 0, "it takes less");
}

#[test]
fn whether_a_program_fits_is_said_where_the_device_is_known() {
    let keep = sample("keep");
    let fits = |options: &[&str]| {
        let (status, found) = check(&[&[&*keep, "--must-fit"], options].concat());
        (status, only(&found).clone())
    };
    let (status, row) = fits(&[]);
    assert_eq!((status, &row["actual"]), (1, &Value::Null), "nobody knows");
    assert_eq!(fits(&["--capacity", "1GiB"]).0, 0);
    let (status, row) = fits(&["--capacity", "1MiB"]);
    let over = row["actual"].as_u64().expect("bytes");
    assert_eq!((status, over > 0), (1, true));
    let (_, row) = fits(&["--capacity", "1MiB", "--other", "1MiB"]);
    assert_eq!(row["actual"].as_u64(), Some(over + (1 << 20)));
    let (status, found) = check(&[&keep, "--must-fit", "--device", "7"]);
    assert_eq!(status, 2, "{found}");
}

#[test]
fn a_file_that_is_cut_passes_no_check() {
    let keep = sample("keep");
    let file = std::fs::read_dir(&keep).expect("a directory").next().expect("a file");
    let bytes = std::fs::read(file.expect("a file").path()).expect("its bytes");
    let directory = tempfile::tempdir().expect("a directory");
    let cut = directory.path().join("module_0000.f.cpu_after_optimizations.hlo.pb");
    std::fs::write(&cut, &bytes[..bytes.len() - 100]).expect("a file");
    let cut = cut.to_str().expect("UTF-8");
    for budget in [&["--max-total-bytes", "1GiB"][..], &["--must-fit", "--capacity", "1GiB"]] {
        let output = tilescope(&[&["check", cut], budget].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{budget:?}: {said}");
        assert!(said.contains("the file ends before its contents do"), "{said}");
    }
}
