//! Categories and owners against captures of PyTorch's own allocator of which it is known what each byte is for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{in_package, json, tilescope};
use serde_json::Value;

/// Bytes by name.
type Bytes = BTreeMap<String, u64>;

/// Captures with their truth, which are not part of this package; says so where they are absent.
fn cases() -> Vec<PathBuf> {
    let path = in_package("../shared/profiles/pytorch-truth");
    let Ok(entries) = std::fs::read_dir(&path) else {
        eprintln!("skipped: ../shared/profiles/pytorch-truth is absent");
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_case = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "pickle");
    let mut found: Vec<_> = paths.filter(is_case).collect();
    found.sort();
    found
}

/// The peak of a device, as the command says it.
fn peak(path: &Path) -> Value {
    let output = tilescope(&["summary", &path.to_string_lossy(), "--json"]);
    assert!(output.status.success(), "{}", path.display());
    json(&output)["liveness"]["peak"].clone()
}

fn said(rows: &Value) -> Bytes {
    let rows = rows.as_array().unwrap().iter();
    let row =
        |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["bytes"].as_u64().unwrap());
    rows.map(row).collect()
}

fn truth(bytes: &Value) -> Bytes {
    let rows = bytes.as_object().unwrap().iter();
    rows.map(|(name, bytes)| (name.clone(), bytes.as_u64().unwrap())).collect()
}

fn common(said: &Bytes, truth: &Bytes) -> u64 {
    truth.iter().map(|(name, bytes)| said.get(name).copied().unwrap_or(0).min(*bytes)).sum()
}

#[test]
fn most_bytes_have_their_category_and_their_owner() {
    let (mut right, mut all, mut owned, mut named) = (0, 0, 0, 0);
    for path in cases() {
        let case = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path.with_extension("truth.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let found = peak(&path);
        let kinds = truth(&expected["peak"]["by_kind"]);
        let of_case: u64 = kinds.values().sum();
        let categories = said(&found["by_category"]);
        assert_eq!(categories.values().sum::<u64>(), of_case, "{case}");
        let right_of_case = common(&categories, &kinds);
        let least = of_case * 85 / 100;
        assert!(
            right_of_case >= least,
            "{case}: {right_of_case} of {of_case}, {categories:?}, {kinds:?}"
        );
        let mut places = truth(&expected["peak"]["by_place"]);
        places.remove("");
        right += right_of_case;
        all += of_case;
        named += places.values().sum::<u64>();
        owned += common(&said(&found["by_line"]), &places);
    }
    assert!(right * 100 >= all * 95, "{right} of {all} have their category");
    assert!(owned * 100 >= named * 95, "{owned} of {named} have their owner");
}
