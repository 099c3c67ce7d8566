//! `tilescope check` of XLA modules: limits, growth, and whether they fit, with the reason where that is not known.

use crate::common::{in_package, json, tilescope};
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
    let peak = summary["liveness"]["peak"]["bytes"].as_u64().expect("bytes");
    for (option, actual) in [("--max-total-bytes", total), ("--max-peak-bytes", peak)] {
        let (_, found) = check(&[&keep, option, "1"]);
        let of = only(&found)["actual"].as_u64().expect("bytes");
        assert_eq!(of, actual, "{option}");
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
    assert_eq!((status, &row["actual"], &row["limit"]), (1, &Value::Null, &Value::Null));
    assert_eq!(row["reason"], "the capacity of the device is not known");
    // What is needed, and what there is.
    let total = json(&tilescope(&["summary", "--json", &keep]))["memory"]["total_bytes"].clone();
    let of = |row: &Value| [row["actual"].clone(), row["limit"].clone(), row["reason"].clone()];
    let (status, row) = fits(&["--capacity", "1GiB"]);
    assert_eq!((status, of(&row)), (0, [total.clone(), (1 << 30).into(), Value::Null]));
    let (status, row) = fits(&["--capacity", "1MiB"]);
    assert_eq!((status, of(&row)), (1, [total.clone(), (1 << 20).into(), Value::Null]));
    let (_, row) = fits(&["--capacity", "3MiB", "--other", "1MiB"]);
    assert_eq!(of(&row), [total, (2 << 20).into(), Value::Null]);
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

/// What XLA refused: a program that is within what the device has by figures that are rounded.
#[test]
fn every_command_says_that_what_xla_refused_does_not_fit() {
    let total = json(&tilescope(&["summary", "--json", &sample("keep")]));
    let total = total["memory"]["total_bytes"].as_u64().expect("bytes");
    let file = std::fs::read_dir(sample("keep")).expect("a directory").next().expect("a file");
    let directory = tempfile::tempdir().expect("a directory");
    let module = directory.path().join("module_0001.jit_train_step.tpu_comp_env.hlo.pb");
    std::fs::copy(file.expect("a file").path(), module).expect("a copy");
    let text = format!(
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used {total}B of {total}B hbm. \
         Exceeded hbm capacity by 1.2K.\n"
    );
    std::fs::write(directory.path().join("error.txt"), text).expect("a text");
    let dump = directory.path().to_str().expect("UTF-8");
    assert_eq!(crate::common::fits(&json(&tilescope(&["summary", "--json", dump]))), false);
    let (status, found) = check(&[dump, "--must-fit"]);
    let row = only(&found);
    let expected = (1, &total.into(), &total.into());
    assert_eq!((status, &row["actual"], &row["limit"]), expected, "{found}");
    assert_eq!(row["reason"], "XLA refused it");
    // Of another device XLA has said nothing.
    assert_eq!(check(&[dump, "--must-fit", "--capacity", "64GiB"]).0, 0);
    let fits = |options: &[&str]| {
        let found = tilescope(&[&["sweep", "--json", dump, &sample("again")], options].concat());
        let found = crate::common::swept(&json(&found));
        let row =
            found["rows"].as_array().expect("rows").iter().find(|row| row["variant"] != "again");
        row.expect("the module")["fits"].clone()
    };
    assert_eq!((fits(&[]), fits(&["--capacity", "64GiB"])), (false.into(), true.into()));
    let said = |options: &[&str]| {
        let found = tilescope(&[&["compare", "--json", dump, dump], options].concat());
        let found = json(&found)["conclusions"].as_array().expect("a list").clone();
        let fits = found.into_iter().find(|said| said["id"] == "fits").expect("a sentence");
        fits["text"].as_str().expect("a text").to_owned()
    };
    assert!(said(&[]).contains("and XLA refused it"), "{}", said(&[]));
    assert!(said(&["--capacity", "64GiB"]).contains("and fits"));
}
