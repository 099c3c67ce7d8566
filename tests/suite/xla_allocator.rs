//! What the allocators of a profile did while programs ran: as figures beside a program, and as a run of its own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};

use crate::common::wire::{number, part};
use crate::common::{in_package, json, tilescope};

const MODULE: &str =
    "sample_profiles/xla/keep/module_0000.jit_train_step.cpu_after_optimizations.hlo.pb";
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The limit of the allocators.
const LIMIT: u64 = 8 * GIB;

const STATISTICS: [&str; 12] = [
    "allocator_name",
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "fragmentation",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    "module_name",
    "memory_size",
    "GPU_1_bfc",
];
const EVENTS: [&str; 6] = [
    "MemoryAllocation",
    "MemoryDeallocation",
    "PjitFunction(eval_step)",
    "$eval.py:7 main",
    "Execute",
    "ExecuteThunks",
];

fn place(all: &[&str], name: &str) -> u64 {
    all.iter().position(|known| *known == name).expect("a known name") as u64 + 1
}

fn names(field: u64, all: &[&str]) -> Vec<u8> {
    let entry = |(id, text): (u64, &&str)| {
        part(field, [number(1, id), part(2, [number(1, id), part(2, text)].concat())].concat())
    };
    (1..).zip(all).flat_map(entry).collect()
}

fn statistic(field: u64, name: &str, bytes: u64) -> Vec<u8> {
    part(field, [number(1, place(&STATISTICS, name)), number(3, bytes)].concat())
}

fn text(name: &str, text: &str) -> Vec<u8> {
    part(4, [number(1, place(&STATISTICS, name)), part(5, text)].concat())
}

/// An event from one microsecond of its line to another.
fn event(name: &str, [from, to]: [u64; 2], statistics: &[Vec<u8>]) -> Vec<u8> {
    let head = [number(1, place(&EVENTS, name)), number(2, from * 1_000_000)];
    let head = [head.concat(), number(3, (to - from) * 1_000_000)].concat();
    part(4, [head, statistics.concat()].concat())
}

/// A block that an allocator gives out, or takes back.
struct Block {
    allocator: &'static str,
    is_allocation: bool,
    at: u64,
    bytes: u64,
    address: u64,
    in_use: u64,
}

impl Block {
    fn event(&self) -> Vec<u8> {
        let name = if self.is_allocation { EVENTS[0] } else { EVENTS[1] };
        let half = [vec![2 << 3 | 1], 0.5_f64.to_le_bytes().to_vec()].concat();
        let fragmentation = [number(1, place(&STATISTICS, "fragmentation")), half].concat();
        let allocator = match self.allocator {
            "GPU_1_bfc" => {
                let by = number(7, place(&STATISTICS, "GPU_1_bfc"));
                part(4, [number(1, place(&STATISTICS, "allocator_name")), by].concat())
            }
            name => text("allocator_name", name),
        };
        let statistics = [
            allocator,
            statistic(4, "bytes_allocated", self.in_use),
            statistic(4, "bytes_available", LIMIT - self.in_use),
            statistic(4, "peak_bytes_in_use", 7 * GIB),
            statistic(4, "requested_bytes", self.bytes - 16),
            statistic(4, "allocation_bytes", self.bytes),
            statistic(4, "addr", self.address),
            part(4, fragmentation),
        ];
        event(name, [self.at, self.at], &statistics)
    }
}

const fn block(
    allocator: &'static str,
    is_allocation: bool,
    at: u64,
    [mib, address, in_use]: [u64; 3],
) -> Block {
    Block { allocator, is_allocation, at, bytes: mib * MIB, address, in_use: in_use * MIB }
}

fn line(begins: u64, events: &[Vec<u8>]) -> Vec<u8> {
    part(3, [number(3, begins * 1000), events.concat()].concat())
}

/// A profile of two devices. Of the first there are 100 MiB before the record begins, of which 40 are freed.
fn profile(has_program: bool) -> Vec<u8> {
    let first = [
        block("GPU_0_bfc", true, 12, [30, 0x1000, 130]),
        block("GPU_0_bfc", false, 60, [40, 0x9000, 290]),
        block("GPU_0_bfc", false, 70, [200, 0x2000, 90]),
    ];
    let calls =
        [event("$eval.py:7 main", [5, 90], &[]), event("PjitFunction(eval_step)", [10, 50], &[])];
    // Its line begins later: this comes second.
    let second = [
        event("Execute", [0, 9], &[]),
        event("ExecuteThunks", [4, 8], &[text("module_name", "jit_train_step")]),
        block("GPU_0_bfc", true, 1, [200, 0x2000, 330]).event(),
        block("GPU_1_bfc", true, 2, [1, 0x1000, 1]).event(),
    ];
    let first = [calls.concat(), first.iter().flat_map(Block::event).collect()];
    let host = [
        part(2, "/host:CPU"),
        line(1000, &first),
        line(1020, &second),
        names(4, &EVENTS),
        names(5, &STATISTICS),
    ];
    let device = |number: u32| {
        let device = [
            part(2, format!("/device:GPU:{number}")),
            names(5, &STATISTICS),
            statistic(6, "memory_size", 10 * GIB),
        ];
        part(1, device.concat())
    };
    let proto = fs::read(in_package(MODULE)).expect("a module");
    let proto = part(4, part(2, part(5, part(6, proto))));
    let program = part(1, [part(2, "/host:metadata"), proto].concat());
    let program = if has_program { program } else { Vec::new() };
    [program, part(1, host.concat()), device(0), device(1)].concat()
}

fn written(has_program: bool) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("host.xplane.pb");
    fs::write(&path, profile(has_program)).expect("a profile");
    (directory, path)
}

#[track_caller]
fn answer(command: &str, path: &Path, more: &[&str]) -> Value {
    let path = path.to_str().expect("UTF-8");
    let output = tilescope(&[&[command, "--json", path], more].concat());
    assert!(output.status.success(), "{}", json(&output));
    json(&output)
}

#[test]
fn figures_of_allocators_stand_beside_those_of_the_program() {
    let (_kept, path) = written(true);
    let found = answer("summary", &path, &[]);
    assert_eq!(found["xla"]["module"], "jit_train_step", "programs come first");
    assert_eq!(found["xla"]["modules"].as_array().map(Vec::len), Some(1), "no program");
    let allocators = &found["xla"]["allocators"];
    let expected = value!({
        "allocator": "GPU_0_bfc",
        "device": "GPU:0",
        "memory_bytes": 10 * GIB,
        "limit_bytes": LIMIT,
        "events": 4,
        "duration_ns": 58_000,
        "first_in_use_bytes": 100 * MIB,
        "last_in_use_bytes": 90 * MIB,
        "peak_in_use_bytes": 330 * MIB,
        "peak_event": 1,
        "peak_time_ns": 9_000,
        "peak_program": "jit_train_step",
        "peak_operation": null,
        "peak_fragmentation": 0.5,
        "process_peak_bytes": 7 * GIB,
    });
    assert_eq!(allocators[0], expected);
    assert_eq!(allocators[1]["peak_in_use_bytes"], MIB);
    // The program alone fits, and both figures are said.
    let verdict = &found["verdict"];
    assert_eq!((&verdict["outcome"], &verdict["capacity_bytes"]), (&"fits".into(), &LIMIT.into()));
    assert!(verdict["used_bytes"].as_u64() < Some(330 * MIB), "{verdict}");
    let said = found["insights"]["conclusions"].to_string();
    assert!(said.contains("up to 330.0 MiB of GPU_0_bfc were in use, by all programs"), "{said}");
}

#[test]
fn a_record_is_a_run_whose_steps_are_events() {
    let (_kept, path) = written(true);
    let found = answer("summary", &path, &["--module", "GPU_0_bfc"]);
    assert_eq!(found["source"]["format"], "record of an allocator in a profile");
    let verdict = &found["verdict"];
    let keys = ["outcome", "used_bytes", "capacity_bytes", "over_bytes"];
    let verdict = keys.map(|key| verdict[key].clone()).to_vec();
    assert_eq!(Value::from(verdict), value!(["fits", 7 * GIB, LIMIT, 0]));
    let peak = &found["liveness"]["peak"];
    let keys = ["step", "kind", "name", "bytes", "always_live_bytes"];
    let at = keys.map(|key| peak[key].clone()).to_vec();
    let expected = value!([1, "allocation", "jit_train_step", 330 * MIB, 60 * MIB]);
    assert_eq!(Value::from(at), expected);
    let largest = |row: usize| {
        let row = &peak["largest"][row];
        (row["name"].as_str().unwrap_or("").to_owned(), row["bytes"].as_u64())
    };
    assert_eq!(largest(0), ("jit_train_step".to_owned(), Some(200 * MIB)));
    assert_eq!(largest(1), ("in use before the record began".to_owned(), Some(100 * MIB)));
    assert_eq!(largest(2), ("jit_eval_step".to_owned(), Some(30 * MIB)), "by its call in JAX");
    let program = found["insights"]["conclusions"].to_string();
    assert!(
        program.contains("jit_train_step, which was started at the peak, reserves"),
        "{program}"
    );
    let curve = answer("liveness", &path, &["--module", "GPU_0_bfc"]);
    let bytes = curve["steps"].as_array().into_iter().flatten();
    let bytes: Vec<u64> = bytes.filter_map(|step| Some(step["bytes"].as_u64()? / MIB)).collect();
    assert_eq!(bytes, [130, 330, 290, 90], "in the order of time, not of the file");
    assert_eq!(curve["limit_bytes"], LIMIT);
    let other = answer("summary", &path, &["--module", "GPU_1_bfc"]);
    assert_eq!(other["liveness"]["peak"]["bytes"], MIB);
}

#[test]
fn a_profile_without_programs_has_its_allocators() {
    let (_kept, path) = written(false);
    let found = answer("summary", &path, &[]);
    assert_eq!(found["xla"]["allocators"][0]["allocator"], "GPU_0_bfc");
    let path = path.to_str().expect("UTF-8");
    let check = |more: &[&str]| {
        let output = tilescope(&[&["check", path, "--must-fit"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = check(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(check(&["--capacity", "1GiB"]).0, Some(1), "it had seven");
    let output = tilescope(&["index", path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("record of an allocator"), "{said}");
}

#[test]
fn real_records_add_up() {
    let path = in_package("../shared/cases/mi300x-attention.xplane.pb");
    if !path.is_file() {
        eprintln!("skipped: {} is absent", path.display());
        return;
    }
    let found = answer("summary", &path, &["--module", "GPU_0_bfc"]);
    assert_eq!(found["warnings"], value!([]), "what is in use changes by the blocks of events");
    let figures = &found["xla"]["allocators"][0];
    // XProf 2.24.2 has the same peaks, capacity and fragmentation.
    assert_eq!(figures["peak_in_use_bytes"], 452_985_344);
    assert_eq!(figures["process_peak_bytes"], 595_591_680);
    assert_eq!(figures["limit_bytes"], 154_606_239_744_u64);
    assert_eq!(figures["peak_fragmentation"], 0.138_046);
    assert_eq!(figures["events"], 252);
    assert_eq!(figures["peak_program"], "jit_matmul");
    let said = found["insights"]["conclusions"].to_string();
    assert!(said.contains("Nobody asked for"), "{said}");
    assert!(said.contains("of the 432.0 MiB in use at the peak"), "{said}");
    let rows = found["liveness"]["peak"]["largest"].as_array().into_iter().flatten();
    let bytes: u64 = rows.filter_map(|row| row["bytes"].as_u64()).sum();
    assert_eq!(bytes, 452_985_344, "all that was in use has a name");
}
