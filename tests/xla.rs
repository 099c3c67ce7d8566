//! Buffer assignments of XLA: the figures that XLA itself and the notes about real dumps give.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{in_package, json, tilescope};
use serde_json::Value;
use tilescope::analysis::buffer_assignment::analysed::Analysed;
use tilescope::analysis::buffer_assignment::facts::ModuleFacts;
use tilescope::format::Progress;
use tilescope::format::xla::text::read_texts;
use tilescope::format::xla::{module_files, read_module, read_proto};
use tilescope::store::Warnings;

/// Real dumps with their figures, which are not part of this package; says so where they are absent.
fn profiles() -> Option<PathBuf> {
    let path = in_package("../shared/profiles/xla");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: ../shared/profiles/xla is absent");
    None
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_real_module_gives_the_figures_that_are_known_of_it() {
    let Some(profiles) = profiles() else { return };
    let mut seen = 0;
    for folder in std::fs::read_dir(&profiles).expect("a directory").flatten() {
        for (name, of) in [
            ("expected.json", folder.path()),
            ("expected.buffer_assignment.json", folder.path().join("buffer_assignment.pb")),
        ] {
            let expected_file = folder.path().join(name);
            if !expected_file.is_file() || folder.file_name() == "tpu-errors" {
                continue;
            }
            let expected = read_json(&expected_file);
            let output = tilescope(&["summary", &of.to_string_lossy(), "--json"]);
            assert!(output.status.success(), "{}: {}", of.display(), json(&output));
            let summary = json(&output);
            assert_eq!(summary["schema"], "tilescope.summary/1");
            assert_eq!(summary["source"]["system"], "xla");
            for (key, value) in expected.as_object().expect("an object") {
                assert_eq!(&summary["xla"][key], value, "{}: {key}", of.display());
            }
            assert_eq!(summary["warnings"], Value::Array(Vec::new()), "{}", of.display());
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn every_error_text_gives_the_figures_that_are_known_of_it() {
    let Some(profiles) = profiles() else { return };
    let errors = read_json(&profiles.join("tpu-errors/expected.json"));
    let alone = errors.as_object().expect("an object").iter();
    let mut cases: Vec<(PathBuf, Value)> = alone
        .map(|(name, expected)| (profiles.join("tpu-errors").join(name), expected.clone()))
        .collect();
    let beside = profiles.join("tpu-jax0.6.2-scan-oom");
    cases.push((beside.join("error.txt"), read_json(&beside.join("expected.error.json"))));
    assert_eq!(cases.len(), 3);
    for (path, expected) in cases {
        let output = tilescope(&["summary", &path.to_string_lossy(), "--json"]);
        assert!(output.status.success(), "{}: {}", path.display(), json(&output));
        let summary = json(&output);
        assert_eq!(summary["source"]["system"], "xla");
        for (key, value) in expected.as_object().expect("an object") {
            assert_eq!(&summary["xla"][key], value, "{}: {key}", path.display());
        }
        let conclusions = summary["insights"]["conclusions"].as_array().expect("conclusions");
        assert_eq!(conclusions[0]["id"], "partial-capture", "{}", path.display());
        let parts = [&summary["memory"]["listed_bytes"], &summary["memory"]["not_listed_bytes"]];
        let all = parts.map(|bytes| bytes.as_u64().unwrap_or(0)).iter().sum::<u64>();
        let program = expected["usage"]["program"].as_u64().unwrap_or(0);
        assert!(all >= program, "{}: {all} of {program}", path.display());
    }
    let output = tilescope(&["summary", &beside.join("error.txt").to_string_lossy()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["20 of an unknown number of allocations", "not listed", "The dump has all"] {
        assert!(words.contains(said), "{said}: {text}");
    }
    // Beside the dump it says what the device has.
    let output = tilescope(&["summary", &beside.to_string_lossy(), "--json"]);
    let summary = json(&output);
    assert_eq!(summary["memory"]["capacity_bytes"], 16_911_433_728_u64);
    assert_eq!(summary["memory"]["fits"], false);
    assert_eq!(summary["xla"]["device"]["capacity_file"], "error.txt");
    assert_eq!(summary["xla"]["error_text"]["hlo_temp"]["fragmentation_bytes"], 975_437_824);
    // A text about another program says what the device has, and nothing of this one.
    let other = tempfile::tempdir().expect("a directory");
    for entry in std::fs::read_dir(&beside).expect("a directory").flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().ends_with("after_optimizations.hlo.pb") {
            std::fs::copy(entry.path(), other.path().join(name)).expect("a copy");
        }
    }
    let conv = profiles.join("tpu-errors/jax0.6.2-conv.txt");
    std::fs::copy(conv, other.path().join("error.txt")).expect("a copy");
    let output = tilescope(&["summary", &other.path().to_string_lossy(), "--json"]);
    let summary = json(&output);
    assert_eq!(summary["xla"]["error_text"], Value::Null);
    assert_eq!(summary["memory"]["capacity_bytes"], 16_911_433_728_u64, "the device is one");
}

/// A module that is read and worked out, or not: whatever the bytes are, that comes to an end.
fn read_damaged(bytes: &[u8]) -> bool {
    let warnings = Warnings::default();
    let read = read_proto(bytes, "damaged.hlo.pb", &warnings, &Progress::default());
    let Ok(Some(read)) = read else { return false };
    let facts = ModuleFacts::of(&Analysed::of(read.module), None);
    facts.total_bytes > 0
}

#[test]
fn damaged_modules_are_read_as_far_as_they_go() {
    let Some(profiles) = profiles() else { return };
    let folder = profiles.join("cpu-jax0.10.2-several");
    let bytes = |name: &str| std::fs::read(folder.join(name)).expect("a module");
    let step = bytes("module_0028.jit_train_step.cpu_after_optimizations.hlo.pb");
    let read = (0..step.len()).step_by(1000).filter(|end| read_damaged(&step[..*end])).count();
    assert!(read > 0, "what is cut behind its allocations is shown");
    let small = bytes("module_0004.jit__threefry_split.cpu_after_optimizations.hlo.pb");
    let read = (0..small.len()).filter(|end| read_damaged(&small[..*end])).count();
    assert!(read > 0);
    let mut state = 7_u64;
    let mut next = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % most
    };
    let mut read = 0;
    for seed in 0..2000 {
        let mut damaged = if seed % 20 == 0 { step.clone() } else { small.clone() };
        for _ in 0..=next(3) {
            let at = next(damaged.len());
            damaged[at] ^= 1 << next(8);
        }
        read += usize::from(read_damaged(&damaged));
    }
    assert!(read > 1000, "{read}: most flips leave something to show");
}

/// Offset, bytes, allocation, and the first and last position of a value.
type PlaceAndLife = (u64, u64, i64, Option<(u32, u32)>);

/// The texts of a module's assignment, from whatever files have them.
fn texts_beside(module: &Path) -> Vec<Vec<u8>> {
    let name = module.file_name().expect("a name").to_string_lossy().into_owned();
    let Some(stem) = name.strip_suffix(".hlo.pb") else { return Vec::new() };
    let endings = ["-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt"];
    let paths = endings.iter().map(|ending| module.with_file_name(format!("{stem}{ending}")));
    paths.filter_map(|path| std::fs::read(path).ok()).collect()
}

#[test]
fn proto_and_text_of_a_module_agree_in_all_that_both_say() {
    let Some(profiles) = profiles() else { return };
    let (mut modules, mut ranges) = (0, 0);
    for folder in std::fs::read_dir(&profiles).expect("a directory").flatten() {
        let progress = Progress::default();
        for file in module_files(&folder.path(), &Warnings::default(), &progress).expect("files") {
            let texts = texts_beside(&file.path);
            if texts.is_empty() {
                continue;
            }
            let warnings = Warnings::default();
            let module =
                read_module(&file, 0, &warnings, &progress).expect("a proto").expect("a module");
            let analysed = Analysed::of(module.module);
            let mut notes = Vec::new();
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let of_text = read_texts(&texts, &mut |note| notes.push(note), &|| false);
            let of_text = Analysed::of(of_text.expect("a module"));
            assert_eq!(notes, Vec::<String>::new(), "{}", file.name);
            let by_name = |analysed: &Analysed| -> BTreeMap<String, PlaceAndLife> {
                let module = &analysed.module;
                let row = |one: &tilescope::store::hlo::Assigned| {
                    let number = module.allocations[one.allocation as usize].number;
                    let range = analysed.ranges.get(one.value).map(|one| (one.start, one.end));
                    (module.value_name(one.value), (one.offset, one.bytes, number, range))
                };
                module.assigned.iter().map(row).collect()
            };
            let (proto, text) = (by_name(&analysed), by_name(&of_text));
            assert_eq!(proto.len(), analysed.module.assigned.len(), "names are different");
            let has_lives = of_text.module.has_schedule();
            for (name, mut known) in proto {
                if !has_lives {
                    known.3 = None;
                }
                assert_eq!(text.get(&name), Some(&known), "{}: {name}", file.name);
                ranges += usize::from(known.3.is_some());
            }
            let keys = [
                "allocations",
                "values",
                "total_bytes",
                "bytes_by_color",
                "bytes_by_kind",
                "parameters",
            ];
            let of_lives =
                ["steps", "values_with_live_range", "in_use", "reserved_throughout_by_color"];
            let facts =
                |analysed| serde_json::to_value(ModuleFacts::of(analysed, None)).expect("JSON");
            let (proto, text) = (facts(&analysed), facts(&of_text));
            let lives = if has_lives { &of_lives[..] } else { &[] };
            for key in keys.iter().chain(lives) {
                assert_eq!(proto[key], text[key], "{}: {key}", file.name);
            }
            if has_lives {
                let peak = |facts: &Value| {
                    let rows = facts["temp"].as_array().expect("rows").iter();
                    rows.map(|one| {
                        (
                            one["peak"]["bytes"].clone(),
                            one["peak"]["positions"].clone(),
                            one["peak"]["holes"].clone(),
                        )
                    })
                    .collect::<Vec<_>>()
                };
                assert_eq!(peak(&proto), peak(&text), "{}", file.name);
            }
            modules += 1;
        }
    }
    assert!(modules >= 20 && ranges > 2500, "{modules} modules, {ranges} ranges");
}

/// Bytes of all, of the temporary peak, and what advice of a kind says that it saves.
fn advised(profiles: &Path, name: &str, technique: &str) -> (u64, u64, Option<u64>) {
    let output = tilescope(&["summary", &profiles.join(name).to_string_lossy(), "--json"]);
    let summary = json(&output);
    let advice = summary["insights"]["advice"].as_array().expect("a list");
    let one = advice.iter().find(|one| one["id"] == technique && one["color"] == 0);
    let peak = &summary["liveness"]["peak"]["not_always_live_bytes"];
    let saves = one.and_then(|one| one["saves_bytes"].as_u64());
    (
        summary["memory"]["total_bytes"].as_u64().expect("bytes"),
        peak.as_u64().expect("bytes"),
        saves,
    )
}

#[test]
fn advice_that_was_followed_came_out() {
    let Some(profiles) = profiles() else { return };
    let came_out = |what: &str, saves: Option<u64>, before: u64, after: u64| {
        let (saves, came_out) = (saves.expect("advised"), before.saturating_sub(after));
        println!("{what}: {saves} promised, {came_out} came out");
        // Compiled again, other things are placed otherwise, too.
        assert!(saves < before && came_out * 10 >= saves * 8, "{what}: {saves}, {came_out}");
        saves
    };
    let technique = "jax-checkpoint";
    let (_, before, saves) = advised(&profiles, "cpu-jax0.10.2-scan", technique);
    let (_, after, again) = advised(&profiles, "cpu-jax0.10.2-scan-remat", technique);
    let saves = came_out(technique, saves, before, after);
    assert!(again.unwrap_or(0) < saves / 4, "what was done is not advised again: {again:?}");
    let technique = "donate-arguments";
    let (before, _, saves) = advised(&profiles, "cpu-jax0.10.2-mlp-nodonate", technique);
    let (after, _, again) = advised(&profiles, "cpu-jax0.10.2-mlp", technique);
    came_out(technique, saves, before, after);
    assert_eq!(again, None);
}
