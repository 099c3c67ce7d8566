//! XLA buffer assignments: the figures that XLA itself and the notes about real dumps give.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{in_package, json, tilescope};
use serde_json::Value;
use tilescope::format::Progress;
use tilescope::store::Warnings;
use tilescope::store::hlo::ValueId;
use tilescope::store::report::FileStatus;
use tilescope::systems::xla::buffer_assignment::analysed::Analysed;
use tilescope::systems::xla::buffer_assignment::facts::ModuleFacts;
use tilescope::systems::xla::files::text::read_texts;
use tilescope::systems::xla::files::{module_files, read_module, read_proto};
use tilescope::systems::xla::run::{XlaFiles, XlaRun};

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

/// The place in the source of the instruction at a position, as the module has it.
fn source_of_step(path: &Path, position: u64) -> String {
    let files = crate::common::found::<XlaFiles>(path).expect("a module");
    let run = XlaRun::open(&files, &Progress::default()).expect("a module").expect("all of it");
    let analysed = &run.program.analysed;
    let instruction = analysed.schedule.instructions[position as usize];
    analysed.module.source(instruction).expect("a place in the source")
}

#[test]
fn every_real_module_gives_the_figures_that_are_known_of_it() {
    let Some(profiles) = profiles() else { return };
    let (mut seen, mut stated, mut analysed, mut stacks) = (0, 0, 0, 0);
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
            assert_eq!(summary["schema"], "tilescope.summary/2");
            assert_eq!(summary["source"]["system"], "xla");
            for (key, value) in expected.as_object().expect("an object") {
                assert_eq!(&summary["xla"][key], value, "{}: {key}", of.display());
            }
            assert_eq!(summary["warnings"], Value::Array(Vec::new()), "{}", of.display());
            let peak = &summary["liveness"]["peak"];
            if let Some([first, .., last]) = peak["stack"].as_array().map(Vec::as_slice) {
                let text = |value: &Value| value.as_str().expect("a text").to_owned();
                let place = source_of_step(&of, peak["step"].as_u64().expect("a position"));
                assert!(text(first).starts_with(&place), "{peak}: {place}");
                assert!(text(last).ends_with("<module>"), "{peak}");
                stacks += 1;
            }
            if let Some(claims) = summary["xla"]["claims"]["figures"].as_array() {
                assert!(claims.iter().all(|one| one["agrees"] == true), "{claims:?}");
                stated += claims.len();
                let of_analysis = |one: &&Value| one["file"] == "memory_analysis.json";
                let of_analysis = claims.iter().filter(of_analysis).count();
                let is_there = folder.path().join("memory_analysis.json").is_file();
                assert_eq!(of_analysis, if is_there { 4 } else { 0 }, "{}", of.display());
                analysed += of_analysis;
            }
            seen += 1;
        }
    }
    let counted = format!("{seen}, {stated}, {analysed}, {stacks}");
    assert!(seen >= 12 && stated >= 43 && analysed >= 28 && stacks > 0, "{counted}");
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
        let parts = [&summary["xla"]["listed_bytes"], &summary["xla"]["not_listed_bytes"]];
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
    assert_eq!(summary["verdict"]["capacity_bytes"], 16_911_433_728_u64);
    assert_eq!(crate::common::fits(&summary), false);
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
    assert_eq!(summary["verdict"]["capacity_bytes"], 16_911_433_728_u64, "the device is one");
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
            let of_text = of_text.expect("a module");
            assert_eq!(of_text.status, FileStatus::Ok, "{}", file.name);
            let of_text = Analysed::of(of_text.module);
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
            let titles = |analysed: &Analysed| -> BTreeMap<String, String> {
                let module = &analysed.module;
                let values = module.assigned.iter().map(|one| one.value);
                let title = |value| module.shapes.title(module.value_shape(value));
                values.map(|value| (module.value_name(value), title(value))).collect()
            };
            assert_eq!(titles(&analysed), titles(&of_text), "{}", file.name);
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
    let one = advice.iter().find(|one| one["id"] == technique && one["device"] == 0);
    let peak = crate::common::not_always_live(&summary);
    let saves = one.and_then(|one| one["saving"]["expected_bytes"].as_u64());
    (summary["memory"]["total_bytes"].as_u64().expect("bytes"), peak, saves)
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

/// A sample that ships with the program, a training step for a CPU, in a directory of its own under another name.
fn sample_as(name: &str) -> (tempfile::TempDir, PathBuf) {
    let sample =
        "sample_profiles/xla/keep/module_0000.jit_train_step.cpu_after_optimizations.hlo.pb";
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join(name);
    std::fs::copy(in_package(sample), &file).expect("a copy");
    (directory, file)
}

const OF_GPU: &str = "module_0000.f.sm_9.0a_gpu_after_optimizations.hlo.pb";
const OF_TPU: &str = "module_0000.f.cl_1.after_optimizations.hlo.pb";
const OF_CPU: &str = "module_0000.f.cpu_after_optimizations.hlo.pb";

#[track_caller]
fn summary(path: &Path) -> Value {
    let output = tilescope(&["summary", "--json", &path.to_string_lossy()]);
    assert!(output.status.success(), "{}", json(&output));
    json(&output)
}

fn verdict(path: &Path) -> (Value, String) {
    let summary = summary(path);
    let verdict = &summary["verdict"];
    let outcome = match crate::common::fits(&summary) {
        Value::Null => "unknown",
        Value::Bool(true) => "fits",
        _ => "does-not-fit",
    };
    assert_eq!(verdict["outcome"], outcome, "two answers");
    (verdict["outcome"].clone(), verdict["text"].as_str().expect("a reason").to_owned())
}

#[test]
fn of_a_file_that_is_cut_nobody_says_that_it_fits() {
    let (directory, file) = sample_as(OF_GPU);
    let config = directory.path().join("module_0000.f.gpu_target_config.pbtxt");
    std::fs::write(&config, "device_memory_size: 99999999999\n").expect("a file");
    assert_eq!(verdict(directory.path()).0, "fits");
    let whole = std::fs::read(&file).expect("a module");
    let (cut, cut_file) = sample_as(OF_GPU);
    std::fs::write(&cut_file, &whole[..whole.len() - 6000]).expect("a file");
    std::fs::copy(&config, cut.path().join(config.file_name().expect("a name"))).expect("a copy");
    let (outcome, reason) = verdict(cut.path());
    assert_eq!(outcome, "unknown");
    assert!(reason.contains("at least") && reason.contains("its file is cut"), "{reason}");
    let [whole, cut] = [&directory, &cut].map(|of| of.path().to_str().expect("UTF-8"));
    let output = tilescope(&["compare", "--json", whole, cut]);
    let found = json(&output);
    let said = found["conclusions"].as_array().expect("a list").iter();
    let fits = said.filter(|one| one["id"] == "fits").filter_map(|one| one["text"].as_str());
    let fits: String = fits.collect();
    assert!(fits.contains("and fits; the target reserves at least"), "{fits}");
    assert!(fits.contains("the file ends before its contents do, so it may be more"), "{fits}");
    let found = crate::common::swept(&json(&tilescope(&["sweep", "--json", whole, cut])));
    let fits: Vec<&Value> =
        found["rows"].as_array().expect("rows").iter().map(|row| &row["fits"]).collect();
    assert!(fits.contains(&&Value::Null) && fits.contains(&&Value::Bool(true)), "{found}");
    // What is too much already is too much.
    std::fs::write(
        Path::new(cut).join("module_0000.f.gpu_target_config.pbtxt"),
        "device_memory_size: 9\n",
    )
    .expect("a file");
    let (outcome, reason) = verdict(Path::new(cut));
    assert_eq!(outcome, "does-not-fit");
    assert!(reason.contains("at least"), "{reason}");
}

#[test]
fn what_xla_found_no_room_for_does_not_fit() {
    let (directory, _) = sample_as(OF_TPU);
    let total = summary(directory.path())["memory"]["total_bytes"].as_u64().expect("bytes");
    // By its figures, which are rounded, it would fit.
    let text = format!(
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used {total}B of \
         {total}B hbm. Exceeded hbm capacity by 1.2K.\n"
    );
    std::fs::write(directory.path().join("error.txt"), &text).expect("a file");
    let (outcome, reason) = verdict(directory.path());
    assert_eq!(outcome, "does-not-fit");
    assert!(
        reason.contains("XLA found no room for it, 1.20 KiB too many (says error.txt)"),
        "{reason}"
    );
    // Of a machine of another kind it says nothing.
    let (directory, _) = sample_as(OF_CPU);
    std::fs::write(directory.path().join("error.txt"), &text).expect("a file");
    let (outcome, _) = verdict(directory.path());
    assert_eq!(outcome, "unknown");
}

#[test]
fn texts_that_differ_do_not_say_what_the_device_has() {
    let text = |available: &str| {
        format!(
            "Ran out of memory on HBM, the total memory required for HLO temporaries (99.10G) exceeds available HBM \
             ({available}).\n"
        )
    };
    let (directory, _) = sample_as(OF_TPU);
    let write = |name: &str, text: String| {
        std::fs::write(directory.path().join(name), text).expect("a file");
    };
    let capacity = || summary(directory.path())["verdict"]["capacity_bytes"].clone();
    write("a.txt", text("16.00G"));
    assert_eq!(capacity(), 1_u64 << 34);
    write("b.txt", text("16.00G"));
    assert_eq!(capacity(), 1_u64 << 34);
    write("b.txt", text("32.00G"));
    assert_eq!(capacity(), Value::Null);
}

#[test]
fn the_text_of_an_error_alone_says_that_it_does_not_fit() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("error.txt");
    let text = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 15.75G of 15.75G hbm. Exceeded hbm \
                capacity by 1.2M.\n";
    std::fs::write(&file, text).expect("a file");
    let found = summary(&file);
    assert_eq!(crate::common::fits(&found), false);
    let said = found["insights"]["conclusions"][1]["text"].as_str().expect("a text");
    assert_eq!(said, "Does not fit: 15.8 GiB of the 15.8 GiB, 1.20 MiB too many");
    // A request that failed while a program ran says nothing of what the program takes.
    let text = "RESOURCE_EXHAUSTED: Attempting to allocate 8.00M. That was not possible. There are 6.43M free.\n";
    std::fs::write(&file, text).expect("a file");
    assert_eq!(crate::common::fits(&summary(&file)), Value::Null);
}

#[test]
fn commands_that_do_not_take_programs_of_xla_say_so() {
    let (directory, file) = sample_as(OF_CPU);
    let [directory, file] = [directory.path(), &file].map(|path| path.to_str().expect("UTF-8"));
    for path in [directory, file] {
        for command in [
            &["export", path, "--chrome-trace", "/dev/null"][..],
            &["ops", path],
            &["tiles", path],
            &["trace", path],
        ] {
            let output = tilescope(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
            assert!(said.contains("is a run of XLA, and `tilescope "), "{command:?}: {said}");
            let names_another = ["tilescope liveness", "tilescope summary"];
            assert!(names_another.iter().any(|name| said.contains(name)), "{command:?}: {said}");
        }
        assert!(tilescope(&["map", path, "--arena", "0"]).status.success());
        // It is so small that it is read as fast without an index.
        let said = tilescope(&["index", path, "--json"]);
        assert!(said.status.success());
        assert_eq!((&json(&said)["files"], &json(&said)["not_written"]), (&0.into(), &1.into()));
    }
}

/// The contents of field 3 of an HloProto: its assignment.
fn assignment_of(proto: &[u8]) -> Vec<u8> {
    let mut rest = proto;
    let next = |rest: &mut &[u8]| {
        let mut number = 0_usize;
        for shift in (0..).step_by(7) {
            let (first, behind) = rest.split_first().expect("a number");
            *rest = behind;
            number |= usize::from(first & 0x7F) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        number
    };
    loop {
        let (tag, length) = (next(&mut rest), next(&mut rest));
        let (contents, behind) = rest.split_at(length);
        if tag == 3 << 3 | 2 {
            return contents.to_vec();
        }
        rest = behind;
    }
}

#[test]
fn a_bare_assignment_is_drawn() {
    let (directory, file) = sample_as(OF_CPU);
    let bare = directory.path().join("buffer_assignment.pb");
    std::fs::write(&bare, assignment_of(&std::fs::read(file).expect("a module"))).expect("a file");
    let pictures = tempfile::tempdir().expect("a directory");
    let picture = pictures.path().join("picture.svg");
    let arguments = [bare.to_str().expect("UTF-8"), "-o", picture.to_str().expect("UTF-8")];
    for page in ["overview", "insights"] {
        let output = tilescope(&[&["render", "--page", page], &arguments[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{page}: {said}");
        assert!(std::fs::metadata(&picture).expect("a picture").len() > 1000);
    }
}

/// `NAME` and `SHAPE_WITH_LAYOUT` of the values that a text of a buffer assignment has.
fn printed_shapes(text: &str) -> BTreeMap<String, String> {
    let value = |line: &str| {
        let (label, shape) = line.trim().strip_prefix("value: <")?.split_once("> (size=")?;
        let (_, shape) = shape.split_once("): ")?;
        let (_, name) = label.rsplit_once(" @")?.0.split_once(' ')?;
        Some((name.trim_end_matches(" (phi)").to_owned(), shape.to_owned()))
    };
    text.lines().filter_map(value).collect()
}

#[test]
fn layouts_are_those_that_xla_prints() {
    let Some(profiles) = profiles() else { return };
    let mut compared = 0;
    for folder in std::fs::read_dir(&profiles).expect("a directory").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix("-buffer-assignment.txt") else { continue };
            let proto = folder.path().join(format!("{stem}.hlo.pb"));
            let Ok(files) = crate::common::found::<XlaFiles>(&proto) else { continue };
            let run = XlaRun::open(&files, &Progress::default()).expect("a module").expect("all");
            let module = &run.program.analysed.module;
            let printed = std::fs::read_to_string(file.path()).expect("a text");
            let printed = printed_shapes(&printed);
            for row in 0..module.values.len() as u32 {
                let Some(expected) = printed.get(&module.value_name(ValueId(row))) else {
                    continue;
                };
                let shape = module.value_shape(ValueId(row));
                let found = module.shapes.whole_title(shape, Some(&module.texts));
                // XLA counts elements of long tuples in comments.
                let plain: String = expected
                    .split("/*")
                    .map(|part| part.split_once("*/").map_or(part, |(_, behind)| behind))
                    .collect();
                assert_eq!(
                    found,
                    plain,
                    "{}: {}",
                    file.path().display(),
                    module.value_name(ValueId(row))
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 2500, "{compared}");
}

#[test]
fn values_of_loops_say_what_the_error_text_of_xla_calls_their_memory() {
    let Some(profiles) = profiles() else { return };
    let path = profiles.join("tpu-jax0.6.2-scan-oom");
    let text = std::fs::read_to_string(path.join("error.txt")).expect("a text");
    let arguments = ["liveness", "--step", "peak", "--json", path.to_str().expect("UTF-8")];
    let found = json(&tilescope(&arguments));
    let values = found["variables"].as_array().expect("values");
    let whole = |value: &Value| {
        let part = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        (part("memory_of"), part("shape") + &part("layout"))
    };
    let known: Vec<(String, String)> = values.iter().map(whole).collect();
    let listed: Vec<(&str, &str)> = text
        .split("Shape: ")
        .skip(1)
        .filter_map(|entry| {
            let (_, label) = entry.split_once("XLA label: ")?;
            let (name, made) = label.lines().next()?.split_once(" = ")?;
            made.contains("AllocateBuffer").then_some((name, entry.lines().next()?))
        })
        .collect();
    assert!(listed.len() > 10, "{listed:?}");
    for (name, shape) in listed {
        let is_it = |(memory_of, whole): &(String, String)| memory_of == name && whole == shape;
        assert!(known.iter().any(is_it), "{name} {shape} in {known:#?}");
    }
}

#[test]
fn the_curve_of_a_bare_assignment_is_that_of_its_trace() {
    let (directory, file) = sample_as(OF_CPU);
    let bare = directory.path().join("buffer_assignment.pb");
    std::fs::write(&bare, assignment_of(&std::fs::read(file).expect("a module"))).expect("a file");
    // Newer releases leave the trace out.
    let real = ["cpu-jax0.6.2-scan-remat/buffer_assignment.pb"];
    let real = real.iter().filter_map(|name| {
        let path = in_package("../shared/profiles/xla").join(name);
        path.is_file().then_some(path)
    });
    for path in real.chain([bare]) {
        let trace = summary(&path)["xla"]["temp"][0]["heap_trace"].clone();
        let found = json(&tilescope(&["liveness", "--json", path.to_str().expect("UTF-8")]));
        let steps = found["steps"].as_array().expect("steps");
        assert_eq!(steps.len() as u64, trace["events"].as_u64().expect("a number"));
        let of = |step: &Value| step["not_always_live_bytes"].as_u64().expect("bytes");
        let by_bytes = |(at, bytes): &(usize, u64)| (*bytes, std::cmp::Reverse(*at));
        let (peak, bytes) = steps.iter().map(of).enumerate().max_by_key(by_bytes).expect("a step");
        let expected = (trace["peak_event"].as_u64(), trace["peak_bytes"].as_u64());
        assert_eq!((Some(peak as u64), Some(bytes)), expected);
        assert_eq!(steps[peak]["name"], trace["instruction"]);
        assert_eq!(of(steps.last().expect("a step")), 0, "all is given back");
    }
}

#[test]
fn modules_of_one_file_name_are_told_apart_by_their_paths() {
    let samples = in_package("sample_profiles/xla");
    let path = samples.to_str().expect("UTF-8");
    let total = |path: &Path| summary(path)["memory"]["total_bytes"].clone();
    for name in ["again", "donate", "keep"] {
        let expected = total(&samples.join(name));
        let file = format!("{name}/module_0000.jit_train_step.cpu_after_optimizations.hlo.pb");
        for module in [name.to_owned(), format!("xla/{name}"), file.clone()] {
            let output = tilescope(&["summary", "--json", path, "--module", &module]);
            assert!(output.status.success(), "{module}: {}", json(&output));
            assert_eq!(json(&output)["memory"]["total_bytes"], expected, "{module}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains(&format!("jit_train_step of {file}")), "{said}");
        }
        let output = tilescope(&["summary", path]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("{name}/module_0000")), "{text}");
    }
    let output = tilescope(&["summary", path, "--module", "xla"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("has no module") && said.contains("again/module_0000"), "{said}");
}
