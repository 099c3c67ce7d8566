//! Buffer assignments of XLA: the figures that XLA itself and the notes about real dumps give.

mod common;

use std::path::{Path, PathBuf};

use common::in_package;
use serde_json::Value;
use tilescope::analysis::buffer_assignment::facts::{Analysed, ModuleFacts};
use tilescope::format::Progress;
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
