//! Text is shown, never obeyed: names and paths go through every command.

use super::*;
use crate::common::copies::copy_into;
use crate::common::pickle::pickle;
use crate::contexts::{context, contexts, text};
use clap::{CommandFactory as _, ValueEnum as _};
use tilescope::cli::Arguments;
use tilescope::views::View;

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
        // One that was run.
        fs::copy(in_package("sample_profiles/pair-0.6/profile.pop"), directory.join("profile.pop"))
            .unwrap();
        for column in [
            "runs SET name",
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

/// A directory of several runs, one of which has such names.
fn directory_of_runs(report: &Path, out: &Path) -> String {
    let directory = out.join("runs");
    for (from, name) in [
        (report, "hostile"),
        (&in_package("sample_profiles/pair-0.2"), "a"),
        (&in_package("sample_profiles/pair-0.6"), "b"),
        (&in_package("sample_profiles/pipeline"), "c"),
        (&in_package("sample_profiles/tiny"), "d"),
    ] {
        copy_into(from, &directory.join(name));
    }
    directory.display().to_string()
}

/// A directory with a memory snapshot that has such names, and is called so itself.
fn directory_of_snapshot(name: &str, out: &Path) -> String {
    let frames = serde_json::json!([
        { "filename": format!("{name}.py"), "line": 3, "name": name },
        { "filename": name, "line": 0, "name": name },
    ]);
    let event = |action: &str, size: u64, time: u64| {
        serde_json::json!({
            "action": action, "addr": 1 << 20, "size": size, "stream": 0, "time_us": time,
            "frames": frames, "user_metadata": name,
        })
    };
    let block = serde_json::json!({
        "address": 1 << 20, "size": 2 << 20, "requested_size": 2 << 20, "state": "active_allocated", "frames": frames,
    });
    let segment = serde_json::json!({
        "device": 0, "address": 1 << 20, "total_size": 2 << 20, "allocated_size": 2 << 20, "active_size": 2 << 20,
        "requested_size": 2 << 20, "stream": 0, "segment_type": "large", "is_expandable": false,
        "blocks": [block], "frames": frames,
    });
    let mark = |stage: &str, time: u64| serde_json::json!({ "stage": stage, "name": name, "device": 0, "time_us": time });
    let snapshot = serde_json::json!({
        "segments": [segment],
        "device_traces": [[event("segment_alloc", 2 << 20, 5), event(name, 7, 6), event("alloc", 2 << 20, 7)]],
        "allocator_settings": { "PYTORCH_CUDA_ALLOC_CONF": name, name: name },
        "external_annotations": [mark("START", 4), mark("END", 9)],
    });
    let directory = out.join("snapshots");
    fs::create_dir_all(&directory).unwrap();
    let file = name.replace(['\0', '/'], "");
    fs::write(directory.join(format!("{file}.pickle")), pickle(&snapshot)).unwrap();
    let text = format!("{name} CUDA out of memory. Tried to allocate 2.00 MiB. {name}");
    fs::write(directory.join(format!("{file}.pickle.oom.txt")), text).unwrap();
    fs::write(directory.join("app.json"), serde_json::json!({ name: name }).to_string()).unwrap();
    directory.display().to_string()
}

/// A directory with an XLA module that has such names, and is called so itself: an instruction whose value is a
/// parameter, in the only allocation.
fn directory_of_program(name: &str, out: &Path) -> String {
    /// A field that has a length; of texts here that is less than 2¹⁴.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap();
        let length = [(length & 0x7F) as u8 | 0x80, (length >> 7) as u8];
        [&[number << 3 | 2], &length[..], bytes].concat()
    }
    let text = name.as_bytes();
    // `number` of a field is one byte up to 15; 35 takes two.
    let instruction = [
        field(1, text),
        field(2, b"parameter"),
        field(3, &[0x10, 11, 0x18, 2]),
        field(7, &[field(2, text), field(3, text)].concat()),
        vec![0x98, 0x02, 1],
    ];
    let computation = [field(1, text), field(2, &instruction.concat()), vec![0x28, 1, 0x30, 1]];
    let sequence = [vec![0x08, 1], field(2, &field(1, &[1]))].concat();
    let module = [
        field(1, text),
        field(3, &computation.concat()),
        vec![0x30, 1],
        field(7, &field(1, &sequence)),
    ];
    let value = [vec![0x08, 1, 0x10, 8], field(3, &[0x20, 1])].concat();
    let allocation = [vec![0x10, 8], field(9, &[0x08, 1, 0x18, 8])].concat();
    let assignment = [field(1, &value), field(3, &allocation)].concat();
    let proto = [field(1, &module.concat()), field(3, &assignment)].concat();
    let directory = out.join("programs");
    fs::create_dir_all(&directory).unwrap();
    let file = name.replace(['\0', '/'], "");
    fs::write(directory.join(format!("module_0001.{file}.x.hlo.pb")), proto).unwrap();
    let flags = format!("{name}: \"{name}\"\n");
    fs::write(directory.join(format!("module_0001.{file}.x.debug_options")), flags).unwrap();
    directory.display().to_string()
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

/// What is run of each command; options that have a list of values get each of them besides. PATH is the report with
/// such names, SNAPSHOT a directory with such a memory snapshot, SAMPLE one without, SWEEP a directory of both, OUT one that is
/// empty, NAME the name itself.
const RUN: [&[&str]; 97] = [
    &["summary", "PATH"],
    &["summary", "PATH", "--log", "PATH/compile.log"],
    &["tiles", "PATH", "--by"],
    &["tiles", "--tile", "3", "PATH"],
    &["tiles", "--ipu", "0", "PATH"],
    &["liveness", "PATH"],
    &["liveness", "PATH", "--step", "peak", "--by"],
    &["liveness", "--device", "0", "PATH"],
    &["liveness", "--arena", "3", "PATH"],
    &["liveness", "--filter", "NAME", "PATH"],
    &["liveness", "--peaks", "3", "PATH"],
    &["map", "--arena", "3", "PATH"],
    &["map", "--tile", "3", "--step", "5", "PATH"],
    &["check", "--max-tile-bytes", "1024", "PATH"],
    &["check", "--max-total-bytes", "1024", "PATH"],
    &["check", "--max-peak-bytes", "1024", "PATH"],
    &["check", "--max-growth", "1", "--baseline", "SAMPLE", "PATH"],
    &["check", "--min-headroom-bytes", "1024", "PATH"],
    &["check", "--must-fit", "PATH"],
    &["check", "--must-fit", "PATH", "--format"],
    &["check", "--must-fit", "SNAPSHOT/NAME", "--format"],
    &["compare", "SAMPLE", "PATH", "--by"],
    &["compare", "SAMPLE", "PATH", "--brief"],
    &["compare", "SAMPLE", "PATH", "PATH"],
    &["diagnose", "PATH/compile.log"],
    &["diagnose", "OUT/absent/NAME"],
    &["sweep", "PATH"],
    &["sweep", "PATH", "--by", "batch"],
    &["sweep", "PATH", "--by", "NAME"],
    &["sweep", "PATH", "--by", "batch", "--and", "NAME"],
    &["sweep", "PATH", "--by", "batch", "--figure", "NAME"],
    &["ops", "PATH"],
    &["ops", "PATH", "--by"],
    &["ops", "--layer", "NAME", "PATH"],
    &["trace", "PATH"],
    &["trace", "--ipu", "0", "PATH"],
    &["trace", "--from", "0", "--to", "100000", "PATH"],
    &["export", "--chrome-trace", "OUT/trace.json", "PATH"],
    &["export", "--parquet", "OUT/lake", "PATH"],
    &["index", "PATH"],
    &["index", "--module", "NAME", "PROGRAM"],
    &["index", "--list"],
    &["index", "--clear"],
    &["render", "PATH", "-o", "OUT/a.svg", "--page"],
    &["report", "PATH", "-o", "OUT/a.html"],
    &["report", "SNAPSHOT", "--capacity", "1GiB", "--other", "1", "-o", "OUT/b.html"],
    &["report", "PATH", "--module", "NAME", "-o", "OUT/c.html"],
    &["summary", "SNAPSHOT"],
    &["summary", "--capacity", "1MiB", "--other", "1MiB", "SNAPSHOT"],
    &["liveness", "SNAPSHOT"],
    &["liveness", "--device", "0", "SNAPSHOT"],
    &["tiles", "SNAPSHOT"],
    &["compare", "SNAPSHOT", "SNAPSHOT"],
    &["compare", "SNAPSHOT", "SNAPSHOT", "SNAPSHOT"],
    &["compare", "SNAPSHOT", "SNAPSHOT", "--by", "module,variable"],
    &["compare", "--device", "0", "--capacity", "1MiB", "--other", "1MiB", "SNAPSHOT", "SNAPSHOT"],
    &["compare", "SNAPSHOT", "SAMPLE"],
    &["check", "--must-fit", "--device", "0", "--capacity", "1GiB", "--other", "1MiB", "SNAPSHOT"],
    &["check", "--max-growth", "1", "--baseline", "SNAPSHOT", "SNAPSHOT"],
    &["diagnose", "SNAPSHOT/NAME.pickle.oom.txt"],
    &["diagnose", "SNAPSHOT/NAME.pickle"],
    &["map", "--arena", "0", "SNAPSHOT"],
    &["liveness", "SNAPSHOT", "--step", "peak", "--by"],
    &["liveness", "--arena", "0", "--step", "peak", "SNAPSHOT"],
    &["ops", "SNAPSHOT"],
    &["trace", "SNAPSHOT"],
    &["export", "--chrome-trace", "OUT/trace.json", "SNAPSHOT"],
    &["export", "--parquet", "OUT/lake-of-snapshot", "SNAPSHOT"],
    &["summary", "PROGRAM"],
    &["summary", "--module", "NAME", "PROGRAM"],
    &["summary", "--module", "absent", "PROGRAM"],
    &["summary", "--module", "NAME", "SNAPSHOT"],
    &["liveness", "--module", "NAME", "--step", "peak", "PROGRAM"],
    &["liveness", "PROGRAM", "--step", "peak", "--by"],
    &["map", "--arena", "0", "PROGRAM"],
    &["tiles", "PROGRAM"],
    &["compare", "PROGRAM", "PROGRAM"],
    &["compare", "PROGRAM", "PROGRAM", "PROGRAM"],
    &["compare", "PROGRAM", "SNAPSHOT"],
    &["compare", "--module", "NAME", "PROGRAM", "PROGRAM"],
    &["compare", "PROGRAM", "PROGRAM", "--by", "operation,variable"],
    &["compare", "--device", "0", "--capacity", "1MiB", "--other", "1MiB", "PROGRAM", "PROGRAM"],
    &["compare", "--device", "7", "PROGRAM", "PROGRAM"],
    &["check", "--must-fit", "--capacity", "1GiB", "PROGRAM"],
    &["check", "--must-fit", "--module", "NAME", "PROGRAM"],
    &["diagnose", "PROGRAM"],
    &["export", "--parquet", "OUT/lake-of-program", "PROGRAM"],
    &["export", "--parquet", "OUT/lake-of-module", "--module", "NAME", "PROGRAM"],
    &["export", "--parquet", "OUT/lake-of-none", "--module", "absent", "PROGRAM"],
    &["sweep", "SNAPSHOT"],
    &["sweep", "SNAPSHOT", "--capacity", "1GiB", "--other", "1MiB"],
    &["sweep", "SNAPSHOT", "--reference", "NAME"],
    &["sweep", "SNAPSHOT", "--device", "0"],
    &["sweep", "SNAPSHOT", "--device", "7"],
    &["sweep", "PROGRAM"],
    &["sweep", "PROGRAM", "--module", "NAME"],
    &["sweep", "PROGRAM", "--capacity", "1GiB", "--reference", "NAME"],
];

/// Commands that show nothing of a report, and options that do not.
const NOTHING_OF_REPORTS: [&str; 6] = ["demo", "synth", "record", "completions", "man", "help"];
const NO_TEXT: [&str; 11] = [
    "help", "version", "no-index", "stats", "json", "csv", "arrow", "theme", "scale", "size",
    "output",
];
/// Options of `render`, which draws and prints nothing of them.
const DRAWN: [&str; 7] = ["picture", "step", "ipu", "tile", "capacity", "other", "module"];

/// A command with each value of its last option, where that was left out.
fn with_values(words: &[&str]) -> Vec<Vec<String>> {
    let program = Arguments::command();
    let command = program.find_subcommand(words[0]).unwrap();
    let long = words.last().unwrap().strip_prefix("--");
    let arg = command.get_arguments().find(|arg| long.is_some() && arg.get_long() == long);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let Some(arg) = arg.filter(|arg| arg.get_action().takes_values()) else { return vec![words] };
    let values = arg.get_possible_values();
    assert!(!values.is_empty(), "{words:?}");
    let with = |value: &clap::builder::PossibleValue| {
        let mut all = words.clone();
        all.push(value.get_name().to_owned());
        let view = View::from_str(value.get_name(), false).ok().filter(|_| words[0] == "render");
        if view.is_some_and(View::is_sweep) {
            all[1] = "SWEEP".to_owned();
        }
        if view.is_some_and(View::needs_several) {
            all.insert(1, "SAMPLE".to_owned());
        }
        all
    };
    let without = words[..words.len() - 1].to_vec();
    let is_optional = !arg.is_required_set();
    values.iter().map(with).chain(is_optional.then_some(without)).collect()
}

/// So that a command, an option or a form that comes later cannot be forgotten here.
#[test]
fn every_command_and_option_goes_through_with_hostile_names() {
    let program = Arguments::command();
    for command in program.get_subcommands() {
        let name = command.get_name();
        if NOTHING_OF_REPORTS.contains(&name) {
            continue;
        }
        let run: Vec<_> = RUN.iter().filter(|words| words[0] == name).collect();
        assert!(!run.is_empty(), "{name} is not run");
        for long in command.get_arguments().filter_map(clap::Arg::get_long) {
            let option = format!("--{long}");
            let is_run = run.iter().any(|words| words.contains(&&*option));
            let is_drawn = name == "render" && DRAWN.contains(&long);
            assert!(is_run || is_drawn || NO_TEXT.contains(&long), "{name} {option} is not run");
        }
    }
}

/// Runs a command with an index of its own.
fn run(words: &[String], cache: &Path) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(words)
        .env("XDG_CACHE_HOME", cache)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap()
}

#[test]
fn no_command_prints_what_is_obeyed() {
    let together = HOSTILE.concat();
    for name in HOSTILE.into_iter().chain([&*together]) {
        let directory = with_names(name);
        let out = tempfile::tempdir().unwrap();
        let places = [
            ("PATH", directory.path().display().to_string()),
            ("SAMPLE", sample().display().to_string()),
            ("SWEEP", directory_of_runs(directory.path(), out.path())),
            ("SNAPSHOT", directory_of_snapshot(name, out.path())),
            ("PROGRAM", directory_of_program(name, out.path())),
            ("OUT", out.path().display().to_string()),
            // No argument has a NUL in it.
            ("NAME", name.replace('\0', "")),
        ];
        // It is one that can be read.
        let snapshot = directory_of_snapshot(name, out.path());
        let summary = run(&["summary".to_owned(), snapshot], &out.path().join("cache"));
        assert!(summary.status.success(), "{}", String::from_utf8_lossy(&summary.stderr));
        let program = directory_of_program(name, out.path());
        let summary = run(&["summary".to_owned(), program], &out.path().join("cache"));
        assert!(summary.status.success(), "{}", String::from_utf8_lossy(&summary.stderr));
        for words in RUN.iter().flat_map(|words| with_values(words)) {
            // A picture takes a while: of all these names together there is one of each.
            if (words[0] == "render") != (name == together) {
                continue;
            }
            assert_nothing_is_obeyed(&words, &places, out.path());
        }
    }
}

fn assert_nothing_is_obeyed(words: &[String], places: &[(&str, String)], out: &Path) {
    let program = Arguments::command();
    let command = program.find_subcommand(&words[0]).unwrap();
    let fill = |word: &String| {
        places.iter().fold(word.clone(), |word, (what, place)| word.replace(what, place))
    };
    let forms = ["json", "csv"]
        .into_iter()
        .filter(|form| command.get_arguments().any(|arg| arg.get_long() == Some(form)));
    for form in std::iter::once(None).chain(forms.map(Some)) {
        let mut all: Vec<String> = words.iter().map(fill).collect();
        all.extend(form.map(|form| format!("--{form}")));
        let output = run(&all, &out.join("cache"));
        let printed = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        for (what, text) in [("output", &printed), ("messages", &said)] {
            let obeyed = text.chars().find(|character| is_obeyed(*character));
            // Within a cell a line end of its own is quoted.
            let obeyed = obeyed.filter(|obeyed| form != Some("csv") || *obeyed != '\r');
            assert_eq!(obeyed, None, "{what} of {all:?}: {text:.2000}");
        }
        let is_refused = said.contains("cannot be used with");
        assert!(is_refused || !said.contains("Usage:"), "{all:?}: {said}");
        if form == Some("json") && !is_refused {
            let answer: Result<Value, _> = serde_json::from_str(&printed);
            assert!(answer.is_ok(), "{all:?}: {answer:?} {said}");
        }
        for cell in cells(&printed).iter().filter(|_| form == Some("csv")) {
            let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let is_number = cell.parse::<f64>().is_ok() || cell == "-";
            assert!(!is_formula || is_number, "{all:?}: {cell}");
        }
        if words[0] == "render" && cfg!(feature = "window") {
            let drawn = fs::read_to_string(out.join("a.svg"));
            let drawn = drawn.unwrap_or_else(|error| panic!("{all:?}: {error} {said}"));
            let refused =
                drawn.chars().find(|it| is_obeyed(*it) || matches!(it, '\u{fffe}' | '\u{ffff}'));
            assert_eq!(refused, None, "{all:?}");
            fs::remove_file(out.join("a.svg")).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn no_command_prints_a_path_that_is_obeyed() {
    let _alone = alone();
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
