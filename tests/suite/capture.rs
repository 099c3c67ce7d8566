//! The program that records memory snapshots (docs/capture/pytorch.py): with a PyTorch that is made up, and with the
//! real one where it is installed.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{in_package, json, tilescope};

/// What of PyTorch the program calls. It writes down the calls, and a snapshot is a copy of a sample.
const MADE_UP: &str = r#"
import json, os, shutil, types

calls = []

class OutOfMemoryError(RuntimeError):
    pass

def call(name, answer=None):
    def called(*arguments, **named):
        calls.append([name, list(arguments), named])
        return answer
    return called

def dump(path):
    calls.append(["dump", [path], {}])
    sample = os.path.join(os.environ["SAMPLES"], os.path.basename(os.path.dirname(path)), "snapshot.pickle")
    shutil.copy(sample, path)

def memory_stats():
    return json.load(open(os.path.join(os.environ["SAMPLES"], "segments-0", "snapshot.pickle.memory_stats.json")))

memory = types.SimpleNamespace(_record_memory_history=call("record"), _dump_snapshot=dump)
cuda = types.SimpleNamespace(
    memory=memory,
    OutOfMemoryError=OutOfMemoryError,
    is_available=lambda: True,
    empty_cache=call("empty_cache"),
    reset_peak_memory_stats=call("reset"),
    current_device=lambda: 0,
    get_device_properties=lambda device: types.SimpleNamespace(uuid="1234-5678"),
    memory_stats=memory_stats,
)
"#;

/// Two variants, the second of which runs out of memory.
const TRAINING: &str = r#"
import json, sys
import torch
from pytorch import recorded

for segments in (0, 2):
    with recorded("runs", f"segments-{segments}", segments=segments):
        if segments == 2:
            raise torch.cuda.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which "
                "1.00 MiB is free.")
print(json.dumps(getattr(torch, "calls", None)))
"#;

fn run_training(directory: &Path, path: Option<&Path>) -> Output {
    let modules = std::env::join_paths(
        path.into_iter().map(Path::to_owned).chain([in_package("docs/capture")]),
    );
    let own = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::iter::once(directory.to_owned()).chain(std::env::split_paths(&own));
    Command::new("python3")
        .args(["-B", "-c", TRAINING])
        .current_dir(directory)
        .env("PYTHONPATH", modules.unwrap())
        .env("PATH", std::env::join_paths(programs).unwrap())
        .env("SAMPLES", in_package("sample_profiles/training"))
        .output()
        .unwrap()
}

/// Whether Python can do it; else why the test is skipped.
fn has(program: &str) -> bool {
    let output = Command::new("python3").args(["-c", program]).output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: python3 with `{program}` is absent");
    }
    is_there
}

#[test]
fn every_variant_is_recorded_and_read_back() {
    if !has("import contextlib") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("torch.py"), MADE_UP).unwrap();
    let smi = directory.path().join("nvidia-smi");
    // It answers for the card that is meant, and for no other.
    std::fs::write(
        &smi,
        "#!/bin/sh\ncase \"$*\" in *--id=GPU-1234-5678) echo 700;; *) exit 1;; esac\n",
    )
    .unwrap();
    std::fs::set_permissions(&smi, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = run_training(directory.path(), Some(directory.path()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = json(&output);
    let names: Vec<&str> =
        calls.as_array().unwrap().iter().map(|call| call[0].as_str().unwrap()).collect();
    let one = ["empty_cache", "reset", "record", "dump", "record"];
    assert_eq!(names, [one, one].concat());
    assert_eq!(calls[2][2]["stacks"], "python");
    assert_eq!(calls[4][2]["enabled"], serde_json::Value::Null, "history ends, and is forgotten");

    let runs = directory.path().join("runs");
    let answer = json(&tilescope(&["sweep", runs.to_str().unwrap(), "--json"]));
    let table = crate::common::swept(&answer);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1]["settings"]["app.segments"], 2);
    for row in rows {
        assert_eq!(row["smi_bytes"], 700 << 20);
    }
    assert_eq!(rows[1]["verdict"]["capacity_bytes"], 8_u64 << 30);
}

#[test]
fn pytorch_itself_takes_its_calls() {
    if !has("import torch") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let output = run_training(directory.path(), None);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let runs = directory.path().join("runs");
    let has_device = has("import torch; assert torch.cuda.is_available()");
    for variant in ["segments-0", "segments-2"] {
        let snapshot = runs.join(variant).join("snapshot.pickle");
        assert_eq!(snapshot.is_file(), has_device, "{}", snapshot.display());
        assert!(runs.join(variant).join("app.json").is_file());
        assert!(has_device || said.contains(&format!("{variant}: no CUDA device")), "{said}");
    }
    assert!(runs.join("segments-2/snapshot.pickle.oom.txt").is_file());
}
