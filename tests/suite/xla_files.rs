//! Files of XLA as they come: with ids that are 0, cut, with bytes behind them, under any name, and printed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use crate::common::wire::{number, part, varint};
use crate::common::{json, tilescope};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// `f32[4]`
fn shape() -> Vec<u8> {
    [number(2, 11), part(3, [4])].concat()
}

fn instruction(id: u64, name: &str, opcode: &str, operands: &[u64]) -> Vec<u8> {
    let operands = operands.iter().flat_map(|id| varint(*id)).collect::<Vec<u8>>();
    let words = [part(1, name), part(2, opcode), part(3, shape())].concat();
    [words, number(35, id), part(36, operands)].concat()
}

/// A module of two instructions in a computation, all ids from 0: a parameter, and what is made of it.
fn module(name: &str, has_schedule: bool) -> Vec<u8> {
    let instructions = [
        part(2, instruction(0, "p", "parameter", &[])),
        part(2, instruction(1, "negate.1", "negate", &[0])),
    ];
    let computation = [part(1, "main"), instructions.concat(), number(6, 1)].concat();
    let sequence = part(1, [0, 1]);
    let schedule = part(7, part(1, part(2, sequence)));
    let schedule = if has_schedule { schedule } else { Vec::new() };
    [part(1, name), part(2, "main"), part(3, computation), schedule].concat()
}

/// The assignment of that: 16 bytes of a parameter, and of what is temporary as many as asked for.
fn assignment(temporary: u64) -> Vec<u8> {
    let values = [
        part(1, [number(2, 16), part(3, [])].concat()),
        part(1, [number(1, 1), number(2, 16), part(3, number(4, 1))].concat()),
    ];
    let placed = |id| part(9, [number(1, id), number(3, 16)].concat());
    let allocations = [
        part(3, [number(2, 16), number(5, 1), placed(0)].concat()),
        part(3, [number(1, 1), number(2, temporary), placed(1)].concat()),
    ];
    [values.concat(), allocations.concat()].concat()
}

fn proto(name: &str, temporary: u64) -> Vec<u8> {
    [part(1, module(name, true)), part(3, assignment(temporary))].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A directory with these files.
fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).expect("a file");
    }
    directory
}

fn run(command: &str, paths: &[&Path], options: &[&str]) -> Output {
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    tilescope(&[&[command], &*paths, options].concat())
}

#[track_caller]
fn summary(path: &Path) -> Value {
    let output = run("summary", &[path], &["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    json(&output)
}

/// The summary of a file that is alone in a directory.
#[track_caller]
fn summary_of(name: &str, bytes: &[u8]) -> Value {
    summary(&directory(&[(name, bytes)]).path().join(name))
}

/// What is said when a file cannot be read.
#[track_caller]
fn refusal(name: &str, bytes: &[u8]) -> String {
    let directory = directory(&[(name, bytes)]);
    let output = run("summary", &[&directory.path().join(name)], &[]);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn warned(found: &Value, words: &str) -> bool {
    let warnings = found["warnings"].as_array().expect("a list");
    warnings.iter().any(|one| one["message"].as_str().expect("a text").contains(words))
}

#[test]
fn ids_that_are_0_are_ids() {
    let found = summary_of("a.hlo.pb", &proto("f", 64));
    assert_eq!(found["warnings"], Value::Array(Vec::new()));
    assert_eq!((&found["xla"]["steps"], &found["xla"]["values"]), (&2.into(), &2.into()));
    assert_eq!(found["xla"]["values_with_live_range"], 2);
    let top = &found["xla"]["temp"][0]["peak"]["top"][0];
    assert_eq!((&top["name"], &top["start"]), (&"negate.1".into(), &1.into()));
    assert_eq!(found["memory"]["total_bytes"], 80);
}

#[test]
fn without_an_order_of_instructions_nothing_is_known_of_steps() {
    let without = |module: &[u8]| [part(1, module), part(3, assignment(64))].concat();
    let found = summary_of("a.hlo.pb", &without(&module("f", false)));
    assert_eq!(found["xla"]["steps"], Value::Null);
    assert_eq!(found["liveness"]["steps"], Value::Null);
    assert!(warned(&found, "has no order of the entry computation's instructions"), "{found}");
    let other_entry = [module("f", true), number(6, 7)].concat();
    let found = summary_of("a.hlo.pb", &without(&other_entry));
    assert!(warned(&found, "names an entry computation that it does not have"), "{found}");
    assert_eq!(found["memory"]["total_bytes"], 80);
}

#[test]
fn a_file_that_is_cut_before_its_assignment_is_named() {
    let whole = proto("large", 1 << 20);
    let within_module = &whole[..40];
    for (bytes, words) in [(within_module, "ends at byte 40"), (&[], "is empty")] {
        let said = refusal("module_0001.large.cpu_after_optimizations.hlo.pb", bytes);
        assert!(said.contains(words), "{said}");
        let other = proto("small", 64);
        let directory = directory(&[("a.hlo.pb", bytes), ("b.hlo.pb", &other)]);
        let found = summary(directory.path());
        assert_eq!(found["xla"]["module"], "small");
        let warnings = found["warnings"].as_array().unwrap();
        let [warning] = &warnings[..] else { panic!("one: {found}") };
        assert_eq!((&warning["code"], &warning["file"]), (&"truncated".into(), &"a.hlo.pb".into()));
    }
}

#[test]
fn bytes_behind_a_whole_proto_are_passed_over() {
    for zeros in [1, 4096] {
        let mut bytes = proto("f", 64);
        bytes.resize(bytes.len() + zeros, 0);
        for (name, bytes) in [("a.hlo.pb", bytes.clone()), ("a.hlo.pb.gz", gzip(&bytes))] {
            let found = summary_of(name, &bytes);
            assert_eq!(found["memory"]["total_bytes"], 80);
            assert!(warned(&found, "it is not a proto; the part before that is shown"), "{found}");
        }
    }
}

#[test]
fn contents_say_what_a_file_is() {
    let (proto, bare) = (proto("f", 64), assignment(64));
    let named: [(&str, Vec<u8>); 7] = [
        ("x.pb", proto.clone()),
        ("x.pb.gz", gzip(&proto)),
        ("x.hlo.pb", gzip(&proto)),
        ("x.hlo.pb.gz", proto.clone()),
        ("y.pb", bare.clone()),
        ("y.pb.gz", gzip(&bare)),
        ("y.pb", gzip(&bare)),
    ];
    for (name, bytes) in &named {
        for found in [summary_of(name, bytes), summary(directory(&[(name, bytes)]).path())] {
            assert_eq!(found["memory"]["total_bytes"], 80, "{name}");
            let is_bare = name.starts_with('y');
            assert_eq!(found["xla"]["steps"].is_null(), is_bare, "{name}");
        }
    }
    for bytes in [&b"nothing of theirs"[..], &proto[..1], &part(1, module("f", true))] {
        let said = refusal("x.pb", bytes);
        assert!(!said.contains("Poplar") && !said.contains("profile.pop"), "{said}");
    }
}

const TEXT: &str = "BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n value: <1 a @0> \
                    (size=64,offset=0): f32[16]{0}\nallocation 1: size 16, constant:\n value: <2 b @0> \
                    (size=4,offset=0): f32[]\n\nTotal bytes used: 80 (80B)\n\nUsed values:\n<1 a @0>\n positions:\n  a\n \
                    uses:\n  (none)\n from instruction: %a = f32[16]{0} copy(%b)\n<2 b @0>\n positions:\n  b\n uses:\n  \
                    a, operand 0\n from instruction: %b = f32[] constant(0)\n\nHloLiveRange (max 2):\n  \
                    InstructionSequence:\n    0:b\n    1:a\n  BufferLiveRange:\n    a{}:1-2\n    b{}:0-2\n  Live ranges \
                    at 1 (peak):\n    a{}: 64 bytes\n";

#[test]
fn a_text_is_read_under_any_name_and_out_of_what_was_printed() {
    for name in ["assignment.log", "x.pb", "anything"] {
        let found = summary_of(name, TEXT.as_bytes());
        assert_eq!(
            (&found["memory"]["total_bytes"], &found["xla"]["steps"]),
            (&80.into(), &2.into())
        );
    }
    let printed = |module: &str, text: &str| {
        let name = format!("{module}.cpu_after_optimizations-buffer-assignment.txt");
        format!("*** Begin {name} ***\n{text}\n*** End {name} ***\nloss 0.3\n")
    };
    let both = printed("module_0001.jit_f", TEXT)
        + &printed("module_0002.jit_g", &TEXT.replace("64", "48"));
    let output = format!("epoch 1\n{both}");
    let found = summary_of("out.txt", output.as_bytes());
    assert_eq!(found["xla"]["module"], "jit_f");
    assert_eq!((&found["memory"]["total_bytes"], &found["xla"]["steps"]), (&80.into(), &2.into()));
    let directory = directory(&[("out.txt", output.as_bytes())]);
    let other =
        run("summary", &[&directory.path().join("out.txt")], &["--json", "--module", "jit_g"]);
    let other = json(&other);
    assert_eq!(other["memory"]["total_bytes"], 64, "{other}");
    assert_eq!(other["xla"]["platform"], "cpu");
}

/// What texts beside a module state is shown beside what comes out of it, and a contradiction is said.
#[test]
fn totals_that_xla_states_stand_beside_those_of_the_allocations() {
    let stem = "module_0001.f.cpu_after_optimizations";
    let name = |ending: &str| format!("{stem}{ending}");
    let (module, values) = (name(".hlo.pb"), name("-buffer-assignment-values.txt"));
    let (report, proto) = (name("-memory-usage-report.txt"), proto("f", 64));
    let claims = |used: u64, of_space: u64| {
        let used = format!("\nTotal bytes used: {used} (80B)\n\nUsed values:\n");
        let of_space = format!("Memory Space: default (color=0)\nTotal bytes: {of_space} (80B)\n");
        let directory = directory(&[
            (&module, &proto),
            (&values, used.as_bytes()),
            (&report, of_space.as_bytes()),
        ]);
        let text = run("summary", &[directory.path()], &[]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        (summary(directory.path()), text)
    };
    let (found, text) = claims(80, 80);
    let figures = found["xla"]["claims"]["figures"].as_array().expect("a list");
    assert_eq!(figures.len(), 2, "{found}");
    assert_eq!(figures[0]["file"], values);
    assert_eq!(figures[1]["name"], "Total bytes");
    assert!(figures.iter().all(|one| one["agrees"] == true && one["bytes"] == 80));
    assert_eq!(found["warnings"], Value::Array(Vec::new()));
    assert!(text.contains("Total bytes used") && !text.contains("differs"), "{text}");
    let (found, text) = claims(80, 96);
    let said = "Total bytes of color 0 is stated as 96 B, but the module's allocations have 80 B";
    assert!(warned(&found, said), "{}", found["warnings"]);
    assert_eq!(found["warnings"][0]["file"], report);
    assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1));
    assert!(text.contains("differs"), "{text}");
    // The allocations of a file that is cut are fewer than XLA counted.
    let directory = directory(&[
        (&module, &proto[..proto.len() - 4]),
        (&values, b"Total bytes used: 80 (80B)\n"),
    ]);
    let found = summary(directory.path());
    assert!(found["xla"]["claims"]["figures"][0]["agrees"] == true, "{found}");
}

#[test]
fn instructions_leave_room_for_allocations() {
    let tiny = part(2, part(2, "a"));
    let computation = part(3, tiny.repeat(400_000));
    let bytes = [part(1, [part(1, "f"), computation].concat()), part(3, assignment(64))].concat();
    let found = summary_of("a.hlo.pb", &bytes);
    assert_eq!(found["memory"]["total_bytes"], 80);
    assert!(warned(&found, "need more memory than the"), "{found}");
}

#[test]
fn of_many_allocations_text_has_the_largest() {
    let allocations: Vec<u8> = (1..=100)
        .flat_map(|size| part(3, [number(1, size), number(2, size << 10)].concat()))
        .collect();
    let directory = directory(&[("a.pb", &allocations)]);
    let file = directory.path().join("a.pb");
    let text = run("summary", &[&file], &[]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("60 more") && text.contains(" 100.0 KiB"), "{text}");
    assert!(!text.contains(" 60.0 KiB"), "{text}");
    let found = summary(&file);
    assert_eq!(found["xla"]["temp"].as_array().unwrap().len(), 100);
}

/// What is left out for want of room counts as what is cut: nobody says that the rest fits.
#[test]
fn a_program_without_all_its_allocations_does_not_fit() {
    let allocations = part(3, number(2, 1)).repeat(300_000);
    let bytes = [part(1, module("f", true)), part(3, allocations)].concat();
    let directory = directory(&[("a.hlo.pb", &bytes)]);
    let path = directory.path().join("a.hlo.pb");
    let found = summary(&path);
    assert!(warned(&found, "need more memory than the"), "{}", found["warnings"]);
    assert_eq!(found["source"]["files"][0]["status"], "truncated");
    let check = run("check", &[&path], &["--must-fit", "--capacity", "1GiB"]);
    assert_eq!(check.status.code(), Some(1), "{}", String::from_utf8_lossy(&check.stdout));
}

/// Values that live together, each of an operation of its own: what the last instruction takes.
fn of_operations(sizes: &[u64]) -> Vec<u8> {
    let ids = 1..=sizes.len() as u64;
    let made = |id: u64| {
        let name = format!("negate.{id}");
        let operation = part(7, part(2, format!("layer{id}/negate")));
        part(2, [instruction(id, &name, "negate", &[]), operation].concat())
    };
    let last = ids.end() + 1;
    let operands: Vec<u64> = ids.clone().collect();
    let instructions: Vec<u8> = ids.clone().flat_map(made).collect();
    let root = part(2, instruction(last, "all", "custom-call", &operands));
    let computation = [part(1, "main"), instructions, root, number(6, last)].concat();
    let order: Vec<u8> = (1..=last).flat_map(varint).collect();
    let schedule = part(7, part(1, part(2, part(1, order))));
    let module = [part(1, "f"), part(3, computation), schedule].concat();
    let values = ids.clone().zip(sizes).flat_map(|(id, size)| {
        part(1, [number(1, id), number(2, *size), part(3, number(4, id))].concat())
    });
    let mut offset = 0;
    let mut placed = Vec::new();
    for (id, size) in ids.clone().zip(sizes) {
        placed.extend(part(9, [number(1, id), number(2, offset), number(3, *size)].concat()));
        offset += size;
    }
    let allocation = part(3, [number(2, offset), placed].concat());
    let assignment = [values.collect(), allocation].concat();
    [part(1, module), part(3, assignment)].concat()
}

#[test]
fn an_operation_with_next_to_nothing_of_the_peak_does_not_own_it() {
    let owner = |sizes: &[u64]| {
        let found = summary_of("a.hlo.pb", &of_operations(sizes));
        let said = found["insights"]["conclusions"].as_array().unwrap().clone();
        assert_eq!(crate::common::not_always_live(&found), sizes.iter().sum::<u64>());
        said.iter().any(|one| one["id"] == "owner-of-peak")
    };
    assert!(!owner(&[4096; 300]));
    let mut sizes = [4096; 300];
    sizes[7] = 1 << 20;
    assert!(owner(&sizes));
}

#[test]
fn different_modules_are_compared_and_none_is_better() {
    let (one, other) = (proto("f", 64), proto("g", 32));
    let source = directory(&[("a.hlo.pb", &one)]);
    let target = directory(&[("a.hlo.pb", &other)]);
    let output = run("compare", &[source.path(), target.path()], &["--json"]);
    let found = json(&output);
    let judged = found["conclusions"].as_array().unwrap().iter();
    assert_eq!(judged.filter(|said| !said["is_better"].is_null()).count(), 0, "{found}");
    assert!(warned(&found, "these are different modules"), "{found}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("these are different modules"), "{said}");
    // The largest of both is not the one that both have.
    let both = directory(&[("a.hlo.pb", &one), ("b.hlo.pb", &proto("g", 48))]);
    let output = run("compare", &[both.path(), target.path()], &["--json"]);
    let found = json(&output);
    assert_eq!(found["xla"]["module"]["source"], "g");
    let total = found["conclusions"].as_array().unwrap().iter().find(|said| said["id"] == "total");
    assert_eq!(total.unwrap()["is_better"], true);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("2 modules; this is g of b.hlo.pb"), "{said}");
}
