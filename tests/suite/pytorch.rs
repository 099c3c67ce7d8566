//! PyTorch snapshots: the figures that PyTorch itself and the notes about real files give.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::seeded::Seeded;
use crate::common::{in_package, json, tilescope};
use rayon::prelude::*;
use serde_json::Value;
use tilescope::analysis::comparison::time_slots::TimeSlots;
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::liveness::scope_curve::scope_curve;
use tilescope::cli::summary::Summary;
use tilescope::format::Progress;
use tilescope::run::AreasBy;
use tilescope::store::DeviceId;
use tilescope::systems::pytorch::allocator::curves::{
    BlockCurve, Devices, block_curve, reserved_curve, stacked_areas,
};
use tilescope::systems::pytorch::allocator::segment_map::{segment_axis, segments_at};
use tilescope::systems::pytorch::areas::step_times;
use tilescope::systems::pytorch::files::SnapshotFiles;
use tilescope::systems::pytorch::run::{RunContents, SnapshotRun};

/// Real files with their figures, which are not part of this package; says so where they are absent.
fn profiles() -> Option<PathBuf> {
    let path = in_package("../shared/profiles/pytorch");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: ../shared/profiles/pytorch is absent");
    None
}

/// The files below a directory whose names end so, in the order of their paths.
fn files_with_ending(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with_ending(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn summary(path: &Path) -> Value {
    let output = tilescope(&["summary", &path.to_string_lossy(), "--json"]);
    assert!(output.status.success(), "{}: {}", path.display(), json(&output));
    json(&output)
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// Every key of `expected` is in `found` with that value; of lists and of objects within, all of it.
#[track_caller]
fn assert_has(found: &Value, expected: &Value, file: &str) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[key], value, "{file}: {key}");
    }
}

#[test]
fn every_real_snapshot_gives_the_figures_that_are_known_of_it() {
    let Some(profiles) = profiles() else { return };
    let files = files_with_ending(&profiles, ".pickle");
    assert!(files.len() >= 18, "{files:?}");
    for path in files {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut expected = read_json(&path.with_extension("expected.json"));
        let file = expected.as_object_mut().expect("an object").remove("file");
        assert_eq!(file, Some(Value::from(name.as_str())));
        let summary = summary(&path);
        assert_eq!(summary["schema"], "tilescope.summary/2");
        assert_eq!(summary["source"]["system"], "pytorch");
        assert_has(&summary["pytorch"], &expected, &name);
        assert_eq!(summary["warnings"], Value::Array(Vec::new()), "{name}");
        // What PyTorch states beside it is what comes out.
        let claims = &summary["pytorch"]["claims"];
        let has_claims = path.with_extension("pickle.memory_stats.json").is_file();
        assert_eq!(claims.is_object(), has_claims, "{name}");
        for claim in claims["figures"].as_array().into_iter().flatten() {
            assert_eq!(claim["agrees"], true, "{name}: {claim}");
        }
        if has_claims {
            assert_eq!(claims["figures"].as_array().map(Vec::len), Some(8), "{name}");
        }
    }
}

#[test]
fn both_forms_of_a_memory_timeline_give_the_figures_that_are_known_of_them() {
    let Some(profiles) = profiles() else { return };
    let expected = read_json(&profiles.join("memory_timeline_cpu.expected.json"));
    for (name, facts) in expected.as_object().expect("an object") {
        let summary = summary(&profiles.join(name));
        assert_has(&summary["pytorch"], facts, name);
        assert_eq!(summary["source"]["system"], "pytorch");
    }
}

#[test]
fn categories_and_frames_of_the_peak_add_up_to_it() {
    let Some(profiles) = profiles() else { return };
    for path in files_with_ending(&profiles, ".pickle") {
        let summary = summary(&path);
        let (peak, name) = (&summary["liveness"]["peak"], path.display());
        for by in ["by_category", "by_module", "by_line", "largest"] {
            let rows = peak[by].as_array().expect("rows");
            let sum: u64 = rows.iter().filter_map(|row| row["bytes"].as_u64()).sum();
            assert!(rows.is_empty() || peak["bytes"] == sum, "{name}, {by}: {sum}");
            assert!(!rows.is_empty() || by == "by_module" || peak["bytes"] == 0, "{name}, {by}");
        }
        let devices = summary["pytorch"]["devices"].as_array().expect("devices");
        let of = devices.iter().find(|device| device["device"] == peak["device"]);
        let whole = of.map(|device| &device["requested_peak"]["bytes"]);
        assert_eq!(whole, Some(&peak["bytes"]), "{name}");
    }
    let base = summary(&profiles.join("train_base.pickle"));
    let rows = base["liveness"]["peak"]["by_category"].as_array().expect("categories");
    let bytes = |row: &Value| row["bytes"].as_u64().expect("bytes");
    let by_category: HashMap<&str, u64> =
        rows.iter().map(|row| (row["name"].as_str().expect("a name"), bytes(row))).collect();
    // The notes have these two by the stacks alone.
    assert_eq!(by_category["optimizer_state"], 184_868_864);
    assert_eq!(by_category["parameter"], 92_434_432);
    let activation = by_category["activation"];
    // Below forward 517,275,648, and what the loss keeps outside of modules, of 33,570,824 there.
    assert!((500_000_000..550_846_472).contains(&activation), "{activation}");
}

/// A snapshot, open and with its report filled.
fn open(path: &Path) -> SnapshotRun {
    let progress = Progress::default();
    let files = crate::common::found::<SnapshotFiles>(path).expect("a snapshot");
    let run = SnapshotRun::open(&files, &progress).expect("a snapshot").expect("not cancelled");
    run.fill_report(&progress);
    run
}

#[test]
fn the_report_of_every_snapshot_has_its_curves_at_every_step() {
    let Some(profiles) = profiles() else { return };
    for path in files_with_ending(&profiles, ".pickle") {
        let name = path.display().to_string();
        let run = open(&path);
        let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("{name}") };
        let report = &*run.report;
        let arenas = report.arenas.get().expect("segments");
        for ((device, replay), facts) in replayed.devices().zip(replayed.device_facts()) {
            let id = DeviceId(u32::try_from(device.number).expect("a GPU"));
            let curve = scope_curve(report, Scope::Device(id), &|| false).expect("a curve");
            let always = curve.always_live.at(0).expect("a level");
            let peak = curve.not_always_live.iter().max().copied().unwrap_or(0) + always;
            let start = replay.start.requested_bytes;
            assert_eq!(peak.max(start), facts.requested_peak.bytes, "{name}");
            // What lies in the segments adds up to the active curve, step by step.
            let mut active = vec![0_u64; curve.not_always_live.len()];
            let of_device = arenas.ids.as_slice().iter().filter(|id| {
                arenas.device(**id) == Some(DeviceId(u32::try_from(device.number).expect("one")))
            });
            for arena in of_device {
                let curve = scope_curve(report, Scope::Arena(*arena), &|| false).expect("a curve");
                let capacity = arenas.capacity(*arena).expect("bytes");
                for (sum, bytes) in active.iter_mut().zip(&curve.not_always_live) {
                    let bytes = bytes + curve.always_live.at(0).expect("a level");
                    assert!(bytes <= capacity, "{name}, {arena}: {bytes} of {capacity}");
                    *sum += bytes;
                }
            }
            let peak = active.iter().max().copied().unwrap_or(0);
            let events = u32::try_from(device.events.len()).expect("few");
            let before = |event: i64| event == -1 && events > 0;
            if !before(replay.active_peak.event) {
                assert_eq!(peak, facts.active_peak_bytes, "{name}");
            }
            if events > 0 {
                let end = active.last().copied();
                assert_eq!(end, Some(facts.end.active_bytes), "{name}, at the end");
            }
        }
    }
}

#[test]
fn liveness_lists_what_is_alive_at_the_peak() {
    let Some(profiles) = profiles() else { return };
    let path = profiles.join("train_base.pickle");
    let output = tilescope(&["liveness", &path.to_string_lossy(), "--step", "peak", "--json"]);
    let liveness = json(&output);
    assert_eq!(liveness["step"]["step"], 1800);
    assert_eq!(liveness["step"]["not_always_live_bytes"], 903_778_312);
    assert_eq!(liveness["steps"].as_array().map(Vec::len), Some(4193));
    let variables = liveness["variables"].as_array().expect("frames");
    let sum: u64 = variables.iter().filter_map(|variable| variable["bytes"].as_u64()).sum();
    assert_eq!(sum, 903_778_312);
    let none = variables.iter().find(|variable| variable["name"] == "(no Python stack)");
    assert_eq!(none.map(|none| &none["bytes"]), Some(&Value::from(75_628_544)));
    let two = profiles.join("two_devices.pickle");
    let output = tilescope(&["liveness", &two.to_string_lossy(), "--device", "1", "--json"]);
    let liveness = json(&output);
    // What a GPU has is not in the file, and is not guessed from what was reserved.
    assert_eq!((&liveness["scope"], &liveness["limit_bytes"]), (&"GPU 1".into(), &Value::Null));
    let output = tilescope(&["liveness", &two.to_string_lossy(), "--device", "2", "--json"]);
    assert_eq!(json(&output)["error"]["kind"], "usage");
}

#[test]
fn the_text_is_in_words_of_pytorch() {
    let Some(profiles) = profiles() else { return };
    for name in ["train_oom.pickle", "edge_meta_torch2.15.0.pickle", "memory_timeline_cpu.json"] {
        let output = tilescope(&["summary", &profiles.join(name).to_string_lossy()]);
        assert!(output.status.success(), "{name}");
        let text = String::from_utf8(output.stdout).expect("text").to_lowercase();
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        assert!(!words.any(|word| ["tile", "tiles", "ipu", "poplar"].contains(&word)), "{text}");
        assert!(text.contains("peak"), "{text}");
    }
    let output = tilescope(&["tiles", &profiles.join("train_oom.pickle").to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("summary"));
}

/// What a file gives that has been damaged: an error, or a run whose report can be filled.
fn survives(bytes: &[u8], path: &Path) -> Result<Vec<String>, String> {
    std::fs::write(path, bytes).expect("a file");
    let progress = Progress::default();
    let files = crate::common::found::<SnapshotFiles>(path).map_err(|error| error.message)?;
    let run = SnapshotRun::open(&files, &progress).map_err(|error| error.message)?;
    let run = run.expect("not cancelled");
    run.fill_report(&progress);
    drop(serde_json::to_value(Summary::of(&Arc::new(run.derived()), &progress)).expect("JSON"));
    Ok(run.report.warnings.list().into_iter().map(|warning| warning.message).collect())
}

#[test]
fn files_that_are_cut_or_changed_give_a_message_or_a_warning() {
    let Some(profiles) = profiles() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for path in files_with_ending(&profiles, ".pickle") {
        let whole = std::fs::read(&path).expect("a file");
        let step = if whole.len() < 6000 { 1 } else { 1000 };
        if step == 1000 && !path.ends_with("train_ckpt.pickle") {
            continue;
        }
        (0..whole.len()).into_par_iter().step_by(step).for_each(|end| {
            let said = survives(&whole[..end], &directory.path().join(end.to_string()));
            assert!(said.is_err() || said.is_ok_and(|said| !said.is_empty()), "{end}");
        });
    }
    // Bytes are flipped by a generator whose seed is the number of the round.
    let small = std::fs::read(profiles.join("edge_streams_torch2.15.0.pickle")).expect("a file");
    let large = std::fs::read(profiles.join("edge_ring.pickle")).expect("a file");
    let read = (0..2000_u64).into_par_iter().filter(|seed| {
        let mut bytes = if seed % 2 == 0 { small.clone() } else { large.clone() };
        let mut seeded = Seeded(*seed);
        for _ in 0..=seed % 4 {
            let at = seeded.place(bytes.len());
            bytes[at] ^= u8::try_from(1 + seeded.below(255)).expect("below 256");
        }
        let said = survives(&bytes, &directory.path().join(format!("seed {seed}")));
        assert!(!said.as_ref().is_err_and(String::is_empty), "{seed}");
        said.is_ok()
    });
    let read = read.count();
    assert!((200..1800).contains(&read), "{read} of 2000 read");
}

fn sweep(arguments: &[&str]) -> Value {
    let output = tilescope(&[&["sweep", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", json(&output));
    crate::common::swept(&json(&output))
}

/// A table with the keys that are known of its rows.
fn with_known(mut table: Value, expected: &Value) -> Value {
    let known = expected["rows"].as_array().expect("rows");
    let rows = table["rows"].as_array_mut().expect("rows");
    assert_eq!(rows.len(), known.len());
    let keep = |found: &mut Value, known: &Value| {
        let known = known.as_object().expect("an object");
        found.as_object_mut().expect("an object").retain(|key, _| known.contains_key(key));
    };
    for (row, known) in rows.iter_mut().zip(known) {
        keep(row, known);
        keep(&mut row["percent"], &known["percent"]);
    }
    table
}

#[test]
fn the_table_of_variants_is_the_one_that_is_known() {
    let Some(profiles) = profiles() else { return };
    let splits = profiles.join("splits");
    let expected = read_json(&splits.join("expected.table.json"));
    let path = splits.to_string_lossy().into_owned();
    let cases: [(&str, &[&str]); 3] = [
        ("plain", &[]),
        ("capacity_7956MiB_other_600MiB", &["--capacity", "7956MiB", "--other", "600MiB"]),
        ("capacity_4GiB", &["--capacity", "4GiB"]),
    ];
    assert_eq!(expected.as_object().expect("tables").len(), cases.len());
    for (name, options) in cases {
        let found = with_known(sweep(&[&[&*path], options].concat()), &expected[name]);
        assert_has(&found, &expected[name], name);
        assert_eq!(found["least_needed"], "splits_4", "the best lies in the middle");
    }
    let files = ["train_base.pickle", "train_ckpt.pickle"]
        .map(|name| profiles.join(name).to_string_lossy().into_owned());
    let expected = read_json(&profiles.join("train.expected.table.json"));
    let found = with_known(sweep(&[&files[1], &files[0]]), &expected);
    assert_has(&found, &expected, "train");
    let named = sweep(&[&files[0], &files[1], "--reference", "train_ckpt"]);
    assert_eq!(named["rows"][1]["percent"]["max_allocated_bytes"], 100.0);
    let wrong = tilescope(&["sweep", &path, "--reference", "splits_3"]);
    assert_eq!(wrong.status.code(), Some(2));
    let text = tilescope(&["sweep", &path, "--capacity", "7956MiB", "--other", "600MiB"]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("out of memory") && text.contains("75.6 %"), "{text}");
    assert!(!text.to_lowercase().contains("ipu"), "{text}");
}

#[test]
fn settings_of_app_json_that_vary_have_a_column_and_so_has_smi() {
    let Some(profiles) = profiles() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for (name, splits, smi) in [("train_base", 0, 1224), ("train_ckpt", 2, 890)] {
        let own = directory.path().join(name);
        std::fs::create_dir(&own).expect("a directory");
        let file = profiles.join(name).with_extension("pickle");
        std::fs::copy(file, own.join("snapshot.pickle")).expect("a copy");
        let app = format!("{{\"splits\": {splits}, \"smi_mib\": {smi}, \"model\": \"six\"}}");
        std::fs::write(own.join("app.json"), app).expect("a file");
    }
    let found = sweep(&[&directory.path().to_string_lossy()]);
    let rows = found["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["variant"].as_str()).collect();
    assert_eq!(names, ["train_base/snapshot", "train_ckpt/snapshot"]);
    let splits = rows.iter().map(|row| row["settings"]["app.splits"].clone());
    assert_eq!(splits.collect::<Vec<_>>(), [0, 2]);
    assert_eq!(rows[1]["smi_bytes"], 890_u64 << 20);
    assert_eq!(rows[1]["percent"]["smi_bytes"], 72.7);
    assert_eq!(rows[1]["max_allocated_from"], "replay", "no statistics lie beside it");
}

#[test]
fn a_snapshot_that_is_cut_is_marked_and_compared_with_nothing() {
    let Some(profiles) = profiles() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let copy = |name: &str, to: &str, share: usize| {
        let whole = std::fs::read(profiles.join(name)).expect("a file");
        std::fs::write(directory.path().join(to), &whole[..whole.len() * share / 100])
            .expect("a file");
    };
    // Less was read of it than of any other, so it would be the reference and the least.
    copy("splits/splits_4.pickle", "splits_1.pickle", 90);
    copy("splits/splits_2.pickle", "splits_2.pickle", 100);
    copy("splits/splits_8.pickle", "splits_8.pickle", 100);
    let path = directory.path().to_string_lossy().into_owned();
    let found = sweep(&[&path]);
    assert_eq!(
        (&found["reference"], &found["least_needed"]),
        (&"splits_2".into(), &"splits_8".into())
    );
    let cut = &found["rows"][0];
    assert_eq!(
        (&cut["variant"], &cut["verdict"]["cause"], &cut["finished"]),
        (&"splits_1".into(), &"cut".into(), &Value::Null)
    );
    assert_eq!(cut["percent"]["max_allocated_bytes"], Value::Null);
    let warnings = found["warnings"].as_array().expect("warnings").iter();
    assert!(
        warnings.clone().any(|warning| warning.to_string().contains("are not compared")),
        "{found}"
    );
    let named = tilescope(&["sweep", &path, "--reference", "splits_1"]);
    assert_eq!(named.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&named.stderr).contains("is cut"));
    let text = tilescope(&["sweep", &path]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("file is cut"));
}

/// Whatever the areas are of, they add up to the curve, and the curves have the peaks and the ends of the replay.
#[test]
fn areas_add_up_to_the_curves_of_the_replay() {
    let Some(profiles) = profiles() else { return };
    for path in files_with_ending(&profiles, ".pickle") {
        let name = path.display().to_string();
        let run = open(&path);
        let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("{name}") };
        for (place, ((device, replay), facts)) in
            replayed.devices().zip(replayed.device_facts()).enumerate()
        {
            let of = Devices::At(place);
            let scope = Scope::Device(DeviceId::of_number(device.number));
            let times = step_times(&run.allocator.contents, scope);
            let (line, function, file) = (AreasBy::Line, AreasBy::Function, AreasBy::File);
            for (curve, peak, end) in [
                (BlockCurve::Requested, replay.requested_peak, facts.end.requested_bytes),
                (BlockCurve::Allocated, replay.allocated_peak, facts.end.allocated_bytes),
                (BlockCurve::Active, replay.active_peak, facts.end.active_bytes),
            ] {
                let alone = block_curve(replayed, of, curve);
                for by in [AreasBy::Category, line, function, file] {
                    let stacked = stacked_areas(replayed, of, curve, by, &|| false);
                    let stacked = stacked.expect("not cancelled");
                    assert_eq!(
                        stacked.layers.last(),
                        Some(&alone),
                        "{name}, {of:?}, {curve:?}, {by:?}"
                    );
                }
                if !device.events.is_empty() {
                    assert_eq!(alone.last(), Some(&end), "{name}, {curve:?} at the end");
                    let most = alone.iter().max().copied().unwrap_or(0);
                    // What was there before the first event may be the most.
                    assert!(most == peak.bytes || peak.event == -1, "{name}, {curve:?}: {most}");
                }
            }
            let reserved = reserved_curve(replayed, of);
            assert_eq!(reserved.last(), Some(&facts.end.reserved_bytes), "{name}");
            let most = reserved.iter().max().copied().unwrap_or(0);
            assert!(most == replay.reserved_peak.bytes || replay.reserved_peak.event == -1);
            let total = block_curve(replayed, of, BlockCurve::Requested);
            let slots = times.as_ref().and_then(|times| TimeSlots::of(times, |step| total[step]));
            if let Some(TimeSlots { axis, .. }) = slots {
                let in_slots = (0..axis.len()).filter_map(|slot| axis.step(0, slot));
                let most = in_slots.map(|step| total[step]).max();
                assert_eq!(most, total.iter().max().copied(), "{name}: no spike is lost");
                let is_there = |step| axis.slot(0, step).is_some_and(|slot| slot < axis.len());
                assert!((0..total.len()).all(is_there), "{name}");
            }
        }
    }
}

/// What is free in the segments is what is reserved and not in use, and at the end what the file says.
#[test]
fn free_pieces_of_segments_add_up_to_what_is_not_in_use() {
    let Some(profiles) = profiles() else { return };
    for path in files_with_ending(&profiles, ".pickle") {
        let name = path.display().to_string();
        let run = open(&path);
        let RunContents::Snapshot(replayed) = &run.allocator.contents else { panic!("{name}") };
        for (place, facts) in replayed.device_facts().iter().enumerate() {
            let of = Devices::At(place);
            let axis = segment_axis(replayed, place);
            let active = block_curve(replayed, of, BlockCurve::Active);
            let reserved = reserved_curve(replayed, of);
            let last = replayed.snapshot.devices[place].steps() - 1;
            for step in (0..=last).step_by(1 + last as usize / 7).chain([last]) {
                let at = segments_at(replayed, place, &axis, step);
                let step = step as usize;
                assert_eq!(at.whole.reserved, reserved[step], "{name}, {step}");
                assert_eq!(at.whole.active, active[step], "{name}, {step}");
                let largest = at.whole.largest.1;
                assert!(largest <= at.whole.free(), "{name}, {step}: {largest}");
            }
            let end = segments_at(replayed, place, &axis, last).whole;
            let stated = &facts.end;
            assert_eq!(
                (end.free(), end.pieces, end.largest.1),
                (stated.inactive_bytes, stated.inactive_blocks, stated.largest_inactive_bytes),
                "{name}"
            );
        }
    }
}
