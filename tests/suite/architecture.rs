//! The layers use each other in one direction only; read from the `use` lines and paths.

use std::path::{Path, PathBuf};

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// What is above the readers and the analysis.
const ABOVE: [&str; 7] = [
    "crate::cli",
    "crate::ui",
    "crate::html",
    "crate::synth",
    "crate::sweep",
    "crate::lake",
    "egui",
];

/// What each layer may not mention besides those of [`ABOVE`], if it is below them.
const FORBIDDEN: [(&str, bool, &[&str]); 11] = [
    (
        "store",
        true,
        &[
            "crate::index",
            "arrow_ipc",
            "arrow_array",
            "parquet",
            "memmap2",
            "crate::format",
            "crate::analysis",
            "crate::run",
            "crate::systems",
            "rusqlite",
            "std::fs",
        ],
    ),
    (
        "index",
        true,
        &["crate::format", "crate::analysis", "crate::run", "crate::systems", "rusqlite"],
    ),
    ("format", true, &["arrow_ipc", "memmap2", "crate::analysis", "crate::run", "crate::systems"]),
    ("analysis", true, &["crate::index", "crate::format", "rusqlite", "std::fs"]),
    (
        "diagnose",
        true,
        &[
            "crate::index",
            "crate::format",
            "crate::analysis",
            "crate::run",
            "crate::systems",
            "crate::store",
            "std::fs",
        ],
    ),
    ("lake", false, &["crate::cli", "crate::ui", "crate::synth", "egui", "rusqlite"]),
    (
        "html",
        false,
        &["crate::cli", "crate::ui", "crate::synth", "crate::systems", "egui", "std::fs"],
    ),
    ("synth", false, &["crate::cli", "crate::ui", "egui"]),
    ("cli", false, &["egui", "rusqlite"]),
    ("ui", false, &["crate::cli", "rusqlite", "crate::synth::write"]),
    ("ui/report", false, &["crate::format", "crate::index"]),
];

/// Layers that readers fill and that use none.
const USE_NO_READER: [&str; 2] = ["analysis", "ui/report"];

/// The folders of each system that are layers of their own, and what they may not mention besides those of [`ABOVE`].
const PARTS_OF_SYSTEMS: [(&str, &[&str]); 6] = [
    (
        "files",
        &[
            "arrow_ipc",
            "memmap2",
            "crate::analysis",
            "crate::run",
            "{system}::run",
            "{system}::synth",
        ],
    ),
    ("allocator", &OF_ENGINES),
    ("buffer_assignment", &OF_ENGINES),
    ("memory", &OF_ENGINES),
    ("insights", &OF_ENGINES),
    ("compared", &OF_ENGINES),
];

/// What the analyses of a system are no nearer to than those of all systems.
const OF_ENGINES: [&str; 7] = [
    "crate::index",
    "crate::format",
    "rusqlite",
    "std::fs",
    "{system}::files",
    "{system}::run",
    "{system}::synth",
];

/// Fails where a file below a directory mentions one of these; how many files there are.
fn assert_none_mentioned(directory: &Path, layer: &str, forbidden: &[String]) -> usize {
    let files = sources(directory);
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (number, line) in (1..).zip(code) {
            for name in forbidden {
                let is_used =
                    line.contains(&format!("{name}::")) || line.contains(&format!("{name};"));
                let file = file.display();
                assert!(!is_used, "{file}, line of code {number}: {name} in {layer}");
            }
        }
    }
    files.len()
}

#[test]
fn layers_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let systems = systems_below(&root);
    let mut looked_at = 0;
    for (layer, is_below, others) in FORBIDDEN {
        let directory = root.join(layer);
        assert!(directory.is_dir(), "the layer {layer} is there");
        let above: &[&str] = if is_below { &ABOVE } else { &[] };
        let mut forbidden: Vec<String> =
            [above, others].concat().into_iter().map(str::to_owned).collect();
        if USE_NO_READER.contains(&layer) {
            forbidden.extend(systems.iter().map(|system| format!("systems::{system}::files")));
        }
        looked_at += assert_none_mentioned(&directory, layer, &forbidden);
    }
    let mut parts = 0;
    for system in &systems {
        for (part, others) in PARTS_OF_SYSTEMS {
            let directory = root.join("systems").join(system).join(part);
            if !directory.is_dir() {
                continue;
            }
            let others = others.iter().map(|name| name.replace("{system}", system));
            let forbidden: Vec<String> =
                ABOVE.iter().map(|name| (*name).to_owned()).chain(others).collect();
            let layer = format!("systems/{system}/{part}");
            looked_at += assert_none_mentioned(&directory, &layer, &forbidden);
            parts += 1;
        }
    }
    assert!(looked_at > 40 && parts > 7, "{looked_at} files looked at, {parts} parts of systems");
}

#[test]
fn unsafe_code_stands_in_one_module_that_says_why() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for file in sources(&root) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let lines = code.filter(|line| line.contains("unsafe {") || line.contains("unsafe_code"));
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        found.extend(lines.map(|_| name.clone()));
    }
    assert_eq!(found, ["index/mapping.rs"; 3], "the allowance, mapping, and letting pages go");
}

#[test]
fn every_file_says_what_it_is_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&root) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} begins with its purpose", file.display());
        let lines = text.lines().count();
        assert!(lines < 600, "{} has {lines} lines: split it by idea", file.display());
    }
}

/// The folders of `analysis`, each of which uses only those before it: the `pub mod` lines.
fn analysis_folders(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root.join("analysis/mod.rs")).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// Modules that a line of code names below `crate::analysis`.
fn analysis_modules(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::analysis::").skip(1).map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn folders_of_the_analysis_point_upwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = analysis_folders(&root);
    assert!(folders.len() > 8, "{folders:?}");
    for (place, folder) in folders.iter().enumerate() {
        let path = root.join("analysis").join(folder);
        let files = if path.is_dir() { sources(&path) } else { vec![path.with_extension("rs")] };
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // Test modules come last, and may build on anything.
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let is_test = file.ends_with("tests.rs") || file.ends_with("fixture.rs");
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for used in analysis_modules(line) {
                    let is_above = folders[..=place].iter().any(|above| above == used);
                    assert!(
                        is_above || is_test,
                        "{}: {folder} uses {used}, which src/analysis/mod.rs does not have above it: {line}",
                        file.display()
                    );
                }
            }
        }
    }
}

/// Tables, files and engine options of one system, which only its reader may name to the user.
const NAMES_OF_A_SYSTEM: [&str; 25] = [
    "availableMemoryProportion",
    "memory_by_tile",
    "memory_by_category",
    "memory_by_compute_set",
    "memory_not_always_live",
    "depth_first_steps",
    "eq_classes",
    "eq_class_step",
    "var_bytes_by_eq_class",
    "vars_info",
    "var_categories",
    "unlowered_vars",
    "compute_sets",
    "vertex_instances",
    "vertex_types",
    "program_type_",
    "program_types",
    "compilation_trace",
    "execution_cycle_totals",
    "target_info",
    "graph_info",
    "debug.cbor",
    "autoReport.",
    "profiler.include",
    "table programs",
];

/// The texts of a file, without those of its tests: what stands between quotation marks.
fn texts_in(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "").replace("\\\"", "");
    code.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_window_names_no_table_and_no_option() {
    // Where a user has no report yet, the window says how to write one, and what the demo is.
    const MAY: [&str; 1] = ["home.rs"];
    const MAY_NAME: (&str, &str) = ("status.rs", "availableMemoryProportion");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui");
    let example = "let a = vertex_types; f(\"a table \\\"x\\\" \", '\"', \"vars_info\"); // \"";
    assert!(texts_in(example).contains("vars_info") && !texts_in(example).contains("vertex_types"));
    for file in sources(&root) {
        if MAY.iter().any(|name| file == root.join(name)) {
            continue;
        }
        let texts = texts_in(&std::fs::read_to_string(&file).unwrap());
        for name in NAMES_OF_A_SYSTEM {
            if (file.strip_prefix(&root).unwrap().to_str(), name) == (Some(MAY_NAME.0), MAY_NAME.1)
            {
                continue;
            }
            assert!(
                !texts.contains(name),
                "{}: {name} belongs into an Absence of the reader (src/systems)",
                file.display()
            );
        }
    }
}

/// Files of the window that use readers: to open a report, to say why it could not be opened, and to
/// read single tiles.
const USES_READERS: [&str; 2] = ["loading.rs", "reading.rs"];

#[test]
fn the_window_knows_readers_in_few_places() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui");
    let systems = systems_below(root.parent().unwrap());
    let mut used = Vec::new();
    for file in sources(&root) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let is_reader = |line: &str| {
            let of_system = |system: &String| line.contains(&format!("systems::{system}::files"));
            line.contains("crate::format") || systems.iter().any(of_system)
        };
        if lines.any(is_reader) {
            let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            used.push(name);
        }
    }
    used.sort();
    assert_eq!(used, USES_READERS, "a page asks the store, which a reader has filled");
}

/// The layers that may not know which systems there are.
const KNOW_NO_SYSTEM: [&str; 6] = ["cli", "ui", "lake", "run", "analysis", "diagnose"];

/// A system is a folder below `systems`.
fn systems_below(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("systems")).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The code of a file in one line without spaces, so that a `use` over several lines is one text. Comments are left
/// out.
fn joined_code(source: &str) -> String {
    let lines = source.lines().map(|line| without_comment(line).split_whitespace().collect());
    lines.collect::<Vec<String>>().concat()
}

/// A line of code without a comment behind it.
fn without_comment(line: &str) -> &str {
    let line = line.trim_start();
    if line.starts_with("//") {
        return "";
    }
    line.find(" // ").map_or(line, |end| &line[..end])
}

/// The names that stand behind each `before` in joined code: one, or several in braces.
fn names_behind<'a>(code: &'a str, before: &str) -> Vec<&'a str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut names = Vec::new();
    for rest in code.split(before).skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.extend(rest.split(|letter| !is_name(letter)).next());
            continue;
        };
        let (mut depth, mut start) = (0_usize, true);
        for (at, letter) in list.char_indices() {
            if start && depth == 0 {
                names.extend(list[at..].split(|letter| !is_name(letter)).next());
            }
            start = letter == ',';
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

/// Where a layer names a system, or a system another one.
fn systems_named(root: &Path) -> Vec<String> {
    let systems = systems_below(root);
    let mut found = Vec::new();
    let mut look = |directory: &Path, own: Option<&str>| {
        if !directory.is_dir() {
            return;
        }
        for file in sources(directory) {
            let code = joined_code(&std::fs::read_to_string(&file).unwrap());
            let mut names = names_behind(&code, "systems::");
            if own.is_some() {
                names.extend(names_behind(&code, "super::"));
            }
            for name in names {
                if own != Some(name) && systems.iter().any(|system| system == name) {
                    let file = file.strip_prefix(root).unwrap().display();
                    found.push(format!("{file} uses systems::{name}"));
                }
            }
        }
    };
    for layer in KNOW_NO_SYSTEM {
        look(&root.join(layer), None);
    }
    for system in &systems {
        look(&root.join("systems").join(system), Some(system));
    }
    found
}

#[test]
fn only_the_list_of_systems_names_a_system() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(systems_below(&root).len() > 2, "each system has a folder in src/systems");
    assert_eq!(systems_named(&root), [""; 0]);
}

#[test]
fn systems_that_use_each_other_are_found() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("systems/mod.rs", "pub mod one;\npub mod two;\npub mod three;\nuse self::one::read;");
    write("systems/one/mod.rs", "use crate::systems::{\n    System,\n    two::{Deep, Other},\n};");
    write("systems/two/mod.rs", "use super::{System, three::Reader};\n// use systems::one;");
    write("systems/three/mod.rs", "use super::System;\nuse crate::systems::three::Own;");
    write("cli/summary.rs", "use crate::systems::SYSTEMS;\nfn f() { crate::systems::one::read() }");
    write("ui/app.rs", "use crate::systems::onerous; // systems::two\nuse super::two::Half;");
    assert_eq!(systems_below(root.path()), ["one", "three", "two"]);
    let mut found = systems_named(root.path());
    found.sort();
    assert_eq!(
        found,
        [
            "cli/summary.rs uses systems::one",
            "systems/one/mod.rs uses systems::two",
            "systems/two/mod.rs uses systems::three",
        ]
    );
}

/// Folders and files that are of one system, where its words are at home. `synth` writes the files of all systems, the
/// table of unknown files names what anybody writes, and `diagnose` has a file for each family of devices.
const OF_ONE_SYSTEM: [&str; 5] =
    ["systems/", "files/looks_like/", "store/hlo/", "synth/", "diagnose/"];

/// Words that name a system, its files or its makers.
const WORDS_OF_SYSTEMS: [&str; 17] = [
    "poplar",
    "poplibs",
    "popart",
    "poptorch",
    "ipu",
    "ipus",
    "pytorch",
    "torch",
    "cuda",
    "snapshot",
    "snapshots",
    "xla",
    "hlo",
    "jax",
    "tpu",
    "tenstorrent",
    "ttnn",
];

/// Lines of code outside of the systems' own folders that name a system, by layer. They only fall: a change that
/// removes such lines lowers the number.
const MOST_LINES_NAMING_SYSTEMS: [(&str, usize); 8] = [
    ("analysis", 12),
    ("cli", 69),
    (FILES_OF_SRC, 1),
    ("format", 3),
    ("index", 0),
    ("lake", 0),
    ("store", 31),
    ("ui", 120),
];
/// The layer of files that are in no folder.
const FILES_OF_SRC: &str = "files of src";
/// So far a number may lag behind.
const SLACK: usize = 5;

/// The words of a line in lower case: `is_snapshot`, `SnapshotRun` and `"a snapshot"` have the same one.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !letter.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if letter.is_ascii_alphabetic() {
            words.last_mut().unwrap().push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words
}

/// Lines of code, without those of tests, that name a system.
fn lines_naming_systems(source: &str) -> usize {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let names_one = |line: &&str| {
        words(without_comment(line)).iter().any(|word| WORDS_OF_SYSTEMS.contains(&&**word))
    };
    code.lines().filter(names_one).count()
}

#[test]
fn the_number_of_lines_that_name_a_system_only_falls() {
    let example = "use a::SnapshotRun; // xla\n// ipu\nlet tpu_of = \"an IPU\";\nlet shots = snaps;\n\
                   #[cfg(test)]\nmod tests {\nuse xla;\n}";
    assert_eq!(lines_naming_systems(example), 2);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let none = MOST_LINES_NAMING_SYSTEMS.map(|(layer, _)| (layer.to_owned(), 0));
    let mut counts = std::collections::BTreeMap::from(none);
    for file in sources(&root) {
        let path = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        if OF_ONE_SYSTEM.iter().any(|own| path.starts_with(own)) || path.ends_with("tests.rs") {
            continue;
        }
        let layer = path.split_once('/').map_or(FILES_OF_SRC, |(layer, _)| layer).to_owned();
        *counts.entry(layer).or_insert(0) +=
            lines_naming_systems(&std::fs::read_to_string(&file).unwrap());
    }
    let mut wrong = Vec::new();
    for (layer, count) in counts {
        let most = MOST_LINES_NAMING_SYSTEMS.iter().find(|(name, _)| *name == layer);
        let most = most.map_or(0, |(_, most)| *most);
        if count > most {
            wrong.push(format!(
                "{layer}: {count} lines name a system, {most} are allowed: what differs between systems \
                 belongs into their folders"
            ));
        } else if count + SLACK < most {
            wrong.push(format!("{layer}: {count} lines name a system: lower {most} to {count}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "MOST_LINES_NAMING_SYSTEMS of tests/architecture.rs:\n{}",
        wrong.join("\n")
    );
}

/// The type that a line declares. Within a macro it is indented; within a function, a trait or its implementation deeper,
/// or an alias.
fn type_declared(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let indent = line.len() - code.len();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => code,
    };
    let (word, rest) = code.split_once(' ')?;
    let is_type = match word {
        "struct" | "enum" | "union" | "trait" => indent <= 4,
        "type" => indent == 0,
        _ => false,
    };
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    is_type.then(|| &rest[..end.unwrap_or(rest.len())])
}

#[test]
fn a_type_name_occurs_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let is_of_tests = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        name == "tests" || name.ends_with("fixture") || file.parent().unwrap().ends_with("tests")
    };
    let mut found = std::collections::BTreeMap::new();
    for file in sources(&root).into_iter().filter(|file| !is_of_tests(file)) {
        let text = std::fs::read_to_string(&file).unwrap();
        let own = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for name in own.lines().filter_map(type_declared) {
            if let Some(other) = found.insert(name.to_owned(), file.clone()) {
                panic!("{name} is declared in {} and in {}", other.display(), file.display());
            }
        }
    }
    assert!(found.len() > 1000, "{} types", found.len());
}
