//! What an XLA program's device has: as its profile says, or as it is known of the chip that a file names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};

use crate::common::wire::{number, part};
use crate::common::{in_package, json, tilescope};

const MODULE: &str =
    "sample_profiles/xla/keep/module_0000.jit_train_step.cpu_after_optimizations.hlo.pb";
const GIB: u64 = 1 << 30;

#[track_caller]
fn summary(path: &Path, more: &[&str]) -> Value {
    let path = path.to_str().expect("UTF-8");
    let output = tilescope(&[&["summary", "--json", path], more].concat());
    assert!(output.status.success(), "{}", json(&output));
    json(&output)
}

/// A module compiled for a TPU, and files beside it.
fn dump_with(beside: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::copy(in_package(MODULE), path("module_0000.f.cl_1.after_optimizations.hlo.pb"))
        .expect("a copy");
    for (name, text) in beside {
        fs::write(path(name), text).expect("a file");
    }
    let path = directory.path().to_owned();
    (directory, path)
}

const ARGUMENTS: &str = "module_0000.f.cl_1.target_arguments.txt";
const LITE: &str =
    "tpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n  variant: \"lite\"\n}\n";

#[test]
fn a_chip_that_a_dump_names_has_what_is_known_of_it() {
    let verdict = |beside: &[(&str, &str)]| {
        let (_kept, dump) = dump_with(beside);
        let verdict = summary(&dump, &[])["verdict"].clone();
        Value::from(
            ["outcome", "capacity_bytes", "capacity_from"].map(|key| verdict[key].clone()).to_vec(),
        )
    };
    let from = format!("the preset v5e for the device in {ARGUMENTS}");
    assert_eq!(verdict(&[(ARGUMENTS, LITE)]), value!(["fits", 63_u64 << 28, from]));
    // A text says it of the device itself.
    let text = "Ran out of memory on HBM, the total memory required for HLO temporaries (99.10G) exceeds available HBM \
                (16.00G).\n";
    let known = verdict(&[(ARGUMENTS, LITE), ("error.txt", text)]);
    assert_eq!(known, value!(["fits", 16 * GIB, "error.txt"]));
    for unknown in ["version: TPU_VERSION_PUFFERFISH\n variant: \"lite\"\n", "version: \"\"\n", ""]
    {
        let known = verdict(&[(ARGUMENTS, unknown)]);
        assert_eq!(known, value!(["unknown", null, null]), "{unknown}");
    }
    // So it is of a GPU whose target configuration does not say it, and where it could be two it is not.
    let directory = tempfile::tempdir().expect("a directory");
    let stem = directory.path().join("module_0000.f.");
    let file = |rest: &str| PathBuf::from(format!("{}{rest}", stem.display()));
    fs::copy(in_package(MODULE), file("sm_8.0_gpu_after_optimizations.hlo.pb")).expect("a copy");
    let capacity = |device: &str| {
        let text = format!("device_description_str: \"{device}\"\n");
        fs::write(file("gpu_target_config.pbtxt"), text).expect("a file");
        summary(directory.path(), &[])["verdict"]["capacity_bytes"].clone()
    };
    assert_eq!(capacity("Tesla V100-SXM2-16GB"), (63_u64 << 28));
    assert_eq!(capacity("NVIDIA A100"), Value::Null);
}

/// A profile in which a module lies, with devices of so many bytes, and an allocator with what it had in use at most and
/// now, and what it could still take.
fn profile(devices: &[u64], allocator: Option<[u64; 3]>) -> Vec<u8> {
    let name = |field: u64, id: u64, text: &str| {
        part(field, [number(1, id), part(2, [number(1, id), part(2, text)].concat())].concat())
    };
    let statistic =
        |field: u64, id: u64, value: u64| part(field, [number(1, id), number(3, value)].concat());
    let device = |(place, bytes): (usize, &u64)| {
        let named = [part(2, format!("/device:GPU:{place}")), name(5, 1, "memory_size")];
        part(1, [named.concat(), statistic(6, 1, *bytes)].concat())
    };
    let of_host = |[peak, in_use, available]: [u64; 3]| {
        let event = [
            number(1, 1),
            part(4, [number(1, 4), part(5, "GPU_0_bfc")].concat()),
            statistic(4, 1, peak),
            statistic(4, 2, in_use),
            statistic(4, 3, available),
        ];
        let names = ["peak_bytes_in_use", "bytes_allocated", "bytes_available", "allocator_name"];
        let names = (1..).zip(names).flat_map(|(id, text)| name(5, id, text));
        let plane = [
            part(2, "/host:CPU"),
            part(3, part(4, event.concat())),
            name(4, 1, "MemoryAllocation"),
            names.collect(),
        ];
        part(1, plane.concat())
    };
    let proto = fs::read(in_package(MODULE)).expect("a module");
    let proto = part(4, part(2, part(5, part(6, proto))));
    [
        part(1, [part(2, "/host:metadata"), proto].concat()),
        devices.iter().enumerate().flat_map(device).collect(),
        allocator.map(of_host).unwrap_or_default(),
    ]
    .concat()
}

#[test]
fn a_profile_says_what_the_device_has_and_what_the_allocator_may_take() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("host.xplane.pb");
    let with = |devices: &[u64], allocator| {
        fs::write(&path, profile(devices, allocator)).expect("a profile");
        summary(&path, &[])
    };
    let capacity = |found: &Value| {
        let verdict = &found["verdict"];
        value!([verdict["capacity_bytes"], verdict["capacity_from"]])
    };
    let found = with(&[80 * GIB, 70 * GIB], Some([9 * GIB, GIB, 59 * GIB]));
    let limit = "the allocator's limit in host.xplane.pb";
    assert_eq!(capacity(&found), value!([60 * GIB, limit]));
    let own = &found["xla"]["device"]["profile"];
    let expected = value!({
        "memory_bytes": 70 * GIB,
        "limit_bytes": 60 * GIB,
        "peak_in_use_bytes": 9 * GIB,
        "allocator": "GPU_0_bfc",
    });
    assert_eq!(own, &expected);
    // An allocator that may take more than there is.
    let found = with(&[50 * GIB], Some([9 * GIB, GIB, 59 * GIB]));
    let memory = "the device's memory in host.xplane.pb";
    assert_eq!(capacity(&found), value!([50 * GIB, memory]));
    assert_eq!(capacity(&with(&[50 * GIB], None)), value!([50 * GIB, memory]));
    assert_eq!(found["verdict"]["outcome"], "fits");
    // Too small for the program.
    let found = with(&[50 * GIB], Some([GIB, 512, 512]));
    assert_eq!(found["verdict"]["outcome"], "does-not-fit");
    let none = with(&[], None);
    assert_eq!(capacity(&none), value!([null, null]));
    assert_eq!(none["xla"]["device"]["profile"], Value::Null);
}

#[test]
fn the_profile_of_a_real_device_says_its_figures() {
    let path = in_package("../shared/cases/mi300x-conv.xplane.pb");
    if !path.is_file() {
        eprintln!("skipped: {} is absent", path.display());
        return;
    }
    let device = &summary(&path, &[])["xla"]["device"];
    assert_eq!(device["profile"]["memory_bytes"], 206_141_652_992_u64);
    assert_eq!(device["profile"]["peak_in_use_bytes"], 1_732_169_984_u64);
    // XLA gives its allocator three quarters by default.
    assert_eq!(device["profile"]["limit_bytes"], 206_141_652_992_u64 / 4 * 3);
    assert_eq!(device["capacity_bytes"], device["profile"]["limit_bytes"]);
}

#[test]
fn a_capacity_may_be_the_name_of_a_device() {
    let sample = in_package("sample_profiles/xla/keep");
    let sample = sample.to_str().expect("UTF-8");
    let check = |capacity: &str| {
        let output = tilescope(&["check", sample, "--json", "--must-fit", "--capacity", capacity]);
        (output.status.code(), json(&output)["checks"][0]["limit"].clone())
    };
    assert_eq!(check("v5e"), (Some(0), (63_u64 << 28).into()));
    assert_eq!(check("TPU v5e"), check("v5e"));
    let output = tilescope(&["check", sample, "--must-fit", "--capacity", "v55"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("H100"), "{said}");
}
