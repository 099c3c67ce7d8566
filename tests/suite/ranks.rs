//! Runs of several processes, each of which has written a snapshot of its own.

use std::path::{Path, PathBuf};

use crate::common::recording::{HOST, MIB, Recording, stack};
use crate::common::{in_package, json, tilescope};
use proptest::prelude::*;
use serde_json::Value;
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::liveness::scope_curve::scope_curve;
use tilescope::analysis::program::steps;
use tilescope::format::{ErrorKind, Progress};
use tilescope::store::DeviceId;
use tilescope::store::snapshot::StackId;
use tilescope::systems::pytorch::allocator::peak::PeakContents;
use tilescope::systems::pytorch::allocator::run_end::Ended;
use tilescope::systems::pytorch::allocator::user_frame::user_frame_title;
use tilescope::systems::pytorch::files::SnapshotFiles;
use tilescope::systems::pytorch::run::{ReplayedSnapshot, SnapshotRun};

/// What a path names, with its report filled.
fn open(path: &Path) -> SnapshotRun {
    let progress = Progress::default();
    let files = crate::common::found::<SnapshotFiles>(path).expect("a run");
    let run = SnapshotRun::open(&files, &progress).expect("a run").expect("not cancelled");
    run.fill_report(&progress);
    run
}

fn replayed(run: &SnapshotRun) -> &ReplayedSnapshot {
    run.allocator.snapshot().expect("a snapshot")
}

fn messages(run: &SnapshotRun) -> Vec<String> {
    run.report.warnings.list().into_iter().map(|warning| warning.message).collect()
}

/// What a command answers, as JSON.
#[track_caller]
fn answer(arguments: &[&str]) -> Value {
    let output = tilescope(&[arguments, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text} {}", json(&output));
    json(&output)
}

fn text(arguments: &[&str]) -> String {
    let output = tilescope(arguments);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// JSON without what says which device it is of.
fn without_device(value: &impl serde::Serialize) -> Value {
    let mut value = serde_json::to_value(value).expect("JSON");
    for key in ["device", "rank", "gpu"] {
        value.as_object_mut().expect("an object").remove(key);
    }
    value
}

/// Everything that is known of the device at a place, in words that have no numbers of rows.
fn known_of(run: &SnapshotRun, place: usize) -> Value {
    let replayed = replayed(run);
    let snapshot = &replayed.snapshot;
    let (device, replay) = replayed.device(place).expect("a device");
    let frames = |stack: StackId| -> Vec<(&str, &str, u32)> {
        let text = |id| snapshot.texts.get(id);
        let frames = snapshot.frames_of(stack);
        frames.map(|frame| (text(frame.file), text(frame.name), frame.line)).collect()
    };
    let lives = &replay.lives;
    let blocks: Vec<_> = (0..lives.len())
        .map(|row| {
            let stack = lives.stacks[row];
            let of_events = (lives.allocation(row), user_frame_title(snapshot, stack));
            (lives.addresses[row], lives.requested[row], lives.bytes[row], of_events)
        })
        .collect();
    let events = &snapshot.events;
    let rows = device.events.clone();
    let events: Vec<_> = rows
        .map(|row| {
            let stream = snapshot.streams[events.streams[row] as usize];
            let said = events.text(row).map(|text| snapshot.texts.get(text));
            let what = (events.actions[row].as_str(), events.addresses[row], events.sizes[row]);
            (what, events.times[row], stream, said, frames(events.stacks[row]))
        })
        .collect();
    let segments: Vec<_> = snapshot
        .segments_of(device)
        .iter()
        .map(|segment| {
            let blocks = snapshot.blocks[segment.blocks.clone()].iter();
            let block = |block: &tilescope::store::snapshot::Block| {
                (block.address, block.bytes, block.requested_bytes, frames(block.stack))
            };
            (segment.address, segment.bytes, segment.stream, blocks.map(block).collect::<Vec<_>>())
        })
        .collect();
    let spans = replayed.annotated_spans(place).iter();
    let spans: Vec<_> =
        spans.map(|span| (snapshot.texts.get(span.name), span.start, span.end)).collect();
    let peak: PeakContents = replayed.peak(place).expect("a peak").clone();
    let peak = format!("{:?}", PeakContents { device: 0, ..peak });
    let id = DeviceId::of_number(device.number);
    let deltas = &run.report.deltas.get().expect("deltas").by_device[&id];
    let changes: Vec<i64> = deltas.iter().map(|(_, change)| *change).collect();
    let facts = replayed.device_facts().get(place).map(without_device);
    let insights = run.allocator.insights().expect("insights");
    let insights = insights.devices.get(place).map(without_device);
    let categories: Vec<_> =
        replayed.categories(place).iter().map(|category| category.as_str()).collect();
    serde_json::json!({
        "facts": facts, "insights": insights, "peak": peak, "categories": categories, "blocks": blocks,
        "events": events, "segments": segments, "spans": spans, "changes": changes,
        "ranges": format!("{:?}", replayed.segments(place)),
    })
}

/// What is known of the devices of a run is what each file says by itself, in their order.
#[track_caller]
fn assert_same(of_all: &SnapshotRun, files: &[(u32, PathBuf)]) {
    let snapshot = &replayed(of_all).snapshot;
    let (mut place, mut host) = (0, snapshot.devices.len());
    for (rank, file) in files {
        let alone = open(file);
        let of_file = &replayed(&alone).snapshot;
        for (of_rank, device) in of_file.all_devices().enumerate() {
            let at = if device.is_host() { &mut host } else { &mut place };
            let (found, _) = replayed(of_all).device(*at).expect("a device");
            let of = found.rank.expect("a rank");
            assert_eq!((of.rank, of.gpu), (*rank, device.number));
            let (known, expected) = (known_of(of_all, *at), known_of(&alone, of_rank));
            for (key, value) in expected.as_object().expect("an object") {
                assert_eq!(&known[key], value, "{key} of {}", found.title());
            }
            assert_own_steps(of_all, *at, &alone, of_rank);
            *at += 1;
        }
    }
    assert_eq!(place, snapshot.devices.len());
    assert_eq!(host, place + snapshot.pinned_hosts.len());
    let numbers: Vec<i64> = snapshot.devices.iter().map(|device| device.number).collect();
    assert_eq!(numbers, (0..).take(place).collect::<Vec<i64>>());
}

/// The steps of a device are its events, from its own first: the curve, and what each step does.
#[track_caller]
fn assert_own_steps(of_all: &SnapshotRun, place: usize, alone: &SnapshotRun, of_rank: usize) {
    let scope_of = |run: &SnapshotRun, place: usize| {
        let (device, _) = replayed(run).device(place).expect("a device");
        (DeviceId::of_number(device.number), device.steps() as usize)
    };
    let ((device, steps), (of_file, _)) = (scope_of(of_all, place), scope_of(alone, of_rank));
    let curve = |run: &SnapshotRun, device| {
        let curve = scope_curve(&run.report, Scope::Device(device), &|| false);
        curve.expect("a curve").not_always_live
    };
    let known = curve(of_all, device);
    assert_eq!(known.len(), steps);
    assert_eq!(known, curve(alone, of_file));
    for step in 0..steps {
        let facts = |run: &SnapshotRun, device| {
            let facts = steps::facts(&run.report, Some(device), step);
            facts.map(|facts| (facts.step, facts.kind, facts.name))
        };
        assert_eq!(facts(of_all, device), facts(alone, of_file), "step {step}");
    }
}

/// What happens in a process: blocks of some size at some line of a device, named parts, and frees.
fn recordings() -> impl Strategy<Value = Vec<Recording>> {
    let event = (0..8_u8, -1..3_i64, 1..40_u64, 0..6_u64);
    let of_rank = prop::collection::vec(event, 1..40);
    prop::collection::vec(of_rank, 2..4).prop_map(|ranks| {
        let recording = |events: Vec<(u8, i64, u64, u64)>| {
            let mut run = Recording::default();
            let mut live = Vec::new();
            for (kind, device, size, line) in events {
                let at = stack(&[
                    ("/home/me/model.py", line, "forward"),
                    ("/home/me/train.py", 7, "train"),
                ]);
                match kind {
                    0..=3 => live.push(run.alloc(device, size * MIB / 4, &at)),
                    4 if !live.is_empty() => run.free(live.remove(line as usize % live.len())),
                    5 => run.out_of_memory(device.max(0), size * MIB, size),
                    6 => run.annotate(device.max(0), "START", &format!("step {line}")),
                    7 => run.annotate(device.max(0), "END", &format!("step {line}")),
                    _ => {}
                }
            }
            // Whether Python stacks were recorded is known of a whole run.
            run.alloc(0, MIB, &stack(&[("/home/me/train.py", 9, "end")]));
            run
        };
        ranks.into_iter().map(recording).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_device_has_what_its_file_says_by_itself(
        runs in recordings(),
        numbers in prop::sample::subsequence(vec![0_u32, 2, 7, 10, 11], 3),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let write = |(run, rank): (&Recording, &u32)| {
            (*rank, run.write(directory.path(), &format!("rank{rank}.pickle")))
        };
        let files: Vec<_> = runs.iter().zip(&numbers).map(write).collect();
        let of_all = open(directory.path());
        prop_assert!(!of_all.allocator.is_cut, "{:?}", messages(&of_all));
        assert_same(&of_all, &files);
    }
}

fn swept_of(arguments: &[&str]) -> Value {
    crate::common::swept(&answer(arguments))
}

#[test]
fn real_files_as_ranks_have_what_they_have_alone() {
    let profiles = in_package("../shared/profiles/pytorch");
    if !profiles.is_dir() {
        eprintln!("skipped: ../shared/profiles/pytorch is absent");
        return;
    }
    let real: Vec<PathBuf> = ["splits", "."]
        .into_iter()
        .flat_map(|below| std::fs::read_dir(profiles.join(below)).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pickle"))
        .filter(|path| path.metadata().is_ok_and(|file| file.len() < 4 << 20))
        .take(4)
        .collect();
    assert!(real.len() > 1, "{real:?}");
    let directory = tempfile::tempdir().expect("a directory");
    let copy = |(rank, path): (u32, &PathBuf)| {
        let to = directory.path().join(format!("rank_{rank}_end.pickle"));
        std::fs::copy(path, &to).expect("a copy");
        (rank, to)
    };
    let files: Vec<_> = (0..).zip(&real).map(copy).collect();
    let of_all = open(directory.path());
    assert_same(&of_all, &files);
    // What several have alike is there once.
    let snapshot = &replayed(&of_all).snapshot;
    let mut texts: Vec<&str> = snapshot.texts.iter().collect();
    texts.sort_unstable();
    let count = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), count);
}

/// A process that has so many MiB at its peak, on a device that it calls 0.
fn process(mebibytes: u64) -> Recording {
    let mut run = Recording::default();
    run.alloc(HOST, MIB, &stack(&[("/home/me/data.py", 5, "pin")]));
    run.alloc(0, 4 * MIB, &stack(&[("/home/me/train.py", 10, "__init__")]));
    let block = run.alloc(0, mebibytes * MIB, &stack(&[("/home/me/train.py", 20, "forward")]));
    run.free(block);
    run
}

/// Three ranks, of which rank 10 has most.
fn three_ranks(directory: &Path) -> Vec<PathBuf> {
    let ranks = [(0, 6), (2, 8), (10, 12)];
    let write = |(rank, most)| process(most).write(directory, &format!("memory_rank_{rank}_a.pkl"));
    ranks.into_iter().map(write).collect()
}

#[test]
fn a_summary_has_a_row_for_each_device_of_each_rank() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = three_ranks(directory.path());
    let path = text_of(directory.path());
    let summary = answer(&["summary", path]);
    assert_eq!(summary["source"]["path"], path);
    assert_eq!(summary["source"]["files"].as_array().map(Vec::len), Some(3));
    let devices = summary["pytorch"]["devices"].as_array().expect("devices");
    let named: Vec<_> = devices
        .iter()
        .map(|of| [&of["device"], &of["rank"], &of["gpu"]].map(Value::as_i64))
        .collect();
    assert_eq!(
        named,
        [(0, 0), (1, 2), (2, 10)].map(|(number, rank)| [Some(number), Some(rank), Some(0)])
    );
    let hosts = summary["pytorch"]["pinned_host_of_ranks"].as_array().expect("hosts");
    assert_eq!(hosts.iter().map(|host| host["rank"].as_i64()).collect::<Vec<_>>().len(), 3);
    assert!(summary["pytorch"]["pinned_host"].is_null());
    assert_eq!(summary["liveness"]["peak"]["device"], 2);
    assert_eq!(summary["memory"]["total_bytes"], 12 * MIB, "4 of each");
    assert_eq!(summary["pytorch"]["insights"]["verdict"]["device"], 2);
    let said = text(&["summary", path]);
    for title in ["Rank 0, GPU 0", "Rank 10, GPU 0", "Rank 2, pinned host memory"] {
        assert!(said.contains(title), "{title}: {said}");
    }
    // A file that is named by itself is that rank alone, as ever.
    let alone = answer(&["summary", text_of(&files[1])]);
    let device = &alone["pytorch"]["devices"][0];
    assert_eq!((&device["device"], device.get("rank")), (&Value::from(0), None));
    assert_eq!(alone["pytorch"]["pinned_host"]["segments"], 1);
}

/// Whatever happened in other ranks meanwhile: an event has the number that it has in its own rank.
#[test]
fn an_event_has_one_number_in_every_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    process(12).write(directory.path(), "rank0.pickle");
    process(10).write(directory.path(), "rank1.pickle");
    let mut failing = process(8);
    failing.out_of_memory(0, 512 * MIB, 100 * MIB);
    failing.write(directory.path(), "rank2.pickle");
    let path = text_of(directory.path());
    let summary = answer(&["summary", path]);
    let (device, peak) = (&summary["pytorch"]["devices"][2], &summary["liveness"]["peak"]);
    assert_eq!((&device["rank"], &peak["device"]), (&2.into(), &2.into()), "the one that failed");
    let liveness = answer(&["liveness", path, "--peaks", "1", "--step", "peak"]);
    assert_eq!(liveness["scope"], "Rank 2, GPU 0");
    assert_eq!(
        liveness["steps"].as_array().map(Vec::len),
        device["events"].as_u64().map(|it| it as usize)
    );
    assert_eq!(liveness["peaks"][0]["step"], peak["step"]);
    assert_eq!(liveness["step"]["step"], device["requested_peak"]["event"]);
    assert_eq!(liveness["step"]["kind"], "alloc");
    let failed =
        summary["pytorch"]["insights"]["verdict"]["failed_event"].as_u64().expect("an event");
    let at = answer(&["liveness", path, "--step", &failed.to_string()]);
    assert_eq!(at["step"]["kind"], "oom", "{at}");
    // Each of the others by its own.
    let other = answer(&["liveness", path, "--device", "0", "--step", "peak"]);
    assert_eq!(other["step"]["step"], summary["pytorch"]["devices"][0]["requested_peak"]["event"]);
    let beyond = tilescope(&["liveness", path, "--step", "99", "--json"]);
    assert!(!beyond.status.success());
    for conclusion in summary["conclusions"].as_array().into_iter().flatten() {
        let text = conclusion["text"].as_str().expect("a text");
        assert!(text.starts_with("Rank "), "{text}");
    }
}

#[test]
fn a_device_is_asked_for_by_its_number_in_the_run() {
    let directory = tempfile::tempdir().expect("a directory");
    three_ranks(directory.path());
    let path = text_of(directory.path());
    for (device, title, most) in [
        ("1", "Rank 2, GPU 0", 12 * MIB),
        ("2", "Rank 10, GPU 0", 16 * MIB),
        ("-1", "Rank 0, pinned host memory", MIB),
        ("-3", "Rank 10, pinned host memory", MIB),
    ] {
        let liveness = answer(&["liveness", path, "--step", "peak", "--device", device]);
        assert_eq!(liveness["scope"], title);
        assert_eq!(liveness["step"]["not_always_live_bytes"], most, "{title}");
    }
    let output = tilescope(&["liveness", path, "--device", "3", "--json"]);
    assert!(!output.status.success());
}

#[test]
fn a_sweep_has_one_row_for_each_run_and_names_the_rank_that_counts() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, more) in [("splits_2", 8), ("splits_10", 0)] {
        for rank in 0..3 {
            let name = format!("{name}_rank{rank}.pickle");
            process(5 + more + rank % 2).write(directory.path(), &name);
        }
    }
    let path = text_of(directory.path());
    let sweep = swept_of(&["sweep", path]);
    let rows = sweep["rows"].as_array().expect("rows");
    let row = |row: &Value| {
        (row["variant"].as_str().map(str::to_owned), row["of"].as_str().map(str::to_owned))
    };
    let named = |name: &str| (Some(name.to_owned()), Some("Rank 1, GPU 0".to_owned()));
    assert_eq!(
        rows.iter().map(row).collect::<Vec<_>>(),
        [named("splits_2_rank*"), named("splits_10_rank*")]
    );
    assert_eq!(rows[0]["requested_peak_bytes"], 18 * MIB);
    let said = text(&["sweep", path]);
    assert!(
        said.contains("splits_2_rank*: its figures are those of Rank 1, GPU 0, one of 3 devices"),
        "{said}"
    );
    // Each is opened by its name; the directory holds both.
    let pattern = directory.path().join("splits_10_rank*.pickle");
    let summary = answer(&["summary", text_of(&pattern)]);
    assert_eq!(summary["pytorch"]["devices"].as_array().map(Vec::len), Some(3));
    let refused = json(&tilescope(&["summary", path, "--json"]));
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("splits_2_rank*.pickle") && !message.contains("rank0"), "{message}");
    // Ranks that are named one by one are compared with each other.
    let files = [0, 1].map(|rank| directory.path().join(format!("splits_2_rank{rank}.pickle")));
    let sweep = swept_of(&["sweep", text_of(&files[0]), text_of(&files[1])]);
    assert_eq!(sweep["rows"].as_array().map(Vec::len), Some(2));
    // Two runs of ranks are compared at the peaks of the ranks that had most.
    let other = directory.path().join("splits_2_rank*.pickle");
    let compared = answer(&["compare", text_of(&pattern), text_of(&other)]);
    assert_eq!(compared["schema"], "tilescope.compare/2");
    let difference = &compared["pytorch"]["device"];
    assert_eq!((&difference["source"], &difference["target"]), (&1.into(), &1.into()));
}

#[test]
fn what_lies_beside_a_rank_is_of_its_device() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut failing = process(8);
    failing.out_of_memory(0, 512 * MIB, 100 * MIB);
    process(12).write(directory.path(), "rank0.pickle");
    process(8).write(directory.path(), "rank1.pickle");
    failing.write(directory.path(), "rank2.pickle");
    let beside = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("a file");
    };
    beside(
        "rank2.pickle.oom.txt",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of \
         8.00 GiB of which 100.00 MiB is free.",
    );
    beside("rank1.pickle.memory_stats.json", r#"{"requested_bytes.all.peak": 12582912}"#);
    let run = open(directory.path());
    assert_eq!(run.allocator.stated.iter().map(|one| one.device).collect::<Vec<_>>(), [Some(2)]);
    let end = run.allocator.end().expect("an end");
    assert_eq!((end.ending, end.device), (Ended::OutOfMemory, Some(2)));
    let capacity =
        |place| run.allocator.stated_capacity(place).and_then(|text| text.capacity_bytes);
    assert_eq!([0, 1, 2].map(capacity), [None, None, Some(8 << 30)]);
    let summary = answer(&["summary", text_of(directory.path())]);
    let reason = summary["verdict"]["text"].as_str().expect("a reason");
    assert!(reason.starts_with("Rank 2, GPU 0: "), "{reason}");
    let claims = &summary["pytorch"]["claims_of_ranks"][0];
    assert_eq!((&claims["device"], &claims["rank"]), (&1.into(), &1.into()));
    assert_eq!(claims["figures"][0]["agrees"], true, "{claims}");
    assert!(summary["warnings"].as_array().expect("warnings").is_empty(), "{summary}");
}

#[test]
fn other_settings_of_a_rank_are_a_warning() {
    let directory = tempfile::tempdir().expect("a directory");
    process(8).write(directory.path(), "rank0.pickle");
    let mut other = process(8);
    other.set("max_split_size", 64 * MIB);
    other.write(directory.path(), "rank1.pickle");
    let said = messages(&open(directory.path()));
    assert!(matches!(&*said, [one] if one.contains("rank 1 has other settings")), "{said:?}");
}

#[test]
fn a_rank_that_cannot_be_read_is_a_warning_and_the_run_is_cut() {
    let whole = crate::common::pickle::pickle(&process(8).snapshot());
    let half = &whole[..whole.len() * 3 / 4];
    let of_two: &[(&str, &[u8], bool)] = &[
        ("cut", half, true),
        ("empty", b"", false),
        ("no pickle", b"not a pickle at all", false),
        ("another pickle", b"\x80\x04}.", false),
        ("a call", b"\x80\x04cos\nsystem\n(S'true'\ntR.", false),
    ];
    for (what, bytes, is_there) in of_two {
        let directory = tempfile::tempdir().expect("a directory");
        three_ranks(directory.path());
        let path = directory.path().join("memory_rank_3_a.pkl");
        std::fs::write(&path, bytes).expect("a file");
        let run = open(directory.path());
        let said = messages(&run).join("\n");
        assert!(run.allocator.is_cut, "{what}");
        let is_said = if *is_there { "ends at byte" } else { "rank 3 is not shown" };
        assert!(said.contains(is_said), "{what}: {said}");
        let ranks = replayed(&run).snapshot.devices.iter().filter_map(|device| device.rank);
        let ranks: Vec<u32> = ranks.map(|of| of.rank).collect();
        let expected = if *is_there { vec![0, 2, 3, 10] } else { vec![0, 2, 10] };
        assert_eq!(ranks, expected, "{what}");
        assert_eq!(run.allocator.end().map(|end| end.ending), Some(Ended::Cut), "{what}");
        // The figures of the others are theirs.
        let most = replayed(&run).device_facts().iter().map(|facts| facts.requested_peak.bytes);
        assert_eq!(most.max(), Some(16 * MIB), "{what}");
        // A rank whose file is whole and that failed did fail.
        let mut failing = process(8);
        failing.out_of_memory(0, 512 * MIB, 100 * MIB);
        failing.write(directory.path(), "memory_rank_2_a.pkl");
        let end = open(directory.path()).allocator.end().map(|end| (end.ending, end.device));
        assert_eq!(end, Some((Ended::OutOfMemory, Some(1))), "{what}");
        for command in ["summary", "liveness", "sweep"] {
            answer(&[command, text_of(directory.path())]);
        }
    }
}

#[test]
fn where_no_rank_can_be_read_the_first_says_why() {
    let directory = tempfile::tempdir().expect("a directory");
    for rank in 0..2 {
        let path = directory.path().join(format!("rank{rank}.pickle"));
        std::fs::write(path, b"\x80\x04X\x08\0\0\0segments.").expect("a file");
    }
    let refused = tilescope(&["summary", text_of(directory.path()), "--json"]);
    assert!(!refused.status.success());
    assert!(json(&refused)["error"]["message"].as_str().is_some_and(|text| text.contains("rank0")));
}

#[test]
fn a_thousand_ranks_are_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    for rank in 0..1000_u64 {
        process(2 + rank % 7).write(directory.path(), &format!("rank{rank}.pickle"));
    }
    let begun = std::time::Instant::now();
    let summary = answer(&["summary", text_of(directory.path())]);
    let devices = summary["pytorch"]["devices"].as_array().expect("devices");
    assert_eq!(devices.len(), 1000);
    assert_eq!(devices[999]["rank"], 999);
    let sweep = swept_of(&["sweep", text_of(directory.path())]);
    assert_eq!(sweep["rows"].as_array().map(Vec::len), Some(1));
    answer(&["liveness", text_of(directory.path()), "--step", "peak", "--device", "999"]);
    eprintln!("three commands on a thousand ranks: {:?}", begun.elapsed());
    assert!(begun.elapsed().as_secs() < 120);
}

#[test]
fn a_run_of_ranks_is_swept_by_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    three_ranks(directory.path());
    let pattern = directory.path().join("memory_rank_*_a.pkl");
    let sweep = swept_of(&["sweep", text_of(&pattern)]);
    assert_eq!(sweep["rows"].as_array().map(Vec::len), Some(1));
    assert!(sweep["rows"][0]["of"].as_str().is_some_and(|of| of.starts_with("Rank 10,")));
    let refused = tilescope(&["sweep", text_of(&pattern), "no such directory", "--json"]);
    let message = json(&refused)["error"]["message"].to_string();
    assert!(message.contains("no such directory"), "{message}");
}

#[test]
fn of_a_rank_without_events_nobody_knows_whether_it_ran() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut silent = process(6);
    silent.keep_last(0);
    silent.write(directory.path(), "a_rank0.pickle");
    process(12).write(directory.path(), "a_rank1.pickle");
    let whole = process(20).write(directory.path(), "whole.pickle");
    let pattern = directory.path().join("a_rank*.pickle");
    let end = open(&pattern).allocator.end().map(|end| (end.ending, end.device));
    assert_eq!(end, Some((Ended::NotRecorded, Some(1))));
    let summary = answer(&["summary", text_of(&pattern)]);
    let reason = summary["verdict"]["text"].as_str().expect("a reason");
    assert!(reason.starts_with("The snapshot of Rank 0, GPU 0 has no events"), "{reason}");
    let said = text(&["summary", text_of(&pattern)]);
    let (_, sections) = said.split_once("\nRank 0, GPU 0\n").expect("a section of rank 0");
    let of_rank = sections.split_once("\n\n").expect("a section after it").0;
    assert!(of_rank.contains("none recorded") && !of_rank.contains("peak"), "{said}");
    let path = text_of(directory.path());
    let sweep = swept_of(&["sweep", path]);
    assert_eq!((&sweep["reference"], &sweep["least_needed"]), (&"whole".into(), &"whole".into()));
    assert!(sweep["rows"][0]["finished"].is_null(), "{sweep}");
    let refused = tilescope(&["sweep", path, "--reference", "a_rank*"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&["sweep", path]);
    assert!(
        said.contains("If a rank has no events, neither its end nor its peak is known"),
        "{said}"
    );
    let compared = answer(&["compare", text_of(&whole), text_of(&pattern), "--capacity", "1GiB"]);
    let first = compared["conclusions"][0]["text"].as_str().expect("a conclusion");
    assert!(first.contains("whether it fits is not known: a rank has no events"), "{first}");
}

#[test]
fn numbers_that_are_missing_between_ranks_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    three_ranks(directory.path());
    let said = messages(&open(directory.path())).join("\n");
    assert!(said.contains("no file of rank 1, ranks 3 to 9, so"), "{said}");
    let log = directory.path().join("train.log");
    std::fs::write(&log, "epoch 1\n").expect("a log");
    let output = tilescope(&["diagnose", text_of(&log), text_of(directory.path())]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no file of rank 1, ranks 3 to 9, so"), "{said}");
    for rank in [5, 6] {
        process(8).write(directory.path(), &format!("rank{rank}.pickle"));
    }
    // Those before the first may lie elsewhere.
    let said = messages(&open(&directory.path().join("rank*.pickle")));
    assert_eq!(said, [""; 0]);
}

#[test]
fn an_error_text_beside_a_rank_that_cannot_be_read_says_that_it_failed() {
    let directory = tempfile::tempdir().expect("a directory");
    process(12).write(directory.path(), "rank0.pickle");
    let beside = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("a file");
    };
    beside("rank1.pickle", "");
    beside(
        "rank1.pickle.oom.txt",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 MiB. GPU 0 has a total capacity of \
         8.00 GiB of which 1.00 MiB is free.",
    );
    let run = open(directory.path());
    let end = run.allocator.end().expect("an end");
    assert_eq!(end.ending, Ended::OutOfMemory);
    assert_eq!(run.allocator.stated_capacity(0), None, "it is not about rank 0");
    let verdict = answer(&["summary", text_of(directory.path())])["verdict"].clone();
    let reason = verdict["text"].as_str().expect("a reason");
    let expected = "rank1.pickle.oom.txt says that a request of 12.0 MiB failed on rank 1";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(verdict["capacity_bytes"].is_null(), "{verdict}");
}

#[test]
fn only_the_file_of_a_rank_has_an_index_and_logs_of_ranks_are_no_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = three_ranks(directory.path());
    let output = tilescope(&["index", text_of(directory.path()), "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", json(&output));
    let error = json(&output)["error"].to_string();
    assert!(error.contains("is a run of several ranks, which has no index"), "{error}");
    // It is said before anything is read.
    let output = tilescope(&["index", text_of(&files[0]), text_of(directory.path()), "--json"]);
    assert_eq!(output.status.code(), Some(2));
    for rank in 0..2 {
        std::fs::write(directory.path().join(format!("rank{rank}.txt")), "a log").expect("a file");
    }
    let logs = directory.path().join("rank*.txt");
    let found = crate::common::found::<SnapshotFiles>(&logs);
    assert!(found.is_err_and(|error| error.kind == ErrorKind::NotFound), "no run");
}

#[test]
fn ranks_are_one_run_of_a_lake() {
    let directory = tempfile::tempdir().expect("a directory");
    three_ranks(directory.path());
    let pattern = directory.path().join("memory_rank_*_a.pkl");
    let lake = tempfile::tempdir().expect("a directory");
    let export =
        |path: &Path| answer(&["export", text_of(path), "--parquet", text_of(lake.path())]);
    let (of_pattern, of_directory) = (export(&pattern), export(directory.path()));
    let runs = of_pattern["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1, "{of_pattern}");
    assert_eq!(runs[0]["name"], "memory_rank_*_a.pkl");
    assert_eq!(runs[0]["run"], of_directory["runs"][0]["run"], "the same, however it is named");
    // Three devices, and what each rank has pinned.
    assert_eq!(runs[0]["tables"]["devices"]["rows"], 6, "{of_pattern}");
    let summary = answer(&["summary", text_of(&pattern)]);
    let events: u64 = summary["pytorch"]["devices"]
        .as_array()
        .expect("devices")
        .iter()
        .chain(summary["pytorch"]["pinned_host_of_ranks"].as_array().expect("hosts"))
        .filter_map(|device| device["events"].as_u64())
        .sum();
    assert_eq!(runs[0]["tables"]["events"]["rows"], events);
    assert!(of_pattern["warnings"].to_string().contains("no file of rank 1"), "{of_pattern}");
    // Another rank makes another run.
    process(7).write(directory.path(), "memory_rank_1_a.pkl");
    assert_ne!(export(&pattern)["runs"][0]["run"], runs[0]["run"]);
    let absent = directory.path().join("rank*.pickle");
    let arguments = ["export", text_of(&absent), "--parquet", text_of(lake.path()), "--json"];
    assert!(!tilescope(&arguments).status.success());
}

#[test]
fn a_message_is_of_the_rank_in_which_a_request_of_its_size_failed() {
    let directory = tempfile::tempdir().expect("a directory");
    process(12).write(directory.path(), "rank0.pickle");
    let mut failing = process(8);
    failing.out_of_memory(0, 512 * MIB, 100 * MIB);
    failing.write(directory.path(), "rank2.pickle");
    let elsewhere = tempfile::tempdir().expect("a directory");
    let log = elsewhere.path().join("log.txt");
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total \
                   capacity of 8.00 GiB of which 100.00 MiB is free.";
    std::fs::write(&log, message).expect("a file");
    let pattern = directory.path().join("rank*.pickle");
    for run in [&*pattern, directory.path()] {
        let found = answer(&["diagnose", text_of(&log), text_of(run)]);
        let snapshot = &found["findings"][0]["snapshot"];
        let named = [&snapshot["device"], &snapshot["rank"], &snapshot["gpu"]];
        assert_eq!(named, [&Value::from(1), &Value::from(2), &Value::from(0)], "{found}");
    }
    let said = text(&["diagnose", text_of(&log), text_of(&pattern)]);
    assert!(said.contains("rank*.pickle, Rank 2, GPU 0: the request failed at event"), "{said}");
    let alone = answer(&["diagnose", text_of(&pattern)]);
    let devices = alone["snapshots"][0]["devices"].as_array().expect("devices");
    assert_eq!(devices.len(), 2);
    assert_eq!((&devices[1]["rank"], &devices[1]["failed"]["event"]), (&2.into(), &7.into()));
    // The text beside a rank is of that rank, whatever failed in others.
    let beside = directory.path().join("rank0.pickle.oom.txt");
    std::fs::write(&beside, message).expect("a file");
    let found = answer(&["diagnose", text_of(&beside), text_of(&pattern)]);
    let snapshot = &found["findings"][0]["snapshot"];
    assert_eq!((&snapshot["by"], &snapshot["rank"]), (&"name".into(), &0.into()));
    assert!(snapshot["event"].is_null(), "{snapshot}");
}
