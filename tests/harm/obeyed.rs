//! Text is shown, never obeyed: names and paths go through every command.

use super::*;
use crate::contexts::{context, contexts, text};

/// Names that a terminal, a spreadsheet or a reader of text would obey.
const HOSTILE: [&str; 5] = [
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;http://x\u{1b}\\link\u{9b}31mred\u{90}x\u{9c}\u{7f}",
    "a\r\nb\tc\u{0}d\u{2028}e\u{85}f\u{202e}txet\u{2066}\u{200f}",
    "=cmd|' /C calc'!A0",
    "+1+2\",=1",
    "\t=1\u{fffe}\u{ffff}",
];

/// A sample that has a name of this kind wherever there is one.
fn with_names(name: &str) -> Harmed {
    harmed_sample(|directory| {
        for column in [
            "unlowered_vars SET name",
            "compute_sets SET name",
            "programs SET name",
            "vars_string_table SET string",
            "var_categories SET name",
            "vertex_types SET name",
            "program_types SET name",
            "date_time SET string",
            "poplar_version SET string",
            "compilation_parameters SET value",
            "target_info SET architecture",
        ] {
            set(directory, column, &name);
        }
        // Categories are told apart by their names.
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let numbered = "UPDATE memory_by_category SET category_id = ?1 || rowid";
        connection.execute(numbered, [name]).unwrap();
        drop(connection);
        let texts = vec![text(name); 40];
        let all: Vec<_> = (1..=60).map(|id| context(id, id / 2, id % 40)).collect();
        fs::write(directory.join("debug.cbor"), contexts(&all, &texts)).unwrap();
        sql(directory, "UPDATE programs SET debug_id = 1 + id % 60");
        let value = serde_json::json!({ name: { "x": name }, "batch": name });
        fs::write(directory.join("app.json"), value.to_string()).unwrap();
        fs::write(directory.join("framework.json"), value.to_string()).unwrap();
        let log = format!(
            "{name} Out of memory on tile 3: 700000 bytes used but tiles only have 638976 {name}\n"
        );
        fs::write(directory.join("compile.log"), log).unwrap();
    })
}

fn is_obeyed(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character)
}

/// The cells of comma-separated values.
fn cells(csv: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for character in csv.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

#[test]
fn no_command_prints_what_is_obeyed() {
    let commands: [&[&str]; 19] = [
        &["summary", "PATH"],
        &["tiles", "PATH"],
        &["tiles", "--by", "category", "PATH"],
        &["tiles", "--by", "region", "PATH"],
        &["tiles", "--by", "gaps", "PATH"],
        &["liveness", "PATH"],
        &["liveness", "--step", "peak", "PATH"],
        &["liveness", "--step", "peak", "--by", "category", "PATH"],
        &["liveness", "--step", "peak", "--by", "variable", "PATH"],
        &["liveness", "--step", "peak", "--by", "operation", "PATH"],
        &["liveness", "--filter", "a", "PATH"],
        &["map", "--tile", "3", "PATH"],
        &["check", "--max-tile-bytes", "1024", "PATH"],
        &["compare", "SAMPLE", "PATH"],
        &["compare", "SAMPLE", "PATH", "--by", "variable"],
        &["diagnose", "PATH/compile.log"],
        &["export", "--parquet", "PATH/lake", "PATH"],
        &["sweep", "PATH"],
        &["sweep", "PATH", "--by", "batch"],
    ];
    let with_csv = ["tiles", "map", "compare", "sweep"];
    for name in HOSTILE {
        let directory = with_names(name);
        let (path, sample) =
            (directory.path().display().to_string(), sample().display().to_string());
        for command in commands {
            let words: Vec<String> = command
                .iter()
                .map(|word| word.replace("PATH", &path).replace("SAMPLE", &sample))
                .collect();
            for form in ["", "--json", "--csv"] {
                let has_no_json =
                    command[0] == "index" || command[0] == "compare" && command.contains(&"--by");
                if form == "--csv" && !with_csv.contains(&command[0])
                    || form == "--json" && has_no_json
                {
                    continue;
                }
                let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
                all.extend(Some(form).filter(|form| !form.is_empty()));
                let output = crate::common::tilescope(&all);
                let out = String::from_utf8(output.stdout).unwrap();
                let said = String::from_utf8(output.stderr).unwrap();
                assert!(!said.contains("Usage:"), "{all:?}: {said}");
                for (what, printed) in [("output", &out), ("messages", &said)] {
                    let obeyed = printed.chars().find(|character| is_obeyed(*character));
                    // Within a cell a line end of its own is quoted.
                    let obeyed = obeyed.filter(|obeyed| form != "--csv" || *obeyed != '\r');
                    assert_eq!(obeyed, None, "{what} of {all:?}: {printed:.2000}");
                }
                if form == "--json" {
                    let answer: Result<Value, _> = serde_json::from_str(&out);
                    assert!(answer.is_ok(), "{all:?}: {answer:?} {said}");
                }
                if form == "--csv" {
                    for cell in cells(&out) {
                        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
                        let is_number = cell.parse::<f64>().is_ok() || cell == "-";
                        assert!(!is_formula || is_number, "{all:?}: {cell}");
                    }
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn no_command_prints_a_path_that_is_obeyed() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let hostile = directory.path().join("\u{1b}[2J\u{9b}31m\u{202e}=1");
    fs::create_dir(&hostile).unwrap();
    fs::copy(sample().join("profile.pop"), hostile.join("profile.pop")).unwrap();
    fs::write(hostile.join("\u{1b}[2J.log"), "nothing\n").unwrap();
    fs::create_dir(hostile.join("\u{1b}[1m.log")).unwrap();
    let [all, one] = [directory.path(), &hostile].map(|path| path.display().to_string());
    let absent = format!("{one}/absent");
    for command in [
        &["sweep", &*all][..],
        &["sweep", "--csv", &all],
        &["sweep", "--json", &all],
        &["summary", &one],
        &["summary", "--json", &one],
        &["summary", &absent],
        &["compare", &one, &one],
        &["diagnose", &absent],
        &["check", "--must-fit", &one],
    ] {
        let output = crate::common::tilescope(command);
        for printed in [output.stdout, output.stderr] {
            let printed = String::from_utf8(printed).unwrap();
            let obeyed = printed.chars().find(|character| is_obeyed(*character));
            assert_eq!(obeyed, None, "{command:?}: {printed}");
        }
    }
}
