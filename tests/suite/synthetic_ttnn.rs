//! Synthetic reports of TT-NN: whoever writes one counts at its allocators what they take; the reader finds the same from
//! the files alone.

use std::path::Path;

use crate::common::compared::text_of;
use crate::common::demo::assert_written_once;
use crate::common::{in_package, json, tilescope};
use serde_json::{Value, json};
use tilescope::format::Progress;
use tilescope::synth::WriteError;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::tenstorrent::synth::chip::TensorPlace;
use tilescope::systems::tenstorrent::synth::story::{VARIANTS, options, story};
use tilescope::systems::tenstorrent::synth::{
    ReportSchema, TtnnReportOptions, WrittenFailure, WrittenRank, write_report,
};

/// A network that is quick to write, for so many samples at a time.
fn small(batch: u64) -> TtnnReportOptions {
    let default = TtnnReportOptions::default();
    let network =
        Transformer { layers: 2, width: 256, heads: 4, sequence: 128, batch, ..default.network };
    TtnnReportOptions { network, ..default }
}

fn summary(directory: &Path) -> Value {
    let output = tilescope(&["summary", text_of(directory), "--json", "--no-index"]);
    assert!(output.status.success(), "{}", json(&output));
    json(&output)
}

/// Writes a report and gives what is read of each rank with what was written of it.
#[track_caller]
fn written(options: &TtnnReportOptions) -> Vec<(Value, WrittenRank)> {
    let directory = tempfile::tempdir().unwrap();
    let written = write_report(options, directory.path(), &Progress::default()).unwrap();
    let mut found = summary(directory.path());
    assert_eq!(found["warnings"], json!([]));
    let ranks = found["tenstorrent"]["ranks"].as_array_mut().unwrap();
    assert_eq!(ranks.len(), written.len());
    ranks.iter_mut().map(Value::take).zip(written).collect()
}

/// That figures are read as they were counted.
#[track_caller]
fn assert_same(rank: &Value, written: &WrittenRank) {
    assert_eq!(rank["counts"]["operations"], written.operations);
    assert_eq!(rank["counts"]["replay_mismatches"], 0);
    for (space, peak) in ["DRAM", "L1"].into_iter().zip(written.peaks) {
        let found = &rank["spaces"][space];
        assert_eq!(found["peak_bytes_per_bank"], peak.bytes, "{space}");
        if peak.bytes > 0 {
            assert_eq!(found["peak_at"]["operation"], peak.operation, "{space}");
        }
    }
    if written.peaks[TensorPlace::L1 as usize].bytes > 0 {
        let largest_free = &rank["l1_at_peak"]["largest_free_bytes_per_core"];
        assert_eq!(*largest_free, written.largest_free_bytes);
    }
    assert_eq!(rank["l1_transient_peak"]["bytes_per_core"], written.l1_transient_bytes);
    assert_eq!(rank["in_use_peak"]["bytes_per_core"], written.in_use_bytes);
    assert_eq!(rank["scratch"]["unknown"], 0);
}

#[test]
fn figures_are_those_of_the_allocators_in_every_schema() {
    for schema in [ReportSchema::V2, ReportSchema::V3_3, ReportSchema::V3_5] {
        for activations in [TensorPlace::Dram, TensorPlace::L1] {
            let options = TtnnReportOptions { schema, activations, passes: 2, ..small(6) };
            for (rank, written) in written(&options) {
                assert_same(&rank, &written);
                assert_eq!(written.failure, None);
            }
        }
    }
}

#[test]
fn each_rank_has_its_own_layers() {
    let mut options = TtnnReportOptions { ranks: 2, ..small(4) };
    options.network.layers = 3;
    let ranks = written(&options);
    for (rank, written) in &ranks {
        assert_same(rank, written);
    }
    assert_eq!(ranks[0].1.operations, 2 * ranks[1].1.operations);
}

#[test]
fn what_is_kept_is_found_with_who_read_it_last() {
    let options = TtnnReportOptions { is_leaking: true, passes: 2, ..small(8) };
    let [(rank, written)] = &written(&options)[..] else { panic!("one rank") };
    assert_same(rank, written);
    assert_eq!(written.kept.len(), 4);
    let leaks = rank["spaces"]["L1"]["leaks"].as_array().unwrap();
    let mut found: Vec<[u64; 3]> = leaks
        .iter()
        .map(|leak| {
            let number = |value: &Value| value.as_u64().unwrap();
            let last = number(&leak["last_used_by"]["operation"]);
            [number(&leak["address"]), number(&leak["bytes_per_bank"]), last]
        })
        .collect();
    let mut expected: Vec<[u64; 3]> =
        written.kept.iter().map(|kept| [kept.address, kept.bytes, kept.last_read_by]).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn an_operation_that_fails_says_what_is_missing() {
    let mut forms = Vec::new();
    for batch in [100, 160, 256, 512] {
        for schema in [ReportSchema::V3_3, ReportSchema::V3_5] {
            let options = TtnnReportOptions { schema, ..small(batch) };
            let [(rank, written)] = &written(&options)[..] else { panic!("one rank") };
            assert_same(rank, written);
            let Some(failure) = written.failure else { continue };
            let [error] = &rank["errors"].as_array().unwrap()[..] else { panic!("one error") };
            if schema == ReportSchema::V3_3 {
                assert_eq!(error["operation"], Value::Null);
                continue;
            }
            assert_eq!(error["operation"], written.operations);
            assert_eq!(error["missing_bytes"], failure.missing_bytes(), "{error:#}");
            if let WrittenFailure::OutOfMemory { allocated_bytes, largest_free_bytes, .. } = failure
            {
                let found = &error["in_report"];
                assert_eq!(found["allocated_bytes_per_bank"], allocated_bytes);
                assert_eq!(found["largest_free_bytes_per_bank"], largest_free_bytes);
            }
            forms.push(error["form"].as_str().unwrap().to_owned());
        }
    }
    forms.dedup();
    assert!(forms.iter().any(|form| form == "clash") && forms.len() > 1, "{forms:?}");
}

#[test]
fn a_report_grows_to_the_size_that_was_asked_for() {
    let options = TtnnReportOptions { schema: ReportSchema::V3_5, ..small(4) };
    let directory = tempfile::tempdir().unwrap();
    let wanted = 3 << 20;
    let options = options.with_size(wanted).unwrap();
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    let bytes = directory.path().join("db.sqlite").metadata().unwrap().len();
    assert!((wanted * 9 / 10..wanted * 3 / 2).contains(&bytes), "{bytes} bytes");
}

#[test]
fn nothing_is_overwritten_and_weights_must_fit() {
    let directory = tempfile::tempdir().unwrap();
    let write =
        |options: &TtnnReportOptions| write_report(options, directory.path(), &Progress::default());
    let mut options = small(1);
    options.network.width = 65_536;
    assert!(matches!(write(&options), Err(WriteError::TooLarge { option: "--width", .. })));
    assert!(!directory.path().join("db.sqlite").exists(), "nothing is left");
    write(&small(1)).unwrap();
    assert!(matches!(write(&small(1)), Err(WriteError::Exists(_))));
}

#[test]
fn the_samples_are_those_that_are_written() {
    let one = |options: TtnnReportOptions| {
        let network = Transformer { layers: 1, ..options.network };
        TtnnReportOptions { network, ..options }
    };
    let samples = [
        ("dram", TtnnReportOptions { activations: TensorPlace::Dram, ..one(small(64)) }),
        ("l1", TtnnReportOptions { is_leaking: true, ..one(small(64)) }),
        ("too-large", one(small(160))),
    ];
    for (name, options) in samples {
        let directory = tempfile::tempdir().unwrap();
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        let sample = in_package("sample_profiles/tenstorrent").join(name);
        for file in ["db.sqlite", "config.json", "cluster_descriptor.yaml"] {
            let [written, kept] =
                [directory.path(), &sample].map(|at| std::fs::read(at.join(file)));
            assert!(written.unwrap() == kept.unwrap(), "{name}/{file}: write it again");
        }
    }
}

#[test]
fn the_story_goes_from_dram_to_l1_and_to_a_batch_that_is_too_large() {
    let [dram, l1, larger] = VARIANTS.map(|(_, place, batch)| {
        let mut ranks = written(&options(place, batch));
        assert_eq!(ranks.len(), 1);
        ranks.remove(0)
    });
    for (rank, written) in [&dram, &l1, &larger] {
        assert_same(rank, written);
    }
    assert_eq!(dram.1.peaks[TensorPlace::L1 as usize].bytes, 0);
    assert!(l1.1.in_use_bytes > 2 * dram.1.in_use_bytes, "what is in L1 takes its room");
    assert!(matches!(larger.1.failure, Some(WrittenFailure::Clash { .. })));
}

#[test]
fn the_demo_is_written_once() {
    assert_written_once("tenstorrent", |directory| story().runs(directory), VARIANTS.len());
}

/// The encoder of the story with activations in L1, with or without tensors that are kept after their last use.
fn kept(batch: u64, is_leaking: bool) -> TtnnReportOptions {
    TtnnReportOptions { is_leaking, ..options(TensorPlace::L1, batch) }
}

fn summary_of(options: &TtnnReportOptions) -> Value {
    let directory = tempfile::tempdir().unwrap();
    write_report(options, directory.path(), &Progress::default()).unwrap();
    summary(directory.path())
}

fn advice<'a>(summary: &'a Value, id: &str) -> &'a Value {
    let all = summary["insights"]["advice"].as_array().unwrap();
    all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id}: {all:?}"))
}

#[test]
fn whoever_frees_tensors_saves_what_was_promised() {
    let [before, after] = [true, false].map(|is_leaking| summary_of(&kept(4, is_leaking)));
    let peak = |of: &Value| {
        let l1 = &of["tenstorrent"]["ranks"][0]["spaces"]["L1"];
        l1["peak_bytes_per_bank"].as_u64().unwrap()
    };
    let saved = peak(&before) - peak(&after);
    assert!(saved > 0);
    assert_eq!(advice(&before, "deallocate")["saving"]["expected_bytes"], saved);
}

#[test]
fn advice_that_makes_a_run_fit_is_not_called_too_little() {
    for batch in [5, 7] {
        let [before, after] = [true, false].map(|is_leaking| summary_of(&kept(batch, is_leaking)));
        assert_eq!(before["verdict"]["outcome"], "out-of-memory", "{batch}");
        assert_eq!(after["verdict"]["outcome"], "fits", "{batch}");
        assert_ne!(advice(&before, "deallocate")["makes_it_fit"], false, "{batch}");
    }
    let [l1, dram] =
        [TensorPlace::L1, TensorPlace::Dram].map(|place| summary_of(&options(place, 8)));
    assert_eq!(l1["verdict"]["outcome"], "out-of-memory");
    assert_eq!(dram["verdict"]["outcome"], "fits");
    assert_ne!(advice(&l1, "dram-tensors")["makes_it_fit"], false);
}

#[test]
fn a_network_that_fails_has_no_size() {
    let wanted = options(TensorPlace::L1, 8).with_size(1 << 24);
    assert!(matches!(wanted, Err(WriteError::Conflict(_))));
}

#[test]
fn a_report_of_schema_2_has_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let output = tilescope(&[
        "synth",
        "--system",
        "tenstorrent",
        "--schema",
        "2",
        "--ranks",
        "3",
        "--output",
        text_of(&path),
    ]);
    assert!(!output.status.success() && !path.exists());
}
