//! `diagnose --json` on error texts of TT-NN: each sentence has the figures, verdict and missing bytes that are written
//! beside it.

use serde_json::Value;

use crate::common::{in_package, real_report, tilescope};

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

#[test]
fn a_report_beside_a_log_says_what_held_the_memory_before() {
    let folder = tempfile::tempdir().unwrap();
    let sample = in_package("sample_profiles/tenstorrent/l1/db.sqlite");
    std::fs::copy(sample, folder.path().join("db.sqlite")).unwrap();
    let log = folder.path().join("run.log");
    let text = "Statically allocated circular buffers in program 0 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer \
        allocated at 1294912 and static circular buffer region ends at 1467680\n";
    std::fs::write(&log, text).unwrap();
    let joined = |paths: &[&std::path::Path]| {
        let paths = paths.iter().map(|path| path.to_str().unwrap());
        let arguments: Vec<&str> = ["diagnose", "--json"].into_iter().chain(paths).collect();
        let output = tilescope(&arguments);
        let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["findings"][0]["ttnn_report"].take()
    };
    let beside = joined(&[&log]);
    assert_eq!((&beside["space"], &beside["broke_off"]), (&"L1".into(), &false.into()), "{beside}");
    let alone = tempfile::tempdir().unwrap();
    let other = alone.path().join("run.log");
    std::fs::copy(&log, &other).unwrap();
    assert_eq!(joined(&[&other]), Value::Null);
    let named = joined(&[&other, folder.path()]);
    assert_eq!(named["alive_bytes_per_bank"], beside["alive_bytes_per_bank"]);
    // Each message has its own report, in whatever order the logs of a directory are named.
    let further = folder.path().join("further.log");
    std::fs::copy(&log, &further).unwrap();
    let paths = [&log, &other, &further].map(|path| path.to_str().unwrap());
    let output = tilescope(&[&["diagnose", "--json"], &paths[..]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reports = [0, 1, 2].map(|place| answer["findings"][place]["ttnn_report"].clone());
    assert_eq!(reports, [beside.clone(), Value::Null, beside]);
}

#[test]
fn a_report_that_has_the_error_itself_is_not_said_to_lack_it() {
    let folder = tempfile::tempdir().unwrap();
    let sample = in_package("sample_profiles/tenstorrent/too-large/db.sqlite");
    std::fs::copy(sample, folder.path().join("db.sqlite")).unwrap();
    let log = folder.path().join("run.log");
    std::fs::write(&log, "Statically allocated circular buffers in program 0 clash with L1 buffers on core range [0-0 - 7-7]. \
        L1 buffer allocated at 294912 and static circular buffer region ends at 367680\n").unwrap();
    let output = tilescope(&["diagnose", "--json", log.to_str().unwrap()]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["findings"][0]["ttnn_report"], Value::Null);
}
