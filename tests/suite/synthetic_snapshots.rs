//! Synthetic memory snapshots: what is written is read back, and the replay finds what the allocator counted itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::seeded::Seeded;
use crate::common::{json, tilescope};
use proptest::prelude::*;
use tilescope::format::Progress;
use tilescope::store::snapshot::{Action, Snapshot};
use tilescope::synth::transformer::Transformer;
use tilescope::systems::pytorch::allocator::device_facts::DeviceFacts;
use tilescope::systems::pytorch::files::SnapshotFiles;
use tilescope::systems::pytorch::run::{RunContents, SnapshotRun};
use tilescope::systems::pytorch::synth::caching_allocator::{AllocatorOptions, CardMemory, Event};
use tilescope::systems::pytorch::synth::training::{self, Tape};
use tilescope::systems::pytorch::synth::{SnapshotOptions, steps_for_size, write_snapshot};

const MIB: u64 = 1 << 20;

/// Keeps everything that happens.
#[derive(Default)]
struct All(Vec<(Event, u64)>);

impl Tape for All {
    fn event(&mut self, event: &Event, time: u64) {
        self.0.push((*event, time));
    }

    fn goes_on(&mut self) -> bool {
        true
    }
}

fn open(path: &Path) -> SnapshotRun {
    let progress = Progress::default();
    let files = crate::common::found::<SnapshotFiles>(path).expect("a snapshot");
    SnapshotRun::open(&files, &progress).unwrap().unwrap()
}

fn snapshot_options() -> impl Strategy<Value = SnapshotOptions> {
    let network = (1_u64..9, 1_u64..300, 1_u64..9, 1_u64..400, 1_u64..5000, 1_u64..40, 1_u64..3);
    let network =
        network.prop_map(|(layers, width, heads, sequence, vocabulary, batch, precision)| {
            Transformer {
                layers,
                width,
                heads,
                sequence,
                vocabulary,
                batch,
                element_bytes: 2 * precision,
            }
        });
    let settings =
        (proptest::option::of(21_u64..80), 0_u64..17).prop_map(|(mebibytes, divisions)| {
            AllocatorOptions {
                most_split_bytes: mebibytes.map(|mebibytes| mebibytes * MIB),
                roundup_divisions: divisions,
            }
        });
    let card = proptest::option::of((1_u64..3000, 0_u64..200)).prop_map(|card| match card {
        Some((capacity, other)) => {
            CardMemory { capacity_bytes: Some(capacity * MIB), other_bytes: other * MIB }
        }
        None => CardMemory::default(),
    });
    let run = (1_u64..4, 0_u64..10, any::<bool>(), 1_u32..4, any::<bool>());
    let cut = proptest::option::of(1_u64..3000);
    (network, settings, card, run, cut, any::<u64>()).prop_map(
        |(network, settings, card, (steps, segments, goes_on, streams, varied), cut, seed)| {
            SnapshotOptions {
                network,
                steps,
                checkpoint_segments: segments,
                settings,
                card,
                goes_on_after_failure: goes_on,
                streams,
                has_varied_lengths: varied,
                most_events: cut.unwrap_or(u64::MAX),
                seed,
            }
        },
    )
}

/// Every event of the file is what happened.
fn check_events(snapshot: &Snapshot, happened: &[(Event, u64)]) {
    let events = &snapshot.events;
    assert_eq!(events.len(), happened.len());
    for (row, (event, time)) in happened.iter().enumerate() {
        let stream = snapshot.streams[events.streams[row] as usize];
        assert_eq!(stream == 0, event.stream == 0, "event {row}");
        let found = (events.actions[row], events.addresses[row], events.sizes[row]);
        assert_eq!(found, (event.action, event.address, event.bytes), "event {row}");
        assert_eq!(events.time(row), Some(i64::try_from(*time).unwrap()), "event {row}");
        let text = |name| snapshot.texts.get(name);
        let frames: Vec<(String, u32, String)> = snapshot
            .frames_of(events.stacks[row])
            .map(|frame| (text(frame.file).into(), frame.line, text(frame.name).into()))
            .collect();
        let written = event.capture.stack.frames();
        let written: Vec<(String, u32, String)> =
            written.iter().map(|frame| (frame.0.into(), frame.1, frame.2.into())).collect();
        assert_eq!(frames, written, "event {row}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_is_read_back(options in snapshot_options()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.pickle");
        let outcome = write_snapshot(&options, &path, &Progress::default()).unwrap();
        let mut all = All::default();
        training::run(&options, &mut all);
        prop_assert_eq!(all.0.len() as u64, outcome.events);
        let kept = outcome.events.min(options.most_events);
        let is_cut = kept < outcome.events;
        let happened = &all.0[(outcome.events - kept) as usize..];

        let run = open(&path);
        let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("no snapshot") };
        let snapshot = &replayed.snapshot;
        check_events(snapshot, happened);
        prop_assert!(run.report.warnings.list().is_empty(), "{:?}", run.report.warnings.list());
        let counted = &outcome.statistics;
        prop_assert_eq!(snapshot.segments.len() as u64, counted.segment.all.current);
        prop_assert_eq!(snapshot.annotations.len(), outcome.marks.len());
        let Some(replay) = replayed.replays.first() else {
            // Not even the first parameter found room, and that event is cut off or the only one.
            prop_assert!(outcome.segments.is_empty());
            return Ok(());
        };
        prop_assert_eq!((replay.mismatches, replay.other_sizes), (0, 0));
        // Blocks have the sizes that the allocator gave them.
        for row in 0..replay.lives.len() {
            if let Some(event) = replay.lives.allocation(row) {
                let (event, _) = happened[event as usize];
                prop_assert_eq!(event.action, Action::Alloc);
                prop_assert_eq!(replay.lives.bytes[row], event.block_bytes, "row {}", row);
            }
        }
        let facts = DeviceFacts::of(replayed, 0).unwrap();
        prop_assert_eq!(facts.end.allocated_bytes, counted.allocated_bytes.all.current);
        prop_assert_eq!(facts.end.active_bytes, counted.active_bytes.all.current);
        prop_assert_eq!(facts.end.reserved_bytes, counted.reserved_bytes.all.current);
        if !is_cut {
            prop_assert!(replay.is_complete && replay.is_exact);
            prop_assert_eq!(replay.requested_peak.bytes, counted.requested_bytes.all.peak);
            prop_assert_eq!(replay.allocated_peak.bytes, counted.allocated_bytes.all.peak);
            prop_assert_eq!(replay.active_peak.bytes, counted.active_bytes.all.peak);
            prop_assert_eq!(replay.reserved_peak.bytes, counted.reserved_bytes.all.peak);
            let claims = run.allocator.claims.first().unwrap();
            prop_assert_eq!(claims.allocated.peak, Some(counted.allocated_bytes.all.peak));
        }
        // A failed request is an event, a text that the same program explains, and within what the card has.
        let failures = happened.iter().filter(|(event, _)| event.action == Action::OutOfMemory);
        prop_assert!(is_cut || failures.count() as u64 == counted.failed_requests);
        let text = path.with_extension("pickle.oom.txt");
        prop_assert_eq!(text.is_file(), counted.failed_requests > 0);
        let most = counted.reserved_bytes.all.peak + options.card.other_bytes;
        prop_assert!(most <= options.card.capacity() || counted.reserved_bytes.all.peak == 0);
    }
}

/// A run of some steps, written by the command.
fn written(directory: &Path, options: &[&str]) -> PathBuf {
    let path = directory.join("run.pickle");
    let mut words = vec!["synth", "--system", "pytorch", "-o", path.to_str().unwrap()];
    words.extend(options);
    let output = tilescope(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

#[test]
fn the_command_writes_what_the_other_commands_read() {
    let directory = tempfile::tempdir().unwrap();
    let options = ["--layers", "4", "--steps", "2", "--capacity", "300MiB", "--other", "50MiB"];
    let path = written(directory.path(), &options);
    let summary = json(&tilescope(&["summary", path.to_str().unwrap(), "--json"]));
    assert_eq!(summary["warnings"], serde_json::json!([]));
    let device = &summary["pytorch"]["devices"][0];
    assert_eq!(device["replay_mismatches"], 0);
    assert!(device["oom"].is_object() || device["oom"].is_array(), "{}", device["oom"]);
    // The error beside it is explained with the capacity that it states.
    let text = path.with_extension("pickle.oom.txt");
    let said = json(&tilescope(&["diagnose", text.to_str().unwrap(), "--json"]));
    assert_eq!(said["findings"][0]["limit_bytes"], 300 * MIB);
    let app = std::fs::read_to_string(directory.path().join("app.json")).unwrap();
    assert!(app.contains("\"smi_mib\""), "{app}");
    // Nothing is overwritten, and options of another system are told.
    let again = tilescope(&["synth", "--system", "pytorch", "-o", path.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(4));
    for (system, option) in [("pytorch", "--ipus"), ("poplar", "--layers")] {
        let words = ["synth", "--system", system, option, "2", "-o", "nowhere"];
        let output = tilescope(&words);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(option), "{said}");
    }
}

#[test]
fn the_samples_are_what_their_commands_write() {
    for (name, options) in crate::common::sample_snapshot_options() {
        let directory = tempfile::tempdir().unwrap();
        let shipped = crate::common::in_package("sample_profiles").join(name);
        let file = shipped.file_name().unwrap();
        write_snapshot(&options, &directory.path().join(file), &Progress::default()).unwrap();
        let files = std::fs::read_dir(directory.path()).unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        for file in names {
            let read = |path: PathBuf| std::fs::read(path).unwrap();
            let is_same = read(directory.path().join(&file)) == read(shipped.with_file_name(&file));
            assert!(
                is_same,
                "{name}, {file:?}: run the command of sample_profiles/README.md again"
            );
        }
    }
}

#[test]
fn a_snapshot_becomes_as_large_as_it_shall() {
    let options = SnapshotOptions { checkpoint_segments: 2, ..SnapshotOptions::default() };
    let wanted = 5_000_000;
    let steps = steps_for_size(&options, wanted);
    let options = SnapshotOptions { steps, ..options };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pickle");
    write_snapshot(&options, &path, &Progress::default()).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!((wanted..wanted + wanted / 10).contains(&bytes), "{bytes}");
}

#[test]
fn a_cancelled_snapshot_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pickle");
    let progress = Progress::default();
    progress.cancel();
    assert!(write_snapshot(&SnapshotOptions::default(), &path, &progress).is_err());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn python_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut seeded = Seeded(7);
    let segments = (1 + seeded.below(3)).to_string();
    let path = written(
        directory.path(),
        &["--streams", "2", "--steps", "4", "--checkpoint-segments", &segments, "--varied-lengths"],
    );
    let program = "import pickle, sys, collections\n\
                   root = pickle.load(open(sys.argv[1], 'rb'))\n\
                   events = root['device_traces'][0]\n\
                   print(len(root['segments']), len(events), sum(e['action'] == 'alloc' for e in events))\n\
                   print(len({id(e['frames']) for e in events}) < len(events))\n\
                   print(sum(b['frames'] is not None and any(b['frames'] is e['frames'] for e in events)\n\
                   \x20         for s in root['segments'] for b in s['blocks'] if b['state'] != 'inactive'))";
    let python = Command::new("python3").arg("-c").arg(program).arg(&path).output();
    let output = match python {
        Ok(output) if output.status.success() => output,
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: python3 is absent: {error}");
            return;
        }
    };
    let run = open(&path);
    let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("no snapshot") };
    let snapshot = &replayed.snapshot;
    let allocations = snapshot.events.actions.iter().filter(|it| **it == Action::Alloc).count();
    let live = snapshot.blocks.iter().filter(|block| block.is_active()).count();
    let expected = format!(
        "{} {} {allocations}\nTrue\n{live}\n",
        snapshot.segments.len(),
        snapshot.events.len()
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
