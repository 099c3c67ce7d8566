//! Compares what the window shows of PyTorch snapshots and XLA modules with the texts in `tests/scenes/`: names and
//! values of everything on a page, and what its tables copy, without places.
//!
//! `TILESCOPE_RECORD=1 cargo test --all-features --test window recorded_scenes` stores them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use eframe::egui::{Modifiers, Theme};
use tilescope::format::Progress;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::pytorch::synth::caching_allocator::CardMemory;
use tilescope::systems::pytorch::synth::{SnapshotOptions, write_snapshot};
use tilescope::ui::command::Page;

use crate::dump::{Places, copied_tables, describe};
use crate::scenes::Act::{Choose, Click, Go, Hover, Press, Rest, Row, Switch, Type};
use crate::scenes::{Act, Reports, directory_of_reports, without_paths};
use crate::stored::{Shortened, Stored, assert_stored};
use crate::words::line_about_ipus;

/// How much of a table is stored.
const SHORTENED: Shortened = Shortened { whole_bytes: 1 << 10, head_bytes: 512, blocks: 2 };

/// Every page.
const PAGES: [(&str, Page); 10] = [
    ("overview", Page::Overview),
    ("summary", Page::Summary),
    ("insights", Page::Insights),
    ("memory", Page::Memory),
    ("map", Page::Map),
    ("liveness", Page::Liveness),
    ("compare", Page::Comparison),
    ("programs", Page::Programs),
    ("operations", Page::Operations),
    ("trace", Page::Trace),
];

/// A name, and what is done before the page is looked at.
type Scene = (&'static str, &'static [Act]);

const SEGMENTS: &str = "Segments over events";
const STEPS: &str = "Liveness curve";
const ADDRESSES: &str = "Addresses over steps";

/// What is around the pages, of one run.
const AROUND: &[Scene] = &[
    ("palette", &[Press("Commands…")]),
    ("keys", &[Press("Keys")]),
    ("why-no-memory", &[Rest("Memory")]),
    ("why-no-comparison", &[Rest("Compare")]),
    ("why-no-trace", &[Rest("Trace")]),
];

const ONE_SNAPSHOT: &[Scene] = &[
    ("liveness-by-code", &[Go(Page::Liveness), Press("By code")]),
    ("liveness-call-paths", &[Go(Page::Liveness), Press("Call paths")]),
    ("liveness-peaks", &[Go(Page::Liveness), Press("Peaks")]),
    ("liveness-allocated", &[Go(Page::Liveness), Switch("Allocated")]),
    ("liveness-time", &[Go(Page::Liveness), Press("Time")]),
    ("liveness-lines", &[Go(Page::Liveness), Choose("Areas of", "By line of code")]),
    ("liveness-functions", &[Go(Page::Liveness), Choose("Areas of", "By function")]),
    ("liveness-event", &[Go(Page::Liveness), Click(STEPS, [0.4, 0.5], Modifiers::NONE)]),
    ("liveness-hovered", &[Go(Page::Liveness), Hover(STEPS, [0.4, 0.5])]),
    ("liveness-row", &[Go(Page::Liveness), Row(1, Modifiers::NONE)]),
    ("liveness-found", &[Go(Page::Liveness), Type("Find in stacks", "forward")]),
    ("map-blocks", &[Go(Page::Map), Press("Blocks")]),
    ("map-block", &[Go(Page::Map), Click(SEGMENTS, [0.4, 0.8], Modifiers::NONE)]),
    ("map-hovered", &[Go(Page::Map), Hover(SEGMENTS, [0.4, 0.8])]),
    ("map-segment", &[Go(Page::Map), Row(0, Modifiers::NONE)]),
    ("insights-lines", &[Go(Page::Insights), Press("Line")]),
    ("insights-functions", &[Go(Page::Insights), Press("Function")]),
];

const FAILED_SNAPSHOT: &[Scene] = &[
    ("insights-request", &[Go(Page::Insights), Press("Show the request")]),
    ("liveness-event", &[Go(Page::Liveness), Click(STEPS, [0.4, 0.5], Modifiers::NONE)]),
    ("map-blocks", &[Go(Page::Map), Press("Blocks")]),
];

const TWO_SNAPSHOTS: &[Scene] = &[
    ("compare-frames", &[Go(Page::Comparison), Press("At the peaks by frames")]),
    ("compare-functions", &[Go(Page::Comparison), Press("By function")]),
    ("compare-capacity", &[Go(Page::Comparison), Type("Capacity", "450MiB")]),
    ("liveness-hovered", &[Go(Page::Liveness), Hover("Liveness curves of both", [0.4, 0.5])]),
];

const ONE_MODULE: &[Scene] = &[
    ("liveness-steps", &[Go(Page::Liveness), Press("Steps")]),
    ("liveness-temporary", &[Go(Page::Liveness), Press("Temporary")]),
    ("liveness-reserved", &[Go(Page::Liveness), Press("Reserved throughout")]),
    ("liveness-lifetimes", &[Go(Page::Liveness), Press("Lifetimes")]),
    ("liveness-parts", &[Go(Page::Liveness), Press("Parts")]),
    ("liveness-categories", &[Go(Page::Liveness), Choose("Areas of", "By category")]),
    ("liveness-operations", &[Go(Page::Liveness), Choose("Areas of", "By operation")]),
    ("liveness-step", &[Go(Page::Liveness), Click(STEPS, [0.4, 0.5], Modifiers::NONE)]),
    ("liveness-hovered", &[Go(Page::Liveness), Hover(STEPS, [0.4, 0.5])]),
    ("liveness-row", &[Go(Page::Liveness), Row(1, Modifiers::NONE)]),
    ("liveness-space", &[Go(Page::Liveness), Choose("Scope", "Memory")]),
    ("liveness-allocation", &[Go(Page::Liveness), Choose("Scope", "One allocation…")]),
    ("map-variables", &[Go(Page::Map), Press("Values")]),
    ("map-by-reason", &[Go(Page::Map), Press("By reason")]),
    ("map-over-the-limit", &[Go(Page::Map), Press("Over the limit")]),
    ("map-all", &[Go(Page::Map), Press("Allocations over steps")]),
    ("map-clicked", &[Go(Page::Map), Click(ADDRESSES, [0.4, 0.5], Modifiers::NONE)]),
    ("map-hovered", &[Go(Page::Map), Hover(ADDRESSES, [0.4, 0.5])]),
    ("programs-row", &[Go(Page::Programs), Row(3, Modifiers::NONE)]),
    ("operations-row", &[Go(Page::Operations), Row(1, Modifiers::NONE)]),
];

const TWO_MODULES: &[Scene] = &[
    ("compare-operations", &[Go(Page::Comparison), Press("At the peaks by operation")]),
    ("compare-values", &[Go(Page::Comparison), Press("By operation, shape and category")]),
    ("compare-capacity", &[Go(Page::Comparison), Type("Capacity", "8MiB")]),
    ("liveness-hovered", &[Go(Page::Liveness), Hover("Liveness curves of both", [0.4, 0.5])]),
    ("liveness-step", &[Go(Page::Liveness), Row(0, Modifiers::NONE)]),
    ("map-variables", &[Go(Page::Map), Press("Values")]),
    ("map-all", &[Go(Page::Map), Press("Allocations over steps")]),
    ("operations-row", &[Go(Page::Operations), Row(0, Modifiers::NONE)]),
];

const CUDA_MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total \
                            capacity of 32.00 MiB of which 1.00 MiB is free.";
const XLA_MESSAGE: &str = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries \
                           (16.10G) exceeds available HBM (15.75G).";
const SAMPLES: &str = "sample_profiles";

/// What needs no run; that one is open changes nothing.
const TOOLS: &[Scene] = &[
    ("sweep-reports", &[Press("Sweep"), Type("Directory", SAMPLES)]),
    ("sweep-snapshots", &[Press("Sweep"), Type("Directory", "sample_profiles/training")]),
    (
        "sweep-snapshots-capacity",
        &[
            Press("Sweep"),
            Type("Directory", "sample_profiles/training"),
            Type("Capacity", "500MiB"),
            Row(0, Modifiers::NONE),
        ],
    ),
    ("sweep-modules", &[Press("Sweep"), Type("Directory", "sample_profiles/xla")]),
    (
        "sweep-modules-capacity",
        &[
            Press("Sweep"),
            Type("Directory", "sample_profiles/xla"),
            Type("Capacity", "8MiB"),
            Row(0, Modifiers::NONE),
        ],
    ),
    ("explain-cuda", &[Press("Explain an error"), Type("Error text", CUDA_MESSAGE)]),
    ("explain-xla", &[Press("Explain an error"), Type("Error text", XLA_MESSAGE)]),
];

/// A run that ran out of memory, with the text of its error, in a directory of its own.
pub fn failed_snapshot(directory: &str) -> PathBuf {
    let directory = directory_of_reports().join(directory);
    drop(std::fs::remove_dir_all(&directory));
    let path = directory.join("failed/snapshot.pickle");
    let network = Transformer {
        layers: 2,
        width: 64,
        heads: 2,
        sequence: 64,
        vocabulary: 1024,
        batch: 4,
        ..Transformer::default()
    };
    let card = CardMemory { capacity_bytes: Some(9 << 20), other_bytes: 0 };
    let options = SnapshotOptions { network, card, steps: 2, ..SnapshotOptions::default() };
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    write_snapshot(&options, &path, &Progress::default()).expect("a snapshot");
    path
}

/// Runs of the samples.
pub fn samples(paths: &[&str]) -> Reports {
    Reports::Read(paths.iter().map(|path| Path::new(SAMPLES).join(path)).collect())
}

/// What is opened, by the names of its scenes, with the scenes that only it has.
fn all() -> Vec<(&'static str, Reports, &'static [Scene])> {
    let snapshots = ["training/segments-0/snapshot.pickle", "training/segments-2/snapshot.pickle"];
    vec![
        ("snapshot", samples(&snapshots[..1]), ONE_SNAPSHOT),
        ("snapshot-failed", Reports::Read(vec![failed_snapshot("recorded")]), FAILED_SNAPSHOT),
        ("snapshots", samples(&snapshots), TWO_SNAPSHOTS),
        ("module", samples(&["xla/keep"]), ONE_MODULE),
        ("modules", samples(&["xla/keep", "xla/again"]), TWO_MODULES),
        ("tools", samples(&["xla/keep"]), TOOLS),
    ]
}

/// What the window shows then.
fn shown(reports: &Reports, acts: &[Act]) -> Stored {
    let (mut harness, mut text) = reports.after(Theme::Light, acts);
    describe(&harness.root(), 0, Places::Left, &mut text);
    let mut whole = text.clone();
    for (name, table) in copied_tables(&mut harness) {
        write!(text, "\n{name}\n{}", SHORTENED.of(&table)).expect("a text");
        write!(whole, "\n{name}\n{table}").expect("a text");
    }
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let [text, whole] = [text, whole].map(|text| without_paths(&text.replace(package, "")));
    Stored { text, whole }
}

#[test]
fn snapshots_and_modules_are_shown_as_recorded() {
    let pages = PAGES.map(|(name, page)| (name, vec![Go(page)]));
    let all = all();
    let mut scenes = Vec::new();
    for (of, reports, own) in &all {
        let of_pages = pages.iter().map(|(name, acts)| (*name, acts.as_slice()));
        let of_pages = of_pages.filter(|_| *of != "tools");
        let around = AROUND.iter().filter(|_| ["snapshot", "module"].contains(of)).copied();
        for (name, acts) in of_pages.chain(own.iter().copied()).chain(around) {
            scenes.push((format!("{of}/{name}.txt"), reports, acts));
        }
    }
    let next = AtomicUsize::new(0);
    let texts = Mutex::new(BTreeMap::new());
    // Not on the threads of rayon: the jobs of the window need them.
    let play = || {
        while let Some((name, reports, acts)) = scenes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = shown(reports, acts);
            if name != "tools/sweep-reports.txt" {
                let line = line_about_ipus(&text.whole, !name.starts_with("snapshot"));
                assert_eq!(line, None, "{name}");
            }
            assert!(texts.lock().expect("texts").insert(name.clone(), text).is_none(), "{name}");
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(play)));
    });
    assert_stored("tests/scenes", "window", &texts.into_inner().expect("texts"));
}

/// These say when something was opened, or what else there is, so they are not stored.
#[test]
fn nothing_around_a_snapshot_or_a_module_is_about_ipus() {
    let scenes: [&[Act]; 6] = [
        &[Press("Close")],
        &[Press("Close"), Press("Commands…")],
        &[Press("Open run…")],
        &[Press("+ Add run")],
        &[Press("Explain an error")],
        &[Press("Sweep")],
    ];
    for (path, has_tiles) in [("training/segments-0/snapshot.pickle", false), ("xla/keep", true)] {
        for acts in scenes {
            let (harness, mut text) = samples(&[path]).after(Theme::Light, acts);
            assert_eq!(text, "", "{path}: {acts:?}");
            describe(&harness.root(), 0, Places::Left, &mut text);
            assert_eq!(line_about_ipus(&text, has_tiles), None, "{path}, {acts:?}: {text}");
        }
    }
}
