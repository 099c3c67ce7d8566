//! Compares what every command answers with the answers stored in `tests/recorded/`.
//!
//! `TILESCOPE_RECORD=1 cargo test --all-features --test suite recorded` stores them anew. The commands run in a
//! temporary directory: `samples/` is a copy of `sample_profiles/`, `made/` is written here. Short answers are
//! stored whole; of a long one the beginning is stored, and a hash of every block of lines behind it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::recording::{HOST, MIB, Recording, stack};
use crate::common::stored::{Shortened, Stored, assert_stored, difference, files_below};
use crate::common::words::line_about_ipus;
use crate::common::{in_package, tilescope_in};
use rayon::prelude::*;
use regex::Regex;

/// How much of an output is stored.
const SHORTENED: Shortened = Shortened { whole_bytes: 5 << 10, head_bytes: 3 << 10, blocks: 8 };
/// How much is stored of those that are looked at most.
const SHORTENED_LESS: Shortened = Shortened { whole_bytes: 16 << 10, ..SHORTENED };
const LOOKED_AT_MOST: [&str; 4] = ["summary", "compare", "sweep", "diagnose"];

/// What `synth` writes: one command line for each directory or file below `made/`.
const MADE: [&str; 20] = [
    "synth --batch 4 --ipus 2 --execution --functions --instrumented --cycle-estimates --overlapped-io --blocks -o made/rich",
    "synth --proportion 0.005 -o made/minimum",
    "synth --system pytorch NET --batch 4 -o made/training/segments-0/snapshot.pickle",
    "synth --system pytorch NET --batch 4 --checkpoint-segments 2 -o made/training/segments-2/snapshot.pickle",
    "synth --system pytorch NET --batch 4 --capacity 10MiB --other 2MiB -o made/training/failed/snapshot.pickle",
    "synth --system pytorch NET --batch 4 --capacity 9MiB -o made/failed/snapshot.pickle",
    "synth --system pytorch NET --batch 8 --capacity 24MiB --go-on -o made/goes-on/snapshot.pickle",
    "synth --system pytorch NET --max-entries 120 -o made/window/snapshot.pickle",
    "synth --system pytorch NET --streams 2 --varied-lengths --max-split-size 32MiB --roundup-power2-divisions 4 -o made/settings/snapshot.pickle",
    "synth --system xla NET --batch 4 --platform gpu --capacity 2MiB --texts -o made/gpu/full",
    "synth --system xla NET --batch 4 --platform gpu --capacity 2MiB --remat full --texts -o made/gpu/again",
    "synth --system xla NET --batch 4 --platform gpu --capacity 64MiB --donate --half-precision -o made/gpu/half",
    "synth --system xla NET --batch 4 --platform tpu --texts -o made/tpu",
    "synth --system xla NET --batch 4 --platform tpu --remat dots --texts -o made/tpu-texts",
    "synth --system xla NET --batch 4 --platform tpu -o made/several",
    "synth --system xla NET --batch 2 --platform cpu --unroll 2 -o made/cpu",
    "synth --system xla NET --batch 4 --platform tpu -o made/refused",
    "synth --system tenstorrent BLOCKS --batch 4 --ranks 2 -o made/chips",
    "synth --system tenstorrent BLOCKS --batch 4 --schema 2 --passes 2 -o made/old-chip",
    "synth --system tenstorrent BLOCKS --batch 2048 --schema 3.3 -o made/lost-chip",
];
/// A transformer that is quick to write.
const NET: &str = "--layers 2 --width 64 --heads 2 --sequence 64 --vocabulary 1024";
/// What such a network has of a vocabulary left out.
const BLOCKS: &str = "--layers 2 --width 64 --heads 2 --sequence 64";

/// Reports that every question is asked about.
const REPORTS: [&str; 2] = ["samples/pair-0.6", "made/rich"];
const ABOUT_REPORTS: [&str; 30] = [
    "tiles RUN",
    "tiles RUN --by region",
    "tiles RUN --by liveness",
    "tiles RUN --by gaps --tile 0-3,7",
    "tiles RUN --ipu 0 --by category",
    "liveness RUN",
    "liveness RUN --peaks 3",
    "liveness RUN --step 12",
    "liveness RUN --step peak",
    "liveness RUN --step peak --by category",
    "liveness RUN --step peak --by operation",
    "liveness RUN --step peak --by module",
    "liveness RUN --step peak --by variable",
    "liveness RUN --step peak --by fullest",
    "liveness RUN --step peak --tile 3",
    "liveness RUN --step peak --tile 3 --by category",
    "liveness RUN --ipu 0 --peaks 2",
    "liveness RUN --filter conv",
    "map RUN --tile 0",
    "map RUN --tile 3 --step 12",
    "ops RUN",
    "ops RUN --by module",
    "ops RUN --layer poplibs",
    "trace RUN",
    "trace RUN --ipu 0 --from 100000 --to 300000",
    "check RUN --must-fit",
    "check RUN --max-tile-bytes 1K --max-total-bytes 1G --max-peak-bytes 100K",
    "check RUN --max-tile-bytes 1G --max-total-bytes 1G --max-peak-bytes 1G --must-fit",
    "check RUN --baseline samples/tiny --max-growth 10",
    "export RUN --parquet lake/NAME",
];
/// What is asked about all reports.
const MORE_REPORTS: [&str; 4] =
    ["samples/tiny", "samples/does-not-fit", "samples/pipeline", "made/minimum"];
const ABOUT_MORE_REPORTS: [&str; 7] = [
    "tiles RUN --by category",
    "liveness RUN --step peak --by category",
    "map RUN --tile 1",
    "ops RUN --by module",
    "trace RUN",
    "check RUN --must-fit",
    "check RUN --max-peak-bytes 2M --max-total-bytes 2M",
];

const SNAPSHOTS: [&str; 2] = ["samples/training/segments-2/snapshot.pickle", "made/two.pickle"];
const ABOUT_SNAPSHOTS: [&str; 13] = [
    "liveness RUN",
    "liveness RUN --peaks 3",
    "liveness RUN --step 5",
    "liveness RUN --step peak --device 0",
    "liveness RUN --device -1",
    "liveness RUN --filter alloc",
    "liveness RUN --step peak --by category",
    "check RUN --max-total-bytes 1M --max-peak-bytes 1M",
    "check RUN --max-total-bytes 1G --max-peak-bytes 1G",
    "check RUN --must-fit --capacity 20MiB",
    "check RUN --must-fit --capacity 2GiB --other 100MiB",
    "check RUN --baseline made/one.pickle --max-growth 10",
    "export RUN --parquet lake/NAME",
];
const MORE_SNAPSHOTS: [&str; 9] = [
    "samples/training/segments-0/snapshot.pickle",
    "made/failed/snapshot.pickle",
    "made/goes-on/snapshot.pickle",
    "made/window/snapshot.pickle",
    "made/settings/snapshot.pickle",
    "made/one-failed.pickle",
    "made/state.pickle",
    "made/ranks",
    "made/timeline.json",
];
const ABOUT_MORE_SNAPSHOTS: [&str; 3] = [
    "liveness RUN --step peak",
    "check RUN --must-fit",
    "check RUN --max-total-bytes 100M --max-peak-bytes 100M",
];

const PROGRAMS: [&str; 2] = ["samples/xla/keep", "made/spaces"];
const ABOUT_PROGRAMS: [&str; 13] = [
    "liveness RUN",
    "liveness RUN --peaks 3",
    "liveness RUN --step 5",
    "liveness RUN --step peak --device 0",
    "liveness RUN --step peak --device 1",
    "liveness RUN --filter fusion",
    "liveness RUN --step peak --by category",
    "check RUN --max-total-bytes 1K --max-peak-bytes 1K",
    "check RUN --max-total-bytes 1G --max-peak-bytes 1G",
    "check RUN --must-fit --capacity 1MiB",
    "check RUN --must-fit --capacity 1GiB --other 100MiB",
    "check RUN --baseline samples/xla/again --max-growth 10",
    "export RUN --parquet lake/NAME",
];
const MORE_PROGRAMS: [&str; 10] = [
    "samples/xla/again",
    "samples/xla/donate",
    "made/gpu/full",
    "made/gpu/half",
    "made/tpu",
    "made/tpu-texts",
    "made/several",
    "made/cpu",
    "made/refused",
    "made/error.txt",
];
const ABOUT_MORE_PROGRAMS: [&str; 3] = [
    "liveness RUN --step peak",
    "check RUN --must-fit",
    "check RUN --max-total-bytes 2M --max-peak-bytes 2M",
];

const TTNN_REPORTS: [&str; 2] = ["samples/tenstorrent/l1", "made/chips"];
const ABOUT_TTNN_REPORTS: [&str; 9] = [
    "liveness RUN",
    "liveness RUN --peaks 3",
    "liveness RUN --step 5",
    "liveness RUN --step peak --device 0",
    "liveness RUN --step peak --by category",
    "map RUN --arena 0",
    "check RUN --max-total-bytes 1K --max-peak-bytes 1G",
    "check RUN --must-fit",
    "check RUN --baseline samples/tenstorrent/dram --max-growth 10",
];
const MORE_TTNN_REPORTS: [&str; 4] = [
    "samples/tenstorrent/dram",
    "samples/tenstorrent/too-large",
    "made/old-chip",
    "made/lost-chip",
];
const ABOUT_MORE_TTNN_REPORTS: [&str; 2] = ["liveness RUN --step peak", "check RUN --must-fit"];

/// What a system has no answer to.
const NOT_ABOUT_ALL: [&str; 4] =
    ["tiles RUN", "map RUN --tile 0", "ops RUN", "trace RUN --from 0 --to 9"];

/// What command lines about IPU reports, or about runs of all systems, have in them. All other answers are about no IPU.
const ABOUT_IPUS: [&str; 15] = [
    "samples/tiny",
    "samples/pair",
    "samples/does-not-fit",
    "samples/pipeline",
    "made/rich",
    "made/minimum",
    "made/cut-report",
    "made/poplar.log",
    "samples ",
    "--help",
    "synth",
    "tiles",
    "--tile",
    "--max-tile",
    "--ipu",
];
/// What command lines have in them about modules and tensors of TT-NN, whose layouts may have tiles, as findings in logs
/// have a key for one.
const ABOUT_TILED_LAYOUTS: [&str; 11] = [
    "tenstorrent",
    "chip",
    "diagnose",
    "xla",
    "made/gpu",
    "made/tpu",
    "made/cpu",
    "made/several",
    "spaces",
    "refused",
    "error.txt",
];

/// Questions about several runs, logs, and such that are wrong.
const FURTHER: &[&str] = &[
    "summary samples/tiny --log made/poplar.log",
    "summary made/several --module jit_other",
    "liveness made/several --module jit_other --step peak",
    "compare samples/pair-0.6 samples/pair-0.2",
    "compare samples/pair-0.6 samples/pair-0.2 --brief",
    "compare samples/pair-0.6 samples/pair-0.2 --by category",
    "compare samples/pair-0.6 samples/pair-0.2 --by operation,module",
    "compare samples/pair-0.6 samples/pair-0.2 --by variable",
    "compare samples/pair-0.6 samples/pair-0.2 --by fullest",
    "compare samples/tiny samples/does-not-fit",
    "compare samples/tiny samples/tiny",
    "compare samples/pipeline made/rich",
    "compare samples/tiny samples/pair-0.6 samples/pair-0.2",
    "compare samples/training/segments-0 samples/training/segments-2",
    "compare samples/training/segments-0 samples/training/segments-2 --brief",
    "compare samples/training/segments-0 samples/training/segments-2 --by category",
    "compare samples/training/segments-0 samples/training/segments-2 --by module,variable",
    "compare samples/training/segments-0 samples/training/segments-2 --by operation",
    "compare samples/training/segments-0 samples/training/segments-2 --capacity 300MiB --other 10MiB",
    "compare made/training/segments-0 made/training/failed",
    "compare made/failed made/goes-on",
    "compare made/one.pickle made/two.pickle --device 0",
    "compare made/one.pickle made/two.pickle --device 1",
    "compare made/one.pickle made/state.pickle",
    "compare made/ranks made/two.pickle",
    "compare samples/training/segments-0 samples/training/segments-2 made/failed",
    "compare samples/xla/keep samples/xla/again",
    "compare samples/tenstorrent/dram samples/tenstorrent/l1",
    "sweep samples/tenstorrent",
    "compare samples/xla/keep samples/xla/again --brief",
    "compare samples/xla/keep samples/xla/again --by category,operation",
    "compare samples/xla/keep samples/xla/again --by variable",
    "compare samples/xla/keep samples/xla/again --by module",
    "compare samples/xla/keep samples/xla/donate --capacity 8MiB --other 1MiB",
    "compare made/gpu/full made/gpu/again",
    "compare made/tpu made/tpu-texts",
    "compare made/spaces made/more-spaces",
    "compare made/spaces made/more-spaces --device 1",
    "compare made/spaces made/tpu --device 1",
    "compare made/spaces made/refused",
    "compare made/several made/cpu",
    "compare samples/xla/keep samples/xla/again samples/xla/donate",
    "compare samples/tiny samples/xla/keep",
    "compare samples/xla/keep samples/training/segments-0",
    "compare samples/tiny samples/training/segments-0 samples/xla/keep",
    "sweep samples",
    "sweep samples --by availableMemoryProportion",
    "sweep samples --by availableMemoryProportion --figure peak",
    "sweep samples --by batch_size --and availableMemoryProportion --figure total",
    "sweep samples --by absent",
    "sweep samples/training",
    "sweep samples/training --capacity 300MiB --other 10MiB --reference checkpoint_segments=2",
    "sweep made/training",
    "sweep made/training --capacity 12MiB",
    "sweep made/one.pickle made/two.pickle made/one-failed.pickle made/state.pickle --device 0",
    "sweep made/ranks made/one.pickle",
    "sweep samples/xla",
    "sweep samples/xla --capacity 6MiB --reference keep",
    "sweep made/gpu",
    "sweep made/several --module jit",
    "sweep made/tpu made/refused made/spaces",
    "sweep samples/training --by batch",
    "sweep samples/xla --reference absent",
    "sweep made/logs",
    "diagnose made/poplar.log",
    "diagnose made/cuda.log",
    "diagnose made/xla.log",
    "diagnose made/nothing.log",
    "diagnose made/poplar.log made/cuda.log made/xla.log",
    "diagnose made/cuda.log made/one-failed.pickle",
    "diagnose made/cuda.log made/two.pickle",
    "diagnose made/one-failed.pickle",
    "diagnose made/failed/snapshot.pickle.oom.txt",
    "diagnose made/ranks made/cuda.log",
    "diagnose made/refused/error.txt",
    "diagnose made/xla.log made/tpu",
    "diagnose made/minimum/compile.log",
    "diagnose absent.log",
    "diagnose samples/tiny",
    "export samples/pair-0.6 --chrome-trace lake/pair.json",
    "export samples/tiny --chrome-trace lake/tiny.json",
    "export samples/tiny samples/training/segments-0 samples/xla --parquet lake/all",
    "export made/timeline.json --parquet lake/timeline",
    "export made/several --module jit_other --parquet lake/module",
    "export samples/tiny",
    "summary absent",
    "summary samples",
    "summary made/logs",
    "summary made/nothing.log",
    "summary made/empty.pickle",
    "summary made/cut.pickle",
    "summary made/cut.hlo.pb",
    "summary made/cut-report",
    "summary made/page.html",
    "liveness absent",
    "liveness made/empty.pickle",
    "tiles made/cut-report",
    "tiles samples/tiny --tile 99",
    "tiles samples/tiny --ipu 7",
    "map samples/tiny --tile 99",
    "map samples/tiny --tile 0 --step 99999",
    "liveness samples/tiny --step 99999",
    "liveness samples/tiny --device 0",
    "liveness samples/tiny --ipu 9",
    "liveness samples/tiny --by category",
    "liveness made/one.pickle --step 99999",
    "liveness made/one.pickle --device 7",
    "liveness made/one.pickle --tile 0",
    "liveness samples/xla/keep --step 99999",
    "liveness samples/xla/keep --device 7",
    "liveness samples/xla/keep --ipu 0",
    "liveness samples/xla/keep --module absent",
    "summary made/several --module absent",
    "ops samples/tiny --layer absent",
    "trace samples/pair-0.6 --ipu 7",
    "check samples/tiny",
    "check samples/tiny --must-fit --capacity 1GiB",
    "check samples/tiny --max-tile-bytes many",
    "check samples/tiny --baseline absent --max-growth 1",
    "check samples/tiny --max-growth 1",
    "check made/one.pickle --max-tile-bytes 1K",
    "check samples/xla/keep --max-tile-bytes 1K",
    "check samples/xla/keep --must-fit --device 7",
    "check samples/tiny --baseline made/one.pickle --max-growth 1",
    "compare samples/tiny",
    "compare samples/tiny absent",
    "compare made/one.pickle made/timeline.json",
    "sweep absent",
    "sweep samples/tiny --and batch_size",
    "summary",
    "unknown",
    "synth -o made/rich",
    "synth --system pytorch --ipus 2 -o made/new",
    "synth --system xla --schema 2 -o made/new",
    "render samples/tiny --page absent -o made/new.png",
    "--version",
    "--help",
    "summary --help",
    "tiles --help",
    "liveness --help",
    "trace --help",
    "map --help",
    "ops --help",
    "check --help",
    "compare --help",
    "diagnose --help",
    "sweep --help",
    "export --help",
    "render --help",
    "index --help",
    "demo --help",
    "synth --help",
];

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Csv,
}

impl Form {
    /// Those that a command line is asked in.
    fn of(line: &str) -> &'static [Self] {
        let has = |option: &str| line.split(' ').any(|word| word == option);
        let command = line.split(' ').next().unwrap_or_default();
        let is_narrowed = has("--brief") || (has("--by") && ["compare", "ops"].contains(&command));
        match command {
            _ if has("--help") => &[Self::Text],
            "compare" if has("--brief") => &[Self::Text],
            "compare" | "ops" if is_narrowed => &[Self::Text, Self::Csv],
            "summary" | "tiles" | "liveness" | "trace" | "map" | "ops" | "compare" | "sweep" => {
                &[Self::Text, Self::Json, Self::Csv]
            }
            "check" | "diagnose" | "export" | "index" => &[Self::Text, Self::Json],
            _ => &[Self::Text],
        }
    }

    fn option(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Json => Some("--json"),
            Self::Csv => Some("--csv"),
        }
    }
}

/// A command line in one form.
#[derive(Debug)]
struct Asked {
    /// The file below `tests/recorded/`: the command is its folder, the other words are its name.
    file: String,
    line: String,
}

impl Asked {
    fn all() -> Vec<Self> {
        let mut lines: Vec<String> = FURTHER.iter().map(|line| (*line).to_owned()).collect();
        let mut add = |runs: &[&str], about: &[&str]| {
            for run in runs {
                let name = run.replace('/', "-");
                let of_run = |line: &&str| line.replace("RUN", run).replace("NAME", &name);
                lines.extend(about.iter().map(of_run));
            }
        };
        for (most, more, about, about_more) in [
            (&REPORTS[..], &MORE_REPORTS[..], &ABOUT_REPORTS[..], &ABOUT_MORE_REPORTS[..]),
            (&SNAPSHOTS, &MORE_SNAPSHOTS, &ABOUT_SNAPSHOTS, &ABOUT_MORE_SNAPSHOTS),
            (&PROGRAMS, &MORE_PROGRAMS, &ABOUT_PROGRAMS, &ABOUT_MORE_PROGRAMS),
            (&TTNN_REPORTS, &MORE_TTNN_REPORTS, &ABOUT_TTNN_REPORTS, &ABOUT_MORE_TTNN_REPORTS),
        ] {
            add(most, about);
            add(&[most, more].concat(), &["summary RUN"]);
            add(more, about_more);
        }
        add(&[SNAPSHOTS[1], PROGRAMS[0], TTNN_REPORTS[0]], &NOT_ABOUT_ALL);
        let asked =
            |line: &String| Form::of(line).iter().map(|form| Self::of(line, *form)).collect();
        lines.iter().flat_map::<Vec<_>, _>(asked).collect()
    }

    fn of(line: &str, form: Form) -> Self {
        let (command, rest) = line.split_once(' ').unwrap_or(("program", line));
        let words = rest.split(' ').map(|word| {
            let word = word.strip_prefix("samples/").unwrap_or(word);
            word.trim_start_matches('-').replace('/', "-")
        });
        let name = words.collect::<Vec<_>>().join("_");
        let ending = form.option().map_or_else(String::new, |option| option.replace("--", "."));
        // Forms are asked for at the same time: what one writes another leaves alone.
        let line = line.replace("lake/", &format!("lake/{form:?}-").to_lowercase());
        Self {
            file: format!("{command}/{name}{ending}.txt"),
            line: [Some(&*line), form.option()].into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }

    /// What the program answers, whole.
    fn answer(&self, directory: &Path) -> Answer {
        let words: Vec<&str> = self.line.split(' ').collect();
        let Output { status, stdout, stderr } = tilescope_in(directory, &words);
        let place = directory.to_str().expect("UTF-8");
        // Files of a lake have paths in them, and are as long as these.
        let hidden = self.line.contains("--parquet").then(sizes);
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace(place, "<dir>");
            match &hidden {
                Some(sizes) => sizes.replace_all(&text, "${before}…").into_owned(),
                None => text,
            }
        };
        Answer { status: status.code(), stdout: text(&stdout), stderr: text(&stderr) }
    }
}

/// The sizes of files in what `export` prints.
fn sizes() -> Regex {
    Regex::new(r#"(?<before>"bytes": |rows, )[0-9.,]+( [KM]?i?B)?"#).expect("an expression")
}

/// What the program said.
struct Answer {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Answer {
    /// As it is stored; `shown` says how an output is put down.
    fn text(&self, line: &str, shown: impl Fn(&str) -> String) -> String {
        let status = self.status.map_or_else(|| "a signal".to_owned(), |status| status.to_string());
        let mut text = format!("$ tilescope {line}\nexit status {status}\n");
        for (title, output) in [("output", &self.stdout), ("error", &self.stderr)] {
            if !output.is_empty() {
                let end = if output.ends_with('\n') { "" } else { "\n[no newline at the end]\n" };
                write!(text, "[standard {title}]\n{}{end}", shown(output)).expect("a text");
            }
        }
        text
    }
}

/// Copies a directory with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a copy");
        }
    }
}

/// All that the commands read.
fn write_runs(directory: &Path) {
    copy(&in_package("sample_profiles"), &directory.join("samples"));
    fs::create_dir_all(directory.join("lake")).expect("a directory");
    let made = directory.join("made");
    fs::create_dir_all(made.join("logs")).expect("a directory");
    MADE.par_iter().for_each(|line| {
        let line = line.replace("NET", NET).replace("BLOCKS", BLOCKS);
        let output = tilescope_in(directory, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    });
    write_snapshots(&made);
    write_programs(&made);
    write_texts(&made);
    write_damaged(&made);
}

/// Blocks on two GPUs and on the host: GPU 1 has most.
fn two_devices() -> Recording {
    let mut run = Recording::default();
    let weight = stack(&[("/home/me/train.py", 10, "__init__")]);
    let forward =
        stack(&[("/home/me/model.py", 30, "attend"), ("/home/me/train.py", 20, "forward")]);
    run.alloc(HOST, 64 * MIB, &stack(&[("/home/me/data.py", 5, "pin")]));
    run.alloc(0, 4 * MIB, &weight);
    run.alloc(1, 4 * MIB, &weight);
    let first = run.alloc(0, 6 * MIB, &forward);
    let second = run.alloc(1, 8 * MIB, &forward);
    run.free(second);
    run.free(first);
    run
}

/// Blocks on one GPU, of which the second has so many MiB.
fn one_device(mebibytes: u64) -> Recording {
    let mut run = Recording::default();
    run.alloc(0, 10 * MIB, &stack(&[("/home/me/train.py", 10, "__init__")]));
    let forward = run.alloc(0, mebibytes * MIB, &stack(&[("/home/me/train.py", 20, "forward")]));
    run.free(forward);
    run
}

const CUDA_MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of \
                            32.00 MiB of which 1.00 MiB is free. Process 77 has 512.00 KiB memory in use.\n";

fn write_snapshots(made: &Path) {
    two_devices().write(made, "two.pickle");
    one_device(20).write(made, "one.pickle");
    let mut failed = one_device(20);
    failed.out_of_memory(0, 40 * MIB, MIB);
    failed.write(made, "one-failed.pickle");
    fs::write(made.join("one-failed.pickle.oom.txt"), CUDA_MESSAGE).expect("a file");
    let mut state = one_device(20);
    state.keep_last(0);
    state.write(made, "state.pickle");
    fs::create_dir_all(made.join("ranks")).expect("a directory");
    for (rank, mebibytes) in [(0, 6), (2, 8), (10, 12)] {
        let mut run = one_device(mebibytes);
        run.alloc(HOST, MIB, &stack(&[("/home/me/data.py", 5, "pin")]));
        run.write(&made.join("ranks"), &format!("memory_rank_{rank}_a.pkl"));
    }
    let timeline = "[[1, 2, 3], [[0, 1048576, 0, 0, 0, 0, 0, 0, 0], [0, 1048576, 2097152, 0, 0, 0, 0, 0, 0], \
                    [0, 1048576, 0, 524288, 0, 0, 0, 0, 0]]]";
    fs::write(made.join("timeline.json"), timeline).expect("a file");
}

/// Texts of a program that has values in two memory spaces.
const TWO_SPACES: &str = "\
BufferAssignment:
allocation 0: size 1048576, parameter 0, shape |f32[512,512]| at ShapeIndex {}:
 value: <1 p @0> (size=1048576,offset=0): f32[512,512]{1,0}
allocation 1: size 3145728, preallocated-temp:
 value: <2 a @0> (size=1048576,offset=0): f32[512,512]{1,0}
 value: <3 b @0> (size=2097152,offset=1048576): f32[1024,512]{1,0}
allocation 2: size 65536, color 1, preallocated-temp:
 value: <4 v @0> (size=65536,offset=0): f32[128,128]{1,0:S(1)}

Total bytes used: 4259840 (4.06MiB)

Used values:
<1 p @0>
 positions:
  p
 uses:
  a, operand 0
 from instruction: %p = f32[512,512]{1,0} parameter(0)
<2 a @0>
 positions:
  a
 uses:
  b, operand 0
 from instruction: %a = f32[512,512]{1,0} fusion(%p), kind=kLoop
<3 b @0>
 positions:
  b
 uses:
  v, operand 0
 from instruction: %b = f32[1024,512]{1,0} fusion(%a), kind=kLoop
<4 v @0>
 positions:
  v
 uses:
 from instruction: %v = f32[128,128]{1,0:S(1)} fusion(%b), kind=kLoop

HloLiveRange (max 4):
  InstructionSequence:
    0:p
    1:a
    2:b
    3:v
  BufferLiveRange:
    p{}:0-4
    a{}:1-3
    b{}:2-3
    v{}:3-4
  Live ranges at 2 (peak):
    a{}: 1048576 bytes
    b{}: 2097152 bytes
";

/// The one module of a dump.
fn module_of(dump: &Path) -> PathBuf {
    let files = fs::read_dir(dump).expect("a directory").flatten().map(|entry| entry.path());
    let is_module = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with(".hlo.pb"));
    files.into_iter().find(is_module).expect("a module")
}

fn write_programs(made: &Path) {
    let more = TWO_SPACES.replace("65536", "98304").replace("[128,128]", "[192,128]");
    for (directory, text) in [("spaces", TWO_SPACES), ("more-spaces", &more)] {
        let file = "module_0001.jit_step.tpu_comp_env-buffer-assignment.txt";
        fs::create_dir_all(made.join(directory)).expect("a directory");
        fs::write(made.join(directory).join(file), text).expect("a file");
    }
    fs::remove_file(module_of(&made.join("tpu-texts"))).expect("a module");
    // A second module in one dump, and a text of XLA beside another.
    let other = made.join("several/module_0007.jit_other.cpu_after_optimizations.hlo.pb");
    fs::copy(module_of(&made.join("cpu")), other).expect("a copy");
    let refused = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used \
                   8.00M of 6.00M hbm. Exceeded hbm capacity by 2.00M.\n";
    fs::write(made.join("refused/error.txt"), refused).expect("a file");
    let error = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (16.10G) \
                 exceeds available HBM (15.75G).\n";
    fs::write(made.join("error.txt"), error).expect("a file");
    fs::write(made.join("xla.log"), format!("step 1\n{error}{refused}")).expect("a file");
}

fn write_texts(made: &Path) {
    let tile =
        "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory\n";
    fs::write(made.join("poplar.log"), format!("compiling\n{tile}{tile}")).expect("a file");
    fs::write(made.join("cuda.log"), format!("step 7\n{CUDA_MESSAGE}")).expect("a file");
    fs::write(made.join("nothing.log"), "all is well\n").expect("a file");
    fs::write(made.join("logs/train.log"), "all is well\n").expect("a file");
    let page = "<html><head><title>GPU Memory Timeline HTML</title></head><body>\
                <img src='data:image/png;base64,iVBORw0KGgo='></body></html>";
    fs::write(made.join("page.html"), page).expect("a file");
}

/// Files that end before their contents do.
fn write_damaged(made: &Path) {
    let cut = |from: &Path, to: &str, bytes: usize| {
        let all = fs::read(from).expect("a file");
        fs::write(made.join(to), &all[..all.len() - bytes]).expect("a file");
    };
    fs::write(made.join("empty.pickle"), "").expect("a file");
    cut(&made.join("window/snapshot.pickle"), "cut.pickle", 900);
    cut(&module_of(&made.join("cpu")), "cut.hlo.pb", 100);
    fs::create_dir_all(made.join("cut-report")).expect("a directory");
    cut(&made.join("rich/profile.pop"), "cut-report/profile.pop", 100_000);
}

#[test]
#[cfg_attr(not(feature = "window"), ignore = "without the window some commands answer otherwise")]
fn commands_answer_as_recorded() {
    let directory = tempfile::tempdir().expect("a directory");
    write_runs(directory.path());
    let asked = Asked::all();
    let mut files: Vec<&str> = asked.iter().map(|asked| &*asked.file).collect();
    files.sort_unstable();
    let twice = files.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two commands have one file");
    let answers = asked.par_iter().map(|asked| (asked, asked.answer(directory.path())));
    let answers: Vec<(&Asked, Answer)> = answers.collect();
    let (mut stored, mut about_ipus) = (BTreeMap::new(), Vec::new());
    for (asked, answer) in &answers {
        let is_looked_at = LOOKED_AT_MOST.iter().any(|command| asked.line.starts_with(command));
        let shortened = if is_looked_at { SHORTENED_LESS } else { SHORTENED };
        let text = answer.text(&asked.line, |output| shortened.of(output));
        let whole = answer.text(&asked.line, str::to_owned);
        let line = format!("{} ", asked.line);
        let is_about = |words: &[&str]| words.iter().any(|word| line.contains(word));
        if !is_about(&ABOUT_IPUS) {
            let foreign = line_about_ipus(&whole, is_about(&ABOUT_TILED_LAYOUTS));
            about_ipus.extend(foreign.map(|said| format!("{line}: {said}")));
        }
        stored.insert(asked.file.clone(), Stored { text, whole });
    }
    assert!(about_ipus.is_empty(), "{about_ipus:#?}");
    // What a lake consists of says more than what the command prints.
    let mut written =
        files_below(&directory.path().join("lake")).into_iter().collect::<Vec<_>>().join("\n");
    written.push('\n');
    let of_lakes = Stored { text: written.clone(), whole: written };
    stored.insert("export/files.txt".to_owned(), of_lakes);
    assert_stored("tests/recorded", "recorded", &stored);
}

#[test]
fn a_change_anywhere_in_a_long_output_is_noticed() {
    let lines: Vec<String> = (0..2000).map(|number| format!("line {number}\n")).collect();
    let whole = SHORTENED.of(&lines.concat());
    assert!(whole.len() < SHORTENED.whole_bytes, "{whole}");
    for changed in [0, 300, 1000, 1999] {
        let mut lines = lines.clone();
        lines[changed].replace_range(..1, "L");
        let text = SHORTENED.of(&lines.concat());
        let different = text.lines().zip(whole.lines()).filter(|(now, before)| now != before);
        assert_eq!(different.count(), 1, "{changed}: one line, or the hash of one block");
    }
    let short = "a\nb\n";
    assert_eq!(SHORTENED.of(short), short);
    assert_eq!(
        difference("a\nb\nc\n", "a\nx\nc\n"),
        "from line 2\n    a\n  - b\n  - c\n  + x\n  + c\n"
    );
}
