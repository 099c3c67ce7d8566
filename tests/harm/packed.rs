//! Files that grow when they are unpacked, and pickles and profiles that name things again and again.

use super::*;

use std::io::Write as _;

use tilescope::cli::diagnose::DiagnoseReport;
use tilescope::systems::{SYSTEMS, find};

use crate::common::wire::{number, part, varint};

/// What a small file may take, whatever is in it.
const MOST_MIB: usize = 300;

fn gzip(parts: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    for part in parts {
        encoder.write_all(&part).unwrap();
    }
    encoder.finish().unwrap()
}

/// What is said of a file, or why it is refused. It takes little memory.
fn said_of(name: &str, bytes: &[u8]) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    let progress = Progress::default();
    let ask = || -> Result<String, Error> {
        let found = find(SYSTEMS, &path, None, &progress)?;
        let Some(run) = found.open(&progress)? else { return Ok("canceled".to_owned()) };
        run.fill_report(&progress);
        let answers = run.derived().answers();
        let _ = (answers.peak(run.derived()), answers.insights(run.derived(), &progress));
        Ok(run.warnings(&progress).iter().map(|one| format!("{}\n", one.message)).collect())
    };
    let (answer, took) = counted(ask);
    let most = (bytes.len() * 4).max(MOST_MIB * MIB);
    assert!(took.bytes < most, "{name}: {} MiB, {answer:?}", took.bytes / MIB);
    answer.map_err(|error| error.message)
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], why: &str) {
    let said = said_of(name, bytes).unwrap_err();
    assert!(said.contains(why), "{said}");
}

/// As many MiB of a few bytes that come again and again, behind others.
fn repeated(before: &[u8], again: &[u8], mib: usize) -> impl Iterator<Item = Vec<u8>> + use<> {
    let block = again.repeat(MIB / again.len());
    [before.to_vec()].into_iter().chain((0..mib).map(move |_| block.clone()))
}

#[test]
fn a_dict_of_many_keys_that_could_be_several_things_is_read_once() {
    let _alone = alone();
    // Each key says that the dict is something else, and a key of a snapshot that it is not.
    let mut bytes = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces]".to_vec();
    for key in 0..20_000_u32 {
        bytes.extend([&b"J"[..], &key.to_le_bytes(), b"N"].concat());
    }
    bytes.push(b'u');
    for _ in 0..20_000 {
        bytes.extend(b"\x8c\x06actionNs\x8c\x05stateNs");
    }
    bytes.push(b'.');
    refused("run.pickle", &bytes, "not a memory snapshot");
    let (_, took) = counted(|| said_of("run.pickle", &bytes));
    assert!(took.bytes < 20 * MIB, "{} MiB", took.bytes / MIB);
}

#[test]
fn a_snapshot_that_grows_when_it_is_unpacked() {
    let _alone = alone();
    let begin = b"\x80\x02}(X\x08\0\0\0segments]";
    // Numbers on the stack, a memo that is written over, dicts, events.
    refused("a.pickle.gz", &gzip(repeated(begin, b"N", 200)), "its objects take more than");
    refused("b.pickle.gz", &gzip(repeated(begin, b"q\0", 200)), "come of it");
    refused("c.pickle.gz", &gzip(repeated(begin, b"}", 200)), "its objects take more than");
    let event = b"}(X\x06\0\0\0actionX\x05\0\0\0allocX\x04\0\0\0addrK\x05X\x04\0\0\0sizeK\x08u";
    let traces = [&begin[..], b"X\x0d\0\0\0device_traces](]("].concat();
    refused("d.pickle.gz", &gzip(repeated(&traces, event, 200)), "more");
    // A text of a gigabyte is more than a small file gives.
    let text = [&b"\x80\x02}(X"[..], &(1_u32 << 30).to_le_bytes()].concat();
    refused("e.pickle.gz", &gzip(repeated(&text, b"a", 100)), "more than are left");
}

#[test]
fn a_timeline_that_grows_when_it_is_unpacked() {
    let _alone = alone();
    let refused = |parts: Vec<Vec<u8>>, why: &str| {
        refused("a.raw.json.gz", &gzip(parts), why);
    };
    refused(repeated(b"[[-1,1,512,0],\"", b"a", 100).collect(), "it has a text");
    refused(repeated(b"[[-1,1,512,0],", b" ", 50).collect(), "not a memory timeline");
    refused(repeated(b"[[-1,1,512,0],", b"[1,1,1,1],", 20).collect(), "not a memory timeline");
    refused(repeated(b"[[-1,1,5", b"0", 20).collect(), "not a memory timeline");
}

#[test]
fn a_proto_that_grows_when_it_is_unpacked() {
    let _alone = alone();
    let name = "module_0001.jit_f.cpu_after_optimizations.hlo.pb.gz";
    refused(name, &gzip(repeated(&[], &[0], 400)), "");
    // A module with one long field; fields that nobody knows; instructions of two bytes.
    let long = 1 << 30;
    let body = [part(1, b"jit_f"), varint(99 << 3 | 2), varint(long)].concat();
    let module = [varint(1 << 3 | 2), varint(body.len() as u64 + long), body].concat();
    refused(name, &gzip(repeated(&module, &[0], 300)), "MiB, decompressed");
    let unknown = number(15, 1);
    refused(name, &gzip(repeated(&part(1, part(1, b"jit_f")), &unknown, 300)), "MiB, decompressed");
}

#[test]
fn frames_of_zstandard_that_ask_for_much() {
    let _alone = alone();
    // Blocks of one byte repeated: 128 KiB of four bytes each.
    let frame = |first: &[u8], blocks: usize| {
        let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
        bytes.extend([&((first.len() as u32) << 3).to_le_bytes()[..3], first].concat());
        for _ in 0..blocks {
            bytes.extend([&((131_072_u32 << 3) | 2).to_le_bytes()[..3], b"N"].concat());
        }
        bytes
    };
    let pickle = b"\x80\x02}(X\x08\0\0\0segments]";
    refused("a.pickle.zst", &frame(pickle, 10_000), "its objects take more than");
    let module = [varint(1 << 3 | 2), varint(1 << 30), part(1, b"jit_f")].concat();
    refused("module_0001.f.hlo.pb.zst", &frame(&module, 10_000), "MiB, decompressed");
    // A window of more than is ever given.
    let frame = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 1, 0, 0, 1, 0, 0];
    assert!(said_of("b.pickle.zst", &frame).is_err());
}

/// A log that is packed well is read as far as a log may grow, and that it goes on is said.
#[test]
fn a_log_that_grows_when_it_is_unpacked() {
    let _alone = alone();
    let message = "Memory allocation: Out of memory on tile 3: 700000 bytes used but tiles only have 638976.\n";
    let line = "step 1: loss 2.5\n".repeat(64);
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("run.log.gz");
    let diagnose = |parts: &mut dyn Iterator<Item = Vec<u8>>| {
        fs::write(&log, gzip(parts)).unwrap();
        let files = [log.clone()];
        let (report, took) = counted(|| DiagnoseReport::of(&files).unwrap());
        (serde_json::to_value(report).unwrap(), took)
    };
    let (report, took) = diagnose(&mut repeated(message.as_bytes(), line.as_bytes(), 400));
    assert_eq!(
        (&report["cut_files"], report["findings"].as_array().unwrap().len()),
        (&1.into(), 1)
    );
    let lines = report["lines"].as_u64().unwrap() as usize;
    let bytes = fs::metadata(&log).unwrap().len() as usize;
    assert!(lines * 17 < bytes * 64 + 67 * MIB, "{lines} lines of {bytes} bytes");
    assert!(took.bytes < MOST_MIB * MIB, "{} MiB", took.bytes / MIB);
    // Zeros, of which a log has none, behind what one begins with.
    let begin = message.to_owned() + &line.repeat(1000);
    let (report, took) = diagnose(&mut repeated(begin.as_bytes(), &[0], 400));
    assert_eq!((&report["cut_files"], &report["cut_lines"]), (&1.into(), &1.into()));
    assert!(took.bytes < MOST_MIB * MIB, "{} MiB", took.bytes / MIB);
    // One of a usual size is read to its end.
    let (report, _) = diagnose(&mut repeated(message.as_bytes(), line.as_bytes(), 40));
    assert_eq!((&report["cut_files"], &report["cut_lines"]), (&0.into(), &0.into()));
}

/// A profile with modules of such allocations, one after the other.
fn profile_of(bytes: impl Iterator<Item = u64>) -> Vec<u8> {
    let entries = bytes.flat_map(|bytes| {
        let module = part(1, [part(1, b"jit_f"), part(2, b"main")].concat());
        let assignment = part(3, part(3, number(2, bytes)));
        part(4, part(2, part(5, part(6, [module, assignment].concat()))))
    });
    let entries: Vec<u8> = entries.collect();
    part(1, [part(2, b"/host:metadata"), entries].concat())
}

#[test]
fn equal_modules_of_a_profile_are_shown_and_exported_once() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host.xplane.pb");
    let bytes = profile_of(std::iter::repeat_n(1024, 20_000).chain([2048]));
    fs::write(&path, &bytes).unwrap();
    let lake = tempfile::tempdir().unwrap();
    let export = || {
        let paths = [path.clone()];
        let (exported, took) =
            counted(|| tilescope::lake::export(&paths, None, lake.path(), &Progress::default()));
        (exported.unwrap(), took)
    };
    let (exported, took) = export();
    assert_eq!(exported.runs.len(), 2, "modules of one name are compilations of one program");
    assert_ne!(exported.runs[0].run, exported.runs[1].run);
    let warnings = exported.all_warnings();
    assert!(warnings.iter().any(|one| one.message.contains("19,999 modules")), "{warnings:?}");
    assert!(took.work.bytes < 12 * bytes.len() as u64, "{}", took.work);
    assert!(took.bytes < MOST_MIB * MIB, "{} MiB", took.bytes / MIB);
    // Whole files that are the same are one run as well.
    fs::copy(&path, directory.path().join("again.xplane.pb")).unwrap();
    let paths = [path.clone(), directory.path().join("again.xplane.pb")];
    let exported =
        tilescope::lake::export(&paths, None, lake.path(), &Progress::default()).unwrap();
    assert_eq!(exported.runs.len(), 2);
    // Both modules lie in one file, of which the same is said.
    let warnings = exported.all_warnings();
    assert!(warnings.iter().any(|one| one.message.starts_with("the same run as")), "{warnings:?}");
}

#[test]
fn a_profile_of_many_modules_has_the_first_of_them_each_read_where_it_lies() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host.xplane.pb");
    let bytes = profile_of(1..=20_000);
    fs::write(&path, &bytes).unwrap();
    let progress = Progress::default();
    let found = find(SYSTEMS, &path, None, &progress).unwrap();
    assert_eq!(found.modules().len(), 2000);
    let (run, took) = counted(|| found.open(&progress).unwrap().unwrap());
    assert!(took.work.bytes < 1 << 10, "{}", took.work);
    let said = run.warnings(&progress);
    assert!(said.iter().any(|one| one.message.contains("there are 18,000 more")), "{said:?}");
}

/// The beginning of a device memory profile of JAX.
fn types() -> Vec<u8> {
    let kind = |of, unit| part(1, [number(1, of), number(2, unit)].concat());
    [kind(1, 2), kind(3, 4)].concat()
}

fn texts() -> Vec<u8> {
    let texts = ["", "allocations", "count", "space", "bytes", "kind", "buffer", "device", "cpu:0"];
    texts.iter().flat_map(|text| part(6, text)).collect()
}

#[test]
fn profiles_that_name_long_stacks_again_and_again() {
    let _alone = alone();
    let label = |key, text| part(3, [number(1, key), number(2, text)].concat());
    let sample = |calls: usize| {
        let calls = part(1, vec![1; calls]);
        part(2, [calls, part(2, [1, 8]), label(5, 6), label(7, 8)].concat())
    };
    let location = |lines: usize| {
        let line = part(4, [number(1, 1), number(2, 7)].concat());
        part(4, [number(1, 1), line.repeat(lines)].concat())
    };
    let function = part(5, [number(1, 1), number(2, 6), number(4, 8)].concat());
    // A good one: its calls are there.
    let good = [types(), sample(2), location(1), function.clone(), texts()].concat();
    assert_eq!(said_of("a.prof", &good).unwrap(), "");
    // Many calls to a location of many lines, many samples, many texts.
    let many = [types(), sample(10_000), location(10_000), function.clone(), texts()].concat();
    refused("b.prof", &many, "too many calls");
    let many = [types(), sample(1).repeat(1 << 20), sample(1), location(1), texts()].concat();
    refused("c.prof.gz", &gzip([many]), "which Tilescope does not read");
    // The same to calls of a function that is not there, and lines of no calls.
    let many = [types(), sample(10_000), location(10_000), texts()].concat();
    refused("b.prof", &many, "too many calls");
    let many = [types(), sample(1), location(300_000), function.clone(), texts()].concat();
    // It ends before what tells that it is one.
    refused("b.prof", &many, "unknown kind");
    let long = part(5, [number(1, 2), number(2, 9), number(4, 9)].concat());
    let long = [types(), sample(2), location(1), long, texts(), part(6, "x".repeat(30 * MIB))];
    said_of("d.prof.gz", &gzip([long.concat()])).unwrap();
    // Cut anywhere it is shown or refused.
    for end in 0..good.len() {
        let _ = said_of("e.prof", &good[..end]);
    }
    refused("f.prof.gz", &gzip(repeated(&good, &number(15, 1), 100)), "larger than any");
    // Samples whose labels all name a long text, and as many devices as samples.
    let labels = [label(9, 9).repeat(14), label(5, 6), label(7, 8)].concat();
    let labelled = part(2, [part(1, [1]), part(2, [1, 8]), labels].concat());
    let long = part(6, vec![0xFF; 1 << 10]);
    let many = [types(), labelled.repeat(1 << 16), location(1), function.clone(), texts(), long];
    assert_eq!(said_of("g.prof.gz", &gzip([many.concat()])).unwrap(), "");
    let of_device = |place: u64| part(2, [part(2, [1, 8]), label(5, 6), label(7, place)].concat());
    let samples: Vec<u8> = (9..5009).flat_map(of_device).collect();
    let names: Vec<u8> = (0..5000).flat_map(|name| part(6, format!("gpu:{name}"))).collect();
    let said = said_of("h.prof", &[types(), samples, texts(), names].concat()).unwrap();
    assert!(said.contains("only the first 1024 devices"), "{said}");
    assert!(said.contains("3976 samples of others"), "{said}");
    // Sums that no number holds.
    let most = [&[1][..], &[0xFF; 8], &[0x7F]].concat();
    let most = part(2, [part(2, most), label(5, 6)].concat());
    let said = said_of("i.prof", &[types(), most.repeat(3), texts()].concat()).unwrap();
    assert!(said.contains("more bytes together than 2^64"), "{said}");
}
