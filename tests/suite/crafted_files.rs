//! Files that were made to be slow, large or wrong: what is said of them, and that many runs of a directory are read
//! without listing it again for each.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use crate::common::copies::copy_into;
use crate::common::pickle::pickle;
use crate::common::wire::{number, part};
use crate::common::{in_package, json, tilescope};
use serde_json::{Value, json as value};

/// What a command writes to standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A module of XLA with one allocation and no instructions.
fn module() -> Vec<u8> {
    let allocation = [number(2, 16), number(8, 0)].concat();
    part(3, part(3, allocation))
}

/// A snapshot of a run that ended when it asked for so many bytes.
fn snapshot(requested: u64) -> Vec<u8> {
    let failed =
        value!({"action": "oom", "size": requested, "device_free": 512, "stream": 0, "frames": []});
    pickle(&value!({"segments": [], "device_traces": [[failed]]}))
}

fn names_listed(directory: &Path) -> u64 {
    let output = tilescope(&["sweep", directory.to_str().unwrap(), "--json", "--stats"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let runs = json(&output)["runs"].as_array().unwrap().len();
    assert_eq!(runs, RUNS, "{}", said(&output));
    let said = said(&output);
    let (_, names) = said.rsplit_once("names in directories ").expect("a count");
    names.trim().replace(',', "").parse().unwrap()
}

/// Runs of a directory.
const RUNS: usize = 700;

#[test]
fn a_directory_of_many_runs_is_listed_a_few_times() {
    let directory = tempfile::tempdir().unwrap();
    for run in 0..RUNS {
        let name = format!("module_{run:04}.jit_f.after_optimizations.hlo.pb");
        fs::write(directory.path().join(name), module()).unwrap();
    }
    let names = names_listed(directory.path());
    assert!(names < 20 * RUNS as u64, "{names} names for {RUNS} modules");
    let directory = tempfile::tempdir().unwrap();
    for run in 0..RUNS {
        let path = directory.path().join(format!("a{run}_b{}.pickle", run * 7));
        fs::write(path, snapshot(run as u64 + 1)).unwrap();
    }
    let names = names_listed(directory.path());
    assert!(names < 20 * RUNS as u64, "{names} names for {RUNS} snapshots");
}

#[test]
fn a_database_of_tt_nn_whose_tables_cannot_be_listed_is_said_to_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let good = in_package("sample_profiles/tenstorrent/l1");
    let bytes = fs::read(good.join("db.sqlite")).unwrap();
    let mut pages = bytes.clone();
    pages[100..4096].fill(0xFF);
    let mut page_size = bytes;
    page_size[16..18].copy_from_slice(&[0, 3]);
    copy_into(&good, &folder.path().join("good"));
    for (name, bytes) in [("pages", pages), ("page-size", page_size)] {
        let report = folder.path().join(name);
        copy_into(&good, &report);
        let database = report.join("db.sqlite");
        fs::write(&database, bytes).unwrap();
        for path in [&report, &database] {
            for command in ["summary", "liveness", "sweep"] {
                let output = tilescope(&[command, path.to_str().unwrap()]);
                let said = said(&output);
                assert_eq!(output.status.code(), Some(3), "{command} {name}: {said}");
                let is_damaged =
                    said.contains("malformed") || said.contains("file is not a database");
                assert!(said.contains("db.sqlite") && is_damaged, "{command} {name}: {said}");
            }
        }
    }
    let output = tilescope(&["sweep", folder.path().to_str().unwrap(), "--json"]);
    let runs = json(&output)["runs"].as_array().unwrap().clone();
    let failed = runs.iter().filter(|run| run["error"]["kind"] == "damaged").count();
    assert_eq!((runs.len(), failed), (3, 2), "a row with its error");
}

#[test]
fn an_error_that_does_not_name_its_file_is_said_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let name = "module_0001.jit_f.after_optimizations.hlo.pb";
    let path = directory.path().join(name);
    fs::write(&path, module()).unwrap();
    let output = tilescope(&["liveness", path.to_str().unwrap()]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(&format!("{}: The file has no instructions", path.display())), "{said}");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn of_a_damaged_gzip_log_what_could_be_unpacked_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let text = "step 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 5 has a total \
                capacity of 79.25 GiB of which 1.79 GiB is free.\nstep 2\n";
    let diagnose = |bytes: &[u8]| -> [Value; 2] {
        let path = directory.path().join("run.log.gz");
        fs::write(&path, bytes).unwrap();
        let output = tilescope(&["diagnose", "--json", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let found = json(&output);
        let shown = tilescope(&["diagnose", path.to_str().unwrap()]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let is_said = found["damaged_files"] == 1;
        assert_eq!(shown.contains("1 packed log is cut or damaged"), is_said, "{shown}");
        [found["findings"][0]["requested_bytes"].clone(), found["damaged_files"].clone()]
    };
    let good = gzip(text);
    let requested = value!(5_u64 << 29);
    let [whole, damaged] = [0, 1].map(|files| [requested.clone(), value!(files)]);
    assert_eq!(diagnose(&good), whole);
    let padded = [&good[..], &[0; 512]].concat();
    assert_eq!(diagnose(&padded), whole);
    assert_eq!(diagnose(&[padded, good.clone()].concat()), whole);
    let mut other_sum = good.clone();
    other_sum[good.len() - 6] ^= 0xFF;
    assert_eq!(diagnose(&other_sum), damaged);
    assert_eq!(diagnose(&good[..good.len() - 4]), damaged);
    assert_eq!(diagnose(&[&good[..], b"what is no gzip"].concat()), damaged);
}

#[test]
fn blocks_that_overlap_are_a_warning() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pickle");
    let warning = |second: u64| {
        let block = |address: u64| value!({"address": address, "size": 1024, "requested_size": 1024, "state": "active_allocated"});
        let blocks = [block(4096), block(second)];
        let segment = value!({"device": 0, "address": 4096, "total_size": 1 << 20, "stream": 0, "segment_type": "large",
            "allocated_size": 2048, "active_size": 2048, "requested_size": 2048, "blocks": blocks});
        fs::write(&path, pickle(&value!({"segments": [segment], "device_traces": []}))).unwrap();
        said(&tilescope(&["summary", path.to_str().unwrap()]))
    };
    assert_eq!(warning(5120), "");
    let said = warning(5119);
    assert!(
        said.contains("1 blocks begin before the one that is listed before them ends"),
        "{said}"
    );
}
