//! `diagnose --json` on error texts of TT-NN: each sentence has the figures, verdict and missing bytes that are written
//! beside it.

use serde_json::Value;

use crate::common::{real_report, tilescope};

#[test]
fn every_sentence_of_the_samples_has_the_expected_figures() {
    let Some(directory) = real_report("tenstorrent/errors") else { return };
    let mut looked_at = 0;
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let expected = std::fs::read(path.with_extension("expected.json")).unwrap();
        let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
        let output = tilescope(&["diagnose", "--json", path.to_str().unwrap()]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = answer["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["device"] == "tenstorrent"), "{answer}");
        let of = |finding: &Value| finding["tenstorrent"].as_array().unwrap().clone();
        let sentences: Vec<Value> = findings.iter().flat_map(of).collect();
        assert_eq!(sentences, expected, "{}", path.display());
        looked_at += 1;
    }
    assert!(looked_at > 0);
}
