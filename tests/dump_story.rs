//! The story of a training step that does not fit unless parts of it are computed again, told by the dumps alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{json, tilescope};
use serde_json::Value;
use tilescope::format::Progress;
use tilescope::synth::xla::story::{CAPACITY, VARIANTS, runs, write_story};

fn bytes(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn compare(source: &Path, target: &Path) -> Value {
    json(&tilescope(&["compare", "--json", source.to_str().unwrap(), target.to_str().unwrap()]))
}

fn said(found: &Value, id: &str) -> String {
    let all = rows(&found["conclusions"]).iter().filter(|one| one["id"] == id);
    all.filter_map(|one| one["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sweep_says_what_does_not_fit_and_what_computing_again_saves() {
    let directory = tempfile::tempdir().unwrap();
    write_story(directory.path(), &Progress::default()).unwrap();
    let table = json(&tilescope(&["sweep", directory.path().to_str().unwrap(), "--json"]));
    assert_eq!(table["warnings"], serde_json::json!([]));
    let row = |name: &str| {
        let found = rows(&table["rows"]).iter().find(|row| row["variant"] == name);
        found.unwrap_or_else(|| panic!("{name} of {table}"))
    };
    assert_eq!(rows(&table["rows"]).len(), VARIANTS.len());
    let [none, dots, full, kept] = VARIANTS.map(|(name, ..)| row(name));

    // Only what keeps everything does not fit.
    let over = bytes(none, "oversubscription_bytes");
    assert_eq!(over, bytes(none, "total_bytes") - CAPACITY.cast_signed());
    assert!(over > 0, "{none}");
    for row in [dots, full, kept] {
        assert_eq!(row["oversubscription_bytes"], 0, "{row}");
    }
    assert_eq!(table["least_needed"], VARIANTS[2].0);

    // The more is computed again, the lower is the peak; donation is of what is reserved, and not of the peak.
    let peak = |row: &Value| bytes(row, "temporary_peak_bytes");
    assert!(peak(none) > 2 * peak(dots) && peak(dots) > 2 * peak(full), "{table:#}");
    assert_eq!(peak(full), peak(kept));
    assert_eq!(bytes(kept, "donated_bytes"), 0);
    let results = bytes(kept, "total_bytes") - bytes(full, "total_bytes");
    let weights = bytes(full, "donated_bytes");
    assert_eq!(results, weights, "results take as much as the parameters that they took over");
}

#[test]
fn what_went_away_is_what_the_backward_pass_waited_for_to_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    write_story(directory.path(), &Progress::default()).unwrap();
    let [none, dots, full, kept] = <[_; 4]>::try_from(runs(directory.path())).unwrap();
    for target in [&dots, &full] {
        let found = compare(&none, target);
        let peak = &found["explanation"]["peak"];
        let change = bytes(peak, "target") - bytes(peak, "source");
        assert!(change < 0);
        let sum: i64 = rows(&found["xla"]["rows"]).iter().map(|row| bytes(row, "difference")).sum();
        assert_eq!(sum, change, "rows add up to the byte");
        assert!(said(&found, "recomputed").starts_with("The target computes values again"));
        assert!(said(&found, "fits").contains("and fits"), "{}", said(&found, "fits"));
        // Of each layer the weights of the attention go: 512 MiB of single precision.
        let scores: i64 = rows(&found["xla"]["rows"])
            .iter()
            .filter(|row| row["shape"]["source"] == "f32[24,8,16,1024,1024]")
            .map(|row| bytes(row, "difference"))
            .sum();
        assert_eq!(scores, -24 * (512 << 20), "{}", found["conclusions"]);
        let parameters = ["argument_bytes", "donated_bytes"];
        for figure in rows(&found["figures"]) {
            if parameters.contains(&figure["name"].as_str().unwrap()) {
                assert_eq!(figure["difference"], 0, "{figure}");
            }
        }
    }
    let found = compare(&kept, &full);
    assert!(said(&found, "donated").starts_with("The target gives"), "{}", said(&found, "donated"));
    assert!(said(&found, "recomputed").is_empty());
}

#[test]
fn the_demo_is_written_once() {
    let cache = tempfile::tempdir().unwrap();
    let written = || {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["demo", "--system", "xla"])
            .env("XDG_CACHE_HOME", cache.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let directory = written();
    let files = runs(directory.as_ref());
    let times = || -> Vec<_> {
        files.iter().map(|file| file.metadata().unwrap().modified().unwrap()).collect()
    };
    let before = times();
    assert_eq!(before.len(), VARIANTS.len());
    assert_eq!(written(), directory);
    assert_eq!(times(), before);
}
