//! The story of a training step that does not fit unless parts of it are computed again, told by the dumps alone.

use crate::common::compared::{compare, conclusion, number, rows, said};
use crate::common::demo::assert_written_once;
use crate::common::{json, swept, tilescope};
use serde_json::Value;
use tilescope::format::Progress;
use tilescope::systems::xla::synth::story::{CAPACITY, VARIANTS, story};

#[test]
fn a_sweep_says_what_does_not_fit_and_what_computing_again_saves() {
    let directory = tempfile::tempdir().unwrap();
    story().write(directory.path(), &Progress::default()).unwrap();
    let table = json(&tilescope(&["sweep", directory.path().to_str().unwrap(), "--json"]));
    let table = swept(&table);
    assert_eq!(table["warnings"], serde_json::json!([]));
    let row = |name: &str| {
        let found = rows(&table["rows"]).iter().find(|row| row["variant"] == name);
        found.unwrap_or_else(|| panic!("{name} of {table}"))
    };
    assert_eq!(rows(&table["rows"]).len(), VARIANTS.len());
    let [none, dots, full, kept] = VARIANTS.map(|(name, ..)| row(name));

    // Only what keeps everything does not fit.
    let over = number(none, "oversubscription_bytes");
    assert_eq!(over, number(none, "total_bytes") - CAPACITY.cast_signed());
    assert!(over > 0, "{none}");
    for row in [dots, full, kept] {
        assert_eq!(row["oversubscription_bytes"], 0, "{row}");
    }
    assert_eq!(table["least_needed"], VARIANTS[2].0);

    // The more is computed again, the lower is the peak; donation is of what is reserved, and not of the peak.
    let peak = |row: &Value| number(row, "temporary_peak_bytes");
    assert!(peak(none) > 2 * peak(dots) && peak(dots) > 2 * peak(full), "{table:#}");
    assert_eq!(peak(full), peak(kept));
    assert_eq!(number(kept, "donated_bytes"), 0);
    let results = number(kept, "total_bytes") - number(full, "total_bytes");
    let weights = number(full, "donated_bytes");
    assert_eq!(results, weights, "results take as much as the parameters that they took over");
}

#[test]
fn what_went_away_is_what_the_backward_pass_waited_for_to_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    story().write(directory.path(), &Progress::default()).unwrap();
    let [none, dots, full, kept] = <[_; 4]>::try_from(story().runs(directory.path())).unwrap();
    for target in [&dots, &full] {
        let found = compare(&[&none, target], &[]);
        let peak = &found["peak"];
        let change = number(peak, "target_bytes") - number(peak, "source_bytes");
        assert!(change < 0);
        let sum: i64 =
            rows(&peak["by_variable"]).iter().map(|row| number(row, "difference_bytes")).sum();
        assert_eq!(sum, change, "rows add up to the byte");
        assert!(said(&found, "recomputed").starts_with("The target computes values again"));
        assert!(said(&found, "fits").contains("and fits"), "{}", said(&found, "fits"));
        // The weights of the attention of all layers go, 512 MiB of single precision of each; at most those of one
        // layer, computed again, are there in their place.
        let all = rows(&peak["by_variable"]).iter();
        let all = all.filter(|row| row["shape"]["source"] == "f32[24,8,16,1024,1024]");
        let [source, target] = ["source_bytes", "target_bytes"]
            .map(|key| all.clone().map(|row| number(row, key)).sum::<i64>());
        assert_eq!(source, 24 * (512 << 20), "{}", found["conclusions"]);
        assert!([0, 512 << 20].contains(&target), "{target}: {}", found["conclusions"]);
        let parameters = ["argument_bytes", "donated_bytes"];
        for figure in rows(&found["figures"]) {
            if parameters.contains(&figure["key"].as_str().unwrap()) {
                assert_eq!(figure["difference"], 0, "{figure}");
            }
        }
    }
    let found = compare(&[&kept, &full], &[]);
    assert!(
        said(&found, "donated").starts_with("The target donates"),
        "{}",
        said(&found, "donated")
    );
    assert!(conclusion(&found, "recomputed").is_none());
}

#[test]
fn the_demo_is_written_once() {
    assert_written_once("xla", |directory| story().runs(directory), VARIANTS.len());
}
