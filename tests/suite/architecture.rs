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

/// What each layer may not mention.
const FORBIDDEN: [(&str, &[&str]); 9] = [
    (
        "store",
        &[
            "crate::index",
            "arrow_ipc",
            "arrow_array",
            "parquet",
            "memmap2",
            "crate::format",
            "crate::analysis",
            "crate::cli",
            "crate::ui",
            "crate::synth",
            "crate::folder_sweep",
            "crate::lake",
            "crate::opened",
            "crate::systems::pytorch::run",
            "rusqlite",
            "std::fs",
            "egui",
        ],
    ),
    (
        "index",
        &[
            "crate::format",
            "crate::analysis",
            "crate::cli",
            "crate::ui",
            "crate::synth",
            "crate::folder_sweep",
            "crate::lake",
            "crate::opened",
            "crate::systems::pytorch::run",
            "rusqlite",
            "egui",
        ],
    ),
    (
        "format",
        &[
            "arrow_ipc",
            "memmap2",
            "crate::analysis",
            "crate::cli",
            "crate::ui",
            "crate::synth",
            "crate::folder_sweep",
            "crate::lake",
            "crate::opened",
            "crate::systems::pytorch::run",
            "egui",
        ],
    ),
    (
        "analysis",
        &[
            "crate::index",
            "crate::format",
            "crate::cli",
            "crate::ui",
            "crate::synth",
            "crate::folder_sweep",
            "crate::lake",
            "crate::opened",
            "crate::systems::pytorch::run",
            "rusqlite",
            "std::fs",
            "egui",
        ],
    ),
    ("lake", &["crate::cli", "crate::ui", "crate::synth", "egui", "rusqlite"]),
    ("synth", &["crate::cli", "crate::ui", "egui"]),
    ("cli", &["egui", "rusqlite"]),
    ("ui", &["crate::cli", "rusqlite", "crate::synth::write"]),
    ("ui/report", &["crate::format", "crate::index"]),
];

#[test]
fn layers_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut looked_at = 0;
    for (layer, forbidden) in FORBIDDEN {
        let directory = root.join(layer);
        assert!(directory.is_dir(), "the layer {layer} is there");
        for file in sources(&directory) {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for (number, line) in (1..).zip(code) {
                for name in forbidden {
                    let is_used =
                        line.contains(&format!("{name}::")) || line.contains(&format!("{name};"));
                    assert!(
                        !is_used,
                        "{}, line of code {number}: {name} in {layer}",
                        file.display()
                    );
                }
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 40, "{looked_at} files looked at");
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
                "{}: {name} belongs into an Absence of the reader (src/format)",
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
    let mut used = Vec::new();
    for file in sources(&root) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        if lines.any(|line| line.contains("crate::format")) {
            let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            used.push(name);
        }
    }
    used.sort();
    assert_eq!(used, USES_READERS, "a page asks the store, which a reader has filled");
}
