//! The published JSON Schemas: they are derived from the types that commands print, and every recorded document is as they say.

use std::path::Path;

use serde_json::Value;
use tilescope::cli::schemas;

use crate::common::schema::assert_valid;

fn published() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/user/schemas")
}

/// `tilescope.summary/2` is in `summary.json`.
fn file_of(name: &str) -> String {
    let name = name.trim_start_matches("tilescope.");
    format!("{}.json", name.split('/').next().unwrap())
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let mut expected = Vec::new();
    for (name, schema) in schemas::all() {
        let file = published().join(file_of(name));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("TILESCOPE_RECORD").is_some() {
            std::fs::create_dir_all(published()).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(stored == text, "{} is out of date: TILESCOPE_RECORD=1 writes it", file.display());
        expected.push(file_of(name));
    }
    let files = std::fs::read_dir(published()).unwrap();
    let files: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let stray: Vec<_> = files.iter().filter(|file| !expected.contains(file)).collect();
    assert!(stray.is_empty(), "no document has these schemas: {stray:?}");
}

/// The JSON documents of a recorded answer.
fn document_of(text: &str) -> Option<Value> {
    let (_, rest) = text.split_once("[standard output]\n")?;
    let lines: String = rest
        .lines()
        .take_while(|line| !line.starts_with('['))
        .map(|line| line.trim_start_matches("  ").to_owned() + "\n")
        .collect();
    serde_json::from_str(&lines).ok()
}

#[test]
fn recorded_documents_are_as_their_schemas_say() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut looked_at = 0;
    for directory in std::fs::read_dir(recorded).unwrap() {
        for file in std::fs::read_dir(directory.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if !path.to_string_lossy().ends_with(".json.txt") {
                continue;
            }
            let Some(document) = document_of(&std::fs::read_to_string(&path).unwrap()) else {
                continue;
            };
            assert_valid(&document, &path.display().to_string());
            looked_at += 1;
        }
    }
    assert!(looked_at > 150, "{looked_at} documents");
}

#[test]
fn a_document_that_is_not_as_its_schema_says_is_noticed() {
    let error = |body: Value| serde_json::json!({ "schema": "tilescope.error/2", "error": body });
    let good = serde_json::json!({ "kind": "usage", "file": null, "at": null, "message": "", "hint": null });
    assert_valid(&error(good.clone()), "a good one");
    for (key, value) in [("kind", Value::from("new")), ("message", Value::Null), ("more", 1.into())]
    {
        let mut bad = good.clone();
        bad[key] = value;
        let found = std::panic::catch_unwind(|| assert_valid(&error(bad), "a bad one"));
        assert!(found.is_err(), "{key}");
    }
}
