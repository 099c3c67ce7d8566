//! Buffer assignments of XLA: the figures that XLA itself and the notes about real dumps give.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::in_package;
use serde_json::Value;
use tilescope::analysis::buffer_assignment::facts::{Analysed, ModuleFacts};
use tilescope::format::Progress;
use tilescope::format::xla::text::read_texts;
use tilescope::format::xla::{module_files, platform_of_name, read_modules};
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
        let expected_file = folder.path().join("expected.json");
        if !expected_file.is_file() || folder.file_name() == "tpu-errors" {
            continue;
        }
        let expected = read_json(&expected_file);
        let (warnings, progress) = (Warnings::default(), Progress::default());
        let files = module_files(&folder.path(), &progress).expect("files");
        let file =
            files.iter().find(|file| expected["file"] == file.name.as_str()).expect("the file");
        let modules = read_modules(file, &warnings, &progress).expect("modules");
        let module = modules
            .into_iter()
            .find(|one| expected["module"] == one.module.name.as_str())
            .expect("the module");
        let facts = ModuleFacts::of(&Analysed::of(module.module), platform_of_name(&file.name));
        let found = serde_json::to_value(facts).expect("JSON");
        for (key, value) in expected.as_object().expect("an object") {
            if !["file", "module", "modules"].contains(&key.as_str()) {
                assert_eq!(&found[key], value, "{}: {key}", folder.path().display());
            }
        }
        assert!(warnings.list().is_empty(), "{:?}", warnings.list());
        seen += 1;
    }
    assert!(seen >= 11, "{seen}");
}

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
        for file in module_files(&folder.path(), &progress).expect("files") {
            let texts = texts_beside(&file.path);
            if texts.is_empty() {
                continue;
            }
            let warnings = Warnings::default();
            let read = read_modules(&file, &warnings, &progress).expect("a module");
            let [module] = <[_; 1]>::try_from(read).expect("one module");
            let analysed = Analysed::of(module.module);
            let mut notes = Vec::new();
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let of_text = read_texts(&texts, &mut |note| notes.push(note), &|| false);
            let of_text = Analysed::of(of_text.expect("a module"));
            assert_eq!(notes, Vec::<String>::new(), "{}", file.name);
            let by_name =
                |analysed: &Analysed| -> BTreeMap<String, (u64, u64, i64, Option<(u32, u32)>)> {
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
