//! Shared by tests of comparisons: `compare` run as a user does, and what its JSON has.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{in_package, json, tilescope};

/// A real file or directory of a system, which is no part of this package; says so where it is absent.
pub fn real(system: &str, name: &str) -> Option<PathBuf> {
    let path = in_package("../shared/profiles").join(system).join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: ../shared/profiles/{system}/{name} is absent");
    None
}

pub fn text_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[track_caller]
pub fn compare(paths: &[&Path], options: &[&str]) -> Value {
    let paths: Vec<&str> = paths.iter().map(|path| text_of(path)).collect();
    let output = tilescope(&[&["compare", "--json"], &*paths, options].concat());
    assert!(output.status.success(), "{paths:?}: {}", json(&output));
    json(&output)
}

/// The status and the words of a comparison that is refused.
#[track_caller]
pub fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = tilescope(&[&["compare", "--json"], arguments].concat());
    let error = &json(&output)["error"];
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (output.status.code().expect("a status"), format!("{} {}", text("message"), text("hint")))
}

pub fn number(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

pub fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Source, target and difference of evidence, summed up.
pub fn sums(list: &Value) -> [i64; 3] {
    let sum = |key: &str| rows(list).iter().map(|row| number(row, key)).sum();
    ["source", "target", "difference"].map(sum)
}

/// Bytes of source and target, and their difference, of rows of a peak, summed up.
pub fn sums_of_rows(list: &Value) -> [i64; 3] {
    let sum = |key: &str| rows(list).iter().map(|row| number(row, key)).sum();
    ["source_bytes", "target_bytes", "difference_bytes"].map(sum)
}

/// That each row of a peak says what became of it, by its bytes and by how many things are on each side.
#[track_caller]
pub fn assert_change(row: &Value) {
    let bytes = ["source_bytes", "target_bytes"].map(|key| number(row, key));
    assert_eq!(number(row, "difference_bytes"), bytes[1] - bytes[0]);
    let change = match ["source_count", "target_count"].map(|key| number(row, key)) {
        [_, 0] => "only-source",
        [0, _] => "only-target",
        _ if bytes[0] < bytes[1] => "grown",
        _ if bytes[0] > bytes[1] => "shrunk",
        _ => "unchanged",
    };
    assert_eq!(row["change"], change, "{row}");
    assert_eq!(row["only"].as_str(), change.strip_prefix("only-"), "{row}");
}

pub fn figure<'a>(found: &'a Value, name: &str) -> &'a Value {
    let row = rows(&found["figures"]).iter().find(|row| row["key"] == name);
    row.unwrap_or_else(|| panic!("no figure {name}"))
}

pub fn conclusion<'a>(found: &'a Value, id: &str) -> Option<&'a Value> {
    rows(&found["conclusions"]).iter().find(|said| said["id"] == id)
}

/// What a conclusion says.
pub fn said(found: &Value, id: &str) -> String {
    let text = conclusion(found, id).and_then(|said| said["text"].as_str());
    text.unwrap_or_else(|| panic!("no {id}: {}", found["conclusions"])).to_owned()
}
