//! Tables of XLA modules: compilations of one dump, and dumps beside each other. The samples are real compilations
//! of one training step, which keeps what the backward pass needs, computes it again, and donates its parameters.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::compared::{rows, text_of};
use crate::common::{in_package, json, swept, tilescope};
use serde_json::Value;

fn samples() -> PathBuf {
    in_package("sample_profiles/xla")
}

#[track_caller]
fn sweep(arguments: &[&str]) -> Value {
    let output = tilescope(&[&["sweep", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", json(&output));
    let found = json(&output);
    assert!(rows(&found["runs"]).iter().all(|run| run["system"] == "xla"), "{found}");
    swept(&found)
}

fn names(found: &Value) -> Vec<&str> {
    rows(&found["rows"]).iter().filter_map(|row| row["variant"].as_str()).collect()
}

#[test]
fn dumps_beside_each_other_are_variants_in_percent_of_the_reference_and_of_the_one_before() {
    let samples = samples();
    let found = sweep(&[text_of(&samples), "--reference", "keep"]);
    assert_eq!(names(&found), ["again", "donate", "keep"]);
    assert_eq!((&found["reference"], &found["least_needed"]), (&"keep".into(), &"donate".into()));
    for row in rows(&found["rows"]) {
        let bytes = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"));
        let name = row["variant"].as_str().expect("a name");
        let directory = samples.join(name);
        let summary = json(&tilescope(&["summary", "--json", text_of(&directory)]));
        assert_eq!(bytes("total_bytes"), summary["memory"]["total_bytes"].as_u64().expect("bytes"));
        assert_eq!(bytes("lost_bytes"), summary["memory"]["gap_bytes"].as_u64().expect("bytes"));
        assert_eq!(bytes("temporary_peak_bytes"), crate::common::not_always_live(&summary));
        let donated = &summary["xla"]["parameters"]["donated_bytes"];
        assert_eq!(bytes("donated_bytes"), donated.as_u64().expect("bytes"));
        assert_eq!(bytes("donated_bytes") > 0, name == "donate");
        assert_eq!(row["oversubscription_bytes"], Value::Null, "nobody says what a host has");
    }
    let percent = |row: usize, of: &str| found["rows"][row][of]["total_bytes"].clone();
    assert_eq!(percent(2, "percent"), 100.0);
    assert!(percent(0, "percent").as_f64().expect("a number") < 40.0);
    assert_eq!(percent(0, "percent_of_previous"), Value::Null);
    assert!(percent(2, "percent_of_previous").as_f64().expect("a number") > 300.0);
    let small = sweep(&[text_of(&samples), "--capacity", "6MiB"]);
    let fits = rows(&small["rows"]).iter().map(|row| row["fits"].as_bool());
    assert_eq!(fits.collect::<Vec<_>>(), [Some(true), Some(true), Some(false)]);
    assert_eq!(small["reference"], "again");
}

#[test]
fn compilations_of_one_module_are_rows_in_the_order_of_their_numbers() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = "module_0000.jit_train_step.cpu_after_optimizations.hlo.pb";
    for (number, from) in [("0010", "keep"), ("0002", "again"), ("0020", "donate")] {
        // Of a TPU, for which alone such a text is.
        let name = file.replace("cpu_after", "cl_1.after").replace("0000", number);
        let to = directory.path().join(name);
        fs::copy(samples().join(from).join(file), to).expect("a copy");
    }
    let found = sweep(&[text_of(directory.path())]);
    let expected = ["0002", "0010", "0020"].map(|number| format!("module_{number}.jit_train_step"));
    let names = names(&found);
    assert!(names.iter().zip(&expected).all(|(name, end)| name.ends_with(end)), "{names:?}");
    assert_eq!(names.len(), 3);
    // The text of an error beside them says what the device has.
    let text = "Ran out of memory on HBM, the total memory required for HLO temporaries (16.10M) exceeds available HBM (6.00M).";
    fs::write(directory.path().join("error.txt"), text).expect("a text");
    let found = sweep(&[text_of(directory.path())]);
    let over: Vec<bool> = rows(&found["rows"])
        .iter()
        .map(|row| row["oversubscription_bytes"].as_u64().expect("known") > 0)
        .collect();
    assert_eq!(over, [false, true, false]);
}

#[test]
fn text_and_values_have_the_same_rows_and_what_cannot_be_read_is_said() {
    let samples = samples();
    let output = tilescope(&["sweep", text_of(&samples), "--csv"]);
    let values = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        values
            .starts_with("path,name,system,directory,outcome,cause,used_bytes,capacity_bytes,over_bytes,total_bytes,total_percent,total_percent_of_previous,")
    );
    assert_eq!(values.lines().count(), 4, "{values}");
    let output = tilescope(&["sweep", text_of(&samples)]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for word in ["reserved", "of the one before", "temporary in use", "donated", "not known"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let output = tilescope(&["sweep", "--json", text_of(&samples), "--by", "x"]);
    assert_eq!(output.status.code(), Some(2));
    let output = tilescope(&["sweep", "--json", text_of(&samples), "--module", "absent"]);
    assert!(!output.status.success());
}

#[test]
fn the_files_alone_tell_what_computing_again_and_donating_are_worth() {
    let [keep, again, donate] = ["keep", "again", "donate"].map(|name| samples().join(name));
    let compare = |source: &Path, target: &Path| {
        json(&tilescope(&["compare", "--json", text_of(source), text_of(target)]))
    };
    let said = |found: &Value, id: &str| {
        let all = rows(&found["conclusions"]).iter();
        let text = all.filter(|one| one["id"] == id).filter_map(|one| one["text"].as_str());
        text.collect::<Vec<_>>().join("\n")
    };
    let found = compare(&keep, &again);
    assert!(said(&found, "recomputed").starts_with("The target computes values again"));
    assert!(said(&found, "less").contains("jvp()/while"), "{}", said(&found, "less"));
    assert!(said(&found, "donated").is_empty());
    let found = compare(&again, &donate);
    assert!(said(&found, "donated").starts_with("The target donates 1.12 MiB of its parameters"));
    assert!(said(&found, "recomputed").is_empty());
}
